"""``sfumato run``, ``status`` and ``accept``: bring a project on, and answer for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.output import (
    MOST,
    SHOWN,
    WAITING,
    columns,
    on_two,
    print_found,
    print_json,
    progress_bar,
    say,
    warn,
)
from sfumato.cli.parameters import Details, Json, option
from sfumato.core.number_text import share_text, wrapped

if TYPE_CHECKING:
    from sfumato.core.declaration import Progress
    from sfumato.pipeline.project_folder import ProjectFolder
    from sfumato.pipeline.run import StageState, Status
    from sfumato.pipeline.stage import Waiting

_KILO = 1000
_PERIODS = 12
"""A year of months fits on the screen beside the stages."""
ProjectFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="The project file, or its folder.")
]

Period = Annotated[
    str | None,
    option(metavar="PERIOD", help="Of a series: which period; the last one without it."),
]


def run(
    file: ProjectFile = Path("sfumato.toml"),
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA", help="Of a series: the file of this period.", show_default=False
        ),
    ] = None,
    *,
    period: Annotated[
        str | None,
        option(
            metavar="PERIOD",
            help="Of a series: the month, quarter, year or week, as 2026-01 or 2026-Q1; the last "
            "one without it. A new one is noted in the project file with DATA.",
        ),
    ] = None,
    until: Annotated[str | None, option(metavar="STAGE", help="Stop after this stage.")] = None,
    force: Annotated[
        list[str] | None,
        option(metavar="STAGE", help="Make this stage again even if nothing changed. Repeatable."),
    ] = None,
    json: Json = False,
    details: Details = False,
) -> None:
    """Run a project: link, review, assess, release, attack, report.

    What did not change is not made again; interrupted, the next run goes on. It stops where people
    are needed, and says who has to act.

    Exit codes: 0 ready, 1 bad input, 2 a number is above its limit, 3 it waits for people, 4
    something was not measured, 5 a promise cannot be kept.
    """
    from sfumato.pipeline.release_stages import hand_over

    place = _of_period(file, data, period)
    status = run_telling(place, until, tuple(force or ()), shown=None if details else SHOWN)
    if any(stage.ran and stage.name == "release" for stage in status.stages):
        _say_remembered(place)
    if json:
        print_json(status.to_json())
    waiting, verdict = status.waiting, status.verdict
    if waiting is None:
        if verdict is not None and not json:
            more = _release_lines(status) if details else []
            said = verdict.text(details, advice=_advice(status))
            typer.echo("\n".join([*more, "", said]))
        # After the rows, which say why a release is refused.
        if status.is_done and (to := hand_over(place)):
            say(f"Handed over to {to}.")
        raise typer.Exit(0 if verdict is None else verdict.exit_code)
    for line in _waiting_lines(waiting, status.place.file):
        say(line)
    raise typer.Exit(WAITING)


def _advice(status: Status) -> list[str]:
    """What is left where no change of the release was tried."""
    rows = () if status.verdict is None else status.verdict.rows
    above = [row for row in rows if row.stops and row.findings is not None]
    said = [
        f"Promise less, or answer for it by name: sfumato accept {row.name} --by NAME "
        "--because WHY --until DATE"
        for row in above[:1]
        if row.intruder != "recipient"
    ]
    if any(row.intruder == "recipient" for row in above):
        said.append("See what was handed over before: sfumato ledger remembered")
    return said


def _of_period(file: Path, data: str | None, period: str | None) -> ProjectFolder:
    """The project, of a series in a period, which is noted where it is new.

    Raises
    ------
    InputError
        If a file is named without its period, or beside the one that the period has.
    """
    from sfumato.core.errors import InputError
    from sfumato.pipeline.periods import note_period
    from sfumato.pipeline.project_folder import open_project
    from sfumato.pipeline.project_text import PROJECT_FILE

    # The project here need not be named: what is named alone is the file of the period.
    if period is not None and data is None and file.suffix != ".toml" and not file.is_dir():
        file, data = Path(PROJECT_FILE), str(file)
    if period is None:
        if data is not None:
            raise InputError("argument DATA", "needs --period beside it", found="none")
        return open_project(file)
    note_period(open_project(file), period, data)
    return open_project(file, period)


def _say_remembered(place: ProjectFolder) -> None:
    """Say where a release is remembered, or that it is not."""
    from sfumato.pipeline.release_stages import ledger_file

    section = place.project.ledger
    if section is None or section.remember:
        say(
            f"Remembered: {ledger_file(place)}; later releases are compared with it. [ledger] "
            "chooses another one (file, keys), or none (remember = false)."
        )
    else:
        say("Not remembered ([ledger]: remember = false): later releases are not compared with it.")


def status(
    file: ProjectFile = Path("sfumato.toml"), json: Json = False, details: Details = False
) -> None:
    """Say how far a project is: each stage, its time, its size, and who has to act."""
    from sfumato.pipeline.project_folder import open_project
    from sfumato.pipeline.run import status_of

    found = status_of(open_project(file))
    print_found(found.to_json(), _status_lines(found, details), json=json)


def dossier(
    recipient: Annotated[
        str, typer.Argument(metavar="RECIPIENT", help="Who gets the release, as in the ledger.")
    ],
    file: ProjectFile = Path("sfumato.toml"),
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where: .html, .pdf or .json; else dossier.html or dossier-public.html, with the "
            "period where one is given.",
        ),
    ] = None,
    public: Annotated[
        bool, option(help="Write what may be published: coarse numbers, no names.")
    ] = False,
    period: Period = None,
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
    from sfumato.reports.dossier import is_known

    place = open_project(file, period)
    stages = [each for each in status_of(place).stages if each.name != REPORT]
    if any(each.state is not State.DONE for each in stages):
        raise InputError(
            "the project",
            "must be run up to its release",
            found="a stage that is not made of what is there now",
            advice=f"type: {command_of('run', place.file, place.period)}",
        )
    results = results_for(place, recipient)
    # Each version has its own file: one must never lie where the other is looked for.
    parts = ["dossier", *(["public"] if public else []), *([period] if period else [])]
    target = output or Path(f"{'-'.join(parts)}.html")
    # Without one of the project's own that of --language is spoken.
    spoken = place.spoken_settings.get("language")
    audience = "public" if public else "internal"
    report(results, target, audience=audience, recipient=recipient, language=spoken)
    if not is_known(results, recipient):
        warn(("the ledger and [dossier] do not know the recipient: check the name",))
    say(f"Dossier: {target}")


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
    period: Period = None,
) -> int:
    """Answer by name for what an intruder finds above the limit: noted in the project file.

    Exit codes: those of the release with it, as 'sfumato run' has them.
    """
    from sfumato.pipeline.acceptances import accepting, write_edit
    from sfumato.pipeline.project_folder import open_project
    from sfumato.pipeline.run import status_of
    from sfumato.risk.verdict import EXIT_CODES, State

    place = open_project(file, period)
    verdict = status_of(place).verdict
    write_edit(place, accepting(place, verdict, row, by, because, until.date(), at_most))
    verdict = status_of(open_project(place.file, period)).verdict
    if verdict is None:
        # A column that promised limits left out: the release with it is another one.
        again = command_of("run", place.file, period)
        say(f"Noted in {file}; the next run keeps it and measures it: {again}")
        return EXIT_CODES[State.NOT_MEASURED]
    typer.echo(str(verdict))
    say(f"Noted in {file}; the next run reports it: {command_of('run', place.file, period)}")
    return verdict.exit_code


def run_telling(
    place: ProjectFolder,
    until: str | None = None,
    force: tuple[str, ...] = (),
    *,
    shown: int | None = SHOWN,
) -> Status:
    """Run a project: a line for each stage, each warning once, a bar while one is made.

    Parameters
    ----------
    until, force
        As `sfumato.pipeline.run.run` takes them.
    shown
        Most warnings that are printed; ``None`` for all, in full.

    Raises
    ------
    SfumatoError
        As `sfumato.pipeline.run.run`.
    """
    from sfumato.pipeline.run import run, stages_of

    names = [stage.name for stage in stages_of(place)]
    warned: list[str] = []

    def tell(state: StageState) -> None:
        for line in _done_lines(state, names):
            say(line)
        # Stages repeat the warnings of those before them.
        new = [each for each in dict.fromkeys(_warnings(state)) if each not in warned]
        for line in new if shown is None else on_two(new[: max(0, shown - len(warned))], more=""):
            say(line)
        warned.extend(new)

    try:
        status = run(place, until=until, force=force, working=_working, tell=tell)
    finally:
        # Of a run that is refused or interrupted, too.
        if shown is not None and (hidden := _hidden(warned, shown)):
            say(f"{hidden}: {command_of('status', place.file)} --details")
    if status.place.project.accept != place.project.accept:
        say(f"Noted in {place.file.name}, as at_most: how much what stands under [accept] covers.")
    return status


def _hidden(warned: Sequence[str], shown: int) -> str:
    """What a run did not print of its warnings; empty where it printed them whole."""
    left = len(warned) - shown
    if left > 0:
        return f"{left:,}{' more' if shown else ''} warning{'s' * (left > 1)}"
    return "The warnings in full" if any(len(each) > MOST for each in warned) else ""


@contextmanager
def _working(name: str) -> Iterator[Progress]:
    """The bar of a stage, under the stage's name."""
    with progress_bar() as progress:
        yield lambda step, share: progress(f"{name}: {step}", share)


