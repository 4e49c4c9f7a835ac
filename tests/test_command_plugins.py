# SPDX-License-Identifier: Apache-2.0
"""Commands that read programs know the operators of a plugin and their shape rules."""

from pathlib import Path

import pytest
from built_command import BUILD_DIR, Winze

PLUGIN = BUILD_DIR / "examples" / "operator_plugin" / "scale_operator.so"

pytestmark = pytest.mark.skipif(
    not PLUGIN.exists(), reason="the example plugin is built by ctest -R operator_plugin_builds"
)

PROGRAM = """\
graph forward(%x: input f32[4, 3], %by: input f32[3]) {{
  %y = mylib.scale(%x, %by) : f32[4, {}]
  return %y
}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "right.wz").write_text(PROGRAM.format(3))
    (tmp_path / "wrong.wz").write_text(PROGRAM.format(9))
    return tmp_path


def test_operators_are_known(winze: Winze, folder: Path) -> None:
    plugin = ("--load-pass-plugin", str(PLUGIN))
    assert b"results  inferred by a shape rule" in winze("ops", "mylib.scale", *plugin).stdout
    assert b"%y = mylib.scale.default(%x, %by)" in winze("print", "right.wz", *plugin, cwd=folder).stdout
    assert b'%y = "torch.ops.mylib.scale.default"(' in winze("print", "right.wz", cwd=folder).stdout
    assert b"f32[4, 9]" in winze("diff", "right.wz", "wrong.wz", *plugin, code=1, cwd=folder).stdout


def test_metas_are_verified(winze: Winze, folder: Path) -> None:
    plugin = ("--load-pass-plugin", str(PLUGIN))
    winze("verify", "right.wz", *plugin, cwd=folder)
    winze("verify", "wrong.wz", cwd=folder)  # nothing is known of the operator
    message = winze("verify", "right.wz", "wrong.wz", *plugin, code=1, cwd=folder).stderr
    assert b"wrong.wz: error: results are recorded as f32[4, 9], but mylib.scale.default yields f32[4, 3]" in message


@pytest.mark.parametrize("command", ["print", "verify", "run", "ops"])
def test_a_plugin_that_is_none_is_named(winze: Winze, folder: Path, command: str) -> None:
    name = "mylib.scale" if command == "ops" else "right.wz"
    done = winze(command, name, "--load-pass-plugin", "right.wz", code=1, cwd=folder)
    assert b'cannot load plugin "right.wz"' in done.stderr
