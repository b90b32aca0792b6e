"""The packages of the extra ``[semantics]``."""

from __future__ import annotations

import importlib
from typing import Any

from sfumato.core.errors import InputError


def needed(module: str, purpose: str) -> Any:
    """A module of the extra.

    Parameters
    ----------
    module
        Its name.
    purpose
        What needs it: ``"rules"``, ``"a policy as RDF"``.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        raise InputError(
            purpose,
            f"needs the package {module.partition('.')[0]}",
            found="no such package",
            advice='install it with: pip install "sfumato[semantics]"',
        ) from None
