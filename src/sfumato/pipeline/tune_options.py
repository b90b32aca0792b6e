"""How a release is searched for: each option declared once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from sfumato.core.declaration import (
    Above,
    Count,
    Layout,
    LayoutGiven,
    Parameter,
    Seed,
    Share,
    check_fields,
)
from sfumato.core.errors import InputError
from sfumato.release.release_options import Form, Loss
from sfumato.schema.roles import Unclassified

if TYPE_CHECKING:
    from sfumato.risk.risk_thresholds import Preset
    from sfumato.risk.verdict import Limits

SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def seconds_of(option: str, words: Sequence[str]) -> float:
    """A time in seconds: a number with ``s``, ``m`` or ``h`` behind it, seconds without."""
    # The last word counts, as of any option that is given twice.
    stripped = words[-1].strip().lower()
    unit = stripped[-1:] if stripped[-1:] in SECONDS else "s"
    try:
        found = float(stripped.removesuffix(unit)) * SECONDS[unit]
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise InputError(f"option {option}", "must be a time", accepted="90s, 2m, 1h")
    return found


@dataclass(frozen=True)
class Searching:
    """What is to be least, how long is searched, and what may be changed on the way."""

    loss: Annotated[
        Loss,
        Parameter(
            "What is to be least, of the search and of each release that it makes; a record that "
            "is left out counts as lost in full."
        ),
    ] = Loss.ANE
    trials: Annotated[
        int | None,
        Parameter(
            "Most points that are tried, each of them a release; 100 without --time-limit, or 10 "
            "where limits are kept, for which several are made. A seed finds the same again with "
            "it.",
            "NUMBER",
            Count(1),
        ),
    ] = None
    time_limit: Annotated[
        float | None,
        Parameter(
            "Most time of the search: 90s, 2m, 1h; in Python, seconds. What is found depends on "
            "the machine.",
            "TIME",
            Above(0, "a number of seconds"),
            parse=seconds_of,
        ),
    ] = None
    suppress: Annotated[
        float,
        Parameter(
            "Largest share of people that may be suppressed; 0 for none.",
            "SHARE",
            Share(zero=True, one=False),
        ),
    ] = 0.02
    cap_records: Annotated[
        bool,
        Parameter(
            "Whether the records of a person may be capped.",
            option="--cap-records/--no-cap-records",
        ),
    ] = True
    recoding: Annotated[
        bool,
        Parameter(
            "Try one level of each hierarchy for all records, too.",
            flag="full_domain",
            option="--full-domain/--no-full-domain",
        ),
    ] = True
    columns: Annotated[
        bool,
        Parameter(
            "Whether the schema may be changed: weights, coarser hierarchies, columns left out."
        ),
    ] = False

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class Circumstances(Layout):
    """What every release is made with and judged by."""

    presets: Annotated[
        Sequence[Any],
        Parameter("Names of built-in presets, or presets; their thresholds are to be met too."),
    ] = ()
    limits: Annotated[
        Any,
        Parameter(
            "Limits that every release which is tried keeps, a name or `Limits`; those of a public "
            "release where no thresholds are named either."
        ),
    ] = None
    accepted: Annotated[
        Sequence[Any],
        Parameter("Each `Acceptance` of what an intruder may find above these limits."),
    ] = ()
    register: Annotated[
        Any, Parameter("The population that the file's people come from.", "FILE", path=True)
    ] = None
    population: Annotated[
        int | None,
        Parameter("People of the population that the file is a sample of.", "N", Count(1)),
    ] = None
    values: Annotated[Form, Parameter("Form of released quasi-identifiers.")] = Form.RANGE
    threshold: Annotated[
        float,
        Parameter(
            "Risk above which a record counts as at risk.",
            "SHARE",
            Share(zero=False, one=True),
            flag="at_risk",
        ),
    ] = 0.2
    unclassified: Annotated[
        Unclassified, Parameter("What becomes of columns that the schema does not name.")
    ] = Unclassified.REFUSE
    seed: Seed = None

    def __post_init__(self) -> None:
        check_fields(self)


class TuneOptions(LayoutGiven, total=False):
    """The keywords of `sfumato.tune`; a test holds them to the declarations of this module."""

    loss: str
    trials: int | None
    time_limit: float | None
    suppress: float
    cap_records: bool
    recoding: bool
    columns: bool
    presets: Sequence[str | Preset]
    limits: str | Limits | None
    accepted: Sequence[Any]
    register: Any
    population: int | None
    values: str
    threshold: float
    unclassified: str
    seed: int | None
