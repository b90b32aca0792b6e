"""Every release remembered: written once, chained, verified."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from sfumato.core.chain import START, Head, Link, Verdict, follow, is_signed
from sfumato.core.errors import InputError
from sfumato.semantics import ledger_content, ledger_store
from sfumato.semantics.associations import State

CHANGED = "its tables or triggers were changed"


@dataclass(frozen=True, eq=False)
class Log:
    """The entries of a file.

    Attributes
    ----------
    connection
        The open file.
    name
        Its name, for errors.
    keys
        What signs the entries.
    """

    connection: sqlite3.Connection
    name: str
    keys: ledger_store.LedgerKeys

    def check_key(self) -> None:
        """Refuse a key that did not sign the first entry.

        Raises
        ------
        InputError
            If another one did.
        """
        with ledger_store.said_clearly(self.name):
            first = ledger_store.one_entry(self.connection, 1)
        if first is None or not is_signed(first.link, self.keys.check()):
            raise InputError(
                f"ledger {self.name}",
                "must begin with an entry that its own key signed",
                found="no first entry" if first is None else "one that this key did not sign",
                advice="give the folder of its own keys; with those, the ledger was rewritten",
            )

    def head(self) -> Head:
        """The last entry."""
        with ledger_store.said_clearly(self.name):
            last = ledger_store.last_entry(self.connection)
        return Head(last.number, last.digest) if last else Head(0, START)

    def append(
        self,
        kind: str,
        actor: str,
        detail: Mapping[str, object],
        parts: Sequence[ledger_store.Part] = (),
    ) -> ledger_store.Entry:
        """Add an entry, whole or not at all.

        Parameters
        ----------
        kind, actor, detail
            What it holds.
        parts
            Its arrays.

        Raises
        ------
        InputError
            If the file is locked, full or damaged, or its last entry was changed.
        """
        check_text(actor)
        described = {part.name: part.described() for part in parts}
        with self.changing():
            if not ledger_store.has_its_tables(self.connection):
                raise self.not_whole(CHANGED)
            last = ledger_store.last_entry(self.connection)
            if last is None or not is_signed(last.link, self.keys.check()):
                raise self.not_whole("a last entry that was changed, or none")
            head = Head(last.number, last.digest)
            entry = ledger_store.next_entry(
                head, kind, actor, {**detail, "parts": described}, self.keys
            )
            ledger_store.add_entry(self.connection, entry)
            for part in parts:
                ledger_store.add_part(self.connection, entry.number, part)
        return entry

    def entries(self) -> list[ledger_store.Entry]:
        """All entries, their chain checked (their arrays are when they are read).

        Raises
        ------
        InputError
            If an entry was changed, left out or moved.
        """
        with ledger_store.said_clearly(self.name):
            if not ledger_store.has_its_tables(self.connection):
                raise self.not_whole(CHANGED)
            entries = list(ledger_store.all_entries(self.connection))
        verdict = follow(
            (each.link for each in entries), self.keys.check(), "ledger", ledger_store.SIGNER
        )
        if not verdict.whole:
            raise self.not_whole(verdict.fault)
        return entries

    def entry(self, number: int) -> ledger_store.Entry | None:
        """An entry, checked against its own signature; ``None`` where there is none.

        Parameters
        ----------
        number
            The entry.

        Raises
        ------
        InputError
            If it was changed.
        """
        with ledger_store.said_clearly(self.name):
            entry = ledger_store.one_entry(self.connection, number)
        if entry is not None and not is_signed(entry.link, self.keys.check()):
            raise self.not_whole(f"entry {number} was changed")
        return entry

    def parts(self, number: int, names: Sequence[str]) -> list[npt.NDArray[Any]]:
        """Arrays of an entry, checked against what was signed.

        Parameters
        ----------
        number
            The entry.
        names
            The arrays.

        Raises
        ------
        InputError
            If the entry or an array was changed.
        """
        entry = self.entry(number)
        if entry is None:
            raise self.not_whole(f"entry {number} is missing")
        with ledger_store.said_clearly(self.name):
            contents = [
                list(ledger_store.pieces_of(self.connection, number, name)) for name in names
            ]
        described, arrays = entry.details["parts"], []
        for name, pieces in zip(names, contents, strict=True):
            if not ledger_store.is_whole(pieces, described[name]):
                raise self.not_whole(f"entry {number} was changed")
            arrays.append(ledger_store.array_of(pieces, described[name]))
        return arrays

    def not_whole(self, fault: str) -> InputError:
        """The error for a ledger that somebody has changed.

        Parameters
        ----------
        fault
            What is wrong.
        """
        return InputError(
            f"ledger {self.name}",
            "must be whole",
            found=fault,
            advice="see 'sfumato ledger verify', and restore it from its backup",
        )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Append all entries of the block together, or none of them where it fails.

        Yields
        ------
        None
            While nobody else may append.

        Raises
        ------
        InputError
            If the file is locked, full or damaged.
        """
        begun: bool = self.connection.in_transaction
        if begun:
            yield
            return
        with ledger_store.said_clearly(self.name):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            finally:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")


