"""Link: how many people are joined wrongly or missed, and which are the least sure."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, log10, pi, sin, sqrt
from typing import Any

import numpy as np
import tomlkit
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from sfumato.core import number_text
from sfumato.core.errors import InputError
from sfumato.core.measure import NORMAL
from sfumato.core.number_text import share_text
from sfumato.linkage.earlier_linkage import Earlier, read_earlier
from sfumato.pipeline.project_folder import LINK, ProjectFolder
from sfumato.pipeline.project_model import InFile
from sfumato.server.workbench import charts
from sfumato.server.workbench.bench import ESTIMATE, Bench
from sfumato.server.workbench.frame import edited, page, project_view
from sfumato.server.workbench.project_edits import Change, table_at

LEAST_SURE, MOST_RECORDS = 20, 30
"""People that are shown, and records of one of them that are drawn."""
WORTH = 0.05
"""Chance of another partition from which a person is listed."""


@dataclass(frozen=True)
class Errors:
    """What is expected at a threshold, with intervals that hold if the chances of pairs do.

    Attributes
    ----------
    joined
        Pairs of records from the threshold on.
    wrong, missed
        Pairs of records: expected, and the ends of the interval.
    """

    threshold: float
    joined: int
    wrong: tuple[float, float, float]
    missed: tuple[float, float, float]


@dataclass(frozen=True)
class Unsure:
    """A person of whom the linkage is not sure.

    Attributes
    ----------
    weakest
        Probability of the weakest pair that holds the records together.
    outside
        Probability of the likeliest pair with a record of another person.
    picture
        The records as dots, masked: their source and no value.
    """

    records: int
    weakest: float
    outside: float
    picture: SafeString
    pairs: list[tuple[str, str, list[tuple[str, str]]]]

    @property
    def words(self) -> str:
        """Why it is not sure."""
        said = []
        if self.records > 1:
            said.append(_("held together by a pair of %s") % share_text(self.weakest))
        if self.outside >= WORTH:
            said.append(_("another person's record fits with %s") % share_text(self.outside))
        return ", ".join(said)


def errors_at(score: np.ndarray, threshold: float, lost: float) -> Errors:
    """Pairs joined wrongly and missed at a threshold, by the probabilities of the pairs alone."""
    above = score >= threshold
    wrong, missed = 1 - score[above], score[~above]
    return Errors(threshold, len(wrong), _interval(wrong), _interval(missed, lost))


def _interval(chances: np.ndarray, beyond: float = 0.0) -> tuple[float, float, float]:
    """A sum of chances with its 95 % interval, the chances taken as independent and true."""
    mean = float(chances.sum()) + beyond
    spread = NORMAL * sqrt(float((chances * (1 - chances)).sum()) + beyond)
    return mean, max(0.0, mean - spread), mean + spread


@project_view("link")
def link(request: HttpRequest, bench: Bench) -> HttpResponse:
    """What the linkage says of itself, at its threshold or at one that is tried."""
    place = bench.place
    made = bench.made(LINK) if place.project.is_linked else None
    parts: dict[str, Any] = {"linked": place.project.is_linked, "made": made is not None}
    parts["by_keys"] = place.project.is_database
    if made is None:
        return page(request, bench, "link", "workbench/link.html", **parts)
    folder = place.of_stage(LINK)
    of = f"{folder} {(folder / 'pairs.parquet').stat().st_mtime_ns}"
    earlier = bench.figure("linkage", lambda: read_earlier(folder), kind=ESTIMATE, of=of).value
    upper = made["thresholds"]["match"]
    tried, error = _tried(request, upper)
    lost = float(made["expected"]["lost_to_blocking"])
    unsure = bench.figure("unsure", lambda: least_sure(earlier), kind=ESTIMATE, of=of).value
    return page(
        request, bench, "link", "workbench/link.html", **parts,
        persons=made["persons"], tried=tried, error=error,
        position=_position(tried), chart=_chart(made["persons"]), unsure=unsure,
        rows=[_row(errors_at(earlier.pairs.score, at, lost)) for at in _around(tried)],
        waiting=made["outcomes"]["possible_match"], by=place.project.review.by.value,
        unanswered=_unanswered(bench),
    )  # fmt: skip


def _unanswered(bench: Bench) -> str:
    """How many doubtful pairs the project waits for; ``""`` for none."""
    waiting = bench.status().waiting
    return waiting.what if waiting is not None and waiting.whom == "reviewers" else ""


def _tried(request: HttpRequest, usual: float) -> tuple[float, str]:
    """The threshold of the form, as a number or by the slider's place."""
    text = request.POST.get("threshold", "").strip().replace(",", ".")
    try:
        tried = float(text) if text else usual
    except ValueError:
        tried = -1.0
    if 0 < tried <= 1:
        return tried, ""
    return usual, _("The threshold must be a probability above 0, at most 1.")


