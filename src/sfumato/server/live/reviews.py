"""The review of a project: read from its encrypted files once, then held in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.review.disclosure_account import Review
from sfumato.review.hints import AttributeEvidence, Evidence, Level
from sfumato.server.live.memory import Live, keep, kept, lock_of
from sfumato.server.live.project_files import attributes_of, read_index, read_rows, settings_of
from sfumato.server.store.models import Project


def review_of(project: Project) -> Review:
    """The review of a project; it is read once, however many threads ask.

    Parameters
    ----------
    project
        The project.

    Raises
    ------
    InputError
        If the project is purged, or a file is missing or was changed.
    """
    return live_of(project).review


def live_of(project: Project) -> Live:
    """What is held in memory of a project, under the rules that the database has now.

    Parameters
    ----------
    project
        The project.

    Raises
    ------
    InputError
        If the project is purged, or a file is missing or was changed.
    """
    with lock_of(project.id):
        live = kept(project.id)
        if live is not None and live.rules == project.settings:
            return live
        rules = settings_of(project)
        if live is None:
            left, right = read_rows(project)
            index = read_index(project)
            review = Review(attributes_of(project), rules, index, left, right)
        else:
            old = live.review
            review = Review(old.attributes, rules, old.index, old.left, old.right)
        live = Live(dict(project.settings), review, _evidence(project.weights.get("evidence")))
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
