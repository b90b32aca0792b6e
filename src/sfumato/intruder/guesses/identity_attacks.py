"""Who a record is: exact and one-to-one matches, identifiers left in, the order of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components, maximum_flow

from sfumato.core.arrays import Bools, Floats, Ints
from sfumato.core.errors import InputError
from sfumato.intruder.candidates import Blocks, Candidates, Identification, blocks_of
from sfumato.intruder.knowledge import Knowledge, KnownColumn
from sfumato.intruder.reading import ReleasedFile, TextColumn


def exact_free(
    file: ReleasedFile, knowledge: Knowledge, candidates: Candidates, rng: np.random.Generator
) -> Identification:
    """Guess for every released unit one of the register persons who fit, all equally likely.

    A register person may be guessed for several units. O(units log groups).

    Parameters
    ----------
    knowledge
        What the intruder knows; with ``counts`` only persons with as many records as the unit
        has are drawn from.

    Returns
    -------
    Identification
        One guess per unit, in their order; without a person and with chance 0 where nobody fits.
    """
    guessed, chance = _drawn(blocks_of(file, knowledge, candidates), rng)
    return Identification(np.arange(file.persons, dtype=np.int64), guessed, chance)


def exact_targeted(
    file: ReleasedFile,
    knowledge: Knowledge,
    candidates: Candidates,
    rng: np.random.Generator,
    *,
    targets: npt.ArrayLike | None = None,
) -> Identification:
    """Guess for every target one of the released units that fit, all equally likely.

    The prosecutor's attack (paper 004, Section 2.1): the intruder knows that the target is in
    the file. O(targets log kinds).

    Parameters
    ----------
    knowledge
        What the intruder knows; with ``counts`` only units with as many records as the target
        has are drawn from.
    targets
        Register persons who are known to be in the file; all of them when not given.

    Returns
    -------
    Identification
        One guess per target, in their order; without a unit and with chance 0 where none fits.
    """
    everybody = np.arange(knowledge.persons, dtype=np.int64)
    chosen = everybody if targets is None else _checked(targets, knowledge.persons)
    guessed, chance = _drawn(blocks_of(file, knowledge, candidates).turned(), rng, chosen)
    return Identification(guessed, chosen, chance)


def _checked(targets: npt.ArrayLike, persons: int) -> Ints:
    numbers = np.asarray(targets)
    whole = numbers.dtype.kind in "iu" or not numbers.size
    if numbers.ndim != 1 or not whole or ((numbers < 0) | (numbers >= persons)).any():
        raise InputError(
            "parameter targets",
            "must hold numbers of register people",
            accepted=f"0 to {persons - 1}",
        )
    return numbers.astype(np.int64)


def _drawn(
    blocks: Blocks, rng: np.random.Generator, chosen: Ints | None = None
) -> tuple[Ints, Floats]:
    """For each unit a person who fits, drawn uniformly, and the chance of each who fits.

    The persons are laid out group by group; a number below the sum of the sizes of the groups
    that fit says the group, and which person in it.
    """
    kind = blocks.kind if chosen is None else blocks.kind[chosen]
    sizes, fits = blocks.sizes, blocks.fits
    below = np.concatenate([[0], np.cumsum(sizes[fits.indices])]).astype(np.int64)
    first, last = below[fits.indptr[:-1]][kind], below[fits.indptr[1:]][kind]
    fitting = last - first
    some = fitting > 0
    drawn = first[some] + rng.integers(0, fitting[some])
    place = np.searchsorted(below, drawn, side="right") - 1
    by_group = np.argsort(blocks.group, kind="stable")
    starts = np.cumsum(sizes) - sizes
    guessed = np.full(len(kind), -1, dtype=np.int64)
    guessed[some] = by_group[starts[fits.indices[place]] + drawn - below[place]]
    return guessed, np.where(some, 1.0 / np.maximum(fitting, 1), 0.0)


ROUNDS = 100
"""Rounds of belief propagation at most."""
PRECISION = 1e-3
"""Share of all probability that may still move when belief propagation ends."""
# Keeps a message finite where nobody else offers or asks for anything.
TINY = 1e-12


def exact_one_to_one(
    file: ReleasedFile, knowledge: Knowledge, candidates: Candidates, rng: np.random.Generator
) -> Identification:
    """Guess for released units register persons who fit, nobody twice, as many as can be.

    The assignment is a maximum flow from kinds of units to groups of persons, in an order
    drawn at random; who of a kind gets whom of a group is drawn at random. The intruder's
    probability is the share of all such assignments that have the pair, as belief propagation
    finds it (Vontobel 2013, "The Bethe permanent of a nonnegative matrix"): 1/persons where
    classes do not overlap, near it elsewhere.

    Parameters
    ----------
    knowledge
        What the intruder knows; with ``counts`` a person fits only units with as many records.

    Returns
    -------
    Identification
        One guess per unit, in their order; without a person and with chance 0 for units that
        nobody was left for.
    """
    blocks = blocks_of(file, knowledge, candidates)
    flow = _random_flow(blocks, rng)
    units, persons = _paired(blocks, flow, rng)
    guessed = np.full(file.persons, -1, dtype=np.int64)
    guessed[units] = persons
    chance = np.zeros(file.persons)
    pairs = _possible(blocks, flow)
    chance[units] = _chances(blocks, pairs, blocks.kind[units], blocks.group[persons])
    return Identification(np.arange(file.persons, dtype=np.int64), guessed, chance)


def _random_flow(blocks: Blocks, rng: np.random.Generator) -> sparse.coo_array:
    """How many units of each kind go to each group, shape (kinds, groups), as many as can be."""
    kinds, groups = blocks.fits.shape
    # The flow takes the paths that it finds first: which ones these are goes by the numbers.
    new_kind, new_group = 1 + rng.permutation(kinds), 1 + kinds + rng.permutation(groups)
    source, sink = 0, 1 + kinds + groups
    pairs = blocks.fits.tocoo()
    row, column = pairs.coords
    units, sizes = blocks.units, blocks.sizes
    capacity = np.concatenate([units, sizes, np.minimum(units[row], sizes[column])])
    start = np.concatenate([np.full(kinds, source), new_group, new_kind[row]])
    stop = np.concatenate([new_kind, np.full(groups, sink), new_group[column]])
    # Capacities must have 32 bits for scipy's maximum flow.
    graph = sparse.csr_array(
        (capacity.astype(np.int32), (start.astype(np.int32), stop.astype(np.int32))),
        shape=(sink + 1, sink + 1),
    )
    graph.sort_indices()
    found = maximum_flow(graph, source, sink).flow.tocoo()
    # The flow is antisymmetric: the way back has the same number, negative.
    used = (found.data > 0) & (found.coords[0] != source) & (found.coords[1] != sink)
    kind_of, group_of = np.empty(sink + 1, np.int64), np.empty(sink + 1, np.int64)
    kind_of[new_kind], group_of[new_group] = np.arange(kinds), np.arange(groups)
    places = (kind_of[found.coords[0][used]], group_of[found.coords[1][used]])
    return sparse.coo_array((found.data[used].astype(np.int64), places), shape=(kinds, groups))


def _paired(blocks: Blocks, flow: sparse.coo_array, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Units and persons, as many of each kind and group as flow between the two."""
    kinds = np.repeat(flow.coords[0], flow.data)
    groups = np.repeat(flow.coords[1], flow.data)
    return _taken(blocks.kind, kinds, rng), _taken(blocks.group, groups, rng)


