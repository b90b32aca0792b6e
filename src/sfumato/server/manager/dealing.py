"""A project's queue, opened to workers and taken back from them, and the linkage that ranks it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from uuid import UUID

import numpy as np
import pyarrow.parquet as pq
from django.db import connections
from django.dispatch import receiver

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import install_command
from sfumato.linkage.question_order import Cost, Questions
from sfumato.review.review_forecast import expected_units
from sfumato.review.review_project import ADDED
from sfumato.server.audit_log import append
from sfumato.server.error_pages import Stop
from sfumato.server.live import live_projects
from sfumato.server.live.pair_queue import pair_taken, queue_of, undecided
from sfumato.server.live.worker_tasks import admit, read_modes, take_back
from sfumato.server.manager import uploads
from sfumato.server.manager.project_figures import decisions_bytes
from sfumato.server.permissions import Action
from sfumato.server.stated_rows import stated
from sfumato.server.store.models import Account, Dealt, Project, StoredPair
from sfumato.server.vault import read_sealed, write_sealed


def open_queue(
    by: Account,
    project: Project,
    workers: Sequence[Account],
    most: int,
    overlap: int,
    gold_share: float,
) -> None:
    """Let workers take pairs from the queue.

    Parameters
    ----------
    most
        How many pairs each of them may take; all of the project at most.
    overlap
        How many workers each pair is to have.
    gold_share
        Share of gold pairs among all that a worker gets.
    """
    # A manager who decided pairs would settle disagreements with themselves.
    if any(worker.pk == project.manager_id for worker in workers):
        raise Stop(409, "The manager resolves conflicts, and so gets no pairs.")
    with live_projects.locked(by, Action.DEAL, project.pk) as held:
        pairs = StoredPair.objects.filter(project=held).count()
        if (held.overlap, held.gold_share) != (overlap, gold_share):
            held.overlap, held.gold_share = overlap, gold_share
            held.save(update_fields=["overlap", "gold_share"])
            rows = [stated(held, "overlap", "gold_share")]
            append(by, "set queue", f"project {project.pk}", rows=rows)
        for worker in workers:
            admit(held, worker, min(most, pairs), by)
        live_projects.forget_states(project.pk)


def take_pairs_back(by: Account, project: Project, worker: Account) -> int:
    """Take from a worker the pairs that are not decided, and tell how many."""
    with live_projects.locked(by, Action.DEAL, project.pk):
        count = take_back(project, worker, undecided(project).filter(worker=worker), by)
        live_projects.forget_states(project.pk)
        return count


AGAIN_AFTER = 10
"""Pairs that are taken before all are ranked again, as `benchmarks/review_queue.py` has it."""
_ranking: set[UUID] = set()


@receiver(pair_taken)
def rank_if_due(project_id: UUID, **_: object) -> None:
    """Have the queue ranked in the background, where its linkage is there and enough was taken."""
    live = live_projects.kept(project_id)
    queue = None if live is None else live.queue
    if queue is None or queue.taken < AGAIN_AFTER:
        return
    if project_id in _ranking or not has_linkage(project_id):
        return
    queue.taken = 0  # also for one that fails, which is tried again as late as any other
    _ranking.add(project_id)
    threading.Thread(target=_run, args=(project_id,), daemon=True).start()


def share_open(project_id: UUID) -> float | None:
    """Share of the pairs of records within persons that answers may change; ``None`` unknown."""
    live = live_projects.kept(project_id)
    return None if live is None or live.queue is None else live.queue.open


def _run(project_id: UUID) -> None:
    try:
        rank(Project.objects.get(pk=project_id))
    except Exception:  # whatever it is, workers go on in the order that there is
        logging.getLogger(__name__).exception("not ranked")
    finally:
        _ranking.discard(project_id)
        connections.close_all()


def rank(project: Project) -> None:
    """Rank the queue by what the answers so far leave in doubt, for each unit of KAPR."""
    table = live_projects.read_pairs(project)
    known = zip(table["pair"].to_pylist(), table["gold"].to_pylist(), strict=True)
    # Pairs of known truth measure their reader, and are mixed in at random.
    ids = [name if same is None else ADDED for name, same in known]
    review = live_projects.review_of(project)
    read = Dealt.objects.filter(project=project).exclude(answer=0)
    readings = [(n, read_modes(text)) for n, text in read.values_list("pair__number", "modes")]
    found = ranked_questions(
        project,
        decisions_bytes(project),
        ids,
        lambda pairs: expected_units(review, pairs.tolist(), readings),
    )
    with live_projects.lock_of(project.pk):
        live = live_projects.kept(project.pk)
        if live is not None:
            queue = queue_of(live, project)
            queue.open = found.open / max(found.within, 1)
            queue.rank(in_order(found), ends=found.enough)


def in_order(found: Questions) -> list[int]:
    """The pairs as they are asked: the worthiest of a ranking first, those of a cluster together.

    Within as many as are asked before the next ranking, beyond which an order means little.
    """
    place = np.arange(len(found.pair))
    block = place // AGAIN_AFTER
    _, first, own = np.unique(
        np.stack([block, found.cluster]), axis=1, return_index=True, return_inverse=True
    )
    return [int(number) for number in found.pair[np.lexsort((place, first[own.ravel()]))]]


_NAME = "linkage"
_DECISIONS = "decisions.parquet"


def keep_linkage(project: Project, files: Mapping[str, bytes]) -> bool:
    """Keep a linkage's files, encrypted with the project's key, and tell whether they suffice."""
    if any(name not in files for name in (*uploads.NEEDED, *uploads.TO_LINK)):
        return False
    wanted = {
        name: files[name]
        for name in (*uploads.NEEDED, *uploads.TO_LINK, *uploads.FURTHER)
        if name in files
    }
    data = uploads.joined({name: len(data) for name, data in wanted.items()}, wanted)
    write_sealed(
        live_projects.folder_of(project.pk) / f"{_NAME}.sealed",
        data,
        live_projects.key_of(project),
        _purpose_of_file(project),
    )
    return True


def has_linkage(project_id: UUID) -> bool:
    """Whether the linked file can be written here."""
    return (live_projects.folder_of(project_id) / f"{_NAME}.sealed").is_file()


def linked_file(project: Project, decisions: bytes) -> bytes:
    """The linked de-identified file as Parquet, its persons settled with the decisions.

    It is what ``sfumato link apply`` writes as ``linked.parquet``.
    """
    try:
        from sfumato.linkage.earlier_linkage import apply_decisions
    except ImportError:
        raise InputError(
            "the server",
            'must have the extra "link"',
            advice=f"{install_command('link')}, or apply the decisions where the linkage is",
        ) from None
    with _kept_linkage(project, decisions) as folder:
        links = apply_decisions(folder, folder / _DECISIONS)
        stream = BytesIO()
        pq.write_table(links.linked, stream)
    return stream.getvalue()


@contextmanager
def _kept_linkage(project: Project, decisions: bytes) -> Iterator[Path]:
    """The folder of a project's linkage, with decisions."""
    path = live_projects.folder_of(project.pk) / f"{_NAME}.sealed"
    if not path.is_file():
        raise InputError(
            "the project",
            "must have been made with all files of its linkage",
            advice="apply the decisions where the linkage is: sfumato link apply",
        )
    sizes, after = uploads.head_of(
        read_sealed(path, live_projects.key_of(project), _purpose_of_file(project))
    )
    with uploads.folder_in_memory(
        {**uploads.taken_apart(after, sizes), _DECISIONS: decisions}
    ) as folder:
        yield folder


def ranked_questions(
    project: Project, decisions: bytes, ids: Sequence[str], cost: Cost
) -> Questions:
    """The pairs of a project by what an answer teaches its linkage, by their numbers in it.

    Parameters
    ----------
    decisions
        ``decisions.parquet``.
    ids
        Of each pair of the project, as the linkage has it.
    """
    from sfumato.linkage.earlier_linkage import read_earlier, settled_again
    from sfumato.linkage.match_decisions import read_decisions
    from sfumato.linkage.question_order import questions

    with _kept_linkage(project, decisions) as folder:
        earlier = read_earlier(folder)
        settled = settled_again(earlier, read_decisions(folder / _DECISIONS, earlier.pairs))[0]
        number = np.full(len(earlier.pairs), -1, dtype=np.int64)
        for place, name in enumerate(ids):
            # Gold pairs of the manager's own are none of the linkage's.
            if not name.startswith(ADDED):
                number[int(name[1:]) - 1] = place
        found = questions(settled, earlier.pairs, number >= 0, lambda pair: cost(number[pair]))
    return replace(found, pair=number[found.pair])


def _purpose_of_file(project: Project) -> bytes:
    return f"{_NAME} of project ".encode() + project.pk.bytes