def _around(threshold: float) -> list[float]:
    every = {0.5, 0.8, 0.9, 0.95, 0.99, 0.999, threshold}
    return sorted(every)


def _row(errors: Errors) -> tuple[str, str, str, str]:
    return (
        f"{errors.threshold:g}", f"{errors.joined:,}",
        _said(errors.wrong), _said(errors.missed),
    )  # fmt: skip


def _said(interval: tuple[float, float, float]) -> str:
    # Rounded first: two digits alone would print 120 as a power of ten.
    said = (number_text.number(float(f"{each:.2g}")) for each in interval)
    return "{} ({} – {})".format(*said)


def _position(threshold: float) -> float:
    """Where the slider stands: by log odds, as half of all thresholds in use lie above 0.99."""
    return round(log10(threshold / (1 - threshold)) if threshold < 1 else 6.0, 2)


def _chart(persons: dict[str, Any]) -> SafeString:
    """Pairs joined wrongly and missed, of the people that are joined now."""
    marks = []
    for label, name in ((_("wrong"), "precision"), (_("missed"), "recall")):
        held = persons[name]
        value, low, high = (1 - held[end] for end in ("value", "high", "low"))
        said = f"{share_text(value)} ({share_text(low)} – {share_text(high)})"
        marks.append(charts.Interval(label, 100 * value, 100 * low, 100 * high, said))
    caption = _("Pairs of records joined wrongly, and missed; estimate, 95 %")
    return charts.intervals(marks, caption, _("pairs (%)"))


def least_sure(earlier: Earlier) -> list[Unsure]:
    """The people whose records might be others', the least sure first."""
    person = np.asarray(earlier.person.dictionary_encode().indices, dtype=np.int64)
    pairs = earlier.pairs
    left, right = person[pairs.left], person[pairs.right]
    inside = left == right
    outside = np.zeros(person.max(initial=-1) + 1)
    for side in (left, right):
        np.maximum.at(outside, side[~inside], pairs.score[~inside])
    size = np.bincount(person, minlength=len(outside))
    weakest = np.ones(len(outside))
    several = np.flatnonzero(size > 1)
    rows_of = _grouped(left[inside], np.flatnonzero(inside), len(outside))
    for each in several.tolist():
        weakest[each] = _weakest_link(pairs, rows_of[each], int(size[each]))
    doubt = np.maximum(1 - weakest, outside)
    found: list[Unsure] = []
    drawn: set[int] = set()
    for each in np.argsort(-doubt, kind="stable").tolist():
        if len(found) == LEAST_SURE or doubt[each] < WORTH:
            break
        if each in drawn or size[each] > MOST_RECORDS:
            continue
        records = _beside(earlier, person, each)
        # Two people who might be one are one picture.
        drawn |= set(person[records].tolist())
        found.append(_unsure(earlier, person, each, records, (weakest[each], outside[each])))
    return found


def _beside(earlier: Earlier, person: np.ndarray, number: int) -> np.ndarray:
    """The records of a person, and those of others that fit with one of them."""
    pairs = earlier.pairs
    touching = (person[pairs.left] == number) | (person[pairs.right] == number)
    touching &= pairs.score >= WORTH
    ends = (pairs.left[touching], pairs.right[touching])
    return np.unique(np.concatenate([np.flatnonzero(person == number), *ends]))[:MOST_RECORDS]


def _grouped(group: np.ndarray, rows: np.ndarray, groups: int) -> list[np.ndarray]:
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=groups))[:-1]
    return np.split(rows[order], ends)


def _weakest_link(pairs: Any, rows: np.ndarray, size: int) -> float:
    """The weakest pair of the strongest tree over a person's records; 0 where pairs leave gaps."""
    parent: dict[int, int] = {}

    def root(record: int) -> int:
        while parent.setdefault(record, record) != record:
            record = parent[record]
        return record

    joined, weakest = 1, 1.0
    for row in rows[np.argsort(-pairs.score[rows], kind="stable")].tolist():
        one, other = root(int(pairs.left[row])), root(int(pairs.right[row]))
        if one != other:
            parent[one] = other
            joined, weakest = joined + 1, float(pairs.score[row])
    return weakest if joined == size else 0.0


