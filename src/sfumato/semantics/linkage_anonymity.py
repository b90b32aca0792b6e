"""Linkage k-anonymity (002): every tuple matches k individuals of the data that readers hold."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Codes, Floats, Integers, Ints, Levels
from sfumato.core.declaration import Count, drawn_seed
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.core.number_text import counted
from sfumato.core.secret_keys import Secret, Secrets
from sfumato.hierarchies import ROOT, Anything, Exact, Hierarchy, format_released
from sfumato.hierarchies.hierarchy import all_labels, generalised
from sfumato.kernels.record_pairs import key_individuals
from sfumato.release.assembly import assemble, fingerprint, person_pseudonyms, released_order
from sfumato.schema import Kind, QuasiIdentifier, Schema
from sfumato.semantics.local_data import (
    Linked,
    Local,
    alike_levels,
    common_values,
    least_levels,
    matches,
    packed_keys,
)
from sfumato.table.classification import open_classified
from sfumato.table.dataframes import to_frame_like as like
from sfumato.table.door import open_table
from sfumato.table.preparation import fitting
from sfumato.table.sources import from_numpy, from_texts, is_bytes
from sfumato.table.table import CodedColumn, Table
from sfumato.table.table_files import open_source


def link_up(linked: Any, schema: Schema, asked: Sequence[LinkageAnonymity]) -> Linked:
    """The linked tuples and the local data sets, every rule checked before work starts.

    Parameters
    ----------
    linked
        The linked records: a dataframe, or the path of a file.
    asked
        The local data sets, at least one; the largest k holds for all of them.
    """
    names = [anonymity.name for anonymity in asked]
    if not names or len(set(names)) < len(names):
        raise InputError("the local data sets", "must be at least one, with a name of its own each")
    schemas = [_local_schema(anonymity, schema) for anonymity in asked]
    specs = {
        name: _one_spec(name, quasi, schemas) for name, quasi in schema.quasi_identifiers.items()
    }
    table = open_classified(linked, schema.model_copy(update={"quasi_identifiers": specs}))
    tables = [
        open_table(anonymity.local, schema)
        for anonymity, schema in zip(asked, schemas, strict=True)
    ]
    hierarchies, codes, local_codes = _same_values(table, tables, specs)
    # Rule 2 of paper 002: the k of a linkage is the largest that any of its databases asks for.
    k = max(each.k for each in asked)
    informed = any(each.informed for each in asked)
    locals_ = tuple(
        replace(_local(name, table, local_code, hierarchies, k), informed=informed)
        for name, table, local_code in zip(names, tables, local_codes, strict=True)
    )
    all_hierarchies = tuple(hierarchies[name] for name in specs)
    found = Linked.of(table, all_hierarchies, codes, locals_)
    for local, other in zip(locals_, tables, strict=True):
        _check_contains(found, local, other)
    return found


def _local_schema(asked: LinkageAnonymity, schema: Schema) -> Schema:
    """What is read of a local data set: its person column and its quasi-identifiers."""
    local_schema = asked.schema or schema
    names = asked.quasi_identifiers or tuple(local_schema.quasi_identifiers)
    for name in names:
        if name not in local_schema.quasi_identifiers or name not in schema.quasi_identifiers:
            raise InputError(
                f"quasi-identifier '{name}' of local data '{asked.name}'",
                "must be a quasi-identifier of the linked data and of the local data",
                accepted=", ".join(schema.quasi_identifiers),
            )
    local_columns = open_source(asked.local).names
    person = local_schema.person
    # A schema borrowed from the linked file may name a person column that the local file lacks.
    if asked.schema is None and person is not None:
        person = person if person in open_source(asked.local).names else None
    return Schema(
        person=person,
        # Nothing else is read: other columns of the local file play no part in who matches.
        quasi_identifiers={name: local_schema.quasi_identifiers[name] for name in names},
        missing=local_schema.missing,
        recipe=fitting(local_schema, local_columns).recipe,
    )


def _one_spec(name: str, quasi: QuasiIdentifier, schemas: Sequence[Schema]) -> QuasiIdentifier:
    """The linked schema's word on a quasi-identifier, its hierarchy from a local one if need be."""
    given = [quasi.hierarchy]
    given += [s.quasi_identifiers[name].hierarchy for s in schemas if name in s.quasi_identifiers]
    stated = [each for each in given if each is not None]
    if any(each != stated[0] for each in stated):
        raise InputError(
            f"quasi-identifier '{name}'", "must have the same hierarchy in every schema"
        )
    return quasi.model_copy(update={"hierarchy": stated[0] if stated else None})


