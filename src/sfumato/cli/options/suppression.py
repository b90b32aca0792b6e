"""Options that leave columns, records or persons out, or make their numbers coarser."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from sfumato.cli.options.panels import MAKING


class CoarsenWord(StrEnum):
    """Words of ``--coarsen-counts``; see `sfumato.release.coarsen_counts.Coarsening`."""

    DROP = "drop"
    SPLIT = "split"


class UnclassifiedWord(StrEnum):
    """Words of ``--unclassified``; see `sfumato.table.classification.Unclassified`."""

    REFUSE = "refuse"
    DROP = "drop"


Unclassified = Annotated[
    UnclassifiedWord,
    typer.Option(
        help="What becomes of columns that the schema does not name: they stop the release, or are "
        "left out.",
        rich_help_panel=MAKING,
    ),
]
CapRecords = Annotated[
    int | None,
    typer.Option(
        metavar="M",
        help="Keep at most M records of a person, drawn at random.",
        rich_help_panel=MAKING,
    ),
]
CoarsenCounts = Annotated[
    CoarsenWord | None,
    typer.Option(
        help="How numbers of records come to keep --shared-counts: drop records, or split "
        "pseudonyms; without it, by larger classes.",
        rich_help_panel=MAKING,
    ),
]
Suppress = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Largest share of persons to suppress: where nothing else meets the promises, and "
        "then those whose suppression gains most for the others.",
        rich_help_panel=MAKING,
    ),
]
