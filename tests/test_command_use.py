# SPDX-License-Identifier: Apache-2.0
"""How the command behaves in use: streams, many files at once, reports, interruption, hints."""

import json
import os
import pty
import shutil
import signal
import subprocess
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from built_command import Winze

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


@pytest.fixture
def folder(own_programs: Path, tmp_path: Path) -> Path:
    """A folder with four programs and one file that is none."""
    for name in NAMES:
        shutil.copy(own_programs / f"{name}.pt2", tmp_path)
    (tmp_path / "small.wz").write_text(SMALL)
    (tmp_path / "bad.pt2").write_bytes(b"PK\x03\x04 but then nothing")
    return tmp_path


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


# --- What else the subcommands show


def test_overloads_and_tags_of_operators(winze: Winze) -> None:
    overloads = winze("ops", "aten.add").stdout.decode()
    assert "aten.add.Tensor\n" in overloads
    assert "aten.add.out\n" in overloads
    core = winze("ops", "--tag", "core").stdout.decode().split()
    assert "aten.add.Tensor" in core
    assert "aten.add_.Tensor" not in core
    of_both = winze("ops", "--tag", "core", "aten.add").stdout.decode()
    assert "aten.add.Tensor\n" in of_both
    assert "aten.add.out\n" not in of_both
    assert "writes self" in winze("ops", "aten.add_.Tensor").stdout.decode()
    assert "view of self" in winze("ops", "aten.transpose.int").stdout.decode()
    assert "random" in winze("ops", "aten.rand_like").stdout.decode()


def test_operators_without_shape_rule(winze: Winze) -> None:
    without = winze("ops", "--without-shape-rule").stdout.decode().split()
    assert "aten.add.Tensor" not in without
    assert "aten.add.complex" in without
    stats = winze("ops", "--stats").stdout.decode()
    every = len(winze("ops").stdout.decode().splitlines())
    assert stats == f"{every} operators, {every - len(without)} with a shape rule, {len(without)} without\n"


def test_verify_infers_metas_anew(winze: Winze, tmp_path: Path) -> None:
    text = "graph forward(%x: input f32[2, 3]) {{\n  %y = aten.relu.default(%x) : f32[{}]\n  return %y\n}}\n"
    (tmp_path / "right.wz").write_text(text.format("2, 3"))
    (tmp_path / "wrong.wz").write_text(text.format("2, 4"))
    winze("verify", "right.wz", cwd=tmp_path)
    winze("verify", "wrong.wz", "--level", "schema", cwd=tmp_path)
    message = winze("verify", "wrong.wz", "--level", "meta", code=1, cwd=tmp_path).stderr.decode()
    assert "recorded as f32[2, 4], but aten.relu.default yields f32[2, 3]" in message
    assert "p is" not in winze("ops", "aten.relu").stdout.decode()


def test_custom_operators_by_file(winze: Winze, tmp_path: Path) -> None:
    (tmp_path / "my.schemas").write_text("mylib::scale(Tensor x, float by=1.0) -> Tensor\n")
    shown = winze("ops", "--ops", "my.schemas", "mylib.scale", cwd=tmp_path).stdout.decode()
    assert "float by=1.0" in shown
    (tmp_path / "bad.schemas").write_text("mylib::scale(Tensor x\n")
    message = winze("ops", "--ops", "bad.schemas", code=1, cwd=tmp_path).stderr.decode()
    assert "bad.schemas:1" in message


def test_custom_operators_have_the_effects_of_their_tags(winze: Winze, tmp_path: Path) -> None:
    (tmp_path / "noise.wz").write_text(
        "graph f(%x: f32[2]) {\n"
        "  %a = mine.noise.default(%x) : f32[2]\n"
        "  %b = mine.noise.default(%x) : f32[2]\n"
        "  %unused = mine.noise.default(%x) : f32[2]\n"
        "  %y = aten.sub.Tensor(%a, %b) : f32[2]\n"
        "  return %y\n}\n"
    )

    def draws(tags: str) -> int:
        (tmp_path / "my.schemas").write_text(f"mine::noise(Tensor x) -> Tensor{tags}\n")
        done = winze("lower", "noise.wz", "-o", "-", "--ops", "my.schemas", cwd=tmp_path)
        return done.stdout.count(b"mine.noise")

    assert draws("") == 1
    assert draws(" [nondeterministic_seeded]") == 3
    shown = winze("ops", "--ops", "my.schemas", "mine.noise", cwd=tmp_path).stdout
    assert b"draws random numbers" in shown
    (tmp_path / "my.schemas").write_text("mine::noise(Tensor x) -> Tensor [nondeterministic_seded]\n")
    failed = winze("lower", "noise.wz", "-o", "-", "--ops", "my.schemas", code=1, cwd=tmp_path)
    assert b'my.schemas:1:34: error: there is no tag "nondeterministic_seded"' in failed.stderr
    assert b'did you mean "nondeterministic_seeded"?' in failed.stderr
    assert b"its schema and tags say" in winze("lower", "--help").stdout


