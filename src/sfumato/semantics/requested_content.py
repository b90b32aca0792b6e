"""What a ledger keeps of each release: tuples, digests of persons, associations."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Codes, Ints
from sfumato.core.chain import detail_text
from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.ledger.sketches import Names, digests_of
from sfumato.semantics.associations import Association, Item, Shown, State

Counts = npt.NDArray[np.int64]


class Value(NamedTuple):
    """A value as it was shown: the level of its hierarchy, and the label."""

    level: int
    label: str


@dataclass(frozen=True, eq=False)
class Tuples:
    """Distinct generalised tuples and how many individuals each stands for.

    They hold labels, not leaf codes: nothing below what was shown, and still readable when the
    code list has changed.

    Attributes
    ----------
    values
        The distinct values that each attribute shows.
    codes
        Index into the attribute's values, -1 for missing, shape (tuples, attributes).
    counts
        Individuals of each tuple, shape (tuples,).
    """

    attributes: tuple[str, ...]
    values: tuple[tuple[Value, ...], ...]
    codes: Codes
    counts: Counts

    def __post_init__(self) -> None:
        """Refuse arrays that do not fit together."""
        fits = len(self.values) == len(self.attributes)
        fits = fits and self.codes.shape == (len(self.counts), len(self.attributes))
        if not fits or len(set(self.attributes)) < len(self.attributes):
            raise InputError(
                "the tuples of a release",
                "must have a code per attribute, and a count per tuple",
                found="arrays of other shapes, or an attribute twice",
            )
        for name, values, column in zip(self.attributes, self.values, self.codes.T, strict=True):
            if len(column) and not (column.min() >= -1 and column.max() < len(values)):
                raise InputError(
                    f"column '{name}'", "must have a value for each code", found="a code without"
                )

    def __len__(self) -> int:
        """Number of distinct tuples."""
        return len(self.counts)

    def shown(self, hierarchies: Mapping[str, Hierarchy]) -> Shown:
        """The tuples as leaf codes and levels, for the search for associations.

        The leaf is the first one below the label in the hierarchy: it stands for the label and
        says nothing about a person.
        """
        codes = np.full(self.codes.shape, -1, dtype=np.int32)
        levels = np.zeros(self.codes.shape, dtype=np.int8)
        for place, name in enumerate(self.attributes):
            if name not in hierarchies:
                raise InputError(f"column '{name}'", "must have a hierarchy", found="none")
            column = self.codes[:, place]
            present = column >= 0
            leaves = _first_leaves(hierarchies[name], self.values[place], name)
            codes[present, place] = leaves[column[present]]
            above = np.array([value.level for value in self.values[place]], dtype=np.int8)
            levels[present, place] = above[column[present]]
        kept = {name: hierarchies[name] for name in self.attributes}
        return Shown(kept, codes, levels, self.counts)


def shown_tuples(
    hierarchies: Mapping[str, Hierarchy],
    codes: Codes,
    levels: npt.NDArray[np.integer[Any]],
    *,
    persons: npt.NDArray[np.integer[Any]] | None = None,
    counts: Counts | None = None,
) -> tuple[Tuples, Codes]:
    """Count the individuals of each distinct generalised tuple.

    Parameters
    ----------
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    codes, levels
        Leaf codes (-1 for missing, which the root shows as itself) and levels, shape (rows,
        attributes).
    persons
        The person of each row, shape (rows,); a person counts once for each tuple. Without it
        every row is an individual.
    counts
        Individuals of each row, in the place of `persons`, where rows are tuples already.

    Returns
    -------
    tuple
        The tuples, in the order of their values, and the tuple of each row, shape (rows,).
    """
    shown, values = [], []
    for place, hierarchy in enumerate(hierarchies.values()):
        column, distinct = _shown(hierarchy, codes[:, place], levels[:, place])
        shown.append(column)
        values.append(distinct)
    tuple_of, first = _distinct(shown, [len(value) for value in values], len(codes))
    table = np.stack([column[first] for column in shown], axis=1).astype(np.int32)
    sizes = _individuals(tuple_of, len(first), persons, counts)
    return Tuples(tuple(hierarchies), tuple(values), table, sizes), tuple_of.astype(np.int32)


def _shown(
    hierarchy: Hierarchy, codes: Codes, levels: npt.NDArray[np.integer[Any]]
) -> tuple[Ints, tuple[Value, ...]]:
    """Index of the value that each cell shows, -1 for missing, and the distinct values."""
    widest = max(map(len, hierarchy.labels), default=1)
    above = levels.astype(np.int64)
    root = above == hierarchy.height
    there = (codes >= 0) & ~root
    # The root shows a missing value like any other, so both have one key there.
    keys = np.where(root, hierarchy.height * widest, -1)
    keys[there] = above[there] * widest + hierarchy.ancestors[above[there], codes[there]]
    distinct, index = np.unique(keys, return_inverse=True)
    missing = int(len(distinct) > 0 and distinct[0] < 0)
    values = tuple(
        Value(int(key // widest), hierarchy.labels[key // widest][key % widest])
        for key in distinct[missing:]
    )
    return index.astype(np.int64) - missing, values


def _distinct(columns: Sequence[Ints], sizes: Sequence[int], rows: int) -> tuple[Ints, Ints]:
    """Number of each row's distinct combination, and the first row of each combination."""
    keys = np.zeros(rows, dtype=np.int64)
    # Without attributes all rows are one tuple, and without rows there is none.
    first = np.zeros(min(rows, 1), dtype=np.int64)
    for column, size in zip(columns, sizes, strict=True):
        # Numbered anew after each column, so that the product of their sizes never overflows.
        _, first, keys = np.unique(
            keys * (size + 1) + column + 1, return_index=True, return_inverse=True
        )
    return keys, first


