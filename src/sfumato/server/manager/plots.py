"""A project's plots: their numbers from the audit log, drawn for a page or a report."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from django.utils.safestring import SafeString, mark_safe

from sfumato.server.store.models import Account, AuditEntry, Project

if TYPE_CHECKING:
    from sfumato.reports.pictures import Figure

MOST_POINTS = 300
"""Most points of a line."""


@dataclass(frozen=True)
class Plot:
    """A plot on a page.

    Attributes
    ----------
    title
        What it shows.
    svg
        The picture.
    note
        How to read it.
    """

    title: str
    svg: SafeString
    note: str


def figures_of(
    project: Project, answers: Mapping[str, int], *, by_pseudonym: bool = False
) -> tuple[Figure, ...]:
    """The plots of a project; none before the first answer, or where nothing can draw them.

    Parameters
    ----------
    project
        The project.
    answers
        By the answer in words, how often it stands.
    by_pseudonym
        Whether workers are named by pseudonyms.
    """
    if not any(answers.values()):
        return ()
    try:
        from sfumato.reports.review_plots import answers_figure, disclosure_figure, progress_figure
    except ImportError:
        return ()
    people = Account.objects.filter(dealt__project=project).distinct()
    names = {each.pseudonym: each.pseudonym if by_pseudonym else each.name for each in people}
    decided, spent = _series(project, names)
    return (
        progress_figure(decided),
        disclosure_figure(spent, project.settings.get("budget")),
        answers_figure(answers),
    )


def plots_of(project: Project, answers: Mapping[str, int]) -> tuple[Plot, ...]:
    """The same for a page whose policy allows no style attribute.

    Parameters
    ----------
    project
        The project.
    answers
        By the answer in words, how often it stands.
    """
    return tuple(
        Plot(each.title, _without_style(str(each.svg)), each.note)
        for each in figures_of(project, answers)
    )


def _without_style(svg: str) -> SafeString:
    """A picture as the page's policy allows it: without style attributes."""
    return mark_safe(re.sub(r' style="[^"]*"', "", svg))  # noqa: S308 - drawn of numbers and names


def _series(
    project: Project, names: dict[str, str]
) -> tuple[dict[str, list[tuple[datetime, int]]], dict[str, list[tuple[int, float]]]]:
    """By worker, decided pairs over time, and KAPR over decided pairs, from the audit log."""
    start = f"project {project.pk}/pair "
    wanted = ("show", "open", "decided", "withdrawn", "skipped")
    entries = AuditEntry.objects.filter(
        resource__startswith=start, action__in=wanted, actor__in=list(names)
    ).order_by("number")
    done: dict[str, set[str]] = {}
    cost: dict[str, float] = {}
    over_time: dict[str, list[tuple[datetime, int]]] = {}
    spent: dict[str, list[tuple[int, float]]] = {}
    rows = entries.values_list("time", "actor", "action", "resource", "detail")
    for at, actor, action, resource, detail in rows.iterator(chunk_size=5000):
        name, own = names[actor], done.setdefault(actor, set())
        if action in {"show", "open"}:
            cost[actor] = cost.get(actor, 0.0) + json.loads(detail).get("cost", 0.0)
        elif action == "decided":
            own.add(resource)
        else:
            own.discard(resource)
        if action not in {"show", "open"}:
            over_time.setdefault(name, []).append((datetime.fromisoformat(at), len(own)))
        points = spent.setdefault(name, [])
        most = max(len(own), points[-1][0] if points else 0)
        points.append((most, cost.get(actor, 0.0)))
    return (
        {name: _fewer(points) for name, points in sorted(over_time.items())},
        {name: _fewer(_last_of_each(points)) for name, points in sorted(spent.items())},
    )


def _last_of_each(points: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Of points at the same number of decisions in a row, the last."""
    last = [one for one, two in pairwise(points) if one[0] != two[0]]
    return [*last, *points[-1:]]


def _fewer(points: list[Any]) -> list[Any]:
    """At most so many points as a line needs, the last one among them."""
    step = -(-len(points) // MOST_POINTS)
    return points[::-1][::step][::-1] if step > 1 else points
