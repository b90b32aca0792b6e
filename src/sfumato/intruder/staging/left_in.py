"""Attacks on what was left in a file by mistake: its order, its identifiers."""

from __future__ import annotations

from collections.abc import Iterator

from sfumato.core.measure import Measure
from sfumato.intruder.attacks.identifiers import join_columns
from sfumato.intruder.attacks.row_order import by_place
from sfumato.intruder.referee.intervals import success
from sfumato.intruder.referee.judge_identifiers import judge_identifiers
from sfumato.intruder.referee.judge_row_order import judge_row_order
from sfumato.intruder.referee.outcome import Outcome
from sfumato.intruder.staging.scene import Scene, Staged


def row_order(scene: Scene) -> Iterator[Staged]:
    """Take the place of a record for the place of its person in the register.

    Parameters
    ----------
    scene
        What to work on.
    """
    outcome = judge_row_order(
        by_place(scene.file, scene.candidates, scene.knowledge),
        scene.truth,
        scene.file,
        scene.rng("row_order"),
        what="The intruder takes the place of a record, in the file or in its class, for that of "
        "its person in the register.",
        threshold=scene.threshold,
    )
    yield Staged(outcome)


def identifiers(scene: Scene) -> Iterator[Staged]:
    """Join the file with the register on columns beside the quasi-identifiers.

    Parameters
    ----------
    scene
        What to work on.
    """
    joins = join_columns(scene.file, scene.candidates, scene.knowledge, scene.rng("identifiers"))
    what = (
        "The intruder joins the file with the register on a column that both have beside the "
        "quasi-identifiers."
    )
    outcome = judge_identifiers(
        joins,
        scene.truth,
        scene.file,
        what=what,
        predicted=scene.claim("marketer"),
        threshold=scene.threshold,
    )
    yield Staged(_none(what) if outcome is None else outcome)


def _none(what: str) -> Outcome:
    """What comes of it where no column can be joined."""
    nothing = Measure("baseline", 0.0)
    note = "No such column was found."
    return Outcome("identifiers", what, 0, 0, success(0, 0), nothing, notes=(note,))
