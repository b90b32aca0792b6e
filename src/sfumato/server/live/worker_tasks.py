"""A worker's tasks: pairs dealt, rows locked, the state that a click changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from sfumato.review.disclosure_account import kapr_of
from sfumato.review.review_settings import Mode
from sfumato.review.worker_state import Charge, CombinedState, Refusal, WorkerState
from sfumato.server.audit_log import append
from sfumato.server.error_pages import Stop
from sfumato.server.live import live_projects
from sfumato.server.permissions import Action, decide, know_member
from sfumato.server.proofs import check_all, check_none, check_proved, check_stated, proofs
from sfumato.server.stated_rows import Stated, added, added_digits, stated
from sfumato.server.store.models import (
    Account,
    Allowance,
    Dealt,
    Member,
    Project,
    Spent,
    StoredPair,
)
from sfumato.server.store.statements import Statement, ask, columns, instance, locks_rows, value


def admit(project: Project, worker: Account, most: int, by: Account | None = None) -> None:
    """Let a worker take up to so many pairs from the queue, those that they have included.

    Parameters
    ----------
    most
        What is shown is a share of the rows of so many pairs, so that they are never fewer than
        before.
    """
    with transaction.atomic():
        # Before anything is read: whoever opens cells changes what is read.
        _lock(project)
        rows: list[Stated] = []
        member, new = Member.objects.get_or_create(project=project, account=worker)
        rows += [stated(member)] if new else []
        allowance, new = _allowance(project, worker, live_projects.settings_of(project).budget)
        if new:
            rows.append(stated(allowance))
        else:
            check_stated(allowance)
        _mine(project, worker)
        rows += _resized(allowance, max(2 * most, allowance.rows))
        detail = {"worker": worker.pseudonym, "pairs": allowance.rows // 2}
        append(by or project.manager, "admit", f"project {project.id}", detail, rows=rows)


def take_back(
    project: Project, worker: Account, late: QuerySet[Dealt], by: Account | None = None
) -> int:
    """Take pairs from a worker, who gets no others until the queue is opened to them again."""
    with transaction.atomic():
        _lock(project)
        allowance = Allowance.objects.select_for_update().get(project=project, worker=worker)
        check_stated(allowance)
        _mine(project, worker)
        count = len(give_back(late, by or project.manager))
        detail, rows = {"worker": worker.pseudonym}, _resized(allowance, 0)
        append(by or project.manager, "close queue", f"project {project.id}", detail, rows=rows)
    return count


def give_back(late: QuerySet[Dealt], by: Account | None) -> list[int]:
    """Take pairs from who has not decided them: their numbers; what was shown stays charged."""
    found = list(late.select_related("pair", "worker"))
    if not found:
        return []
    now = timezone.now()
    for dealt in found:
        check_proved(dealt)
        dealt.taken_back = now
    Dealt.objects.bulk_update(found, ["taken_back"], batch_size=500)
    rows = [stated(dealt, "taken_back") for dealt in found]
    count = Counter(dealt.worker.pseudonym for dealt in found)
    append(by, "take back", f"project {found[0].project_id}", {"pairs": dict(count)}, rows=rows)
    return [dealt.pair.number for dealt in found]


def counted(project: Project, worker: Account) -> Q:
    """Which dealt pairs are part of a worker's task: those they have, and those they have seen.

    A pair that was taken back before it was shown is no part of it, so that nobody's budget
    grows by pairs that are dealt and taken back.
    """
    there = Q(taken_back__isnull=True) | Q(shown__isnull=False)
    return Q(project=project, worker=worker) & there


def _mine(project: Project, worker: Account) -> QuerySet[Dealt]:
    """A worker's pairs, all as the log states: a charge is a share of them."""
    mine = Dealt.objects.filter(project=project, worker=worker)
    check_all(mine, _SHOWN, project_id=[str(project.pk)], worker_id=[worker.pk])
    return mine


def _lock(project: Project) -> None:
    """Wait for whoever opens cells in the project; they lock in the same order."""
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)