def _done_lines(state: StageState, names: Sequence[str]) -> list[str]:
    """A stage of a run, in a line, and what it found in as many as it needs."""
    number = f"{names.index(state.name) + 1}/{len(names)}"
    width = max(map(len, names))
    record = state.record
    if state.waiting is not None:
        return [f"{number}  {state.name:<{width}}  waits for {state.waiting.whom}"]
    if record is None:
        return [f"{number}  {state.name:<{width}}  {state.state.value}"]
    spent = f"{record.seconds:.1f} s" if state.ran else "unchanged"
    start = f"{number}  {state.name:<{width}}  {spent:>9}  {_size(record.bytes):>8}  "
    return wrapped(record.said, start, " " * len(start))


def _warnings(state: StageState) -> list[str]:
    """The warnings of a stage that this run made."""
    if state.record is None or not state.ran:
        return []
    return [f"Warning: {warning}" for warning in state.record.warnings]


def _waiting_lines(waiting: Waiting, file: Path) -> list[str]:
    """What a project waits for, and what to type."""
    lines = ["", f"Waiting for the {waiting.whom}: {waiting.what}.", "Type:"]
    return [
        *lines,
        *(f"  {command}" for command in waiting.commands),
        f"  {command_of('run', file)}",
    ]


def command_of(verb: str, file: Path, period: str | None = None) -> str:
    """The command that does something with a project, or one period: ``run`` brings it on."""
    from sfumato.pipeline.project_folder import shell_path
    from sfumato.pipeline.project_text import PROJECT_FILE

    # The usual file in the present folder needs no name.
    usual = file.resolve() == Path.cwd() / PROJECT_FILE
    of_period = "" if period is None else f" --period {period}"
    return f"sfumato {verb}{'' if usual else f' {shell_path(file)}'}{of_period}"


