"""Who answers for what an intruder finds: noted in the project file, where all read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date

import tomlkit
from tomlkit.items import Table

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError
from sfumato.pipeline.project_folder import ProjectFolder, in_period, open_project
from sfumato.pipeline.project_model import Accepted, Answered, AtMost, Project
from sfumato.pipeline.project_text import parse_project
from sfumato.pipeline.release_stages import verdict_of
from sfumato.risk.intruders import Findings
from sfumato.risk.verdict import GROWS, INTRUDERS, LINKAGE, SHARES, State, Verdict

Edit = Callable[[tomlkit.TOMLDocument], None]
"""Changes the text of a project file in place."""


def accepting(
    place: ProjectFolder,
    verdict: Verdict | None,
    row: str,
    by: str,
    because: str,
    until: date,
    at_most: float | None = None,
) -> Edit:
    """The edit which notes that a person answers for a row of the verdict.

    What promised limits left out was not measured: the next run, which keeps it, adds how much the
    answer covers.

    Parameters
    ----------
    verdict
        What is said of the release that is there now.
    row
        The intruder; of the insider with a column: ``insider.icd9``; or the linkage.
    by, because, until
        Who answers, why and until when.
    at_most
        Share of people found that is covered, at most 1.2 times what is found now; that without it.

    Raises
    ------
    InputError
        If there is no such row, or nothing of it is above or not measured.
    """
    for name, text in (("by", by), ("because", because)):
        if not text.strip():
            raise InputError(f"option --{name}", "must not be empty")
    said = Answered(by=by, because=because, until=until)
    # Nobody answers for the numbers of another release.
    if verdict is None:
        raise InputError(
            "the project", "must have a release that was judged", advice="sfumato run makes it"
        )
    intruder, _, column = row.partition(".")
    if intruder == "insider" and column in _left_out(place, verdict):
        if at_most is not None:
            raise InputError(
                "option --at-most", "must be left out", found="a column that was not measured"
            )
        return noting({(intruder, column): said})
    findings = _findings(verdict, intruder, column)
    most = {} if intruder == LINKAGE else _covered(findings)
    if at_most is not None:
        found = most.get("found", 0.0)
        if not 0 < at_most <= found:
            raise InputError(
                "option --at-most",
                f"must be at most {GROWS} times what is found now",
                accepted=f"a share up to {found:.4g}" if found else "nothing: none was measured",
            )
        most["found"] = at_most
    return noting({(intruder, column): _covering(said, most)})


def _left_out(place: ProjectFolder, verdict: Verdict) -> set[str]:
    """The columns that promised limits left out of the release."""
    every = {*place.released_schema().further} - {*place.project.release.withhold}
    return every - verdict.insiders.keys() if place.project.release.promise_limits else set()


def _covering(said: Answered, most: Mapping[str, float]) -> Answered:
    """An answer with how much it covers, where that was measured."""
    covered = {name: round(share, 4) for name, share in most.items()}
    own = said.model_dump(include={"by", "because", "until"})
    return Accepted(**own, at_most=AtMost(**covered)) if most else Answered(**own)


def measured_first(place: ProjectFolder) -> ProjectFolder:
    """The project once what was answered before anything was measured covers what is found now.

    Each such answer, as ``sfumato init`` notes them, gets its ``at_most`` in the project file; of
    what is not in the release, or not measured, it goes on to cover nothing.
    """
    open_answers = {
        row: each for row, each in place.project.accept.by_row.items() if each.at_most is None
    }
    verdict = verdict_of(place) if open_answers else None
    if verdict is None:
        return place
    insiders = {} if verdict.found is None else verdict.found.insiders
    made = {}
    for (intruder, column), answer in open_answers.items():
        findings = insiders.get(column) if column else verdict.row(intruder).findings
        if findings is not None:
            made[intruder, column] = _covering(answer, _covered(findings))
    if not made:
        return place
    write_edit(place, noting(made))
    return replace(place, project=open_project(place.file, place.period).project)


def _covered(findings: Findings | None) -> dict[str, float]:
    """What is covered: a little more than was found; nothing that is measured later."""
    now = dict.fromkeys(SHARES, 0.0) if findings is None else findings.shares
    return {name: min(1.0, GROWS * share) for name, share in now.items()}


def _findings(verdict: Verdict, intruder: str, column: str) -> Findings | None:
    """What is to be accepted; ``None`` where it was not measured."""
    columns = {**dict.fromkeys(verdict.row("insider").unmeasured), **verdict.insiders}
    rows = [name for name in INTRUDERS if name != "insider"]
    linked = [] if verdict.linkage is None else [LINKAGE]
    known = [*rows, *(f"insider.{name}" for name in columns), *linked]
    findings: Findings | None = None
    if intruder == "insider" and column in columns:
        findings, state = columns[column], State.NOT_MEASURED
        if findings is not None:
            state = State.ABOVE if verdict.limits.above(findings) else State.BELOW
    elif intruder in rows and not column:
        own = verdict.row(intruder)
        findings, state = own.findings, own.state
    elif verdict.linkage is not None and intruder == LINKAGE and not column:
        state = verdict.linkage.state
    else:
        raise InputError("argument ROW", "must be a row of the verdict", accepted=", ".join(known))
    if state in (State.BELOW, State.DOES_NOT_APPLY):
        raise InputError("argument ROW", f"needs no acceptance: its state is '{state.value}'")
    return findings


def noting(answers: Mapping[tuple[str, str], Answered]) -> Edit:
    """The edit that notes answers, by intruder and column; an empty column for the whole row."""

    def edit(document: tomlkit.TOMLDocument) -> None:
        for (intruder, column), said in answers.items():
            table = tomlkit.table()
            table.update(said.model_dump(include={"by", "because", "until"}))
            if isinstance(said, Accepted) and said.at_most is not None:
                covered = tomlkit.inline_table()
                covered.update(said.at_most.model_dump())
                table["at_most"] = covered
            section: Table = document.setdefault("accept", tomlkit.table(is_super_table=True))
            if column:
                section = section.setdefault(intruder, tomlkit.table(is_super_table=True))
            section[column or intruder] = table

    return edit


def write_edit(
    place: ProjectFolder, edit: Edit, check: Callable[[ProjectFolder], None] | None = None
) -> Project:
    """Edit the project file, whose comments and order stay as they are.

    Parameters
    ----------
    check
        Refuses the project as it would be.
    """
    document = tomlkit.parse(place.file.read_text(encoding="utf-8"))
    edit(document)
    text = tomlkit.dumps(document)
    project = parse_project(text)
    if check is not None:
        check(in_period(ProjectFolder(project, place.file)))
    write_text(place.file, text)
    return project
