"""Projects in memory: made, read from the store, shared by all requests."""

from __future__ import annotations

import io
import json
import shutil
import threading
from array import array
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any
from uuid import UUID
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from cryptography.exceptions import InvalidTag
from django.conf import settings
from django.db import transaction

from sfumato.core.arrays import Ints
from sfumato.core.errors import InputError
from sfumato.review.anonymity_index import Index
from sfumato.review.disclosure_account import Review
from sfumato.review.hints import AttributeEvidence, Evidence, Level
from sfumato.review.review_project import LEFT, RIGHT, Weight
from sfumato.review.review_project import Project as ReviewProject
from sfumato.review.review_settings import Attribute, Settings
from sfumato.review.worker_state import CombinedState, WorkerState
from sfumato.server.error_pages import Stop
from sfumato.server.permissions import Action, decide
from sfumato.server.proofs import check_pairs, check_stated, proofs
from sfumato.server.store.models import Account, Project
from sfumato.server.vault import new_key, read_sealed, write_sealed

RECORDS, PAIRS, INDEX, SOURCES = "records", "pairs", "index", "sources"
_GOLD = "gold"


def folder_of(project_id: UUID) -> Path:
    """Where the encrypted files of a project are."""
    return Path(settings.SFUMATO.data) / "projects" / str(project_id)


def key_of(project: Project) -> bytes:
    """The key of a project."""
    if not project.wrapped_key:
        raise InputError("the project", "must not be purged")
    try:
        return bytes(
            settings.SFUMATO_KEYS.unwrap(bytes(project.wrapped_key), _key_purpose(project.id))
        )
    except InvalidTag:
        raise InputError(
            "the project's key",
            "must have been made with the keys of this server",
            advice="restore the data and the keys from one backup",
        ) from None


def write_project(project_id: UUID, project: ReviewProject, index: Index) -> bytes:
    """Write the encrypted files of a project under a new key, and give the wrapped key."""
    key = new_key()
    gold = pa.array([project.gold.get(pair) for pair in project.pair_ids], pa.bool_())
    contents = {
        RECORDS: _bytes_of(project.records),
        PAIRS: _bytes_of(project.pairs.append_column(_GOLD, gold)),
        INDEX: index.to_bytes(),
        SOURCES: json.dumps(dict(project.fingerprints)).encode(),
    }
    for name, data in contents.items():
        write_sealed(_path(project_id, name), data, key, _purpose(project_id, name))
    return wrapped(key, project_id)


def wrapped(key: bytes, project_id: UUID) -> bytes:
    """The key of a project as its row has it."""
    return bytes(settings.SFUMATO_KEYS.wrap(key, _key_purpose(project_id)))


def read_project(project: Project) -> ReviewProject:
    """What a project is about, as its files and its row in the database tell."""
    pairs = _read_table(project, PAIRS)
    ids, truth = pairs["pair"].to_pylist(), pairs[_GOLD].to_pylist()
    weights = project.weights
    return ReviewProject(
        attributes=attributes_of(project),
        settings=settings_of(project),
        records=_read_table(project, RECORDS),
        pairs=pairs.drop_columns([_GOLD]),
        gold={pair: same for pair, same in zip(ids, truth, strict=True) if same is not None},
        weights=tuple(Weight(**each) for each in weights.get("weights", ())),
        prior=weights.get("prior"),
        fingerprints=json.loads(_read(project, SOURCES)),
    )


def read_index(project: Project) -> Index:
    """The index of a project's records."""
    return Index.from_bytes(_read(project, INDEX))


def read_rows(project: Project) -> tuple[Ints, Ints]:
    """Per pair, the records of row 1 and row 2."""
    pairs = _read_table(project, PAIRS)
    left, right = (np.asarray(pairs[name], dtype=np.int64) for name in (LEFT, RIGHT))
    return left, right


def read_pairs(project: Project) -> pa.Table:
    """The pairs as the linkage knows them: pair, left, right, and their truth in `gold`."""
    return _read_table(project, PAIRS)


