"""Budgets follow people: changed files of the same people draw on the same budget."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest
from same_people import Rows, a_tenth_other, any_letter, of_the_name, other_order, people
from server import forked
from server.clinic import Browser, account, consented, review_project
from server.servers import postgresql

from sfumato.ledger.record_sketches import sketch_records
from sfumato.review.review_settings import Attribute, AttributeKind
from sfumato.server.boot import boot
from sfumato.server.config import ServerConfig

NAMES = ("given", "family", "born", "town", "code", "sex")
COLUMNS = tuple(Attribute(name=name, kind=AttributeKind.VARIABLE) for name in NAMES)
COUNT, BUDGET = 200, 0.05
CHANGES: tuple[Callable[[Rows], Rows], ...] = (
    any_letter,
    of_the_name,
    other_order,
    a_tenth_other,
)


class Team:
    """A custodian, a manager, a worker, and the projects that they make."""

    def __init__(self) -> None:
        self.carol, self.mark = account("carol", "custodian"), account("mark", "manager")
        self.wanda = account("wanda", "worker")

    def project(self, rows: Rows, manifest: str = "") -> Any:
        """A project of a file, which its manifest may know by some digest."""
        from server.dealt import deal

        from sfumato.server.live.new_projects import make_project

        texts = [tuple(None if value is None else str(value) for value in row) for row in rows]
        pairs = [(at, at + 1) for at in range(0, 20, 2)]
        made = review_project(texts, pairs, COLUMNS, k=1, budget=BUDGET)
        made = replace(made, fingerprints={"clinic": manifest} if manifest else {})
        project = make_project(made, title="Clinics", custodian=self.carol, manager=self.mark)
        consented(project)
        deal(project, self.wanda, range(len(pairs)))
        return project

    def spend(self, project: Any) -> float:
        """Open what can be opened, and tell what was spent of it in this project."""
        from sfumato.server.store.models import Allowance

        browser = Browser(self.wanda, project)
        browser.get()
        for token in browser.tokens():
            for place in range(len(NAMES)):
                browser.open(token, [place], 2)
        return float(Allowance.objects.get(project=project, worker=self.wanda).spent)


def spent_of_changed_files() -> dict[str, float]:
    """What is spent of the first file, then of each that has its people, then of others."""
    team, rows = Team(), people(COUNT, 1)
    spent = {"first": team.spend(team.project(rows, "5f0c"))}
    spent["a digit of the manifest"] = team.spend(team.project(rows, "5f0d"))
    for change in CHANGES:
        spent[change.__name__] = team.spend(team.project(change(rows), change.__name__))
    spent["others"] = team.spend(team.project(people(COUNT, 2), "0000"))
    return spent


def check_spent(spent: dict[str, float]) -> None:
    first, others = spent.pop("first"), spent.pop("others")
    assert 0.5 * BUDGET < first <= BUDGET
    assert 0.5 * BUDGET < others <= BUDGET
    assert len(spent) == 1 + len(CHANGES)
    for name, more in spent.items():
        assert first + more <= BUDGET + 1e-9, name
    assert first + sum(spent.values()) <= BUDGET + 1e-9


def found() -> tuple[str, ...]:
    from sfumato.server.audit_log import verify

    verdict = verify()
    return (verdict.fault, *verdict.differences)


def test_the_same_people_draw_on_the_same_budget_and_others_on_a_fresh_one() -> None:
    check_spent(spent_of_changed_files())
    assert found() == ("",)


def main(job: dict[str, Any]) -> tuple[dict[str, float], tuple[str, ...]]:
    """The same on a database of its own."""
    boot(ServerConfig(Path(job["data"]), Path(job["keys"]), job["database"]))
    return spent_of_changed_files(), found()


@pytest.mark.slow
def test_the_same_people_draw_on_the_same_budget_on_postgresql(tmp_path: Path) -> None:
    job = {name: str(tmp_path / name) for name in ("data", "keys")}
    try:
        job["database"] = postgresql()
    except ImportError:
        pytest.skip("the wheel with PostgreSQL is not installed")
    spent, verdict = forked.answer(main, job)
    check_spent(spent)
    assert verdict == ("",)


def made_at_once(job: dict[str, Any]) -> list[str]:
    """The sources of two projects of the same people, the second made before the first is there."""
    from django.db import connections, transaction

    boot(ServerConfig(Path(job["data"]), Path(job["keys"]), job["database"]))
    from sfumato.server.audit_log import append
    from sfumato.server.live.new_projects import _source_of

    columns = [pa.chunked_array([each]) for each in zip(*people(COUNT, 1), strict=True)]
    people_of = [sketch_records(columns, b"key" * 9).to_bytes()]
    found: list[str] = []

    def make(own: str, other: Thread | None = None) -> None:
        with transaction.atomic():
            source, rows = _source_of(own, people_of)
            if other:
                other.start()
                other.join(1)  # as long as it takes where nothing has it wait
            append(None, "make", own, rows=rows)
        found.append(source)
        connections.close_all()

    second = Thread(target=make, args=("second",))
    make("first", second)
    second.join()
    return found


@pytest.mark.slow
def test_projects_made_at_once_are_of_one_source_on_postgresql(tmp_path: Path) -> None:
    job = {name: str(tmp_path / name) for name in ("data", "keys")}
    try:
        job["database"] = postgresql()
    except ImportError:
        pytest.skip("the wheel with PostgreSQL is not installed")
    assert forked.answer(made_at_once, job) == ["first", "first"]


def test_people_of_two_sources_make_one_of_them() -> None:
    from sfumato.server.store.models import Spent

    team, one, two = Team(), people(COUNT, 1), people(COUNT, 2)
    first, second = team.project(one), team.project(two)
    spent = [team.spend(each) for each in (first, second)]
    assert first.fingerprint != second.fingerprint
    both = team.project([*one[: COUNT // 2], *two[: COUNT // 2]])
    assert Spent.objects.count() == 1
    assert Spent.objects.get().score == pytest.approx(sum(spent))
    assert team.spend(both) == 0
    for each in (first, second):
        each.refresh_from_db()
        assert each.fingerprint == both.fingerprint
    assert team.spend(team.project(two)) == 0
    assert found() == ("",)


def test_people_of_projects_of_an_earlier_version_are_known() -> None:
    from server.people import said

    from sfumato.server.audit_log import append
    from sfumato.server.stated_rows import gone
    from sfumato.server.store.models import SourceSketch

    team, rows = Team(), people(COUNT, 1)
    first = team.project(rows)
    said(first)
    append(None, "state", "rows", rows=gone(SourceSketch.objects.all()))
    SourceSketch.objects.all().delete()
    assert team.project(any_letter(rows)).fingerprint == first.fingerprint


def test_people_of_an_earlier_project_without_its_files_are_nobody_elses() -> None:
    from server.people import said

    from sfumato.core.errors import InputError
    from sfumato.server.audit_log import append
    from sfumato.server.custodian.project_grants import purge
    from sfumato.server.live.live_projects import remove_files
    from sfumato.server.stated_rows import gone
    from sfumato.server.store.models import Project, SourceSketch

    team, rows = Team(), people(COUNT, 1)
    first = team.project(rows)
    said(first)
    append(None, "state", "rows", rows=gone(SourceSketch.objects.all()))
    SourceSketch.objects.all().delete()
    remove_files(first.pk)
    with pytest.raises(InputError, match=str(first.pk)):
        team.project(any_letter(rows))
    assert Project.objects.count() == 1
    purge(None, first.pk)
    team.project(any_letter(rows))


def _removed() -> None:
    from sfumato.server.store.models import SourceSketch

    SourceSketch.objects.all().delete()


def _emptied() -> None:
    from sfumato.server.store.models import SourceSketch

    SourceSketch.objects.update(sketch=b"\xff" * 8)


def _renamed() -> None:
    from sfumato.server.store.models import SourceSketch

    SourceSketch.objects.update(fingerprint="f" * 64)


@pytest.mark.parametrize("edit", [_removed, _emptied, _renamed])
def test_an_edited_sketch_gives_no_fresh_budget(edit: Callable[[], None]) -> None:
    from sfumato.server.error_pages import Stop
    from sfumato.server.store.models import Project

    team, rows = Team(), people(COUNT, 1)
    team.project(rows)
    edit()
    with pytest.raises(Stop, match="source_sketch"):
        team.project(any_letter(rows))
    assert Project.objects.count() == 1
    assert any("source_sketch" in each for each in found())