def _status_lines(status: Status, details: bool) -> list[str]:
    """A project as a table; as details with every warning and the reason of each acceptance."""
    rows = [("stage", "state", "seconds", "size", "made (UTC)", "found")]
    for stage in status.stages:
        record = stage.record
        if record is None:
            rows.append((stage.name, stage.state.value, "-", "-", "-", ""))
            continue
        made = record.finished[:16].replace("T", " ")
        spent, bytes_ = f"{record.seconds:.1f}", _size(record.bytes)
        rows.append((stage.name, stage.state.value, spent, bytes_, made, record.said))
    *table, _ = zip(*rows, strict=True)
    lines = [f"Project: {status.place.project.about.name}", "", *_period_lines(status)]
    for start, (*_, said) in zip(columns([*zip(*table, strict=True)], (2, 3)), rows, strict=True):
        room = len(start) + 2
        lines += wrapped(said, f"{start}  ", " " * room) or [start]
    if details:
        warned = (each.record.warnings for each in status.stages if each.record is not None)
        told = dict.fromkeys(f"Warning: {warning}" for each in warned for warning in each)
        lines += ["", *told] if told else []
        lines += _release_lines(status)
    if status.waiting is not None:
        return [*lines, *_waiting_lines(status.waiting, status.place.file)]
    if status.verdict is not None:
        lines += ["", *status.verdict.text(details, advice=_advice(status)).splitlines()]
    return (
        lines if status.is_done else [*lines, "", f"Next: {command_of('run', status.place.file)}"]
    )


def _period_lines(status: Status) -> list[str]:
    """The periods of a series as a table, the latest last, and which one the stages are of."""
    if status.place.period is None:
        return []

    rows = [("period", "people", "wait", "withdrawn", "found by all files", "detail lost")]
    for each in status.periods[-_PERIODS:]:
        whole = (each.get(name) for name in ("people", "waiting", "withdrawn"))
        counts = ("-" if count is None else f"{count:,}" for count in whole)
        shares = (each.get(name) for name in ("found", "detail_lost"))
        told = ("-" if share is None else share_text(share) for share in shares)
        rows.append((each["period"], *counts, *told))
    return [*columns(rows, (1, 2, 3, 4, 5)), "", f"Period: {status.place.period}", ""]


def _release_lines(status: Status) -> list[str]:
    """Classes and lost information of a release, which are details."""
    from sfumato.pipeline.project_folder import RELEASE

    found = status.measured(RELEASE) or {}
    if "classes" not in found or "utility" not in found:
        return []
    lost = f"lost in quasi-identifiers (ncp): {share_text(found['utility']['ncp'])}"
    return ["", f"Release: classes: {found['classes']:,}; {lost}"]


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
