"""The stage ``linked``: persons after people's answers, and the linked file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.core.progress import Progress
from sfumato.linkage.apply import apply_decisions
from sfumato.linkage.files import (
    ANALYTIC,
    CHECKS,
    IDENTIFYING,
    LEVELS,
    LINKED,
    LINKED_SCHEMA,
    MODEL,
    PAIRS,
    PERSONS,
    REVIEW,
    SPEC,
)
from sfumato.pipeline.kept.record import read_measured
from sfumato.pipeline.project.linking import Reviewers
from sfumato.pipeline.stages.copies import copy_private
from sfumato.pipeline.stages.link import LINK
from sfumato.pipeline.stages.place import REVIEW as REVIEW_STAGE
from sfumato.pipeline.stages.place import Place
from sfumato.pipeline.stages.reported import form_of, lacking, write_report
from sfumato.pipeline.stages.schemas import LINKED as NAME
from sfumato.pipeline.stages.stage import Made, Stage
from sfumato.review.decisions.export import DECISIONS

_COPIED = (LINKED, LINKED_SCHEMA, PERSONS)
"""What is taken over where nobody answered anything."""
_APPLIED_TO = (ANALYTIC, IDENTIFYING, LEVELS, MODEL, PAIRS, REVIEW, SPEC)
"""What answers are applied to, beside that."""


def _answers(place: Place) -> Path | None:
    """The answers to apply, where people were asked and there was something to answer."""
    if not place.project.is_reviewed:
        return None
    file = place.of_stage(REVIEW_STAGE) / DECISIONS
    return file if file.is_file() else None


def _settings(place: Place) -> dict[str, Any]:
    return {"seed": place.project.about.seed, "report": form_of(place).value}


def _files(place: Place) -> dict[str, Path]:
    asked = place.project.link
    if asked is None or asked.key_file is None or not place.project.is_reviewed:
        return {}
    return {"link.key_file": place.at(asked.key_file)}


def _earlier(place: Place) -> dict[str, tuple[str, ...]]:
    if _answers(place) is None:
        return {LINK: _COPIED}
    checks = (CHECKS,) if (place.of_stage(LINK) / CHECKS).is_file() else ()
    return {
        LINK: (*_COPIED, *_APPLIED_TO, *checks),
        REVIEW_STAGE: (DECISIONS,),
    }


def _make(place: Place, making: Path, progress: Progress) -> Made:
    answers = _answers(place)
    if answers is None:
        for name in _COPIED:
            copy_private(place.of_stage(LINK) / name, making / name)
        persons = (read_measured(place.of_stage(LINK)) or {}).get("persons", {})
        found = persons.get("count")
        said = "as linked by score" if found is None else f"{found:,} persons, as linked by score"
        return Made({"decisions": None, "persons": persons}, said)
    progress("persons", 0.0)
    asked = place.project.link
    key = None if asked is None else place.key(asked.key_file, "link.key_file")
    links = apply_decisions(place.of_stage(LINK), answers, afresh=True, pseudonym_key=key)
    links.write(
        making, also=lambda folder: write_report(links, place, folder, "Linkage after review")
    )
    simulated = place.project.review.by is Reviewers.SIMULATED
    whose = "a simulated worker's" if simulated else "people's"
    return Made(
        links.to_json(),
        f"{links.settled.persons.count:,} persons, with {whose} answers",
        (*links.warnings, *lacking(place)),
        place.project.about.seed,
    )


STAGE = Stage(NAME, _settings, _make, files=_files, earlier=_earlier)