def test_a_summary_that_becomes_a_program_again_is_noticed(winze: Winze, folder: Path) -> None:
    summary = winze("print", "attention.pt2", cwd=folder).stdout
    assert summary.splitlines()[0].endswith(b" summary")
    (folder / "summary.wz").write_bytes(summary)
    weights = ("--weights", "attention.pt2", "--passes", "")
    done = winze("lower", "summary.wz", "-o", "out.pt2", *weights, cwd=folder)
    assert b"summary.wz: warning: this is a summary" in done.stderr
    assert b'`winze lower IN.pt2 -o OUT.wz --passes ""` writes the whole' in done.stderr
    done = winze("lower", "summary.wz", "-o", "out.wz", *weights, cwd=folder)
    assert b"summary.wz: warning: this is a summary" in done.stderr
    assert winze("print", "summary.wz", cwd=folder).stdout.splitlines()[0].endswith(b" summary")
    assert winze("lower", "small.wz", "-o", "out.pt2", cwd=folder).stderr == b""


def test_unknown_fields_of_inner_records_are_kept(winze: Winze, folder: Path) -> None:
    def kept(spot: Callable[[Any], dict[str, Any]], record: str = "models/model.json") -> bool:
        """Whether the field comes back, by way of the text form too, and nothing is said."""
        with zipfile.ZipFile(folder / "mlp.pt2") as source, zipfile.ZipFile(folder / "new.pt2", "w") as target:
            for name in source.namelist():
                content = source.read(name)
                if name.endswith(record):
                    document = json.loads(content)
                    spot(document)["brand_new"] = {"a": [1, 2.50]}
                    content = json.dumps(document).encode()
                target.writestr(name, content)
        done = winze("lower", "new.pt2", "-o", "out.pt2", "--passes", "", cwd=folder)
        text = winze("lower", "new.pt2", "-o", "out.wz", "--passes", "", cwd=folder)
        again = winze("lower", "out.wz", "-o", "again.pt2", "--passes", "", cwd=folder)
        assert (folder / "out.pt2").read_bytes() == (folder / "again.pt2").read_bytes()
        with zipfile.ZipFile(folder / "out.pt2") as written:
            [name] = [name for name in written.namelist() if name.endswith(record)]
            field = spot(json.loads(written.read(name))).get("brand_new")
        return field == {"a": [1, 2.50]} and not done.stderr + text.stderr + again.stderr

    def graph(program: Any) -> Any:
        return program["graph_module"]["graph"]

    def first_role(program: Any, key: str) -> Any:
        return next(iter(program["graph_module"]["signature"][key][0].values()))

    assert kept(lambda p: graph(p)["nodes"][0]["outputs"][0]["as_tensor"])
    assert kept(lambda p: graph(p)["nodes"][0]["inputs"][0])
    assert kept(lambda p: graph(p)["nodes"][0]["inputs"][0]["arg"]["as_tensor"])
    assert kept(lambda p: graph(p)["inputs"][0]["as_tensor"])
    assert kept(lambda p: graph(p)["outputs"][0]["as_tensor"])
    assert kept(lambda p: next(iter(graph(p)["tensor_values"].values())))
    assert kept(lambda p: next(iter(graph(p)["tensor_values"].values()))["device"])
    assert kept(lambda p: p["schema_version"])
    assert kept(lambda p: first_role(p, "input_specs"))
    assert kept(lambda p: first_role(p, "input_specs")["arg"])
    assert kept(lambda p: first_role(p, "output_specs"))
    assert kept(lambda p: first_role(p, "output_specs")["arg"]["as_tensor"])
    assert kept(lambda p: graph(p)["nodes"][0])
    weights = "model_weights_config.json"
    assert kept(lambda config: config, weights)
    assert kept(lambda config: next(iter(config["config"].values())), weights)
    assert kept(lambda config: next(iter(config["config"].values()))["tensor_meta"]["device"], weights)


def test_unknown_fields_go_with_their_record_and_that_is_said(winze: Winze, folder: Path, own_programs: Path) -> None:
    with zipfile.ZipFile(own_programs / "dtypes.pt2") as source, zipfile.ZipFile(folder / "new.pt2", "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("models/model.json"):
                program = json.loads(content)
                nodes = program["graph_module"]["graph"]["nodes"]
                check = next(node for node in nodes if "_assert_tensor_metadata" in node["target"])
                check["inputs"][0]["brand_new"] = 1
                content = json.dumps(program).encode()
            target.writestr(name, content)
    done = winze("lower", "new.pt2", "-o", "out.pt2", "--passes", "remove-assert-nodes", cwd=folder)
    assert b'{"brand_new": 1} of graph_module.graph.nodes["' in done.stderr
    assert b"that record is gone, or another" in done.stderr


def test_statistics_of_a_program(winze: Winze, folder: Path) -> None:
    shown = winze("print", "attention.pt2", "--stats", cwd=folder).stdout.decode()
    for words in ("aten.linear.default", "float32", "parameter", "user_input", "symbol", " in ["):
        assert words in shown


def test_diff_says_what_it_does_not_compare(winze: Winze, folder: Path) -> None:
    (folder / "renamed.wz").write_text(SMALL.replace("%x", "%y"))
    winze("diff", "small.wz", "renamed.wz", cwd=folder)
    assert b"Names of inputs and example inputs are not compared." in winze("diff", "--help").stdout


def test_verify_of_several_files(winze: Winze, folder: Path) -> None:
    winze("verify", *(f"{name}.pt2" for name in NAMES), cwd=folder)
    done = winze("verify", "mlp.pt2", "bad.pt2", "cond.pt2", code=1, cwd=folder)
    assert b"bad.pt2" in done.stderr


def test_reference_page_of_passes_is_up_to_date(winze: Winze) -> None:
    page = Path(__file__).parent.parent / "docs" / "passes.md"
    assert winze("passes", "--markdown").stdout.decode() == page.read_text(), (
        "write it anew: build/bin/winze passes --markdown > docs/passes.md"
    )
