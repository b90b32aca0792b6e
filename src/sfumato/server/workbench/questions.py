"""What only a person can say of a project: few questions, each made from a measured effect.

Yes and *I do not know* are the same answer, the careful one. A *No* needs a name, a reason and a
day, and is an acceptance in the project file. What was answered stands under ``[project.reasons]``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import tomlkit
from django.utils.translation import gettext as _

from sfumato.core.errors import InputError
from sfumato.pipeline.acceptances import noting
from sfumato.pipeline.project_folder import ProjectFolder
from sfumato.pipeline.project_model import Answered
from sfumato.risk.verdict import share_text
from sfumato.server.workbench.column_edits import set_role
from sfumato.server.workbench.column_figures import TableFigures
from sfumato.server.workbench.project_edits import Change, table_at

OF_A_FILE, OF_A_PROJECT = 3, 5
"""Questions that are asked at most."""
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
    weight
        How much more is found if the answer is yes: the largest is asked first.
    """

    about: str
    text: str
    effect: str
    kind: str
    weight: float


def questions_of(place: ProjectFolder, tables: list[TableFigures]) -> list[Question]:
    """The questions that are open, the weightiest first."""
    schema = place.given_schema()
    if schema is None:
        return []
    answered = set(place.project.about.reasons)
    found: list[Question] = []
    for table in tables:
        own = [each for each in _of_table(place, table) if each.about not in answered]
        own.sort(key=lambda each: -each.weight)
        found += own[:OF_A_FILE]
    asked = {each.about: each for each in reversed(found)}
    left = sorted(asked.values(), key=lambda each: -each.weight)
    done = len([name for name in answered if name != MEMBERSHIP])
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


def _of_table(place: ProjectFolder, table: TableFigures) -> list[Question]:
    schema = place.given_schema()
    assert schema is not None
    alone = table.alone.value
    people = alone.people or 1
    found = [
        Question(name, text, _("Until it is answered, it is left out."), "role", 2.0)
        for name, text in schema.undecided.items()
        if name in table.names
    ]
    accepted = {column for _row, column in place.project.accept.by_row}
    for name, more in table.effects.items():
        share = more / people
        if name not in table.names or share < WORTH:
            continue
        effect = _("With it %(more)s of people are alone, without it %(now)s.") % {
            "more": share_text((alone.alone + more) / people),
            "now": share_text(alone.alone / people),
        }
        if name in schema.sensitive and name not in accepted:
            text = _("Could someone know a value of the person in %s?") % name
            found.append(Question(name, text, effect, "value", share))
        elif name in schema.insensitive and name not in accepted:
            text = _("Could someone know %s of a person, as they know age or sex?") % name
            found.append(Question(name, text, effect, "known", share))
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
    careful = said != NO
    if question.kind == "role":
        return _with_reason(set_role(place, question.about, said), question.about, said)
    if careful:
        taken: Change = lambda _document: None  # noqa: E731 - an edit like the other
        if question.kind == "known":
            taken = set_role(place, question.about, "quasi-identifier")
        return _with_reason(taken, question.about, "may be known")
    accepted, row = _no_of(given), ("insider", question.about)
    noted = noting({("acquaintance", "") if question.kind == "member" else row: accepted})
    return _with_reason(noted, question.about, accepted.because)


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
