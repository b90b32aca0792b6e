"""Options about what the intruder holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.attack.options.panels import HELD
from sfumato.core.errors import InputError

Register = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Persons with exact values, such as the population. The original where not given: "
        "what an acquaintance knows.",
        rich_help_panel=HELD,
        show_default=False,
    ),
]
Priors = Annotated[
    list[Path] | None,
    typer.Option(
        "--prior",
        metavar="FILE",
        help="Another release about the same persons; may be repeated.",
        rich_help_panel=HELD,
        show_default=False,
    ),
]
Knows = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="A quasi-identifier that the intruder knows; may be repeated. All where not given.",
        rich_help_panel=HELD,
        show_default=False,
    ),
]
Counts = Annotated[
    bool,
    typer.Option(
        "--counts",
        help="The intruder knows how many records each person has in the release.",
        rich_help_panel=HELD,
    ),
]
Noise = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SHARE|COLUMN=SHARE",
        help="Share of what the intruder knows that is wrong, of all columns or of one.",
        rich_help_panel=HELD,
        show_default=False,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SHARE|COLUMN=SHARE",
        help="Share of the values that the intruder does not know, likewise.",
        rich_help_panel=HELD,
        show_default=False,
    ),
]
Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy",
        metavar="COLUMN=FILE",
        help="The published hierarchy of a column, one row per leaf; the schema's where not given.",
        rich_help_panel=HELD,
        show_default=False,
    ),
]
Review = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The folder of a clerical review: attack with what a worker's screen showed.",
        rich_help_panel=HELD,
        show_default=False,
    ),
]


def shares_of(option: str, given: Sequence[str] | None) -> float | Mapping[str, float]:
    """A share for all columns, or shares by column.

    Parameters
    ----------
    option
        Name of the option.
    given
        What was given with it.

    Raises
    ------
    InputError
        If a share is no number in [0, 1], or one for all stands beside another one.
    """
    if not given:
        return 0.0
    if len(given) == 1 and "=" not in given[0]:
        return _share(option, given[0])
    shares = {}
    for each in given:
        column, equals, share = each.rpartition("=")
        if not equals or not column:
            raise InputError(
                f"option {option}",
                "must be one share, or shares of single columns",
                found="both",
                accepted="SHARE, or COLUMN=SHARE as often as needed",
            )
        shares[column] = _share(option, share)
    return shares


def _share(option: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(f"option {option}", "must be a share", accepted="0 to 1")
    return share


def files_of(given: Sequence[str] | None) -> dict[str, Path]:
    """The files of hierarchies by column.

    Parameters
    ----------
    given
        What was given with the option.

    Raises
    ------
    InputError
        If there is no column or no such file.
    """
    files = {}
    for each in given or ():
        column, equals, name = each.partition("=")
        if not equals or not column or not Path(name).is_file():
            raise InputError(
                "option --hierarchy",
                "must name a column and a file that can be read",
                accepted="COLUMN=FILE",
            )
        files[column] = Path(name)
    return files
