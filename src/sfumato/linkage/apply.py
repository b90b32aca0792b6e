"""Apply people's decisions to a linkage in its folder."""

from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from sfumato.linkage.answers import each_once
from sfumato.linkage.earlier import read_earlier
from sfumato.linkage.linked.person_ids import name_persons
from sfumato.linkage.linked.schema import LinkedSchema
from sfumato.linkage.links import Links
from sfumato.linkage.manifest import versions
from sfumato.linkage.persons.decisions import Decisions, read_decisions, together
from sfumato.linkage.settle import settle

IDS_AGAIN = 2
"""The stream of the seed that ids of persons who fall off others come from."""


def apply_decisions(
    folder: str | os.PathLike[str],
    decisions: str | os.PathLike[str],
    *,
    afresh: bool = False,
    pseudonym_key: bytes | None = None,
) -> Links:
    """The linkage of a folder with decisions: outcomes, persons and the linked file again.

    Nothing is written; `Links.write` does. No table of a source is opened. A person keeps the id
    of the person who shares the most records.

    Parameters
    ----------
    folder
        Folder of the linkage.
    decisions
        File of answers about its pairs. Answers applied before hold too, unless they are in here
        again, withdrawn or changed.
    afresh
        Whether the answers applied before count no more.
    pseudonym_key
        The secret, for a linkage whose ids were made with one.

    Raises
    ------
    InputError
        If the folder is none of a linkage, or the decisions are not about its pairs.
    """
    earlier = read_earlier(folder)
    earlier.check_key(pseudonym_key)
    answers = read_decisions(Path(decisions), earlier.pairs)
    if earlier.answers is not None and not afresh:
        answers = each_once(together(earlier.answers, answers))
    settled = settle(earlier.records, earlier.pairs, earlier.spec, answers, lost=earlier.model.lost)
    seed = earlier.manifest.seed
    ids = name_persons(
        earlier.records,
        settled.persons.person,
        np.random.default_rng([seed, IDS_AGAIN, _digest(answers)]),
        key=pseudonym_key,
        previous=earlier.person.to_pylist(),
    )
    return Links(
        records=earlier.records,
        pairs=earlier.pairs,
        settled=settled,
        person_ids=ids,
        analytic=earlier.analytic,
        linked_schema=LinkedSchema(earlier.schema, {}),
        review=earlier.review,
        identifying=earlier.identifying,
        spec=earlier.spec,
        suggested=False,
        notes={},
        model=earlier.model,
        decisions=answers,
        checks=earlier.checks,
        manifest=replace(earlier.manifest, thresholds=settled.thresholds, versions=versions()),
        origin=earlier.folder,
    )


def _digest(answers: Decisions) -> int:
    """A number that other answers do not have, so that no id is given twice."""
    digest = hashlib.sha256()
    for column in (answers.left, answers.right, answers.answer, answers.time, answers.withdrawn):
        digest.update(column.tobytes())
    return int.from_bytes(digest.digest()[:8], "big")
