"""Small projects for the tests of the server: tables, pairs, accounts, browsers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.review.review_project import Project as ReviewProject
from sfumato.review.review_settings import Attribute, AttributeKind, NamePart, Settings

GIVEN = Attribute(name="given", kind=AttributeKind.VARIABLE, name_part=NamePart.GIVEN, rarity=True)
FAMILY = Attribute(
    name="family", kind=AttributeKind.VARIABLE, name_part=NamePart.FAMILY, rarity=True
)
BORN = Attribute(name="born", kind=AttributeKind.DATE)
SEX = Attribute(name="sex", kind=AttributeKind.CATEGORY)
CODE = Attribute(name="code", kind=AttributeKind.FIXED)
ATTRIBUTES = (GIVEN, FAMILY, BORN, SEX, CODE)
ROLES = ("custodian", "manager", "worker", "auditor")

Rows = Sequence[tuple[str | None, ...]]

PEOPLE: Rows = (
    ("Anna", "Keller", "1980-01-02", "f", "12345"),
    ("Anne", "Keller", "1980-02-01", "f", "12345"),
    ("Bernd", "Maier", "1971-05-06", "m", "55510"),
    ("Bernd", "Mayer", "1971-05-06", "m", "55501"),
    ("Maier", "Bernd", "1971-05-06", "m", None),
    ("Carla", "Zoltan", "1990-12-31", "f", "99999"),
    ("Carla", "Novak", None, "f", "88888"),
    ("Anna", "Keller", "1980-01-02", "f", "12354"),
)
PAIRS = ((0, 1), (2, 3), (2, 4), (5, 6), (0, 7), (3, 4))


def review_project(
    rows: Rows = PEOPLE,
    pairs: Sequence[tuple[int, int]] = PAIRS,
    attributes: Sequence[Attribute] = ATTRIBUTES,
    gold: Mapping[str, bool] | None = None,
    **settings: Any,
) -> ReviewProject:
    """A review's project from rows and pairs of their numbers."""
    text = pa.large_string()
    columns: dict[str, pa.Array] = {
        "source": pa.array(["clinic"] * len(rows), text),
        "id": pa.array([f"r{number}" for number in range(len(rows))], text),
    }
    for place, each in enumerate(attributes):
        columns[each.name] = pa.array([row[place] for row in rows], text)
    numbers = np.array(pairs, dtype=np.int64)
    ids = pa.array([f"p{number}" for number in range(len(pairs))], pa.string())
    return ReviewProject(
        attributes=tuple(attributes),
        settings=Settings(**{"budget": None} | settings),
        records=pa.table(columns),
        pairs=pa.table({"pair": ids, "left": numbers[:, 0], "right": numbers[:, 1]}),
        gold=dict(gold or {}),
    )


def values_in(text: str, rows: Rows = PEOPLE) -> list[str]:
    """Values of records that a text holds; digits count where they are a number of their own.

    Five digits may well be part of a cost or of a random id.
    """
    values = sorted({value for row in rows for value in row if value and len(value) > 1})
    return [
        value
        for value in values
        if (re.search(rf"(?<![\w.-]){value}(?![\w.-])", text) if value.isdigit() else value in text)
    ]


def account(name: str, *roles: str) -> Any:
    """An account; its password is none."""
    from sfumato.server.accounts.sessions import make_account

    return make_account(name, None, roles)


def staff() -> tuple[Any, Any, Any]:
    """A custodian, a manager, a worker."""
    return account("carol", "custodian"), account("mark", "manager"), account("wanda", "worker")


def consented(project: Any) -> Any:
    """A project whose custodian accepted what is proposed."""
    from sfumato.server.custodian.consent import answer

    proposal = project.proposals.get(state="open")
    answer(project.custodian, project.pk, proposal.pk, accepts=True)
    project.refresh_from_db()
    return project


def stored(
    project: ReviewProject | None = None,
    *,
    pairs: Sequence[int] | None = None,
    people: tuple[Any, Any, Any] | None = None,
    **fields: Any,
) -> tuple[Any, Any]:
    """A project in the database, all its pairs dealt to one worker: the project, the worker."""
    from server.dealt import deal

    from sfumato.server.live.new_projects import make_project

    project = project or review_project()
    custodian, manager, worker = people or staff()
    made = make_project(project, title="Clinics", custodian=custodian, manager=manager, **fields)
    consented(made)
    deal(made, worker, range(len(project.pairs)) if pairs is None else pairs)
    return made, worker


class Browser:
    """A browser in which an account has logged in; it asks as the page's script does."""

    def __init__(self, who: Any, project: Any) -> None:
        from django.test import Client

        self.project = project
        self.client = Client(SERVER_NAME="localhost")
        self.client.force_login(who, backend="sfumato.server.accounts.backend.AccountBackend")
        self.bytes: list[bytes] = []

    def get(self, tail: str = "", **query: Any) -> Any:
        answer = self.client.get(f"/projects/{self.project.id}/pairs{tail}", query)
        self.bytes.append(answer.content)
        return answer

    def post(self, token: str, verb: str, **data: Any) -> Any:
        answer = self.client.post(
            f"/projects/{self.project.id}/pairs/{token}/{verb}",
            data,
            headers={"accept": "application/json"},
        )
        self.bytes.append(answer.content)
        return answer

    def open(self, token: str, places: Sequence[int], mode: int) -> Any:
        return self.post(token, "open", open=f"{','.join(map(str, places))}:{mode}")

    def tokens(self) -> list[str]:
        """The tokens of all pairs, in their order."""
        from sfumato.server.store.models import Dealt

        dealt = Dealt.objects.filter(project=self.project, taken_back__isnull=True)
        worker = self.client.session["_auth_user_id"]
        return list(dealt.filter(worker=worker).order_by("place").values_list("token", flat=True))


def body(answer: Any) -> dict[str, Any]:
    """The answer to a script, checked."""
    assert answer.status_code == 200, (answer.status_code, answer.content[:300])
    return dict(json.loads(answer.content))