def _taken(label: Ints, wanted: Ints, rng: np.random.Generator) -> Ints:
    """For each label that is wanted one of its members, at random and none twice."""
    # Mixed before the stable sort: members of a label come in a random order.
    shuffled = rng.permutation(len(label))
    members = shuffled[np.argsort(label[shuffled], kind="stable")]
    sizes = np.bincount(label, minlength=int(wanted.max(initial=0)) + 1)
    order = np.argsort(wanted, kind="stable")
    counts = np.bincount(wanted, minlength=len(sizes))
    rank = np.arange(len(wanted)) - np.repeat(np.cumsum(counts) - counts, counts)
    taken = np.empty(len(wanted), dtype=np.int64)
    taken[order] = members[(np.cumsum(sizes) - sizes)[wanted[order]] + rank]
    return taken


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Kinds and groups of which some maximum assignment has a pair.

    ``spare_kind`` and ``spare_group`` are 1 where some of them leaves one of the kind or of the
    group out, else 0.
    """

    kind: Ints
    group: Ints
    spare_kind: Floats
    spare_group: Floats


def _possible(blocks: Blocks, flow: sparse.coo_array) -> _Pairs:
    """Find the pairs that some maximum assignment has.

    A pair that this one does not have is in another one if units can move around a cycle
    through it: if both ends are in one strong component of what the flow leaves free.
    """
    kinds, groups = blocks.fits.shape
    source, sink = kinds + groups, kinds + groups + 1
    row = np.repeat(np.arange(kinds), np.diff(blocks.fits.indptr))
    column = blocks.fits.indices.astype(np.int64)
    sent = np.bincount(flow.coords[0], flow.data, kinds)
    got = np.bincount(flow.coords[1], flow.data, groups)
    waiting, started = np.flatnonzero(sent < blocks.units), np.flatnonzero(sent > 0)
    free, ended = np.flatnonzero(got < blocks.sizes), np.flatnonzero(got > 0)
    # What the flow leaves free: pairs that fit may be taken, those that are taken given back.
    moves = [
        (row, column + kinds),
        (flow.coords[1] + kinds, flow.coords[0]),
        (np.full(len(waiting), source), waiting),
        (started, np.full(len(started), source)),
        (free + kinds, np.full(len(free), sink)),
        (np.full(len(ended), sink), ended + kinds),
    ]
    start, stop = (np.concatenate(each).astype(np.int32) for each in zip(*moves, strict=True))
    graph = sparse.csr_array(
        (np.ones(len(start), np.int8), (start, stop)), shape=(sink + 1, sink + 1)
    )
    part = connected_components(graph, directed=True, connection="strong")[1]
    possible = part[row] == part[column + kinds]
    return _Pairs(
        row[possible],
        column[possible],
        (part[:kinds] == part[source]).astype(np.float64),
        (part[kinds:source] == part[sink]).astype(np.float64),
    )


def _chances(blocks: Blocks, pairs: _Pairs, kinds: Ints, groups: Ints) -> Floats:
    """The probability of each pair of a unit of this kind and a person of this group.

    Each unit of a kind tells each person of a group how much it needs that person, 1 over what
    the others offer it; each person answers with 1 over what the other units ask.
    """
    row, column = pairs.kind, pairs.group
    units, sizes = blocks.units.astype(np.float64), blocks.sizes.astype(np.float64)
    pairs_of = units[row] * sizes[column]
    offer, chance = np.ones(len(row)), np.zeros(len(row))
    for _ in range(ROUNDS):
        offered = np.bincount(row, sizes[column] * offer, len(units)) + pairs.spare_kind
        need = 1.0 / np.maximum(offered[row] - offer, TINY)
        asked = np.bincount(column, units[row] * need, len(sizes)) + pairs.spare_group
        offer = 1.0 / np.maximum(asked[column] - need, TINY)
        # The belief in a pair by both messages, x / (1 + x) with x = need * offer.
        last, chance = chance, 1.0 / (1.0 + 1.0 / (need * offer))
        # Each entry stands for as many pairs of a unit and a person as it has of them.
        if float(np.abs(chance - last) @ pairs_of) <= PRECISION * float(chance @ pairs_of):
            break
    width = len(sizes)
    place = np.searchsorted(row * width + column, kinds * width + groups)
    return chance[place]


COINCIDE = 0.5
"""Share of a column's distinct texts that the other must have to be joined without its name."""
FEWEST = 5
"""Distinct texts that must coincide at least for that."""
LARGEST = 200
"""A text that more persons of the register have pins nobody and is passed over."""
# Some 16 MB for each array that is held at once.
_ENTRIES = 2_000_000


