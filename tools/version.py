#!/usr/bin/env python3
"""Print the version for the build: of git's tags, of an sdist its own, else of pyproject.toml."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    os.chdir(Path(__file__).resolve().parent.parent)
    sys.argv = ["setuptools_scm"]
    runpy.run_module("setuptools_scm", run_name="__main__")
