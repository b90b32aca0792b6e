"""Options that say what a release is to meet, and what is to be least."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from sfumato.core.errors import InputError


class LossWord(StrEnum):
    """Words of ``--loss``."""

    ANE = "ane"
    NCP = "ncp"


Thresholds = Annotated[
    list[str] | None,
    typer.Option(
        "--threshold",
        metavar="MEASURE=LIMIT",
        help="What a measure of the release may be at most, or has to be at least (pid_k, ...); "
        "may be given several times.",
        show_default=False,
    ),
]
Loss = Annotated[
    LossWord,
    typer.Option(help="What is to be least: average normalised error, or certainty penalty."),
]
AtRisk = Annotated[
    float, typer.Option(metavar="SHARE", help="Risk above which a record counts as at risk.")
]


def thresholds_of(given: list[str] | None) -> dict[str, float]:
    """The limits by the name of their measure.

    Parameters
    ----------
    given
        ``measure=limit`` for each.

    Raises
    ------
    InputError
        If one is not of that form, or a measure is given twice.
    """
    found: dict[str, float] = {}
    for each in given or ():
        name, _, text = each.partition("=")
        name = name.strip()
        try:
            limit = float(text)
        except ValueError:
            raise InputError(
                "option --threshold",
                "must be a measure, an equals sign and a number",
                accepted="max_gidr=0.2",
            ) from None
        if name in found:
            raise InputError(
                "option --threshold", "must name each measure once", found="one that repeats"
            )
        found[name] = limit
    return found
