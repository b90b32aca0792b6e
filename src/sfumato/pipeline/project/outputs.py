"""The sections about what comes of it: ``[attack]`` and ``[outputs]``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sfumato.core.declaration import is_database
from sfumato.intruder.attack_options import Holding, Judging
from sfumato.pipeline.project.frozen import (
    Frozen,
    Section,
    Several,
    as_value_errors,
    declared_fields,
    with_fields,
)


class ReportForm(StrEnum):
    """In which form each stage reports."""

    HTML = "html"
    """A page, with the same as JSON beside it."""
    JSON = "json"


@with_fields(
    **declared_fields(Holding, only=("register", "knows", "counts", "noise", "missing")),
    **declared_fields(Judging, only=("attacks", "threshold")),
)
class Attack(Section):
    """What the simulated intruder holds, and which attacks are run.

    The keys are those of `Holding` and `Judging`. Without a register, the intruder looks for
    persons in the data before the release, which is what an acquaintance knows.
    """

    @model_validator(mode="after")
    def _known_attacks(self) -> Self:
        if self.attacks is not None:
            from sfumato.intruder.stages import check_names  # costs a start's time

            with as_value_errors("attacks"):
                check_names(self.attacks)
        return self


ReleaseForm = Literal["csv", "parquet", "xlsx", "dta", "sav"]


class Outputs(Frozen):
    """Where the results go.

    Attributes
    ----------
    folder
        The folder of the release and the reports.
    stages
        The folder of what the stages made; it holds personal data and stays inside.
    formats
        The formats of the release; the last three need the extra ``formats``.
    database
        The URL of a new table that the release goes into as well, with the extra ``databases``.
    report
        In which form each stage reports.
    """

    folder: Path = Path("output")
    stages: Path = Path("stages")
    formats: Annotated[tuple[ReleaseForm, ...], Several, Field(min_length=1)] = ("csv",)
    database: str | None = None
    report: ReportForm = ReportForm.HTML

    @model_validator(mode="after")
    def _is_database(self) -> Outputs:
        if self.database is not None and not is_database(self.database):
            raise ValueError("'database' must be the URL of a table of PostgreSQL or SQLite")
        return self
