"""Make a project: its encrypted files, its rows in the database."""

from __future__ import annotations

import uuid
from dataclasses import asdict

from django.db import transaction

from sfumato.core.shared_options import silent
from sfumato.review.hints import evidence_of
from sfumato.review.review_project import Project as ReviewProject
from sfumato.review.terminal_session import index_of
from sfumato.server.audit.append import append
from sfumato.server.live.fingerprint import fingerprint_of
from sfumato.server.live.project_files import remove_files, write_project
from sfumato.server.store.models import Account, Project, StoredPair


def make_project(
    project: ReviewProject,
    *,
    title: str,
    custodian: Account,
    manager: Account,
    page_size: int = 10,
    overlap: int = 1,
    gold_share: float = 0.0,
) -> Project:
    """Store a project, whole or not at all.

    The index is built here; at a million records that takes a while.

    Parameters
    ----------
    project
        Its records, pairs, attributes and rules.
    title
        How its manager calls it.
    custodian, manager
        Who owns the data, and who deals the work.
    page_size
        Pairs on a page.
    overlap
        Workers who decide each pair.
    gold_share
        Share of pairs with known truth among those dealt.
    """
    rules, project_id = project.settings, uuid.uuid4()
    index = index_of(project, rules, silent)
    evidence = evidence_of(project)
    done = False
    try:
        wrapped = write_project(project_id, project, index)
        with transaction.atomic():
            made = Project.objects.create(
                id=project_id,
                title=title,
                custodian=custodian,
                manager=manager,
                attributes=[each.model_dump(mode="json") for each in project.attributes],
                settings=rules.model_dump(mode="json"),
                page_size=page_size,
                overlap=overlap,
                gold_share=gold_share,
                fingerprint=fingerprint_of(project),
                wrapped_key=wrapped,
                rows=2 * len(project.pairs),
                weights={
                    "prior": project.prior,
                    "weights": [asdict(each) for each in project.weights],
                    "evidence": None if evidence is None else asdict(evidence),
                },
            )
            StoredPair.objects.bulk_create(
                StoredPair(project=made, number=number, gold=pair in project.gold)
                for number, pair in enumerate(project.pair_ids)
            )
            append(
                manager,
                "create project",
                f"project {made.id}",
                {
                    "attributes": [each.name for each in project.attributes],
                    "pairs": len(project.pairs),
                    "settings": made.settings,
                },
            )
        done = True
    finally:
        if not done:
            remove_files(project_id)
    return made
