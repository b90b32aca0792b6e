"""Options that the commands under ``sfumato link`` share, and the specification made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.linkage.suggest.suggest import Suggestion
    from sfumato.schema import Schema

WHAT, OUTCOMES, LINKED = "What is linked", "Outcomes", "The linked file"

Tables = Annotated[
    list[Path],
    typer.Argument(
        metavar="TABLE...",
        help="The tables: CSV, Parquet; Excel, SPSS, Stata and SAS with sfumato\\[formats]. "
        "A source is named as its file, without the ending, or as you say: hospital=FILE.",
        show_default=False,
    ),
]
SchemaOfTables = Annotated[
    Path | None,
    typer.Option(
        "--schema",
        metavar="FILE",
        help="What the columns are, as TOML: sensitive ones are never compared or shown.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]
Dedupe = Annotated[
    bool,
    typer.Option(
        "--dedupe",
        help="Look for records of one person within a table, too; a single table always is.",
        rich_help_panel=WHAT,
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="The column that names each record within its table.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]
AllowPairs = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Candidate pairs above which nothing is scored; 100,000,000 when not given.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]


@dataclass(frozen=True)
class Asked:
    """What a command line says about the specification.

    Attributes
    ----------
    spec
        Its file.
    dedupe
        Whether records of one table are compared.
    id_column
        The column of ids.
    one_per_source
        Whether every source has at most one record per person.
    match, possible
        Least score of a match, and of a possible match.
    false_match_rate, missed_match_rate
        Wanted error rates.
    allow_pairs
        Most candidate pairs.
    """

    spec: Path | None = None
    dedupe: bool = False
    id_column: str | None = None
    one_per_source: bool = False
    match: float | None = None
    possible: float | None = None
    false_match_rate: float | None = None
    missed_match_rate: float | None = None
    allow_pairs: int | None = None


def named_paths(tables: list[Path]) -> dict[str, Path]:
    """The tables by the names of their sources: as said, or as their files.

    Parameters
    ----------
    tables
        Paths, some with a name and an equals sign before them.

    Raises
    ------
    InputError
        If two have the same name.
    """
    from sfumato.linkage.asked import stem_of

    named: dict[str, Path] = {}
    for each in tables:
        name, sign, path = str(each).partition("=")
        if not (sign and name and path) or each.exists():
            name, path = stem_of(each), str(each)
        if name in named:
            raise InputError(
                "the tables",
                "must have names that differ",
                found="two of one name",
                advice="say how each is called: hospital=FILE practice=FILE",
            )
        named[name] = Path(path)
    return named


def load_schema_of(path: Path | None) -> Schema | None:
    """The schema of a file, where one is given."""
    from sfumato.schema import load_schema

    return None if path is None else load_schema(path)


def specification(
    tables: Mapping[str, Path], asked: Asked, schema: Schema | None, previous: Path | None = None
) -> Suggestion:
    """The specification that a command line means: read, that of a linkage before, or proposed.

    Parameters
    ----------
    tables
        The tables by their names.
    asked
        What is asked.
    schema
        What the columns are.
    previous
        Folder of the linkage before.

    Raises
    ------
    InputError
        If it cannot be read or proposed, or options contradict each other.
    """
    from sfumato.linkage.asked import changed
    from sfumato.linkage.earlier import read_earlier
    from sfumato.linkage.spec.model import MAX_PAIRS, Mode
    from sfumato.linkage.spec.toml import load_link_spec
    from sfumato.linkage.suggest.suggest import Suggestion, suggest

    changes = _changes(asked)
    mode = None
    if asked.dedupe:
        mode = Mode.DEDUPE_ONLY if len(tables) == 1 else Mode.LINK_AND_DEDUPE
    if asked.spec is not None:
        made = Suggestion(load_link_spec(asked.spec), {})
    elif previous is not None:
        made = Suggestion(read_earlier(previous).spec, {})
    else:
        most = asked.allow_pairs or MAX_PAIRS
        made = suggest(tables, schema, mode=mode, id_column=asked.id_column, max_pairs=most)
    if mode is not None:
        changes["mode"] = mode
    if asked.id_column is not None:
        changes["id"] = asked.id_column
    if asked.one_per_source:
        changes["one_per_source"] = tuple(tables)
    return Suggestion(changed(made.spec, changes), made.notes)


def _changes(asked: Asked) -> dict[str, object]:
    """Thresholds or rates, and the number of pairs, where they are given."""
    changes: dict[str, object] = {}
    scores, rates = (asked.match, asked.possible), (asked.false_match_rate, asked.missed_match_rate)
    if any(each is not None for each in scores):
        if any(each is not None for each in rates):
            raise InputError(
                "options --match, --possible", "must come without --false-match-rate and its like"
            )
        changes |= {"thresholds": _thresholds(asked), "rates": None}
    elif any(each is not None for each in rates):
        if None in rates:
            raise InputError(
                "options --false-match-rate, --missed-match-rate", "must come together"
            )
        changes |= {
            "thresholds": None,
            "rates": {"false_match_rate": rates[0], "missed_match_rate": rates[1]},
        }
    if asked.allow_pairs is not None:
        changes["max_pairs"] = asked.allow_pairs
    return changes


def _thresholds(asked: Asked) -> dict[str, float]:
    from sfumato.linkage.settle import USUAL

    for name, score in (("--match", asked.match), ("--possible", asked.possible)):
        if score is not None and not 0 <= score <= 1:
            raise InputError(f"option {name}", "must be a score", accepted="0 to 1")
    upper = max(USUAL.upper, asked.possible or 0.0) if asked.match is None else asked.match
    lower = min(USUAL.lower, upper) if asked.possible is None else asked.possible
    return {"lower": lower, "upper": upper}
