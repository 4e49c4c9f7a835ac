# SPDX-License-Identifier: Apache-2.0
"""`winze compare`: lowered programs are equal to their originals, wrong ones are found out."""

import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from built_command import BUILD_DIR, Winze

pytestmark = pytest.mark.skipif(
    not (BUILD_DIR / "lib" / "libwinze_torch.so").exists(), reason="this build cannot run programs"
)


def test_a_lowered_program_is_equal_to_its_original(
    winze: Winze, own_program: Path, own_name: str, tmp_path: Path
) -> None:
    if own_name.startswith("custom_op"):
        pytest.skip("its operators are written in Python")
    lowered = winze.lower(own_program, tmp_path / "lowered.pt2")
    said = winze("compare", own_program, lowered).stdout.decode()
    assert said.splitlines()[-1].startswith("equal in ")
    assert "skipped" not in said


def program(path: Path, inputs: str, *nodes: str, before: str = "") -> Path:
    """A program in text form that returns %y."""
    body = "\n  ".join(nodes)
    result = "" if any("return" in node for node in nodes) else "  return %y\n"
    path.write_text(f"{before}graph forward({inputs}) {{\n  {body}\n{result}}}\n")
    return path


X = "%x: input f32[4, 4]"
MASKED = [
    "%m = aten.gt.Scalar(%x, 0.0) : b8[4, 4]",
    "%f = aten.masked_fill.Scalar(%x, %m, -inf) : f32[4, 4]",
    "%y = aten.softmax.int(%f, -1) : f32[4, 4]",
]
# Of each: inputs, the original, a wrong variant, and a part of what is said about it.
WRONG = {
    "drops_a_mutation": (
        X,
        ["%a = aten.add_.Tensor(%x, 1.0) : f32[4, 4]", "%y = aten.neg.default(%x) : f32[4, 4]"],
        ["%a = aten.add.Tensor(%x, 1.0) : f32[4, 4]", "%y = aten.neg.default(%a) : f32[4, 4]"],
        "input 0 (x) after the run",
    ),
    "swaps_operands": (
        f"{X}, %z: input f32[4, 4]",
        ["%y = aten.sub.Tensor(%x, %z) : f32[4, 4]"],
        ["%y = aten.sub.Tensor(%z, %x) : f32[4, 4]"],
        "16 of 16 elements are outside the tolerance",
    ),
    "rounds_a_constant": (
        X,
        ["%y = aten.mul.Tensor(%x, 0.70710678) : f32[4, 4]"],
        ["%y = aten.mul.Tensor(%x, 0.7071) : f32[4, 4]"],
        "outside the tolerance",
    ),
    "casts_down": (
        X,
        ["%y = aten.mm.default(%x, %x) : f32[4, 4]"],
        [
            "%h = aten.to.dtype(%x, bf16) : bf16[4, 4]",
            "%p = aten.mm.default(%h, %h) : bf16[4, 4]",
            "%y = aten.to.dtype(%p, f32) : f32[4, 4]",
        ],
        "outside the tolerance",
    ),
    "forgets_a_fill": (X, MASKED, [MASKED[0], "%y = aten.softmax.int(%x, -1) : f32[4, 4]"], "outside"),
    "returns_a_copy_of_a_view": (
        X,
        ["%y = aten.t.default(%x) : f32[4, 4] strides [1, 4]"],
        [
            "%v = aten.t.default(%x) : f32[4, 4] strides [1, 4]",
            "%y = aten.clone.default(%v) : f32[4, 4] strides [1, 4]",
        ],
        "has storage of its own, expected to share that of input 0",
    ),
    "changes_a_dtype": (
        "%i: input i64[4]",
        ["%y = aten.add.Tensor(%i, 1) : i64[4]"],
        ["%a = aten.add.Tensor(%i, 1) : i64[4]", "%y = aten.to.dtype(%a, i32) : i32[4]"],
        "expected i64[4], found i32[4]",
    ),
    "drops_an_output": (
        X,
        ["%a = aten.neg.default(%x) : f32[4, 4]", "return %a, %a"],
        ["%a = aten.neg.default(%x) : f32[4, 4]", "return %a"],
        "1 outputs, expected 2",
    ),
    "loses_an_assertion": (
        "%n: input i64[]",
        [
            "%k = aten.item.default(%n) : int = u0",
            "%c = _operator.le(%k, -100) : bool = (u0 <= -100)",
            'aten._assert_scalar.default(%c, "too large")',
            "%y = aten.neg.default(%n) : i64[]",
        ],
        ["%y = aten.neg.default(%n) : i64[]"],
        "goes on where an assertion stops the first",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_variant_is_found_out(winze: Winze, name: str, tmp_path: Path) -> None:
    inputs, right, wrong, said = WRONG[name]
    before = "symbol u0 in [-int_oo, int_oo]\n" if name == "loses_an_assertion" else ""
    a = program(tmp_path / "a.wz", inputs, *right, before=before)
    b = program(tmp_path / "b.wz", inputs, *wrong)
    text = winze("compare", a, b, code=1).stdout.decode()
    assert said in text
    assert text.splitlines()[-1].startswith("different: ")


def test_a_size_that_is_taken_to_be_fixed_is_found_out(winze: Winze, tmp_path: Path) -> None:
    def of(size: str) -> Path:
        return program(
            tmp_path / f"{size}.wz",
            "%x: input f32[s0, 4]",
            "%n = aten.sym_size.int(%x, 0) : int = s0",
            f"%y = aten.add.Tensor(%x, {size}) : f32[s0, 4]",
            before="symbol s0 in [2, 64] hint 5\n",
        )

    text = winze("compare", of("%n"), of("5"), code=1).stdout.decode()
    assert "draw 0, s0=5: 1 values are equal" in text
    assert "on inputs generated with seed 0, draw 1, s0=3" in text


def test_two_random_operators_may_not_be_merged(winze: Winze, tmp_path: Path) -> None:
    rand = "%{} = aten.rand_like.default(%x) : f32[4, 4]"
    add = "%y = aten.sub.Tensor(%a, %{}) : f32[4, 4]"
    a = program(tmp_path / "a.wz", X, rand.format("a"), rand.format("b"), add.format("b"))
    b = program(tmp_path / "b.wz", X, rand.format("a"), add.format("a"))
    winze("compare", a, a)
    text = winze("compare", a, b, code=1).stdout.decode()
    assert "1 of 2 calls that draw random numbers are left: one of aten.rand_like.default is gone" in text


def test_other_draws_are_compared_by_what_holds_for_all(winze: Winze, tmp_path: Path) -> None:
    add = "%y = aten.add.Tensor(%x, %a) : f32[4, 4]"
    a = program(tmp_path / "a.wz", X, "%a = aten.rand_like.default(%x) : f32[4, 4]", add)
    b = program(tmp_path / "b.wz", X, "%a = aten.randn_like.default(%x) : f32[4, 4]", add)
    text = winze("compare", a, b).stdout.decode()
    assert "random numbers are not drawn by the same calls" in text


def test_noise_of_a_low_precision_is_judged_by_float64(winze: Winze, tmp_path: Path) -> None:
    """Adding a large number and taking it away loses digits; leaving that out is no worse."""
    inputs = "%x: input bf16[64]"
    one = ["%a = aten.add.Tensor(%x, 100.0) : bf16[64]", "%y = aten.sub.Tensor(%a, 100.0) : bf16[64]"]
    a = program(tmp_path / "a.wz", inputs, *one)
    b = program(tmp_path / "b.wz", inputs, "%y = aten.clone.default(%x) : bf16[64]")
    wrong = program(tmp_path / "wrong.wz", inputs, "%y = aten.mul.Tensor(%x, 3.0) : bf16[64]")
    assert "in float64" in winze("compare", a, b, "-v").stdout.decode()
    winze("compare", a, b, "--no-reference", code=1)
    winze("compare", b, a, code=1)
    winze("compare", a, wrong, code=1)


def test_tolerances_can_be_set(winze: Winze, tmp_path: Path) -> None:
    a = program(tmp_path / "a.wz", X, "%y = aten.mul.Tensor(%x, 1.0) : f32[4, 4]")
    b = program(tmp_path / "b.wz", X, "%y = aten.mul.Tensor(%x, 1.001) : f32[4, 4]")
    winze("compare", a, b, code=1)
    winze("compare", a, b, "--rtol", "0.01")
    winze("compare", a, b, "--atol", "0.1")


def test_strides_are_compared_on_request(winze: Winze, tmp_path: Path) -> None:
    a = program(tmp_path / "a.wz", X, "%y = aten.neg.default(%x) : f32[4, 4]")
    transposed = "f32[4, 4] strides [1, 4]"
    b = program(
        tmp_path / "b.wz",
        X,
        f"%t = aten.t.default(%x) : {transposed}",
        f"%n = aten.neg.default(%t) : {transposed}",
        "%y = aten.t.default(%n) : f32[4, 4]",
    )
    c = program(
        tmp_path / "c.wz",
        X,
        f"%t = aten.t.default(%x) : {transposed}",
        "%k = aten.clone.default(%t, memory_format=contiguous_format) : f32[4, 4]",
        "%n = aten.neg.default(%k) : f32[4, 4]",
        f"%y = aten.t.default(%n) : {transposed}",
    )
    winze("compare", a, b, "--strides")
    winze("compare", a, c)
    assert "expected strides [4, 1], found [1, 4]" in winze("compare", a, c, "--strides", code=1).stdout.decode()


def test_what_is_said_repeats_the_run(winze: Winze, own_programs: Path) -> None:
    model = own_programs / "attention.pt2"
    said = [winze("compare", model, model, "--seed", "3", "-v").stdout for _ in range(2)]
    assert said[0] == said[1]
    assert b"generated with seed 3, draw 2" in said[0]
    text = winze("compare", model, model, "--sym", f"{symbol_of(said[0])}=9", "--draws", "1").stdout.decode()
    assert "=9" in text
    assert text.endswith("equal in 1 run\n")


def symbol_of(said: bytes) -> str:
    return said.decode().split("draw 0, ")[1].split("=")[0]


DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2]
DTYPES += [torch.complex64, torch.complex128, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32]
SHORT = "f32 f64 f16 bf16 f8e4m3fn f8e5m2 c64 c128 b8 u8 i8 i16 i32".split()


@pytest.mark.parametrize(("dtype", "short"), list(zip(DTYPES, SHORT, strict=True)))
def test_files_of_torch_save_give_every_dtype_and_layout(
    winze: Winze, dtype: torch.dtype, short: str, tmp_path: Path
) -> None:
    base = torch.arange(24).reshape(4, 6).to(dtype)
    view = base.t()[1::2]
    torch.save(((view,), {}), tmp_path / "in.pt")
    model = program(
        tmp_path / "m.wz",
        f"%x: input {short}[3, 4] strides [2, 6]",
        f"%y = aten.clone.default(%x, memory_format=contiguous_format) : {short}[3, 4]",
    )
    winze("run", model, "--inputs", tmp_path / "in.pt", "-o", tmp_path / "out.npz")
    with zipfile.ZipFile(tmp_path / "out.npz") as archive, archive.open("case0/out/0.npy") as member:
        written = np.load(member)
    expected = view.contiguous().view(torch.uint8).numpy()
    assert written.tobytes() == expected.tobytes()


def test_inputs_come_from_numpy_files(winze: Winze, tmp_path: Path) -> None:
    model = program(tmp_path / "m.wz", f"{X}, %z: input f32[4, 4]", "%y = aten.sub.Tensor(%x, %z) : f32[4, 4]")
    x, z = np.random.default_rng(0).random((2, 4, 4), dtype=np.float32)
    np.savez(tmp_path / "numbered.npz", x, np.asfortranarray(z))
    np.savez_compressed(tmp_path / "named.npz", z=z, x=x)
    said = [
        winze("compare", model, model, "--inputs", tmp_path / name, "-v").stdout
        for name in ("numbered.npz", "named.npz")
    ]
    assert said[0] == said[1]
    assert b"inputs given: 1 values are equal" in said[0]


def test_a_run_destroys_no_file_that_it_reads(winze: Winze, tmp_path: Path) -> None:
    model = program(tmp_path / "m.wz", X, "%y = aten.neg.default(%x) : f32[4, 4]")
    np.savez(inputs := tmp_path / "in.npz", np.ones((4, 4), np.float32))
    for file in (model, inputs):
        before = file.read_bytes()
        error = winze("run", model, "--inputs", inputs, "-o", file, code=2).stderr.decode()
        assert "name a file of its own: --output FILE" in error
        assert file.read_bytes() == before


def test_programs_with_other_inputs_are_different(winze: Winze, tmp_path: Path) -> None:
    a = program(tmp_path / "a.wz", X, "%y = aten.neg.default(%x) : f32[4, 4]")
    b = program(tmp_path / "b.wz", f"{X}, %z: input f32[4]", "%y = aten.neg.default(%x) : f32[4, 4]")
    assert "the programs take different inputs: 1 and 2" in winze("compare", a, b, code=1).stdout.decode()


def test_wrong_usage(winze: Winze, own_programs: Path) -> None:
    model = own_programs / "mlp.pt2"
    winze("compare", model, code=2)
    winze("compare", "-", "-", code=2)
    winze("compare", model, model, "--inputs", "x.npz", "--sym", "s0=3", code=2)
    assert b"no input's size has the symbol" in winze("compare", model, model, "--sym", "q=3", code=1).stderr
