# SPDX-License-Identifier: Apache-2.0
"""How the command behaves in use: streams, many files at once, reports, interruption, hints."""

import json
import os
import pty
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from built_command import Winze
from command_folder import NAMES, SMALL

# --- Streams


def test_text_goes_to_standard_output_and_nothing_else_does(winze: Winze, folder: Path) -> None:
    done = winze("lower", folder / "mlp.pt2", "-o", "-", "--time")
    assert done.stdout.startswith(b"program ")
    assert b" ms " in done.stderr
    assert b" ms " not in done.stdout


def test_a_stream_without_end_is_not_read_to_it(winze: Winze, folder: Path) -> None:
    stream = b"// nothing but comments\n" * 100_000
    for given in ("-", "/dev/stdin"):
        done = winze("print", given, "--read-limit", "1MB", stdin=stream, code=1, cwd=folder)
        assert b"there are more than 1048576 bytes of text to read, or no end of it" in done.stderr
        assert b"--read-limit raises the limit" in done.stderr
    refused = winze("print", "-", "--read-limit", "-1", stdin=stream, code=2, cwd=folder)
    assert b'"-1" is no size' in refused.stderr
    text = SMALL.encode() + stream
    assert winze("print", "-", "--read-limit", "3MB", stdin=text, cwd=folder).stdout.startswith(b"program ")


def test_a_pipe_of_two_commands(winze: Winze, folder: Path) -> None:
    first = winze("lower", folder / "mlp.pt2", "-o", "-", "--passes", "", cwd=folder)
    second = winze("lower", "-", "-o", "-", "--passes", "", stdin=first.stdout, cwd=folder)
    assert first.stdout == second.stdout
    third = winze("print", "-", stdin=first.stdout, cwd=folder)
    assert third.stdout.startswith(b"program ")


def test_nothing_is_said_when_nothing_is_asked(winze: Winze, folder: Path) -> None:
    done = winze("lower", folder / "mlp.pt2", "-o", folder / "out.pt2")
    assert done.stdout == b""
    assert done.stderr == b""


def test_what_a_lost_archive_held_beside_weights_is_missed(winze: Winze, folder: Path) -> None:
    (folder / "named.wz").write_text('program "small"\narchive "gone.pt2"\n' + SMALL.partition("\n")[2])
    done = winze("lower", folder / "named.wz", "-o", folder / "out.pt2")
    assert b"warning: example inputs and extra files are left out: the archive" in done.stderr
    assert b"--weights" in done.stderr
    done = winze("lower", folder / "named.wz", "-o", folder / "out.wz")
    assert done.stderr == b""
    assert b'archive "gone.pt2"' in (folder / "out.wz").read_bytes()


@pytest.mark.parametrize(
    "command", ["print /dev/zero", "print - < /dev/zero", "lower small.wz --weights /dev/zero -o x.pt2"]
)
def test_what_has_no_end_and_is_no_program_is_refused(winze: Winze, folder: Path, command: str) -> None:
    line = f"ulimit -v 4000000; '{winze.path}' {command}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60, cwd=folder)
    assert done.returncode == 1
    assert b"this is no zip archive" in done.stderr


def test_a_release_that_is_not_known_yet_is_warned_of(winze: Winze, folder: Path) -> None:
    done = winze("lower", "mlp.pt2", "-o", "out.pt2", "--torch-version", "2.77", cwd=folder)
    assert b"warning: torch 2.77 is later than the latest release that is known" in done.stderr


def test_a_reader_that_stops_is_no_failure_to_report(winze: Winze, folder: Path) -> None:
    command = f"'{winze.path}' ops | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=60)
    assert done.stdout.count(b"\n") == 1
    assert done.stderr == b""


