#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what shape rules cover and how often they agree with PyTorch, and writes docs/coverage.md.

Runs up to SAMPLES samples and more of every operator of `op_db` under fake tensors (`--samples`, some minutes), their
gradients, what `op_db` says that PyTorch refuses, and operators that it has not; the same with symbols for sizes; and
all real programs beside the checkout. Exits with 1 where a difference is not explained, or where fewer calls agree or
fewer operators have a rule than the page has so far (`--force` writes it all the same). `--rules-only` samples nothing:
it writes anew which operators have a rule and why the others have none.
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "winze" / "shape"))

# The modules lie beside the rules that they test, which the line before puts on the path.
from extra_samples import extra_samples  # noqa: E402
from model_calls import model_files, states_of_model  # noqa: E402
from op_samples import differentiable_samples_of, error_samples_of, samples_of  # noqa: E402
from recorded_calls import (  # noqa: E402
    Answer,
    Call,
    Log,
    ask,
    explanation,
    names_with_rules,
    names_without_rules,
    record,
    record_backward,
)
from symbolic_calls import BACKED, UNBACKED, symbolic_explanation, verdicts  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402
from without_rule import by_reason  # noqa: E402

PAGE = ROOT / "docs" / "coverage.md"
BATCH = 1000
UNDECIDED = ("no_rule", "not_inferable")


