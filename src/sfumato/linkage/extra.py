"""The packages of the extra ``[link]``, imported when they are needed."""

from __future__ import annotations

import importlib
from typing import Any

from sfumato.core.errors import InputError


def needed(module: str) -> Any:
    """A module of the extra ``[link]``.

    Parameters
    ----------
    module
        Its name.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(
            "linkage",
            f"needs the package {module.partition('.')[0]}",
            found="no such package",
            advice='install it with: pip install "sfumato[link]"',
        ) from None
