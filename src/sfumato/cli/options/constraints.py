"""Options that ask for promises: one per constraint."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.options.panels import PROMISES
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.release.constraints import Budget, Constraint
    from sfumato.risk.risk_thresholds import Preset


class DistanceWord(StrEnum):
    """Words of ``--distance``; see `sfumato.release.constraints.TCloseness`."""

    EQUAL = "equal"
    ORDERED = "ordered"


def _promise(kind: str, text: str, *names: str) -> Any:
    return typer.Option(
        *names, metavar=kind, help=text, rich_help_panel=PROMISES, show_default=False
    )


GBalance = Annotated[float | None, _promise("G", "g-balance of every class at least G, in [0, 1).")]
HAffiliation = Annotated[
    float | None, _promise("H", "h-affiliation of every class at most H, in (0, 1].")
]
K = Annotated[int | None, _promise("K", "At least K records in every class.")]
PidK = Annotated[int | None, _promise("K", "At least K persons in every class.")]
L = Annotated[
    int | None, _promise("L", "At least L distinct sensitive values in every class.", "--l")
]
Marketer = Annotated[
    float | None,
    _promise(
        "T",
        "Marketer risk of the release at most T, against --register, without one against the file "
        "itself; against --population it is estimated, not promised.",
    ),
]
SharedCounts = Annotated[
    int | None,
    _promise("M", "At least M persons share each number of records that a class has."),
]
TCloseness = Annotated[
    float | None,
    _promise("T", "Sensitive values of every class within a distance T of the whole file's."),
]
Distance = Annotated[
    DistanceWord,
    typer.Option(
        help="Distance of --t-closeness; ordered by rank, for sensitive numbers.",
        rich_help_panel=PROMISES,
    ),
]


def constraints_of(
    given: dict[str, float | int | None], distance: DistanceWord
) -> tuple[Constraint | Budget, ...]:
    """The constraints that the options ask for.

    Parameters
    ----------
    given
        Value of each option by the name of its constraint; ``None`` where it is not given.
    distance
        The distance of t-closeness.

    Raises
    ------
    InputError
        If a value is out of range, or a distance is given without t-closeness.
    """
    from sfumato.release.constraints import BY_NAME

    if distance is DistanceWord.ORDERED and given["t_closeness"] is None:
        raise InputError("option --distance", "is for --t-closeness", advice="give both")
    beside = {"t_closeness": {"distance": distance.value}}
    promises = []
    for name, value in given.items():
        if value is None:
            continue
        try:
            promises.append(BY_NAME[name](value, **beside.get(name, {})))
        except InputError as error:
            subject = f"option --{name.replace('_', '-')}"
            raise InputError(subject, error.rule, accepted=error.accepted) from None
    return tuple(promises)


def with_presets(
    promises: tuple[Constraint | Budget, ...], presets: tuple[Preset, ...], threshold: float
) -> tuple[Constraint | Budget, ...]:
    """The promises, and those under which the release meets the thresholds of presets.

    Parameters
    ----------
    promises
        What the options ask for.
    presets
        What is to be met too.
    threshold
        Risk above which a record is at risk, where a preset does not say it.

    Raises
    ------
    InputError
        If no promise stands for a threshold.
    """
    if not presets:
        return promises
    from sfumato.release.promises import promises as of_presets
    from sfumato.release.promises import strictest

    return strictest((*promises, *of_presets(*presets, threshold=threshold)))
