"""The packages of the extra ``[review]``."""

from __future__ import annotations

from sfumato.core.optional_packages import check_installed

_PACKAGES = {
    "pyroaring": "pyroaring",
    "regex": "regex",
    "krippendorff": "krippendorff",
    "sklearn": "scikit-learn",
}
"""By module, the package that it comes with."""


def needs_review() -> None:
    """Refuse to begin without the packages of the extra."""
    # At once, since a package that is missing later would stop people in the middle of their work.
    check_installed("a review", _PACKAGES, extra="review")
