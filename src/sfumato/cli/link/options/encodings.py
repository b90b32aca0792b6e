"""Options about encodings: how they are made at home, and what applies to matching them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.link.options.specification import Asked, mode_of
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.linkage.encodings.unit.matching import Matching

TO_ENCODINGS = frozenset(
    {
        "tables",
        "output",
        "schema",
        "dedupe",
        "id_column",
        "one_per_source",
        "match",
        "possible",
        "false_match_rate",
        "missed_match_rate",
        "similarity",
        "attach",
        "key_file",
        "seed",
        "json",
    }
)
"""Parameters of ``sfumato link`` that apply to encodings."""

Table = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="The table: CSV, Parquet; Excel, SPSS, Stata and SAS with sfumato\\[formats].",
        show_default=False,
    ),
]
EncodedFile = Annotated[
    Path,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Where the encodings go, such as hospital.encoded. A specification that is made is "
        "written beside them: hospital.encoded.toml.",
        show_default=False,
    ),
]
SecretFile = Annotated[
    Path,
    typer.Option(
        "--key-file",
        metavar="FILE",
        help="The key that all owners share, readable by you alone; 'sfumato link key' makes one.",
        show_default=False,
    ),
]
EncodingSpecFile = Annotated[
    Path | None,
    typer.Option(
        "--spec",
        metavar="FILE",
        help="The specification that the owners agreed upon: what the first of them got beside "
        "the encodings. Or link.toml, to make one of its columns. Without it sfumato proposes one.",
        show_default=False,
    ),
]
Headers = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME=HEADER",
        help="How this table calls a column of the specification.",
        show_default=False,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="A text that means a missing value in this table, beside the empty cell.",
        show_default=False,
    ),
]


def headers_of(words: list[str]) -> dict[str, str]:
    """Headers by the specification's columns.

    Parameters
    ----------
    words
        A name, an equals sign and a header each.

    Raises
    ------
    InputError
        If one is something else, or a name is there twice.
    """
    headers: dict[str, str] = {}
    for word in words:
        name, sign, header = word.partition("=")
        if not sign or not name or not header or name in headers:
            raise InputError(
                "option --column",
                "must be a column of the specification and its header, once for each",
                accepted="--column surname=last_name",
            )
        headers[name] = header
    return headers


def check_applies(context: typer.Context) -> None:
    """Refuse options that encodings have no use for.

    Parameters
    ----------
    context
        The command line.

    Raises
    ------
    InputError
        If there is one.
    """
    for name in context.params:
        source = context.get_parameter_source(name)
        if name not in TO_ENCODINGS and source is not None and source.name == "COMMANDLINE":
            raise InputError(
                f"option --{name.replace('_', '-')}",
                "must be left out where encodings are linked",
                advice="what is compared was agreed upon when they were made; nobody can look at "
                "a pair of them",
            )


def matching(tables: Mapping[str, object], asked: Asked) -> Matching:
    """How encodings are matched.

    Parameters
    ----------
    tables
        The files of encodings by the names of their sources.
    asked
        What the command line says.

    Raises
    ------
    InputError
        If options contradict each other.
    """
    from sfumato.linkage.encodings.unit.matching import USUAL, Matching
    from sfumato.linkage.outcomes.thresholds import Thresholds
    from sfumato.linkage.spec.model import Mode, WantedRates

    thresholds, rates = asked.limits.thresholds(USUAL), asked.limits.rates
    deduped = asked.dedupe or len(tables) == 1
    return Matching(
        mode=mode_of(len(tables)) if deduped else Mode.LINK_ONLY,
        one_per_source=tuple(tables) if asked.one_per_source else (),
        thresholds=None if thresholds is None else Thresholds(**thresholds),
        rates=None if rates is None else WantedRates(**rates),
        similarity=asked.limits.similarity,
        id=asked.id_column,
    )