def check_text(actor: str) -> None:
    """Refuse a name that is no text, such as bytes of another encoding on the command line.

    Parameters
    ----------
    actor
        Who acts.

    Raises
    ------
    InputError
        If it cannot be written as UTF-8.
    """
    try:
        actor.encode()
    except UnicodeEncodeError:
        raise InputError(
            "the name of who asks or decides", "must be text", found="bytes of another encoding"
        ) from None


def verify_log(log: Log, against: Head | None) -> Verdict:
    """Check every entry and its arrays, the tables and the triggers.

    A ledger that was cut off, or rewritten by somebody who holds the signing key, is found only
    by a head that was kept elsewhere.

    Parameters
    ----------
    log
        The entries.
    against
        A head that was kept elsewhere.

    Raises
    ------
    InputError
        If the file is damaged so that SQLite cannot read it.
    """
    connection = log.connection
    with ledger_store.said_clearly(log.name):
        connection.execute("BEGIN")
        try:
            if not ledger_store.has_its_tables(connection):
                return Verdict(0, CHANGED, Head(0, START))
            signed = log.keys.check()
            verdict = follow(
                _links(connection, signed), signed, "ledger", ledger_store.SIGNER, against
            )
            if verdict.whole and _has_strays(connection):
                return replace(verdict, fault="it holds arrays of no entry")
            return verdict
        finally:
            connection.execute("ROLLBACK")


def _links(
    connection: sqlite3.Connection, signed: Callable[[bytes, bytes], bool]
) -> Iterator[Link]:
    for entry in ledger_store.all_entries(connection):
        link = entry.link
        if is_signed(link, signed) and not _has_its_parts(connection, entry):
            link = replace(link, made="")
        yield link


def _has_its_parts(connection: sqlite3.Connection, entry: ledger_store.Entry) -> bool:
    described = entry.details["parts"]
    rows = connection.execute("SELECT DISTINCT name FROM part WHERE entry = ?", [entry.number])
    return {name for (name,) in rows} == set(described) and all(
        ledger_store.is_whole(
            ledger_store.pieces_of(connection, entry.number, name), described[name]
        )
        for name in described
    )


def _has_strays(connection: sqlite3.Connection) -> bool:
    found = connection.execute(
        "SELECT 1 FROM part WHERE entry NOT IN (SELECT number FROM entry) LIMIT 1"
    )
    return found.fetchone() is not None


WAIT = 30.0
"""Seconds to wait for other processes that write."""
_MADE, _RELEASE, _FOUND, _DECIDED = "ledger", "release", "associations", "decision"
_STATES = {"accept": State.ACCEPTED, "reject": State.REJECTED}