def remove_files(project_id: UUID) -> None:
    """Remove the encrypted files of a project; without its key they tell nothing anyway."""
    shutil.rmtree(folder_of(project_id), ignore_errors=True)


def attributes_of(project: Project) -> tuple[Attribute, ...]:
    """What a worker may see."""
    return tuple(Attribute.model_validate(attribute) for attribute in project.attributes)


def settings_of(project: Project) -> Settings:
    """The rules of a project."""
    return Settings.model_validate(project.settings)


def _key_purpose(project_id: UUID) -> bytes:
    return b"key of project " + project_id.bytes


def _purpose(project_id: UUID, name: str) -> bytes:
    return f"{name} of project ".encode() + project_id.bytes


def _path(project_id: UUID, name: str) -> Path:
    return folder_of(project_id) / f"{name}.sealed"


def _read(project: Project, name: str) -> bytes:
    return read_sealed(_path(project.id, name), key_of(project), _purpose(project.id, name))


def _read_table(project: Project, name: str) -> pa.Table:
    return pq.read_table(io.BytesIO(_read(project, name)))


def _bytes_of(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    pq.write_table(table, stream)
    return stream.getvalue()


# A choice: an index takes two bytes per record and character, some 60 MB of a million records; a
# project that is not held is read again.
KEPT = 8
"""Number of projects that are held in memory."""


@dataclass
class KeptState:
    """The state of a worker, as the database has it at some version."""

    version: int
    state: WorkerState


# As `link next`: what three have read and is in doubt, a fourth does not settle.
MOST_READERS = 3
"""Workers who are asked about a pair because its answers are in doubt."""


@dataclass
class Queue:
    """The pairs of a project that wait, while its lock is held.

    Attributes
    ----------
    waiting
        Numbers of the pairs, the next one last.
    readers
        How many workers have each pair.
    gold
        Numbers of the pairs of known truth, which are mixed in.
    again
        How many more workers the ranking asks for pairs that enough have already.
    taken
        How many pairs were taken since a ranking of them began, infinite before the first.
    open
        Share of the pairs of records within persons that answers may still change, where it is
        known.
    """

    waiting: list[int]
    readers: Counter[int]
    gold: tuple[int, ...]
    again: dict[int, int] = field(default_factory=dict)
    taken: float = inf
    open: float | None = None

    def lacks(self, number: int, wanted: int) -> bool:
        """Whether a pair has too few readers."""
        return self.readers[number] < max(wanted, self.again.get(number, 0))

    def next_for(self, had: Collection[int], wanted: int) -> Iterator[int]:
        """Pairs that too few workers have and this one has not, in their order."""
        # What enough workers have goes for good, so that nobody walks over it again.
        while self.waiting and not self.lacks(self.waiting[-1], wanted):
            self.waiting.pop()
        for number in reversed(self.waiting):
            if number not in had and self.lacks(number, wanted):
                yield number

    def rank(self, order: Sequence[int], *, ends: bool) -> None:
        """Have pairs come first in this order, asked once more each.

        Where it ends, pairs that somebody has are all that may lack a reader.
        """
        self.again = {n: min(self.readers[n] + 1, MOST_READERS) for n in order}
        ranked = set(order)
        rest = [number for number in self.waiting if number not in ranked]
        self.waiting = [*rest, *reversed(order)]
        if ends:
            self.again = {}
            self.waiting = [number for number in self.waiting if self.readers[number]]

    def give_back(self, number: int) -> None:
        """A pair that a worker has not decided comes next."""
        self.readers[number] -= 1
        self.waiting.append(number)


@dataclass
class Live:
    """What is held of a project.

    Attributes
    ----------
    rules
        The settings, as the database has them, that `review` was made with.
    keys
        The key of each pair, by its number, as the log states it.
    combined
        What all workers have been shown, ``None`` until it is asked for, as `queue`.
    """

    rules: dict[str, Any]
    review: Review
    keys: array[int]
    evidence: Evidence | None = None
    combined: CombinedState | None = None
    combined_version: int = -1
    workers: dict[int, KeptState] = field(default_factory=dict)
    queue: Queue | None = None

    def check_pair(self, key: int, number: int) -> None:
        """Refuse a pair whose number in the database is not the one that was proved."""
        if not 0 <= number < len(self.keys) or self.keys[number] != key:
            raise Stop(409, proofs().refuse("pair", key, "number"))


_guard = threading.Lock()
# Weak: a lock goes as soon as nobody holds it or waits for it.
_locks: WeakValueDictionary[UUID, threading.RLock] = WeakValueDictionary()
_kept: OrderedDict[UUID, Live] = OrderedDict()


def lock_of(project_id: UUID) -> threading.RLock:
    """The lock of a project; whoever reads or changes what is held of it has it.

    It is taken before a transaction is begun, never in one.
    """
    with _guard:
        return _locks.setdefault(project_id, threading.RLock())


@contextmanager
def locked(by: Account, action: Action, project_id: UUID, status: int = 403) -> Iterator[Project]:
    """A project, while nobody opens, decides or changes anything in it.

    Parameters
    ----------
    project_id
        Where they will do it.
    status
        The status of the answer if they may not.
    """
    with lock_of(project_id), transaction.atomic():
        # Whoever adds rows that refer to the project need not wait: its key stays the same.
        project = Project.objects.select_for_update(no_key=True).get(pk=project_id)
        permission = decide(by, action, project)
        if not permission.allowed:
            raise Stop(status, permission.reason)
        yield project


def kept(project_id: UUID) -> Live | None:
    """What is held of a project, if anything is."""
    with _guard:
        live = _kept.get(project_id)
        if live is not None:
            _kept.move_to_end(project_id)
        return live


def keep(project_id: UUID, live: Live) -> None:
    """Hold a project in memory, in place of the one that was longest not asked for."""
    with _guard:
        _kept[project_id] = live
        _kept.move_to_end(project_id)
        while len(_kept) > KEPT:
            _kept.popitem(last=False)


def forget_project(project_id: UUID) -> None:
    """Hold nothing of a project any more."""
    with _guard:
        _kept.pop(project_id, None)


def forget_states(project_id: UUID) -> None:
    """Hold no state of a project's workers any more; the database has what holds."""
    with _guard:
        live = _kept.get(project_id)
    if live is not None:
        # States only: the index takes long to read, and no failure changes it.
        live.workers.clear()
        live.combined, live.combined_version, live.queue = None, -1, None


def review_of(project: Project) -> Review:
    """The review of a project; it is read once, however many threads ask."""
    return live_of(project).review


def live_of(project: Project) -> Live:
    """What is held in memory of a project, under the rules that the database has now."""
    with lock_of(project.id):
        live = kept(project.id)
        if live is not None and live.rules == project.settings:
            return live
        check_stated(project)
        rules = settings_of(project)
        # A change of rules keeps the index and the rows, which take long to read.
        if live is None:
            keys = check_pairs(project)
            left, right = read_rows(project)
            index = read_index(project)
            review = Review(attributes_of(project), rules, index, left, right)
        else:
            old, keys = live.review, live.keys
            review = Review(old.attributes, rules, old.index, old.left, old.right)
        evidence = _evidence(project.weights.get("evidence"))
        live = Live(dict(project.settings), review, keys, evidence)
        keep(project.id, live)
        return live


def _evidence(stored: Mapping[str, Any] | None) -> Evidence | None:
    if stored is None:
        return None
    return Evidence(
        stored["prior"],
        tuple(
            None
            if each is None
            else AttributeEvidence(
                Level(**each["same"]),
                tuple(Level(**level) for level in each["near"]),
                Level(**each["other"]),
            )
            for each in stored["attributes"]
        ),
    )
