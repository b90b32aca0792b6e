"""From tables to persons: `link`, and what it was asked for."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack, overload

import numpy as np
import pyarrow as pa

from sfumato.core import declaration
from sfumato.core.arrays import Ints
from sfumato.core.errors import InputError
from sfumato.core.secret_keys import Secret, check_key
from sfumato.linkage import encoding_linkage, link_options, linkage_manifest, review_pairs
from sfumato.linkage.earlier_linkage import Earlier, read_earlier
from sfumato.linkage.link_engine import Engine, checked_engine
from sfumato.linkage.link_model import Model, load_model
from sfumato.linkage.link_sources import Opened, open_sources
from sfumato.linkage.link_spec import MAX_PAIRS, LinkSpec, load_link_spec, rules_in
from sfumato.linkage.linkage_quality import Checks, draw_pairs
from sfumato.linkage.linkage_result import Links
from sfumato.linkage.linked_file import attach, declare, kept_columns, name_persons, read_analytic
from sfumato.linkage.match_decisions import Decisions, read_decisions, renumbered, together
from sfumato.linkage.match_thresholds import POSSIBLE_MATCH, Pairs, Records
from sfumato.linkage.model_fit import fit_and_score
from sfumato.linkage.person_clusters import Settled, settle
from sfumato.linkage.spark_linkage import any_on_spark, streamed
from sfumato.linkage.spec_suggestion import Suggestion, suggest_links
from sfumato.schema import Schema
from sfumato.table.databases import DatabaseTable
from sfumato.table.table_files import data_sha256

Tables = Mapping[str, object] | Sequence[str | os.PathLike[str]]
Spec = LinkSpec | Suggestion | str | os.PathLike[str]


def named_tables(tables: Tables) -> dict[str, object]:
    """The tables by the names of their sources, which paths may give."""
    if isinstance(tables, Mapping):
        if not all(str(name).strip() for name in tables):
            raise InputError("parameter tables", "must have a name as text for each table")
        return dict(tables)
    # The members of a dataframe are names of columns, which would be taken for paths.
    alone = isinstance(tables, (str, os.PathLike)) or hasattr(tables, "columns")
    if alone or not all(isinstance(table, (str, os.PathLike)) for table in tables):
        raise InputError(
            "parameter tables",
            "must be tables by their names, or a list of paths",
            found="one table" if alone else "something else",
            advice='write {"hospital": table}',
        )
    named: dict[str, object] = {}
    for table in tables:
        name = stem_of(table)
        if name in named:
            raise InputError(
                "the tables",
                "must have file names that differ",
                found="two of one name without ending",
                advice="rename one, or in Python give the tables by name",
            )
        named[name] = table
    return named


def stem_of(place: str | os.PathLike[str]) -> str:
    """Name of the source that a table is: a file's without endings, or its own in a database."""
    if declaration.is_database(place):
        return DatabaseTable.of(place).table
    path = Path(place)
    # visits.csv.gz and visits.csv are the same source.
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def asked_specification(
    tables: Mapping[str, object],
    spec: Spec | None,
    schema: Schema | None,
    earlier: Earlier | None,
    comparing: link_options.Comparing,
    progress: declaration.Progress,
) -> Suggestion:
    """The specification as it was given, that of a linkage before, or a proposed one.

    The column of ids and the most candidate pairs of the options replace those given.
    """
    id_column, allowed = comparing.id_column, comparing.allow_pairs
    if isinstance(spec, Suggestion):
        made = spec
    elif isinstance(spec, LinkSpec):
        made = Suggestion(spec, {})
    elif spec is not None:
        made = Suggestion(load_link_spec(spec), {})
    elif earlier is not None:
        made = of_before(earlier, tables)
    else:
        progress("suggest", 0.0)
        most = allowed or MAX_PAIRS
        made = suggest_links(tables, schema, id_column=id_column, max_pairs=most)
    given = {"max_pairs": allowed, "id": id_column}
    changes = {name: value for name, value in given.items() if value is not None}
    return replace(made, spec=changed(made.spec, changes)) if changes else made


def of_before(earlier: Earlier, sources: Collection[str]) -> Suggestion:
    """The specification of a linkage before, without what it says of sources that are gone."""
    spec = earlier.spec
    here = {
        "rename": {name: spec.rename[name] for name in spec.rename if name in sources},
        "one_per_source": tuple(name for name in spec.one_per_source if name in sources),
    }
    return Suggestion(changed(spec, here), {})


def changed(spec: LinkSpec, changes: Mapping[str, object]) -> LinkSpec:
    """A specification with other values in some fields, checked again."""
    fields = {name: getattr(spec, name) for name in type(spec).model_fields}
    # Made anew, since a copy of pydantic's would not check the fields.
    return LinkSpec(**{**fields, **changes})


