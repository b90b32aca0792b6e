"""The sections about what comes of it: ``[attack]`` and ``[outputs]``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from sfumato.pipeline.project.frozen import (
    Frozen,
    Names,
    Rate,
    Several,
    Share,
    as_value_errors,
)

Shares = Rate | dict[str, Rate]


class ReportForm(StrEnum):
    """In which form each stage reports."""

    HTML = "html"
    """A page, with the same as JSON beside it."""
    JSON = "json"


class Attack(Frozen):
    """What the simulated intruder holds, and which attacks are run.

    Attributes
    ----------
    register_file
        The file of the persons whom the intruder looks for, with exact values; the data before
        the release when not given, which is what an acquaintance knows.
    knows
        Quasi-identifiers that the intruder knows; all of them when not given.
    counts
        Whether the intruder knows how many records each person has.
    noise, missing
        Share of the values that the intruder knows wrongly, or not at all: of all
        quasi-identifiers, or by column.
    attacks
        Names of the attacks; all that fit when not given.
    threshold
        A right guess of which the intruder was surer counts as exposed.
    """

    register_file: Annotated[Path | None, Field(alias="register")] = None
    knows: Names | None = None
    counts: bool = False
    noise: Shares = 0.0
    missing: Shares = 0.0
    attacks: Names | None = None
    threshold: Share = 0.2

    @model_validator(mode="after")
    def _known_attacks(self) -> Attack:
        if self.attacks is not None:
            from sfumato.intruder.staging.registry import check_names  # costs a start's time

            with as_value_errors("attacks"):
                check_names(self.attacks)
        return self


class Outputs(Frozen):
    """Where the results go.

    Attributes
    ----------
    folder
        The folder of the release and the reports.
    stages
        The folder of what the stages made; it holds personal data and stays inside.
    formats
        The formats of the release.
    report
        In which form each stage reports.
    """

    folder: Path = Path("output")
    stages: Path = Path("stages")
    formats: Annotated[tuple[Literal["csv", "parquet"], ...], Several, Field(min_length=1)] = (
        "csv",
    )
    report: ReportForm = ReportForm.HTML
