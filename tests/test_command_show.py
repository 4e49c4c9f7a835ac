# SPDX-License-Identifier: Apache-2.0
"""What the subcommands show of programs and of operators."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from built_command import Winze
from command_folder import NAMES


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
    (folder / "renamed.wz").write_text((folder / "small.wz").read_text().replace("%x", "%y"))
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