CHECKED = 3
"""The stream of the seed that the pairs to check come from."""


@overload
def link(
    tables: Tables,
    spec: encoding_linkage.Matching,
    *,
    schema: Schema | None = ...,
    progress: declaration.Progress = ...,
    **options: Unpack[link_options.EncodedLinkOptions],
) -> encoding_linkage.EncodedLinks: ...


@overload
def link(
    tables: Tables,
    spec: Spec | None = ...,
    *,
    schema: Schema | None = ...,
    progress: declaration.Progress = ...,
    **options: Unpack[link_options.LinkOptions],
) -> Links: ...


@declaration.keywords(link_options.Comparing, link_options.ForPeople, link_options.LinkedFile)
def link(
    tables: Tables,
    spec: Spec | encoding_linkage.Matching | None = None,
    *,
    schema: Schema | None = None,
    progress: declaration.Progress = declaration.silent,
    **options: Unpack[link_options.LinkOptions],
) -> Links | encoding_linkage.EncodedLinks:
    """Link tables: candidate pairs, their scores, persons, and a linked file without identities.

    Encodings that owners made at home are linked by their similarity alone, and give
    `EncodedLinks`, which have no model and no pairs for review. Then only ``spec``, ``id_column``,
    ``attach_tables`` and their ``schema``, ``pseudonym_key``, ``secret``, ``seed`` and ``progress``
    apply.

    Parameters
    ----------
    tables
        Name of each source and its table (a path or a dataframe, also of PySpark); or paths,
        whose names without ending are the sources'. One table is deduplicated. Or, of all
        sources, encodings.
    spec
        What is linked, and how: a `LinkSpec`, or a file with one or with Splink settings. Without
        it the specification of the previous linkage is taken, or one is proposed. Of encodings: a
        `Matching`.
    schema
        What the columns are. Sensitive ones are never compared or shown for review.

    Raises
    ------
    InputError
        If a table, the specification, the model, the decisions or the previous linkage cannot be
        used, the blocking rules make more pairs than allowed, or none, the model takes different
        persons for one, encodings cannot be compared, or something is asked that they cannot
        give.
    SfumatoError
        If Splink or its database fails.
    """
    comparing, people, linked = declaration.taken(
        options, link_options.Comparing, link_options.ForPeople, link_options.LinkedFile
    )
    named, number = named_tables(tables), declaration.drawn_seed(linked.seed)
    secret = Secret.of(linked.secret)
    if linked.pseudonym_key is not None:
        check_key(linked.pseudonym_key)
    # Who has a DataFrame of Spark may have more than this machine holds.
    usual = Engine.SPARK if any_on_spark(named) else Engine.DUCKDB
    engine = checked_engine(comparing.engine or usual)
    if encoding_linkage.all_encoded(named):
        _only_of_clear_tables(options, engine)
        matching = encoding_linkage.matching_of(spec, comparing.id_column, one=len(named) == 1)
        return encoding_linkage.link_encodings(
            named, matching, schema=schema, attach_tables=linked.attach_tables,
            pseudonym_key=linked.pseudonym_key, secret=secret, seed=number, progress=progress,
        )  # fmt: skip
    if isinstance(spec, encoding_linkage.Matching):
        raise InputError("parameter spec", "must say what columns hold", found="a Matching")
    named = streamed(named, spark=engine is Engine.SPARK)
    attached = streamed(linked.attach_tables, spark=engine is Engine.SPARK)
    earlier = None if comparing.previous is None else read_earlier(comparing.previous)
    if earlier is not None:
        earlier.check_key(linked.pseudonym_key)
    suggestion = asked_specification(named, spec, schema, earlier, comparing, progress)
    columns = kept_columns(suggestion.spec, schema, linked.quasi_identifiers)
    with open_sources(named, suggestion.spec, schema=schema, progress=progress) as opened:
        analytic = read_analytic(opened, columns)
        if attached:
            analytic = attach(analytic, opened.records, attached, suggestion.spec, schema)
        analytic, declared = declare(analytic, schema)
        known = _model(comparing.model, earlier)
        pairs, fitted = fit_and_score(opened, model=known, engine=engine, progress=progress)
        answers = _answers(people.decisions, pairs, opened.records, earlier)
        settled = settle(
            opened.records, pairs, suggestion.spec, answers,
            lost=fitted.lost, hidden=fitted.hidden, inferred=fitted.by_relations, once=fitted.once,
        )  # fmt: skip
        progress("persons", 0.5)
        # A stream of its own, so that asking for checks changes nothing else that is drawn.
        rng = np.random.default_rng([number, CHECKED])
        review, checks = _for_people(people, opened, pairs, fitted, settled, rng)
        identifying = review_pairs.identifying_file(opened)
    ids = name_persons(
        opened.records,
        settled.persons.person,
        secret,
        key=linked.pseudonym_key,
        previous=None if earlier is None else _ids_before(earlier, opened.records),
    )
    manifest = linkage_manifest.LinkManifest(
        seed=number, keyed=linked.pseudonym_key is not None, thresholds=settled.thresholds,
        sources=_sources(named, opened),
        attached={name: data_sha256(table) for name, table in attached.items()},
        quasi_identifiers={n: kind.value for n, kind in analytic.quasi_identifiers.items()},
        model=linkage_manifest.model_part(fitted), checks=linkage_manifest.checks_part(checks),
        versions=linkage_manifest.versions(),
    )  # fmt: skip
    progress("persons", 1.0)
    return Links(
        records=opened.records, pairs=pairs, settled=settled, person_ids=ids, analytic=analytic,
        linked_schema=declared, review=review, identifying=identifying, spec=suggestion.spec,
        suggested=bool(suggestion.notes), notes=suggestion.notes, model=fitted, decisions=answers,
        checks=checks, manifest=manifest, secret=secret,
    )  # fmt: skip