def _resized(allowance: Allowance, least: int) -> list[Stated]:
    """Give a task so many rows, or those that it has where these are more.

    With fewer of them, what was shown is a larger share.
    """
    project, worker = allowance.project, allowance.worker
    rows = max(least, 2 * Dealt.objects.filter(counted(project, worker)).count())
    rules = live_projects.settings_of(project)
    score = float(kapr_of(allowance.units, rules.k, rows or 1, len(project.attributes)))
    # What was charged never falls: KAPR of the same openings rises as rows get fewer.
    more = max(0.0, score - allowance.spent)
    spent, new = _spent(project, worker)
    told = [stated(spent)] if new else []
    if not new:
        check_stated(spent)
    if more:
        spent.score += more
        spent.save(update_fields=["score"])
    told += [
        added(allowance, rows=rows - allowance.rows, spent=more, version=1),
        added(spent, score=more),
    ]
    allowance.rows, allowance.spent = rows, allowance.spent + more
    allowance.version += 1
    allowance.save(update_fields=["rows", "spent", "version"])
    return told


def _allowance(project: Project, account: Account, budget: float | None) -> tuple[Allowance, bool]:
    """What somebody may be shown of a project, locked, and whether it is new."""
    found, new = Allowance.objects.select_for_update().get_or_create(
        project=project, worker=account, defaults={"budget": budget}
    )
    if new:
        # Its budget is the project's.
        check_stated(project, "settings")
        check_none(found, project_id=str(project.pk), worker_id=account.pk)
    return found, new


def _spent(project: Project, account: Account) -> tuple[Spent, bool]:
    """What somebody was shown of a project's source, locked, and whether it is new."""
    source = {"fingerprint": project.fingerprint, "worker": account.pseudonym}
    found, new = Spent.objects.select_for_update().get_or_create(**source)
    if new:
        check_none(found, **source)
    return found, new


def state_of(
    live: live_projects.Live, project: Project, worker: Account, allowance: Allowance, versions: int
) -> live_projects.KeptState:
    """The state of a worker, of the version that the database has.

    Parameters
    ----------
    versions
        The sum of the versions of all allowances of the project, read in the same.
    """
    combined = _combined(live, project, versions)
    held = live.workers.get(worker.pk)
    if held is None or held.version != allowance.version:
        check_proved(allowance)
        held = live_projects.KeptState(
            allowance.version, _restored(live, project, worker, allowance, combined)
        )
        live.workers[worker.pk] = held
    return held


def modes_text(modes: tuple[Mode, ...]) -> str:
    """The modes of a pair as `Dealt` has them: one digit each."""
    return "".join(str(int(mode)) for mode in modes)


_SHOWN = ("worker_id", "pair_id", "taken_back", "shown", "modes")
"""Of dealt pairs, what a state in memory is made of."""


def _combined(live: live_projects.Live, project: Project, versions: int) -> CombinedState:
    """What all workers have been shown; states that were added to an older one go with it."""
    if live.combined is None or live.combined_version != versions:
        # States hold what they added to the combined one: with another one they count nothing.
        live.workers.clear()
        combined = CombinedState(live.review, project.rows)
        dealt = Dealt.objects.filter(project=project)
        check_all(dealt, _SHOWN, project_id=[str(project.pk)])
        shown = dealt.exclude(modes="")
        for key, pair, modes in shown.values_list("pair_id", "pair__number", "modes"):
            live.check_pair(key, pair)
            combined.take(pair, read_modes(modes))
        live.combined, live.combined_version = combined, versions
    return live.combined


def _restored(
    live: live_projects.Live,
    project: Project,
    worker: Account,
    allowance: Allowance,
    combined: CombinedState,
) -> WorkerState:
    dealt = _mine(project, worker).filter(counted(project, worker)).order_by("place")
    pairs = {}
    for key, pair, modes in dealt.values_list("pair_id", "pair__number", "modes"):
        live.check_pair(key, pair)
        pairs[pair] = modes
    return WorkerState.restored(live.review, plain_state(pairs, allowance.rows), combined)


def plain_state(pairs: Mapping[int, str], rows: int) -> dict[str, Any]:
    """Pairs with what was shown of them, and rows, as `WorkerState.restored` takes them."""
    modes = {str(pair): modes for pair, modes in pairs.items() if modes}
    return {"pairs": list(pairs), "rows": rows, "modes": modes}


def read_modes(text: str) -> tuple[Mode, ...]:
    """The modes of a pair, of what `modes_text` gave."""
    return tuple(Mode(int(digit)) for digit in text)