@dataclass(frozen=True, eq=False)
class Join:
    """What one released column tells of who is who.

    Attributes
    ----------
    by_name
        Whether they were found by their name; else by their texts.
    guesses
        For each released unit a person who has the same text and, where there are such, fits its
        class; the chance is 1 / the number of those.
    fits
        Whether the named person fits the unit's class; else the text alone decided; shape
        (units,).
    alone
        The chance of each guess without the column, 1 / the persons who fit the class; shape
        (units,).
    """

    column: str
    register_column: str
    by_name: bool
    guesses: Identification
    fits: Bools
    alone: Floats
    pinned: int


@dataclass(frozen=True, eq=False)
class _Having:
    """The persons who have each text: those of text t at start[t] to start[t + 1]."""

    persons: Ints
    start: Ints


def join_columns(
    file: ReleasedFile, candidates: Candidates, knowledge: Knowledge, rng: np.random.Generator
) -> tuple[Join, ...]:
    """Join the release with the register on every column that both have beside the released ones.

    Columns of the same name, and columns under other names whose distinct texts coincide, by exact
    equality of texts. For each record the persons with its text are narrowed to those who fit its
    class; a released person is guessed by the record that leaves fewest. Columns that find nobody
    are left out. O(distinct (class, text) times the persons of a text, at most 200).
    """
    # A column beside may be a quasi-identifier under another name.
    known = [*knowledge.others, *knowledge.quasi_identifiers]
    found = []
    for column in file.others:
        for other in known:
            by_name = _plain(column.name) == _plain(other.name)
            if by_name or _coincide(column, other):
                join = _join(column, other, file, candidates, knowledge, rng, by_name)
                if np.any(join.guesses.person >= 0):
                    found.append(join)
    return tuple(found)


