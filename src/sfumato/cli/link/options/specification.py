"""Options about the specification, and the one that they mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.link.options.outcomes import Limits
from sfumato.cli.link.options.panels import WHAT
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.linkage.spec.model import LinkSpec, Mode
    from sfumato.linkage.suggest.suggest import Suggestion
    from sfumato.schema import Schema

SpecFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="What is compared and how: link.toml, or Splink settings as .json. Without it "
        "sfumato proposes one.",
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
OnePerSource = Annotated[
    bool,
    typer.Option(
        "--one-per-source",
        help="Every table has at most one record per person.",
        rich_help_panel=WHAT,
    ),
]
ModelFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A trained model, such as the model.json of another linkage.",
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


class EngineWord(StrEnum):
    """Words of ``--engine``; see `sfumato.linkage.model.engine.Engine`."""

    DUCKDB = "duckdb"
    SPARK = "spark"


EngineChoice = Annotated[
    EngineWord,
    typer.Option(
        "--engine",
        help="Where candidate pairs are made and scored: on this machine, or by Spark, with "
        "sfumato\\[spark]; the result is the same.",
        rich_help_panel=WHAT,
    ),
]
Previous = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="An earlier linkage of some of these tables: persons keep their ids, decisions "
        "hold, its specification and model are taken.",
        show_default=False,
        rich_help_panel=WHAT,
    ),
]


@dataclass(frozen=True)
class Before:
    """What a command line says of earlier work.

    Attributes
    ----------
    previous
        Folder of a linkage.
    model
        File of a model.
    decisions
        File of people's answers.
    """

    previous: Path | None
    model: Path | None
    decisions: Path | None


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
    limits
        Thresholds or error rates.
    allow_pairs
        Most candidate pairs.
    engine
        Where they are made and scored.
    """

    spec: Path | None = None
    dedupe: bool = False
    id_column: str | None = None
    one_per_source: bool = False
    limits: Limits = field(default_factory=Limits)
    allow_pairs: int | None = None
    engine: EngineWord = EngineWord.DUCKDB


def specification(
    tables: Mapping[str, object], asked: Asked, schema: Schema | None, previous: Path | None = None
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
    from sfumato.linkage.spec.model import MAX_PAIRS
    from sfumato.linkage.spec.toml import load_link_spec
    from sfumato.linkage.suggest.suggest import Suggestion, suggest

    changes = _changes(asked)
    mode = mode_of(len(tables)) if asked.dedupe else None
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


def mode_of(tables: int) -> Mode:
    """Which records ``--dedupe`` compares.

    Parameters
    ----------
    tables
        Number of tables.
    """
    from sfumato.linkage.spec.model import Mode

    return Mode.DEDUPE_ONLY if tables == 1 else Mode.LINK_AND_DEDUPE


def _changes(asked: Asked) -> dict[str, object]:
    """Thresholds or rates, and the number of pairs, where they are given."""
    from sfumato.linkage.settle import USUAL

    if asked.limits.similarity is not None:
        raise InputError("option --similarity", "is for encodings only", found="clear tables")
    thresholds, rates = asked.limits.thresholds(USUAL), asked.limits.rates
    changes: dict[str, object] = {}
    if thresholds is not None or rates is not None:
        changes = {"thresholds": thresholds, "rates": rates}
    if asked.allow_pairs is not None:
        changes["max_pairs"] = asked.allow_pairs
    return changes


def described(spec: LinkSpec) -> str:
    """What a proposed specification compares and blocks on, in a sentence."""
    compared = [name for name, column in spec.columns.items() if column.compare]
    rules = "; ".join(" + ".join(rule) for rule in spec.blocking)
    named = f"records named by {spec.id}" if spec.id else "records numbered"
    return (
        f"sfumato proposes one ({spec.mode.value}, {named}). "
        f"It compares {', '.join(compared)}, where records agree on: {rules}. "
        "It is in link.toml; read it."
    )
