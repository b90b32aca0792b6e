"""The report on an attack as one HTML page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from importlib.metadata import version

from sfumato.intruder.result import Attack
from sfumato.reports.attack import words
from sfumato.reports.attack.plots import calibration_figure, predicted_figure, success_figure
from sfumato.reports.linkage.environment import environment
from sfumato.reports.plots.picture import Figure


def draw_attack(attack: Attack, title: str, made: date) -> str:
    """The report, self-contained and printable.

    Parameters
    ----------
    attack
        The attack.
    title
        What stands above it.
    made
        The day that it bears.
    """
    filled = environment()
    filters: dict[str, Callable[..., object]] = {
        "attack_title": words.title_of,
        "interval": words.interval,
        "share": words.share,
        "meaning": words.meaning_of,
        "met": words.met,
        "sentence": words.sentence,
    }
    filled.filters |= filters
    return filled.get_template("attack.html").render(
        title=title,
        made=made,
        version=version("sfumato"),
        attack=attack,
        broken=[words.title_of(outcome.attack) for outcome in attack.broken],
        highest=max((outcome.success.value for outcome in attack.outcomes), default=None),
        figures=_figures(attack),
        assumptions=words.ASSUMPTIONS
        if attack.claims.own
        else (*words.ASSUMPTIONS, words.BELOW_CLAIM),
    )


def _figures(attack: Attack) -> list[Figure]:
    made = [outcome for outcome in attack.outcomes if outcome.attempts]
    predicted = [outcome for outcome in made if outcome.predicted is not None]
    figures = [success_figure(made)] if made else []
    if predicted:
        figures.append(predicted_figure(predicted))
    if attack.calibration:
        figures.append(calibration_figure(attack.calibration))
    return figures