def _same_values(
    table: Table, tables: Sequence[Table], specs: Mapping[str, QuasiIdentifier]
) -> tuple[dict[str, Hierarchy], Codes, list[dict[str, Codes]]]:
    """One hierarchy per quasi-identifier, and the leaf codes of the linked and local records."""
    hierarchies: dict[str, Hierarchy] = {}
    # By columns, as each is filled and looked up on its own.
    codes = np.empty((table.records, len(specs)), dtype=np.int32, order="F")
    local_codes: list[dict[str, Codes]] = [{} for _ in tables]
    for place, column in enumerate(table.quasi_identifiers):
        held = [(number, _column(table, column.name)) for number, table in enumerate(tables)]
        having = [(number, own) for number, own in held if own is not None]
        columns = [column, *(own for _, own in having)]
        # What no local file has is never generalised, so it needs no hierarchy of its own.
        hierarchy, coded = common_values(columns, specs[column.name], flat=not having)
        hierarchies[column.name] = hierarchy
        codes[:, place] = coded[0]
        for (number, _), each in zip(having, coded[1:], strict=True):
            local_codes[number][column.name] = each
    return hierarchies, codes, local_codes


def _column(table: Table, name: str) -> CodedColumn | None:
    return next(
        (identifier for identifier in table.quasi_identifiers if identifier.name == name), None
    )


def _local(
    name: str,
    table: Table,
    codes: Mapping[str, Codes],
    hierarchies: Mapping[str, Hierarchy],
    k: int,
) -> Local:
    names = [column.name for column in table.quasi_identifiers]
    return Local.from_codes(
        name,
        names,
        [hierarchies[name] for name in names],
        np.asfortranarray(np.column_stack([codes[name] for name in names])),
        table.person,
        k,
    )


def _check_contains(linked: Linked, local: Local, table: Table) -> None:
    """Refuse a local data set without the linked persons.

    Persons are compared by their ids where both files name the same person column, else by
    their values: each linked tuple must be that of somebody in the local data.
    """
    person = linked.table.schema.person
    # Ids of columns with different names may be of different registers, so they are not compared.
    if person is not None and person == table.schema.person:
        theirs = _ids(linked.table, person)
        absent = len(theirs) - int(pc.sum(pc.is_in(theirs, _ids(table, person))).as_py() or 0)
        missing = f"{absent:,} of {counted(len(theirs), 'linked person')} who are not in it"
    else:
        columns = linked.columns_of(local)
        codes = linked.codes[:, columns]
        # At level 0, as who was linked must be there with the values that were linked.
        nobody = matches(local, codes, np.zeros(codes.shape, dtype=np.int8)) == 0
        absent = int(nobody[linked.tuple_of].sum())
        records = counted(linked.table.records, "linked record")
        missing = f"{absent:,} of {records} that match no person in it"
    if absent:
        raise InputError(
            f"local data '{local.name}'",
            "must contain the linked people, with the values that the linked data has",
            found=missing,
            advice="give the local data that was linked, all of it",
        )


def _ids(table: Table, person: str) -> pa.Array:
    ids = pc.unique(table.source.column(person))
    # As bytes, because one file may hold the ids as numbers and the other as text.
    return pc.cast(ids if is_bytes(ids.type) else pc.cast(ids, pa.string()), pa.large_binary())


@dataclass(frozen=True, eq=False)
class Measured:
    """Risk and loss of generalised linked tuples.

    Attributes
    ----------
    matches
        Matching individuals of each local data set, by its name; each of shape (tuples,).
    risk
        Mean over the linked individuals of 1 / matching individuals (paper 002, Eq. 2-3), in
        the local data set where it is largest. A linked individual of several tuples counts
        with its largest risk.
    squared_error
        SSE / SST over the linkage quasi-identifiers (Eq. 4), in [0, 1].
    ncp
        Weighted certainty penalty over the linkage quasi-identifiers, mean over individuals.
    """

    matches: dict[str, Ints]
    risk: Measure
    squared_error: float
    ncp: float

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "linkage_risk": self.risk.to_json(),
            "sse_sst": self.squared_error,
            "ncp": self.ncp,
            "smallest_match": {name: int(counts.min()) for name, counts in self.matches.items()},
        }


