"""What every command does with its result: print it, or say why there is none."""

from __future__ import annotations

import json
import sys
import time
import tomllib
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from textwrap import shorten
from types import TracebackType
from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli.own_process import check_interrupt, interrupted
from sfumato.core.atomic import check_target, write_text
from sfumato.core.declaration import Place, is_database
from sfumato.core.errors import InputError, LeavesWarning
from sfumato.core.number_text import NARROW, WIDTH, clause, counted, share_text, wrapped

if TYPE_CHECKING:
    from sfumato.core.chain import Verdict
    from sfumato.core.declaration import Progress
    from sfumato.risk.disclosure_risk import Risk

READY, BAD_INPUT, ABOVE, WAITING, NOT_MEASURED, NOT_KEPT = range(6)
"""Exit codes: ready, bad input, a number above its limit (or what was verified or asked for is
refused), a project waits for people, something was not measured, a promise cannot be kept."""
INTERNAL, INTERRUPTED = 70, 130
"""A bug of ours, Ctrl-C at a question."""
SHOW_AFTER = 1.0
"""Seconds after which work shows its progress."""


def say_what_leaves() -> None:
    """Say on standard error what a later version refuses, once; Python alone would not."""
    usual = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        if category is LeavesWarning:
            say(f"Warning: {message}.")
        else:
            usual(message, category, *where, **more)

    warnings.showwarning = show
    warnings.simplefilter("once", LeavesWarning)


