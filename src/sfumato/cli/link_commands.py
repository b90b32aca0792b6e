"""``sfumato link``: from tables, or from encodings, to persons and the linked file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from sfumato.cli.declared_options import Given, on_command_line, values_of, with_declared
from sfumato.cli.encode_commands import encode, key
from sfumato.cli.output import (
    NOT_MEASURED,
    check_text,
    columns,
    print_found,
    progress_bar,
    say,
    then,
    warn,
    write_or_print,
)
from sfumato.cli.parameters import Details, Json, TextOutput, argument, file_option, option
from sfumato.core.declaration import Layout, Place, is_uri, layout_of, place_of
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.core.secret_keys import read_secret
from sfumato.linkage import link_options
from sfumato.linkage.link_engine import Engine

if TYPE_CHECKING:
    from sfumato.linkage.encoding_linkage import EncodedLinks, Matching
    from sfumato.linkage.link_spec import LinkSpec, Mode
    from sfumato.linkage.linkage_result import Links
    from sfumato.linkage.spec_suggestion import Suggestion
    from sfumato.schema import Schema

WHAT, OUTCOMES, LINKED = "What is linked", "Outcomes", "The linked file"
"""Headings under which the help lists options."""
RUN = "run"
"""The command that is meant where none is named."""
SAID_OF_ALL = ("encoding", "header", "names")
"""What is said of the layout of several files: of those that cannot be read without it."""
_TO_ENCODINGS = frozenset(
    (
        *("tables", "output", "schema", "dedupe", "one_per_source", "json"),
        *("match", "possible", "false_match_rate", "missed_match_rate", "similarity"),
        *("id_column", "attach", "key_file", "secret", "seed"),
        *SAID_OF_ALL,
    )
)
"""Parameters of ``sfumato link`` that apply to encodings."""

Tables = Annotated[
    list[str],
    argument(
        metavar="TABLE...",
        help="The tables: CSV, Parquet; Excel, SPSS, Stata and SAS with sfumato\\[formats]; URLs "
        "of tables of PostgreSQL or SQLite with sfumato\\[databases]. A source is named as its "
        "file, without the ending, or as its table, or as you say: hospital=FILE. "
        "Or, of all owners, what 'sfumato link encode' wrote. With --engine spark also folders "
        "of files, and URIs that Spark reads.",
    ),
]
SchemaOfTables = Annotated[
    Path | None,
    file_option(
        "--schema",
        help="What the columns are, as TOML: sensitive ones are never compared or shown.",
        rich_help_panel=WHAT,
    ),
]


LinkFolder = Annotated[Path, argument(metavar="FOLDER", help="What 'sfumato link' wrote.")]


class LinkGroup(TyperGroup):
    """Commands of which one needs no name: ``sfumato link A B``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments, with the name of the command that is meant."""
        named = bool(args) and args[0] in self.commands
        return super().parse_args(ctx, args if named else [RUN, *(args or ["--help"])])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command; the linkage itself goes by the group's name alone."""
        name, command, rest = super().resolve_command(ctx, args)
        return ("" if name == RUN else name), command, rest


app = typer.Typer(cls=LinkGroup)


@app.callback()
def link() -> None:
    """Link tables without a common identifier."""


@app.command(RUN)
@with_declared(link_options.LinkedFile, only=("seed",))
@with_declared(
    link_options.LinkedFile,
    only=("quasi_identifiers", "attach", "key_file", "secret"),
    panel=LINKED,
)
@with_declared(link_options.Limits, link_options.ForPeople, panel=OUTCOMES)
@with_declared(link_options.Comparing, link_options.Deduping, panel=WHAT)
@with_declared(Layout, only=SAID_OF_ALL, panel=WHAT)
def run(
    context: typer.Context,
    tables: Tables,
    output: Annotated[Path, option("--output", "-o", metavar="FOLDER", help="Where all files go.")],
    spec: Annotated[
        Path | None,
        file_option(
            help="What is compared and how: link.toml, or Splink settings as .json. Without it "
            "sfumato proposes one.",
            rich_help_panel=WHAT,
        ),
    ] = None,
    schema: SchemaOfTables = None,
    json: Json = False,
    *,
    given: Given,
) -> None:
    """Link tables without a common identifier.

    Candidate pairs, their scores, people, and a linked file without identities.

    --encoding, --header and --names are of every file that cannot be read without them; a project
    says the whole layout of each.

    Other commands: 'sfumato link suggest A B' proposes a specification to read and edit;
    'sfumato link apply FOLDER --decisions FILE' takes what people decided. Owners who may not
    show their identifiers make a key ('sfumato link key'), encode at home ('sfumato link
    encode'), and link what was encoded. The linked file of encodings has people and sources
    only, and what is attached by the records' ids.
    """
    from sfumato.linkage.encoding_linkage import all_encoded
    from sfumato.linkage.linkage_result import check_links_folder
    from sfumato.schema import load_schema

    answered = given["decisions"] is not None or given["previous"] is not None
    check_links_folder(output, answered=answered)
    named = named_places(tables)
    inputs = (*named.values(), *given["attach"].values(), spec, schema)
    linked = values_of(link_options.LinkedFile, given)
    linked["attach_tables"] = _readable(linked["attach_tables"], given)
    inputs = (*inputs, given["model"], given["decisions"])
    linked["pseudonym_key"] = _key_of(given["key_file"], inputs)
    linked["secret"] = _key_of(given["secret"], inputs, "--secret")
    declared = None if schema is None else load_schema(schema)
    links: Links | EncodedLinks
    if all_encoded(named):
        _check_applies(context)
        links = _of_encodings(named, given, declared, linked, output)
    else:
        links = _of_tables(named, spec, given, declared, linked, output)
    _hand_over(links, output, json=json)


