"""What is asked for a new project."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sfumato.core.errors import InputError
from sfumato.pipeline.project.linking import Reviewers


@dataclass(frozen=True)
class Wanted:
    """What is asked for a new project; ``None`` leaves it to the proposal.

    Attributes
    ----------
    sources
        The tables by name.
    folder
        The folder of the project file, from which files are named.
    name, seed
        As in ``[project]``; a seed is drawn when not given.
    attach
        Further records of a source's persons, by its name.
    delimiter
        The separator of all CSV files.
    id
        The column that names each record.
    schema, specification
        Files with a schema and a specification, in place of proposed ones.
    dedupe, one_per_source
        As in ``[link]``.
    reviewers, review_k, budget
        As in ``[review]``.
    g_balance, h_affiliation, pid_k, presets
        As in ``[release]``.
    formats
        As in ``[outputs]``.

    Raises
    ------
    InputError
        If two tables have the same name.
    """

    sources: Mapping[str, Path]
    folder: Path
    name: str | None = None
    seed: int | None = None
    attach: Mapping[str, Path] = field(default_factory=dict)
    delimiter: str | None = None
    id: str | None = None
    schema: Path | None = None
    specification: Path | None = None
    dedupe: bool = False
    one_per_source: bool = False
    reviewers: Reviewers = Reviewers.NONE
    review_k: int | None = None
    budget: float | None = None
    g_balance: float | None = None
    h_affiliation: float | None = None
    pid_k: int | None = None
    presets: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field_ in ("sources", "attach"):
            named = {source_name(name): path for name, path in getattr(self, field_).items()}
            if len(named) < len(getattr(self, field_)):
                raise InputError(
                    "the tables",
                    "must have names that differ in their letters and digits",
                    found="two alike",
                    advice="say how each is called: hospital=FILE practice=FILE",
                )
            object.__setattr__(self, field_, named)

    @property
    def is_linked(self) -> bool:
        """Whether records are linked."""
        return len(self.sources) > 1 or self.dedupe


def source_name(text: str) -> str:
    """A name of a source as a project file takes it.

    Parameters
    ----------
    text
        What somebody says, or the name of a file.
    """
    return re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-_")[:60] or "table"
