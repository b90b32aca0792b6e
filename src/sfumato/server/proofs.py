"""What the audit log proves of the rows that requests go by, held in memory.

A row counts for as much as the entries state of it: who writes to the database can change a row,
but make no entry. The log is read once, then each request reads what was added to it.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Collection, Iterator
from copy import copy
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from sfumato.core.chain import START, Head, Link, fault_of
from sfumato.server.audit_log import FIELDS, Signatures, append, has_appended, signed_by
from sfumato.server.error_pages import Stop
from sfumato.server.replay import Replay
from sfumato.server.stated_rows import PAIRS, STATED, columns_of_pairs, image, table_of
from sfumato.server.store import models
from sfumato.server.store.statements import ask

# Of pairs and answers, of which there are many, only what a request goes by.
_KEPT: dict[str, frozenset[str]] = {
    **{table_of(model).name: frozenset(table_of(model).secret) for model in STATED},
    "pair": frozenset({"pairs", "digest"}),
    "dealt": frozenset(
        {"project_id", "worker_id", "pair_id", "taken_back", "shown", "modes", "answer", "flagged"}
    ),
    "decision_event": frozenset({"dealt_id", "kind", "answer"}),
}
_COUNTED_BY_OTHERS = {"project": {"combined_units"}}
"""Columns that other people's clicks change, and no request goes by."""
_AT_ONCE = 5_000
_SINCE = f"""
SELECT {", ".join(FIELDS)} FROM audit_entry
WHERE number >= %s ORDER BY number LIMIT {_AT_ONCE}"""  # noqa: S608 - made of names of columns
REFUSED = "refuse row"
"""What the log calls it where a row was not as it states."""


class Proofs:
    """The rows as the entries state them, up to the last entry that was read.

    Attributes
    ----------
    tip
        That entry.
    fault
        What is wrong with the entries after it, ``""`` if nothing.
    kept
        Number of the entry that was kept last outside the database.
    """

    def __init__(self) -> None:
        self.replay = Replay(_KEPT)
        self.tip, self.signed = Head(0, START), signed_by()
        self.fault = ""
        self.kept = 0
        self.lock = threading.RLock()
        self._members: tuple[tuple[int, str], set[tuple[str, int]]] = ((0, ""), set())
        self._said: dict[tuple[str, str, str], bool] = {}

    def follow(self) -> None:
        """Read what was added to the log; what a transaction may still take back is left out."""
        with self.lock:
            if has_appended():
                return
            self.tip, self.fault = read_on(self.replay, self.tip, self.signed)

    def members(self) -> set[tuple[str, int]]:
        """Projects with those who take part in them."""
        rows = self.replay.rows.get("member", {})
        # Members come one by one and go with their project: either changes what is last, or how
        # many there are.
        state = (len(rows), next(reversed(rows), ""))
        if self._members[0] != state:
            found = {(row["project_id"], row["account_id"]) for row in list(rows.values())}
            self._members = (state, found)
        return self._members[1]

    def refuse(self, table: str, key: object, column: str) -> str:
        """A sentence on a row that is not as the log states it; the log will have it once."""
        self._said.setdefault((table, str(key), column), False)
        what = f"{table} {key}: {column} is not what the audit log states"
        return f"{what}. Nothing was changed. {_ADVICE}"

    def say_refused(self) -> None:
        """Add an entry for each row that was refused, after the request and its transaction."""
        for each in [each for each, done in list(self._said.items()) if not done]:
            self._said[each] = True
            table, key, column = each
            if not self.fault:  # on entries that are not ours nothing is built
                append(None, REFUSED, f"{table} {key}", {"column": column})


_ADVICE = "Have an auditor check the log, and restore the database."
_proofs = Proofs()


def proofs() -> Proofs:
    """What is proved to this process."""
    return _proofs


def forget() -> None:
    """Read the log anew."""
    global _proofs  # noqa: PLW0603 - a process has one
    _proofs = Proofs()