def _of_tables(
    named: Mapping[str, Place],
    spec: Path | None,
    given: Given,
    schema: Schema | None,
    linked: Mapping[str, Any],
    output: Path,
) -> Links:
    """Link clear tables, and write what comes of it."""
    from sfumato.linkage.link import link as link_tables
    from sfumato.linkage.spark_linkage import streamed

    comparing = values_of(link_options.Comparing, given)
    engine = comparing.pop("engine") or Engine.DUCKDB
    with progress_bar() as progress:
        sources = streamed(_readable(named, given), spark=engine is Engine.SPARK)
        made = _specification(sources, spec, given, schema, given["previous"])
        if spec is None and given["previous"] is None:
            say(f"No --spec: {_described(made.spec)}")
        links = link_tables(
            sources,
            made,
            schema=schema,
            model=given["model"],
            previous=given["previous"],
            engine=engine,
            progress=progress,
            **values_of(link_options.ForPeople, given),
            **linked,
        )
        _write_with_report(links, output)
    return links


def _of_encodings(
    named: Mapping[str, Place],
    given: Given,
    schema: Schema | None,
    linked: Mapping[str, Any],
    output: Path,
) -> EncodedLinks:
    """Link encodings, and write what comes of it."""
    from sfumato.linkage.encoding_linkage import check_encodings_folder
    from sfumato.linkage.link import link as link_tables

    check_encodings_folder(output)
    # Encodings take some of these options only; any other that was given is refused before.
    applying = {
        name: linked[name]
        for name in link_options.EncodedLinkOptions.__annotations__
        if name in linked
    }
    with progress_bar() as progress:
        links = link_tables(
            named, _matching(named, given), schema=schema, progress=progress, **applying
        )
        _write_with_report(links, output)
    return links


def _check_applies(context: typer.Context) -> None:
    """Refuse options that encodings have no use for."""
    for name, flag in on_command_line(context):
        if name not in _TO_ENCODINGS:
            raise InputError(
                f"option {flag}",
                "must be left out where encodings are linked",
                advice="what is compared was agreed upon when they were made; no person can look "
                "at a pair of them",
            )


def _matching(tables: Mapping[str, object], given: Given) -> Matching:
    """How encodings are matched."""
    from sfumato.linkage.encoding_linkage import USUAL, Matching
    from sfumato.linkage.link_spec import Mode, WantedRates
    from sfumato.linkage.match_thresholds import Thresholds

    limits = link_options.Limits(**values_of(link_options.Limits, given))
    thresholds, rates = limits.thresholds(USUAL), limits.rates
    deduped = given["dedupe"] or len(tables) == 1
    return Matching(
        mode=_mode_of(len(tables)) if deduped else Mode.LINK_ONLY,
        one_per_source=tuple(tables) if given["one_per_source"] else (),
        thresholds=None if thresholds is None else Thresholds(**thresholds),
        rates=None if rates is None else WantedRates(**rates),
        similarity=limits.similarity,
        id=given["id_column"],
    )


@app.command()
@with_declared(
    link_options.Comparing,
    link_options.Deduping,
    only=("dedupe", "id_column", "allow_pairs"),
    panel=WHAT,
)
@with_declared(Layout, only=SAID_OF_ALL, panel=WHAT)
def suggest(
    tables: Tables,
    output: TextOutput = None,
    schema: SchemaOfTables = None,
    details: Details = False,
    *,
    given: Given,
) -> None:
    """Propose a specification: what to compare, which records to bring together, and why."""
    from sfumato.schema import load_schema

    named = named_places(tables)
    check_text(output, (*named.values(), schema))
    tables_read = _readable(named, given)
    made = _specification(tables_read, None, given, None if schema is None else load_schema(schema))
    advice = " Read and edit it: what is compared decides who is found."
    write_or_print(made.text, output, advice, details=details)


