# SPDX-License-Identifier: Apache-2.0
"""A folder for tests of the command: four programs, a small one as text, and a file that is none."""

import shutil
from pathlib import Path

NAMES = ("mlp", "cond", "attention", "trees")

SMALL = """\
program "small"
graph forward(%x: input f32[2, 3]) {
  %a = aten.relu.default(%x) : f32[2, 3]
  %b = aten.detach.default(%a) : f32[2, 3]
  %c = aten.neg.default(%b) : f32[2, 3]
  %d = aten.detach.default(%c) : f32[2, 3]
  return output %d
}
"""


def fill(folder: Path, own_programs: Path) -> None:
    for name in NAMES:
        shutil.copy(own_programs / f"{name}.pt2", folder)
    (folder / "small.wz").write_text(SMALL)
    (folder / "bad.pt2").write_bytes(b"PK\x03\x04 but then nothing")
