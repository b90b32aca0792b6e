"""The words that a hierarchy in SKOS is written with."""

from __future__ import annotations

import importlib
from typing import Any

from sfumato.core.errors import InputError

SKOS = "http://www.w3.org/2004/02/skos/core#"
OWN = "urn:sfumato:hierarchy#"
"""Properties beside SKOS: ``height`` and ``floor`` of a scheme, ``place`` of a concept.

A place is ``level/position``, both from 0; a concept that stands at several levels has several.
"""


def rdflib() -> Any:
    """The package rdflib.

    Raises
    ------
    InputError
        If it is not installed.
    """
    try:
        return importlib.import_module("rdflib")
    except ImportError:
        raise InputError(
            "a hierarchy in Turtle",
            "needs the package rdflib",
            found="no such package",
            advice='install it with: pip install "sfumato[semantics]"',
        ) from None
