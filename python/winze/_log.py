# SPDX-License-Identifier: Apache-2.0
"""Logging: everything goes through the logger ``winze``."""

import logging
import os

logger = logging.getLogger("winze")
SWITCH = "WINZE_LOG"


def configure() -> None:
    """Shows the logs from the level on that the environment names; leaves logging alone where it names none."""
    level = os.environ.get(SWITCH, "").upper()
    if not level:
        return
    if level not in logging.getLevelNamesMapping():
        logger.warning("%s is %r, which is no level; it is debug, info, warning or error", SWITCH, level.lower())
        return
    logger.setLevel(level)
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("winze: %(levelname)s: %(message)s"))
        logger.addHandler(handler)
