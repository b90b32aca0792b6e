"""``sfumato run``, ``status`` and ``accept``: bring a project on, and answer for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import WAITING, columns, print_found, print_json, progress_bar, say
from sfumato.cli.parameters import Json, option

if TYPE_CHECKING:
    from sfumato.core.declaration import Progress
    from sfumato.pipeline.project_folder import ProjectFolder
    from sfumato.pipeline.run import StageState, Status
    from sfumato.pipeline.stage import Waiting

_KILO = 1000
ProjectFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The project file, or its folder.")
]


def run(
    file: ProjectFile = Path("sfumato.toml"),
    until: Annotated[str | None, option(metavar="STAGE", help="Stop after this stage.")] = None,
    force: Annotated[
        list[str] | None,
        option(metavar="STAGE", help="Make this stage again even if nothing changed. Repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Run a project: link, review, assess, release, attack, report.

    What did not change is not made again; interrupted, the next run goes on. It stops where people
    are needed, and says what waits for whom.

    Exit codes: 0 ready, 1 bad input, 2 a number is above its limit, 3 it waits for people, 4
    something was not measured, 5 a promise cannot be kept.
    """
    from sfumato.pipeline.project_folder import open_project
    from sfumato.pipeline.release_stages import hand_over

    place = open_project(file)
    status = run_telling(place, until, tuple(force or ()))
    if any(stage.ran and stage.name == "release" for stage in status.stages):
        _say_remembered(place)
    if json:
        print_json(status.to_json())
    waiting, verdict = status.waiting, status.verdict
    if waiting is None:
        if verdict is not None and not json:
            typer.echo(f"\n{verdict}")
        # After the rows, which say why a release is refused.
        if status.is_done and (to := hand_over(place)):
            say(f"Handed over to {to}.")
        raise typer.Exit(0 if verdict is None else verdict.exit_code)
    for line in _waiting_lines(waiting, status.place.file):
        say(line)
    raise typer.Exit(WAITING)


def _say_remembered(place: ProjectFolder) -> None:
    """Say where a release is remembered, or that it is not."""
    from sfumato.pipeline.release_stages import ledger_file

    section = place.project.ledger
    if section is None or section.remember:
        say(
            f"Remembered: {ledger_file(place)}, so that later releases are compared with this one; "
            "a project names another ledger under [ledger], or says 'remember = false' there."
        )
    else:
        say(
            "Not remembered: [ledger] says 'remember = false', so that no later release is "
            "compared with this one."
        )


def status(file: ProjectFile = Path("sfumato.toml"), json: Json = False) -> None:
    """Say how far a project is: each stage, its time, its size, and what waits for whom."""
    from sfumato.pipeline.project_folder import open_project
    from sfumato.pipeline.run import status_of

    found = status_of(open_project(file))
    print_found(found.to_json(), _status_lines(found), json=json)


def dossier(
    recipient: Annotated[
        str, typer.Argument(metavar="RECIPIENT", help="Who gets the release, as in the ledger.")
    ],
    file: ProjectFile = Path("sfumato.toml"),
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where: .html, .pdf or .json."),
    ] = Path("dossier.html"),
    public: Annotated[
        bool, option(help="Write what may be published: coarse numbers, no names.")
    ] = False,
) -> None:
    """Write the dossier for one recipient: what is measured, assumed and unknown of a release.

    It has a page and the same as JSON beside it. The recipient is judged with everything that left
    until now, by the ledger. [dossier.RECIPIENT] of the project file has what no measure tells.
    """
    from sfumato.core.errors import InputError
    from sfumato.pipeline.project_folder import REPORT, open_project
    from sfumato.pipeline.report_stage import results_for
    from sfumato.pipeline.run import State, status_of
    from sfumato.reports import report

    place = open_project(file)
    stages = [each for each in status_of(place).stages if each.name != REPORT]
    if any(each.state is not State.DONE for each in stages):
        raise InputError(
            "the project",
            "must be run up to its release",
            found="a stage that is not made of what is there now",
            advice=f"type: {run_again(place.file)}",
        )
    audience = "public" if public else "internal"
    report(results_for(place, recipient), output, audience=audience, recipient=recipient)
    say(f"Dossier: {output}")


