"""The folder of a review, opened: its records, its pairs, its index."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sfumato.core.shared_options import Progress
from sfumato.review.anonymity.database import Database
from sfumato.review.anonymity.index import Index
from sfumato.review.project.folder import PROJECT, load_project
from sfumato.review.project.from_linkage import from_linkage
from sfumato.review.project.project import LEFT, RIGHT, Project
from sfumato.review.settings import Settings
from sfumato.review.state.review import Review

if TYPE_CHECKING:
    from sfumato.review.terminal.entries import Beginning

ORDER = 0
"""Seed of the order in which pairs are numbered; each worker has an order of his own."""


@dataclass(frozen=True)
class OpenedFolder:
    """The folder of a review.

    Attributes
    ----------
    project
        Its records and pairs.
    rules
        The rules of a project; ``None`` for a linkage.
    """

    project: Project
    rules: Settings | None

    @property
    def is_linkage(self) -> bool:
        """Whether it is the folder of a linkage, to which answers go back."""
        return self.rules is None


def open_folder(folder: Path) -> OpenedFolder:
    """The records and pairs of a folder.

    Parameters
    ----------
    folder
        What ``sfumato link`` wrote, or a project.

    Raises
    ------
    InputError
        If it is neither, or lacks a file.
    """
    if (folder / PROJECT).is_file():
        project = load_project(folder)
        return OpenedFolder(project, project.settings)
    return OpenedFolder(from_linkage(folder, np.random.default_rng(ORDER)), None)


def index_of(project: Project, settings: Settings, progress: Progress) -> Index:
    """The database of a project, indexed.

    Parameters
    ----------
    project
        Its records.
    settings
        The rules, for the bands of rarity.
    progress
        Told how far it is.
    """
    database = Database.of(
        project.attributes,
        project.columns,
        rare_below=settings.rare_below,
        common_from=settings.common_from,
    )
    return Index.build(database, progress)


def review_of(project: Project, settings: Settings, index: Index) -> Review:
    """What workers look at.

    Parameters
    ----------
    project
        Its pairs.
    settings
        The rules.
    index
        Of its records.
    """
    left, right = (np.asarray(project.pairs[side]) for side in (LEFT, RIGHT))
    return Review(project.attributes, settings, index, left, right)


def same_rules(one: Beginning, other: Beginning) -> bool:
    """Whether two journals are of one review: the same records, pairs and rules of disclosure.

    Parameters
    ----------
    one, other
        First lines of journals.
    """
    aside = {"budget": None, "hints": False}
    return (
        one.records == other.records
        and set(one.pairs) == set(other.pairs)
        and one.settings.model_copy(update=aside) == other.settings.model_copy(update=aside)
    )
