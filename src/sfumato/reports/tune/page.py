"""What a search found, as one page."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version
from typing import Any

from sfumato.reports.linkage.environment import environment
from sfumato.reports.numbers import number, percent
from sfumato.reports.tune.frontier import frontier_figures

STOPPED = {
    "found": "nothing better was found for long",
    "trials": "the number of trials was used up",
    "time": "the time was used up",
    "interrupted": "it was interrupted",
}
EXHAUSTED = "everything that the search knows was tried"
LOSS = {
    "ane": "average normalised error (ANE)",
    "ncp": "normalised certainty penalty (NCP)",
}


def draw_tuned(found: dict[str, Any], title: str, made: date) -> str:
    """The page.

    Parameters
    ----------
    found
        What the search found, as plain values.
    title
        What stands above it.
    made
        The day that it bears.
    """
    chosen = found["best"] or found["nearest"]
    front = set(found["frontier"])
    return (
        environment()
        .get_template("tune.html")
        .render(
            title=title,
            made=made,
            version=version("sfumato"),
            found=found,
            chosen=chosen,
            asked="" if chosen is None else _words(chosen),
            changes=[] if chosen is None else _changes(chosen["columns"]),
            stopped=_stopped(found),
            loss=LOSS[found["loss"]],
            lines=[_line(each) for each in found["held"]],
            figures=frontier_figures(found),
            trials=[(each, _words(each), each["trial"] in front) for each in found["trials"]],
            losses=_other_losses(found),
        )
    )


def _stopped(found: dict[str, Any]) -> str:
    ended = found["stopped"] == "found" and not found["met"]
    return EXHAUSTED if ended else STOPPED[found["stopped"]]


def _words(trial: dict[str, Any]) -> str:
    """Constraints, options and columns of a trial in one line."""
    said = []
    for each in trial["constraints"]:
        limits = [_limit(value) for name, value in each.items() if name not in ("name", "low")]
        said.append(f"{each['name']} {' '.join(limits)}")
    said += [f"{name} {_limit(value)}" for name, value in trial["options"].items()]
    return ", ".join(said + _changes(trial["columns"]))


def _changes(columns: dict[str, Any]) -> list[str]:
    said = [f"weight of {name} × {factor:g}" for name, factor in columns["weights"].items()]
    said += [f"{name} {levels} levels coarser" for name, levels in columns["coarser"].items()]
    return said + [f"{name} not released" for name in columns["left_out"]]


def _limit(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _line(held: dict[str, Any]) -> dict[str, Any]:
    """One threshold with what the chosen point has."""
    show = percent if held["scale"] == "share" else number
    value = show(held["value"])
    if held["estimator"] and held["low"] is not None and held["low"] != held["high"]:
        value += f" ({show(held['low'])} to {show(held['high'])}, {held['estimator']})"
    met = held["met"] and held["met_over_interval"] is not False
    asked = f"{held['bound']} {show(held['limit'])}"
    return {"attribute": "", "above": None} | held | {"asked": asked, "shown": value, "kept": met}


def _other_losses(found: dict[str, Any]) -> list[tuple[str, float]]:
    """What the trials lose that were tried at other limits, by what they asked."""
    return [
        (_words(each), each["loss"])
        for each in found["trials"]
        if each["stage"] == "frontier" and "loss" in each
    ]
