"""Projects made, each of the source that its people are of, in whatever file they come.

What people were shown of a source is spent of it; so a file of the same people is the same source.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from django.conf import settings
from django.db import transaction

from sfumato.core.declaration import silent
from sfumato.core.errors import InputError
from sfumato.ledger.record_sketches import RecordSketch, sketch_records
from sfumato.review.hints import evidence_of
from sfumato.review.review_project import ID, SOURCE, index_of
from sfumato.review.review_project import Project as ReviewProject
from sfumato.server.audit_log import append
from sfumato.server.live.live_projects import read_project, remove_files, write_project
from sfumato.server.proofs import check_all, check_none, check_proved, check_stated
from sfumato.server.stated_rows import Stated, added, gone, stated, stated_pairs
from sfumato.server.store import models
from sfumato.server.store.models import Project, SourceSketch, Spent
from sfumato.server.store.statements import ask, locks_rows


def _fingerprint_of(project: ReviewProject) -> str:
    """The keyed fingerprint of what a project's records are from.

    Files are known by their bytes, however they are named and whichever of their columns are
    shown. Where the records are not from files, the records themselves count, in any order.
    """
    files = sorted(project.fingerprints.values())
    # Sorted: the same files under other names are the same source.
    content = "\n".join(files).encode() if files and all(files) else _digest(project.records)
    return str(settings.SFUMATO_KEYS.fingerprint_of(content))


def _digest(records: pa.Table) -> bytes:
    columns = [
        # A sign that no value has, so that a missing value and an empty one differ.
        pc.fill_null(records[name].cast(pa.large_string()), "\x00")
        for name in sorted(records.column_names)
        if name != SOURCE
    ]
    rows = pc.binary_join_element_wise(*columns, pa.scalar("\x1f", pa.large_string()))
    if isinstance(rows, pa.ChunkedArray):
        rows = rows.combine_chunks()
    rows = rows.take(pc.array_sort_indices(rows))
    digest = hashlib.sha256()
    for row in rows.to_pylist():
        data = row.encode()
        # The length before each row: rows cannot be joined into others with the same bytes.
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def _sketches_of(project: ReviewProject) -> list[bytes]:
    """By which a project's people are known again, for each file that they are from."""
    key = bytes.fromhex(settings.SFUMATO_KEYS.fingerprint_of(b"sketches of records"))
    records, made = project.records, []
    for source in pc.unique(records[SOURCE]):
        rows = records.filter(pc.equal(records[SOURCE], source))
        columns = [rows[name] for name in rows.column_names if name not in (SOURCE, ID)]
        made.append(sketch_records(columns, key).to_bytes())
    return made


def _sketch_earlier() -> None:
    """Sketch the people of projects of earlier versions, which have no sketch.

    Raises
    ------
    InputError
        If one cannot be read: its people would be others', with a budget of their own.
    """
    for project in Project.objects.exclude(state=models.ProjectState.PURGED):
        if SourceSketch.objects.filter(fingerprint=project.fingerprint).exists():
            continue
        try:
            people = _sketches_of(read_project(project))
        except InputError:
            raise InputError(
                "each project of an earlier version",
                "must have its files, by which its people keep their budgets",
                found=f"project {project.pk} without",
                advice="restore its files from the backup, or have its custodian purge it",
            ) from None
        with transaction.atomic():
            rows = list(_kept(project.fingerprint, people))
            append(None, "sketch people", f"project {project.pk}", rows=rows)


# Two projects of one file that are made at once would not see each other's people.
_LOCK_SKETCHES = "LOCK TABLE source_sketch IN SHARE ROW EXCLUSIVE MODE"


def _source_of(own: str, people: Sequence[bytes]) -> tuple[str, list[Stated]]:
    """The fingerprint under which the people of a new project have spent budgets.

    Sources that have people of it become one: what was spent of each is spent of all. In the
    transaction that makes the project.

    Parameters
    ----------
    own
        The fingerprint of its files.
    people
        What `_sketches_of` gave.

    Returns
    -------
    tuple of str and list
        The fingerprint, and what is stated of the rows that were written.
    """
    if locks_rows():
        ask((_LOCK_SKETCHES, ()))
    mine = [RecordSketch.from_bytes(each) for each in people]
    # A sketch that somebody removed or changed would have people of it taken for others.
    check_all(SourceSketch.objects.all(), ("fingerprint",))
    found: dict[str, None] = {}
    for row in SourceSketch.objects.order_by("pk").iterator(chunk_size=50):
        check_proved(row)
        there = RecordSketch.from_bytes(bytes(row.sketch))
        if row.fingerprint not in found and any(each.has_people_of(there) for each in mine):
            found[row.fingerprint] = None
    # Of people who were purged before there were sketches only the files are known.
    if Spent.objects.filter(fingerprint=own).exists():
        found[own] = None
    source, *others = [*found, own][: max(1, len(found))]
    rows = [row for other in others for row in _joined(other, source)]
    return source, [*rows, *_kept(source, people)]