def print_anything() -> None:
    """Let a terminal that lacks a character show its number instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(value: Any) -> None:
    """Print plain values as JSON to standard output."""
    # Other terminals could not show letters that JSON can write as numbers.
    unicode = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().startswith("utf")
    typer.echo(json.dumps(value, indent=2, ensure_ascii=not unicode, allow_nan=False))


def print_found(plain: Any, lines: Iterable[str], *, json: bool) -> None:
    """Print plain values as JSON, or what they say as lines."""
    if json:
        print_json(plain)
    else:
        typer.echo("\n".join(lines))


SCREEN = 40
"""Lines of a screen."""
SHOWN = 4
"""Lines of each kind that a screen has room for."""
LEADING = (
    *("k", "pid_k", "g_balance", "max_gidr", "prosecutor", "marketer", "population_uniques"),
    *("exposed_persons", "found_2", "household_k", "presence_high", "expected_matches"),
)
"""Measures that a summary shows; the others are among the details."""


def few(lines: Sequence[str], of: str, shown: int = SHOWN) -> list[str]:
    """The first lines, each on at most two of a screen, and how many more there are.

    Parameters
    ----------
    of
        What one line is; its plural has an s.
    """
    left = len(lines) - shown
    return [
        *on_two(lines[:shown]),
        *([f"{counted(left, f'more {of}')}: --details"] if left > 0 else []),
    ]


MOST = 190
"""Signs that two lines of a screen have room for."""


def on_two(lines: Iterable[str], more: str = " More: --details.") -> list[str]:
    """Each line on at most two of a screen; what is cut ends with where more is."""
    cut = (
        line if len(line) <= MOST else f"{clause(line, MOST - len(more))}{more}" for line in lines
    )
    return [part for line in cut for part in wrapped(line, later="    ")]


def in_classes(risk: Risk) -> str:
    """How many records and people a file has, in how many classes."""
    records, people = counted(risk.records, "record"), counted(risk.persons, "person")
    return f"{records} of {people} in {counted(risk.classes, 'class')}"


def brief(risk: Risk, advice: str) -> str:
    """What a file gives away, on one screen: leading measures, worst columns, the verdict.

    Parameters
    ----------
    advice
        What to do next.
    """
    # A line more says where the report is; what there is most of gives way to what there must be.
    forms = ("\n".join(_measured(risk, advice, shown)) for shown in (SHOWN, 2, 1))
    text = ""
    for text in forms:
        if lines_of(text) < SCREEN:
            break
    return text


def _measured(risk: Risk, advice: str, shown_each: int) -> list[str]:
    """The lines of `brief`, with so many of each kind."""
    people = in_classes(risk)
    where = "" if risk.ran is None else f", on {risk.ran}"
    shown = [row for row in risk.rows() if row.name in LEADING]
    name = max(len(each.name) for each in shown)
    lines = [f"Measured: {people}{where}.", ""]
    for each in shown:
        start = f"  {each.name:<{name}}  {each.value:>8}  "
        lines.append(start + clause(each.meaning, WIDTH - len(start)).removesuffix("."))
    lines += _sensitive(risk, shown_each)
    held = [each.row() for each in risk.held]
    lines += few(
        [f"{each.name}  {each.value}  {each.meaning}" for each in held], "limit", shown_each
    )
    lines += few([f"Warning: {warning}" for warning in risk.warnings], "warning", shown_each)
    if risk.columns:
        lines.append(f"Of each further column: --details ({counted(len(risk.columns), 'column')}).")
    told = then([advice]) if risk.verdict is None else [risk.verdict.text(False, advice=[advice])]
    return [*lines, "", *told]


def then(advice: Iterable[str]) -> list[str]:
    """What to do next, below all else; each on at most two lines."""
    return ["Next:", *(line for text in advice for line in wrapped(text, "  ", " " * 6))]


def _sensitive(risk: Risk, shown: int) -> list[str]:
    """The sensitive columns of which a class tells most, the worst first."""
    worst = sorted(risk.sensitive.items(), key=lambda each: -each[1].avg_gsar.value)
    worst.sort(key=lambda each: -each[1].h_affiliation.value)
    name = max([9, *(min(len(column), 40) for column, _ in worst[:shown])])
    head = f"  {'sensitive':<{name}}  shared by, at most  on average  values, at least  t-closeness"
    lines = [
        f"  {shorten(column, 40, placeholder='…'):<{name}}"
        f"  {share_text(one.h_affiliation.value):>18}"
        f"  {share_text(one.avg_gsar.value):>10}"
        f"  {one.l_distinct:16}  {one.t_closeness.value:11.3f}"
        for column, one in worst[:shown]
    ]
    left = len(worst) - len(lines)
    more = [f"  {counted(left, 'more column')}: --details"] if left else []
    return ["", head, *lines, *more] if worst else []


def hand_over(found: Any, report: Path | None = None, *, json: bool, text: str = "") -> None:
    """Print a result: as JSON with its warnings beside it, or its text, which has them.

    Parameters
    ----------
    found
        The result.
    report
        Where its report is, which is said.
    json
        Whether JSON is asked for.
    text
        What is printed in the place of its text.
    """
    if json:
        warn(found.warnings)
        print_json(found.to_json())
    else:
        typer.echo(text or str(found))
    if report is not None:
        say(f"Report: {report}")


def write_report(found: Any, path: Path | None) -> None:
    """Write the report of a result, where one is asked for."""
    if path is not None:
        from sfumato.reports import report

        report(found, path)


def check_text(output: Path | None, inputs: Iterable[Place | None]) -> None:
    """Check that a text can be written where it is asked for, before work starts.

    Raises
    ------
    InputError
        If it cannot be written there, or would replace a file that the command reads.
    """
    if output is not None:
        check_target(output)
        check_apart((output,), inputs)


def write_or_print(text: str, output: Path | None, advice: str = "", *, details: bool) -> bool:
    """Write a TOML text where it is asked for, say so, and whether; print it without a place.

    Parameters
    ----------
    advice
        What to do with it.
    details
        Whether it is printed as it would be written, however long it is.
    """
    if output is not None:
        write_text(output, text)
        say(f"Wrote {output}.{advice}")
        return True
    if details or lines_of(text) <= SCREEN - 2:
        typer.echo(text, nl=False)
        return False
    # A file that takes what is printed gets all of it, so that only its form is brief.
    forms = ["\n".join(_compact(tomllib.loads(text), depth)).lstrip() for depth in (3, 2, 1)]
    typer.echo(next((form for form in forms if lines_of(form) <= SCREEN - 2), forms[-1]))
    say("Why each line is so: --details prints it, --output FILE writes it, to be edited.")
    return False


def lines_of(text: str) -> int:
    """How many lines of a screen a text takes."""
    return sum(max(1, -(-len(line) // WIDTH)) for line in text.splitlines())


def _compact(found: Mapping[str, Any], depth: int, at: str = "") -> Iterator[str]:
    """Lines of TOML without comments; tables below a depth are parts of a line."""
    import tomlkit

    sections = {n: v for n, v in found.items() if depth > 1 and isinstance(v, dict)}
    if at and len(sections) < len(found):
        yield from ("", f"[{at}]")
    for name, value in found.items():
        if name not in sections:
            yield _inline({name: value})[1:-1]
    for name, section in sections.items():
        key = tomlkit.key(name).as_string()
        yield from _compact(section, depth - 1, f"{at}.{key}" if at else key)


def _inline(value: Any) -> str:
    """A value as a part of a line of TOML."""
    import tomlkit

    if not isinstance(value, dict):
        return str(tomlkit.item(value).as_string())
    return (
        f"{{{', '.join(f'{tomlkit.key(n).as_string()} = {_inline(v)}' for n, v in value.items())}}}"
    )


def say(text: str) -> None:
    """Say something about the work, beside its result, to standard error."""
    typer.echo(text, err=True)


def warn(warnings: tuple[str, ...]) -> None:
    """Say the warnings of a result."""
    for warning in warnings:
        say(f"Warning: {warning}")


MOST_DIFFERENCES = 200
"""Lines about differences that are printed at most."""


def show_verdict(what: str, verdict: Verdict) -> None:
    """Print whether a chain of entries is whole.

    Raises
    ------
    typer.Exit
        If it is not.
    """
    for note in verdict.notes:
        say(f"Unproved: {note}.")
    if not verdict.whole:
        if verdict.fault:
            say(f"The {what} is not whole: {verdict.fault}.")
        if verdict.differences:
            say(
                f"The tables differ from the {what} in "
                f"{counted(len(verdict.differences), 'place')}:"
            )
        for difference in verdict.differences[:MOST_DIFFERENCES]:
            say(f"  {difference}")
        raise typer.Exit(ABOVE)
    typer.echo(f"The {what} is whole: {counted(verdict.entries, 'entry')}.\nHead: {verdict.head}")


def check_apart(outputs: Iterable[Path], inputs: Iterable[Place | None]) -> None:
    """Refuse to write over a file that is read; a table of a database is no file.

    Raises
    ------
    InputError
        If one of the outputs is one of the inputs.
    """
    sources = [Path(place) for place in inputs if place is not None and not is_database(place)]
    for target in outputs:
        if any(_same(target, source) for source in sources):
            raise InputError(
                f"output {target.name}",
                "must not replace a file that this command reads",
                advice="choose another folder or name",
            )


def _same(one: Path, other: Path) -> bool:
    try:
        # By what they are: two paths may lead to one file.
        return one.samefile(other)
    except OSError:
        # A file that is not there yet has its name only.
        return one == other


def columns(rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> list[str]:
    """Rows as lines of aligned columns.

    Parameters
    ----------
    numbers
        The columns that are aligned to the right.
    """
    # Cleaned before they are measured: widths are of what is shown.
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in numbers else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def cut(table: Sequence[str], room: int | None, of: str) -> list[str]:
    """The heading and first rows of a table, no wider than a screen, and how many more it has.

    Parameters
    ----------
    room
        Most lines below the heading; ``None`` for all rows, in full.
    """
    if room is None:
        return list(table)
    # What does not fit goes on below the last column, which stands where its heading does.
    margin = max(table[0].rfind("  ") + 2, 0)
    rows = [wrapped(row, later=" " * margin) for row in table]
    shown: list[str] = []
    taken = 0
    while taken < len(rows) and len(shown) + len(rows[taken]) <= room + 1:
        shown += rows[taken]
        taken += 1
    left = len(rows) - taken
    return [*shown, *([f"{counted(left, f'more {of}')}: --details"] if left else [])]


def printable(text: str) -> str:
    """Text without what would steer a terminal."""
    text = text.replace(NARROW, " ")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def figure(value: float | None) -> str:
    """A measure as text."""
    return "-" if value is None else f"{value:.4g}"


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on standard error, shown on a terminal when the work takes over a second.

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C was pressed and a library swallowed it.
    """
    if not sys.stderr.isatty():
        # Work can be stopped where nothing is shown, too.
        yield lambda _stage, _share: check_interrupt()
        check_interrupt()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<12}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=1.0)
    started = time.monotonic()

    def tell(stage: str, share: float) -> None:
        check_interrupt()
        bar.update(task, description=stage, completed=share)
        # Work that is done within a second would show a bar that only flickers.
        if time.monotonic() - started > SHOW_AFTER and not bar.live.is_started:
            bar.start()

    try:
        yield tell
        check_interrupt()
    finally:
        bar.stop()


