"""The packages of the extras ``[link]`` and ``[spark]``, imported when they are needed."""

from __future__ import annotations

import importlib
import warnings
from typing import Any

from sfumato.core.errors import InputError


def needed(module: str, *, extra: str = "link", by: str = "linkage") -> Any:
    """A module of an extra.

    Parameters
    ----------
    module
        Its name.
    extra
        The extra that it comes with.
    by
        What needs it.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
            return importlib.import_module(module)
    except ImportError:
        raise InputError(
            by,
            f"needs the package {module.partition('.')[0]}",
            found="no such package",
            advice=f'install it with: pip install "sfumato[{extra}]"',
        ) from None