def _kept(source: str, people: Sequence[bytes]) -> Iterator[Stated]:
    for each in people:
        yield stated(SourceSketch.objects.create(fingerprint=source, sketch=each))


def _joined(other: str, source: str) -> Iterator[Stated]:
    """Let the projects and sketches of a source, and what was spent of it, be of another one."""
    for model in (Project, SourceSketch):
        for row in model.objects.select_for_update(no_key=True).filter(fingerprint=other):
            check_stated(row, "fingerprint")
            row.fingerprint = source
            row.save(update_fields=["fingerprint"])
            yield stated(row, "fingerprint")
    for was in Spent.objects.select_for_update().filter(fingerprint=other):
        check_stated(was)
        which = {"fingerprint": source, "worker": was.worker}
        spent, new = Spent.objects.select_for_update().get_or_create(**which)
        if new:
            check_none(spent, **which)
            yield stated(spent)
        else:
            check_stated(spent)
        spent.score += was.score
        spent.save(update_fields=["score"])
        yield added(spent, score=was.score)
        yield from gone([was])
        was.delete()


def _about(project: ReviewProject) -> dict[str, Any]:
    """What a custodian consents to beside the rules."""
    counts = pc.value_counts(project.records[SOURCE].combine_chunks()).to_pylist()
    return {
        "sources": sorted([each["values"], each["counts"]] for each in counts),
        "attributes": [attribute.name for attribute in project.attributes],
        "pairs": len(project.pairs),
    }


def make_project(
    project: ReviewProject,
    *,
    title: str,
    custodian: models.Account,
    manager: models.Account,
    page_size: int = 10,
    overlap: int = 1,
    gold_share: float = 0.0,
) -> Project:
    """Store a project, whole or not at all; its rules are proposed to its custodian.

    The index is built here; at a million records that takes a while.

    Parameters
    ----------
    gold_share
        Share of pairs with known truth among those dealt.

    Raises
    ------
    InputError
        If the custodian is the manager, who cannot consent to rules of their own.
    """
    if custodian.pk == manager.pk:
        raise InputError(
            "the custodian", "must be another person than the manager", found="one person"
        )
    # The id is drawn here: files are encrypted for it before there is a row.
    rules, project_id = project.settings, uuid4()
    index = index_of(project, rules, silent)
    own, people = _fingerprint_of(project), _sketches_of(project)
    _sketch_earlier()
    evidence = evidence_of(project)
    done = False
    try:
        # Files first: a row without its files could not be read, files without a row are removed.
        wrapped = write_project(project_id, project, index)
        with transaction.atomic():
            source, of_source = _source_of(own, people)
            made = Project.objects.create(
                id=project_id,
                title=title,
                custodian=custodian,
                manager=manager,
                attributes=[attribute.model_dump(mode="json") for attribute in project.attributes],
                settings=rules.model_dump(mode="json"),
                page_size=page_size,
                overlap=overlap,
                gold_share=gold_share,
                fingerprint=source,
                wrapped_key=wrapped,
                rows=2 * len(project.pairs),
                weights={
                    "prior": project.prior,
                    "weights": [asdict(weight) for weight in project.weights],
                    "evidence": None if evidence is None else asdict(evidence),
                },
            )
            proposal = models.Proposal.objects.create(
                project=made, by=manager, to=custodian, rules=made.settings, about=_about(project)
            )
            models.StoredPair.objects.bulk_create(
                models.StoredPair(project=made, number=number, gold=pair in project.gold)
                for number, pair in enumerate(project.pair_ids)
            )
            append(
                manager,
                "create project",
                f"project {made.id}",
                {
                    "attributes": [attribute.name for attribute in project.attributes],
                    "pairs": len(project.pairs),
                    "settings": made.settings,
                },
                rows=[*of_source, stated(made), stated(proposal), stated_pairs(made)],
            )
        done = True
    finally:
        if not done:
            remove_files(project_id)
    return made