def _sources(tables: Mapping[str, object], opened: Opened) -> dict[str, dict[str, object]]:
    """Number of records and hash of each source, and what the recipe did to it."""
    sources: dict[str, dict[str, object]] = {}
    for name, ids, steps in zip(
        opened.records.sources, opened.records.ids, opened.steps, strict=True
    ):
        sources[name] = {"records": len(ids), "sha256": data_sha256(tables[name])}
        if steps:
            sources[name]["recipe"] = [step.to_json() for step in steps]
    return sources


def rules_of(spec: LinkSpec, model: Model) -> list[str]:
    """The blocking rules in words: of the specification, or Splink's SQL."""
    if spec.splink is None:
        return [" + ".join(rule) for rule in spec.blocking]
    return rules_in(model.settings)


def _for_people(
    people: link_options.ForPeople,
    opened: Opened,
    pairs: Pairs,
    model: Model,
    settled: Settled,
    rng: np.random.Generator,
) -> tuple[pa.Table, Checks | None]:
    """Pairs as people see them: those to review, and those drawn for checks by hand."""
    labels = {(weight.comparison, weight.level): weight.label for weight in model.weights}
    rules = rules_of(opened.spec, model)

    def shown(numbers: Ints) -> pa.Table:
        return review_pairs.review_table(opened, pairs, numbers, labels, rules)

    review = shown(np.flatnonzero(settled.by_score == POSSIBLE_MATCH))
    if people.by_uncertainty:
        review = review_pairs.most_doubtful_first(review)
    if (half_width := people.check_half_width) is None:
        return review, None
    upper = settled.thresholds.upper
    drawn = draw_pairs(pairs, settled.probability, upper, half_width, rng)
    return review, Checks(half_width, upper, drawn, shown(drawn))


def _only_of_clear_tables(options: link_options.LinkOptions, engine: Engine) -> None:
    """Refuse what encodings cannot give."""
    for name, value in options.items():
        # The command line passes every option, so one with its usual value was not asked for.
        is_usual = value in (None, False) or (name == "engine" and engine is Engine.DUCKDB)
        if name not in link_options.EncodedLinkOptions.__annotations__ and not is_usual:
            raise InputError(
                f"parameter {name}", "must be left out where encodings are linked", found="it"
            )


def _model(model: Model | str | os.PathLike[str] | None, earlier: Earlier | None) -> Model | None:
    if model is None:
        return None if earlier is None else earlier.model
    return model if isinstance(model, Model) else load_model(model)


def _answers(
    decisions: Decisions | str | os.PathLike[str] | None,
    pairs: Pairs,
    records: Records,
    earlier: Earlier | None,
) -> Decisions | None:
    """Answers given now and before, by the records' numbers."""
    answers = decisions
    if isinstance(answers, (str, os.PathLike)):
        # Answers name pairs by their ids, which are those of the linkage that people looked at.
        answers = read_decisions(Path(answers), pairs if earlier is None else earlier.pairs)
    if earlier is None:
        return answers
    number = earlier.numbers_in(records)
    parts = [renumbered(each, number) for each in (earlier.answers, answers) if each is not None]
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else together(parts[0], parts[1])


def _ids_before(earlier: Earlier, records: Records) -> list[str | None]:
    number = earlier.numbers_in(records)
    ids: list[str | None] = [None] * records.count
    for new, person in zip(number.tolist(), earlier.person.to_pylist(), strict=True):
        if new >= 0:
            ids[new] = person
    return ids
