"""Make accounts and projects in a server's database: a job in, what was made out."""

from __future__ import annotations

import time
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.review.review_project import Project as ReviewProject
from sfumato.review.review_settings import Attribute, Settings
from sfumato.server.boot import boot
from sfumato.server.config import ServerConfig

_BACKEND = "sfumato.server.accounts.backend.AccountBackend"


def main(job: dict[str, Any]) -> dict[str, Any]:
    """Make what a job names: ``accounts`` (name, roles, password) and ``projects``."""
    boot(ServerConfig(Path(job["data"]), Path(job["keys"]), job["database"]))
    people = {each["name"]: _account(each) for each in job.get("accounts", ())}
    if job.get("books"):
        return books()
    return {
        "sessions": {name: _session(account) for name, account in people.items()},
        "pseudonyms": {name: account.pseudonym for name, account in people.items()},
        "projects": [_project(each) for each in job.get("projects", ())],
    }


def review_project(job: dict[str, Any]) -> ReviewProject:
    """The domain's project of a job."""
    pairs = np.array(job["pairs"], dtype=np.int64)
    attributes = tuple(Attribute.model_validate(each) for each in job["attributes"])
    names = job.get("pair_ids") or [f"p{number}" for number in range(len(pairs))]
    return ReviewProject(
        attributes=attributes,
        settings=Settings.model_validate(job.get("settings", {})),
        records=_records(job, [each.name for each in attributes]),
        pairs=pa.table(
            {"pair": pa.array(names, pa.string()), "left": pairs[:, 0], "right": pairs[:, 1]}
        ),
        gold=job.get("gold", {}),
    )


def _records(job: dict[str, Any], names: list[str]) -> pa.Table:
    """The records: of a Parquet file, or the rows of the job."""
    if "records" in job:
        return pq.read_table(job["records"])
    text, rows = pa.large_string(), job["rows"]
    ids = job.get("ids") or [f"r{number}" for number in range(len(rows))]
    columns = {"source": pa.array(["clinic"] * len(rows), text), "id": pa.array(ids, text)}
    for place, name in enumerate(names):
        columns[name] = pa.array([row[place] for row in rows], text)
    return pa.table(columns)


def _account(job: dict[str, Any]) -> Any:
    from sfumato.server.accounts.sessions import make_account
    from sfumato.server.store.models import Account

    found = Account.objects.filter(name=job["name"]).first()
    fields = job.get("fields", {})
    return found or make_account(job["name"], job.get("password"), job["roles"], **fields)


def _session(account: Any) -> str:
    """A session in which somebody has just logged in."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

    from sfumato.server.accounts.sessions import BEGAN, FRESH, SEEN, SessionStore

    store = SessionStore()
    store[SESSION_KEY] = str(account.pk)
    store[BACKEND_SESSION_KEY] = _BACKEND
    store[HASH_SESSION_KEY] = account.get_session_auth_hash()
    store[BEGAN] = store[SEEN] = store[FRESH] = time.time()
    store.save()
    return str(store.session_key)


def _project(job: dict[str, Any]) -> dict[str, Any]:
    from server.dealt import deal

    from sfumato.server.custodian.consent import answer
    from sfumato.server.live.new_projects import make_project
    from sfumato.server.store.models import Account, Dealt

    def one(name: str) -> Account:
        return Account.objects.get(name=name)

    made = make_project(
        review_project(job),
        title=job.get("title", "Clinics"),
        custodian=one(job.get("custodian", "custodian")),
        manager=one(job.get("manager", "manager")),
        **job.get("fields", {}),
    )
    answer(made.custodian, made.pk, made.proposals.get().pk, accepts=True)
    tokens = {}
    for name, pairs in job["dealt"].items():
        deal(made, one(name), pairs)
        mine = Dealt.objects.filter(project=made, worker=one(name)).order_by("place")
        tokens[name] = list(mine.values_list("token", flat=True))
    return {"id": str(made.id), "fingerprint": made.fingerprint, "tokens": tokens}


def books() -> dict[str, Any]:
    """What the database says of every worker of every project, and whether it agrees with itself.

    The charges are worked out again from what each pair shows, by the domain alone.
    """
    from sfumato.server.audit_log import verify
    from sfumato.server.store.models import Allowance, AuditEntry, Project, Spent

    verdict = verify()
    return {
        "fault": verdict.fault,
        "entries": verdict.entries,
        "spent": [
            [each.fingerprint, each.worker, each.score] for each in Spent.objects.order_by("pk")
        ],
        "opened": AuditEntry.objects.filter(action="open").count(),
        "projects": [
            {
                "id": str(project.id),
                "fingerprint": project.fingerprint,
                "combined": project.combined_units,
                "combined again": _combined_units(project),
                "workers": {
                    each.worker.name: _book(project, each)
                    for each in Allowance.objects.filter(project=project).select_related("worker")
                },
            }
            for project in Project.objects.order_by("created")
        ],
    }


def _book(project: Any, allowance: Any) -> dict[str, Any]:
    from sfumato.review.worker_state import WorkerState
    from sfumato.server.live.live_projects import review_of
    from sfumato.server.store.models import Dealt, DecisionEvent

    mine = Dealt.objects.filter(project=project, worker=allowance.worker)
    dealt = list(mine.order_by("place").select_related("pair"))
    events = DecisionEvent.objects.filter(dealt__in=mine).order_by("pk")
    last = {token: (kind, answer) for token, kind, answer in events.filter(
        kind__in=["decided", "withdrawn", "skipped"]
    ).values_list("dealt__token", "kind", "answer")}  # fmt: skip
    review = copy(review_of(project))
    review.settings = review.settings.model_copy(update={"project_budget": None, "budget": None})
    state = WorkerState.restored(
        review,
        {
            "pairs": [each.pair.number for each in dealt],
            "rows": allowance.rows,
            "modes": {str(each.pair.number): each.modes for each in dealt if each.modes},
        },
    )
    return {
        "pseudonym": allowance.worker.pseudonym,
        "units": allowance.units,
        "units again": state.units,
        "spent": allowance.spent,
        "score again": state.score,
        "budget": allowance.budget,
        "modes": {each.token: each.modes for each in dealt},
        "answers": {each.token: each.answer for each in dealt},
        "history": {token: list(each) for token, each in last.items()},
    }


def _combined_units(project: Any) -> int:
    from sfumato.review.review_settings import Mode
    from sfumato.review.worker_state import CombinedState
    from sfumato.server.live.live_projects import review_of
    from sfumato.server.store.models import Dealt

    combined = CombinedState(review_of(project), project.rows)
    shown = Dealt.objects.filter(project=project).exclude(modes="")
    for pair, modes in shown.values_list("pair__number", "modes"):
        combined.take(pair, tuple(Mode(int(digit)) for digit in modes))
    return int(combined.units)
