"""``sfumato link A B``: from tables, or from encodings, to persons and the linked file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli.link.hand_over import hand_over, write_with_report
from sfumato.cli.link.options.encodings import check_applies, matching
from sfumato.cli.link.options.linked import (
    Attach,
    KeyFile,
    LinkedFile,
    QuasiIdentifiers,
    attached,
    key_of,
)
from sfumato.cli.link.options.outcomes import (
    ByUncertainty,
    Check,
    DecisionsFile,
    FalseMatchRate,
    ForPeople,
    Limits,
    Match,
    MissedMatchRate,
    Possible,
    Similarity,
)
from sfumato.cli.link.options.specification import (
    AllowPairs,
    Asked,
    Before,
    Dedupe,
    EngineChoice,
    EngineWord,
    ModelFile,
    OnePerSource,
    Previous,
    SpecFile,
    described,
    specification,
)
from sfumato.cli.link.options.tables import (
    Id,
    SchemaOfTables,
    Tables,
    load_schema_of,
    named_places,
    place_of,
)
from sfumato.cli.output import progress_bar, say
from sfumato.cli.parameters import Json, Seed

if TYPE_CHECKING:
    from sfumato.linkage.encodings.unit.links import EncodedLinks
    from sfumato.linkage.links import Links
    from sfumato.schema import Schema


def run(
    context: typer.Context,
    tables: Tables,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Where all files go.", show_default=False
        ),
    ],
    spec: SpecFile = None,
    schema: SchemaOfTables = None,
    dedupe: Dedupe = False,
    id_column: Id = None,
    one_per_source: OnePerSource = False,
    model: ModelFile = None,
    allow_pairs: AllowPairs = None,
    engine: EngineChoice = EngineWord.DUCKDB,
    previous: Previous = None,
    match: Match = None,
    possible: Possible = None,
    false_match_rate: FalseMatchRate = None,
    missed_match_rate: MissedMatchRate = None,
    similarity: Similarity = None,
    decisions: DecisionsFile = None,
    by_uncertainty: ByUncertainty = False,
    check: Check = None,
    quasi_identifier: QuasiIdentifiers = None,
    attach: Attach = None,
    key_file: KeyFile = None,
    seed: Seed = None,
    json: Json = False,
) -> None:
    """Link tables without a common identifier.

    Candidate pairs, their scores, persons, and a linked file without identities.

    Other commands: 'sfumato link suggest A B' proposes a specification to read and edit;
    'sfumato link apply FOLDER --decisions FILE' takes what people decided. Owners who may not
    show their identifiers make a key ('sfumato link key'), encode at home ('sfumato link
    encode'), and link what was encoded. The linked file of encodings has persons and sources
    only, and what is attached by the records' ids.
    """
    from sfumato.linkage.encodings.unit.link import all_encoded
    from sfumato.linkage.write import check_links_folder

    check_links_folder(output, answered=decisions is not None or previous is not None)
    named = named_places(tables)
    limits = Limits(match, possible, false_match_rate, missed_match_rate, similarity)
    asked = Asked(spec, dedupe, id_column, one_per_source, limits, allow_pairs, engine)
    beside = {name: place_of(path) for name, path in attached(attach or []).items()}
    inputs = (*named.values(), *beside.values(), spec, schema, model, decisions)
    key = key_of(key_file, inputs)
    linked = LinkedFile(quasi_identifier or None, beside, key, seed)
    declared = load_schema_of(schema)
    links: Links | EncodedLinks
    if all_encoded(named):
        check_applies(context)
        links = _of_encodings(named, asked, declared, linked, output)
    else:
        people = ForPeople(check, by_uncertainty)
        before = Before(previous, model, decisions)
        links = _of_tables(named, asked, declared, before, people, linked, output)
    hand_over(links, output, json=json)


def _of_tables(
    named: Mapping[str, Path | str],
    asked: Asked,
    declared: Schema | None,
    before: Before,
    people: ForPeople,
    linked: LinkedFile,
    output: Path,
) -> Links:
    """Link clear tables, and write what comes of it."""
    from sfumato.linkage.link import link
    from sfumato.linkage.pairs.review import most_doubtful_first
    from sfumato.linkage.sources.spark import streamed

    with progress_bar() as progress:
        sources = streamed(named, spark=asked.engine is EngineWord.SPARK)
        made = specification(sources, asked, declared, before.previous)
        if asked.spec is None and before.previous is None:
            say(f"No --spec: {described(made.spec)}")
        links = link(
            sources,
            made,
            schema=declared,
            decisions=before.decisions,
            model=before.model,
            previous=before.previous,
            attach_tables=linked.attach,
            quasi_identifiers=linked.quasi_identifiers,
            check_half_width=people.check,
            pseudonym_key=linked.key,
            seed=linked.seed,
            engine=asked.engine,
            progress=progress,
        )
        if people.by_uncertainty:
            links = replace(links, review=most_doubtful_first(links.review))
        write_with_report(links, output)
    return links


def _of_encodings(
    named: Mapping[str, Path | str],
    asked: Asked,
    declared: Schema | None,
    linked: LinkedFile,
    output: Path,
) -> EncodedLinks:
    """Link encodings, and write what comes of it."""
    from sfumato.linkage.encodings.unit.links import check_encodings_folder
    from sfumato.linkage.link import link

    check_encodings_folder(output)
    with progress_bar() as progress:
        links = link(
            named,
            matching(named, asked),
            schema=declared,
            attach_tables=linked.attach,
            pseudonym_key=linked.key,
            seed=linked.seed,
            progress=progress,
        )
        write_with_report(links, output)
    return links
