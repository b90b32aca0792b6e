"""Anonymize a file: from any dataframe or path to a release with its risks and its loss."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.core.errors import InputError
from sfumato.core.progress import Progress, silent
from sfumato.core.pseudonyms import check_key
from sfumato.engines.choose import Engine, takes_spark
from sfumato.release.coarsen_counts import Coarsening, promised
from sfumato.release.coded_ends import check_ends
from sfumato.release.constraints import Budget, Constraint, HAffiliation, LDiversity, TCloseness
from sfumato.release.constraints.ordered import ordered_attributes
from sfumato.release.make import make_release
from sfumato.release.manifest import Manifest, file_sha256, schema_sha256, versions
from sfumato.release.on_spark.refused import refuse_before_work
from sfumato.release.options import Options
from sfumato.release.population.known import check_population
from sfumato.release.released import Form
from sfumato.release.result import Release
from sfumato.risk.presence import open_register
from sfumato.risk.ranks import ranks_of
from sfumato.schema import Schema, check_schema
from sfumato.table.classification import check_person, classified, open_classified
from sfumato.table.table import Table

if TYPE_CHECKING:
    from sfumato.engines.spark.table import SparkTable

SEED_BITS = 63


def anonymize(  # noqa: PLR0913
    data: Any,
    schema: Schema,
    *constraints: Constraint | Budget,
    cut: str | None = None,
    split: str = "balance",
    recoding: str = "local",
    values: str = "range",
    keep_order: bool = False,
    cap_records: int | None = None,
    coarsen_counts: str | None = None,
    suppress: float = 0.0,
    register: Any = None,
    population: int | None = None,
    threshold: float = 0.2,
    unclassified: str = "refuse",
    seed: int | None = None,
    pseudonym_key: bytes | None = None,
    delimiter: str | None = None,
    engine: str | None = None,
    progress: Progress = silent,
) -> Release:
    """Release a file so that every equivalence class keeps the promises.

    Persons are partitioned by a tree, as Kartal & Li 2020 do (paper 003, Section 5), their
    quasi-identifiers generalised within the classes, direct identifiers removed, person ids
    replaced by pseudonyms; sensitive and insensitive columns are unchanged.

    Parameters
    ----------
    data
        A dataframe, or the path of a file.
    schema
        What each column is.
    constraints
        The promises, for example ``GBalance(0.9)``, ``HAffiliation(l=5)``; at least one.
    cut
        ``"search"``: where least is lost, and never worse than the paper's tree; ``"median"``:
        at the median record, which is the paper's tree. Without it the search, or the median
        where ``split`` is given another word than ``"balance"``.
    split
        Which cut at the median is tried first: ``"balance"`` (the paper's ratio),
        ``"variance"`` (kd-tree) or ``"range"`` (Mondrian).
    recoding
        ``"local"``: class by class, by the tree; ``"full-domain"``: one level of each
        hierarchy for all records, the one of least loss. See ``docs/recoding.md``.
    values
        The form of released quasi-identifiers: ``"range"``, ``"bounds"``, ``"mean"``,
        ``"set"`` or ``"hierarchy"``.
    keep_order
        Keep the order of the records instead of shuffling them. Order may give persons away.
    cap_records
        The most records that each person keeps, drawn at random.
    coarsen_counts
        How the numbers of records come to keep ``SharedCounts(m)``: ``"drop"`` leaves records
        out, ``"split"`` gives persons several pseudonyms, class by class and at a stated loss;
        without it the tree cuts only where the numbers keep it as they are.
    suppress
        The largest share of persons that may be suppressed: where the file cannot meet the
        constraints otherwise, and then those whose suppression gains most for the others.
    register
        The population that the file's persons come from, with the same quasi-identifiers and
        exact values, as a dataframe or the path of a file. Marketer risk and presence are then
        counted in it, and every person of it lies in the cells of one class.
    population
        The number of its persons N, where there is no register: marketer risk is then estimated.
    threshold
        Risk above which a record counts as at risk, in (0, 1].
    unclassified
        What becomes of columns that the schema does not name: ``"refuse"`` stops the release,
        ``"drop"`` leaves them out.
    seed
        Seed of every random choice; drawn when not given, and written to the manifest.
    pseudonym_key
        A secret of at least 16 bytes for keyed pseudonyms (HMAC-SHA-256) that are the same
        in every release; without it they are fresh and random.
    delimiter
        The separator of a CSV file; found by itself when not given.
    engine
        ``"embedded"`` reads the file into this process; ``"spark"`` leaves its records on a
        cluster: see ``docs/spark.md``. Without it Spark is for DataFrames of PySpark.
    progress
        Told how far the work is.

    Raises
    ------
    InputError
        If the data does not fit the schema, somebody has yet to say what a column is or which one
        names the person, or a parameter is out of range.
    ConstraintsNotMetError
        If even all records in one class break a constraint; it says what would help.
    """
    options = Options(
        cut=cut,  # type: ignore[arg-type]
        split=split,  # type: ignore[arg-type]
        recoding=recoding,  # type: ignore[arg-type]
        values=values,  # type: ignore[arg-type]
        keep_order=keep_order,
        cap_records=cap_records,
        coarsen_counts=coarsen_counts,  # type: ignore[arg-type]
        suppress=suppress,
        threshold=threshold,
        unclassified=unclassified,  # type: ignore[arg-type]
    )
    check_asked(
        schema,
        constraints,
        options,
        register=register is not None,
        population=population,
        pseudonym_key=pseudonym_key,
    )
    where = Engine.SPARK if takes_spark(data, engine) else Engine.EMBEDDED
    manifest = Manifest(
        options=options,
        constraints=constraints,
        seed=secrets.randbits(SEED_BITS) if seed is None else _checked_seed(seed),
        keyed=pseudonym_key is not None,
        schema_sha256=schema_sha256(schema),
        population=population,
        versions=versions(where),
        engine=where,
    )
    if where is Engine.SPARK:
        refuse_before_work(manifest, register)
        return _on_spark(data, schema, manifest, pseudonym_key, delimiter, progress)
    table = open_classified(
        data, schema, options.unclassified, delimiter=delimiter, progress=progress
    )
    _check_table(table, manifest)
    manifest = replace(manifest, input_sha256=_sha256(data))
    everybody = None
    if register is not None:
        everybody = open_register(register, table.schema)
        manifest = replace(manifest, register_sha256=_sha256(register))
    return make_release(table, manifest, pseudonym_key, progress, everybody, _frame(data))


def check_asked(
    schema: Schema,
    constraints: Sequence[Constraint | Budget],
    options: Options,
    *,
    register: bool,
    population: int | None,
    pseudonym_key: bytes | None,
) -> None:
    """Refuse what no data could make right, before any is read.

    Parameters
    ----------
    schema
        What each column is.
    constraints
        The promises.
    options
        How the release is made.
    register
        Whether there is a register.
    population, pseudonym_key
        As in `anonymize`.

    Raises
    ------
    InputError
        If there is no promise, or one of them, an option or the key does not fit the others.
    """
    check_constraints(schema, constraints)
    check_population(constraints, options, register=register, population=population)
    _check_coarsening(options, constraints, pseudonym_key)
    _check_key(schema, pseudonym_key)


def _on_spark(
    data: Any,
    schema: Schema,
    manifest: Manifest,
    key: bytes | None,
    delimiter: str | None,
    progress: Progress,
) -> Release:
    """Encode the file on the cluster, release it there, and leave nothing else behind."""
    from sfumato.engines.spark.checkpoint import released
    from sfumato.engines.spark.encode import open_on_spark
    from sfumato.engines.spark.read import open_on_cluster, person_candidates_on_spark
    from sfumato.release.on_spark.make import make_release_on_spark

    source = open_on_cluster(data, delimiter=delimiter)
    candidates = partial(person_candidates_on_spark, source)
    left_out = manifest.options.unclassified
    given = classified(source.subject, source.names, schema, left_out, candidates)
    if schema.person is None:
        check_person(schema, candidates, source.names)
    table = open_on_spark(source, given, keep_source=True, progress=progress)
    with released(table.frame):
        _check_table(table, manifest)
        manifest = replace(manifest, input_sha256=_sha256(data))
        return make_release_on_spark(table, manifest, key, progress, _frame(data))


def _frame(data: Any) -> Any:
    """The dataframe that was passed in; ``None`` for a path."""
    return None if isinstance(data, (str, os.PathLike)) else data


def _sha256(data: Any) -> str:
    """Hash of a file; an empty text of what is no file of this machine."""
    is_file = isinstance(data, (str, os.PathLike)) and Path(data).is_file()
    return file_sha256(data) if is_file else ""


def _checked_seed(seed: object) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << SEED_BITS:
        raise InputError(
            "parameter seed", "must be a whole number", accepted=f"0 to 2**{SEED_BITS} - 1"
        )
    return seed


def _check_key(schema: Schema, key: bytes | None) -> None:
    if key is None:
        return
    check_key(key)
    if schema.person is None:
        raise InputError(
            "parameter pseudonym_key",
            "is for a file with a person column",
            found="none in the schema",
            advice="name it under 'person', or leave the key out",
        )


def _check_coarsening(
    options: Options, constraints: Sequence[Constraint | Budget], key: bytes | None
) -> None:
    if options.coarsen_counts is None:
        return
    if not promised(constraints):
        raise InputError(
            "parameter coarsen_counts",
            "makes numbers of records coarser for SharedCounts",
            found="no such constraint",
            advice="give one, for example SharedCounts(3) or --shared-counts 3",
        )
    if options.coarsen_counts is Coarsening.SPLIT and key is not None:
        raise InputError(
            "parameter pseudonym_key",
            "makes one pseudonym per person, the same in every release",
            found="coarsen_counts='split', which gives persons several",
            advice="leave the key out, or drop records instead (coarsen_counts='drop')",
        )


def _check_table(table: Table | SparkTable, manifest: Manifest) -> None:
    """Refuse what the file's names, hierarchies and sensitive values do not allow."""
    _check_names(table, manifest.options)
    check_ends(table, manifest.options)
    ranks_of(table, ordered_attributes(manifest.constraints, table.schema.sensitive))


def _check_names(table: Table | SparkTable, options: Options) -> None:
    if options.values is not Form.BOUNDS:
        return
    for name in table.schema.quasi_identifiers:
        for bound in (f"{name}_low", f"{name}_high"):
            if bound in table.columns:
                raise InputError(
                    f"column '{bound}'",
                    "must not be in the file when bounds are released",
                    found=f"a column with the name of a bound of '{name}'",
                    advice="rename it, or release ranges",
                )


def check_constraints(schema: Schema, constraints: Sequence[Constraint | Budget]) -> None:
    """Refuse promises that a schema leaves nothing for.

    Parameters
    ----------
    schema
        What each column is.
    constraints
        The promises.

    Raises
    ------
    InputError
        If there is none, one is no constraint, or one needs a sensitive attribute that the schema
        lacks.
    """
    check_schema(schema)
    if not constraints:
        raise InputError(
            "the release",
            "must keep at least one promise",
            found="no constraint",
            advice="give one, for example GBalance(0.9) or --g-balance 0.9",
        )
    for each in constraints:
        of = f"the class {each.__name__}" if isinstance(each, type) else type(each).__name__
        if isinstance(each, type) or not (isinstance(each, Budget) or hasattr(each, "met")):
            raise InputError(
                "each constraint",
                "must follow the protocol of constraints",
                found=of,
                accepted="GBalance, HAffiliation, KAnonymity, PidKAnonymity, LDiversity, ...",
            )
        if isinstance(each, (HAffiliation, LDiversity, TCloseness)):
            _check_attribute(schema, each)


def _check_attribute(schema: Schema, constraint: HAffiliation | LDiversity | TCloseness) -> None:
    if not schema.sensitive:
        raise InputError(
            f"constraint {constraint.name}",
            "needs a sensitive attribute",
            found="none in the schema",
            advice="name one under 'sensitive'",
        )
    if constraint.attribute is not None and constraint.attribute not in schema.sensitive:
        raise InputError(
            f"constraint {constraint.name}",
            "must name a sensitive attribute of the schema",
            accepted=", ".join(schema.sensitive),
        )
