"""Data: what each column is, and what it gives away; questions first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from sfumato.pipeline.project_folder import ProjectFolder
from sfumato.server.workbench.bench import Bench
from sfumato.server.workbench.column_edits import ROLES, set_role
from sfumato.server.workbench.frame import edited, page, project_view

ROLE_WORDS = {
    "person": gettext_lazy("person: whose record it is"),
    "household": gettext_lazy("household"),
    "direct identifier": gettext_lazy("direct identifier: never released"),
    "quasi-identifier": gettext_lazy("quasi-identifier: may be known"),
    "sensitive": gettext_lazy("sensitive: must not be learned"),
    "insensitive": gettext_lazy("insensitive: released as it is"),
    "undecided": gettext_lazy("undecided"),
}
"""Roles in the words of the select."""


@dataclass(frozen=True)
class ColumnStrip:
    """What is shown of a column.

    Attributes
    ----------
    number
        Its number, by which addresses name it.
    question
        What a person must say; ``""`` where nothing is asked.
    """

    number: int
    name: str
    role: str
    question: str = ""
    error: str = ""


def columns_of(place: ProjectFolder) -> list[tuple[str, str, str]]:
    """The columns that the schema names: name, role, question."""
    schema = place.given_schema()
    if schema is None:
        return []
    return [
        (name, role, schema.undecided.get(name, ""))
        for role, names in schema.roles().items()
        for name in names
        if role in ROLES
    ]


@require_GET
@project_view("data")
def data(request: HttpRequest, bench: Bench) -> HttpResponse:
    """The columns, undecided ones first."""
    about = "" if bench.message is None else bench.message.about
    said = "" if bench.message is None or not about else bench.message.text
    strips = [
        ColumnStrip(number, name, role, question, said if about == f"role-{number}" else "")
        for number, (name, role, question) in enumerate(sorted(columns_of(bench.place)))
    ]
    strips.sort(key=lambda strip: strip.role != "undecided")
    return page(
        request, bench, "data", "workbench/data.html", strips=strips, roles=ROLE_WORDS.items()
    )


@require_POST
@project_view("data")
def role(request: HttpRequest, bench: Bench, number: int) -> HttpResponse:
    """Give a column a role."""
    place = bench.place
    named: list[Any] = sorted(columns_of(place))
    column = named[number][0] if number < len(named) else ""
    chosen = request.POST.get("role", "")
    change = set_role(place, column, chosen, _("What is this column?"))
    words = _("Role of %(column)s: %(role)s") % {"column": column, "role": chosen}
    return edited(request, bench, change, words, to="data", about=f"role-{number}")
