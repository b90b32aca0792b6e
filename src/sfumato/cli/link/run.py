"""``sfumato link A B``: from tables to persons and the linked file."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.link.options import (
    LINKED,
    OUTCOMES,
    WHAT,
    AllowPairs,
    Asked,
    Dedupe,
    Id,
    SchemaOfTables,
    Tables,
    load_schema_of,
    named_paths,
    specification,
)
from sfumato.cli.output import print_json, progress_bar, say, warn
from sfumato.cli.parameters import Json, Seed
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.linkage.links import Links
    from sfumato.linkage.spec.model import LinkSpec


def run(
    tables: Tables,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Where all files go.", show_default=False
        ),
    ],
    spec: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What is compared and how: link.toml, or Splink settings as .json. Without it "
            "sfumato proposes one.",
            show_default=False,
            rich_help_panel=WHAT,
        ),
    ] = None,
    schema: SchemaOfTables = None,
    dedupe: Dedupe = False,
    id_column: Id = None,
    one_per_source: Annotated[
        bool,
        typer.Option(
            "--one-per-source",
            help="Every table has at most one record per person.",
            rich_help_panel=WHAT,
        ),
    ] = False,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A trained model, such as the model.json of another linkage.",
            show_default=False,
            rich_help_panel=WHAT,
        ),
    ] = None,
    allow_pairs: AllowPairs = None,
    previous: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="An earlier linkage of some of these tables: persons keep their ids, decisions "
            "hold, its specification and model are taken.",
            show_default=False,
            rich_help_panel=WHAT,
        ),
    ] = None,
    match: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            help="Least score of a match; 0.9 when not given.",
            show_default=False,
            rich_help_panel=OUTCOMES,
        ),
    ] = None,
    possible: Annotated[
        float | None,
        typer.Option(
            metavar="SCORE",
            help="Least score of a possible match; 0.1 when not given.",
            show_default=False,
            rich_help_panel=OUTCOMES,
        ),
    ] = None,
    false_match_rate: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Find the thresholds: expected share of false ones among the matches.",
            show_default=False,
            rich_help_panel=OUTCOMES,
        ),
    ] = None,
    missed_match_rate: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Find the thresholds: expected share of true matches called non-matches.",
            show_default=False,
            rich_help_panel=OUTCOMES,
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What people answered about the pairs of the same run before, or of --previous.",
            show_default=False,
            rich_help_panel=OUTCOMES,
        ),
    ] = None,
    by_uncertainty: Annotated[
        bool,
        typer.Option(
            "--by-uncertainty",
            help="Pairs for review: the most doubtful ones first.",
            rich_help_panel=OUTCOMES,
        ),
    ] = False,
    check: Annotated[
        float | None,
        typer.Option(
            metavar="HALF_WIDTH",
            help="Draw pairs for clerical checks into checks.parquet: as few as give 95 % "
            "intervals of precision and recall of this half width, such as 0.02.",
            show_default=False,
            rich_help_panel=OUTCOMES,
        ),
    ] = None,
    quasi_identifier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A compared column that goes into the linked file; without any those of the "
            "schema, or dates, postcodes, numbers and categories.",
            show_default=False,
            rich_help_panel=LINKED,
        ),
    ] = None,
    attach: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE=FILE",
            help="Further records of a table's persons by its ids, such as visits; they stand in "
            "the linked file instead of the table's own.",
            show_default=False,
            rich_help_panel=LINKED,
        ),
    ] = None,
    key_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Key for person ids that are the same in every run; random without it.",
            show_default=False,
            rich_help_panel=LINKED,
        ),
    ] = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Link tables without a common identifier.

    Candidate pairs, their scores, persons, and a linked file without identities.

    Other commands: 'sfumato link suggest A B' proposes a specification to read and edit;
    'sfumato link apply FOLDER --decisions FILE' takes what people decided.
    """
    from sfumato.linkage.link import link
    from sfumato.linkage.pairs.review import most_doubtful_first
    from sfumato.linkage.write import check_links_folder

    check_links_folder(output, answered=decisions is not None or previous is not None)
    named = named_paths(tables)
    key = key_of(key_file)
    declared = load_schema_of(schema)
    asked = Asked(
        spec,
        dedupe,
        id_column,
        one_per_source,
        match,
        possible,
        false_match_rate,
        missed_match_rate,
        allow_pairs,
    )
    with progress_bar() as progress:
        made = specification(named, asked, declared, previous)
        if spec is None and previous is None:
            say(f"No --spec: {described(made.spec)}")
        links = link(
            named,
            made,
            schema=declared,
            decisions=decisions,
            model=model,
            previous=previous,
            attach_tables=attached(attach or []),
            quasi_identifiers=quasi_identifier or None,
            check_half_width=check,
            pseudonym_key=key,
            seed=seed,
            progress=progress,
        )
        if by_uncertainty:
            links = replace(links, review=most_doubtful_first(links.review))
        write_with_report(links, output)
    warn(links.warnings)
    if json:
        print_json(links.to_json())
    else:
        typer.echo(str(links))
    say(f"Wrote {output}")


def described(spec: LinkSpec) -> str:
    """What a proposed specification compares and blocks on, in a sentence."""
    compared = [name for name, column in spec.columns.items() if column.compare]
    rules = "; ".join(" + ".join(rule) for rule in spec.blocking)
    named = f"records named by {spec.id}" if spec.id else "records numbered"
    return (
        f"sfumato proposes one ({spec.mode.value}, {named}). "
        f"It compares {', '.join(compared)}, where records agree on: {rules}. "
        "It is in link.toml; read it."
    )


def attached(words: list[str]) -> dict[str, Path]:
    """The tables to attach, by their sources.

    Raises
    ------
    InputError
        If a word is no source, an equals sign and a file, or a source is there twice.
    """
    tables: dict[str, Path] = {}
    for word in words:
        name, sign, path = word.partition("=")
        if not sign or not name or not path or name in tables:
            raise InputError(
                "option --attach",
                "must be a source and its file, once for each source",
                accepted="--attach hospital=visits.csv",
            )
        tables[name] = Path(path)
    return tables


def key_of(path: Path | None) -> bytes | None:
    """The key that a file holds.

    Raises
    ------
    InputError
        If the file cannot be read, or the key is too short.
    """
    from sfumato.core.pseudonyms import SHORTEST_KEY

    if path is None:
        return None
    try:
        key = path.read_bytes().strip()
    except OSError:
        raise InputError("option --key-file", "must be a file that can be read") from None
    if len(key) < SHORTEST_KEY:
        raise InputError(
            "option --key-file",
            f"must hold a secret of at least {SHORTEST_KEY} bytes",
            found=f"{len(key)} bytes",
            advice="write 32 random bytes to a file and keep it apart from the data",
        )
    return key


def write_with_report(links: Links, output: Path) -> None:
    """Write the folder, with the report where the extra for it is installed."""
    from sfumato.linkage.files import REPORT
    from sfumato.reports import report
    from sfumato.reports.write import NEEDED

    if any(find_spec(name) is None for name in NEEDED):
        links.write(output)
        say('No report: it needs the extra "report"; run: pip install "sfumato[report]"')
        return

    def draw(folder: Path) -> None:
        report(links, folder / REPORT)

    links.write(output, also=draw)