def _plain(name: str) -> str:
    return "".join(name.casefold().split()).replace("_", "")


def _coincide(column: TextColumn, other: KnownColumn) -> bool:
    own = {text for text in column.texts if text is not None}
    both = own.intersection(other.texts)
    return len(both) >= max(FEWEST, COINCIDE * len(own))


def _join(
    column: TextColumn,
    other: KnownColumn,
    file: ReleasedFile,
    candidates: Candidates,
    knowledge: Knowledge,
    rng: np.random.Generator,
    by_name: bool,
) -> Join:
    having = _persons_of_texts(column, other, knowledge)
    texts = len(column.texts)
    pairs, pair_of = np.unique(file.class_of * texts + column.codes, return_inverse=True)
    found = _narrow(pairs // texts, pairs % texts, having, candidates, rng)
    many, person, fits = found[0][pair_of], found[1][pair_of], found[2][pair_of]
    # Records that find nobody come last: they must not win by a count of 0.
    order = np.lexsort((np.where(person >= 0, many, np.iinfo(np.int64).max), file.unit))
    best = order[np.unique(file.unit[order], return_index=True)[1]]
    chance = np.where(person[best] >= 0, 1 / np.maximum(many[best], 1), 0.0)
    return Join(
        column=column.name,
        register_column=other.name,
        by_name=by_name,
        guesses=Identification(file.unit[best], person[best], chance),
        fits=fits[best],
        alone=1 / np.maximum(candidates.of_class[file.class_of[best]], 1),
        pinned=int(np.count_nonzero((person[best] >= 0) & (many[best] == 1))),
    )


def _persons_of_texts(column: TextColumn, other: KnownColumn, knowledge: Knowledge) -> _Having:
    """The register persons who have each text of the released column; nobody for missing ones."""
    number = {text: place for place, text in enumerate(column.texts) if text is not None}
    of_text = np.array([number.get(text or "", -1) for text in other.texts], dtype=np.int64)
    text = of_text[other.codes]
    some = text >= 0
    keys = np.unique(text[some] * knowledge.persons + knowledge.person[some])
    texts, persons = np.divmod(keys, max(knowledge.persons, 1))
    start = np.searchsorted(texts, np.arange(len(column.texts) + 1)).astype(np.int64)
    return _Having(persons, start)


def _narrow(
    class_of: Ints, text: Ints, having: _Having, candidates: Candidates, rng: np.random.Generator
) -> tuple[Ints, Ints, Bools]:
    """For each class and text how many persons are left, one of them (-1: nobody), if it fits."""
    width = np.diff(having.start)[text]
    width[width > LARGEST] = 0
    many = np.zeros(len(text), dtype=np.int64)
    person = np.full(len(text), -1, dtype=np.int64)
    some = np.zeros(len(text), dtype=np.bool_)
    total = np.concatenate([[0], np.cumsum(width)])
    cuts = np.searchsorted(total[1:], np.arange(_ENTRIES, int(total[-1]), _ENTRIES))
    for part in np.split(np.arange(len(text)), cuts):
        row = np.repeat(part, width[part])
        ends = np.cumsum(width[part])
        offset = np.arange(len(row)) - np.repeat(ends - width[part], width[part])
        who = having.persons[having.start[text[row]] + offset]
        fits = candidates.fit(class_of[row], candidates.group[who])
        some[row[fits]] = True
        keep = fits | ~some[row]
        row, who = row[keep], who[keep]
        # The last that is written stays: in a random order each is as likely.
        mixed = rng.permutation(len(row))
        person[row[mixed]] = who[mixed]
        many += np.bincount(row, minlength=len(text))
    return many, person, some


def by_place(
    file: ReleasedFile, candidates: Candidates, knowledge: Knowledge
) -> tuple[Identification, ...]:
    """Guess by place in every way that the release and the register allow.

    By the order in which persons appear, and, where the register has several rows of a person, by
    the order of its rows; each over the whole file and within classes. Within classes by the order
    of each number that the register has, too, up and down. O(ways x persons and rows that fit,
    summed over classes).
    """
    persons = np.arange(len(candidates.group), dtype=np.int64)
    ways = [same_place(file, candidates, persons), same_place_in_class(file, candidates, persons)]
    if len(knowledge.person) > len(persons):
        ways.append(same_place(file, candidates, knowledge.person))
        # Rows have their counterpart in units only where these are records.
        if file.person is None:
            ways.append(same_place_in_class(file, candidates, knowledge.person))
    first = np.unique(knowledge.person, return_index=True)[1]
    for column in (*knowledge.quasi_identifiers, *knowledge.others):
        numbers = column.numbers[column.codes[first]]
        # A number that all share, or nobody has, gives no order.
        if np.isnan(numbers).all() or np.nanmin(numbers) == np.nanmax(numbers):
            continue
        ways += [
            same_place_in_class(file, candidates, np.argsort(each, kind="stable").astype(np.int64))
            for each in (numbers, -numbers)
        ]
    return tuple(ways)


def same_place(file: ReleasedFile, candidates: Candidates, rows: Ints) -> Identification:
    """For each released unit the fitting person nearest to the same place in the register.

    Place u of n stands where row (u + 1/2) / n * R - 1/2 of R stands; in a sample that keeps the
    order the true place differs from it by about R / (2 √n). Where the rows, shape (rows,), are one
    per person, u counts units in order of appearance, else it is the unit's first record.
    """
    if len(rows) == len(candidates.group):
        share = (np.arange(file.persons) + 0.5) / max(file.persons, 1)
    else:
        share = (np.unique(file.unit, return_index=True)[1] + 0.5) / max(file.records, 1)
    place = share * len(rows) - 0.5
    guess = np.full(file.persons, -1, dtype=np.int64)
    for units, fitting in _kinds(candidates, rows):
        above = np.searchsorted(fitting, place[units])
        low, high = np.maximum(above - 1, 0), np.minimum(above, len(fitting) - 1)
        nearer = np.abs(fitting[high] - place[units]) < np.abs(fitting[low] - place[units])
        guess[units] = rows[fitting[np.where(nearer, high, low)]]
    return _guesses(file, candidates, guess)


def same_place_in_class(file: ReleasedFile, candidates: Candidates, rows: Ints) -> Identification:
    """For the i-th released unit of a class the person of the proportionally i-th row that fits.

    What is left of the order in a release that was sorted by class, each class keeping the order of
    the register. Rows have shape (rows,), one a person to go by their appearance. No row is named
    twice for a class with at least as many rows as units.
    """
    guess = np.full(file.persons, -1, dtype=np.int64)
    for units, fitting in _kinds(candidates, rows):
        # Unit i of n stands at share (i + 1/2) / n of the R rows: floor((2i + 1) R / 2n), in
        # integers.
        rank = (2 * np.arange(len(units)) + 1) * len(fitting) // (2 * len(units))
        guess[units] = rows[fitting[rank]]
    return _guesses(file, candidates, guess)


def _kinds(candidates: Candidates, rows: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Units and rows that fit, both ascending, of each kind of units that somebody fits."""
    order = np.argsort(candidates.kind, kind="stable").astype(np.int64)
    group_of_row = candidates.group[rows]
    by_group = np.argsort(group_of_row, kind="stable").astype(np.int64)
    sizes = np.bincount(group_of_row, minlength=candidates.groups)
    after = np.cumsum(sizes)
    fits = candidates.fits_kind
    start = np.searchsorted(candidates.kind[order], np.arange(fits.shape[0] + 1))
    for kind in np.flatnonzero((np.diff(fits.indptr) > 0) & (np.diff(start) > 0)).tolist():
        groups = fits.indices[fits.indptr[kind] : fits.indptr[kind + 1]]
        width = sizes[groups]
        shift = after[groups] - np.cumsum(width)
        fitting = by_group[np.arange(width.sum()) + np.repeat(shift, width)]
        yield order[start[kind] : start[kind + 1]], np.sort(fitting)


def _guesses(file: ReleasedFile, candidates: Candidates, guess: Ints) -> Identification:
    chance = np.where(guess >= 0, 1 / np.maximum(candidates.of_unit(), 1), 0.0)
    return Identification(np.arange(file.persons, dtype=np.int64), guess, chance)
