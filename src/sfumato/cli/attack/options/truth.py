"""Options about the truth, which only the referee is told."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli.attack.options.panels import TRUTH
from sfumato.core.errors import InputError

Original = Annotated[
    Path | None,
    typer.Option(
        metavar="DATA",
        help="The file that was released. With the release.toml beside RELEASE the release is "
        "repeated, and what it predicted is held against the attacks.",
        rich_help_panel=TRUTH,
        show_default=False,
    ),
]
TruthFile = Annotated[
    Path | None,
    typer.Option(
        "--truth",
        metavar="FILE",
        help="Columns 'row' (of RELEASE, from 1) and 'person' (id in the register or original, or "
        "its row number where it has no person column).",
        rich_help_panel=TRUTH,
        show_default=False,
    ),
]
SameOrder = Annotated[
    bool,
    typer.Option(
        "--same-order",
        help="The records of RELEASE are those of the original, in its order.",
        rich_help_panel=TRUTH,
    ),
]
Key = Annotated[
    Path | None,
    typer.Option(
        "--pseudonym-key",
        metavar="FILE",
        help="The key of the release's pseudonyms, where it had one.",
        rich_help_panel=TRUTH,
        show_default=False,
    ),
]


def given_truth(truth: Path | None, *, same_order: bool) -> str | None:
    """The truth that was given: the path of a file, the word for the same order, or nothing.

    Parameters
    ----------
    truth
        The file.
    same_order
        Whether the order says it.

    Raises
    ------
    InputError
        If both are given.
    """
    from sfumato.intruder.known_truth import SAME_ORDER

    if truth is not None and same_order:
        raise InputError(
            "option --truth",
            "must be the only one that says whose the records are",
            found="--same-order beside it",
        )
    if same_order:
        return SAME_ORDER
    return None if truth is None else str(truth.absolute())