def measured(linked: Linked, levels: Integers) -> Measured:
    """Measure the linked tuples at the levels of their values, shape (tuples, QIs)."""
    counts = {}
    for local in linked.locals_:
        columns = linked.columns_of(local)
        counts[local.name] = matches(local, linked.codes[:, columns], levels[:, columns])
    risks = np.zeros(len(linked.codes))
    for count in counts.values():
        # The reader may match against any of the local files, so the worst of them counts.
        np.maximum(risks, np.where(count > 0, 1 / np.maximum(count, 1), 0.0), out=risks)
    return Measured(
        counts,
        Measure("linkage_risk", mean_risk(linked, risks)),
        *linked.losses(levels, linked.linkage_columns),
    )


def mean_risk(linked: Linked, risks: Floats) -> float:
    """Mean over the linked individuals of the largest of their tuples' risks (Eq. 3)."""
    of_person = np.zeros(linked.table.persons)
    # A reader needs one record only to find somebody, so the riskiest of a person's counts.
    np.maximum.at(of_person, linked.table.person, risks[linked.tuple_of])
    return float(of_person.mean()) if len(of_person) else 0.0


def informed_matches(
    local: Local, codes: Codes, levels: Integers, weights: tuple[float, ...] | None = None
) -> Ints:
    """Individuals who match each tuple and whose own tuple would have been shown like it.

    A reader who knows the hierarchies, weights and k can generalise every local individual as
    the linked ones were, and leave out those who match but would have been shown in more
    detail. What remains may be fewer than k: the least levels hide a person among all who
    match, not among those who were generalised alike, unless that was asked for
    (`LinkageAnonymity.informed`).

    Parameters
    ----------
    local
        The local data set; the only one of the release.
    codes
        Leaf codes of the linked tuples, one column per quasi-identifier of ``local``; shape
        (tuples, QIs).
    levels
        Their levels, shape (tuples, QIs).
    weights
        The share of each quasi-identifier in loss.

    Returns
    -------
    numpy.ndarray
        Individuals, shape (tuples,).
    """
    if local.informed:
        own = alike_levels(local, weights)
    else:
        own = least_levels(local.codes, [local], local.hierarchies, weights)
    found = np.zeros(len(codes), dtype=np.int64)
    vectors, of_vector = np.unique(levels, axis=0, return_inverse=True)
    for number, vector in enumerate(vectors):
        rows = np.flatnonzero(of_vector.ravel() == number)
        keys, asked = packed_keys(local.tables, vector.tolist(), local.codes, codes[rows])
        alike = (own == vector).all(axis=1)
        # One bit more in the key keeps apart who matches and who would also have been shown so.
        found[rows] = key_individuals(2 * keys + alike, local.alone, *local.shared, 2 * asked + 1)
    return found


def informed_risk(linked: Linked, levels: Integers) -> Measure | None:
    """Mean risk, in [0, 1], of the linked individuals before a reader who knows the method.

    ``None`` with several local data sets.
    """
    # Levels that depend on several files cannot be repeated by the reader of one of them.
    if len(linked.locals_) != 1:
        return None
    (local,) = linked.locals_
    columns = linked.columns_of(local)
    weights = tuple(linked.weights[place] for place in columns)
    counts = informed_matches(local, linked.codes[:, columns], levels[:, columns], weights)
    risks = np.where(counts > 0, 1 / np.maximum(counts, 1), 0.0)
    return Measure("informed_linkage_risk", mean_risk(linked, risks))


def released_table(
    linked: Linked,
    levels: Integers,
    secrets: Secrets,
    *,
    keep_order: bool = False,
) -> tuple[pa.Table, Ints]:
    """The linked file as it is released, and the row of the linked data of each record.

    Direct identifiers and households are left out, person ids become pseudonyms, records are
    shuffled; sensitive and insensitive columns are unchanged.

    Parameters
    ----------
    levels
        Level of each value, shape (tuples, QIs).
    secrets
        What `secrets_of` gave.
    """
    table = linked.table
    order = released_order(table.records, secrets, keep=keep_order)
    released = {}
    for place, name in enumerate(linked.quasi_identifiers):
        cells = generalised(linked.hierarchies[place], linked.codes[:, place], levels[:, place])
        kind = table.quasi_identifiers[place].kind
        shown = cells[linked.tuple_of[order]]
        released[name] = {name: _printed(linked.hierarchies[place], shown, kind)}
    return assemble(table, released, person_pseudonyms(table, secrets), order, {}), order


