"""``sfumato ledger``: releases remembered, handed over, forgotten."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sfumato.cli.output import columns, print_found, say
from sfumato.cli.parameters import Json, argument, asked_ids, file_option, option
from sfumato.core.declaration import fields_of
from sfumato.core.number_text import counted, percentage
from sfumato.ledger.ledger_options import default_ledger, default_ledger_keys

if TYPE_CHECKING:
    from sfumato.ledger.composition import Together
    from sfumato.ledger.release_ledger import ReleaseLedger, Remembered

LedgerFile = Annotated[
    Path | None,
    option(
        "--ledger",
        metavar="FILE",
        envvar="SFUMATO_LEDGER",
        help="The ledger.  [default: sfumato/ledger.sqlite under ~/.local/share]",
    ),
]
LedgerKeyFolder = Annotated[
    Path | None,
    option(
        "--keys",
        metavar="FOLDER",
        envvar="SFUMATO_LEDGER_KEYS",
        help="Where its keys are, outside its folder.  "
        "[default: sfumato/ledger-keys under ~/.config]",
    ),
]
Note = Annotated[str, option(metavar="TEXT", help="Why.")]
By = Annotated[str, option(metavar="NAME", envvar="SFUMATO_CUSTODIAN", help="Who decides.")]
Number = Annotated[int, typer.Argument(help="Its number in 'sfumato ledger remembered'.")]
Tolerable = Annotated[
    float | None,
    option(
        metavar="SHARE",
        help="Share of the people of a release who may be found by all that was handed over.",
    ),
]
Unkept = Annotated[
    float | None,
    option(
        metavar="SHARE",
        help="Largest share of people with a promise broken by all releases together.",
    ),
]
Keep = Annotated[
    str | None,
    option(metavar="TIME", help="How long sketches of releases are kept, such as '10 years'."),
]
HeadFile = Annotated[
    Path | None,
    file_option(
        help="A file elsewhere, best on another machine's disk, that holds the ledger's head as "
        "well: an older copy of the ledger is refused then, with older keys, too."
    ),
]

app = typer.Typer()


@app.command()
def create(
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    tolerable: Tolerable = None,
    unkept: Unkept = None,
    keep: Keep = None,
    head: HeadFile = None,
) -> None:
    """Make a ledger and, where there are none, its keys."""
    from sfumato.core.errors import InputError
    from sfumato.ledger.release_ledger import Terms

    ledger = ledger or default_ledger()
    if ledger.exists():
        raise InputError(
            "option --ledger", "must be a new file", found="one that is there", advice="use it"
        )
    terms = Terms(**_given(tolerable=tolerable, unkept=unkept, keep=keep))
    with remembering(ledger, keys, make=True, head=head) as made:
        # The usual terms need no entry.
        if terms != Terms():
            made.settle(terms, note="as it was made", by="sfumato ledger create")
        kept = made.head()
    typer.echo(f"Ledger: {ledger}")
    typer.echo(f"Head:   {kept} (keep it elsewhere)")
    typer.echo("Releases in it are compared with each other, never with those in other ledgers.")


@app.command()
def terms(
    note: Note,
    by: By,
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    tolerable: Tolerable = None,
    unkept: Unkept = None,
    keep: Keep = None,
) -> None:
    """Settle how much may be given away, and how long sketches are kept."""
    from dataclasses import replace

    with remembering(ledger, keys) as found:
        settled = replace(found.terms(), **_given(tolerable=tolerable, unkept=unkept, keep=keep))
        found.settle(settled, note=note, by=by)
    typer.echo(
        f"Limits of all releases together: {percentage(settled.tolerable)} of people found, "
        f"{percentage(settled.unkept)} with a broken promise. "
        f"Sketches are kept {f'for {settled.keep}' if settled.keep else 'for ever'}."
    )


@app.command()
def remembered(ledger: LedgerFile = None, keys: LedgerKeyFolder = None, json: Json = False) -> None:
    """List the releases by promises: drafts, and what was handed over."""
    with remembering(ledger, keys) as found:
        releases = found.remembered()
    lines = _lines(releases) if releases else ["No release by promises is remembered."]
    print_found([_plain(release) for release in releases], lines, json=json)


def _lines(releases: list[Remembered]) -> list[str]:
    head = ("number", "time", "file", "people", "to", "found together", "sketch")
    rows = [
        (
            f"{release.number}",
            release.time[:16].replace("T", " "),
            release.name,
            f"{release.persons:,}",
            ", ".join(release.to) or "(draft)",
            "" if release.found is None else percentage(release.found),
            "kept" if release.kept_in else "erased",
        )
        for release in releases
    ]
    return columns([head, *rows], (0, 3, 5))


def _plain(release: Remembered) -> dict[str, Any]:
    return {
        **fields_of(release, "number time"),
        "file": release.name,
        **fields_of(release, "output_sha256 persons records classes"),
        "promises": [dict(promise) for promise in release.promises],
        "columns": [dict(column) for column in release.columns],
        "to": list(release.to),
        "handed_over": release.handed,
        **fields_of(release, "found beyond"),
        "sketch": bool(release.kept_in),
    }


@app.command("hand-over")
def hand_over(
    number: Number,
    to: Annotated[str, option(metavar="RECIPIENT", help="Who gets it.")],
    project: Annotated[
        Path | None,
        option(metavar="FILE", help="The project file with the limits and acceptances that count."),
    ] = None,
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    json: Json = False,
) -> None:
    """Let a draft count as handed over, if all that left together stays below the limits.

    Exit code 2 where it does not; then it says what would help, and what detail that loses.
    """
    own: dict[str, Any] = {}
    if project is not None:
        from sfumato.pipeline.project_folder import open_project
        from sfumato.pipeline.release_stages import judged_with

        own = judged_with(open_project(project), number)
    with remembering(ledger, keys) as book:
        found = book.hand_over(number, to, **own)
        head = book.head()
    plain = {**found.to_json(), "head": str(head)}
    print_found(plain, _lines_of_composition(found), json=json)
    # Each entry makes a new head, by which an older copy of the ledger is found.
    say(f"Head: {head} (keep it elsewhere)")


def _lines_of_composition(found: Together) -> list[str]:
    # What all releases tell together is judged, and stands last.
    head = ("release", "found alone", "found with all", "certain alone", "certain with all")
    rows = [
        (
            f"{number}",
            percentage(found.alone[number].found),
            percentage(each.found),
            percentage(found.alone[number].certain),
            percentage(each.certain),
        )
        for number, each in found.all.items()
    ]
    people = counted(found.in_several, "person")
    more = f"{people} in more than one of {counted(len(found.all), 'release')}."
    unknown = [f"Not known: {each}." for each in found.unknown]
    return [*columns([head, *rows], (0, 1, 2, 3, 4)), more, *unknown]


@app.command()
def waive(
    note: Note,
    by: By,
    more: Annotated[
        list[str] | None, argument(metavar="[NAME]...", help="More of --cohorts.")
    ] = None,
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    recipient: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who is taken to share with no other.")
    ] = None,
    release: Annotated[
        int | None, option(metavar="N", help="What holds other people than any other release.")
    ] = None,
    cohorts: Annotated[
        list[str] | None,
        option(
            metavar="NAME...",
            help="Files, or numbers of releases, no two of which share a person; their sketches "
            "are held against it, now and at each hand-over.",
        ),
    ] = None,
) -> None:
    """Waive that a recipient shares with others, or that people in common must be followed."""
    from sfumato.core.errors import InputError

    who = recipient if release is None else release
    chosen = [recipient is not None, release is not None, bool(cohorts)].count(True)
    if chosen != 1 or (more and not cohorts):
        raise InputError(
            "a waiver",
            "must name one thing",
            accepted="--recipient NAME, --release N, or --cohorts NAME NAME...",
        )
    with remembering(ledger, keys) as book:
        if who is not None:
            book.waive(who, note=note, by=by)
        else:
            pairs = book.waive_cohorts([*(cohorts or ()), *(more or ())], note=note, by=by)
            typer.echo(f"Compared: {counted(pairs, 'pair')} of files; none was recognised.")
    typer.echo("Waived; the entry says who did it and why.")


@app.command()
def register(
    note: Note,
    by: By,
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
    head: HeadFile = None,
) -> None:
    """Let the keys know a ledger that was restored, or that they never saw, as it is."""
    # The keys do not know it as it is: that is why it is registered.
    with remembering(ledger, keys, anchored=False) as book:
        book.register(note=note, by=by, head=head)
        kept = book.head()
    typer.echo(f"Registered. Head: {kept} (keep it elsewhere)")


@app.command()
def forget(
    note: Note,
    by: By,
    ids: Annotated[
        Path | None,
        option(
            metavar="FILE",
            help="A file with the ids of several people, a line each; asked without it.",
        ),
    ] = None,
    ledger: LedgerFile = None,
    keys: LedgerKeyFolder = None,
) -> None:
    """Erase people from the sketches of all releases.

    Their ids are those of the files that were released. One is asked, or read from standard input,
    a line each; it is no argument, which others could read.
    """
    from sfumato.core.errors import InputError
    from sfumato.core.toml_text import read_text

    if ids is None:
        named = asked_ids("Id of the person to erase")
    else:
        named = set(map(str.strip, read_text(ids, f"file {ids.name}").splitlines())) - {""}
    if not named:
        raise InputError("ids of people", "must be given, a line each", found="none")
    with remembering(ledger, keys) as book:
        found, unknown = book.forget(named, note=note, by=by)
    typer.echo(f"Erased from releases {', '.join(map(str, found))}.")
    if unknown:
        are, their = ("is", "its") if unknown == 1 else ("are", "their")
        typer.echo(f"{counted(unknown, 'id')} {are} in no release: check {their} spelling.")


@app.command()
def expire(by: By, ledger: LedgerFile = None, keys: LedgerKeyFolder = None) -> None:
    """Erase the sketches that are older than the ledger's terms allow."""
    with remembering(ledger, keys) as book:
        found = book.expire(by=by)
    said = f"releases {', '.join(map(str, found))}" if found else "nothing"
    typer.echo(f"Erased the sketches of {said}.")


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def remembering(
    ledger: Path | None,
    keys: Path | None,
    *,
    make: bool = False,
    anchored: bool = True,
    head: Path | None = None,
) -> ReleaseLedger:
    """The ledger that was named, or the user's own.

    Parameters
    ----------
    make
        Whether to make it where there is none.
    anchored
        Whether to refuse one that is not as its keys have seen it last.
    head
        A file elsewhere that holds its head as well.

    Raises
    ------
    InputError
        If it cannot be opened.
    """
    from sfumato.ledger.release_ledger import ReleaseLedger

    place, folder = ledger or default_ledger(), keys or default_ledger_keys()
    return ReleaseLedger.open(place, folder, make=make, anchored=anchored, head=head)
