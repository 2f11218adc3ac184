"""octoc finds what detect-secrets and secretlint find in a file of servers, except what is listed here."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from octoc.cli import main
from octoc.credentials.known_tokens import shapes

from .templates import expanded

ROOT = Path(__file__).parents[2]
MODULES = ROOT / ".venv/node/node_modules"
SEEDS = 3

# Key and value of a variable, of which each detector of the two tools finds at least one.
PAIRS: tuple[tuple[str, str], ...] = (
    *(("VALUE", shape.example) for shape in shapes() if "\n" not in shape.example),
    ("KEY", "-----BEGIN RSA PRIVATE KEY-----\n{base64:64}\n{base64:64}\n-----END RSA PRIVATE KEY-----"),
    ("aws_secret_key", "{base64:40}"),
    ("aws_account_id", "{digit:12}"),
    ("USER_ID", "AIDA{base32:16}"),
    ("cloudant_password", "{hex:64}"),
    ("cl_api_key", "{letters:24}"),
    ("ibm_cloud_iam_key", "{alnum:44}"),
    ("cos_secret_access_key", "{hex:48}"),
    ("softlayer_api_key", "{lower:64}"),
    ("ADDRESS", "https://acme:{alnum:16}@mcp.acme.io/x"),
    ("ADDRESS", "postgres://acme:{alnum:16}@db.acme.io/x"),
    ("ADDRESS", "mysql://acme:{alnum:16}@db.acme.io/x"),
    ("ADDRESS", "mongodb+srv://acme:{alnum:16}@db.acme.io/x"),
    ("REGISTRY", "//registry.npmjs.org/:_authToken=npm_{alnum:36}"),
    ("ADDRESS", "https://{hex:40}:x-oauth-basic@github.com/x/y"),
    ("password", "{alnum:16}"),
    ("CHECK", "{hex:40}"),
    ("CHECK", "{base64:43}="),
    ("ACCOUNT", "AC{hex:32}"),
    ("ART", "AP6{alnum:33}"),
    ("VALUE", "glcbt-1f_{alnum:20}"),
    ("VALUE", "glimt-{alnum:25}"),
    ("VALUE", "glptt-{hex:40}"),
    ("VALUE", "glagent-{alnum:50}"),
    ("VALUE", "gloas-{hex:64}"),
    ("VALUE", "sk-{alnum:20}T3BlbkFJ{alnum:20}"),
    ("VALUE", "xoxp-{digit:12}-{digit:12}-{digit:12}-{hex:32}"),
    ("VALUE", "vck_{alnum:56}"),
    ("VALUE", "hvb.{alnum:140}"),
)
# Template -> why no finding is right.
ACCEPTED: Mapping[str, str] = {
    "{digit:12}": "the number of an AWS account is in every ARN, so it is public",
    "AIDA{base32:16}": "the id of a user or role is in every ARN; only access keys (AKIA, ASIA) belong to a secret",
    "AC{hex:32}": "the id of a Twilio account is in every address of its API, so it is public",
    "{hex:40}": "40 hexadecimal digits under a plain name are a commit or a digest",
}


def text() -> tuple[str, list[str]]:
    """Return a file with a server on each line from the second, and the template of each."""
    lines, templates = [], []
    for number, (key, template) in enumerate(pair for pair in PAIRS for _ in range(SEEDS)):
        server = {"command": "x", "env": {key: expanded(template, number)}}
        lines.append(f' "s{number}": {json.dumps(server)}')
        templates.append(template)
    return '{"mcpServers": {\n' + ",\n".join(lines) + "\n}}\n", templates


def missed(found: Mapping[int, str], ours: set[int], templates: list[str]) -> list[str]:
    """Return what a tool finds in lines where octoc finds nothing, unless it is accepted."""
    return sorted(
        f"{what}: {templates[line - 2]}"
        for line, what in found.items()
        if line not in ours and templates[line - 2] not in ACCEPTED
    )


@pytest.fixture
def ours(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Write the file, and return the lines in which octoc finds a secret."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".mcp.json").write_text(text()[0], encoding="utf-8")
    main(["check", "-v", "--no-cache", "--json", "."])
    found = json.loads(capsys.readouterr().out)
    return {one["line"] for one in found if one["code"] in {"OCT340", "OCT725"}}


def test_octoc_finds_what_detect_secrets_finds(ours: set[int], tmp_path: Path) -> None:
    """Each detector of detect-secrets finds something in the file, and octoc finds it too."""
    detect_secrets = pytest.importorskip("detect_secrets", reason="detect-secrets is not installed")
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
    from detect_secrets.settings import default_settings

    with default_settings():
        secrets = detect_secrets.SecretsCollection()
        secrets.scan_file(str(tmp_path / ".mcp.json"))
        found: dict[int, str] = {}
        kinds = set()
        for _, secret in secrets:
            found[secret.line_number] = secret.type
            kinds.add(secret.type)
        # An address on the internet is not a secret.
        assert set(get_mapping_from_secret_type_to_class()) - kinds == {"Public IP (ipv4)"}
    assert missed(found, ours, text()[1]) == []


@pytest.mark.node
def test_octoc_finds_what_secretlint_finds(ours: set[int], tmp_path: Path) -> None:
    """Each rule of secretlint's recommended preset that looks at tokens finds something, and octoc finds it too."""
    node = shutil.which("node")
    if node is None or not (MODULES / "@secretlint/core").is_dir():
        pytest.skip("node, @secretlint/core or its recommended preset is not installed")
    script = Path(__file__).with_name("scanners.mjs")
    run = subprocess.run(
        [node, script, MODULES, tmp_path / ".mcp.json"], check=True, capture_output=True, text=True, timeout=120
    )
    found = {one["line"]: one["rule"] for one in map(json.loads, run.stdout.splitlines())}
    assert len(set(found.values())) >= 24
    assert missed(found, ours, text()[1]) == []