def read_on(replay: Replay, tip: Head, signed: Signatures) -> tuple[Head, str]:
    """Replay the entries after one, up to the last or to one that is not ours.

    Parameters
    ----------
    tip
        The entry.
    signed
        What was asked of the entries up to it.

    Returns
    -------
    tuple of Head and str
        The last entry that was replayed, and what is wrong with the next.
    """
    while True:
        (rows,) = ask((_SINCE, [tip.number]))
        if tip.number:
            # What was read before must still be there: else the log was cut.
            if not rows or Link.of(rows[0]).digest != tip.digest:
                return tip, f"it ends before entry {tip.number}, or has another there"
            rows = rows[1:]
        for row in rows:
            link = Link.of(row)
            fault = fault_of(link, tip, signed, "this server")
            if fault:
                return tip, fault
            replay.take(row[FIELDS.index("detail")])
            tip = Head(link.number, link.digest)
        if len(rows) < _AT_ONCE - 1:
            return tip, ""


def check_whole() -> None:
    """Refuse to go on from a log that was cut or changed."""
    if _proofs.fault:
        raise Stop(409, f"The audit log is not whole: {_proofs.fault}. {_ADVICE}")


def check_proved(row: Any) -> None:
    """Refuse to go on from a row that was read, where its columns are not as the log states."""
    table = table_of(row.__class__)
    left_out = row.get_deferred_fields() | _COUNTED_BY_OTHERS.get(table.name, set())
    names = [name for name in _KEPT[table.name] if name not in left_out]
    if _differing(row, names, _proofs.replay):
        # Somebody may have changed it since it was read.
        read = [getattr(row, name) for name in names]
        check_stated(row, *names)
        # What was decided by what was read must not stand: an edit may have been undone since.
        if read != [getattr(row, name) for name in names]:
            raise Stop(409, "This was changed meanwhile. Nothing was done. Try again.")


def check_stated(row: Any, *names: str) -> None:
    """Read columns of a row anew, locked, and refuse to go on from what no entry states.

    Parameters
    ----------
    *names
        The columns; all of them without.
    """
    check_whole()
    model = row.__class__
    table = table_of(model)
    columns = names or tuple(_KEPT[table.name])
    with transaction.atomic():
        # The entry of whoever wrote last is there once the row is free.
        locked = model.objects.select_for_update(no_key=True).filter(pk=row.pk)
        found = locked.values(*columns).first()
        for name, value in (found or {}).items():
            setattr(row, name, value)
        differs = "the row" if found is None else _differing(row, columns, _stated_now(table, row))
    if differs:
        raise Stop(409, _proofs.refuse(table.name, row.pk, differs))


def check_none(row: Any, **which: object) -> None:
    """Refuse to begin a row anew where the log states one that is gone.

    Parameters
    ----------
    **which
        Its columns, of which there is one row.
    """
    table = table_of(row.__class__)
    for key, columns in list(_proofs.replay.rows.get(table.name, {}).items()):
        if key != str(row.pk) and all(columns.get(name) == each for name, each in which.items()):
            raise Stop(409, _proofs.refuse(table.name, key, "the row"))


def check_all(rows: QuerySet[Any], names: Collection[str], **which: Collection[Any]) -> None:
    """Refuse to go on unless the rows of a table are those that the log states, and all of them.

    Parameters
    ----------
    rows
        The rows, which nobody else writes meanwhile.
    which
        By column, what the rows may have that are stated.
    """
    table = table_of(rows.model)
    _proofs.follow()
    check_whole()
    stated = dict(_proofs.replay.rows.get(table.name, {}))
    # A million rows at most: a loop for each column is quicker than one for all.
    for name, values in which.items():
        usual = table.usual[name]
        stated = {key: row for key, row in stated.items() if row.get(name, usual) in values}
    for key, *values in rows.values_list("pk", *names).iterator(chunk_size=5_000):
        columns = stated.pop(str(key), None)
        for name, value in zip(names, values, strict=True):
            wanted = None if columns is None else columns.get(name, table.usual[name])
            if columns is None or image(table.name, name, value, secret=False) != wanted:
                raise Stop(409, _proofs.refuse(table.name, key, name))
    for key in stated:
        raise Stop(409, _proofs.refuse(table.name, key, "the row"))


