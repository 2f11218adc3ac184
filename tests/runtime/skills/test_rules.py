"""Which skills a message uses: each check, lines and their order, scope, and what the host gets."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import pytest

from octoc.bundle.model import SkillSettings
from octoc.runtime.skills import matching as matching_module
from octoc.runtime.skills.matching import matching

if TYPE_CHECKING:
    from octoc.runtime.values import Routing
    from tests.runtime.conftest import Fleet

MESSAGE = "please deploy the RSA keys of our shop"


def _fires(fleet: Fleet, *lines: str, text: str = MESSAGE, workdir: Path | None = None, name: str = "") -> bool:
    """Tell whether a skill of these lines is used for `text`."""
    fleet.skill("tried", rules=lines, domains=("developer",))
    fleet.agent(domain="developer")

    async def run() -> bool:
        async with fleet.open() as runtime:
            session = runtime.session(name=name or None, workdir=workdir)
            return bool(matching(session.state, text))

    return asyncio.run(run())


def _routed(fleet: Fleet, text: str = MESSAGE, agent: str = "supervisor") -> Routing:
    async def run() -> Routing:
        async with fleet.open() as runtime:
            session = runtime.session(agent)
            routing = await session.on_user_message(text)
            assert session.skills == tuple(skill.name for skill in routing.skills)
            return routing

    return asyncio.run(run())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a few files, one of them ignored, and a link that leads out of it."""
    root = tmp_path / "project"
    for path, text in {
        "Cargo.toml": "[package]\n",
        "src/deep/lib.rs": "fn main() {}\n",
        "deps/x": "1",
        "target/out.rs": "fn ignored() {}\n",
        "keep/out.rs": "",
        ".hidden/secret.rs": "fn hidden() {}\n",
        "[slug]/page.tsx": "",
        ".gitignore": "# build\n/target/\n*.log\n!keep.log\n",
        "a.log": "needle",
        "keep.log": "haystack",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/passwd.rs").write_text("fn outside() {}", encoding="utf-8")
    (root / "away").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    (root / "dangling").symlink_to(root / "nothing")
    return root


@pytest.mark.parametrize(
    "line, holds",
    [
        (r"match(\bRSA\b)", True),
        (r"match(\brsa\b)", False),
        (r"match((?i)\brsa\b)", True),
        ("match((deploy|ship) the)", True),
        ("match([)", False),
        (r"match(a(?=b))", False),
        ("content(rsa)", True),
        ("content(keys of)", True),
        ("content(key)", False),
        ("content(k.ys)", False),
        ("session(ALPHA)", True),
        ("session(beta)", False),
        ("workdir(PROJ)", True),
        ("workdir(elsewhere)", False),
        ("env(CI)", True),
        ("env(CI=true)", True),
        ("env(CI = no)", False),
        ("env(EMPTY)", False),
        ("env(UNSET)", False),
        ("bin(sh)", True),
        ("bin(no-such-program)", False),
        ("bin(/bin/sh)", False),
        ("file(Cargo.toml)", True),
        ("file(cargo.toml)", False),
        ("file(*.toml)", True),
        ("file(*.py)", False),
        ("file(deps/)", True),
        ("file(Cargo.toml/)", False),
        ("file(**/lib.rs)", True),
        ("file(src/*/*.rs)", True),
        ("file(src/*.rs)", False),
        ("file(src/**)", True),
        ("file([slug]/page.tsx)", True),
        ("file(./src)", True),
        ("file(../outside)", False),
        ("file(/etc/passwd)", False),
        ("file(away)", False),
        ("file(away/passwd.rs)", False),
        ("file(*/passwd.rs)", False),
        ("file(dangling)", False),
        ("file()", False),
        ("grep(fn main)", True),
        ("grep(fn main, *.rs)", True),
        ("grep(fn main, *.py)", False),
        ("grep(fn main, src/*.rs)", False),
        ("grep(FN MAIN)", False),
        ("grep(fn ignored)", False),
        ("grep(fn hidden)", False),
        ("grep(fn outside)", False),
        ("grep(needle)", False),
        ("grep(haystack)", True),
        ("semantic(please deploy the rsa keys)", True),
        ("semantic(please deploy the rsa keys, 0.99)", False),
        ("semantic(water the flowers)", False),
        ("semantic(water, the flowers)", False),
        ("unknown(x)", False),
        ("content(rsa", False),
        ("content(rsa) file(Cargo.toml) match(shop)", True),
        ("content(rsa) file(Cargo.toml) match(SHOP)", False),
        ("content(rsa) semantic(please deploy the keys)", True),
        ("content(absent) semantic(please deploy the keys)", False),
    ],
)
def test_each_check(
    fleet: Fleet, project: Path, line: str, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """A line holds when all of its checks do, and every check asks what Octomind's does."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    fleet.env.update(CI="true", EMPTY="")
    assert _fires(fleet, line, workdir=project, name="260421-alpha-b1") is holds


@pytest.mark.parametrize(
    "text, holds",
    [
        ("deploy", False),
        ("deploy it", True),
        ("<log>deploy it to production</log> and then", False),
        ("<skill name='x'>deploy</skill>ok", False),
        ("", False),
    ],
)
def test_which_messages_count(fleet: Fleet, text: str, holds: bool) -> None:
    """A message needs eight characters that are not blank, outside of XML blocks."""
    assert _fires(fleet, "content(deploy)", text=text) is holds


def test_any_line_is_enough(fleet: Fleet) -> None:
    """One line that holds uses the skill."""
    assert _fires(fleet, "content(absent)", "content(shop)")


def test_without_a_folder(fleet: Fleet) -> None:
    """In a session without a folder no rule about files fires."""
    assert not _fires(fleet, "file(*)", "grep(.)", "workdir(/)")


def test_words_of_any_script(fleet: Fleet) -> None:
    """`content(…)` knows where a word ends in any script."""
    assert _fires(fleet, "content(ключи)", text="обнови Ключи магазина")


def test_who_may_fire(fleet: Fleet) -> None:
    """A skill needs rules, a domain, the agent's domain among them, and to be the agent's."""
    rule = ("content(shop)",)
    fleet.skill("ours", rules=rule, domains=("developer", "ops"))
    fleet.skill("theirs", rules=rule, domains=("content",))
    fleet.skill("manual", rules=rule)
    fleet.skill("ruleless", domains=("developer",))
    fleet.skill("hidden", rules=rule, domains=("developer",))
    fleet.agent(domain="developer", skills=("manual", "ours", "ruleless", "theirs"))
    routing = _routed(fleet)
    assert [(skill.name, skill.why) for skill in routing.skills] == [("ours", "content(shop)")]
    assert routing.skills[0].text == '<skill name="ours" description="The skill ours">\nDo it well.\n</skill>'


def test_certain_and_likely(fleet: Fleet) -> None:
    """Certain lines use all their skills; of the likely ones the best is used alone, and none when two are close."""
    fleet.skill("certain-1", rules=("semantic(nothing like it)", "content(shop)"), domains=("d",))
    fleet.skill("certain-2", rules=("match(RSA)",), domains=("d",))
    fleet.skill("likely", rules=("semantic(please deploy the rsa keys of our shop)",), domains=("d",))
    fleet.skill("less", rules=("semantic(please deploy our shop)",), domains=("d",))
    fleet.agent(domain="d")
    assert [skill.name for skill in _routed(fleet).skills] == ["certain-1", "certain-2", "likely"]
    fleet.skill("as-likely", rules=("semantic(please deploy the rsa keys of our shop)",), domains=("d",))
    fleet.agent("other", domain="d")
    assert [skill.name for skill in _routed(fleet, agent="other").skills] == ["certain-1", "certain-2"]


def test_no_more_than_allowed(fleet: Fleet) -> None:
    """The workspace says how many skills one message uses, and whether any."""
    for name in ("a", "b", "c"):
        fleet.skill(name, rules=("content(shop)",), domains=("d",))
    fleet.agent(domain="d")
    for settings, names in (
        (SkillSettings(), ["a", "b", "c"]),
        (SkillSettings(max_per_message=2), ["a", "b"]),
        (SkillSettings(auto=False), []),
    ):
        fleet.settings = attrs.evolve(fleet.settings, skills=settings)
        assert [skill.name for skill in _routed(fleet).skills] == names


def test_used_once(fleet: Fleet) -> None:
    """A skill in use does not fire again, and one that was forgotten does."""
    fleet.skill("a", rules=("content(shop)",), domains=("d",))
    fleet.agent(domain="d")

    async def run() -> list[int]:
        async with fleet.open() as runtime:
            session = runtime.session()
            first = await session.on_user_message(MESSAGE)
            second = await session.on_user_message(MESSAGE)
            before = session.tools()
            await session.forget_skill("a")
            third = await session.on_user_message(MESSAGE)
            assert session.tools() == before
            return [len(routing.skills) for routing in (first, second, third)]

    assert asyncio.run(run()) == [1, 0, 1]


def test_its_capabilities_come_with_it(fleet: Fleet) -> None:
    """A skill that a message uses activates what it needs, and says what it could not."""
    fleet.server("a", ["x"])
    fleet.capability("a", fleet.grant("a"))
    fleet.skill("s", rules=("content(shop)",), domains=("d",), capabilities=("a", "gone"))
    fleet.agent(domain="d", direct=())

    async def run() -> None:
        async with fleet.open() as runtime:
            session = runtime.session()
            (skill,) = (await session.on_user_message(MESSAGE)).skills
            assert session.capabilities == ("a",)
            assert [note.split(" (")[0].split(":")[0] for note in skill.notes] == [
                "Loaded capability 'a'",
                "⚠️ Capability 'gone' not found",
            ]

    asyncio.run(run())


def test_a_message_is_encoded_once(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate and the rules of skills share one vector of a message, also when they ask again."""
    fleet.server("a", ["x"])
    fleet.capability("a", fleet.grant("a"), triggers=("deploy the shop",))
    fleet.skill("s", rules=("semantic(please deploy the rsa keys)",), domains=("d",))
    fleet.agent(domain="d", direct=())
    encoded: list[str] = []
    embed = fleet.embedder.embed

    def noted(text: str) -> Any:
        encoded.append(text)
        return embed(text)

    async def run() -> None:
        async with fleet.open() as runtime:
            monkeypatch.setattr(fleet.embedder, "embed", noted)
            session = runtime.session()
            await session.on_user_message(MESSAGE)
            session.route(MESSAGE)
            assert encoded == [MESSAGE]

    asyncio.run(run())


def test_without_an_encoder(fleet: Fleet) -> None:
    """Where no encoder can be had `semantic(…)` never holds, and every other check does."""
    fleet.skill("a", rules=("semantic(please deploy the rsa keys)", "content(shop)"), domains=("d",))
    fleet.skill("b", rules=("semantic(please deploy the rsa keys)",), domains=("d",))
    fleet.agent(domain="d")

    async def run() -> list[str]:
        async with fleet.open(embedder=None) as runtime:
            return [match.skill for match in matching(runtime.session().state, MESSAGE)]

    assert asyncio.run(run()) == ["a"]


def test_a_message_of_any_size(fleet: Fleet) -> None:
    """Only the beginning of a very long message is looked at, in linear time."""
    long = "x" * matching_module.MAX_TEXT_CHARS
    assert not _fires(fleet, "content(shop)", r"match((a*)*\bshop)", text=f"{long} shop")


def test_a_message_with_half_a_character(fleet: Fleet) -> None:
    """What a client that cuts texts in two sends is read like any other message."""
    fleet.skill("tried", rules=("match(RSA)",), domains=("developer",))
    fleet.agent(domain="developer")
    assert [skill.name for skill in _routed(fleet, text=f"\ud83d {MESSAGE} \ude00").skills] == ["tried"]


@pytest.mark.parametrize("value", ["{{INPUT:x}}", "a" * 100_000, "(" * 5000, "\\", "\0"])
def test_any_argument(fleet: Fleet, project: Path, value: str) -> None:
    """No argument of a check makes it fail."""
    lines = [f"{check}({value})" for check in ("match", "content", "file", "grep", "env", "bin", "session", "workdir")]
    got: Any = _fires(fleet, *lines, workdir=project)
    assert got is False
