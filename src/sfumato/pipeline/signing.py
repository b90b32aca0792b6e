"""A person's decision about the release of a project, signed: to hand it over, or to refuse it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sfumato.core.atomic import all_or_none, write_text
from sfumato.core.errors import HandOverRefusedError, InputError
from sfumato.core.phrases import Phrase
from sfumato.core.signatures import SIGNATURE, Decision, Statement, check_signature
from sfumato.pipeline.project_folder import ATTACK, RELEASE, REPORT, ProjectFolder
from sfumato.pipeline.release_stages import judged_with, ledger_of
from sfumato.pipeline.report_stage import PUBLIC, RELEASED, REPORTS, WHOLE
from sfumato.pipeline.run import State as Stands
from sfumato.pipeline.run import Status, run_lock, status_of
from sfumato.pipeline.stage import MEASURED, RECORD, read_object, read_record
from sfumato.release.release_manifest import file_sha256
from sfumato.reports.report_targets import JSON
from sfumato.risk.verdict import LINKAGE, STATES, WHO, Row, State

DECIDER = "decides about the release"


@dataclass(frozen=True)
class Requirement:
    """What must be so before a release is handed over.

    Attributes
    ----------
    row
        The row of the verdict for which a person may answer; empty where none may.
    words
        The sentence.
    more
        What is found instead, or makes it so.
    covers
        Whether an answer covers what is found now: not where nothing was measured.
    """

    words: str
    met: bool
    more: str = ""
    row: str = ""
    covers: bool = False


def requirements(status: Status) -> list[Requirement]:
    """What must be so before a release is handed over, and whether it is."""
    done, verdict = status.is_done, status.verdict
    made = Requirement(
        Phrase("Release and reports are made of what is there now."),
        done,
        Phrase("Run makes them."),
    )
    if verdict is None:
        return [made, Requirement(Phrase("What intruders find is measured."), met=False)]
    rows = [
        Requirement(
            Phrase("The {who} is below the limits, or accepted.", who=WHO[row.intruder]),
            not row.stops,
            Phrase("{state}: {why}", state=STATES[row.state], why=row.why),
            _answered_for(row),
            row.findings is not None,
        )
        for row in verdict.rows
    ]
    linkage = [] if verdict.linkage is None else [
        Requirement(
            Phrase("The quality of the linkage is measured, or accepted."),
            verdict.linkage.state is not State.NOT_MEASURED,
            str(verdict.linkage),
            row=LINKAGE,
        )
    ]  # fmt: skip
    if verdict.evidence:
        beaten = any(each.beaten and each.own for each in verdict.evidence)
        attacked = Requirement(Phrase("No attack found more than was predicted."), not beaten)
    else:
        # One that had nothing to try leaves no evidence.
        ran = any(stage.name == ATTACK and stage.state is Stands.DONE for stage in status.stages)
        asked = status.place.project.attack is not None
        attacked = Requirement(Phrase("No attack had anything to guess."), met=True) if ran else (
            Requirement(Phrase("No attack was made."), not asked, Phrase("[attack] asks for it."))
        )  # fmt: skip
    return [made, *rows, *linkage, attacked]


def _answered_for(row: Row) -> str:
    """What `accepting` calls a row: of the insider a column of which nothing was measured, too."""
    if row.intruder != "insider" or row.column:
        return row.name
    accepted = {each.column for each in row.accepted}
    columns = [column for column in row.unmeasured if column not in accepted]
    return ".".join((row.name, *columns[:1]))


def records_sha(place: ProjectFolder) -> str:
    """SHA-256 of the records of all stages, which name all that is judged and signed."""
    records = {name: place.of_stage(name) / RECORD for name in place.stage_names}
    made = {name: file_sha256(record) for name, record in records.items() if record.is_file()}
    return hashlib.sha256(json.dumps(made).encode("ascii")).hexdigest()


def check_shown(place: ProjectFolder, expected: str) -> None:
    """Refuse an answer to what is no longer there.

    Parameters
    ----------
    expected
        The `records_sha` of what was shown to the person who answers.

    Raises
    ------
    InputError
        If a stage was made again since.
    """
    if records_sha(place) != expected:
        raise InputError(
            "the release",
            "must be as the page showed it",
            found="the release changed since the page was shown",
            advice="look again, then decide",
        )


def signature_file(place: ProjectFolder) -> Path:
    """Where the signature of a project's release is, if it is signed."""
    return place.of_stage(REPORT) / SIGNATURE