def _individuals(
    tuple_of: Ints, tuples: int, persons: npt.NDArray[np.integer[Any]] | None, counts: Counts | None
) -> Counts:
    if counts is not None:
        sizes = np.zeros(tuples, dtype=np.int64)
        np.add.at(sizes, tuple_of, counts)
        return sizes
    if persons is not None:
        _, people = np.unique(persons, return_inverse=True)
        pairs = np.unique(tuple_of * (int(people.max(initial=0)) + 1) + people)
        tuple_of = pairs // (int(people.max(initial=0)) + 1)
    return np.bincount(tuple_of, minlength=tuples).astype(np.int64)


def _first_leaves(hierarchy: Hierarchy, values: Sequence[Value], attribute: str) -> Codes:
    """The first leaf below each value."""
    below: dict[int, tuple[dict[str, int], Codes]] = {}
    # A code list may have become flatter since; values above it are counted as lacking below.
    for level in {value.level for value in values if value.level <= hierarchy.height}:
        names = {label: index for index, label in enumerate(hierarchy.labels[level])}
        used, first = np.unique(hierarchy.ancestors[level], return_index=True)
        leaves = np.full(len(hierarchy.labels[level]), -1, dtype=np.int32)
        leaves[used] = first
        below[level] = names, leaves
    found = np.full(len(values), -1, dtype=np.int32)
    for place, (level, label) in enumerate(values):
        names, leaves = below.get(level, ({}, found))
        if label in names:
            found[place] = leaves[names[label]]
    lacking = int((found < 0).sum())
    if lacking:
        raise InputError(
            f"hierarchy of column '{attribute}'",
            "must have every label that an earlier release showed, at its level",
            found=f"{lacking} of {len(found)} labels missing",
            advice="add the codes that were withdrawn, or read that release with its own list",
        )
    return found


class Term(NamedTuple):
    """A value of an attribute by its label, which outlives a change of the code list."""

    attribute: str
    level: int
    label: str


@dataclass(frozen=True)
class NotedAssociation:
    """An association with its state.

    Attributes
    ----------
    antecedent, consequent
        Who shows the one mostly has the other; the antecedent is ordered by attribute.
    support, confidence
        Shares, as they were found last.
    state
        What the custodian said last; ``proposed`` until then.
    note, by, time
        Why, who, when (UTC); ``""`` for an association that nobody decided on.
    """

    antecedent: tuple[Term, ...]
    consequent: Term
    support: float
    confidence: float
    state: State = State.PROPOSED
    note: str = ""
    by: str = ""
    time: str = ""
    found: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """What names it on the command line: 12 digits, the same in every release."""
        said = detail_text({"if": sorted(self.antecedent), "then": self.consequent})
        # 48 bits are short to type;
        # of 100,000 associations two share an id in one of 56,000 ledgers.
        return hashlib.sha256(said.encode()).hexdigest()[:12]

    @property
    def text(self) -> str:
        """What it says."""
        terms = " & ".join(f"{term.attribute} {term.label}" for term in self.antecedent)
        return f"{terms} -> {self.consequent.attribute} {self.consequent.label}"

    def known(self, hierarchies: Mapping[str, Hierarchy]) -> Association:
        """The association in the hierarchies as they are now."""
        return Association(
            tuple(_item(term, hierarchies) for term in self.antecedent),
            _item(self.consequent, hierarchies),
            self.support,
            self.confidence,
            self.state,
            self.note,
        )


def noted(association: Association, hierarchies: Mapping[str, Hierarchy]) -> NotedAssociation:
    """An association as the ledger keeps it."""
    terms = [
        Term(name, int(level), hierarchies[name].label(level, label))
        for name, level, label in (*association.antecedent, association.consequent)
    ]
    return NotedAssociation(
        tuple(terms[:-1]),
        terms[-1],
        float(association.support),
        float(association.confidence),
        association.state,
        association.note,
    )


