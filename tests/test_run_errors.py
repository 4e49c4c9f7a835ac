# SPDX-License-Identifier: Apache-2.0
"""What `run`, `compare` and `lower --check` say of inputs, operators and options that they cannot take.

Each time it is one error, with the node and the user's own line where there is one, and no file is left behind.
"""

import re
import shutil
from pathlib import Path

import pytest
import torch
from built_command import BUILD_DIR, Winze
from test_compare import X, program

LIBRARY = BUILD_DIR / "lib" / "libwinze_torch.so"
OPERATORS = BUILD_DIR / "lib" / "winze_test_operators.so"

pytestmark = pytest.mark.skipif(not LIBRARY.exists(), reason="built without libtorch")


class Picks(torch.nn.Module):
    def forward(self, x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
        doubled = x.relu() * 2
        return doubled[rows]


@pytest.fixture(scope="module")
def picks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported program of a dynamic size."""
    path = tmp_path_factory.mktemp("picks") / "picks.pt2"
    sizes = ({0: torch.export.Dim("n", min=2, max=16)}, None)
    torch.export.save(
        torch.export.export(Picks(), (torch.rand(6, 4), torch.tensor([1, 2])), dynamic_shapes=sizes), path
    )
    return path


class Own:
    pass


def error_of(winze: Winze, *args: str | Path, target: Path) -> str:
    """What a command that fails with exit 1 says, having written no target."""
    error = winze(*args, "-o", target, code=1).stderr.decode()
    assert error.count("error:") == 1
    assert not target.exists()
    assert list(target.parent.glob("*.tmp*")) == []
    return error


ROWS = torch.tensor([1, 2])
DECLARED_X = "node: %x: input f32["
DECLARED_ROWS = "node: %rows: input i64[2]"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"hello", ["is no file of inputs"]),
        (b"", ["is no file of inputs"]),
        ([Own(), ROWS], ["the pickle refers to"]),
        ([torch.ones(6, 4)], ["holds 1 value, but the program has 2 inputs", "hint: they are x, rows"]),
        ({"x": torch.ones(6, 4)}, ['has no value for the input "rows"']),
        ({"x": torch.ones(6, 4), "rows": ROWS, "z": 1}, ['has a value for "z", which is no input']),
        ([torch.ones(6, 5), ROWS], ['dimension 1 of input "x" is 5, and has to be 4', DECLARED_X]),
        ([torch.ones(6), ROWS], ['input "x" has to have 2 dimensions, and one of shape [6]', DECLARED_X]),
        ([torch.ones(6, 4), ROWS.int()], ['input "rows" has to be int64, and a tensor of int32', DECLARED_ROWS]),
        ([3, ROWS], ['input "x" has to be a tensor, and an int was given', DECLARED_X]),
        ([torch.ones(17, 4), ROWS], ['dimension 0 of input "x" is 17', "has to lie in [2, 16]", DECLARED_X]),
        ([torch.ones(6, 4, device="meta"), ROWS], ["_rebuild_meta_tensor_no_storage"]),
        (
            [torch.ones(6, 4), torch.tensor([1, 22])],
            ["aten.index.Tensor failed: index 22 is out of bounds", "node: %index", "in forward: return doubled[rows]"],
        ),
    ],
)
def test_inputs_that_do_not_fit(winze: Winze, picks: Path, tmp_path: Path, content: object, said: list[str]) -> None:
    file = tmp_path / "in.pt"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        torch.save(content, file)
    error = error_of(winze, "run", picks, "--inputs", file, target=tmp_path / "out.npz")
    assert [text for text in said if text not in error] == []


def test_a_size_outside_of_the_range_of_its_symbol(winze: Winze, picks: Path, tmp_path: Path) -> None:
    found = re.search(r"^symbol (\w+) in", winze("print", picks).stdout.decode(), re.MULTILINE)
    assert found
    symbol = found.group(1)
    error = error_of(winze, "run", picks, "--sym", f"{symbol}=17", target=tmp_path / "out.npz")
    assert "=17 is outside the range of" in error


ENORMOUS = "f32[1099511627776, 1099511627776]"
HUGE = "f32[1000000, 1000000, 100]"


@pytest.mark.parametrize(
    ("inputs", "node", "said"),
    [
        (f"%x: input {ENORMOUS}", f"%y = aten.neg.default(%x) : {ENORMOUS}", ["has more than 4294967296 elements"]),
        (
            X,
            f"%y = aten.zeros.default([1000000, 1000000, 100]) : {HUGE}",
            ["out of memory: it wants 400000000000000 b", "node: %y"],
        ),
        (
            X,
            "%y = aten.linalg_cholesky.default(%x) : f32[4, 4]",
            ["aten.linalg_cholesky.default failed: linalg.cholesky", "node: %y"],
        ),
        ("%x: input object", "%y = aten.zeros.default([2]) : f32[2]", ["no value can be generated for the input"]),
        (
            X,
            "%y = mylib.scale.default(%x) : f32[4, 4]",
            ["this libtorch has no operator mylib::scale", "node: %y", "hint: --load LIB.so"],
        ),
        (
            f"{X}, %s: input f32[4]",
            "%y = torchvision.nms.default(%x, %s, 0.5) : i64[2]",
            ["this libtorch has no operator torchvision::nms", "hint: --load FOLDER/torchvision/_C.so"],
        ),
        (
            "%x: input f32[2] device cuda:0",
            "%y = aten.neg.default(%x) : f32[2] device cuda:0",
            ['input "x" has to be on cuda:0', "node: %x: input", "move_to_device_pass"],
        ),
        (
            X,
            "%y = winze_test.throw_a_number.default(%x) : f32[4, 4]",
            ["winze_test.throw_a_number.default failed: an exception of an unknown type", "node: %y"],
        ),
    ],
)
def test_what_cannot_be_run(winze: Winze, inputs: str, node: str, said: list[str], tmp_path: Path) -> None:
    model = program(tmp_path / "m.wz", inputs, node)
    error = error_of(winze, "run", model, "--load", OPERATORS, target=tmp_path / "out.npz")
    assert [text for text in said if text not in error] == []
    assert "Exception raised from" not in error
    assert "enforce fail" not in error


def test_a_check_of_what_cannot_be_run_writes_nothing(winze: Winze, tmp_path: Path) -> None:
    model = program(tmp_path / "m.wz", X, "%d = aten.detach.default(%x) : f32[4, 4]", "%y = mylib.f(%d) : f32[4, 4]")
    error = error_of(winze, "lower", model, "--passes", "remove-detach", "--check", target=tmp_path / "out.pt2")
    assert "this libtorch has no operator mylib::f" in error
    assert "node: %y" in error


def test_an_assertion_of_the_program_has_the_users_message(winze: Winze, tmp_path: Path) -> None:
    model = program(
        tmp_path / "m.wz",
        "%n: input i64[]",
        "%y = aten.item.default(%n) : int = u0",
        "%ok = _operator.le(%y, 50) : bool = (u0 <= 50)",
        'aten._assert_scalar.default(%ok, "u0 is large")',
        before="symbol u0 in [0, 100]\n",
    )
    torch.save([torch.tensor(70)], tmp_path / "in.pt")
    error = error_of(winze, "run", model, "--inputs", tmp_path / "in.pt", target=tmp_path / "out.npz")
    assert "a run-time assertion of the program does not hold: u0 is large" in error
    assert 'node: aten._assert_scalar.default(%ok, "u0 is large")' in error


@pytest.mark.parametrize("content", [None, b"this is no library"])
def test_a_library_that_cannot_be_loaded(winze: Winze, picks: Path, tmp_path: Path, content: bytes | None) -> None:
    library = tmp_path / "own.so"
    if content is not None:
        library.write_bytes(content)
    error = error_of(winze, "run", picks, "--load", library, target=tmp_path / "out.npz")
    assert ("cannot load" if content else "there is no library") in error
    assert "own.so" in error


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "1e999", "much"])
@pytest.mark.parametrize(
    "command",
    [
        "compare IN IN --rtol",
        "compare IN IN --atol",
        "lower IN -o OUT --check --rtol",
        "lower IN -o OUT --check --atol",
        "lower IN -o OUT --check --check-budget",
    ],
)
def test_tolerances_and_budgets_are_finite_numbers_from_0(
    winze: Winze, picks: Path, tmp_path: Path, command: str, value: str
) -> None:
    target = tmp_path / "out.pt2"
    words = [{"IN": picks, "OUT": target}.get(word, word) for word in command.split()]
    error = winze(*words[:-1], f"{words[-1]}={value}", code=2).stderr.decode()
    assert f'error: {words[-1]}: "{value}" is no number from 0 on' in error
    assert not target.exists()


def test_a_libtorch_that_moved_is_named(winze: Winze, picks: Path, tmp_path: Path) -> None:
    """The library knows by path where PyTorch's own were when it was built."""
    built, moved = b"/torch/lib\0", b"/moved/lib\0"
    image = LIBRARY.read_bytes()
    assert built in image
    (tmp_path / LIBRARY.name).write_bytes(image.replace(built, moved))
    alone = Winze(Path(shutil.copy(winze.path, tmp_path / "winze")))
    error = error_of(alone, "run", picks, target=tmp_path / "out.npz")
    assert "cannot load" in error
    assert "hint: PyTorch is no longer where it was when Winze was built; build anew" in error
