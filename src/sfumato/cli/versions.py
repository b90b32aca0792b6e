"""The versions of sfumato and of its parts, as the command line prints them."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PARTS = ("numpy", "pyarrow", "duckdb", "splink", "django", "clingo")
"""What decides about results; those of an extra that is not installed are left out."""


def versions() -> str:
    """The version of sfumato, then a line for each of its parts that is installed."""
    found = {"sfumato": version("sfumato"), "python": platform.python_version()}
    for part in PARTS:
        try:
            found[part] = version(part)
        except PackageNotFoundError:
            continue
    return "\n".join(f"{name} {number}" for name, number in found.items())
