"""The packages of the extra ``[review]``."""

from __future__ import annotations

from importlib.util import find_spec

from sfumato.core.errors import InputError

_PACKAGES = {
    "pyroaring": "pyroaring",
    "regex": "regex",
    "krippendorff": "krippendorff",
    "sklearn": "scikit-learn",
}
"""By module, the package that it comes with."""


def needs_review() -> None:
    """Refuse to begin without the packages of the extra.

    Raises
    ------
    InputError
        If one of them is not installed.
    """
    for module, package in _PACKAGES.items():
        if find_spec(module) is None:
            raise InputError(
                "a review",
                f"needs the package {package}",
                found="no such package",
                advice='install it with: pip install "sfumato[review]"',
            )
