"""The page of a search under thresholds: the chosen point, risk against loss, what was tried."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import altair as alt

from sfumato.core.measure import ESTIMATED
from sfumato.core.number_text import counted, number, percent
from sfumato.core.phrases import Figure, Listed, Phrase, Plural
from sfumato.reports import pictures
from sfumato.reports.printed_numbers import fill_template, interval
from sfumato.risk.verdict import Verdict

_HEIGHT = 230
_ROOM = 1.08
_MET, _NOT_MET = Phrase("meets every threshold"), Phrase("does not")
_KEPT = Phrase("keeps them ({how})", how=ESTIMATED)
_STOPPED = {
    "found": Phrase("nothing better was found for long"),
    "trials": Phrase("the number of trials was used up"),
    "time": Phrase("the time was used up"),
    "interrupted": Phrase("it was interrupted"),
}
_EXHAUSTED = Phrase("everything that the search knows was tried")
_LOSS = {
    "ane": Phrase("average normalised error (ANE)"),
    "ncp": Phrase("normalised certainty penalty (NCP)"),
    "detail": Phrase("detail lost"),
    "queries": Phrase("error of counts over two columns"),
    "tables": Phrase("distance of tables of two columns"),
    "models": Phrase("loss of models that foretell"),
}
_EVERY = {
    (True, True): Phrase("every limit and threshold"),
    (True, False): Phrase("every limit"),
    (False, True): Phrase("every threshold"),
    (False, False): Phrase("all promises"),
}
"""What is kept, by whether limits and thresholds were asked."""
_BOUNDS = {
    "at most": Phrase("at most {limit}", limit=""),
    "at least": Phrase("at least {limit}", limit=""),
}


def draw_tuned(found: dict[str, Any], verdict: Verdict | None, title: str, made: date) -> str:
    """The page.

    Parameters
    ----------
    verdict
        What intruders find in the chosen release; ``None`` without one.
    """
    chosen = found["best"] or found["nearest"]
    front = set(found["frontier"])
    exhausted = found["stopped"] == "found" and not found["met"]
    return fill_template(
        "tune.html",
        title=title,
        verdict=verdict,
        ready=found["met"] and verdict is not None and verdict.ready,
        every=_EVERY[found["loss"] == "detail", bool(found["held"])],
        made=made,
        found=found,
        chosen=chosen,
        asked="" if chosen is None else _words(chosen),
        changes=[] if chosen is None else _changes(chosen["columns"]),
        stopped=_EXHAUSTED if exhausted else _STOPPED[found["stopped"]],
        loss=_LOSS[found["loss"]],
        lines=[_line(each) for each in found["held"]],
        figures=_frontier_figures(found),
        trials=[(each, _words(each), each["trial"] in front) for each in found["trials"]],
        losses=_other_losses(found),
    )


def _words(trial: dict[str, Any]) -> str:
    """Constraints, options and columns of a trial in one line."""
    said: list[str] = []
    for each in trial["constraints"]:
        limits = [_limit(value) for name, value in each.items() if name not in ("name", "low")]
        said.append(f"{each['name']} {' '.join(limits)}")
    said += [f"{name} {_limit(value)}" for name, value in trial["options"].items()]
    said += trial.get("plan", []) + _changes(trial["columns"])
    return Listed(said) if said else Phrase("nothing")


def _changes(columns: dict[str, Any]) -> list[str]:
    said: list[str] = [
        Phrase("weight of {column} × {factor}", column=name, factor=Figure(f"{factor:g}"))
        for name, factor in columns["weights"].items()
    ]
    said += [
        Plural(
            "{column} {n} level coarser",
            "{column} {n} levels coarser",
            levels,
            column=name,
            n=levels,
        )
        for name, levels in columns["coarser"].items()
    ]
    return said + [Phrase("{column} not released", column=name) for name in columns["left_out"]]


def _bounded(held: dict[str, Any], show: Callable[[float], str]) -> str:
    """A limit with its side."""
    return Phrase(_BOUNDS[held["bound"]].message, limit=show(held["limit"]))


def _limit(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _line(held: dict[str, Any]) -> dict[str, Any]:
    """One threshold with what the chosen point has."""
    show = percent if held["scale"] == "share" else number
    value = show(held["value"])
    ends = interval(held["low"], held["high"], show)
    if held["estimator"] and ends:
        by = {"interval": ends, "estimator": held["estimator"]}
        value = Phrase("{value} ({interval}, {estimator})", value=value, **by)
    # `None` is no interval, and no failure over one.
    met = held["met"] and held["met_over_interval"] is not False
    asked = _bounded(held, show)
    return {"attribute": "", "above": None} | held | {"asked": asked, "shown": value, "kept": met}


def _other_losses(found: dict[str, Any]) -> list[tuple[str, float]]:
    """What the trials lose that were tried at other limits, by what they asked."""
    return [
        (_words(each), each["loss"])
        for each in found["trials"]
        if each["stage"] == "frontier" and "loss" in each
    ]


def _frontier_figures(found: dict[str, Any]) -> list[pictures.Figure]:
    """One picture per threshold: the measure of each trial against its loss."""
    made = {each["trial"]: each for each in found["trials"] if "loss" in each}
    if not made:
        return []
    labels = [_label(each) for each in found["held"]]
    return [
        _figure(found, made, held, label, place)
        for place, (held, label) in enumerate(zip(found["held"], labels, strict=True))
    ]


def _label(held: dict[str, Any]) -> str:
    attribute = held.get("attribute")
    return f"{held['measure']} [{attribute}]" if attribute else str(held["measure"])


def _figure(
    found: dict[str, Any],
    made: dict[int, dict[str, Any]],
    held: dict[str, Any],
    label: str,
    place: int,
) -> pictures.Figure:
    share = held["scale"] == "share"
    front = [made[each] for each in found["frontiers"][label]]
    chosen = found["best"] or found["nearest"]
    top = _ROOM * max([each["loss"] for each in front if each["met"]] + [chosen["loss"]])
    # Trials that lose far more would press all others to the axis.
    shown = [each for each in made.values() if each["loss"] <= 1.35 * top]
    beyond = len(made) - len(shown)
    kept = _MET if found["promised"] else _KEPT
    rows = [
        {"x": each["measures"][label], "y": each["loss"], "met": kept if each["met"] else _NOT_MET}
        for each in shown
    ]
    steps = [
        {"x": each["measures"][label], "y": each["loss"], "order": at}
        for at, each in enumerate(front)
        if each in shown
    ]
    ring = {"x": chosen["measures"][label], "y": chosen["loss"]}
    chart = _chart(rows, steps, ring, held, found["loss"], kept)
    show = percent if share else number
    filled = {
        "asked": _bounded(held, show),
        "measure": show(chosen["measures"][label]),
        "loss": number(chosen["loss"]),
    }
    said = (
        Phrase("Asked: {asked}; chosen: {measure} at a loss of {loss}.", **filled)
        if found["best"]
        else Phrase("Asked: {asked}; nearest: {measure} at a loss of {loss}.", **filled)
    )
    notes = [said]
    if steps:
        notes.append(Phrase("The line joins what no trial beats, the other thresholds met."))
    if beyond:
        notes.append(
            Plural(
                "{n} trial loses more than is shown.",
                "{n} trials lose more than is shown.",
                beyond,
                n=beyond,
            )
        )
    description = Phrase(
        "Points: {trials}, {measure} against loss. {said}",
        trials=counted(len(rows), "trial"),
        measure=label,
        said=said,
    )
    drawn = pictures.picture(chart, f"frontier{place}", description)
    return pictures.Figure(drawn, label, Listed(notes, " "))


def _chart(
    rows: list[dict[str, Any]],
    steps: list[dict[str, Any]],
    chosen: dict[str, float],
    held: dict[str, Any],
    loss: str,
    kept: str,
) -> pictures.Chart:
    is_share = held["scale"] == "share"
    horizontal = (
        alt.X("x:Q", title=f"{held['measure']} (%)" if is_share else held["measure"])
        .scale(zero=False, nice=True)
        .axis(labelExpr=pictures.PERCENT if is_share else "datum.label", tickCount=6, grid=False)
    )
    vertical = (
        alt.Y("y:Q", title=Phrase("loss ({measure})", measure=loss))
        .scale(zero=False, nice=True)
        .axis(format="~g", tickCount=5, gridColor=pictures.FAINT)
    )
    colour = alt.Color("met:N", legend=alt.Legend(symbolType="circle")).scale(
        alt.Scale(domain=[kept, _NOT_MET], range=[pictures.AFTER, pictures.BEFORE])
    )
    line = (
        alt.Chart(pictures.values(steps))
        .mark_line(interpolate="step-after", color=pictures.QUIET, strokeWidth=1.4)
        .encode(x=horizontal, y=vertical, order=alt.Order("order:Q"))
    )
    points = (
        alt.Chart(pictures.values(rows))
        .mark_point(filled=True, size=34, opacity=0.75)
        .encode(x=horizontal, y=vertical, color=colour)
    )
    limit = (
        alt.Chart(pictures.values([{"x": held["limit"]}]))
        .mark_rule(color=pictures.LIMIT, strokeWidth=1.3, strokeDash=[2, 2])
        .encode(x=horizontal)
    )
    mark = (
        alt.Chart(pictures.values([chosen]))
        .mark_point(
            filled=False, shape="circle", size=160, color=pictures.LIMIT, strokeWidth=2.2, opacity=1
        )
        .encode(x=horizontal, y=vertical)
    )
    return alt.LayerChart(
        layer=[limit, line, points, mark], width=pictures.HALF - 20, height=_HEIGHT
    )
