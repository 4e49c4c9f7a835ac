# SPDX-License-Identifier: Apache-2.0
"""What ``scripts/setup.sh`` asks of the distribution, with stand-ins for its tools."""

import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "setup.sh"
# Prints the packages that are installed and fails where one is not, as the real one does.
DPKG_QUERY = """#!/bin/bash
status=0
for name in "${@:3}"; do
  if [[ " $INSTALLED " == *" $name "* ]]; then echo "$name installed"; else status=1; fi
done
exit $status
"""
APT_GET = """#!/bin/bash
echo "$*" >> "$CALLS"
"""
SUDO = """#!/bin/bash
shift
exec "$@"
"""


def is_debian() -> bool:
    release = Path("/etc/os-release")
    return release.exists() and ("debian" in release.read_text() or "ubuntu" in release.read_text())


pytestmark = pytest.mark.skipif(not is_debian(), reason="packages are installed on Debian and Ubuntu alone")


def installs(folder: Path, installed: str) -> list[str]:
    """The packages that `setup.sh system` has apt-get install."""
    tools = folder / "tools"
    tools.mkdir()
    for name, text in (("dpkg-query", DPKG_QUERY), ("apt-get", APT_GET), ("sudo", SUDO)):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)
    calls = folder / "calls"
    calls.touch()
    path = f"{tools}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "INSTALLED": installed, "CALLS": str(calls)}
    subprocess.run([SCRIPT, "system"], env=environment, check=True, capture_output=True)
    return [word for line in calls.read_text().splitlines() for word in line.partition("install -y ")[2].split()]


def test_a_machine_without_any_of_the_packages_gets_them(tmp_path: Path) -> None:
    assert {"g++", "cmake", "ninja-build", "libsimdjson-dev"} <= set(installs(tmp_path, ""))


def test_only_what_is_missing_is_installed(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    everything = installs(tmp_path / "first", "")
    without = [name for name in everything if name != "libfmt-dev"]
    assert installs(tmp_path / "second", " ".join(without)) == ["libfmt-dev"]


def test_a_machine_with_all_of_them_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    assert installs(tmp_path / "second", " ".join(installs(tmp_path / "first", ""))) == []
