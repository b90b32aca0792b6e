"""What Spark does not measure, refused before work starts."""

from __future__ import annotations

from sfumato.core.errors import InputError


def refuse_on_spark(*, special_uniques: bool) -> None:
    """Refuse the parameters that only the embedded engine takes.

    Parameters
    ----------
    special_uniques
        As for `assess`.

    Raises
    ------
    InputError
        If one of them is set.
    """
    if special_uniques:
        raise InputError(
            "parameter special_uniques",
            "must be left out on Spark",
            advice="leave it out, or take engine='embedded'",
        )
