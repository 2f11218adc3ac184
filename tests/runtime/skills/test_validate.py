"""`validate` scripts: not run unless the workspace says so, pinned, in a clean environment, with an end in any case."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.digest import sha256_hex
from octoc.bundle.model import SkillSettings

if TYPE_CHECKING:
    from octoc.runtime.session import Session
    from tests.runtime.conftest import Fleet

RUN = SkillSettings(validate="run")


def _run(
    fleet: Fleet,
    scenario: Callable[[Session], Awaitable[None]],
    settings: SkillSettings = RUN,
    workdir: Path | None = None,
    **options: Any,
) -> None:
    fleet.settings = attrs.evolve(fleet.settings, skills=settings)
    fleet.agent()

    async def run() -> None:
        async with fleet.open(**options) as runtime:
            session = runtime.session(workdir=workdir)
            for name in session.available_skills:
                await session.use_skill(name)
            await scenario(session)

    asyncio.run(run())


def test_nothing_runs_by_default(fleet: Fleet, tmp_path: Path) -> None:
    """Without `validate = "run"` no script is started."""
    fleet.skill("s", validate=f"touch {tmp_path}/ran\nexit 1\n")

    async def scenario(session: Session) -> None:
        assert await session.validate("reply") == ()
        assert not (tmp_path / "ran").exists()

    _run(fleet, scenario, SkillSettings())


def test_a_host_forbids_what_a_bundle_asks_for(fleet: Fleet, tmp_path: Path) -> None:
    """With `Runtime.open(validate="never")` no script is started, and every reply passes."""
    fleet.skill("s", validate=f"touch {tmp_path}/ran\necho no\nexit 1\n")

    async def scenario(session: Session) -> None:
        assert await session.validate("reply") == ()
        assert not (tmp_path / "ran").exists()

    _run(fleet, scenario, validate="never")


def test_a_reply_is_refused(fleet: Fleet, tmp_path: Path) -> None:
    """The script gets `assistant`, the reply and the session's folder; its output has Octomind's form."""
    fleet.skill("s", validate='echo "$1 $(cat) $(pwd)"; exit 3\n')
    fleet.skill("silent", validate="exit 1\n")
    fleet.skill("content", validate="echo fine\n")
    fleet.skill("without")

    async def scenario(session: Session) -> None:
        (refusal,) = await session.validate("größer")
        assert refusal.skill == "s"
        said = f"Validation failed: assistant größer {tmp_path}\nPlease fix the issue."
        assert refusal.text == f'<validation skill="s">\n{said}\n</validation>'
        await session.forget_skill("s")
        assert await session.validate("größer") == ()

    _run(fleet, scenario, workdir=tmp_path)


def test_the_first_line_counts(fleet: Fleet) -> None:
    """A script is run by what its first line names."""
    fleet.skill("s", validate="#!/usr/bin/env python3\nimport sys\nsys.exit(f'no: {sys.argv[1]}')\n")

    async def scenario(session: Session) -> None:
        assert [refusal.output for refusal in await session.validate("x")] == ["no: assistant"]

    _run(fleet, scenario)


def test_no_more_than_max_retries(fleet: Fleet, tmp_path: Path) -> None:
    """A skill that has refused as often in a row as allowed is not asked any more; one reply that passes resets it."""
    fleet.skill("s", validate=f"[ -e {tmp_path}/good ] && exit 0\necho bad; exit 1\n")

    async def scenario(session: Session) -> None:
        assert len(await session.validate("x")) == 1
        (tmp_path / "good").touch()
        assert await session.validate("x") == ()
        (tmp_path / "good").unlink()
        assert [len(await session.validate("x")) for _ in range(4)] == [1, 1, 0, 0]

    _run(fleet, scenario, attrs.evolve(RUN, max_retries=2))


def test_what_does_not_end(fleet: Fleet, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A script over its time ends with all that it started, and refuses nothing."""
    fleet.skill("s", validate=f"echo $$ > {tmp_path}/pid\nsleep 600\n")

    async def scenario(session: Session) -> None:
        assert await session.validate("x") == ()
        with pytest.raises(ProcessLookupError):
            os.kill(int((tmp_path / "pid").read_text()), 0)

    _run(fleet, scenario, attrs.evolve(RUN, validate_timeout_s=0.5))
    assert "did not end within 0.5 s" in caplog.text


def test_secrets_stay_where_they_are(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """A script sees none of the host's variables, and what it found elsewhere is cut out of what it says."""
    monkeypatch.setenv("API_KEY", "s3cr3t-v4lue")
    fleet.skill("s", validate='echo "key: $API_KEY, found: s3cr3t-v4lue"; exit 1\n')

    async def scenario(session: Session) -> None:
        (refusal,) = await session.validate("x")
        assert refusal.output.startswith("key: , found: ")
        assert "s3cr3t-v4lue" not in refusal.text

    _run(fleet, scenario)


def test_only_what_was_built_runs(fleet: Fleet, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A script whose digest is another is not run; one that cannot be started refuses nothing."""
    fleet.skill("s", validate=f"touch {tmp_path}/ran\n")
    fleet._skills[0] = attrs.evolve(fleet._skills[0], validate_digest=sha256_hex(b"other"))
    fleet.skill("t", validate="#!/no/such/program\n")

    async def scenario(session: Session) -> None:
        assert await session.validate("x") == ()
        assert not (tmp_path / "ran").exists()

    _run(fleet, scenario)
    assert "is not what was built" in caplog.text
    assert "did not start" in caplog.text
