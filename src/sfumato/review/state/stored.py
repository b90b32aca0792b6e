"""A worker's state as plain values, which JSON can hold, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.core.errors import InputError
from sfumato.review.modes import Mode
from sfumato.review.state.facts import Modes
from sfumato.review.state.review import Review

_SUBJECT = "the state of a worker"


def written_state(pairs: tuple[int, ...], rows: int, shown: Mapping[int, Modes]) -> dict[str, Any]:
    """Plain values: no value of the data and no score, which the modes determine.

    Parameters
    ----------
    pairs
        The pairs of the task.
    rows
        n of the task.
    shown
        The modes of each pair that is shown.
    """
    modes = {str(pair): "".join(str(int(mode)) for mode in shown[pair]) for pair in sorted(shown)}
    return {"pairs": list(pairs), "rows": rows, "modes": modes}


def read_state(
    state: Mapping[str, Any], review: Review
) -> tuple[tuple[int, ...], int, dict[int, Modes]]:
    """The pairs of the task, n, and the modes of each pair that is shown.

    Parameters
    ----------
    state
        What `written_state` gave.
    review
        The pairs and the rules.

    Raises
    ------
    InputError
        If the state is not one of a worker of this review.
    """
    pairs, rows, modes = (state.get(key) for key in ("pairs", "rows", "modes"))
    if not isinstance(pairs, list) or not isinstance(modes, Mapping) or not _whole(rows):
        raise InputError(_SUBJECT, "must have pairs, rows and modes")
    if not all(_whole(pair) for pair in pairs):
        raise InputError(_SUBJECT, "must name pairs by whole numbers")
    shown = {}
    for name, text in modes.items():
        if not isinstance(name, str) or not (name.isascii() and name.isdigit()):
            raise InputError(_SUBJECT, "must name pairs by whole numbers")
        shown[int(name)] = _modes(review, int(name), text)
    return tuple(pairs), int(str(rows)), shown


def _whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _modes(review: Review, pair: int, text: object) -> Modes:
    offered = review.facts(pair).offered
    if not isinstance(text, str) or len(text) != len(offered) or not set(text) <= set("012"):
        raise InputError(_SUBJECT, "must have a mode of 0, 1 or 2 per attribute")
    modes = tuple(Mode(int(each)) for each in text)
    if any(
        mode is not Mode.MASKED and mode not in each
        for mode, each in zip(modes, offered, strict=True)
    ):
        raise InputError(_SUBJECT, "must have modes that the pair offers")
    return modes
