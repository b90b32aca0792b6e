"""What Spark does not measure, refused before work starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sfumato.core.errors import InputError
from sfumato.risk.population.given import Given

_ADVICE = "leave it out, or take engine='embedded'"


def refuse_on_spark(
    *, ordered_distance: Sequence[str], special_uniques: bool, register: Any, given: Given | None
) -> None:
    """Refuse the parameters that only the embedded engine takes.

    Parameters
    ----------
    ordered_distance, special_uniques, register
        As for `assess`.
    given
        What is known of the population, if anything.

    Raises
    ------
    InputError
        If one of them is set.
    """
    if ordered_distance:
        raise _refused("parameter ordered_distance", "must be empty on Spark")
    if register is not None:
        raise _refused("parameter register", "must be left out on Spark")
    if special_uniques:
        raise _refused("parameter special_uniques", "must be left out on Spark")
    if given is not None and given.size is None and given.fraction is None:
        raise InputError(
            "parameter population",
            "must be a number on Spark",
            found="a register or a column of weights",
            accepted="the number of persons, or the share of them who are in the file",
            advice="say one of them, or take engine='embedded'",
        )


def _refused(subject: str, rule: str) -> InputError:
    return InputError(subject, rule, advice=_ADVICE)
