"""A folder's pairs judged by simulated workers, against the truth where it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.core.errors import InputError
from sfumato.core.shared_options import Progress
from sfumato.review.hints.evidence import evidence_of
from sfumato.review.project.gold import with_gold
from sfumato.review.project.project import ID, LEFT, RIGHT, SOURCE, Project
from sfumato.review.project.read_table import read_text_table
from sfumato.review.settings import Settings
from sfumato.review.simulated.trade_off import CERTAINTIES, Point, trade_off
from sfumato.review.terminal.measures import plain_settings
from sfumato.review.terminal.opened import OpenedFolder, index_of, open_folder, review_of

_PERSONS = ("clinic", "patient", "person")
"""The columns of the demo's truth: a record's source, its id, whose it is."""


def simulated_in(
    folder: Path,
    truth: Path | None,
    certainties: Sequence[float] | None,
    given: Mapping[str, Any],
    progress: Progress,
) -> tuple[tuple[Point, ...], dict[str, Any]]:
    """The curve of a folder's pairs, and what it is of.

    Parameters
    ----------
    folder
        What ``sfumato link`` wrote, or a project.
    truth
        A file of known truth.
    certainties
        At which workers stop opening cells.
    given
        Rules in place of the project's or the default ones.
    progress
        Told how far it is.

    Raises
    ------
    InputError
        If the folder has no model, or the truth is none of its records.
    """
    opened = open_folder(folder)
    project = opened.project
    evidence = evidence_of(project)
    if evidence is None:
        raise InputError(
            f"folder {folder.name or folder}",
            "must have a linkage's model, by which simulated workers judge",
            found="none",
        )
    rules = _rules(opened, given)
    known = _truth(project, truth)
    review = review_of(project, rules, index_of(project, rules, progress))
    asked = tuple(sorted(set(certainties))) if certainties else CERTAINTIES
    points = trade_off(review, range(review.pairs), evidence, known or None, asked, progress)
    facts = {
        "pairs": review.pairs,
        "known_truth": len(known),
        "settings": plain_settings(rules, without={"hints", "project_budget"}),
    }
    return points, facts


def _rules(opened: OpenedFolder, given: Mapping[str, Any]) -> Settings:
    """The rules; a budget of all workers together is not one of a simulated worker."""
    rules = opened.rules or Settings()
    return rules.model_copy(update={"project_budget": None, **given})


def _truth(project: Project, path: Path | None) -> dict[int, bool]:
    """By number of the pair, whether its records are one person's."""
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    known = {number_of[pair]: same for pair, same in project.gold.items()}
    if path is None:
        return known
    table = read_text_table(path, f"file {path.name}")
    if set(_PERSONS) <= set(table.column_names):
        return known | _by_persons(project, table, path)
    return known | _by_pairs(project, table)


def _by_pairs(project: Project, table: pa.Table) -> dict[int, bool]:
    _, same = with_gold(project.records, project.pairs, table)
    number_of = {pair: number for number, pair in enumerate(project.pair_ids)}
    return {number_of[pair]: truth for pair, truth in same.items() if pair in number_of}


def _by_persons(project: Project, table: pa.Table, path: Path) -> dict[int, bool]:
    sources, ids, persons = (table[name].to_pylist() for name in _PERSONS)
    person_of = dict(zip(zip(sources, ids, strict=True), persons, strict=True))
    records = zip(project.records[SOURCE].to_pylist(), project.records[ID].to_pylist(), strict=True)
    of = [person_of.get(each) for each in records]
    left, right = (np.asarray(project.pairs[side]).tolist() for side in (LEFT, RIGHT))
    known = {
        number: of[one] == of[two]
        for number, (one, two) in enumerate(zip(left, right, strict=True))
        if of[one] is not None and of[two] is not None
    }
    if not known:
        raise InputError(
            f"file {path.name}", "must be about the folder's records", found="none of them"
        )
    return known
