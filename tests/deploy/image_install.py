"""The Containerfile's install, run in a clean environment: `.ci/run` runs it, as it downloads packages for a minute."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.deploy.test_deploy import copy_sources, of, started

TARGET = "/opt/octoc"


def test_the_image_installs_what_it_starts(tmp_path: Path) -> None:
    """The first RUN leaves an environment without conflicts in which the image's command has all its options."""
    place = tmp_path / "octoc"
    install = of("RUN")[0]
    assert TARGET in install
    source = tmp_path / "source"
    copy_sources(source)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        ["/bin/sh", "-c", install.replace(TARGET, str(place))],
        cwd=source,
        env={**settings, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    words = started()["Containerfile"]
    for command in (["pip", "check"], ["octoc", words[0], "--help"]):
        command[0] = str(place / "bin" / command[0])
        shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert shown.returncode == 0, shown.stdout + shown.stderr
    assert all(word in shown.stdout for word in words if word.startswith("--"))
