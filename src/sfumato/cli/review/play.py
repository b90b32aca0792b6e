"""``sfumato review play``: one worker, one machine, the keyboard."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import progress_bar, say
from sfumato.cli.parameters import Seed
from sfumato.cli.review.options.rules import (
    RULES,
    Budget,
    CostsOption,
    K,
    PolicyOption,
    Start,
    Width,
    given,
)
from sfumato.cli.review.options.work import Folder
from sfumato.core.errors import InputError
from sfumato.review.extra import needs_review

if TYPE_CHECKING:
    from sfumato.review.terminal.session import Session

_TICK = 0.25
"""Seconds after which the size of the window is looked at again."""


def play(
    folder: Folder,
    worker: Annotated[
        str, typer.Option(metavar="NAME", help="A pseudonym; each has a journal.")
    ] = "reviewer",
    budget: Budget = None,
    k: K = None,
    costs: CostsOption = None,
    mask_width: Width = None,
    policy: PolicyOption = None,
    start: Start = None,
    hints: Annotated[
        bool | None,
        typer.Option(
            "--hints/--no-hints",
            help="Say which attribute to open next; may be another at a later start.",
            show_default=False,
            rich_help_panel=RULES,
        ),
    ] = None,
    seed: Seed = None,
) -> None:
    """Review the doubtful pairs of a linkage at this terminal, masked, with the keyboard.

    Everything is kept in FOLDER/review.state (review.NAME.state with --worker).

    Start again to go on: the rules are those of the first start.

    On leaving, the answers are written to FOLDER/decisions.parquet.
    """
    needs_review()
    _check_terminal()
    from sfumato.cli.review.begin import begin
    from sfumato.cli.review.export import write_answers
    from sfumato.review.decisions.export import DECISIONS
    from sfumato.review.terminal.answers import answers_in
    from sfumato.review.terminal.journal import folder_lock, journal_path
    from sfumato.review.terminal.opened import open_folder

    asked = given(
        budget=budget, k=k, costs=costs, mask_width=mask_width, policy=policy, start=start,
        hints=hints,
    )  # fmt: skip
    journal_path(folder, worker)
    with folder_lock(_existing(folder)):
        with progress_bar() as progress:
            progress("opening", 0.0)
            opened = open_folder(folder)
            session = begin(folder, opened, worker, asked, seed, progress)
        _at_terminal(session)
        target = folder / DECISIONS
        write_answers(answers_in(folder, opened.project), opened.project, target)
    standing = session.standing()
    say(
        f"{standing.decided:,} of {standing.pairs:,} pairs are decided; "
        f"KAPR {standing.score:.4f}. The answers are in {target}."
    )
    if opened.is_linkage and standing.decided:
        say(f"To apply them: sfumato link apply {folder} --decisions {target}")


def _existing(folder: Path) -> Path:
    if not folder.is_dir():
        raise InputError(f"folder {folder.name or folder}", "must be a folder", found="none")
    return folder


def _check_terminal() -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") in {"", "dumb"}:
        raise InputError(
            "a review at the terminal",
            "needs a terminal for keys and screen",
            found="none, or one that cannot move its cursor",
            advice="run it by hand, over ssh with -t",
        )


def _at_terminal(session: Session) -> None:
    """The loop on this terminal."""
    from rich.console import Console

    from sfumato.cli.review.keys import Keys
    from sfumato.cli.review.loop import Loop
    from sfumato.cli.review.printed import draw, look_of, own_screen

    console = Console(highlight=False, markup=False, emoji=False)
    with Keys(sys.stdin.fileno()) as keys, own_screen(console):
        loop = Loop(session, lambda: look_of(console))
        loop.run(lambda: keys.read(_TICK), lambda lines: draw(console, lines))
