"""Who answers for what an intruder finds: noted in the project file, where all read it."""

from __future__ import annotations

from datetime import date

import tomlkit
from tomlkit.items import Table

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError
from sfumato.pipeline.project_folder import ProjectFolder
from sfumato.pipeline.project_text import parse_project
from sfumato.pipeline.run import status_of
from sfumato.risk.intruders import Findings
from sfumato.risk.verdict import GROWS, INTRUDERS, SHARES, Acceptance, State, Verdict


def accept(
    place: ProjectFolder, row: str, by: str, because: str, until: date, at_most: float | None
) -> Acceptance:
    """Note in the project file that somebody answers for a row of the verdict.

    Parameters
    ----------
    row
        The intruder; of the insider with a column: ``insider.icd9``.
    at_most
        Share of people found that is covered, at most 1.2 times what is found now; that without it.

    Raises
    ------
    InputError
        If there is no such row, or nothing of it is above or not measured.
    """
    # Of what is there now: nobody answers for the numbers of another release.
    verdict = status_of(place).verdict
    if verdict is None:
        raise InputError(
            "the project", "must have a release that was judged", advice="sfumato run makes it"
        )
    intruder, _, column = row.partition(".")
    findings = _findings(verdict, intruder, column)
    now = dict.fromkeys(SHARES, 1.0) if findings is None else findings.shares
    most = {name: min(1.0, GROWS * share) for name, share in now.items()}
    if at_most is not None:
        if not 0 < at_most <= most["found"]:
            raise InputError(
                "option --at-most",
                f"must be at most {GROWS} times what is found now",
                accepted=f"a share up to {most['found']:.4g}",
            )
        most["found"] = at_most
    own = Acceptance(intruder, by, because, until, most, column)
    _write(place, own)
    return own


def _findings(verdict: Verdict, intruder: str, column: str) -> Findings | None:
    """What is to be accepted; ``None`` where it was not measured."""
    columns = {} if verdict.found is None else verdict.found.insiders
    rows = [name for name in INTRUDERS if name != "insider"]
    known = [*rows, *(f"insider.{name}" for name in columns)]
    if intruder == "insider" and column in columns:
        findings: Findings | None = columns[column]
        state = State.ABOVE if verdict.limits.above(columns[column]) else State.BELOW
    elif intruder in rows and not column:
        own = verdict.row(intruder)
        findings, state = own.findings, own.state
    else:
        raise InputError("argument ROW", "must be a row of the verdict", accepted=", ".join(known))
    if state in (State.BELOW, State.DOES_NOT_APPLY):
        raise InputError("argument ROW", "needs no acceptance", found=state.value)
    return findings


def _write(place: ProjectFolder, own: Acceptance) -> None:
    """Write an acceptance into the project file, whose comments and order stay as they are."""
    document = tomlkit.parse(place.file.read_text(encoding="utf-8"))
    table = tomlkit.table()
    table.update({"by": own.by, "because": own.because, "until": own.until})
    covered = tomlkit.inline_table()
    covered.update({name: round(share, 4) for name, share in own.at_most.items()})
    table["at_most"] = covered
    section: Table = document.setdefault("accept", tomlkit.table(is_super_table=True))
    if own.column:
        section = section.setdefault(own.intruder, tomlkit.table(is_super_table=True))
    section[own.column or own.intruder] = table
    text = tomlkit.dumps(document)
    parse_project(text)
    write_text(place.file, text)
