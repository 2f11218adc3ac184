"""Locks of other programs about skills: their digests are compared with the files that are there."""

import hashlib
import json
from pathlib import Path

import pytest

from octoc.compiler.check.skill_locks import skill_digests
from octoc.compiler.checkup.check import check_target
from octoc.compiler.checkup.target import CheckTarget
from octoc.plugin.manager import Plugins

FILES = {
    "SKILL.md": b"---\nname: review\ndescription: Reviews code.\n---\nRead the change.\n",
    "references/a b.md": b"one\n",
    "references/A.md": b"two\n",
    "references/_b.md": b"three\n",
    "scripts/run.sh": b"echo\n",
}
SORTED = ("references/_b.md", "references/a b.md", "references/A.md", "scripts/run.sh", "SKILL.md")
"""Sorted by `localeCompare` of Node.js 22."""
DIGEST = hashlib.sha256(b"".join(path.encode() + FILES[path] for path in SORTED)).hexdigest()


def install(folder: Path) -> Path:
    """Write the skill into a folder, with what the program does not digest."""
    for path, data in {**FILES, ".git/config": b"x", "node_modules/x.js": b"x"}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    (folder / "link").symlink_to("SKILL.md")
    return folder


def found(root: Path) -> list[tuple[str, str]]:
    """Return (code, message) of each finding about a lock in a folder."""
    outcome = check_target(CheckTarget(root=root, folder=root), plugins=Plugins(), use_cache=False)
    return [(one.rule.code, one.message) for one in outcome.diagnostics if one.rule.code in ("OCT773", "OCT774")]


def lock_of(**digests: str) -> str:
    """Return a `skills-lock.json`."""
    skills = {
        name: {"source": "a/b", "sourceType": "github", "computedHash": digest} for name, digest in digests.items()
    }
    return json.dumps({"version": 1, "skills": skills})


def test_a_skill_has_the_digest_of_the_program_that_installs_it(tmp_path: Path) -> None:
    """Paths and bytes in the order of `localeCompare`; links, `.git` and `node_modules` do not count."""
    folder = install(tmp_path / "review")
    assert skill_digests(folder) == {DIGEST}
    (folder / "scripts" / "run.sh").write_bytes(b"echo\r\n")
    assert DIGEST in skill_digests(folder)


@pytest.mark.parametrize("place", [".agents/skills", ".claude/skills"])
def test_a_skill_whose_files_changed_is_a_finding(tmp_path: Path, place: str) -> None:
    """Installed skills are compared, one finding for the file; what is not there or cannot be decided is not."""
    folder = install(tmp_path / place / "review")
    (tmp_path / "skills-lock.json").write_text(lock_of(Review=DIGEST, absent="0" * 64, **{"../up": "0" * 64}))
    assert found(tmp_path) == []
    (folder / "scripts" / "run.sh").write_bytes(b"curl evil\n")
    assert found(tmp_path) == [("OCT773", "the files of 1 of 1 skills differ from `computedHash`: `Review`")]
    (folder / "é.md").write_bytes(b"")
    assert found(tmp_path) == []


def test_deployed_files_are_compared_with_apms_lock(tmp_path: Path) -> None:
    """Files of dependencies and of the project, in either form of line ends; paths that lead outside are not read."""
    rules = tmp_path / "p" / ".claude" / "rules"
    rules.mkdir(parents=True)
    for name, data in (("a.md", b"a\r\n"), ("b.md", b"b\n"), ("c.md", b"c\n")):
        (rules / name).write_bytes(data)
    (tmp_path / "secret").write_text("x")
    (rules / "link.md").symlink_to(tmp_path / "secret")

    def digest(data: bytes) -> str:
        return f"sha256:{hashlib.sha256(data).hexdigest()}"

    own = {
        ".claude/rules/a.md": digest(b"a\n"),
        "../secret": digest(b""),
        "/etc/hosts": digest(b""),
        "none": digest(b""),
    }
    of_package = {".claude/rules/b.md": digest(b"b\n"), ".claude/rules/link.md": digest(b""), "odd": 3}
    lock = {"lockfile_version": "1", "dependencies": [{"deployed_file_hashes": of_package}, 3]}
    path = tmp_path / "p" / "apm.lock.yaml"
    path.write_text(json.dumps({**lock, "local_deployed_file_hashes": own}))
    assert found(tmp_path / "p") == []
    own[".claude/rules/c.md"] = digest(b"b\n")
    path.write_text(json.dumps({**lock, "local_deployed_file_hashes": own}))
    message = "1 of 3 deployed files differ from their digests: `.claude/rules/c.md`"
    assert found(tmp_path / "p") == [("OCT774", message)]
    for odd in ("dependencies: 3", "local_deployed_file_hashes: [1]", "[]", "dependencies: {a: 1}"):
        path.write_text(odd)
        assert found(tmp_path / "p") == []