def _unsure(
    earlier: Earlier,
    person: np.ndarray,
    number: int,
    records: np.ndarray,
    chances: tuple[float, float],
) -> Unsure:
    pairs, there = earlier.pairs, set(records.tolist())
    rows = [
        row for row in np.flatnonzero(pairs.score >= WORTH).tolist()
        if int(pairs.left[row]) in there and int(pairs.right[row]) in there
    ]  # fmt: skip
    name = {record: f"{at}" for at, record in enumerate(records.tolist(), 1)}
    sources = earlier.records.source_of(records).tolist()
    said = {
        record: f"{earlier.records.sources[at]} {name[record]}"
        for record, at in zip(records.tolist(), sources, strict=True)
    }
    levels = {column: int(level.max(initial=0)) for column, level in pairs.levels.items()}
    listed = [
        (
            f"{said[int(pairs.left[row])]} – {said[int(pairs.right[row])]}",
            share_text(float(pairs.score[row])),
            [(each, _level(int(pairs.levels[each][row]), most)) for each, most in levels.items()],
        )
        for row in rows
    ]
    inside = {record: int(person[record]) == number for record in records.tolist()}
    picture = _graph(pairs, rows, inside, name)
    return Unsure(sum(inside.values()), float(chances[0]), float(chances[1]), picture, listed)


def _level(level: int, most: int) -> str:
    """How two values compare, in a word and without them."""
    if level < 0:
        return _("missing")
    if level == 0:
        return _("differs")
    return _("equal") if level == most else _("similar")


def _graph(
    pairs: Any, rows: list[int], inside: dict[int, bool], name: dict[int, str]
) -> SafeString:
    """Records on a circle, those of the person filled, and their pairs by how likely they are."""
    angle = {record: 2 * pi * place / len(inside) for place, record in enumerate(inside)}
    at = {record: (110 + 80 * cos(turn), 100 + 80 * sin(turn)) for record, turn in angle.items()}
    lines = "".join(
        '<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>'.format(
            "likely" if pairs.score[row] >= 0.5 else "unlikely",
            *at[int(pairs.left[row])], *at[int(pairs.right[row])],
        )
        for row in rows
    )  # fmt: skip
    dots = ""
    for record, held in inside.items():
        (x, y), kind = at[record], "inside" if held else "outside"
        dots += f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="11"/>'
        dots += f'<text class="on-{kind}" x="{x:.1f}" y="{y + 4:.1f}">{name[record]}</text>'
    label = escape(_("Records of one person and beside it; thick: likely of one person"))
    head = f'<svg class="cluster" viewBox="0 0 220 200" role="img" aria-label="{label}">'
    return mark_safe(f"{head}{lines}{dots}</svg>")  # noqa: S308 - numbers and one escaped text


@require_POST
@project_view("link")
def take_threshold(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Take the threshold that was tried."""
    tried, error = _tried(request, -1.0)
    if error:
        bench.tell(error, bad=True)
        return HttpResponseRedirect(reverse("link"))
    change = set_threshold(bench.place, tried)
    return edited(request, bench, change, _("Threshold of a match: %s") % f"{tried:g}", to="link")


def set_threshold(place: ProjectFolder, threshold: float) -> Change:
    """The edit of the probability from which a pair is a match.

    Raises
    ------
    InputError
        If the specification stands in a file of its own.
    """
    given = None if place.project.link is None else place.project.link.specification
    if isinstance(given, InFile):
        raise InputError(
            "the threshold", "stands in the file of the specification",
            found=given.file.name, advice="edit it there",
        )  # fmt: skip

    def change(document: tomlkit.TOMLDocument) -> None:
        link_ = table_at(document, "link")
        if given is None:
            raise InputError(
                "section [link]", "must have a specification before a threshold can be moved",
                advice="link once; the proposal is in link.toml of the stage",
            )  # fmt: skip
        thresholds = table_at(link_, "specification", "thresholds")
        thresholds["upper"] = threshold
        if float(thresholds.get("lower", 0)) > threshold:
            thresholds["lower"] = threshold

    return change


@require_POST
@project_view("link")
def dedupe(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Look for people who are in one table twice."""

    def change(document: tomlkit.TOMLDocument) -> None:
        table_at(document, "link")["dedupe"] = True

    return edited(
        request, bench, change, _("Look for people who are in the table twice"), to="link"
    )