def all_calls(samples: int) -> list[Call]:
    """All calls that the samples make."""
    log = Log()
    for number, info in enumerate(op_db):
        if number % 50 == 0:
            print(f"{number} of {len(op_db)} operators, {len(log.calls)} calls", file=sys.stderr)
        for function, args, kwargs in samples_of(info, samples):
            record(log, function, args, kwargs)
        for function, args, kwargs in differentiable_samples_of(info, max(samples // 2, 1)):
            record_backward(log, function, args, kwargs)
        for function, args, kwargs in error_samples_of(info):
            record(log, function, args, kwargs)
    for function, args, kwargs in extra_samples():
        record(log, function, args, kwargs)
    return list(log.calls.values())


def batches(calls: list[Call]) -> Iterator[list[Call]]:
    """Calls in pieces that make programs of a handy size."""
    for start in range(0, len(calls), BATCH):
        yield calls[start : start + BATCH]


class SymbolicCounts:
    """What came of the calls when their sizes were symbols."""

    def __init__(self, calls: list[Call]) -> None:
        self.states: Counter[str] = Counter()
        self.explained: Counter[str] = Counter()
        self.open: Counter[str] = Counter()
        self.different: list[str] = []
        for symbols in (BACKED, UNBACKED):
            for batch in batches(calls):
                for found in verdicts(batch, symbols):
                    state = found.state
                    if state == "different" and (reason := symbolic_explanation(found)):
                        state = "explained"
                        self.explained[reason] += 1
                    elif state == "different":
                        self.different.append(f"{found.call.call.name}({found.call.text}): {found.detail}")
                    elif state == "open":
                        self.open[found.call.call.name] += 1
                    self.states[state] += 1


class Counts:
    """The counts of one overload."""

    def __init__(self) -> None:
        self.equal = 0
        self.refused = 0
        self.undecided: Counter[str] = Counter()
        self.explained: Counter[str] = Counter()
        self.different: list[Answer] = []

    def add(self, answer: Answer) -> None:
        reason = explanation(answer)
        if answer.state in UNDECIDED:
            self.undecided[answer.detail or "no rule"] += 1
        elif answer.agrees:
            self.equal += not answer.call.fails
            self.refused += answer.call.fails
        elif reason:
            self.explained[reason] += 1
        else:
            self.different.append(answer)


def model_states() -> Counter[str]:
    """How many calls of the real programs came out how."""
    return Counter(state for path in model_files() for state, _ in states_of_model(path))


def page_text(counts: dict[str, Counts], rules: set[str], symbolic: SymbolicCounts, models: Counter[str]) -> str:
    """The whole page."""
    tested = {name: count for name, count in counts.items() if name in rules}
    equal = sum(count.equal for count in tested.values())
    refused = sum(count.refused for count in tested.values())
    explained: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    for count in tested.values():
        explained += count.explained
        undecided += count.undecided
    different = sum(len(count.different) for count in tested.values())
    lines = [
        "# Coverage of the shape rules",
        "",
        "Written by `scripts/shape_coverage.py`: how many operators have a shape rule, and how often the rules agree",
        "with PyTorch's fake tensors over PyTorch's own operator samples, and with what export recorded in real",
        "programs. See [add-an-operator.md](add-an-operator.md).",
        "",
        f"- {len(rules)} overloads have a rule; samples call {len(tested)} of them.",
        f"- {equal} sampled calls are equal: dtype, sizes, strides, storage offset, device.",
        f"- {refused} that PyTorch refuses are refused.",
        f"- {sum(explained.values())} differ for a known reason, {different} without one.",
        f"- {sum(undecided.values())} cannot be inferred by their rule.",
        f"- With symbols for sizes, {symbolic.states['equal']} calls are equal at all draws, equal sizes, 0 and 1 among"
        f" them, wherever their constraints hold; {symbolic.states['refused'] + symbolic.states['constrained']} have"
        f" constraints that hold at no draw; {symbolic.states['explained']} differ for a known reason,"
        f" {len(symbolic.different)} without one; {symbolic.states['open']} are left open.",
        f"- Of {sum(models.values())} calls in real programs {models['equal']} are equal,"
        f" {models['constrained']} are under a constraint that is not proved, {models['not_inferable']} cannot be"
        f" inferred, {models['no_rule']} have no rule, and"
        f" {models['different'] + models['unproven'] + models['error']} differ.",
        "",
        "## Known differences",
        "",
        *(f"- {reason}: {number} calls" for reason, number in sorted(explained.items())),
        "",
        "## Calls that rules leave open",
        "",
        *(f"- {reason}: {number} calls" for reason, number in sorted(undecided.items())),
        "",
        "## Known differences with symbolic sizes",
        "",
        *(f"- {reason}: {number} calls" for reason, number in sorted(symbolic.explained.items())),
        "",
        "Left open with symbolic sizes:",
        ", ".join(f"`{name}` {number}" for name, number in sorted(symbolic.open.items())) + ".",
        "",
        "## By overload",
        "",
        "| overload | equal | refused | known differences | left open | different |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, count in sorted(tested.items()):
        numbers = (count.equal, count.refused, sum(count.explained.values()), sum(count.undecided.values()))
        lines.append(f"| `{name}` | {' | '.join(str(n or '') for n in numbers)} | {len(count.different) or ''} |")
    without = sorted((name for name in counts if name not in rules), key=lambda name: name)
    lines += ["", "## Sampled overloads without a rule", "", ", ".join(f"`{name}`" for name in without), ""]
    return "\n".join(lines) + left_text()


LEFT = "\n## Overloads without a rule\n"


def left_text() -> str:
    """Why the other operators have none."""
    lines = [LEFT, "`winze ops --without-shape-rule` lists them all.", ""]
    for why, names in by_reason(names_without_rules()).items():
        shown = ", ".join(f"`{name}`" for name in names[:: max(1, len(names) // 4)][:4])
        lines.append(f"- {len(names)}: {why}: {shown}{', ...' if len(names) > 4 else ''}")
    return "\n".join(lines) + "\n"


def with_rules_alone(text: str) -> str:
    """The page with what follows from the rules written anew, without what samples tell."""
    head = re.sub(r"- \d+ overloads have", f"- {len(names_with_rules())} overloads have", text.partition(LEFT)[0])
    return head + left_text()


def headline(text: str) -> tuple[int, ...]:
    """What may only rise: overloads with a rule, overloads that samples call, equal calls, calls that are refused,
    equal calls with symbolic sizes, and of real programs."""
    patterns = (
        r"- (\d+) overloads have",
        r"samples call (\d+) of them",
        r"- (\d+) sampled calls are equal",
        r"- (\d+) that PyTorch refuses",
        r"for sizes, (\d+) calls are equal",
        r"real programs (\d+) are equal",
    )
    return tuple(int(match[1]) if (match := re.search(pattern, text)) else 0 for pattern in patterns)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=4, help="samples of each operator (default: 4)")
    parser.add_argument("--force", action="store_true", help="write the page even where a count falls")
    parser.add_argument("--rules-only", action="store_true", help="sample nothing, count the rules alone")
    options = parser.parse_args()
    if options.rules_only:
        PAGE.write_text(with_rules_alone(PAGE.read_text()))
        return 0
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    counts: dict[str, Counts] = defaultdict(Counts)
    calls = all_calls(options.samples)
    for batch in batches(calls):
        for answer in ask(batch):
            counts[answer.call.name].add(answer)
    symbolic = SymbolicCounts(calls)
    text = page_text(counts, names_with_rules(), symbolic, model_states())
    before = headline(PAGE.read_text() if PAGE.exists() else "")
    falls = any(new < old for new, old in zip(headline(text), before, strict=True))
    wrong = [answer for count in counts.values() for answer in count.different]
    for answer in wrong:
        print(f"{answer.call.name}({answer.call.text}) {answer.call.inputs}: {answer.call.types}, not {answer.detail}")
    for difference in symbolic.different:
        print(difference)
    if falls:
        print(f"counts fall from {before} to {headline(text)}")
    if not falls or options.force:
        PAGE.write_text(text)
    return 1 if wrong or symbolic.different or falls else 0


if __name__ == "__main__":
    sys.exit(main())