@dataclass(frozen=True, eq=False)
class Ledger:
    """An append-only, chained and signed file of releases; made by `Ledger.open`.

    What it reads is checked against what was signed; a ledger that was changed is refused.
    It is used from one thread; several processes may have it open, and one at a time writes.

    Attributes
    ----------
    path
        The file.
    """

    path: Path
    _log: Log
    _keys: ledger_store.LedgerKeys

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        keys: str | os.PathLike[str],
        *,
        make: bool = True,
        wait: float = WAIT,
    ) -> Self:
        """Open a ledger, or make it.

        Parameters
        ----------
        path
            The file, in a folder of its own.
        keys
            The folder of its keys, outside that folder.
        make
            Whether to make a ledger, and its key, where there is none.
        wait
            Seconds to wait for other processes that write.

        Raises
        ------
        InputError
            If it is no ledger, another key signed it, it is locked or damaged, the disk is full,
            or others may read it or its keys.
        """
        file = Path(path)
        new = make and not file.exists()
        if not new:
            ledger_store.check_there(file)
        held = ledger_store.load_ledger_keys(Path(keys), file, make=new)
        if new:
            about = {"version": ledger_store.VERSION, "id": secrets.token_hex(16), "parts": {}}
            ledger_store.create(
                file, ledger_store.next_entry(Head(0, START), _MADE, "", about, held)
            )
        connection = ledger_store.connect(file, wait)
        ledger = cls(file, Log(connection, file.name, held), held)
        try:
            ledger._log.check_key()
        except InputError:
            connection.close()
            raise
        return ledger

    def close(self) -> None:
        """Close the file."""
        self._log.connection.close()

    def __enter__(self) -> Self:
        """The ledger, closed at the end."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def append(
        self, entry: ledger_content.ReleaseEntry, *, members: ledger_content.Members | None = None
    ) -> ledger_content.Release:
        """Note a release.

        Parameters
        ----------
        entry
            The release.
        members
            Which person is in which tuple: only keyed digests of the persons are stored. Without
            it, no protection against the intersection of releases is claimed, and the entry says
            so.

        Returns
        -------
        Release
            The release with its number.

        Raises
        ------
        InputError
            If the ledger is locked, full or damaged, or the members do not fit the tuples.
        """
        tuples = entry.tuples
        values = json.dumps(tuples.values, separators=(",", ":")).encode()
        parts = [
            ledger_store.Part.of("values", np.frombuffer(values, dtype=np.uint8)),
            ledger_store.Part.of("codes", tuples.codes),
            ledger_store.Part.of("counts", tuples.counts),
        ]
        key_id = ""
        if members is not None:
            key = self._keys.persons(make=True)
            digests, key_id = (
                ledger_content.digests_of_members(members, len(tuples), key),
                ledger_store.id_of_key(key),
            )
            raw = np.frombuffer(digests.persons.tobytes(), dtype=np.uint8).reshape(-1, 16)
            parts += [
                ledger_store.Part.of("persons", raw),
                ledger_store.Part.of("tuples", digests.tuples),
            ]
        detail = ledger_content.detail_of_release(entry, key_id)
        return _release(self._log.append(_RELEASE, entry.requester, detail, parts))

    def releases(
        self, *, linkage: str | None = None, requester: str | None = None
    ) -> list[ledger_content.Release]:
        """The releases, oldest first.

        Parameters
        ----------
        linkage, requester
            Only those of this linkage, to this requester.

        Raises
        ------
        InputError
            If the ledger was changed.
        """
        found = [_release(each) for each in self._log.entries() if each.kind == _RELEASE]
        return [
            each
            for each in found
            if linkage in {None, each.linkage} and requester in {None, each.requester}
        ]

    def release(self, number: int) -> ledger_content.Release:
        """A release.

        Parameters
        ----------
        number
            The number of its entry.

        Raises
        ------
        InputError
            If it has none, or the ledger was changed.
        """
        return _release(self._entry(number))

    def tuples(self, number: int) -> ledger_content.Tuples:
        """The distinct generalised tuples of a release.

        Parameters
        ----------
        number
            The number of its entry.

        Raises
        ------
        InputError
            If it has none, or was changed.
        """
        attributes = self._entry(number).details["attributes"]
        values, codes, counts = self._log.parts(number, ("values", "codes", "counts"))
        shown = tuple(
            tuple(ledger_content.Value(*each) for each in column)
            for column in json.loads(values.tobytes())
        )
        return ledger_content.Tuples(tuple(attributes), shown, codes, counts)

    def digests(self, number: int) -> ledger_content.Digests | None:
        """The keyed digests of a release, ``None`` where it has none.

        Parameters
        ----------
        number
            The number of its entry.

        Raises
        ------
        InputError
            If it has no such entry, it was changed, or the key of persons is another one.
        """
        key_id = self._entry(number).details["persons_key"]
        if not key_id:
            return None
        if ledger_store.id_of_key(self._keys.persons(make=False)) != key_id:
            raise InputError(
                "key persons.key",
                f"must be the key that the digests of entry {number} were made with",
                found="another key",
                advice="restore it from its backup; persons cannot be followed without it",
            )
        persons, tuples = self._log.parts(number, ("persons", "tuples"))
        return ledger_content.Digests(persons.reshape(-1).view("S16"), tuples)

    def person_digests(self, persons: Iterable[str | bytes | int]) -> ledger_content.Names:
        """The digests of persons, to look up in those of a release.

        Parameters
        ----------
        persons
            Their identifiers.

        Raises
        ------
        InputError
            If there is no key of persons.
        """
        return ledger_content.digests_of(persons, self._keys.persons(make=False))

    def associations(self) -> list[ledger_content.NotedAssociation]:
        """All associations with what was decided on them last, in the order they were found.

        Raises
        ------
        InputError
            If the ledger was changed.
        """
        known: dict[str, ledger_content.NotedAssociation] = {}
        for entry in self._log.entries():
            ledger_content.followed(known, entry.number, entry.time, entry.actor, entry.details)
        return list(known.values())

    def propose(
        self, associations: Iterable[ledger_content.NotedAssociation], by: str
    ) -> list[ledger_content.NotedAssociation]:
        """Note associations that were found, for the custodian to review.

        Parameters
        ----------
        associations
            What was found.
        by
            Who looked.

        Returns
        -------
        list
            These associations, with what was decided on them before.

        Raises
        ------
        InputError
            If the ledger is locked, full or damaged.
        """
        found = [replace(each, state=State.PROPOSED, note="") for each in associations]
        self._log.append(_FOUND, by, {"associations": ledger_content.as_details(found)})
        ids = {each.id for each in found}
        return [each for each in self.associations() if each.id in ids]

    def decide(
        self,
        association: str | ledger_content.NotedAssociation,
        decision: Literal["accept", "reject"],
        note: str,
        by: str,
    ) -> ledger_content.NotedAssociation:
        """Accept or reject an association; a decision that was taken before stays in the ledger.

        Parameters
        ----------
        association
            The association or its id.
        decision
            ``"accept"``: a reader may know it; ``"reject"``: it is noise, or no secret.
        note
            Why.
        by
            Who decides.

        Raises
        ------
        InputError
            If it is not in the ledger, or there is no note.
        """
        wanted = association if isinstance(association, str) else association.id
        if decision not in _STATES:
            raise InputError("parameter decision", "must be known", accepted="accept, reject")
        for name, text in (("note", note), ("by", by)):
            if not text.strip():
                raise InputError(
                    f"parameter {name}", "must say who decides and why", found="nothing"
                )
        if all(each.id != wanted for each in self.associations()):
            raise InputError(
                "association",
                "must be one that was found",
                found="an id that the ledger does not have",
                advice="see 'sfumato ledger associations list'",
            )
        detail = {"decided": wanted, "state": str(_STATES[decision]), "note": note}
        self._log.append(_DECIDED, by, detail)
        return next(each for each in self.associations() if each.id == wanted)

    def changing(self) -> AbstractContextManager[None]:
        """Note all that the block notes together, or none of it where it fails.

        Raises
        ------
        InputError
            If the ledger is locked, full or damaged.
        """
        return self._log.changing()

    def head(self) -> Head:
        """The last entry: keep it elsewhere, and verify against it later."""
        return self._log.head()

    def verify(self, against: Head | None = None) -> Verdict:
        """Check that nothing was changed, left out or rewritten.

        Parameters
        ----------
        against
            A head that was kept elsewhere: with it, a ledger that was cut off, or rewritten by
            somebody who holds the key, is found too.

        Raises
        ------
        InputError
            If the file is damaged so that it cannot be read.
        """
        return verify_log(self._log, against)

    def _entry(self, number: int) -> ledger_store.Entry:
        entry = self._log.entry(number)
        if entry is not None and entry.kind == _RELEASE:
            return entry
        raise InputError(
            f"entry {number}",
            "must be a release of the ledger",
            found="none",
            advice="see 'sfumato ledger list'",
        )


def _release(entry: ledger_store.Entry) -> ledger_content.Release:
    return ledger_content.release_of(entry.number, entry.time, entry.digest, entry.details)