def secrets_of(linked: Linked, levels: Integers, secrets: Secrets) -> Secrets:
    """What order and pseudonyms come from: of another release of linked data another one.

    The levels of its values have shape (tuples, QIs).
    """
    # One type and layout, so that equal levels give equal bytes however they are held.
    shown = np.ascontiguousarray(levels, dtype=np.int64).tobytes()
    return secrets.bound(fingerprint(linked.table), shown)


def shown_labels(linked: Linked, levels: Integers) -> dict[str, npt.NDArray[np.object_]]:
    """The label that each distinct tuple shows, by quasi-identifier; ``None`` for missing.

    The levels of its values have shape (tuples, QIs).
    """
    shown = {}
    for place, (name, hierarchy) in enumerate(
        zip(linked.quasi_identifiers, linked.hierarchies, strict=True)
    ):
        labels = np.array([*all_labels(hierarchy), None], dtype=object)
        shown[name] = labels[generalised(hierarchy, linked.codes[:, place], levels[:, place])]
    return shown


def _printed(hierarchy: Hierarchy, cells: Codes, kind: Kind) -> pa.DictionaryArray:
    """Cells of labels; the dictionary holds no label that is not released."""
    used, place = np.unique(cells, return_inverse=True)
    texts = all_labels(hierarchy)
    every_label = {label for labels in hierarchy.labels[1:] for label in labels}
    if kind is not Kind.NUMERIC:
        every_label.update(hierarchy.leaves)
    printed = [
        format_released(
            Anything() if texts[each] == ROOT else Exact(texts[each]), kind, every_label
        )
        for each in used.tolist()
        if each >= 0
    ]
    empty = cells < 0
    # Missing is a null and not a label, so the other places move down by one.
    first = int(len(used) > 0 and used[0] < 0)
    indices = from_numpy((place - first).astype(np.int32), empty)
    return pa.DictionaryArray.from_arrays(
        indices, from_texts(text for text in printed if text is not None).cast(pa.string())
    )


