# SPDX-License-Identifier: Apache-2.0
"""The command itself: exit codes, messages, what it lists, and what it does to bad files."""

import json
import random
from pathlib import Path

import pytest
from built_command import Winze

COMMANDS = ("lower", "print", "verify", "diff", "passes", "ops")
CRASH_WORDS = (b"Traceback", b"terminate called", b"Segmentation", b"Sanitizer", b"runtime error")


def assert_refused(winze: Winze, source: Path, target: Path) -> bytes:
    """The file is refused with a message, and the target stays as it was."""
    target.write_bytes(b"as it was")
    done = winze.run("lower", source, "-o", target)
    assert done.returncode == 1, done.stderr.decode(errors="replace")
    assert b"error" in done.stderr
    assert not any(word in done.stderr for word in CRASH_WORDS)
    assert target.read_bytes() == b"as it was"
    assert list(target.parent.glob(f"{target.name}*")) == [target]
    return done.stderr


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("frobnicate",),
        ("lower",),
        ("lower", "a.pt2", "--no-such-option"),
        ("lower", "a.pt2", "-o", "b.pt2", "--torch-version", "1.0"),
        ("lower", "a.pt2", "-o", "b.pt2", "--passes", "no-such-pass"),
        ("verify", "a.pt2", "--level", "depth"),
        ("diff", "a.pt2"),
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_2(winze: Winze, own_programs: Path, tmp_path: Path, args: tuple[str, ...]) -> None:
    (tmp_path / "a.pt2").write_bytes((own_programs / "mlp.pt2").read_bytes())
    done = winze(*args, code=2, cwd=tmp_path)
    assert done.stderr
    assert not (tmp_path / "b.pt2").exists()


def test_help_names_every_command(winze: Winze) -> None:
    text = winze("--help").stdout.decode()
    for command in COMMANDS:
        assert command in text
        assert winze(command, "--help").stdout
    assert winze("--version").stdout.decode().count(".") >= 2


def test_empty_value_after_equals_sign(winze: Winze, own_programs: Path) -> None:
    done = winze("lower", own_programs / "mlp.pt2", "--passes=", "-o", "-", "--report", "/dev/stderr")
    assert json.loads(done.stderr)["passes"] == []


def test_missing_file_is_named(winze: Winze, tmp_path: Path) -> None:
    message = assert_refused(winze, tmp_path / "absent.pt2", tmp_path / "out.pt2")
    assert b"absent.pt2" in message


def test_passes_are_listed(winze: Winze) -> None:
    listed = winze("passes").stdout.decode()
    reference = winze("passes", "--markdown").stdout.decode()
    for name in ("repair-input-as-output", "remove-detach", "dead-code", "common-subexpressions"):
        assert name in listed
        assert name in reference


def test_operators_are_shown(winze: Winze) -> None:
    assert "alpha" in winze("ops", "aten.add.Tensor").stdout.decode()
    listed = winze("ops").stdout.decode().splitlines()
    assert len(listed) > 3000
    assert b"aten.addd.Tensor" in winze("ops", "aten.addd.Tensor", code=1).stderr


def test_diff_tells_same_from_other(winze: Winze, own_programs: Path) -> None:
    a, b = own_programs / "mlp.pt2", own_programs / "mlp_core.pt2"
    winze("diff", a, a)
    assert winze("diff", a, b, code=1).stdout


def test_report_and_times(winze: Winze, own_programs: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    winze.lower(own_programs / "aliasing.pt2", tmp_path / "out.pt2", "--time", "--report", str(report))
    assert "passes" in json.loads(report.read_text())


def test_truncated_files(winze: Winze, own_programs: Path, tmp_path: Path) -> None:
    data = (own_programs / "mutation.pt2").read_bytes()
    source = tmp_path / "bad.pt2"
    lengths = {0, 1, 4, 22, len(data) - 1, len(data) - 22}
    lengths |= {len(data) * k // 40 for k in range(1, 40)}
    for length in sorted(lengths):
        source.write_bytes(data[:length])
        assert_refused(winze, source, tmp_path / "out.pt2")


@pytest.mark.parametrize("seed", range(4))
def test_changed_bytes(winze: Winze, own_programs: Path, tmp_path: Path, seed: int) -> None:
    """A byte of a weight may change unseen; anything else is refused. Nothing may crash."""
    data = (own_programs / ("cond", "attention", "constants", "trees")[seed]).with_suffix(".pt2").read_bytes()
    source, target = tmp_path / "bad.pt2", tmp_path / "out.pt2"
    chance = random.Random(seed)
    refused = 0
    for _ in range(40):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 8))):
            changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        source.write_bytes(changed)
        target.write_bytes(b"as it was")
        done = winze.run("lower", source, "-o", target)
        assert done.returncode in (0, 1), done.stderr.decode(errors="replace")
        assert not any(word in done.stderr for word in CRASH_WORDS)
        if done.returncode == 1:
            refused += 1
            assert b"error" in done.stderr
            assert target.read_bytes() == b"as it was"
    assert refused


@pytest.mark.parametrize("seed", range(2))
def test_changed_text(winze: Winze, own_programs: Path, tmp_path: Path, seed: int) -> None:
    text = winze.convert(own_programs / "attention.pt2", tmp_path / "good.wz").read_text()
    source = tmp_path / "bad.wz"
    chance = random.Random(seed)
    for _ in range(40):
        at, length = chance.randrange(len(text)), chance.choice((0, 1, 5, 80))
        put = chance.choice(("", "%", "(", "]", '"', "9" * 40, "\n", "graph", "\u00fc", "\0"))
        source.write_text(text[:at] + put + text[at + length :])
        done = winze.run("verify", source)
        assert done.returncode in (0, 1), done.stderr.decode(errors="replace")
        assert not any(word in done.stderr for word in CRASH_WORDS)


def test_nonsense_files(winze: Winze, tmp_path: Path) -> None:
    nonsense = {
        "zeros": bytes(4096),
        "noise": random.Random(0).randbytes(4096),
        "empty-archive": b"PK\x05\x06" + bytes(18),
        "deep": b"(" * 100_000,
        "long-line": b"program " + b'"' + b"x" * 1_000_000,
        "not-utf8": b'program "\xff\xfe"',
    }
    for name, data in nonsense.items():
        source = tmp_path / f"{name}.pt2"
        source.write_bytes(data)
        assert_refused(winze, source, tmp_path / "out.pt2")


def test_text_errors_show_line_and_caret(winze: Winze, own_programs: Path, tmp_path: Path) -> None:
    text = winze.convert(own_programs / "mlp.pt2", tmp_path / "good.wz").read_text()
    lines = text.splitlines()
    number = next(i for i, line in enumerate(lines) if " = aten." in line)
    lines[number] = lines[number].replace(" = aten.", " = = aten.", 1)
    source = tmp_path / "bad.wz"
    source.write_text("\n".join(lines) + "\n")
    message = winze("verify", source, code=1).stderr.decode()
    assert f"bad.wz:{number + 1}:" in message
    assert any(line.strip() == "^" for line in message.splitlines())


def test_target_that_cannot_be_written(winze: Winze, own_programs: Path, tmp_path: Path) -> None:
    target = tmp_path / "no-such-folder" / "out.pt2"
    message = winze("lower", own_programs / "mlp.pt2", "-o", target, code=1).stderr
    assert b"no-such-folder" in message
