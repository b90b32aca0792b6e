"""The meters on top of a worker's page: disclosure, characters, progress."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.server.live.page import Standing
from sfumato.server.worker.drawing import kapr

_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
WIDTH = 1000
"""Width of a meter in its own units."""


@dataclass(frozen=True)
class Meter:
    """A meter.

    Attributes
    ----------
    name
        What it measures.
    text
        Its reading in words.
    filled
        How far it is filled, of `WIDTH`.
    limit
        Where its limit is marked, ``None`` without one.
    value, top
        What it shows, and what its right end is, as numbers.
    previews
        Whether the cost of an opening is shown on it before.
    """

    name: str
    text: str
    filled: int
    limit: int | None
    value: str
    top: str
    previews: bool = False


def meters(standing: Standing) -> tuple[Meter, ...]:
    """The meters of a worker.

    Parameters
    ----------
    standing
        How the worker stands.
    """
    return (_disclosure(standing), _characters(standing), _progress(standing))


def _disclosure(standing: Standing) -> Meter:
    spent, budget = standing.spent, standing.budget
    if budget is None:
        top = next((step for step in _STEPS if step >= 1.5 * spent), max(1.0, spent))
        text = f"{kapr(spent, standing)}, no limit"
    else:
        top = max(1.15 * budget, spent) or 1.0
        text = f"{kapr(spent, standing)} of {kapr(budget, standing)}"
        text += f", {kapr(standing.left or 0.0, standing)} left"
    return Meter(
        name="KAPR spent",
        text=text,
        filled=round(WIDTH * min(1.0, spent / top)),
        limit=None if budget is None else round(WIDTH * budget / top),
        value=kapr(spent, standing),
        top=repr(top),
        previews=True,
    )


def _characters(standing: Standing) -> Meter:
    share = standing.characters
    return Meter(
        "Characters opened",
        f"{100 * share:.1f} %",
        round(WIDTH * share),
        None,
        f"{share:.4f}",
        "1",
    )


def _progress(standing: Standing) -> Meter:
    done, pairs = standing.decided, standing.pairs
    text = f"{done} of {pairs} decided"
    if standing.skipped:
        text += f", {standing.skipped} skipped"
    if standing.flagged:
        text += f", {standing.flagged} flagged"
    filled = round(WIDTH * done / pairs) if pairs else 0
    return Meter("Progress", text, filled, None, str(done), str(pairs))
