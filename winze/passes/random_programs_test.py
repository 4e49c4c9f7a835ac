# SPDX-License-Identifier: Apache-2.0
"""Lowers random programs full of views and writes, and lets PyTorch judge that nothing changed.

A program is made by running it: each statement is chosen at random and executed at once, so that the
types in its text are those that PyTorch computed. The lowered text is executed in the same way.
Compared are the results, what became of inputs, which results and inputs share storage, and which
are one object. The folder of the build is taken from WINZE_BUILD_DIR.
"""

import os
import random
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

ROOT = Path(__file__).resolve().parents[2]
WINZE = (ROOT / os.environ.get("WINZE_BUILD_DIR", "build")).resolve() / "bin" / "winze"
SCALE = int(os.environ.get("WINZE_TEST_SCALE", "1"))
PROGRAMS = 200 * SCALE

# Spelling in the text, without the operand; %s and %t stand for operands of one shape, %m for a mask of that
# shape, %q for two elements, %i for two indices.
ANY_SHAPE = """relu(%s) neg(%s) sin(%s) relu(%s) alias(%s) clone(%s) clone(%s,memory_format=contiguous_format)
contiguous(%s) detach(%s) detach(%s) detach(%s) add.Tensor(%s,1) add.Tensor(%s,%t) mul.Tensor(%s,%t) sum(%s)
zeros_like(%s) relu_(%s) add_.Tensor(%s,1) mul_.Tensor(%s,%t) copy_(%s,%t) zero_(%s) rand([4])
sym_size.int(%s,0) to.dtype(%s,f32) to.dtype(%s,f32,False,True) _to_copy(%s) squeeze(%s)
fill_.Scalar(%s,2) exp_(%s) neg_(%s) unsqueeze(%s,0) unsqueeze_(%s,0) squeeze_(%s) to.dtype(%s,f64) gt.Scalar(%s,0)
masked_fill_.Scalar(%s,%m,3) where.self(%m,%s,%t) bernoulli_.float(%s,0.5) full_like(%s,-0.0)
mul.Tensor(%s,-1) div.Tensor(%s,0) add.Tensor(%s,-0.0) add.Tensor(%s,0.0) lift_fresh_copy(%s) expand(%s,[2,-1,-1])
arange.start_step(0,4,2) cat([%s,%t]) stack([%s,%s]) rand_like(%s) conj(%s) resolve_conj(%s)""".split()
SQUARE = """t(%s) t_(%s) view(%s,[4]) reshape(%s,[4]) select.int(%s,0,1) view(%s,[2,2]) expand(%s,[-1,2])
permute(%s,[0,1]) permute(%s,[1,0]) slice.Tensor(%s,1,0,1) slice.Tensor(%s,0,0,2,2) diagonal(%s) transpose_(%s,0,1)
as_strided(%s,[2],[1]) as_strided(%s,[3],[1],1) index_put_(%s,[%i],%t) select_scatter(%s,%q,0,1) tril_(%s) view(%s,[-1])
fill_diagonal_(%s,5) unfold(%s,0,2,1) reshape(%s,[2,-1]) matmul(%s,%t)""".split()
FLAT = "view(%s,[2,2]) reshape(%s,[2,2]) slice.Tensor(%s,0,0,2) slice.Tensor(%s,0,0,4) flatten.using_ints(%s)".split()

STATEMENT = re.compile(r"^\s*(?:%(\w+) = )?aten\.(\w+)\.(\w+)\((.*?)\)(?: : .*)?$")
PLACEHOLDER = re.compile(r"%(\w+): input")
CONSTANTS = {
    "contiguous_format": torch.contiguous_format,
    "preserve_format": torch.preserve_format,
    "f32": torch.float32,
    "f64": torch.float64,
    "True": True,
    "False": False,
}

DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.int64: "i64", torch.bool: "b8"}
WORD = re.compile(r"(?:\w+=)?(?:%?[\w.+-]+|\[[^\]]*\])")

