"""Options about the values of quasi-identifiers: how they are divided and shown."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from sfumato.cli.options.panels import MAKING


class CutWord(StrEnum):
    """Words of ``--cut``; see `sfumato.release.options.Cut`."""

    SEARCH = "search"
    MEDIAN = "median"


class SplitWord(StrEnum):
    """Words of ``--split``; see `sfumato.release.splits.Split`."""

    BALANCE = "balance"
    VARIANCE = "variance"
    RANGE = "range"


class RecodingWord(StrEnum):
    """Words of ``--recoding``; see `sfumato.release.options.Recoding`."""

    LOCAL = "local"
    FULL_DOMAIN = "full-domain"


class ValuesWord(StrEnum):
    """Words of ``--values``; see `sfumato.release.released.Form`."""

    RANGE = "range"
    BOUNDS = "bounds"
    MEAN = "mean"
    SET = "set"
    HIERARCHY = "hierarchy"


Cut = Annotated[
    CutWord | None,
    typer.Option(
        help="Where a column is cut: where least is lost, or at the median, as the paper does.",
        rich_help_panel=MAKING,
        show_default="search; median with another --split",
    ),
]
Split = Annotated[
    SplitWord,
    typer.Option(
        help="Which cut at the median is tried first: least balance-variance ratio, largest "
        "variance, widest range.",
        rich_help_panel=MAKING,
    ),
]
Recoding = Annotated[
    RecodingWord,
    typer.Option(
        help="Class by class, or one level of each hierarchy for all records.",
        rich_help_panel=MAKING,
    ),
]
Values = Annotated[
    ValuesWord, typer.Option(help="Form of released quasi-identifiers.", rich_help_panel=MAKING)
]
