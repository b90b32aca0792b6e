"""Attack: what four intruders know, what they find, and whether simulated attacks find more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tomlkit
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from sfumato.core.number_text import share_text
from sfumato.pipeline.project_folder import ATTACK
from sfumato.risk.evidence import Evidence
from sfumato.risk.verdict import Row, Verdict
from sfumato.server.workbench.bench import Bench
from sfumato.server.workbench.frame import edited, page, project_view
from sfumato.server.workbench.project_edits import table_at

KNOWS = {
    "stranger": gettext_lazy("the exact values of these columns, of everybody"),
    "acquaintance": gettext_lazy(
        "that the person is in the file, these columns, and roughly the number of records"
    ),
    "insider": gettext_lazy(
        "what the acquaintance knows, and two values of one further column; each is tried"
    ),
    "recipient": gettext_lazy("what the acquaintance knows, and every earlier release"),
}
"""What each intruder knows, as is assumed."""
EXAMPLES = {
    "stranger": gettext_lazy(
        "Invented: a firm has a register. It looks for Ms Example by what the register says of her."
    ),
    "acquaintance": gettext_lazy(
        "Invented: a neighbour knows that Mr Example was a patient, and that he went there often."
    ),
    "insider": gettext_lazy(
        "Invented: a clerk has seen two of Ms Example's records, each in one further column."
    ),
    "recipient": gettext_lazy(
        "Invented: a university that had last year's release looks for Mr Example in both."
    ),
}
"""An example of each, with nobody of the data in it."""


@dataclass(frozen=True)
class IntruderRow:
    """What is said of an intruder.

    Attributes
    ----------
    predicted, found
        People found, as it is measured, and the most that an attack found.
    interval
        Of the one and of the other; empty where nothing was drawn.
    fits
        How many people fit whom the intruder looks for, on average.
    """

    name: str
    knows: str
    example: str
    state: str
    predicted: str = "–"
    predicted_interval: str = ""
    person: str = "–"
    learned: str = "–"
    found: str = "–"
    found_interval: str = ""
    attack: str = ""
    fits: str = ""
    why: str = ""


def intruders(verdict: Verdict) -> list[IntruderRow]:
    """The four rows, the worst first."""
    return [_row(verdict, row) for row in verdict.rows]


def _row(verdict: Verdict, row: Row) -> IntruderRow:
    said: dict[str, Any] = {
        "name": row.intruder,
        "knows": str(KNOWS[row.intruder]),
        "example": str(EXAMPLES[row.intruder]),
        "state": row.state.value,
        "why": row.why,
    }
    if row.learned is not None:
        said["learned"] = share_text(row.learned.value, verdict.limits.learned)
    if row.findings is not None:
        share = row.findings.found
        said |= {
            "predicted": share_text(share.value, verdict.limits.found),
            "predicted_interval": _interval(share.low, share.high),
            "person": share_text(row.findings.person.value, verdict.limits.person),
        }
        if share.value > 0:
            said["fits"] = f"{1 / share.value:,.0f}"
    found = _most(verdict, row)
    if found is not None:
        said |= {
            "found": share_text(found.people.value, verdict.limits.found),
            "found_interval": _interval(found.people.low, found.people.high),
            "attack": found.attack,
        }
    return IntruderRow(**said)


def _most(verdict: Verdict, row: Row) -> Evidence | None:
    """The attack that found the most people for a row."""
    about = [
        each
        for each in verdict.evidence
        if each.intruder == row.intruder and each.number == "found"
    ]
    return max(about, key=lambda each: each.people.value, default=None)


def _interval(low: float, high: float) -> str:
    if low == high:
        return ""
    return f"{share_text(low).removesuffix('%').strip()} – {share_text(high)}"


@require_GET
@project_view("attack")
def attack(request: HttpRequest, bench: Bench) -> HttpResponse:
    """The four rows, of the release that is made of what the project says now."""
    verdict, project = bench.status().verdict, bench.place.project
    schema = bench.place.given_schema()
    names = [] if schema is None else list(schema.quasi_identifiers)
    asked = project.attack
    known = set(names) if asked is None or asked.knows is None else set(asked.knows)
    rows = [] if verdict is None else intruders(verdict)
    return page(
        request,
        bench,
        "attack",
        "workbench/attack.html",
        status_now=bench.status(),
        rows=rows,
        people="" if verdict is None else f"{verdict.people:,}",
        limits=str(project.judged_by),
        headline="" if verdict is None else verdict.summary,
        columns=[(at, name, name in known) for at, name in enumerate(names)],
        counts=asked is not None and bool(asked.counts),
        attacked=bench.made(ATTACK) is not None,
    )


@require_POST
@project_view("attack")
def knows(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Say what the simulated intruder knows of people."""
    schema = bench.place.given_schema()
    names = [] if schema is None else list(schema.quasi_identifiers)
    given = {each for each in request.POST.getlist("column") if each.isascii() and each.isdigit()}
    known = [name for at, name in enumerate(names) if str(at) in given]
    counts = request.POST.get("counts") == "yes"

    def change(document: Any) -> None:
        section = table_at(document, "attack")
        if len(known) == len(names):
            section.pop("knows", None)
        else:
            section["knows"] = tomlkit.item(known)
        if counts:
            section["counts"] = True
        else:
            section.pop("counts", None)

    words = _("The simulated intruder knows %(known)s of %(names)s columns") % {
        "known": len(known),
        "names": len(names),
    }
    return edited(request, bench, change, words, to="attack")