_PROJECT = (
    # In the order of the model, as Django reads them.
    *("id", "title", "state", "custodian_id", "manager_id", "settings", "page_size"),
    *("overlap", "gold_share", "fingerprint", "rows", "combined_units", "consent"),
)
_ALLOWANCE = ("id", "project_id", "worker_id", "rows", "units", "spent", "budget", "version")
_SPENT = ("id", "fingerprint", "worker", "score")
_DEALT = (
    *("id", "project_id", "worker_id", "pair_id", "token", "place", "taken_back", "shown"),
    *("modes", "answer", "skipped", "flagged", "note", "seconds"),
)
_PAIR = ("id", "project_id", "number")
_TASK = f"""
SELECT EXISTS (SELECT 1 FROM member m WHERE m.project_id = p.id AND m.account_id = %s),
    (SELECT SUM(v.version) FROM allowance v WHERE v.project_id = p.id),
    {columns(_PROJECT, "p")}, {columns(_ALLOWANCE, "a")},
    {columns(_SPENT, "s")}
FROM project p
LEFT JOIN allowance a ON a.project_id = p.id AND a.worker_id = %s
LEFT JOIN spent s ON s.fingerprint = p.fingerprint AND s.worker = %s
WHERE p.id = %s"""  # noqa: S608 - made of names of columns
_PAIR_OF = f"""
SELECT {columns(_DEALT, "d")}, {columns(_PAIR, "q")}
FROM dealt d JOIN pair q ON q.id = d.pair_id
WHERE d.project_id = %s AND d.worker_id = %s AND d.token = %s"""  # noqa: S608 - as above
# No key is changed, so that rows which refer to the project can be added meanwhile.
_LOCK_PROJECT = "SELECT 1 FROM project WHERE id = %s FOR NO KEY UPDATE"
_LOCK_SPENT = """
SELECT 1 FROM spent s JOIN project p ON p.fingerprint = s.fingerprint
WHERE p.id = %s AND s.worker = %s FOR UPDATE OF s"""
_STANDING = """
SELECT COUNT(*), COUNT(*) FILTER (WHERE answer <> 0), COUNT(*) FILTER (WHERE skipped),
    COUNT(*) FILTER (WHERE flagged), COUNT(*) FILTER (WHERE place < %s)
FROM dealt WHERE project_id = %s AND worker_id = %s AND taken_back IS NULL"""


@dataclass(frozen=True)
class Rows:
    """The rows of a worker's request.

    Attributes
    ----------
    project
        The project; it knows whether the worker is a member.
    allowance, spent
        The worker's, ``None`` before the first request.
    dealt
        The pair that is asked for, ``None`` where there is none.
    """

    project: Project
    versions: int
    allowance: Allowance | None
    spent: Spent | None
    dealt: Dealt | None


def read_rows(account: Account, project_id: UUID, token: str = "") -> Rows | None:
    """The rows of a worker's request, locked; ``None`` where there is no such project.

    Whoever writes an allowance or a dealt pair has the lock of their project; what was spent of
    a source may be written from another project, and is locked itself.

    Parameters
    ----------
    token
        The pair's id on the worker's page, ``""`` for none.
    """
    project, person = value(Project.id, project_id), account.pk
    statements: list[Statement] = []
    if locks_rows():
        # The locks in one order everywhere, project before source: none can wait in a circle.
        statements += [(_LOCK_PROJECT, [project]), (_LOCK_SPENT, [project, account.pseudonym])]
    statements += [
        (_TASK, [person, person, account.pseudonym, project]),
        (_PAIR_OF, [project, person, token]),
    ]
    # One trip to the database: a click asks for four things.
    *_, tasks, pairs = ask(*statements)
    return _rows(account, tasks[0], pairs) if tasks else None


def write_charge(project: Project | None, allowance: Allowance, spent: Spent) -> list[Statement]:
    """Statements that write a charge.

    Parameters
    ----------
    project
        The project, ``None`` where its combined state is what it was.
    """
    found: list[Statement] = [
        (
            "UPDATE allowance SET units = %s, spent = %s, version = %s WHERE id = %s",
            [allowance.units, allowance.spent, allowance.version, allowance.pk],
        ),
        ("UPDATE spent SET score = %s WHERE id = %s", [spent.score, spent.pk]),
    ]
    if project is not None:
        found.append(
            (
                "UPDATE project SET combined_units = %s WHERE id = %s",
                [project.combined_units, value(Project.id, project.pk)],
            )
        )
    return found


def write_shown(dealt: Dealt) -> Statement:
    """The statement that writes how much of a pair is shown, and since when."""
    shown = value(Dealt.shown, dealt.shown)
    text = "UPDATE dealt SET modes = %s, shown = %s WHERE id = %s"
    return text, [dealt.modes, shown, dealt.pk]


