"""Data: what each column is, and what it gives away; questions first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.number_text import share_text
from sfumato.schema.recipe import StepCount
from sfumato.server.workbench import charts, column_edits
from sfumato.server.workbench.bench import Bench, Message
from sfumato.server.workbench.column_figures import (
    BARS,
    FEWEST,
    LevelAlone,
    TableFigures,
    references_of,
    tables_of,
)
from sfumato.server.workbench.frame import (
    a_year_on,
    edited,
    loads_by_itself,
    may_edit,
    page,
    project_view,
)
from sfumato.server.workbench.questions import answer, questions_of

ROLE_WORDS = {
    "": gettext_lazy("choose"),
    "person": gettext_lazy("person"),
    "household": gettext_lazy("household"),
    "direct identifier": gettext_lazy("direct identifier"),
    "quasi-identifier": gettext_lazy("quasi-identifier"),
    "sensitive": gettext_lazy("sensitive"),
    "insensitive": gettext_lazy("insensitive"),
    "undecided": gettext_lazy("undecided"),
    "event": gettext_lazy("known of a record"),
    "key": gettext_lazy("key of its table"),
    "reference": gettext_lazy("refers to a table"),
    "same": gettext_lazy("says it of the person again"),
}
"""Roles in the words of the select; none where the schema does not name a column."""
GIVEN = ("key", "reference", "same")
"""Roles of a database, which a select does not give."""
WAITING = "…"
MANY = 12
"""Insensitive columns from which they are folded."""
ORDER = ("", "undecided")
"""Roles that come first."""


@dataclass(frozen=True)
class ColumnStrip:
    """What is shown of a column.

    Attributes
    ----------
    number
        Its number in the table, by which addresses name it.
    without, with_it
        People alone without and with it, as shares; ``None`` while they are counted.
    error
        Why its last change was refused.
    """

    number: int
    name: str
    role: str
    question: str = ""
    error: str = ""
    without: float | None = None
    with_it: float | None = None
    picture: SafeString | str = WAITING
    evidence: str = WAITING

    @property
    def alone(self) -> str:
        """People alone without and with it, in words."""
        if self.without is None or self.with_it is None:
            return WAITING if self.evidence == WAITING else "–"
        return f"{share_text(self.without)} → {share_text(self.with_it)}"

    @property
    def bar(self) -> tuple[float, float]:
        """The same as widths of a bar of 100 units."""
        return round(100 * (self.without or 0), 1), round(100 * (self.with_it or 0), 1)

    @property
    def effect(self) -> float:
        """How many more people are alone with it, as a share."""
        return (self.with_it or 0) - (self.without or 0)


def _strips(
    bench: Bench, table: TableFigures, message: Message | None, *, counted: bool
) -> list[ColumnStrip]:
    strips = []
    undecided = {} if table.said is None else table.said.undecided
    for number, name in enumerate(table.names):
        role, question = table.role(name), undecided.get(name, "")
        error = message.text if message and message.about == f"role-{number}" else ""
        counts = _counts_of(bench, table, name, role) if counted else {}
        strips.append(ColumnStrip(number, name, role, question, error, **counts))
    order = bench.figure("order", lambda: _order(strips), of=f"{table.name} {counted}").value
    place_of = {name: at for at, name in enumerate(order)}
    return sorted(strips, key=lambda strip: place_of.get(strip.name, -1))


def _order(strips: list[ColumnStrip]) -> list[str]:
    """Undecided columns first, then by effect; it stays as it is while somebody edits."""
    ordered = sorted(strips, key=lambda each: (each.role not in ORDER, -each.effect))
    return [each.name for each in ordered]


def _counts_of(bench: Bench, table: TableFigures, name: str, role: str) -> dict[str, Any]:
    alone = table.alone.value
    people = alone.people or 1
    more = table.effects.get(name)
    held = table.profile.columns.get(name)
    shown = table.name in bench.shows_values
    counts: dict[str, Any] = {
        "picture": charts.histogram(
            table.histogram(name), _("Records by value of %s") % name, values=shown
        ),
        "evidence": "" if held is None else f"{held.content}: {held.evidence}; {held.summary}",
    }
    if more is not None and role != "person":
        now = alone.alone
        without, with_it = (now - more, now) if name in table.known else (now, now + more)
        counts |= {"without": without / people, "with_it": with_it / people}
    return counts


@require_GET
@project_view("data")
def data(request: HttpRequest, bench: Bench) -> HttpResponse:
    """The columns of a table: names at once, then what is counted."""
    tables = tables_of(bench)
    table = _asked(request, tables)
    at = tables.index(table)
    counted = table.is_read or "counts" in request.GET
    message = bench.saying(loads_by_itself(request))
    strips = _strips(bench, table, message, counted=counted)
    references = references_of(bench, tables) if counted else []
    folds = sum(strip.role == "insensitive" for strip in strips) > MANY
    alone = table.alone if counted and table.counts_people else None
    return page(
        request, bench, "data", "workbench/data.html",
        table=table,
        at=at,
        tables=tables,
        counted=counted,
        alone=alone and (f"{alone.value.alone:,}", f"{alone.value.people:,}", alone.kind),
        references=references,
        map=charts.key_map(tables, references) if references else "",
        question=next(iter(questions_of(bench.place, tables, references)), None)
        if counted
        else None,
        strips=[strip for strip in strips if not (folds and strip.role == "insensitive")],
        folded=[strip for strip in strips if folds and strip.role == "insensitive"],
        roles=roles_of(table),
        fixed=GIVEN,
        shown=table.name in bench.shows_values,
        a_year_on=a_year_on(),
    )  # fmt: skip


def roles_of(table: TableFigures) -> list[tuple[str, str]]:
    """The roles that a column of a table can be given, and those that stand there, in words."""
    left_out = {"event", *GIVEN}
    if table.is_of_database:
        # Quasi-identifiers are of the table of people alone, events of the others.
        left_out = {"person", "household", "event" if table.known else "quasi-identifier"}
    return [(role, str(words)) for role, words in ROLE_WORDS.items() if role not in left_out]


def _asked(request: HttpRequest, tables: list[TableFigures]) -> TableFigures:
    try:
        return tables[int(request.GET.get("table", request.POST.get("table", "0")) or 0)]
    except (ValueError, IndexError):
        raise Http404 from None


def _column(request: HttpRequest, bench: Bench, number: int) -> tuple[int, TableFigures, str]:
    """The table that a request is about, its number, and one of its columns."""
    tables = tables_of(bench)
    table = _asked(request, tables)
    if number >= len(table.names):
        raise Http404
    return tables.index(table), table, table.names[number]


@require_POST
@project_view("data")
def role(request: HttpRequest, bench: Bench, number: int) -> HttpResponse:
    """Give a column a role."""
    at, table, column = _column(request, bench, number)
    chosen = request.POST.get("role", "")
    why, kind = _("What is this column?"), "code"
    if chosen == column_edits.EVENT:
        kind = table.event_kind(column)
    change = column_edits.set_role(bench.place, column, chosen, why, table.section, kind)
    words = _("Role of %(column)s: %(role)s") % {"column": column, "role": chosen}
    return edited(request, bench, change, words, to=_address(at), about=f"role-{number}")


def _address(at: int, number: int | None = None) -> str:
    path = reverse("data") if number is None else reverse("column", args=[number])
    return f"{path}?table={at}" if at else path


@require_POST
@project_view("data")
def question(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Answer the question that is asked."""
    about, said = request.POST.get("about", ""), request.POST.get("answer", "")
    tables = tables_of(bench)
    every = questions_of(bench.place, tables, references_of(bench, tables))
    asked = {each.about: each for each in every}
    if about not in asked:
        bench.tell(_("This question is answered already."))
        return HttpResponseRedirect(reverse("data"))
    given = {name: request.POST.get(name, "") for name in ("by", "because", "until", "column")}
    try:
        change = answer(bench.place, asked[about], said, given)
    except InputError as error:
        bench.tell(str(error), bad=True, about="question")
        return HttpResponseRedirect(reverse("data"))
    words = _("Answered about %s") % about
    return edited(request, bench, change, words, to="data", about="question")