def test_a_full_disk_is_a_failure(winze: Winze, folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command: list[str | Path] = [winze.path, "print", folder / "mlp.pt2"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
    assert done.returncode == 1
    assert b"error" in done.stderr


def test_output_may_be_the_input(winze: Winze, folder: Path) -> None:
    expected = winze.lower(folder / "attention.pt2", folder / "out.pt2").read_bytes()
    assert winze.lower(folder / "attention.pt2", folder / "attention.pt2").read_bytes() == expected


# --- Many files


def test_one_that_fails_does_not_stop_the_others(winze: Winze, folder: Path) -> None:
    inputs = [folder / f"{name}.pt2" for name in ("mlp", "bad", *NAMES[1:])]
    done = winze("lower", *inputs, "-o", f"{folder}/out/", "-j", "3", code=1)
    assert sorted(p.stem for p in (folder / "out").iterdir()) == sorted(NAMES)
    assert b"bad.pt2" in done.stderr
    assert b"1 of 5 programs failed" in done.stderr


def test_several_inputs_need_a_folder(winze: Winze, folder: Path) -> None:
    done = winze("lower", "mlp.pt2", "cond.pt2", "-o", "one.pt2", code=2, cwd=folder)
    assert b"cannot go to one file" in done.stderr
    assert not (folder / "one.pt2").exists()


def test_equal_names_are_refused_before_anything_is_done(winze: Winze, folder: Path) -> None:
    (folder / "sub").mkdir()
    shutil.copy(folder / "mlp.pt2", folder / "sub")
    done = winze("lower", "mlp.pt2", "sub/mlp.pt2", "-o", "out/", code=2, cwd=folder)
    assert b"would both become" in done.stderr
    assert not (folder / "out").exists()


def test_progress_is_shown_on_a_terminal_alone(winze: Winze, folder: Path) -> None:
    main, terminal = pty.openpty()
    command: list[str | Path] = [winze.path, "lower", *(f"{name}.pt2" for name in NAMES), "-o", "out/"]
    subprocess.run(command, stderr=terminal, cwd=folder, check=True, timeout=60)
    os.close(terminal)
    assert b"[1/4]" in os.read(main, 10000)
    os.close(main)
    quiet = winze(*command[1:], cwd=folder)
    assert quiet.stderr == b""


# --- Reports

REPORT_KEYS = {
    "input", "output", "read_seconds", "write_seconds", "warnings", "program", "pipeline", "edits",
    "seconds", "nodes_before", "nodes_after", "stopped_by_edit_limit", "error", "reproducer",
    "passes",
}  # fmt: skip
PASS_KEYS = {
    "name", "options", "status", "reason", "edits", "seconds", "verify_seconds",
    "peak_memory_bytes", "nodes_before", "nodes_after", "op_changes", "edits_by_rule",
    "statistics", "notes", "warnings", "dropped_notes", "dropped_warnings",
}  # fmt: skip


def test_report_of_one_program(winze: Winze, folder: Path) -> None:
    winze("lower", "mlp.pt2", "-o", "out.pt2", "--report", "r.json", cwd=folder)
    report = json.loads((folder / "r.json").read_text())
    assert report.keys() == REPORT_KEYS
    assert (report["input"], report["output"], report["error"]) == ("mlp.pt2", "out.pt2", None)
    assert report["passes"]
    for each in report["passes"]:
        assert each.keys() == PASS_KEYS
        assert each["status"] in ("ran", "skipped")


def test_report_of_several_programs(winze: Winze, folder: Path) -> None:
    command = ("lower", "mlp.pt2", "bad.pt2", "-o", "out/", "--report", "r.json")
    winze(*command, code=1, cwd=folder)
    good, bad = json.loads((folder / "r.json").read_text())
    assert good.keys() == bad.keys() == REPORT_KEYS
    assert good["error"] is None
    assert bad["error"]["message"]
    assert bad["passes"] == []


@pytest.mark.parametrize("option", ["--report", "--reproducer"])
@pytest.mark.parametrize(
    "path",
    ["mlp.pt2", "sub/../mlp.pt2", "link.pt2", "hard.pt2", "out.pt2", "sub/../out.pt2", "ahead.pt2", "my.schemas"],
)
def test_files_written_beside_take_the_place_of_no_other(winze: Winze, folder: Path, option: str, path: str) -> None:
    (folder / "sub").mkdir()
    (folder / "link.pt2").symlink_to("mlp.pt2")
    (folder / "hard.pt2").hardlink_to(folder / "mlp.pt2")
    (folder / "ahead.pt2").symlink_to("out.pt2")  # of a file that is not there yet
    (folder / "my.schemas").write_text("mylib::scale(Tensor x) -> Tensor\n")
    before = (folder / "mlp.pt2").read_bytes()
    command = ("lower", "mlp.pt2", "-o", "out.pt2", "--ops", "my.schemas", option, path)
    done = winze(*command, code=2, cwd=folder)
    assert f'{option} "{path}" '.encode() in done.stderr
    assert (folder / "mlp.pt2").read_bytes() == before
    assert not (folder / "out.pt2").exists()


def test_report_and_reproducer_are_two_files(winze: Winze, folder: Path) -> None:
    command = ("lower", "mlp.pt2", "-o", "out.pt2", "--report", "r.json", "--reproducer", "./r.json")
    assert b'--report "r.json" has another use' in winze(*command, code=2, cwd=folder).stderr
    done = winze("lower", "mlp.pt2", "-o", "-", "--report", "-", code=2, cwd=folder)
    assert b'--report "-" is where the program goes' in done.stderr
    winze("lower", "mlp.pt2", "-o", "/dev/null", "--report", "/dev/null", cwd=folder)


def test_a_report_of_a_folder_of_programs_is_none_of_them(winze: Winze, folder: Path) -> None:
    command = ("lower", "mlp.pt2", "cond.pt2", "-o", "out/", "--report", "out/cond.pt2")
    assert b"is where the program goes" in winze(*command, code=2, cwd=folder).stderr
    assert not (folder / "out").exists()


def test_without_its_report_nothing_is_written(winze: Winze, folder: Path) -> None:
    (folder / "out.pt2").write_bytes(b"as it was")
    command = ("lower", "mlp.pt2", "-o", "out.pt2", "--report", "nowhere/r.json")
    assert b"nowhere/r.json" in winze(*command, code=1, cwd=folder).stderr
    assert (folder / "out.pt2").read_bytes() == b"as it was"


def test_stop_after_edits(winze: Winze, folder: Path) -> None:
    def edits(*options: str) -> tuple[int, bool]:
        command = ("lower", "small.wz", "-o", "out.wz", "--passes", "remove-detach")
        winze(*command, "--report", "r.json", *options, cwd=folder)
        report = json.loads((folder / "r.json").read_text())
        return report["edits"], report["stopped_by_edit_limit"]

    total, _ = edits()
    assert total > 2
    assert edits("--stop-after-edits", "1") == (1, True)
    assert "detach" in (folder / "out.wz").read_text()
    assert edits("--stop-after-edits", str(total)) == (total, False)
    assert "detach" not in (folder / "out.wz").read_text()


# --- Printing around passes


def test_prints_around_passes(winze: Winze, folder: Path) -> None:
    def shown(*options: str) -> str:
        command = ("lower", "small.wz", "-o", "out.wz", "--passes", "remove-detach")
        return winze(*command, *options, cwd=folder).stderr.decode()

    for name in ("remove-detach", "all"):
        assert "aten.detach" in shown("--print-before", name)
        after = shown("--print-after", name)
        assert "graph forward" in after
        assert "aten.detach" not in after
    assert "graph forward" in shown("--print-on-change=full")
    assert "-   %b = aten.detach" in shown("--print-on-change")
    assert shown() == ""


def test_print_names_a_pass_of_the_pipeline(winze: Winze, folder: Path) -> None:
    command = ("lower", "mlp.pt2", "-o", "out.pt2", "--print-after", "remove-detahc")
    done = winze(*command, code=2, cwd=folder)
    assert b"remove-detahc" in done.stderr
    assert not (folder / "out.pt2").exists()


# --- Interruption


def test_interruption_leaves_the_old_file(winze: Winze, folder: Path) -> None:
    """Standard input stays open, so that the command is interrupted for certain."""
    target = folder / "out.pt2"
    target.write_bytes(b"as it was")
    command: list[str | Path] = [winze.path, "lower", "-", "-o", target]
    # Children of what a shell runs in the background ignore the signal otherwise.
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdin is not None
    process.stdin.write((folder / "mlp.pt2").read_bytes())
    process.stdin.flush()
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert target.read_bytes() == b"as it was"
    assert sorted(p.name for p in folder.iterdir() if "out" in p.name) == ["out.pt2"]


# --- Wrong usage, with a hint


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("lowre", "mlp.pt2"), ("lowre", 'did you mean "lower"?')),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--pases", "a"), ("--pases", "--passes")),
        (("diff", "mlp.pt2", "cond.pt2", "bad.pt2"), ("bad.pt2", "too many")),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--passes", "ded-code"), ("ded-code", "dead-code")),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--passes", "dead-code{a=1}"), ("dead-code",)),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--torch-version", "2.8"), ("2.8", "2.9")),
        (("lower", "mlp.pt2", "-o", "x.pt2", "-j", "0"), ("-j",)),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--verify-each=some"), ("--verify-each",)),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--stop-after-edits", "-1"), ("--stop-after-edits",)),
        (("verify", "mlp.pt2", "--level", "deep"), ("--level", "semantics")),
        (("ops", "--tag", "cor"), ("cor", "core")),
        (("ops", "--stats", "aten.add"), ("--stats", "takes no names")),
        (("lower", "mlp.pt2", "-o", ""), ("-o", "empty")),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--report", ""), ("--report", "empty")),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--torch-version", "9.9"), ("9.9", "2.9")),
        (
            ("lower", "mlp.pt2", "-o", "x.pt2", "--passes", "remove-assert-nodes{scalar=true,scalar=false}"),
            ("pipeline:1:33", "option scalar is given twice"),
        ),
        (("diff", "-", "-"), ("standard input",)),
        (("help",), ('"help"', "winze COMMAND --help")),
        (("version",), ("winze --version",)),
        ((), ("no command", "lower, run", "winze --help")),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--verify-each", "none"), ('"mlp.pt2" and "none"', "one file")),
    ],
    ids=lambda value: " ".join(value),
)
def test_wrong_usage_is_explained(winze: Winze, folder: Path, args: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = winze(*args, code=2, cwd=folder)
    message = done.stderr.decode()
    assert message.count("error: ") == 1
    assert [word for word in words if word not in message] == []
    assert done.stdout == b""
    assert not (folder / "x.pt2").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("passes", "ded-code"), ("ded-code", "dead-code")),
        (("ops", "aten.ad.Tensor"), ("aten.ad.Tensor", "aten.add.Tensor")),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--load-pass-plugin", "no.so"), ("no.so",)),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--ops", "no.schemas"), ("no.schemas: error: cannot read: No such",)),
        (("ops", "relu"), ('"relu"', "did you mean aten.relu?")),
        (("ops", "mylib.scale"), ('"mylib.scale"', "--ops FILE")),
        (("print", ""), ("name of the file is empty",)),
        (("print", "/dev/null"), ("there is no program: the text is empty", "graph")),
        (("lower", "mlp.pt2", "-o", "x.pt2", "--model", "other"), ("other",)),
        (("diff", "mlp.pt2", "no.pt2"), ("no.pt2",)),
        (("print", "."), (".",)),
        (("ops", "--tag", "core", "aten.add_.Tensor"), ("aten.add_.Tensor", '"core"')),
        (("print", "noise"), ("noise", "zip archive")),
    ],
    ids=lambda value: " ".join(value),
)
def test_what_fails_is_named(winze: Winze, folder: Path, args: tuple[str, ...], words: tuple[str, ...]) -> None:
    (folder / "noise").write_bytes(b"\x80\x02}q\0\0\0")
    done = winze(*args, code=1, cwd=folder)
    message = done.stderr.decode()
    assert message.count("error: ") == 1
    assert [word for word in words if word not in message] == []
    assert not (folder / "x.pt2").exists()