def count_pile(project: Project, worker: Account, place: int) -> tuple[int, ...]:
    """Numbers of a worker's pairs, of the decided, skipped and flagged ones, and of those before.

    Parameters
    ----------
    place
        Place, as it was dealt, before which pairs are counted.
    """
    ((row,),) = ask((_STANDING, [place, value(Project.id, project.pk), worker.pk]))
    return row


def _rows(account: Account, row: tuple[Any, ...], pairs: list[Any]) -> Rows:
    is_member, versions, *values = row
    project = instance(Project, _PROJECT, tuple(values[: len(_PROJECT)]))
    know_member(project, account, is_member=bool(is_member))
    rest = values[len(_PROJECT) :]
    allowance = spent = dealt = None
    if rest[0] is not None:
        allowance = instance(Allowance, _ALLOWANCE, tuple(rest[: len(_ALLOWANCE)]))
    if rest[len(_ALLOWANCE)] is not None:
        spent = instance(Spent, _SPENT, tuple(rest[len(_ALLOWANCE) :]))
    if pairs:
        dealt = instance(Dealt, _DEALT, pairs[0][: len(_DEALT)])
        dealt.pair = instance(StoredPair, _PAIR, pairs[0][len(_DEALT) :])
        dealt.project, dealt.worker = project, account
    return Rows(project, int(versions or 0), allowance, spent, dealt)


_TINY = 1e-12
"""Differences of sums of scores below this are of their rounding."""


@dataclass
class Task:
    """A worker's task in a project, inside a transaction that holds its rows.

    Attributes
    ----------
    allowance
        What the worker may be shown of it.
    spent
        What the worker has been shown of its source.
    asked
        The pair that the request is about, ``None`` where the worker has none of that id.
    changed
        Whether memory is ahead of the database.
    """

    account: Account
    project: Project
    live: live_projects.Live
    allowance: Allowance
    spent: Spent
    held: live_projects.KeptState
    asked: Dealt | None = None
    changed: bool = False

    @property
    def state(self) -> WorkerState:
        """What the worker has been shown of the project."""
        return self.held.state

    @property
    def elsewhere(self) -> float:
        """KAPR that the worker spent in other projects of the same source."""
        # Scores were added up in another order: what is left by rounding was spent nowhere.
        other = self.spent.score - self.allowance.spent
        return other if other > _TINY else 0.0

    def dealt(self, action: Action) -> Dealt:
        """The pair that the request is about, where it may be acted on."""
        dealt = self.asked
        if dealt is None:
            raise Stop(404, gettext("There is no such pair on your pages."))
        permission = decide(self.account, action, dealt)
        if not permission.allowed:
            taken = dealt.taken_back is not None
            raise Stop(409 if taken else 403, permission.reason)
        self.live.check_pair(dealt.pair_id, dealt.pair.number)
        return dealt

    def show(self, dealt: Dealt) -> Charge | Refusal:
        """Show a pair in its starting state, and charge it; once."""
        # Charged when it is shown first: whoever loads a page again pays nothing.
        if dealt.shown is not None:
            return Charge(0, 0.0)
        self.changed = True
        answer = self.state.show(dealt.pair.number)
        if isinstance(answer, Charge):
            dealt.shown = timezone.now()
        self.book(dealt, answer, "show", {})
        return answer

    def note(
        self,
        dealt: Dealt,
        action: str,
        detail: dict[str, Any],
        along: Sequence[Statement] = (),
        rows: Sequence[Stated] = (),
    ) -> None:
        """Add an entry on a pair to the audit log.

        Parameters
        ----------
        detail
            More of it; never a value.
        along
            What it tells of, where that is still to be written.
        rows
            What it states of the rows that are written.
        """
        resource = f"project {self.project.id}/pair {dealt.token}"
        append(self.account, action, resource, detail, along, rows)

    def book(
        self, dealt: Dealt, answer: Charge | Refusal, action: str, detail: dict[str, Any]
    ) -> None:
        """Write an answer into the database, which memory holds already.

        Parameters
        ----------
        detail
            More of it, for the audit log; never a value.
        """
        if isinstance(answer, Refusal):
            self.note(dealt, action, {**detail, "refused": answer.reason.value})
            return
        before, dealt.modes = dealt.modes, modes_text(self.state.modes(dealt.pair.number))
        # The charge and the entry go together: nothing is shown that is not in the log.
        charge, rows = self.charge(answer)
        along = [write_shown(dealt), *charge]
        rows.append(added(dealt, modes=added_digits(before, dealt.modes)))
        if action == "show":
            rows.append(stated(dealt, "shown"))
        detail = {**detail, "cost": answer.cost, "modes": dealt.modes}
        if answer.below_k:
            detail["below k"] = True
        self.note(dealt, action, detail, along, rows)

    def charge(self, answer: Charge) -> tuple[list[Statement], list[Stated]]:
        """Statements that write a charge, which memory holds already, and what is stated of it."""
        allowance, combined = self.allowance, self.live.combined
        allowance.units += answer.units
        allowance.spent += answer.cost
        allowance.version += 1
        rows = [added(allowance, units=answer.units, spent=answer.cost, version=1)]
        self.held.version = allowance.version
        self.live.combined_version += 1
        # Without units nothing was disclosed, and the score must not grow by rounding.
        if answer.units:
            self.spent.score += answer.cost
            rows.append(added(self.spent, score=answer.cost))
        # Mostly nothing is new to all workers together: the project's row need not be written.
        if combined is None or combined.units == self.project.combined_units:
            return write_charge(None, allowance, self.spent), rows
        more = combined.units - self.project.combined_units
        rows.append(added(self.project, combined_units=more))
        self.project.combined_units = combined.units
        return write_charge(self.project, allowance, self.spent), rows