def sign(
    place: ProjectFolder,
    decision: Decision,
    key: Ed25519PrivateKey,
    *,
    by: str,
    because: str,
    to: str = "",
    expected: str | None = None,
) -> Path:
    """Sign what was decided of the release, and hand it over where that was decided.

    Parameters
    ----------
    to
        Who gets it; whom ``[ledger]`` names where not given.
    expected
        The `records_sha` of what was shown to the person who decides; ``None`` for any.

    Raises
    ------
    HandOverRefusedError
        If it is to be handed over and is not ready, or with what was handed over before gives
        away too much.
    """
    with run_lock(place.stages):
        if expected is not None:
            check_shown(place, expected)
        status = _checked_status(place)
        file = signature_file(place)
        # One of an earlier release gives way; the ledger still knows of it.
        if file.exists() and not check_signature(file).fault:
            raise InputError(
                f"file {SIGNATURE}",
                "must not be there",
                found="a signature of this release",
                advice="a decision stays; another release is signed anew",
            )
        if decision is Decision.RELEASED:
            section = place.project.ledger
            to = to or (section.to if section is not None and section.to else "")
            if not to:
                raise InputError("option --to", "must say who gets the release", found="nothing")
            _check_ready(status)
        return _signed(place, statement_of(place, decision, by, because, to), key, file)


def statement_of(
    place: ProjectFolder, decision: Decision, by: str, because: str, to: str
) -> Statement:
    """What is signed of a project's release as it is.

    Exact numbers and intervals stand in the reports that stay inside, which are signed by their
    hash: the signature itself is handed over, and says of the verdict what anybody may read.
    """
    folder = place.of_stage(REPORT)
    told = read_object((folder / PUBLIC / WHOLE).with_suffix(JSON)) or {}
    verdict = told.get("verdict", {})
    about: dict[str, Any] = {
        "project": place.project.about.name,
        "project_sha256": file_sha256(place.file),
        "verdict": {name: each for name, each in verdict.items() if name != "answers"},
    }

    record = read_record(folder)
    made = {} if record is None else record.outputs
    there = [path for path in (folder / RELEASED).rglob("*") if path.is_symlink() or path.is_file()]
    others = [path for path in there if path.relative_to(folder).as_posix() not in made]
    if others:
        raise InputError(
            f"folder {RELEASED}",
            "must hold what the run made, and nothing else, to be signed",
            found=f"{len(others)} other files",
            advice="take them away",
        )

    def hashes(*names: str) -> dict[str, str]:
        within = (name for name in sorted(made) if name.partition("/")[0] in names)
        # As they were made, not as they are read again: what was checked is signed.
        return {name: made[name].sha256 for name in within}

    time = datetime.now(UTC).isoformat(timespec="seconds")
    leaving, inside = hashes(RELEASED), hashes(PUBLIC, REPORTS)
    # Of several lines one: what is signed is printed as a line.
    by, because, to = (" ".join(text.split()) for text in (by, because, to))
    return Statement(decision, by, because, time, to, about, leaving, inside)


def _checked_status(place: ProjectFolder) -> Status:
    """How the project stands: made of what is there now, and released by no policy."""
    if place.project.policy is not None:
        raise InputError("section [policy]", DECIDER, advice="a release on request is not signed")
    status = status_of(place)
    if not status.is_done:
        stage = next(each for each in status.stages if each.state.value != "done")
        raise InputError(
            "the project",
            "must be made of what is there now before it is signed",
            found=f"stage {stage.name}, {stage.state.value}",
            advice="sfumato run",
        )
    return status


def _check_ready(status: Status) -> None:
    """Refuse to hand over what does not meet each requirement."""
    unmet = [each for each in requirements(status) if not each.met]
    if unmet:
        verdict = status.verdict
        headline = [] if verdict is None or verdict.ready else [verdict.headline]
        faults = [f"Not met: {each.words} {each.more}".rstrip() for each in unmet]
        raise HandOverRefusedError(
            (*headline, *faults), said="A release that is not ready is not signed."
        )


def _signed(place: ProjectFolder, statement: Statement, key: Ed25519PrivateKey, file: Path) -> Path:
    """Write a signature, and note it with what is handed over: all of it or nothing."""
    leaves = statement.decision is Decision.RELEASED
    text = statement.signed(key)
    draft = (read_object(place.of_stage(RELEASE) / MEASURED) or {}).get("draft")
    # The file takes its place after the ledger has agreed; without its ledger none is signed.
    with all_or_none(), ledger_of(place) as memory:
        write_text(file, text)
        if memory is not None and draft is not None:
            with memory.changing():
                if leaves and statement.to not in memory.noted(draft).to:
                    memory.hand_over(draft, statement.to, **judged_with(place, draft))
                memory.note_signature(
                    draft,
                    statement.by,
                    decision=statement.decision.value,
                    because=statement.because,
                    sha256=hashlib.sha256(text.encode()).hexdigest(),
                )
    return file