def as_details(associations: Iterable[NotedAssociation]) -> list[dict[str, object]]:
    """Associations as an entry holds them."""
    return [
        {
            "if": sorted(association.antecedent),
            "then": association.consequent,
            "support": association.support,
            "confidence": association.confidence,
            "state": str(association.state),
            "note": association.note,
        }
        for association in associations
    ]


def from_detail(detail: Mapping[str, Any]) -> NotedAssociation:
    """An association of an entry."""
    return NotedAssociation(
        tuple(Term(*term) for term in detail["if"]),
        Term(*detail["then"]),
        detail["support"],
        detail["confidence"],
        State(detail["state"]),
        detail["note"],
    )


def followed(
    known: dict[str, NotedAssociation],
    number: int,
    time: str,
    actor: str,
    detail: Mapping[str, Any],
) -> None:
    """Bring the associations that are known, by id, up to date with the next entry, in place."""
    for association in detail.get("associations", ()):
        new = from_detail(association)
        old = known.get(new.id)
        found = (*(old.found if old else ()), number)
        # An entry repeats the state in which it used an association;
        # only another one is a decision.
        if new.state is not State.PROPOSED and (old is None or old.state is not new.state):
            known[new.id] = replace(new, by=actor, time=time, found=found)
        elif old is None:
            known[new.id] = replace(new, found=found)
        else:
            known[new.id] = replace(
                old, found=found, support=new.support, confidence=new.confidence
            )
    decided = detail.get("decided", ())
    for each in [decided] if isinstance(decided, str) else decided:
        if each in known:
            state = State(detail["state"])
            known[each] = replace(
                known[each], state=state, note=detail["note"], by=actor, time=time
            )


def _item(term: Term, hierarchies: Mapping[str, Hierarchy]) -> Item:
    hierarchy = hierarchies.get(term.attribute)
    if hierarchy is None:
        raise InputError(f"column '{term.attribute}'", "must have a hierarchy", found="none")
    there = term.level <= hierarchy.height and term.label in hierarchy.labels[term.level]
    if not there:
        raise InputError(
            f"hierarchy of column '{term.attribute}'",
            "must have every label of an association, at its level",
            found="one that it lacks",
            advice="add the codes that were withdrawn, or reject the association",
        )
    return Item(term.attribute, term.level, hierarchy.labels[term.level].index(term.label))


@dataclass(frozen=True, eq=False)
class Members:
    """Which person of a release is in which tuple; it is never stored.

    Attributes
    ----------
    persons
        The identifier of a person, the same in every release; a person with several tuples is
        listed once for each.
    tuples
        The number of the tuple, shape (members,).
    """

    persons: Sequence[str | bytes | int]
    tuples: npt.NDArray[np.integer[Any]]

    def __repr__(self) -> str:
        """Without the persons."""
        return f"Members({len(self.persons)})"