def check_pairs(project: models.Project) -> array[int]:
    """The keys of a project's pairs, by number; refuse to go on unless the log states them."""
    _proofs.follow()
    check_whole()
    found = array("q")
    columns = columns_of_pairs(_noting(project.pairs, found))
    wanted = _proofs.replay.columns(PAIRS, project.pk)
    if columns != wanted and (wanted or found):  # a purged project has none
        raise Stop(409, _proofs.refuse(PAIRS, f"of project {project.pk}", "the rows"))
    return array("q", [key for _, key in sorted(zip(found[1::2], found[::2], strict=True))])


def _noting(pairs: Any, found: array[int]) -> Iterator[tuple[int, int, bool]]:
    rows = pairs.order_by("pk").values_list("pk", "number", "gold")
    for row in rows.iterator(chunk_size=10_000):
        found.extend(row[:2])
        yield row


def check_project(project: models.Project) -> None:
    """Refuse to export from a project unless all that was answered is as the log states."""
    pairs = set(check_pairs(project))
    dealt = models.Dealt.objects.filter(project=project)
    names = ("worker_id", "pair_id", "taken_back", "shown", "modes", "answer")
    check_all(dealt, names, project_id=[str(project.pk)])
    events = models.DecisionEvent.objects.filter(dealt__project=project)
    known = set(dealt.values_list("pk", flat=True))
    check_all(events, ("dealt_id", "kind", "answer"), dealt_id=known)
    resolutions = models.Resolution.objects.filter(pair__project=project)
    check_all(resolutions, ("pair_id", "by_id", "answer"), pair_id=pairs)


def is_stated_member(project: models.Project, account: models.Account) -> bool:
    """Whether an entry states that somebody takes part in a project."""
    if (str(project.pk), account.pk) in _proofs.members():
        return True
    # An entry of the same transaction may state it.
    found = project.members.filter(account=account).first()
    if found is not None:
        check_proved(found)
    return found is not None


def is_consented(project: models.Project) -> bool:
    """Whether the entries state that the custodian accepted the rules that a project has."""
    key, wanted = project.consent, (str(project.pk), project.custodian_id, project.settings)
    if key is None:
        return False
    stated = _proofs.replay.columns("proposal", key) or {}
    if stated.get("state") != models.ProposalState.ACCEPTED or stated["rules"] != project.settings:
        # An entry of the same transaction may state it.
        found = models.Proposal.objects.filter(pk=key).first()
        if found is None:
            return False
        check_proved(found)
        stated = {name: getattr(found, name) for name in ("state", "to_id", "by_id", "rules")}
        stated["project_id"] = str(found.project_id)
    accepted = stated["state"] == models.ProposalState.ACCEPTED
    told = stated["project_id"], stated["to_id"], stated["rules"]
    return accepted and told == wanted and stated["by_id"] != stated["to_id"]


def _differing(row: Any, names: Collection[str], replay: Replay) -> str:
    """The first column of a row that is not as stated."""
    table = table_of(row.__class__)
    stated = replay.columns(table.name, row.pk)
    if stated is None:
        return "the row"
    for name in names:
        value, wanted = getattr(row, name), stated.get(name)
        secret = table.secret[name]
        if (secret or value != wanted) and (
            image(table.name, name, value, secret=secret) != wanted
        ):
            return name
    return ""


def _stated_now(table: Any, row: Any) -> Replay:
    """What is stated of a row, the entries of this transaction included."""
    with _proofs.lock:
        _proofs.follow()
        check_whole()
        known = _proofs.replay.rows.get(table.name, {}).get(str(row.pk))
        replay = Replay({table.name: _KEPT[table.name]})
        if known is not None:
            replay.rows[table.name] = {str(row.pk): dict(known)}
        if has_appended():
            read_on(replay, _proofs.tip, copy(_proofs.signed))
        return replay
