# SPDX-License-Identifier: Apache-2.0
"""Where the build folder has the package."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE_DIR = (ROOT / os.environ.get("WINZE_BUILD_DIR", "build") / "python").resolve()
if (PACKAGE_DIR / "winze").is_dir():
    sys.path.insert(0, str(PACKAGE_DIR))
