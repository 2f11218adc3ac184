"""References of a tap's server to files, the keyring and credentials of other services."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import attrs

from octoc.addresses import is_loopback
from octoc.compiler.model.settings import WorkspaceSettings
from octoc.compiler.model.source import ServerSource
from octoc.compiler.resolve.definitions import DefinitionText, values_of
from octoc.credentials import is_secret_name
from octoc.diagnostics.model import DiagnosticSink
from octoc.diagnostics.rule import Severity
from octoc.diagnostics.rules.resolve import FOREIGN_REFERENCE
from octoc.names import any_glob_matches
from octoc.references import VARIABLE_KINDS, find_references


@attrs.frozen
class Service:
    """A service with well-known credentials. `words` name it in commands, `domains` are its addresses."""

    variables: str
    words: tuple[str, ...]
    domains: tuple[str, ...] = ()


SERVICES = (
    Service(r"AWS_.*|AMAZON_.*", ("aws", "amazon", "bedrock", "s3"), ("amazonaws.com", "aws.dev", "amazon.com")),
    Service(r"AZURE_.*|ARM_.*", ("azure", "microsoft", "entra"), ("azure.com", "microsoft.com", "windows.net")),
    Service(
        r"GOOGLE_.*|GCP_.*|GCLOUD_.*|CLOUDSDK_.*|GEMINI_.*",
        ("google", "gcp", "gcloud", "gemini", "vertex", "veo", "firebase", "youtube", "gmail", "bigquery"),
        ("google.com", "googleapis.com"),
    ),
    Service(r"GITHUB_.*|GH_.*", ("github",), ("github.com", "githubcopilot.com")),
    Service(r"GITLAB_.*|CI_JOB_.*", ("gitlab",), ("gitlab.com",)),
    Service(r"OPENAI_.*", ("openai", "gpt", "whisper", "sora", "dall"), ("openai.com",)),
    Service(r"ANTHROPIC_.*|CLAUDE_.*", ("anthropic", "claude"), ("anthropic.com", "claude.com", "claude.ai")),
    Service(r"CLOUDFLARE_.*|CF_.*", ("cloudflare",), ("cloudflare.com",)),
    Service(r"DIGITALOCEAN_.*", ("digitalocean",), ("digitalocean.com",)),
    Service(r"VERCEL_.*", ("vercel",), ("vercel.com",)),
    Service(r"NETLIFY_.*", ("netlify",), ("netlify.com",)),
    Service(r"HEROKU_.*", ("heroku",), ("heroku.com",)),
    Service(r"VAULT_.*", ("vault",), ("hashicorp.com", "hashicorp.cloud")),
    Service(r"KUBECONFIG|KUBE_.*", ("kube", "k8s", "helm")),
    Service(r"DOCKER_.*", ("docker",), ("docker.com", "docker.io")),
    Service(r"NPM_.*|NODE_AUTH_.*", ("npm",), ("npmjs.com", "npmjs.org")),
    Service(r"PYPI_.*|TWINE_.*", ("pypi",), ("pypi.org",)),
    Service(r"SSH_.*", ("ssh",)),
    Service(r"STRIPE_.*", ("stripe",), ("stripe.com",)),
    Service(r"SLACK_.*", ("slack",), ("slack.com",)),
    Service(r"HF_.*|HUGGING_?FACE_.*", ("huggingface", "hugging-face", "hf"), ("huggingface.co",)),
)
# Credentials whose names do not look like one.
_CREDENTIALS = re.compile(r"KUBECONFIG|SSH_AUTH_SOCK|GOOGLE_APPLICATION_CREDENTIALS|.*_KEY(?:_ID)?")


@attrs.frozen
class ForeignReference:
    """A reference of a tap's server: its name as in `[secrets] allow`, and the value that contains it."""

    name: str
    value: DefinitionText


def foreign_references(server: ServerSource, owner: str) -> tuple[ForeignReference, ...]:
    """Return the foreign references of a tap's server, in the order of its definition.

    These are each `file:`, `keyring:` and `cred:` reference, each env file, and each credential of another well-known
    service. The server's address tells its service; without an address, its command and its name do.

    Args:
        owner: the capability or agent that defines it.
    """
    return tuple(_foreign(server, owner))


def report_foreign(
    references: Sequence[ForeignReference], server: str, tap: str, settings: WorkspaceSettings, sink: DiagnosticSink
) -> None:
    """Report references that the workspace does not allow: a warning in development, an error in production."""
    for one in references:
        if any_glob_matches(settings.secrets.allow, one.name):
            continue
        kind = one.name.partition(":")[0]
        what = "" if kind in {"file", "keyring", "cred"} else ", a credential of another service,"
        sink.report(
            FOREIGN_REFERENCE,
            f"server `{server}` of tap `{tap}` takes `{one.name}`{what} in `{one.value}`",
            at=one.value.place,
            help=f'if it may have it, write `[secrets] allow = ["{one.name}"]` in octoc.toml',
            severity=Severity.ERROR if settings.mode == "production" else None,
        )


def _foreign(server: ServerSource, owner: str) -> Iterator[ForeignReference]:
    for value in values_of(server):
        if value.field == "envFile":
            yield ForeignReference(f"file:{value.text}", value)
            continue
        names = [(reference.kind, reference.name) for reference in find_references(value.text)]
        if value.field == "auth" and value.name.endswith("_env"):
            names.append(("env", value.text.strip()))
        for kind, name in names:
            is_elsewhere = kind in {"file", "keyring", "cred"}
            if is_elsewhere or (kind in VARIABLE_KINDS and _is_of_another(name, server, owner)):
                yield ForeignReference(name, value)


def _is_of_another(variable: str, server: ServerSource, owner: str) -> bool:
    service = next((one for one in SERVICES if re.fullmatch(one.variables, variable)), None)
    if service is None or not (is_secret_name(variable) or _CREDENTIALS.fullmatch(variable)):
        return False
    if server.url is not None:
        # Only the address counts: the tap chooses the name.
        try:
            host = urlsplit(server.url).hostname or ""
        except ValueError:
            return True
        return not is_loopback(host) and not any(host == one or host.endswith(f".{one}") for one in service.domains)
    text = " ".join((server.name, owner, server.command or "", *server.args)).lower()
    return not any(word in text for word in service.words)