def publishable_hook(
    kind: type[BaseException], _error: BaseException, trace: TracebackType | None
) -> None:
    """Print a traceback without the error's message or source lines, which may hold values.

    Raises
    ------
    SystemExit
        Always, with the exit code of a bug, or of Ctrl-C where that was the cause.
    """
    if interrupted():
        say("Interrupted; nothing was left half written.")
        raise SystemExit(interrupted())
    say("sfumato met an error that it does not know. This is a bug of sfumato; please report:")
    for frame in traceback.extract_tb(trace):
        say(f"  {frame.filename.rpartition('/')[2]}:{frame.lineno} in {frame.name}")
    say(f"  {kind.__module__}.{kind.__qualname__} (its message is withheld: it may hold data)")
    raise SystemExit(INTERNAL)


MOST_LISTED = 6
"""Columns that a sentence counts, rather than name them."""


def tell_careful(unasked: Sequence[str], noted: Path | None) -> None:
    """Name the doubtful columns that nothing is asked about, as others are more doubtful.

    Parameters
    ----------
    noted
        The file with notes about its columns; ``None`` where --details prints them.
    """
    if unasked:
        named = ", ".join(map(printable, unasked))
        if len(unasked) >= MOST_LISTED:
            named = f"{noted or '--details'} marks them 'not asked'"
        say(
            f"{len(unasked)} more doubtful column{'s have' if len(unasked) > 1 else ' has'} the "
            f"more careful role, unasked: {named}."
        )