Values = dict[str, Any]


def make_inputs() -> Values:
    torch.manual_seed(0)
    values = {"x": torch.randn(2, 2), "y": torch.randn(4), "z": torch.randn(2, 2).t(), "q": torch.randn(2)}
    return values | {"m": torch.tensor([[True, False], [False, True]]), "i": torch.tensor([1, 0])}


def type_text(value: Any) -> str:
    if isinstance(value, int):
        return f"int = {value}"
    text = f"{DTYPES[value.dtype]}{list(value.shape)}"
    if not value.is_contiguous() or list(value.stride()) != list(torch.empty(value.shape).stride()):
        text += f" strides {list(value.stride())}"
    if value.storage_offset() != 0:
        text += f" offset [{value.storage_offset()}]"
    return text


def read_argument(word: str, values: Values) -> Any:
    word = word.strip()
    if word.startswith("%"):
        return values[word[1:]]
    if word.startswith("["):
        return [read_argument(part, values) for part in word[1:-1].split(",")]
    if word in CONSTANTS:
        return CONSTANTS[word]
    return float(word) if "." in word else int(word)


def execute(line: str, values: Values) -> str | None:
    """Runs one statement of the text form. Returns the name of its result."""
    found = STATEMENT.match(line)
    assert found, f"not a statement: {line}"
    name, packet, overload, arguments = found.groups()
    positional, keywords = [], {}
    for word in WORD.findall(arguments):
        key, equals, rest = word.partition("=")
        if equals:
            keywords[key] = read_argument(rest, values)
        else:
            positional.append(read_argument(word, values))
    operator = getattr(getattr(torch.ops.aten, packet), overload)
    values[name] = operator(*positional, **keywords)
    return name


@dataclass
class Program:
    """The text of a program that is being made, and its values so far."""

    choose: random.Random
    values: Values = field(default_factory=make_inputs)
    lines: list[str] = field(default_factory=list)

    def tensors(self, keep: Callable[[torch.Tensor], bool]) -> list[str]:
        return [n for n, v in self.values.items() if isinstance(v, torch.Tensor) and keep(v)]

    def operands(self, tensor: torch.Tensor) -> dict[str, Callable[[torch.Tensor], bool]]:
        return {
            "%t": lambda t: t.shape == tensor.shape,
            "%m": lambda t: t.shape == tensor.shape and t.dtype == torch.bool,
            "%q": lambda t: t.shape == (2,),
            "%i": lambda t: t.shape == (2,) and t.dtype == torch.int64,
        }

    def add_statement(self) -> None:
        first = self.choose.choice(self.tensors(lambda t: True))
        tensor = self.values[first]
        choices = list(ANY_SHAPE)
        if tensor.shape == (2, 2):
            choices += 2 * SQUARE
        if tensor.shape == (4,):
            choices += 3 * FLAT
        if tensor.dim() == 0:
            choices = [c for c in choices if "sym_size" not in c]
        # Programs in which calls are repeated are those that passes find something in.
        if self.lines and self.choose.random() < 0.35:
            spelled = self.choose.choice(self.lines).split(" = ")[1].split(" : ")[0].removeprefix("aten.")
        else:
            # Fake tensors, which metas follow, give dimensions of size 1 other strides here than the kernels.
            choices = [c for c in choices if "_like(" not in c or 1 not in tensor.shape]
            spelled = self.choose.choice(choices)
            for word, keep in self.operands(tensor).items():
                if word in spelled:
                    fitting = self.tensors(keep)
                    if not fitting:
                        return
                    spelled = spelled.replace(word, f"%{self.choose.choice(fitting)}")
            spelled = spelled.replace("%s", f"%{first}")
        packet, _, rest = spelled.partition("(")
        if "." not in packet:
            packet += ".default"
        name = f"v{len(self.lines)}"
        line = f"%{name} = aten.{packet}({rest}"
        try:
            execute(line, self.values)
            if isinstance(self.values[name], torch.Tensor) and self.values[name].dtype not in DTYPES:
                raise RuntimeError("a dtype that the text has no name for here")
        except (RuntimeError, IndexError):  # a view that this layout does not have, a write that overlaps
            self.values.pop(name, None)
            return
        self.lines.append(f"{line} : {type_text(self.values[name])}")

    def text(self) -> str:
        inputs = ", ".join(f"%{n}: input {type_text(v)}" for n, v in make_inputs().items())
        results = self.choose.sample(list(self.values), min(len(self.values), self.choose.randint(1, 4)))
        returned = ", ".join(f"output %{n}" for n in results)
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"graph forward({inputs}) {{\n{body}  return {returned}\n}}\n"


