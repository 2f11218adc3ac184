"""How long `octoc check` takes: the real tap, cold and unchanged, a tap of ten times the files, and 3,000 capabilities.

    python -m benchmarks.check [--runs 5]

Whole processes, in turn. CPU seconds are the process's own (user and system): on a machine that others share they say
more than wall time does.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from benchmarks.measure import ROOT, forget, in_turn, ratio, realworld, row, seconds

TIMES = 10
PARTS = ("agents", "capabilities", "skills")
_TRIGGER = re.compile(r'^[ \t]+"(?:[^"\\\n]|\\["\\])*"', re.MULTILINE)
CAPABILITIES = 3000
"""Size of the tap that has copies of capabilities alone, rounded up to whole copies of the real tap."""
OCTOC = str(Path(sys.executable).with_name("octoc"))


def _workspace(root: Path, tap: Path, name: str) -> Path:
    root.mkdir(parents=True)
    root.joinpath("octoc.toml").write_text(
        f'[workspace]\nname = "{name}"\n\n[[taps]]\nname = "tap"\npath = "{tap}"\n', encoding="utf-8"
    )
    return root


def _multiplied(tap: Path, target: Path, times: int, parts: tuple[str, ...] = PARTS) -> Path:
    """Write a tap with `times` copies of every entity, each copy's names and references of its own."""
    parts = tuple(part for part in parts if (tap / part).is_dir())
    names = {entry.name for part in ("capabilities", "skills") for entry in (tap / part).glob("*") if entry.is_dir()}
    servers = {
        found
        for path in tap.glob("**/*.toml")
        for found in re.findall(r'^name = "([A-Za-z0-9_-]+)"', path.read_text("utf-8"), re.MULTILINE)
    }
    quoted = re.compile(rf"(?<=[\"'])({_any_of(names | servers)})(?=[\"':])")
    listed = re.compile(rf"(?m)^(name: |\s+- )({_any_of(names)})$")
    for number in range(times):
        suffix = f"-{number}" if number else ""
        for part in parts:
            for path in sorted((tap / part).rglob("*")):
                inside = path.relative_to(tap / part).parts
                own = (inside[0] + suffix, *inside[1:])
                copy = target / part / Path(*own)
                if path.is_symlink():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.symlink_to(path.readlink())
                elif path.is_file():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    if path.suffix in (".toml", ".md") and number:
                        text = quoted.sub(rf"\1{suffix}", path.read_text("utf-8"))
                        if path.name == "config.toml":
                            text = _TRIGGER.sub(partial(_in_other_words, number), text)
                        copy.write_text(listed.sub(rf"\1\2{suffix}", text), encoding="utf-8")
                    else:
                        shutil.copyfile(path, copy)
    return target


def _in_other_words(number: int, trigger: re.Match[str]) -> str:
    """Return a trigger with other letters: one that is near a trigger of another copy would be reported."""
    turn, more = number % 26, chr(97 + number // 26)
    return re.sub(
        r"[a-z]+", lambda word: "".join(chr((ord(one) - 97 + turn) % 26 + 97) for one in word[0]) + more, trigger[0]
    )


def _any_of(names: set[str]) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def _files(tap: Path) -> int:
    return sum(path.is_file() for part in PARTS for path in (tap / part).rglob("*"))


def _check(root: Path) -> None:
    seconds([OCTOC, "check", "--workspace", str(root), "--output-format", "concise"])


def _cpu(root: Path, *, is_cold: bool) -> float:
    if is_cold:
        forget(root)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _check(root)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _wall(root: Path, *, is_cold: bool) -> float:
    if is_cold:
        forget(root)
    start = time.perf_counter()
    _check(root)
    return time.perf_counter() - start


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    real = realworld()
    tap = ROOT / "taps" / "core" if real is None else real / "octomind-tap"
    with tempfile.TemporaryDirectory() as folder:
        one = _workspace(Path(folder, "one"), tap, "one")
        many_tap = _multiplied(tap, Path(folder, "tap"), TIMES)
        ten = _workspace(Path(folder, "ten"), many_tap, "ten")
        copies = -(-CAPABILITIES // sum(1 for _ in tap.glob("capabilities/*/config.toml")))
        large_tap = _multiplied(tap, Path(folder, "large-tap"), copies, ("capabilities",))
        large = _workspace(Path(folder, "large"), large_tap, "large")
        capabilities = sum(1 for _ in large_tap.glob("capabilities/*/config.toml"))
        print(
            f"{_files(tap)} files, {_files(many_tap)} in the tap of {TIMES} copies, {capabilities} capabilities alone"
        )
        for unit, measured in (("CPU", _cpu), ("wall", _wall)):
            cold, unchanged, many, many_unchanged, capabilities_alone = in_turn(
                runs,
                partial(measured, one, is_cold=True),
                partial(measured, one, is_cold=False),
                partial(measured, ten, is_cold=True),
                partial(measured, ten, is_cold=False),
                partial(measured, large, is_cold=True),
            )
            row(f"{unit}: cold", cold)
            row(f"{unit}: unchanged", unchanged)
            row(f"{unit}: cold, {TIMES} times the files", many)
            row(f"{unit}: unchanged, {TIMES} times the files", many_unchanged)
            row(f"{unit}: cold, {capabilities} capabilities", capabilities_alone)
            ratio(f"{unit}: unchanged / cold", unchanged, cold)
            ratio(f"{unit}: {TIMES} times the files / once, cold", many, cold)
            ratio(f"{unit}: {TIMES} times the files / once, unchanged", many_unchanged, unchanged)


if __name__ == "__main__":
    main()