@dataclass(frozen=True, eq=False, repr=False)
class LinkageRelease:
    """A released linked file.

    Attributes
    ----------
    linked
        The linked tuples and the local data sets; not to be released.
    levels
        Level of each value of each distinct tuple, shape (tuples, QIs).
    measured
        Matches, risk (paper 002, Eq. 2-3), SSE / SST (Eq. 4) and NCP.
    seed
        The seed that was given or drawn; nothing is searched at random.
    source_rows
        Row of the linked data of each released record, shape (records,); not to be released.
    secret
        What order and pseudonyms come from, as that of a `Release`.
    """

    table: pa.Table
    linked: Linked
    levels: Levels
    measured: Measured
    seed: int
    original: Any = None
    source_rows: Ints | None = field(default=None, repr=False)
    secret: Secret | None = field(default=None, repr=False)

    @property
    def data(self) -> Any:
        """The released file as the kind of dataframe that was passed in; Arrow for a path."""
        path = isinstance(self.original, (str, os.PathLike))
        return like(self.table, None if path else self.original)

    @property
    def k(self) -> int:
        """How many individuals of each local data set match every record, at least."""
        return max(local.k for local in self.linked.locals_)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The linkage quasi-identifiers: those that some local data set has."""
        return tuple(self.linked.quasi_identifiers[q] for q in self.linked.linkage_columns)

    @property
    def labels(self) -> dict[str, npt.NDArray[np.object_]]:
        """The label that each distinct tuple shows, by quasi-identifier; ``None`` for missing."""
        return shown_labels(self.linked, self.levels)

    def to_json(self) -> dict[str, Any]:
        """Plain values: what was asked and what was measured, no value of the data."""
        return {
            "k": self.k,
            "quasi_identifiers": list(self.quasi_identifiers),
            "records": self.table.num_rows,
            "individuals": self.linked.table.persons,
            "distinct_tuples": len(self.linked.codes),
            "local": {local.name: local.individuals for local in self.linked.locals_},
            **self.measured.to_json(),
            "seed": self.seed,
        }

    def __repr__(self) -> str:
        return (
            f"LinkageRelease({self.table.num_rows} records, k={self.k}, "
            f"linkage_risk={float(self.measured.risk):.4g}, "
            f"sse_sst={self.measured.squared_error:.4g})"
        )


@dataclass(frozen=True)
class LinkageAnonymity:
    """At least k individuals of a local data set match every linked record (paper 002).

    Attributes
    ----------
    local
        What the requester holds: a dataframe, or the path of a file.
    k
        How many of its individuals must match.
    quasi_identifiers
        Which columns the requester knows of them; without names all quasi-identifiers of its
        schema.
    schema
        What each column of the local data is; without it as in the linked data, where the
        person column is used if the local data has one of that name.
    name
        Its name in errors and reports.
    informed
        Whether those alone count towards k who would have been released with the same tuple, so
        that it holds before a reader who knows the method; for one local data set.

    Raises
    ------
    InputError
        If k is not a whole number of 1 or more, or a quasi-identifier is named twice.

    Examples
    --------
    >>> asked = LinkageAnonymity(local="hospital.csv", k=3, quasi_identifiers=("sex", "zip"))
    >>> asked.k
    3
    """

    local: Any
    k: int
    quasi_identifiers: tuple[str, ...] = ()
    schema: Schema | None = None
    name: str = "local"
    informed: bool = False

    def __post_init__(self) -> None:
        Count(1).check("parameter k", self.k)
        given: object = self.quasi_identifiers
        names = (given,) if isinstance(given, str) else tuple(self.quasi_identifiers)
        if len(set(names)) < len(names):
            raise InputError("parameter quasi_identifiers", "must name each column once")
        object.__setattr__(self, "quasi_identifiers", names)

    def apply(
        self,
        linked: Any,
        schema: Schema,
        *,
        seed: int | None = None,
        keep_order: bool = False,
        pseudonym_key: bytes | None = None,
        secret: bytes | None = None,
    ) -> LinkageRelease:
        """Release linked data so that at least k local individuals match each record.

        Parameters
        ----------
        linked
            The linked records: a dataframe, or the path of a file.
        schema
            What each column of them is, with the hierarchies of the quasi-identifiers.
        seed, keep_order, pseudonym_key, secret
            As `release_linked`.

        Raises
        ------
        InputError
            As `release_linked`.
        """
        return release_linked(
            linked,
            schema,
            [self],
            seed=seed,
            keep_order=keep_order,
            pseudonym_key=pseudonym_key,
            secret=secret,
        )


def release_linked(
    linked: Any,
    schema: Schema,
    asked: Sequence[LinkageAnonymity],
    *,
    seed: int | None = None,
    keep_order: bool = False,
    pseudonym_key: bytes | None = None,
    secret: bytes | None = None,
) -> LinkageRelease:
    """Release linked data to somebody who holds one or several local data sets.

    Each linked record is generalised as little as possible, by weighted NCP, until in every
    local data set, on its own quasi-identifiers, at least k individuals match it, k being the
    largest that is asked for (paper 002, Section 1 and rules 1-4). Quasi-identifiers in no
    local data set stay as they are.

    What holds is a promise for each record alone: of a person with several linked records
    under one pseudonym a reader may combine them.

    Parameters
    ----------
    linked
        The linked records: a dataframe, or the path of a file.
    schema
        What each column of them is, with the hierarchies of the quasi-identifiers.
    asked
        The local data sets, at least one.
    seed
        Noted with the release; nothing is searched at random.
    keep_order
        Keep the order of the records instead of shuffling them.
    pseudonym_key
        A secret of at least 16 bytes for pseudonyms that are the same in every release.
    secret
        That of the release that is repeated; a fresh one when not given.

    Raises
    ------
    InputError
        If a secret can be guessed, a file does not fit its schema, a quasi-identifier has no
        hierarchy or its hierarchy no leaf for a value, k is larger than a local data set, or a
        local data set does not contain the linked persons.
    """
    drawn, secrets = drawn_seed(seed), Secrets.of(secret, pseudonym_key)
    held = link_up(linked, schema, asked)
    levels = held.least_levels()
    bound = secrets_of(held, levels, secrets)
    table, order = released_table(held, levels, bound, keep_order=keep_order)
    figures = measured(held, levels)
    return LinkageRelease(table, held, levels, figures, drawn, linked, order, secrets.own)