@app.command()
def apply(
    folder: LinkFolder,
    decisions: Annotated[
        Path,
        file_option(help="Answers: a Parquet file with pair, worker, answer, time, withdrawn."),
    ],
    afresh: Annotated[
        bool, typer.Option("--afresh", help="Forget the answers that were applied before.")
    ] = False,
    key_file: Annotated[
        Path | None,
        file_option(help="The key of the person ids, where the linkage was made with one."),
    ] = None,
    json: Json = False,
) -> None:
    """Take clerks' decisions: outcomes, people and the linked file again.

    Decisions are evidence beside the scores; those that contradict each other are listed. Answers
    applied before hold until they are changed or withdrawn. People keep their ids where they can.
    """
    from sfumato.core.atomic import check_target_folder
    from sfumato.linkage.earlier_linkage import apply_decisions

    check_target_folder(folder)
    # The key must be none of the linkage's own files.
    secret = _key_of(key_file, (decisions, *(folder.iterdir() if folder.is_dir() else ())))
    with progress_bar() as progress:
        progress("persons", 0.0)
        links = apply_decisions(folder, decisions, afresh=afresh, pseudonym_key=secret)
        _write_with_report(links, folder)
    _hand_over(links, folder, json=json)


@app.command("next")
@with_declared(link_options.NextPairs)
def next_pairs(
    folder: LinkFolder,
    output: Annotated[
        Path, option("--output", "-o", metavar="FOLDER", help="Where the batch goes; one for each.")
    ],
    json: Json = False,
    *,
    given: Given,
) -> None:
    """Draw the pairs that clerks are to answer next, and say how sure the joined people are.

    Pairs of all scores, of what blocking may have lost, and those that may change most people.
    They are drawn with chances that are kept, so that the answers say how right the links are.

    Then 'sfumato open BATCH', 'sfumato link apply FOLDER --decisions FILE', and again.
    """
    from sfumato.linkage.next_batch import next_batch

    wanted = link_options.NextPairs(**values_of(link_options.NextPairs, given))
    with progress_bar() as progress:
        batch = next_batch(folder, output, wanted, progress)
    print_found(batch.to_json(), [str(batch)], json=json)
    say(f"Wrote {output}. To answer: sfumato open {output}")
    say(f"To apply the answers: sfumato link apply {folder} --decisions {output}/decisions.parquet")


@app.command()
def inspect(
    folder: LinkFolder,
    persons: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="People with most records, and bridges, at most."),
    ] = 10,
    show_values: Annotated[
        bool,
        typer.Option("--show-values", help="Print identifying values of these people too."),
    ] = False,
    json: Json = False,
) -> None:
    """Look at the people found: the largest, what hangs on one pair, sizes against the sources."""
    from sfumato.linkage.earlier_linkage import read_earlier
    from sfumato.linkage.person_inspection import inspect_linkage, shown_values

    earlier = read_earlier(folder)
    found = inspect_linkage(earlier, persons)
    values = shown_values(earlier, found) if show_values else None
    plain, lines = found.to_json(), [str(found)]
    if values is not None:
        plain["values"] = values.to_pylist()
        cells = [[each or "" for each in row.values()] for row in plain["values"]]
        lines += columns([values.column_names, *cells])
    print_found(plain, lines, json=json)


app.command()(key)
app.command()(encode)


def named_places(tables: Sequence[str]) -> dict[str, Place]:
    """The tables by the names of their sources: as said, or as they are called where they lie.

    Parameters
    ----------
    tables
        Paths and URIs, some with a name and an equals sign before them.

    Raises
    ------
    InputError
        If two have the same name, or the URL of a database names no table.
    """
    from sfumato.linkage.link import stem_of

    named: dict[str, Place] = {}
    for table in tables:
        name, sign, path = table.partition("=")
        # A path may hold an equals sign, and so may a URI: neither has a name before it.
        if not (sign and name and path) or is_uri(name) or Path(table).exists():
            name, path = stem_of(table), table
        if name in named:
            raise InputError(
                "the tables",
                "must have names that differ",
                found="two of one name",
                advice="say how each is called: hospital=FILE practice=FILE",
            )
        named[name] = place_of(path)
    return named


def _readable(tables: Mapping[str, object], given: Given) -> dict[str, object]:
    """The tables, those that cannot be read by themselves opened as it is said."""
    from sfumato.table.table_files import opened_where_needed

    layout = layout_of(given)
    return {name: opened_where_needed(table, layout) for name, table in tables.items()}


