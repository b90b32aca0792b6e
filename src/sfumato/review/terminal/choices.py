"""Which opening each key asks for."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.review.modes import Mode
from sfumato.review.state.opening import Cost
from sfumato.review.terminal.view import View


def of_cell(view: View, place: int, mode: Mode) -> Cost | None:
    """The opening of one attribute in a mode, where there is one.

    Parameters
    ----------
    view
        The pair.
    place
        The attribute.
    mode
        The mode.
    """
    return _first(
        each for each in view.costs if each.opening.attributes == (place,) and _is(each, mode)
    )


def next_of_cell(view: View, place: int) -> Cost | None:
    """The opening of one attribute that shows the least more, where there is one.

    Parameters
    ----------
    view
        The pair.
    place
        The attribute.
    """
    return of_cell(view, place, Mode.PARTIAL) or of_cell(view, place, Mode.FULL)


def of_names(view: View) -> Cost | None:
    """The opening of the name that shows the least more, where there is one.

    Parameters
    ----------
    view
        The pair.
    """
    if view.names is None:
        return None
    names = set(view.names)
    own = [each for each in view.costs if set(each.opening.attributes) <= names]
    for mode in (Mode.PARTIAL, Mode.FULL):
        widest = _widest(each for each in own if _is(each, mode))
        if widest is not None:
            return widest
    return None


def of_everything(view: View, mode: Mode) -> Cost | None:
    """The opening of all attributes in a mode, where there is one.

    Parameters
    ----------
    view
        The pair.
    mode
        The mode.
    """
    return _widest(each for each in view.costs if _is(each, mode))


def _is(cost: Cost, mode: Mode) -> bool:
    return cost.opening.mode is mode


def _first(costs: Iterable[Cost]) -> Cost | None:
    return next(iter(costs), None)


def _widest(costs: Iterable[Cost]) -> Cost | None:
    return max(costs, key=lambda each: len(each.opening.attributes), default=None)