@contextmanager
def task_of(account: Account, project_id: UUID, token: str = "") -> Iterator[Task]:
    """A worker's task, for one request: with its lock, in one transaction.

    All of it is in the database when the block is left, or none of it; where it fails, what is
    held in memory is dropped.

    Parameters
    ----------
    token
        The id on the worker's page of the pair that the request is about.
    """
    with live_projects.lock_of(project_id):
        if (
            live_projects.kept(project_id) is None
        ):  # reading it takes a while, and no transaction waits for it
            live_projects.live_of(_permitted(account, read_rows(account, project_id)).project)
        task: Task | None = None
        begun = done = False
        try:
            # Durable: nothing may be shown whose charge a surrounding transaction could take back.
            with transaction.atomic(durable=True):
                rows = read_rows(account, project_id, token)
                # After the locks: what is read of the log then is of these rows.
                proofs().follow()
                rows = _permitted(account, rows)
                begun = True
                task = _task(account, rows)
                yield task
            done = True
        # An answer that failed may have changed memory before: what the database has holds.
        finally:
            if begun and not done and (task is None or task.changed):
                live_projects.forget_states(project_id)


def _permitted(account: Account, rows: Rows | None) -> Rows:
    project = rows.project if rows else None
    permission = decide(account, Action.WORK, project)
    if rows is not None and permission.allowed:
        return rows
    if project is None or not decide(account, Action.SEE_PROJECT, project).allowed:
        raise Stop(404, gettext("There is no such project, or you do not take part in it."))
    raise Stop(403, permission.reason)


def _task(account: Account, rows: Rows) -> Task:
    project, allowance, spent = rows.project, rows.allowance, rows.spent
    live = live_projects.live_of(project)
    for row in (allowance, spent):
        if row is not None:
            check_proved(row)
    if allowance is None or spent is None:
        allowance, spent = begin(project, account, live.review.settings.budget)
    held = state_of(live, project, account, allowance, rows.versions)
    task = Task(account, project, live, allowance, spent, held, rows.dealt)
    _set_budget(task)
    return task


def begin(project: Project, account: Account, budget: float | None) -> tuple[Allowance, Spent]:
    """What somebody may be shown of a project and was shown of its source, made where missing."""
    allowance, new = _allowance(project, account, budget)
    spent, first = _spent(project, account)
    if new or first:
        made = [row for row, is_new in ((allowance, new), (spent, first)) if is_new]
        rows = list(map(stated, made))
        append(account, "begin", f"project {project.pk}", rows=rows)
    return allowance, spent


def _set_budget(task: Task) -> None:
    """What is left of the worker's budget for the source is the budget in this project."""
    budget = task.allowance.budget
    if budget is not None:
        budget = max(0.0, budget - task.elsewhere)
    # Only where it changed: a review with other budgets is a new object.
    if task.state.review.settings.budget != budget:
        review = task.live.review
        task.state.review = review.with_budgets(budget, review.settings.project_budget)