def _key_of(
    path: Path | None, inputs: Iterable[str | Path | None], option: str = "--key-file"
) -> bytes | None:
    """The key that a file holds, which must be none of the other files that are read."""
    return None if path is None else read_secret(path, f"option {option}", inputs)


def _specification(
    tables: Mapping[str, object],
    spec: Path | None,
    given: Given,
    schema: Schema | None,
    previous: Path | None = None,
) -> Suggestion:
    """The specification that a command line means: read, that of a linkage before, or proposed."""
    from sfumato.linkage.earlier_linkage import read_earlier
    from sfumato.linkage.link import changed, of_before
    from sfumato.linkage.link_spec import MAX_PAIRS, load_link_spec
    from sfumato.linkage.spec_suggestion import Suggestion, suggest_links

    changes = _changes(given)
    mode = _mode_of(len(tables)) if given["dedupe"] else None
    if spec is not None:
        made = Suggestion(load_link_spec(spec), {})
    elif previous is not None:
        made = of_before(read_earlier(previous), tables)
    else:
        most = given["allow_pairs"] or MAX_PAIRS
        made = suggest_links(
            tables, schema, mode=mode, id_column=given["id_column"], max_pairs=most
        )
    if mode is not None:
        changes["mode"] = mode
    if given["id_column"] is not None:
        changes["id"] = given["id_column"]
    if given.get("one_per_source"):
        changes["one_per_source"] = tuple(tables)
    return Suggestion(changed(made.spec, changes), made.notes)


def _mode_of(tables: int) -> Mode:
    """Which records ``--dedupe`` compares."""
    from sfumato.linkage.link_spec import Mode

    return Mode.DEDUPE_ONLY if tables == 1 else Mode.LINK_AND_DEDUPE


def _changes(given: Given) -> dict[str, object]:
    """Thresholds or rates, and the number of pairs, where they are given."""
    from sfumato.linkage.person_clusters import USUAL

    limits = link_options.Limits(**values_of(link_options.Limits, given))
    if limits.similarity is not None:
        raise InputError("option --similarity", "is for encodings only", found="clear tables")
    thresholds, rates = limits.thresholds(USUAL), limits.rates
    changes: dict[str, object] = {}
    if thresholds is not None or rates is not None:
        # Both, as the one takes the place of the other in a specification.
        changes = {"thresholds": thresholds, "rates": rates}
    if given["allow_pairs"] is not None:
        changes["max_pairs"] = given["allow_pairs"]
    return changes


def _described(spec: LinkSpec) -> str:
    """What a proposed specification compares and blocks on, in a sentence."""
    compared = [name for name, column in spec.columns.items() if column.compare]
    rules = "; ".join(" + ".join(rule) for rule in spec.blocking)
    named = f"records named by {spec.id}" if spec.id else "records numbered"
    return (
        f"sfumato proposes one ({spec.mode.value}, {named}). "
        f"It compares {', '.join(compared)}, where records agree on: {rules}. "
        "It is in link.toml; read it."
    )


def _write_with_report(links: Links | EncodedLinks, output: Path) -> None:
    """Write the folder, with the report where the extra for it is installed."""
    from sfumato.core.optional_packages import install_command
    from sfumato.linkage.linkage_files import REPORT
    from sfumato.reports import report
    from sfumato.reports.report_targets import NEEDED

    if any(find_spec(name) is None for name in NEEDED):
        links.write(output)
        say(f'No report: it needs the extra "report"; run: {install_command("report")}')
        return

    def draw(folder: Path) -> None:
        report(links, folder / REPORT)

    links.write(output, also=draw)


def _advice(links: Links | EncodedLinks, output: Path) -> Iterator[str]:
    """What may be done with a linkage that was written."""
    from sfumato.linkage.linkage_result import outcomes_json

    undecided = outcomes_json(links)["possible_match"]
    if undecided:
        yield f"Review {counted(undecided, 'possible match')}: sfumato open {quote(str(output))}"
    if links.found_any:
        linked, schema = (quote(str(output / f"linked.{kind}")) for kind in ("parquet", "toml"))
        yield f"Measure the linked file: sfumato assess {linked} --schema {schema}"


def _hand_over(links: Links | EncodedLinks, output: Path, *, json: bool) -> None:
    """Print what was found, and say where everything is."""
    warn(links.warnings)
    print_found(links.to_json() if json else None, [str(links)], json=json)
    say(f"Wrote {output}")
    if not json:
        typer.echo("\n".join(("", *then(_advice(links, output)))))
    if not links.found_any:
        raise typer.Exit(NOT_MEASURED)
