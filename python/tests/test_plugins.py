# SPDX-License-Identifier: Apache-2.0
"""Plugins of native passes beside passes in Python. Each test has a process of its own: a plugin stays loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from built_package import PACKAGE_DIR

PLUGIN = PACKAGE_DIR.parent / "examples" / "pass_plugin" / "decompose_silu.so"

pytestmark = pytest.mark.skipif(
    not PLUGIN.exists(), reason="the example plugin is built by ctest -R pass_plugin_builds"
)


def output_of(code: str, folder: Path) -> list[str]:
    environment = os.environ | {"PYTHONPATH": str(PACKAGE_DIR)}
    code = code.replace("PLUGIN", repr(str(PLUGIN)))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout.splitlines()


def test_without_torch(tmp_path: Path) -> None:
    (tmp_path / "silu.wz").write_text(
        "graph forward(%x: input f32[2]) {\n  %y = aten.silu(%x) : f32[2]\n  return output %y\n}\n"
    )
    code = """
import sys, winze
print(winze.load_pass_plugin(PLUGIN), winze.load_pass_plugin(PLUGIN))
print(winze.passes()["decompose-silu"])

@winze.lowering_pass
def count(graph):
    print(len(graph))

program = winze.load("silu.wz")
print([one.edits > 0 for one in program.lower([count, "decompose-silu", "count, dead-code"]).passes])
for name in ("decompose-silu", "no-such-pass"):
    try:
        print(winze.lowering_pass(name=name)(count.function).name)
    except ValueError as error:
        print(error)
try:
    winze.load_pass_plugin("missing.so")
except winze.Error as error:
    print(error.message.split("/")[0])
print("torch" in sys.modules)
"""
    assert output_of(code, tmp_path) == [
        "['decompose-silu'] ['decompose-silu']",
        "Replaces silu by a product with a sigmoid.",
        "3",
        "4",
        "[False, True, False, False]",
        "'decompose-silu' is the name of a native pass; register yours with another name=",
        "no-such-pass",
        'there is no plugin "',
        "False",
    ]


def test_in_a_compilation_and_on_files(tmp_path: Path) -> None:
    code = """
import torch, winze, winze.torch
winze.load_pass_plugin(PLUGIN)
silu = torch.nn.functional.silu

def show(gm, inputs):
    print([str(node.target) for node in gm.graph.nodes if node.op == "call_function"])
    return gm

run = torch.compile(lambda x: silu(x), backend="winze", options={"passes": [show, "decompose-silu", show, "default"]})
x = torch.randn(3)
print(torch.allclose(run(x), silu(x)))

class Net(torch.nn.Module):
    def forward(self, x):
        return silu(x)

torch.export.save(torch.export.export(Net(), (x,)), "net.pt2")

@winze.lowering_pass
def nothing(graph):
    pass

for passes in ("decompose-silu", [nothing, "decompose-silu"]):
    report = winze.lower("net.pt2", "lowered.pt2", passes=passes, plugins=[PLUGIN])
    print([one.name for one in report.passes], "silu" in str(winze.load("lowered.pt2").graph))
"""
    assert output_of(code, tmp_path) == [
        "['aten.silu.default']",
        "['aten.sigmoid.default', 'aten.mul.Tensor']",
        "True",
        "['decompose-silu'] False",
        "['nothing', 'decompose-silu'] False",
    ]
