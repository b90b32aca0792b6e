"""What the stages of a project found, as the report of the project takes it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError

LINK, REVIEW, LINKED = "link", "review", "linked"
ASSESS, RELEASE, ATTACK = "assess", "release", "attack"
CONTEXT = ("recipients", "purpose", "controls", "context", "review_date")
"""What a project file may say of a release beside its data."""


@dataclass(frozen=True)
class StageFound:
    """What a stage found.

    Attributes
    ----------
    record
        Its record as plain values: settings, hashes, seed, time, versions.
    measured
        All that it measured, as plain values.
    about
        What its own report adds to that: how it stands to thresholds in use elsewhere.
    """

    record: Mapping[str, Any]
    measured: Mapping[str, Any]
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ProjectResults:
    """What a whole project found.

    Attributes
    ----------
    name
        Name of the project.
    stages
        What its stages found, by their names.
    context
        What the project file says of recipients, purpose, controls, context and the review date.
    reasons
        Why columns have their roles, in the custodian's words, by column.
    """

    name: str
    stages: Mapping[str, StageFound]
    context: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_on_request(self) -> bool:
        """Whether a policy decided about the release."""
        return "request" in self.measured(RELEASE)

    def measured(self, stage: str) -> Mapping[str, Any]:
        """What a stage measured; nothing where there is no such stage.

        Parameters
        ----------
        stage
            Its name.
        """
        found = self.stages.get(stage)
        return {} if found is None else found.measured

    def settings(self, stage: str) -> Mapping[str, Any]:
        """The part of the project file that concerns a stage; nothing where there is none.

        Parameters
        ----------
        stage
            Its name.
        """
        found = self.stages.get(stage)
        return {} if found is None else found.record.get("settings", {})

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> ProjectResults:
        """The results as ``sfumato run`` collects them in project.json.

        Parameters
        ----------
        plain
            ``project``, ``stages`` with ``record`` and ``measured`` each, and where they are
            known ``about`` of each, ``context`` and ``reasons``.

        Raises
        ------
        InputError
            If they are something else.
        """
        try:
            stages = {
                name: StageFound(each["record"], each["measured"], each.get("about") or {})
                for name, each in plain["stages"].items()
            }
            name = str(plain["project"])
            said = {key: str(text) for key, text in (plain.get("context") or {}).items()}
            reasons = dict(plain.get("reasons") or {})
        except (KeyError, TypeError, AttributeError):
            raise _wrong() from None
        if RELEASE not in stages:
            raise InputError(
                "results of a project",
                "must include its release",
                found="none",
                advice="run the project first: sfumato run",
            )
        return cls(name, stages, said, reasons)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ProjectResults:
        """The results that ``sfumato run`` wrote, ``reports/project.json``.

        Parameters
        ----------
        path
            The file.

        Raises
        ------
        InputError
            If it cannot be read or holds something else.
        """
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise _wrong() from None
        return cls.from_json(plain)


def _wrong() -> InputError:
    return InputError(
        "results of a project",
        "must be what 'sfumato run' collects in project.json",
        found="something else",
    )