@dataclass(frozen=True, eq=False)
class Digests:
    """The digests of a release.

    Attributes
    ----------
    persons
        128 bits of HMAC-SHA-256 of each person, ascending, type S16, shape (members,).
    tuples
        The number of the person's tuple, shape (members,).
    """

    persons: Names
    tuples: Codes

    def __len__(self) -> int:
        """Number of members."""
        return len(self.persons)

    def __repr__(self) -> str:
        """Without the digests."""
        return f"Digests({len(self)})"

    def tuples_of(self, persons: Names) -> tuple[Ints, Codes]:
        """The tuples that persons had.

        Parameters
        ----------
        persons
            Their digests, type S16, shape (persons,), in any order.

        Returns
        -------
        tuple
            Pairs: index into `persons` (ascending), and number of the tuple; none of a person
            who was not in the release.
        """
        start = np.searchsorted(self.persons, persons, side="left")
        # A person stands once for each tuple, so a range is looked for and not a place.
        sizes = np.searchsorted(self.persons, persons, side="right") - start
        index = np.repeat(np.arange(len(persons), dtype=np.int64), sizes)
        within = np.arange(len(index)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return index, self.tuples[np.repeat(start, sizes) + within]


def digests_of_members(members: Members, tuples: int, key: bytes) -> Digests:
    """The digests of a release, ascending, so that they do not tell the order of its rows."""
    numbers = np.asarray(members.tuples)
    fits = numbers.shape == (len(members.persons),) and numbers.dtype.kind in "iu"
    if not fits or (len(numbers) and not (numbers.min() >= 0 and numbers.max() < tuples)):
        raise InputError(
            "the members of a release",
            "must be a person and the number of a tuple each",
            found="another number of people than of tuples, or a tuple that is none",
        )
    persons = digests_of(members.persons, key)
    # Two numbers, big end first, sort as the bytes do, and sort faster.
    first, second = persons.view(">u8").reshape(-1, 2).T
    order = np.lexsort((numbers, second, first))
    persons, sorted_numbers = persons[order], numbers[order].astype(np.int32)
    repeated = np.zeros(len(order), dtype=np.bool_)
    # How many records a person has in a tuple is not kept, as nothing needs it.
    repeated[1:] = (persons[1:] == persons[:-1]) & (sorted_numbers[1:] == sorted_numbers[:-1])
    return Digests(persons[~repeated], sorted_numbers[~repeated])


NOT_CLAIMED = "protection against intersection of releases is not claimed: no digests"
CLAIMABLE = "keyed digests of people, with which releases can be intersected"
_TEXTS = ("requester", "role", "request", "linkage", "policy_hash", "schema", "manifest_hash")


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """What a release was; no identities.

    Attributes
    ----------
    associations
        What was found in earlier releases, with the state in which it was used.
    figures
        Measures of each scheme: ``{"LA": {"risk": 0.21, "sse_sst": 12.5}, "SLA": ...}``.
    local_hashes
        Hash of the data of each database whose readers asked, by its name.
    """

    requester: str
    role: str
    request: str
    purpose: str
    linkage: str
    policy_hash: str
    schema: str = field(repr=False)
    k: int
    quasi_identifiers: tuple[str, ...]
    individuals: int
    manifest_hash: str
    file_hashes: Mapping[str, str]
    associations: tuple[NotedAssociation, ...] = ()
    figures: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    local_hashes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ReleaseEntry(ReleaseFacts):
    """A release that is to be noted; the quasi-identifiers are among its tuples' attributes."""

    tuples: Tuples

    def __post_init__(self) -> None:
        """Refuse a release that lacks what its entry must say."""
        for name in _TEXTS:
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip():
                raise InputError(
                    f"the ledger's entry of a release: {name}", "must be a text", found="none"
                )
        if self.k < 1 or self.individuals < 0:
            raise InputError("the ledger's entry of a release", "must have k of at least 1")
        lacking = [name for name in self.quasi_identifiers if name not in self.tuples.attributes]
        if lacking or not self.quasi_identifiers:
            names = ", ".join(f"'{name}'" for name in lacking)
            raise InputError(
                "the tuples of a release",
                "must show every quasi-identifier",
                found=f"none of {names}" if lacking else "no quasi-identifiers",
            )
        figures = [each for scheme in self.figures.values() for each in scheme.values()]
        if any(figure is not None and not math.isfinite(figure) for figure in figures):
            raise InputError("the figures of a release", "must be finite numbers or none")


@dataclass(frozen=True, kw_only=True)
class Release(ReleaseFacts):
    """A release that was noted.

    Attributes
    ----------
    tuples
        Number of distinct generalised tuples.
    smallest
        Individuals of the smallest of them; ``None`` where there is none.
    """

    number: int
    time: str
    digest: str
    tuples: int
    smallest: int | None
    digests: bool

    @property
    def intersection(self) -> str:
        """What is claimed about the intersection with other releases."""
        return CLAIMABLE if self.digests else NOT_CLAIMED


def detail_of_release(entry: ReleaseEntry, key_id: str) -> dict[str, object]:
    """What the entry of a release holds, beside its arrays.

    The key id is ``""`` without digests.
    """
    tuples = entry.tuples
    return {
        **{name: getattr(entry, name) for name in (*_TEXTS, "purpose")},
        "k": int(entry.k),
        "individuals": int(entry.individuals),
        "quasi_identifiers": list(entry.quasi_identifiers),
        "file_hashes": dict(entry.file_hashes),
        "local_hashes": dict(entry.local_hashes),
        "associations": as_details(entry.associations),
        "figures": {
            scheme: {
                name: None if figure is None else float(figure) for name, figure in figures.items()
            }
            for scheme, figures in entry.figures.items()
        },
        "attributes": list(tuples.attributes),
        "tuples": len(tuples),
        "smallest": int(tuples.counts.min()) if len(tuples) else None,
        "persons_key": key_id,
        "intersection": CLAIMABLE if key_id else NOT_CLAIMED,
    }


def release_of(number: int, time: str, digest: str, detail: Mapping[str, Any]) -> Release:
    """A release that was noted."""
    facts = {name: detail[name] for name in (*_TEXTS, "purpose", "k", "individuals")}
    return Release(
        **facts,
        quasi_identifiers=tuple(detail["quasi_identifiers"]),
        file_hashes=detail["file_hashes"],
        # Ledgers of earlier versions hold entries without them.
        local_hashes=detail.get("local_hashes", {}),
        associations=tuple(from_detail(association) for association in detail["associations"]),
        figures=detail["figures"],
        number=number,
        time=time,
        digest=digest,
        tuples=detail["tuples"],
        smallest=detail["smallest"],
        digests=bool(detail["persons_key"]),
    )