def make_program(seed: int) -> str:
    program = Program(random.Random(seed))
    for _ in range(program.choose.randint(3, 14)):
        program.add_statement()
    return program.text()


def storage(value: Any) -> int | None:
    return value.untyped_storage().data_ptr() if isinstance(value, torch.Tensor) else None


def observe(text: str) -> list[Any]:
    """All that a caller can see of one run."""
    values = make_inputs()
    inputs = list(values.values())
    body = text[text.index("{", text.index("graph forward")) + 1 : text.rindex("return")]
    torch.manual_seed(1)
    for line in body.strip().split("\n"):
        if line.strip():
            execute(line, values)
    returned = re.findall(r"output (?:%(\w+)|(-?\d+))", text[text.rindex("return") :])
    results = [values[name] if name else int(number) for name, number in returned]
    seen: list[Any] = []
    everything = [*inputs, *results]
    for value in everything:
        seen.append(value if isinstance(value, int) else (repr(value.tolist()), value.shape, value.stride()))
    for a in everything:
        seen.append([(storage(a) == storage(b) and storage(a) is not None, a is b) for b in everything])
    seen.append(torch.rand(1).item())  # as many numbers were drawn
    for value in results:
        if isinstance(value, torch.Tensor):
            value.fill_(1) if not overlaps(value) else None
            seen.append([other if isinstance(other, int) else repr(other.tolist()) for other in everything])
    return seen


def overlaps(value: torch.Tensor) -> bool:
    return any(stride == 0 and size > 1 for stride, size in zip(value.stride(), value.shape, strict=True))


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    for seed in range(PROGRAMS):
        (folder / f"p{seed}.wz").write_text(make_program(seed))
    return folder


def lower(folder: Path, target: Path, pipeline: str) -> None:
    target.mkdir()
    files = sorted(folder.glob("*.wz"))
    done = subprocess.run(
        [WINZE, "lower", *files, "-o", f"{target}/", "--passes", pipeline, "--verify-each"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


FINDING_NOTHING = [
    "infer-shapes",
    "fold-shape-computation",
]  # what PyTorch computed is right, and all sizes are numbers
PIPELINES = [
    "remove-no-op-clones",
    "common-subexpressions",
    "dead-code",
    "remove-detach",
    "remove-no-op-casts",
    "remove-no-op-views",
    *FINDING_NOTHING,
    "default",
    "inference",
    "remove-no-op-casts, remove-no-op-views, remove-detach, common-subexpressions, remove-no-op-views",
    "common-subexpressions, remove-no-op-clones, common-subexpressions, remove-no-op-clones, dead-code",
]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_caller_sees_no_difference(originals: Path, tmp_path: Path, pipeline: str) -> None:
    lower(originals, tmp_path / "lowered", pipeline)
    changed = 0
    for original in originals.glob("*.wz"):
        lowered = next((tmp_path / "lowered").glob(f"{original.stem}.*")).read_text()
        before = original.read_text()
        assert observe(lowered) == observe(before), f"{pipeline}\n{before}\nbecame\n{lowered}"
        changed += lowered.count("aten.") != before.count("aten.")
    assert changed > PROGRAMS // 20 or pipeline in FINDING_NOTHING, f"{pipeline} found next to nothing to do"
