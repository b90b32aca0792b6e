"""What only a person can say of a project: few questions, each made from a measured effect.

Yes and *I do not know* are the same answer, the careful one. A *No* needs a name, a reason and a
day, and is an acceptance in the project file. What was answered stands under ``[project.reasons]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import tomlkit
from django.utils.translation import gettext as _

from sfumato.core.errors import InputError
from sfumato.core.number_text import share_text
from sfumato.pipeline.acceptances import noting
from sfumato.pipeline.project_folder import ProjectFolder
from sfumato.pipeline.project_model import Answered
from sfumato.schema import Schema
from sfumato.schema.roles import TableSchema
from sfumato.server.workbench.column_edits import EVENT, ROLES, set_key, set_recipe, set_role
from sfumato.server.workbench.column_figures import TableFigures, found_there
from sfumato.server.workbench.project_edits import Change, table_at
from sfumato.table.contents import Content
from sfumato.table.table_keys import Reference

OF_A_FILE, OF_A_PROJECT = 3, 5
"""Questions that are asked at most."""
_REFERS = "refers to {}"
"""The reason of a key, with the table: of one that leads elsewhere since it says nothing."""
WORTH = 0.01
"""Share of the people more who are alone, from which a column is worth a question."""
YES, NO = "yes", "no"
MEMBERSHIP = "people in this file"
"""What the answer about who is in the file is called among the reasons."""


@dataclass(frozen=True)
class Question:
    """A question.

    Attributes
    ----------
    about
        The column, or `MEMBERSHIP`.
    effect
        What the answer changes, measured.
    kind
        ``role``: which role the column has; ``known``: whether it may be known, so that it is a
        quasi-identifier; ``value``: whether a sensitive value may be known; ``member``.
        ``person``: whether the column says whose record it is; ``key``: whether it refers to what
        another table is about.
    weight
        How much more is found if the answer is yes: the largest is asked first.
    table
        The table that it is about.
    column
        The column; what it is called with its table is `about`.
    together
        Columns that the answer is for, too.
    readings
        Ways to read the column, of which one is an answer as a role is.
    """

    about: str
    text: str
    effect: str
    kind: str
    weight: float
    table: TableFigures | None = None
    column: str = ""
    together: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()


def questions_of(
    place: ProjectFolder, tables: list[TableFigures], references: Sequence[Reference] = ()
) -> list[Question]:
    """The questions that are open, the weightiest first; all others wait for those about keys.

    Parameters
    ----------
    references
        What refers to the keys of other tables.
    """
    if place.given_schema() is None:
        return []
    answered = set(place.project.about.reasons)
    waiting = open_keys(place)
    found = _of_keys(tables, [e for e in references if f"{e.table}.{e.column}" in waiting])
    if found:
        return found
    for table in tables:
        own = [each for each in _of_table(place, table) if each.about not in answered]
        own.sort(key=lambda each: -each.weight)
        found += own[:OF_A_FILE]
    asked = {each.about: each for each in reversed(found)}
    left = sorted(asked.values(), key=lambda each: -each.weight)
    of_keys = {f"{each.table}.{each.column}" for each in references}
    done = len(answered - of_keys - {MEMBERSHIP})
    open_ = left[: max(OF_A_PROJECT - 1 - done, sum(each.kind == "role" for each in left))]
    if MEMBERSHIP not in answered and place.project.accept.acquaintance is None:
        open_.append(
            Question(
                MEMBERSHIP,
                _("Could someone know that a given person is in this file?"),
                _("If yes, the limits hold for an acquaintance, too."),
                "member",
                0.0,
            )
        )
    return open_


def open_keys(place: ProjectFolder) -> set[str]:
    """The references of which nobody has said that they are right, as they are now."""
    given, reasons = place.given_schema(), place.project.about.reasons
    return {
        f"{name}.{column}"
        for name, table in ({} if given is None else given.tables).items()
        for column, to in table.of.items()
        if reasons.get(f"{name}.{column}") != _REFERS.format(to)
    }


def _of_keys(tables: list[TableFigures], references: Sequence[Reference]) -> list[Question]:
    table_of, found = {table.name: table for table in tables}, []
    for each in references:
        table = table_of[each.table]
        records = len(table.columns)
        effect = _("Found there: %(there)s of %(records)s records.") % {
            "there": found_there(each, records),
            "records": f"{records:,}",
        }
        about = table.called(each.column)
        text = _("Does %(column)s say to which record of %(table)s a record belongs?") % {
            "column": about,
            "table": each.to,
        }
        found.append(Question(about, text, effect, "key", 3.0, table, each.column))
    return found


def _of_table(place: ProjectFolder, table: TableFigures) -> list[Question]:
    schema = table.said
    assert schema is not None
    alone = table.alone.value
    people = alone.people or 1
    found = [
        _of_role(table, name, text)
        for name, text in schema.undecided.items()
        if name in table.names
    ]
    found += _of_person(table, alone.people)
    accepted = {column for _row, column in place.project.accept.by_row}
    for name, more in table.effects.items():
        share = more / people
        about = table.called(name)
        if name not in table.names or share < WORTH or about in accepted:
            continue
        effect = _("With it %(more)s of people are alone, without it %(now)s.") % {
            "more": share_text((alone.alone + more) / people),
            "now": share_text(alone.alone / people),
        }
        if name in schema.sensitive:
            text = _("Could someone know a value of the person in %s?") % about
            found.append(Question(about, text, effect, "value", share, table, name))
        elif name in schema.insensitive:
            text = _("Could someone know %s of a person, as they know age or sex?") % about
            found.append(Question(about, text, effect, "known", share, table, name))
    return found


def _of_role(table: TableFigures, name: str, text: str) -> Question:
    asked, left_out = table.guess.questions, set[str]()
    if isinstance(table.said, Schema) and asked.get(name) == text:
        left_out = set(table.said.direct_identifiers)
    together = tuple(each for each in table.guess.together.get(name, ()) if each in left_out)
    choices = table.guess.choices(name) if asked.get(name) == text else ()
    readings = tuple(each for each in choices if each not in ROLES)
    effect = _("Until it is answered, it is left out.")
    about = table.called(name)
    return Question(about, f"{about}: {text}", effect, "role", 2.0, table, name, together, readings)


def _of_person(table: TableFigures, people: int | None) -> list[Question]:
    """Where another number counts other people: whether that says whose record it is.

    Of a household or a hospital there are fewer than people, and that is no doubt.
    """
    schema, records = table.said, len(table.columns)
    if not isinstance(schema, Schema) or people is None:
        return []
    person = schema.person if schema.person in table.names else None
    found = []
    for name in schema.direct_identifiers:
        held = table.profile.columns.get(name)
        if held is None or held.content is not Content.IDENTIFIER or name not in table.names:
            continue
        different = len(table.columns.column(name).combine_chunks().dictionary)
        if different > people if people < records else different < records:
            effect = _("By %(name)s there are %(n)s people, by %(person)s there are %(people)s.")
            if person is None:
                effect = _(
                    "No column says whose record it is, so that each counts as a person. "
                    "By %(name)s there are %(n)s people."
                )
            effect %= {
                "person": person,
                "name": name,
                "n": f"{different:,}",
                "people": f"{people:,}",
            }
            text = _("Does %s say whose record it is?") % name
            found.append(Question(name, text, effect, "person", 2.5, table, name))
    return found


def answer(place: ProjectFolder, question: Question, said: str, given: dict[str, str]) -> Change:
    """The edit that an answer makes.

    Parameters
    ----------
    said
        ``yes``, ``no``, or for the role of a column the role.
    given
        Of a *No*: ``by``, ``because`` and ``until``.

    Raises
    ------
    InputError
        If a *No* has no name, reason or day.
    """
    careful, table = said != NO, question.table
    section = () if table is None else table.section
    if question.kind == "role":
        return _with_reason(_of_choice(place, question, said, section), question.about, said)
    if question.kind == "person":
        nothing: Change = lambda _document: None  # noqa: E731 - an edit like the other
        taken = set_role(place, question.column, "person") if careful else nothing
        return _with_reason(taken, question.about, "whose record it is" if careful else "no person")
    if question.kind == "key" and not careful:
        assert table is not None
        if given.get("column") not in table.names or given["column"] == question.column:
            raise InputError(_("The answer No"), _("must say which column it is instead"))
        return set_key(place, table.name, question.column, given["column"])
    if careful:
        taken = lambda _document: None  # noqa: E731 - an edit like the other
        if question.kind == "known":
            known = "quasi-identifier" if table is None or table.known else EVENT
            taken = set_role(place, question.column, known, section=section)
        reason = "may be known"
        if question.kind == "key":
            assert table is not None
            assert isinstance(table.said, TableSchema)
            reason = _REFERS.format(table.said.of[question.column])
        return _with_reason(taken, question.about, reason)
    accepted, row = _no_of(given), ("insider", question.about)
    noted = noting({("acquaintance", "") if question.kind == "member" else row: accepted})
    return _with_reason(noted, question.about, accepted.because)


def _of_choice(
    place: ProjectFolder, question: Question, said: str, section: tuple[str, ...]
) -> Change:
    """The edit that gives a column, and those alike, the role or the reading that is chosen."""
    assert question.table is not None
    changes = []
    for name in (question.column, *question.together):
        role = said
        if said in question.readings:
            read = question.table.guess.answered({question.column: said})
            role = next(role for role, names in read.roles().items() if name in names)
            changes.append(set_recipe(place, name, read.recipe.get(name), section))
        changes.append(set_role(place, name, role, section=section))

    def every(document: tomlkit.TOMLDocument) -> None:
        for change in changes:
            change(document)

    return every


def _no_of(given: dict[str, str]) -> Answered:
    for name, what in (("by", _("who decides")), ("because", _("why it cannot be known"))):
        if not given.get(name, "").strip():
            raise InputError(_("The answer No"), _("must say %s") % what)
    try:
        until = date.fromisoformat(given.get("until", ""))
    except ValueError:
        raise InputError(
            _("The answer No"), _("must say until which day it holds"), accepted="YYYY-MM-DD"
        ) from None
    return Answered(by=given["by"].strip(), because=given["because"].strip(), until=until)


def _with_reason(change: Change, about: str, reason: str) -> Change:
    def both(document: tomlkit.TOMLDocument) -> None:
        change(document)
        table_at(document, "project", "reasons")[about] = reason

    return both