@require_POST
@project_view("data")
def show_values(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Show values of a table, or hide them again; that they were shown is noted."""
    tables = tables_of(bench)
    table = _asked(request, tables)
    if may_edit(request, bench):
        if request.POST.get("show") == "yes":
            bench.shows_values.add(table.name)
            bench.edits.note_shown(table.name)
            bench.tell(
                _("Values of %s are shown until you leave this place. It is noted.") % table.name
            )
        else:
            bench.shows_values.discard(table.name)
    return HttpResponseRedirect(_address(tables.index(table)))


@project_view("data")
def column(request: HttpRequest, bench: Bench, number: int) -> HttpResponse:
    """One column: its hierarchy and its recipe, tried before they are taken."""
    at, table, name = _column(request, bench, number)
    levels: list[LevelAlone] = []
    steps: tuple[StepCount, ...] = ()
    # Posted, though nothing is changed: what means missing is a value, and must be in no address.
    given, error = request.POST.dict(), ""
    quasi = None if table.said is None else table.said.quasi_identifiers.get(name)
    spec = None
    try:
        bars = given.get("bracket", "")
        if given.get("levels") == "width" and not given.get("steps") and bars.isdecimal():
            (width,) = table.bracket(name, int(bars[:3])).widths
            given["steps"] = width if isinstance(width, str) else f"{width:g}"
        spec = column_edits.hierarchy_of(bench.place, given, name) or (
            None if quasi is None else quasi.hierarchy
        )
        if spec is not None:
            levels = table.levels(name, spec)
        line = column_edits.recipe_of(given, name)
        if line is not None:
            steps = table.changes(name, line)
    except SfumatoError as refused:
        error = str(refused)
    bars = table.histogram(name)
    shown = table.name in bench.shows_values
    people = table.alone.value.people or 1
    return page(
        request, bench, "data", "workbench/column.html",
        table=table, at=at, number=number, name=name,
        role=table.role(name),
        picture=charts.histogram(
            bars, _("Records by value of %s") % name, values=shown,
            brackets=table.brackets(name, spec) if spec is not None else (),
        ),
        levels=[
            (
                level.level, level.groups,
                "" if level.alone is None else share_text(level.alone.alone / people),
            )
            for level in levels
        ],
        steps=steps, fewest=FEWEST, error=error, given=given, shown=shown,
        values=table.values(name) if shown else [],
        held=table.profile.columns.get(name), bars=BARS if table.ends(name) else 0,
    )  # fmt: skip


@require_POST
@project_view("data")
def take_hierarchy(request: HttpRequest, bench: Bench, number: int) -> HttpResponse:
    """Take the hierarchy that was tried."""
    at, table, name = _column(request, bench, number)
    spec = column_edits.hierarchy_of(bench.place, request.POST, name)
    if spec is None and request.POST.get("levels"):
        raise InputError(
            f"hierarchy of column '{name}'", "must have steps, or a file", found="neither"
        )
    if spec is not None:
        table.levels(name, spec)  # one that cannot be made is refused here, not by the next run
    change = column_edits.set_hierarchy(bench.place, name, spec, table.section)
    words = _("Hierarchy of %s") % name
    return edited(request, bench, change, words, to=_address(at, number))


@require_POST
@project_view("data")
def take_recipe(request: HttpRequest, bench: Bench, number: int) -> HttpResponse:
    """Take the line of the recipe that was tried."""
    at, table, name = _column(request, bench, number)
    line = column_edits.recipe_of(request.POST, name)
    change = column_edits.set_recipe(bench.place, name, line, table.section)
    words = _("Recipe of %s") % name
    return edited(request, bench, change, words, to=_address(at, number))
