"""The page of an attack: what was found beside what was predicted, and how sure the intruder was.

Aggregates only: no guess and no value of the data is in its pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import altair as alt

from sfumato.core.number_text import count, counted, percent
from sfumato.core.phrases import Listed, Phrase, Plural
from sfumato.intruder.attack_result import Attack
from sfumato.intruder.referee.attack_odds import CalibrationBin
from sfumato.intruder.series_attack import SeriesAttack
from sfumato.reports import attack_tables, pictures
from sfumato.reports.adversaries import attack_title
from sfumato.reports.attack_tables import SHOWN, standing
from sfumato.reports.printed_numbers import fill_template, plain_number
from sfumato.risk.verdict import SOMEONE

_RIGHT = Phrase("guesses that are right (%)")
_SIDE = 290
_CAME, _LEFT = Phrase("knows who came when"), Phrase("knows who left when as well")
_WIDTH, _HEIGHT = 560, 220
_COLOURS = pictures.SERIES[:6]


def draw_attack(attack: Attack, title: str, made: date) -> str:
    """The report as one HTML page, self-contained and printable."""
    unshown = {each.attack for each in attack.evidence if each.unshown}
    outcomes = [
        attack_tables.plain_outcome(each, unshown=each.attack in unshown)
        for each in attack.outcomes
    ]
    lines, untried = attack_tables.attack_lines(outcomes)
    return fill_template(
        "attack.html",
        title=title,
        made=made,
        attack=attack,
        headline=_headline(attack, outcomes),
        lines=lines,
        untried=untried,
        tried=sum(each["tried"] for each in outcomes),
        predictions=attack_tables.prediction_lines(attack.claims.measures),
        failed=bool(attack.exit_code or attack.broken),
        figures=_figures(attack, outcomes),
    )


def _headline(attack: Attack, outcomes: Sequence[Mapping[str, Any]]) -> str:
    """The worst that the attacks bring to light."""
    rows = [] if attack.verdict is None else attack.verdict.rows
    found = [(row.findings.found.value, row) for row in rows if row.findings is not None]
    if not found:
        worst = attack_tables.most_found_text(
            attack_tables.most_found(attack.to_json()["evidence"], outcomes)
        )
        return Listed(filter(None, (worst, attack.sentence)), " ")
    share, row = max(found, key=lambda each: each[0])
    who: str = SOMEONE[row.intruder]
    if row.column:
        who = Phrase("an insider who knows {column}", column=row.column)
    return Phrase(
        "Worst: {share} of {people} found by {who}.",
        share=percent(share),
        people=counted(attack.persons, "person"),
        who=who,
    )


def _figures(attack: Attack, outcomes: Sequence[Mapping[str, Any]]) -> list[pictures.Figure]:
    made = sorted((each for each in outcomes if each["tried"]), key=standing)
    predicted = [each for each in made if each["predicted"] is not None]
    figures = [figure for figure in [success_figure(made)] if figure]
    if predicted:
        figures.append(predicted_figure(predicted))
    if attack.calibration:
        # What was not tried has no rank.
        worst = [each["attack"] for each in made if each["attack"] in attack.calibration]
        bins = {name: attack.calibration[name] for name in worst[:SHOWN]}
        if bins:
            figures.append(calibration_figure(bins, len(worst)))
    return figures


def success_figure(outcomes: Sequence[Mapping[str, Any]]) -> pictures.Figure | None:
    """The worst attacks: realised success with its interval, beside what was predicted.

    Nothing where no attack has a share.

    Parameters
    ----------
    outcomes
        Attacks as `plain_outcome` has them, or as an audience is told them.
    """
    told = sorted((each for each in outcomes if each["success"] is not None), key=standing)
    rows = [_row(each) for each in told[:SHOWN] if each["tried"]]
    if not rows:
        return None
    base = pictures.named_rows(rows, "attack")
    line = base.mark_rule(strokeWidth=2, color=pictures.INK).encode(
        x=_success_axis(rows), x2=alt.X2("high:Q")
    )
    point = base.mark_point(filled=True, size=65, opacity=1).encode(
        x=alt.X("success:Q"), color=_by_verdict()
    )
    chart = pictures.layered_rows([*_expectations(base, 18), line, point], len(rows))
    shares = ((row["attack"], percent(row["success"])) for row in rows)
    said = Listed((Listed(each, ": ") for each in shares), "; ")
    return pictures.Figure(
        pictures.picture(chart, "attacks", Phrase("Points: {said}.", said=said)),
        Plural(
            "Right guesses, beside what was predicted; the worst attack",
            "Right guesses, beside what was predicted; the worst {n} attacks",
            len(rows),
            n=len(rows),
        ),
        Phrase(
            "Point and line: realised share with its 95 % interval. Grey bar: predicted; thin red "
            "bar: the most that a true prediction allows; triangle: random guessing."
        ),
        wide=True,
    )


def _success_axis(rows: Sequence[Mapping[str, Any]]) -> alt.X:
    names = ("high", "success", "predicted", "allowed", "baseline")
    drawn = [row[name] for row in rows for name in names if row[name] is not None]
    largest = max(drawn, default=1.0)
    axis = alt.Axis(labelExpr=pictures.PERCENT, gridColor=pictures.FAINT, title=_RIGHT)
    return alt.X("low:Q", scale=alt.Scale(domain=[0, pictures.share_end(largest)]), axis=axis)


def _expectations(base: alt.Chart, size: int) -> list[alt.Chart]:
    """What was predicted, the most that this allows, and what chance gives."""
    chance = base.mark_point(shape="triangle-up", size=42, color=pictures.BEFORE, filled=True)
    return [
        base.mark_tick(thickness=3, size=size, color=pictures.QUIET).encode(x=alt.X("predicted:Q")),
        base.mark_tick(thickness=1.5, size=size, color=pictures.LIMIT).encode(x=alt.X("allowed:Q")),
        chance.encode(x=alt.X("baseline:Q")),
    ]


def _by_verdict(*, legend: alt.Legend | None = None) -> alt.Color:
    words = alt.Scale(domain=["explained", "beaten"], range=[pictures.AFTER, pictures.LIMIT])
    return alt.Color("verdict:N", scale=words, legend=legend)


def _row(each: Mapping[str, Any]) -> dict[str, Any]:
    success, predicted = plain_number(each["success"]), plain_number(each["predicted"])
    ends = each["success"] if isinstance(each["success"], dict) else {}
    low, high = (success if ends.get(end) is None else ends[end] for end in ("low", "high"))
    return {
        "attack": each["title"],
        "success": success,
        "low": low,
        "high": high,
        # The axis ends at 0 and 1.
        "predicted": None if predicted is None else min(max(predicted, 0.0), 1.0),
        "allowed": each["allowed"],
        "baseline": plain_number(each["baseline"]),
        "verdict": "beaten" if each["broken"] else "explained",
    }


def predicted_figure(outcomes: Sequence[Mapping[str, Any]]) -> pictures.Figure:
    """Realised success against predicted, one point for each attack.

    Parameters
    ----------
    outcomes
        The attacks that guessed something that was predicted.
    """
    rows = [_row(outcome) for outcome in outcomes]
    layers = [
        _diagonal(_end(rows, "predicted")),
        *_marks(rows, "predicted", Phrase("predicted (%)"), _by_verdict()),
    ]
    chart = alt.LayerChart(layer=layers, width=pictures.HALF - 70, height=_SIDE)
    each = (
        Phrase(
            "{predicted} predicted, {found} found",
            predicted=percent(row["predicted"]),
            found=percent(row["success"]),
        )
        for row in rows
    )
    said = Phrase("Points: found against predicted. {said}.", said=Listed(each, "; "))
    return pictures.Figure(
        pictures.picture(chart, "predicted", said),
        Plural(
            "Found against predicted; {n} attack with a prediction",
            "Found against predicted; {n} attacks with a prediction",
            len(rows),
            n=len(rows),
        ),
        Phrase(
            "Above the line more was found than predicted; red where chance does not explain it."
        ),
    )


def calibration_figure(bins: Mapping[str, Sequence[CalibrationBin]], of: int) -> pictures.Figure:
    """Realised share of right guesses against the intruder's own chance.

    Parameters
    ----------
    bins
        By attack, guesses grouped by the chance that the intruder gave them.
    of
        How many attacks have such guesses.
    """
    rows = [
        {
            "attack": attack_title(name),
            "chance": each.chance,
            "success": each.success,
            "low": each.success_low,
            "high": each.success_high,
            "attempts": each.attempts,
        }
        for name, several in bins.items()
        for each in several
    ]
    names = [attack_title(name) for name in bins]
    drawn = (
        Phrase("the worst {some} of {all}", some=len(names), all=of)
        if len(names) < of
        else counted(of, "attack")
    )
    colours = [_COLOURS[place % len(_COLOURS)] for place in range(len(names))]
    scale = alt.Scale(domain=names, range=colours)
    colour = alt.Color("attack:N", scale=scale).legend(columns=1, labelLimit=300)
    layers = [
        _diagonal(_end(rows, "chance")),
        *_marks(rows, "chance", Phrase("the intruder’s own chance (%)"), colour),
    ]
    chart = alt.LayerChart(layer=layers, width=pictures.HALF - 70, height=_SIDE)
    told = (
        Phrase(
            "{attack}: {share} of {n} guesses at {chance}",
            attack=attack_title(name),
            share=percent(each.success),
            n=count(each.attempts),
            chance=percent(each.chance),
        )
        for name, several in bins.items()
        for each in several
    )
    said = Phrase("Points: right share by the intruder’s chance. {said}.", said=Listed(told, "; "))
    return pictures.Figure(
        pictures.picture(chart, "calibration", said),
        Phrase("How sure the intruder was, and how right; {attacks}", attacks=drawn),
        Phrase(
            "Guesses grouped by the chance that the intruder gave them. On the line the intruder "
            "knew how right they were."
        ),
    )


def _end(rows: Sequence[Mapping[str, Any]], across: str) -> float:
    """Where both axes end: with the data."""
    return pictures.share_end(
        max(row[name] for row in rows for name in (across, "success", "high"))
    )


def _diagonal(end: float) -> alt.Chart:
    scale = alt.Scale(domain=[0, end])
    line: alt.Chart = (
        alt.Chart(pictures.values([{"x": 0, "y": 0}, {"x": end, "y": end}]))
        .mark_line(color=pictures.QUIET, strokeDash=[4, 3], strokeWidth=1)
        .encode(x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=scale))
    )
    return line


def _marks(
    rows: list[dict[str, Any]], across: str, title: str, colour: alt.Color
) -> tuple[alt.Chart, alt.Chart]:
    """Points with the line of their interval."""
    base = alt.Chart(pictures.values(rows)).encode(
        x=alt.X(f"{across}:Q", title=title).axis(labelExpr=pictures.PERCENT, grid=False),
        color=colour,
    )
    line = base.mark_rule(strokeWidth=1.4).encode(
        y=alt.Y("low:Q", title=_RIGHT).axis(labelExpr=pictures.PERCENT, gridColor=pictures.FAINT),
        y2=alt.Y2("high:Q"),
    )
    point = base.mark_point(filled=True, size=60, opacity=1).encode(y=alt.Y("success:Q"))
    return line, point


def draw_attacked_series(found: SeriesAttack, title: str, made: date) -> str:
    """The report as one HTML page, self-contained and printable."""
    worst, one = found.worst, found.least_hidden
    return fill_template(
        "series.html",
        title=title,
        made=made,
        found=found,
        headline=Phrase(
            "Worst: {share} of {n} people of file {file} are found (limit {limit}), one person of "
            "file {other} with a chance of {person} (limit {most})",
            share=percent(worst.left),
            n=f"{worst.people:,}",
            file=worst.label,
            limit=percent(found.limits.found),
            other=one.label,
            person=percent(one.person),
            most=percent(found.limits.person),
        ),
        figures=[months_figure(found)],
    )


def months_figure(found: SeriesAttack) -> pictures.Figure:
    """The people found in each file, by what is known of them, beside the limit."""
    rows = [
        {"file": month.label, "share": share, "known": known}
        for month in found.months
        for known, share in ((_CAME, month.came), (_LEFT, month.left))
    ]
    files = [month.label for month in found.months]
    top = max(found.limits.found, *(month.left for month in found.months))
    base = alt.Chart(pictures.values(rows)).encode(
        x=alt.X("file:N", sort=files, title=Phrase("file")),
        y=pictures.share_axis(top, Phrase("people found (%)")),
        color=alt.Color("known:N", sort=[_CAME, _LEFT], title=None).scale(
            range=list(pictures.SERIES[:2])
        ),
    )
    limit = alt.Chart(pictures.values([{"share": found.limits.found}])).mark_rule(
        color=pictures.LIMIT, strokeWidth=1.3, strokeDash=[2, 2]
    )
    chart = alt.LayerChart(
        layer=[base.mark_line(), base.mark_point(filled=True), limit.encode(y="share:Q")],
        width=_WIDTH,
        height=_HEIGHT,
    )
    shares = ((name, percent(each.left)) for name, each in zip(files, found.months, strict=True))
    said = Listed((Listed(each, ": ") for each in shares), "; ")
    return pictures.Figure(
        pictures.picture(chart, "series", Phrase("People found: {said}.", said=said)),
        Phrase("People found in each file, with all files before it"),
        Phrase("Dashed: the limit of what may be found."),
        wide=True,
    )
