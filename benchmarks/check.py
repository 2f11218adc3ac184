"""How long `octoc check` takes: the real tap, cold and unchanged, and a tap of ten times the files.

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
OCTOC = str(Path(sys.executable).with_name("octoc"))


def _workspace(root: Path, tap: Path, name: str) -> Path:
    root.mkdir(parents=True)
    root.joinpath("octoc.toml").write_text(
        f'[workspace]\nname = "{name}"\n\n[[taps]]\nname = "tap"\npath = "{tap}"\n', encoding="utf-8"
    )
    return root


def _multiplied(tap: Path, target: Path) -> Path:
    """Write a tap with `TIMES` copies of every entity, each copy's names and references of its own."""
    parts = [part for part in ("agents", "capabilities", "skills") if (tap / part).is_dir()]
    names = {entry.name for part in ("capabilities", "skills") for entry in (tap / part).glob("*") if entry.is_dir()}
    servers = {
        found
        for path in tap.glob("**/*.toml")
        for found in re.findall(r'^name = "([A-Za-z0-9_-]+)"', path.read_text("utf-8"), re.MULTILINE)
    }
    quoted = re.compile(rf"(?<=[\"'])({_any_of(names | servers)})(?=[\"':])")
    listed = re.compile(rf"(?m)^(name: |\s+- )({_any_of(names)})$")
    for number in range(TIMES):
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
                        copy.write_text(listed.sub(rf"\1\2{suffix}", text), encoding="utf-8")
                    else:
                        shutil.copyfile(path, copy)
    return target


def _any_of(names: set[str]) -> str:
    return "|".join(map(re.escape, sorted(names, key=len, reverse=True)))


def _files(tap: Path) -> int:
    return sum(path.is_file() for part in ("agents", "capabilities", "skills") for path in (tap / part).rglob("*"))


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
        many_tap = _multiplied(tap, Path(folder, "tap"))
        ten = _workspace(Path(folder, "ten"), many_tap, "ten")
        print(f"{_files(tap)} files, and {_files(many_tap)} in the tap of {TIMES} copies")
        for unit, measured in (("CPU", _cpu), ("wall", _wall)):
            cold, unchanged, many, many_unchanged = in_turn(
                runs,
                partial(measured, one, is_cold=True),
                partial(measured, one, is_cold=False),
                partial(measured, ten, is_cold=True),
                partial(measured, ten, is_cold=False),
            )
            row(f"{unit}: cold", cold)
            row(f"{unit}: unchanged", unchanged)
            row(f"{unit}: cold, {TIMES} times the files", many)
            row(f"{unit}: unchanged, {TIMES} times the files", many_unchanged)
            ratio(f"{unit}: unchanged / cold", unchanged, cold)
            ratio(f"{unit}: {TIMES} times the files / once, cold", many, cold)
            ratio(f"{unit}: {TIMES} times the files / once, unchanged", many_unchanged, unchanged)


if __name__ == "__main__":
    main()