def accept(
    row: Annotated[
        str,
        typer.Argument(
            metavar="ROW", help="stranger, acquaintance, recipient, insider.COLUMN, or linkage."
        ),
    ],
    file: ProjectFile = Path("sfumato.toml"),
    *,
    by: Annotated[str, option(metavar="NAME", help="Who decided: role (name).")],
    because: Annotated[str, option(metavar="WHY", help="Why; it stands in every report.")],
    until: Annotated[
        datetime,
        option(metavar="DATE", formats=["%Y-%m-%d"], help="The last day on which it counts."),
    ],
    at_most: Annotated[
        float | None,
        option(
            metavar="SHARE",
            help="Share of people found that is covered: at most 1.2 times what is found now, "
            "which it is without this.",
        ),
    ] = None,
) -> int:
    """Answer by name for what an intruder finds above the limit: noted in the project file.

    Exit codes: those of the release with it, as 'sfumato run' has them.
    """
    from sfumato.pipeline.acceptances import accepting, write_edit
    from sfumato.pipeline.project_folder import open_project
    from sfumato.pipeline.run import status_of
    from sfumato.risk.verdict import EXIT_CODES, State

    place = open_project(file)
    verdict = status_of(place).verdict
    write_edit(place, accepting(place, verdict, row, by, because, until.date(), at_most))
    verdict = status_of(open_project(place.file)).verdict
    if verdict is None:
        # A column that promised limits left out: the release with it is another one.
        say(f"Noted in {file}; the next run keeps it and measures it: {run_again(place.file)}")
        return EXIT_CODES[State.NOT_MEASURED]
    typer.echo(str(verdict))
    say(f"Noted in {file}; the next run reports it: {run_again(place.file)}")
    return verdict.exit_code


def run_telling(
    place: ProjectFolder, until: str | None = None, force: tuple[str, ...] = ()
) -> Status:
    """Run a project: a line for each stage, each warning once, a bar while one is made.

    Parameters
    ----------
    until, force
        As `sfumato.pipeline.run.run` takes them.

    Raises
    ------
    SfumatoError
        As `sfumato.pipeline.run.run`.
    """
    from sfumato.pipeline.run import run, stages_of

    names = [stage.name for stage in stages_of(place)]
    warned: list[str] = []

    def tell(state: StageState) -> None:
        say(_done_line(state, names))
        for line in _warning_lines(state):
            # Stages repeat the warnings of those before them.
            if line not in warned:
                warned.append(line)
                say(line)

    status = run(place, until=until, force=force, working=_working, tell=tell)
    if status.place.project.accept != place.project.accept:
        say(f"Noted in {place.file.name}, as at_most: how much what stands under [accept] covers.")
    return status


@contextmanager
def _working(name: str) -> Iterator[Progress]:
    """The bar of a stage, under the stage's name."""
    with progress_bar() as progress:
        yield lambda step, share: progress(f"{name}: {step}", share)


def _done_line(state: StageState, names: Sequence[str]) -> str:
    """A stage of a run, in a line."""
    number = f"{names.index(state.name) + 1}/{len(names)}"
    width = max(map(len, names))
    record = state.record
    if state.waiting is not None:
        return f"{number}  {state.name:<{width}}  waits for {state.waiting.whom}"
    if record is None:
        return f"{number}  {state.name:<{width}}  {state.state.value}"
    spent = f"{record.seconds:.1f} s" if state.ran else "unchanged"
    return f"{number}  {state.name:<{width}}  {spent:>9}  {_size(record.bytes):>8}  {record.said}"


def _warning_lines(state: StageState) -> list[str]:
    """The warnings of a stage that this run made."""
    if state.record is None or not state.ran:
        return []
    return [f"Warning: {warning}" for warning in state.record.warnings]


def _waiting_lines(waiting: Waiting, file: Path) -> list[str]:
    """What a project waits for, and what to type."""
    lines = ["", f"Waiting for the {waiting.whom}: {waiting.what}.", "Type:"]
    return [*lines, *(f"  {command}" for command in waiting.commands), f"  {run_again(file)}"]


def run_again(file: Path) -> str:
    """The command that runs a project."""
    from sfumato.pipeline.project_folder import shell_path
    from sfumato.pipeline.project_text import PROJECT_FILE

    # The usual file in the present folder needs no name.
    usual = file.resolve() == Path.cwd() / PROJECT_FILE
    return "sfumato run" if usual else f"sfumato run {shell_path(file)}"


def _status_lines(status: Status) -> list[str]:
    """A project as a table."""
    rows = [("stage", "state", "seconds", "size", "made (UTC)", "found")]
    for stage in status.stages:
        record = stage.record
        if record is None:
            rows.append((stage.name, stage.state.value, "-", "-", "-", ""))
            continue
        made = record.finished[:16].replace("T", " ")
        spent, bytes_ = f"{record.seconds:.1f}", _size(record.bytes)
        rows.append((stage.name, stage.state.value, spent, bytes_, made, record.said))
    lines = [f"Project: {status.place.project.about.name}", "", *columns(rows, (2, 3))]
    if status.waiting is not None:
        return [*lines, *_waiting_lines(status.waiting, status.place.file)]
    if status.verdict is not None:
        lines += ["", *str(status.verdict).splitlines()]
    return lines if status.is_done else [*lines, "", f"Next: {run_again(status.place.file)}"]


def _size(count: int) -> str:
    """A number of bytes as people read it."""
    if count < _KILO:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= _KILO
        if value < _KILO:
            return f"{value:.1f} {unit}"
    return f"{value / _KILO:.1f} TB"
