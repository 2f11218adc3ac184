"""A runtime with a trust file opens and reloads only bundles that verify, and loads nothing of it without one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from octoc.bundle.model import AgentEntry, Bundle, Settings
from octoc.bundle.writer import write_bundle
from octoc.runtime import Runtime, UntrustedBundleError
from octoc.trust.keys import new_key
from tests.trust.conftest import EARLIER, SMALL, Deployment, bundle_named, entry


def test_a_runtime_opens_only_what_verifies(deployment: Deployment) -> None:
    """`Runtime.open` gives the reason as a value of the exception; a bundle that verifies opens as any other."""
    deployment.bundle.write_bytes(bundle_named("evil"))
    with pytest.raises(UntrustedBundleError, match="OCT769 not-what-was-signed") as refused:
        Runtime.open(deployment.bundle, trust=str(deployment.trust))
    assert refused.value.kind == "altered"
    deployment.sign()
    runtime = Runtime.open(deployment.bundle, trust=str(deployment.trust))
    assert runtime.session("a").tools() is not None
    asyncio.run(runtime.close())


def test_a_reload_takes_only_what_verifies(deployment: Deployment) -> None:
    """A bundle that does not verify leaves the old one in use; the trust file is read again each time."""
    other = new_key()

    async def scenario() -> list[str]:
        reasons = []
        async with Runtime.open(deployment.bundle, trust=deployment.trust, in_memory=True) as runtime:
            opened = runtime.opened

            async def reloaded() -> str:
                try:
                    await runtime.reload(deployment.bundle)
                except UntrustedBundleError as refused:
                    return refused.kind if runtime.opened is opened else "replaced"
                return "taken"

            deployment.signature.unlink()
            reasons.append(await reloaded())
            deployment.sign(expires=EARLIER)
            reasons.append(await reloaded())
            deployment.sign(revision=4)
            reasons.append(await reloaded())
            deployment.sign(bundle_named("other"), name="other", revision=6)
            reasons.append(await reloaded())
            deployment.sign(by=other, revision=6)
            reasons.append(await reloaded())
            deployment.bundle.write_bytes(SMALL[:-1])
            deployment.write_trust(entry(deployment.key), entry(other))
            reasons.append(await reloaded())
            deployment.bundle.write_bytes(SMALL)
            reasons.append(await reloaded())
        return reasons

    expected = ["unsigned", "expired", "rolled-back", "other-name", "unknown-key", "altered", "taken"]
    assert asyncio.run(scenario()) == expected


def test_production_needs_no_trust_file(tmp_path: Path) -> None:
    """A bundle in production mode opens without a trust file: who configures none trusts the file itself."""
    settings = Settings(mode="production")
    bundle = Bundle(name="acme", octoc_version="0", settings=settings, agents=(AgentEntry(name="a", kind="octo"),))
    (tmp_path / "acme.octoc").write_bytes(write_bundle(bundle, blobs={"tools": b"", "texts": b""}))
    runtime = Runtime.open(tmp_path / "acme.octoc")
    assert runtime.bundle.settings.mode == "production"
    asyncio.run(runtime.close())


def test_without_a_trust_file_nothing_of_it_is_loaded(deployment: Deployment) -> None:
    """Opening a bundle loads `cryptography` and octoc's own part only with a trust file, which needs both."""
    program = (
        "import sys\nfrom octoc.runtime import Runtime\n"
        "def loaded(): return sorted(n for n in sys.modules if n.startswith(('cryptography', 'octoc.trust')))\n"
        f"Runtime.open({str(deployment.bundle)!r})\nassert loaded() == [], loaded()\n"
        f"Runtime.open({str(deployment.bundle)!r}, trust={str(deployment.trust)!r})\n"
        "assert {'cryptography', 'octoc.trust.check'} < set(loaded())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
