# SPDX-License-Identifier: Apache-2.0
"""Hints for names that are not known."""

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str]) -> str:
    """``Did you mean 'x'?``, or nothing where no name is near."""
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"Did you mean {close[0]!r}?" if close else ""
