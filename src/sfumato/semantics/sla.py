"""Semantic linkage anonymity (002): tuples that hold against what their reader could infer."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.core.arrays import Bools, Codes, Floats, Integers, Ints, Levels
from sfumato.core.errors import InputError
from sfumato.core.measure import Measure
from sfumato.hierarchies import Hierarchy
from sfumato.semantics import local_data
from sfumato.semantics.associations import Association, Item, Shown, equal_levels
from sfumato.semantics.policy_terms import Treatment

if TYPE_CHECKING:
    from sfumato.semantics.rules.derivation import Enforcements

Counts = npt.NDArray[np.int64]
_NOTHING = np.empty(0, dtype=np.int64)
# The study that repeats paper 002 has 326 to 392 associations: these are searched exactly.
MANY = 1_000
"""Associations up to which the levels that lose least are searched. With more, values are raised a
level at a time until a tuple holds."""
# A choice; of 67,000 associations NCP rose from 0.052 to 0.087.
REACH = 200
"""Tuples that are looked at, among so many associations, of what one can be refined to; and
associations of a form. One that can be refined to more is taken not to hold."""
# A choice: each may lead to about REACH others, so that some 50,000 are in memory at a time.
TUPLES_AT_ONCE = 250


@dataclass(frozen=True, eq=False)
class Rule:
    """An association in terms of columns."""

    association: Association
    antecedent: tuple[tuple[int, int, int], ...]
    column: int
    level: int
    leaf: int


@dataclass(frozen=True, eq=False)
class Reached:
    """The tuples that a reader can arrive at, those that it starts from first.

    Attributes
    ----------
    codes, levels
        The tuples; each of shape (reached, attributes).
    origin
        The tuple that each was refined from, shape (reached,).
    parent
        The tuple that it was refined from in the last step, -1 for none; shape (reached,).
    rule
        The rule of that step, -1 for none; shape (reached,).
    fired
        Which rules refine anything on the way from each start; shape (starts, rules).
    """

    codes: Codes = field(repr=False)
    levels: Levels = field(repr=False)
    origin: Ints = field(repr=False)
    parent: Ints = field(repr=False)
    rule: Ints = field(repr=False)
    fired: Bools = field(repr=False)

    def rules_applied(self, place: int) -> tuple[int, ...]:
        """The rules that led to one of the tuples, the first one first."""
        rules: list[int] = []
        # Each step points to the one before it, so the way is read from its end.
        while self.parent[place] >= 0:
            rules.append(int(self.rule[place]))
            place = int(self.parent[place])
        return tuple(reversed(rules))


class _Part(NamedTuple):
    """Some of the tuples reached, as in `Reached`."""

    codes: Codes
    levels: Levels
    origin: Ints
    parent: Ints
    rule: Ints

    def at(self, places: Ints) -> _Part:
        codes, levels, origin, parent, rule = self
        return _Part(codes[places], levels[places], origin[places], parent[places], rule[places])


class _Form(NamedTuple):
    """Rules of one form: their numbers, what their antecedents show, a leaf of what follows."""

    numbers: Counts
    labels: Counts
    leaves: Counts


# 15 bits a label: three of an antecedent (`LENGTH`) and one of a consequent fill 60 of 64 bits.
_WIDEST = 1 << 15
"""More than the labels of a level; with more, two values may look alike, which loses precision."""


class Reader:
    """Refines tuples by associations.

    A tuple satisfies an item if it shows the item's value or one below it, itself or after
    refinement. An association refines the value of its consequent's attribute where the tuple
    shows an ancestor of the consequent; a value that contradicts the consequent, or is missing,
    stays as it is. Values with the same leaves below them are the same value, at whatever levels
    they stand. Associations with an attribute that the tuples do not have say nothing. An
    antecedent that is a root is met by everybody.

    Parameters
    ----------
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    """

    def __init__(
        self, hierarchies: Mapping[str, Hierarchy], associations: Iterable[Association]
    ) -> None:
        self.names = tuple(hierarchies)
        self.hierarchies = tuple(hierarchies.values())
        self.tables = tuple(local_data.shown_table(hierarchy) for hierarchy in self.hierarchies)
        self._highest = tuple(equal_levels(hierarchy)[1] for hierarchy in self.hierarchies)
        # The surest first, as `believed` applies them so;
        # the key makes the order of equals the same.
        ordered = sorted(associations, key=lambda one: (-one.confidence, -one.support, one.key))
        self.rules = tuple(
            self._rule(one)
            for one in ordered
            if {item.attribute for item in (*one.antecedent, one.consequent)} <= set(self.names)
        )
        self._starts = [
            np.concatenate([[0], np.cumsum(table.max(axis=1) + 1)]).astype(np.int32)
            for table in self.tables
        ]

    def shown(self, codes: Codes, levels: Integers) -> Codes:
        """One number per attribute: equal where tuples show the same value at the same level.

        Parameters
        ----------
        codes
            Leaf codes, -1 for missing; shape (tuples, attributes).
        levels
            Level that each value is shown at; shape (tuples, attributes).
        """
        columns = [
            starts[levels[:, column]] + table[levels[:, column], codes[:, column]]
            for column, (table, starts) in enumerate(zip(self.tables, self._starts, strict=True))
        ]
        if not columns:
            return np.zeros((len(codes), 0), dtype=np.int32)
        return np.column_stack(columns).astype(np.int32, copy=False)

    def refines(self, rule: Rule, codes: Codes, levels: Integers) -> Bools:
        """Which tuples a rule refines; codes and levels have shape (tuples, attributes)."""
        shown, values = levels[:, rule.column], codes[:, rule.column]
        table = self.tables[rule.column]
        # Only a coarser value is refined: any other tells the consequent already or contradicts it.
        here: Bools = shown > rule.level
        if not here.any():
            return here
        # The value shown must be an ancestor of the consequent,
        # else the reader sees a contradiction.
        here &= table[shown, values] == table[shown, rule.leaf]
        for column, level, label in rule.antecedent:
            here &= (levels[:, column] <= level) & (
                self.tables[column][level, codes[:, column]] == label
            )
        return here

    def reachable(self, codes: Codes, levels: Integers) -> Reached:
        """All tuples that a reader can arrive at who believes any part of what it knows.

        Codes and levels have shape (tuples, attributes). Rules are applied in any order, to the
        consequent or to any ancestor of it below what is shown. Takes O(rules x reached) and a sort
        of what was reached per step.
        """
        starts = len(codes)
        nothing = np.full(starts, -1, dtype=np.int64)
        begun = (codes.astype(np.int32), levels.astype(np.int8), np.arange(starts))
        parts = [_Part(*begun, nothing, nothing)]
        fired = np.zeros((starts, len(self.rules)), dtype=np.bool_)
        # What was reached before is not refined again, so that the search ends however rules chain.
        seen = self._keys(parts[0])
        before = 0
        while len(parts[-1].codes):
            rows, rules, _ = self.telling(parts[-1].codes, parts[-1].levels, len(self.rules))
            fired[parts[-1].origin[rows], rules] = True
            found, keys = self.steps(parts[-1], rows, rules)
            new = np.flatnonzero(~np.isin(keys, seen))
            # Steps number parents within their own part;
            # here they count from the first tuple of all.
            found = found._replace(parent=found.parent + before).at(new)
            before += len(parts[-1].codes)
            parts.append(found)
            seen = np.concatenate([seen, keys[new]])
        every = _Part(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        return Reached(*every, fired)

    def believed(self, codes: Codes, levels: Integers) -> tuple[Codes, Integers]:
        """The tuples after everything that one reader believes, to a fixpoint.

        This reader applies the association of greatest confidence among those that refine its
        tuple, and again, until none does.

        Parameters
        ----------
        codes, levels
            The tuples; each of shape (tuples, attributes).
        """
        codes, levels = codes.copy(), levels.copy()
        active = np.arange(len(codes))
        while len(active):
            waiting = np.ones(len(active), dtype=np.bool_)
            for rule in self.rules:
                here = self.refines(rule, codes[active], levels[active]) & waiting
                # One refinement a round:
                # after it a surer association may apply, so all are asked again.
                waiting &= ~here
                codes[active[here], rule.column] = rule.leaf
                levels[active[here], rule.column] = rule.level
            active = active[~waiting]
        return codes, levels

    def _keys(self, part: _Part) -> npt.NDArray[np.void]:
        """One comparable key per tuple and origin."""
        shown = self.shown(part.codes, part.levels)
        # The origin is part of the key: what two tuples both reach is judged for each of them.
        rows = np.column_stack([part.origin.astype(np.int32), shown])
        # Whole rows as one value of bytes, so that they can be looked up like numbers.
        rows = np.ascontiguousarray(rows, dtype=np.int32)
        return rows.view(np.dtype((np.void, rows.shape[1] * 4))).ravel()

    def _rule(self, one: Association) -> Rule:
        antecedent = []
        for item in one.antecedent:
            # A condition on a root is met by everybody; a consequent there would say nothing.
            column, level, leaf = self._place(item, root=True)
            antecedent.append((column, level, int(self.tables[column][level, leaf])))
        return Rule(one, tuple(antecedent), *self._place(one.consequent))

    def telling(self, codes: Codes, levels: Integers, most: int) -> tuple[Counts, Counts, Counts]:
        """Rules that refine tuples, at most so many of each form that rules have.

        Rules whose items stand at the same places are looked up together, so that the time
        depends on their forms rather than on their number.

        Parameters
        ----------
        codes, levels
            The tuples; each of shape (tuples, attributes).

        Returns
        -------
        tuple
            Pairs of a tuple and a rule, and the tuples of which a form has more.
        """
        rows, rules, over = [_NOTHING], [_NOTHING], [_NOTHING]
        for (places, column), (numbers, labels, leaves) in self._forms.items():
            told = np.zeros(len(codes), dtype=np.int64)
            met = np.ones(len(codes), dtype=np.bool_)
            for at, level in places:
                met &= levels[:, at] <= level
                told = told * _WIDEST + self.tables[at][level, codes[:, at]] + 1
            at, least = column
            # Whether a consequent lies below the value shown
            # depends on the level at which it is shown.
            for level in range(least + 1, self.hierarchies[at].height + 1):
                here = np.flatnonzero(met & (levels[:, at] == level))
                if not len(here):
                    continue
                table = self.tables[at][level]
                known = labels * _WIDEST + table[leaves] + 1
                order = np.argsort(known, kind="stable")
                wanted = told[here] * _WIDEST + table[codes[here, at]] + 1
                first = np.searchsorted(known, wanted, "left", sorter=order)
                found = np.searchsorted(known, wanted, "right", sorter=order) - first
                given = np.minimum(found, most)
                within = np.arange(given.sum()) - np.repeat(np.cumsum(given) - given, given)
                rows.append(np.repeat(here, given))
                rules.append(numbers[order[np.repeat(first, given) + within]])
                over.append(here[found > most])
        return np.concatenate(rows), np.concatenate(rules), np.unique(np.concatenate(over))

    def steps(self, part: _Part, rows: Counts, rules: Counts) -> tuple[_Part, npt.NDArray[np.void]]:
        """What one more refinement of tuples gives, each once, with a key of each."""
        column, lowest, leaf = self._consequents[:, rules]
        higher = part.levels[rows, column] - lowest
        place = np.repeat(np.arange(len(rows)), higher)
        # A reader may believe a part of the consequent: every ancestor of it below what is shown.
        level = lowest[place] + np.arange(len(place))
        level -= np.repeat(np.cumsum(higher) - higher, higher)
        found = part.at(rows[place])._replace(parent=rows[place], rule=rules[place])
        found.codes[np.arange(len(place)), column[place]] = leaf[place]
        found.levels[np.arange(len(place)), column[place]] = level
        # By rule first (the last key of lexsort),
        # so that of equal tuples that of the surest rule is kept.
        order = np.lexsort([found.parent, level, found.rule])
        found, keys = found.at(order), self._keys(found)[order]
        once = np.sort(np.unique(keys, return_index=True)[1])
        return found.at(once), keys[once]

    @cached_property
    def _consequents(self) -> Counts:
        """Column, level and leaf of what each rule concludes, shape (3, rules)."""
        found = [(rule.column, rule.level, rule.leaf) for rule in self.rules]
        return np.array(found, dtype=np.int64).reshape(-1, 3).T

    @cached_property
    def _forms(self) -> dict[tuple[tuple[tuple[int, int], ...], tuple[int, int]], _Form]:
        """By the places of their items: the rules, what their antecedents show, their leaves."""
        gathered: dict[Any, list[tuple[int, int, int]]] = {}
        for number, rule in enumerate(self.rules):
            told = 0
            for _, _, label in rule.antecedent:
                told = told * _WIDEST + label + 1
            places = tuple((column, level) for column, level, _ in rule.antecedent)
            form = places, (rule.column, rule.level)
            gathered.setdefault(form, []).append((number, told, rule.leaf))
        return {form: _Form(*np.array(found, dtype=np.int64).T) for form, found in gathered.items()}

    def tells_always(self, codes: Codes, levels: Integers) -> Bools:
        """Which tuples, of shape (tuples, attributes), an association for everybody refines."""
        told = np.zeros(len(codes), dtype=np.bool_)
        for rule in self._always:
            told |= self.refines(rule, codes, levels)
        return told

    @cached_property
    def _always(self) -> list[Rule]:
        heights = [hierarchy.height for hierarchy in self.hierarchies]
        return [
            rule
            for rule in self.rules
            if all(level == heights[column] for column, level, _ in rule.antecedent)
        ]

    def _place(self, item: Item, *, root: bool = False) -> tuple[int, int, int]:
        """Column of an item, the highest level of a value with its leaves, and a leaf below it."""
        column = self.names.index(item.attribute)
        hierarchy = self.hierarchies[column]
        if 0 <= item.level < hierarchy.height + root:
            below = np.flatnonzero(hierarchy.ancestors[item.level] == item.label)
            level = int(self._highest[column][item.level, below[0]]) if len(below) else -1
            if 0 <= level < hierarchy.height + root:
                return column, level, int(below[0])
        raise InputError(
            "an association",
            "must be about values of the hierarchies that it is used with",
            found=f"a level or a value that attribute '{item.attribute}' lacks, or all its leaves",
        )


Tuples = tuple[Codes, npt.NDArray[np.integer]]
"""Leaf codes and the levels that they are shown at; each of shape (tuples, attributes)."""


def shown_before(shown: Shown, tuple_of: Integers, hierarchies: Mapping[str, Hierarchy]) -> Tuples:
    """What an earlier release showed of each person, in the columns of the present one.

    Parameters
    ----------
    tuple_of
        The tuple of each person, -1 for one that the release did not have; shape (persons,).
    hierarchies
        The hierarchy of each attribute of the present release, in the order of its columns.

    Returns
    -------
    tuple
        Codes and levels, each of shape (persons, attributes); the root where the earlier
        release did not have the attribute or the person.
    """
    if len(tuple_of) and not -1 <= int(tuple_of.min()) <= int(tuple_of.max()) < len(shown.counts):
        raise InputError("the tuple of a person", "must be one of the release's, or -1 for none")
    # The root for whatever the release did not show, since a root tells nothing of anybody.
    codes = np.full((len(tuple_of), len(hierarchies)), -1, dtype=np.int32)
    heights = [hierarchy.height for hierarchy in hierarchies.values()]
    levels = np.tile(np.array(heights, dtype=np.int8), (len(tuple_of), 1))
    there = np.flatnonzero(tuple_of >= 0)
    for column, name in enumerate(hierarchies):
        if name in shown.hierarchies:
            place = list(shown.hierarchies).index(name)
            codes[there, column] = shown.codes[tuple_of[there], place]
            levels[there, column] = shown.levels[tuple_of[there], place]
    return codes, levels


def intersection(releases: Sequence[Tuples], hierarchies: Sequence[Hierarchy]) -> Tuples:
    """What a reader holds who knows the tuple of the same person in each of several releases.

    Of each attribute the finest value shown. Where two releases contradict each other, because
    the person's data has changed, the later one is believed. An attribute that a release did
    not have is given to it at its root.

    Parameters
    ----------
    releases
        The releases in order; row ``i`` of each is the same person, or the same kind of person.
    """
    if not releases or len({array.shape for release in releases for array in release}) > 1:
        raise InputError("releases", "must show the same people and attributes, one or more times")
    codes, levels = releases[0][0].copy(), releases[0][1].copy()
    for column, hierarchy in enumerate(hierarchies):
        table = local_data.shown_table(hierarchy)
        code, level = codes[:, column], levels[:, column]
        for later_codes, later_levels in releases[1:]:
            later, at = later_codes[:, column], later_levels[:, column]
            # Two values contradict each other only where
            # they differ at the coarser of their levels.
            coarser = np.maximum(level, at)
            taken = (at < level) | (table[coarser, code] != table[coarser, later])
            code[taken], level[taken] = later[taken], at[taken]
    return codes, levels


def left_by(local: local_data.Local, names: Sequence[str], codes: Codes, levels: Integers) -> Ints:
    """Individuals of the local data set who match each tuple on the local quasi-identifiers.

    Codes and levels have shape (tuples, attributes), the answer (tuples,).
    """
    places = {name: place for place, name in enumerate(names)}
    for name in local.quasi_identifiers:
        if name not in places:
            raise InputError(
                f"quasi-identifier '{name}' of local data '{local.name}'",
                "must be a column of the linked data",
            )
    own = [places[name] for name in local.quasi_identifiers]
    return local_data.matches(local, codes[:, own], levels[:, own])


@dataclass(frozen=True)
class Raised:
    """A value that is shown at a higher level."""

    attribute: str
    before: int
    after: int


@dataclass(frozen=True)
class Change:
    """A tuple that was generalised further.

    Attributes
    ----------
    row
        The tuple's place, counted from 0.
    associations
        The associations that left fewer than k individuals.
    between
        Whether the intersection with earlier releases left fewer than they did, and than k.
    loss
        By how much the tuple's weighted NCP grew.
    """

    row: int
    associations: tuple[Association, ...]
    between: bool
    raised: tuple[Raised, ...]
    loss: float

    def text(self, hierarchies: Mapping[str, Hierarchy]) -> str:
        """The change as people read it; names no value of the tuple but those of associations."""
        raised = ", ".join(f"{one.attribute} {one.before} to {one.after}" for one in self.raised)
        why = [association.text(hierarchies) for association in self.associations]
        why += ["its intersection with earlier releases"] if self.between else []
        return f"tuple {self.row + 1}: {raised}, loss {self.loss:.4g}, for {'; '.join(why)}"


@dataclass(frozen=True, eq=False)
class SemanticLevels:
    """The levels of semantic linkage anonymity.

    Attributes
    ----------
    levels
        Level that each value is shown at; shape (tuples, attributes).
    exposed
        Which tuples earlier releases alone leave below k in today's local data; what is shown
        now does not make it worse. Shape (tuples,).
    """

    levels: Levels = field(repr=False)
    changes: tuple[Change, ...]
    exposed: Bools = field(repr=False)


def disclosure_risks(
    codes: Codes,
    levels: Integers,
    locals_: Sequence[local_data.Local],
    hierarchies: Mapping[str, Hierarchy],
    associations: Iterable[Association] = (),
) -> Floats:
    """Chance that a reader picks the right individual for each tuple, ``1 / |class matched|``.

    The reader refines the tuple by all associations to a fixpoint, the surest first. Where that
    excludes the true person, the risk is 0; where it leaves nobody in a local data set, its
    reader falls back to the tuple as shown. Of several local data sets the greatest risk.

    Parameters
    ----------
    codes
        The true leaf codes of each tuple, -1 for missing; shape (tuples, attributes).
    levels
        Level that each value is shown at; shape (tuples, attributes).
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.

    Returns
    -------
    numpy.ndarray
        Risks, shape (tuples,).
    """
    reader = Reader(hierarchies, associations)
    refined = reader.believed(codes, levels)
    risks = np.zeros(len(codes))
    for local in locals_:
        own = [reader.names.index(q) for q in local.quasi_identifiers if q in reader.names]
        narrow = left_by(local, reader.names, *refined)
        wide = left_by(local, reader.names, codes, levels)
        if len(wide) and not wide.min():
            raise InputError(
                f"local data '{local.name}'",
                "must contain the linked people",
                found=f"{int((wide == 0).sum())} of {len(wide)} tuples that no person matches",
            )
        # Whether the refined tuple still holds the true person: else the reader looks past them.
        inside = np.ones(len(codes), dtype=np.bool_)
        for column in own:
            table, level = reader.tables[column], refined[1][:, column]
            inside &= table[level, codes[:, column]] == table[level, refined[0][:, column]]
        # Where nobody is left the reader sees that the association fails here,
        # and takes the tuple as shown.
        risk = np.where(narrow > 0, inside / np.maximum(narrow, 1), 1 / np.maximum(wide, 1))
        np.maximum(risks, risk, out=risks)
    return risks


def largest_risks(
    codes: Codes,
    levels: Integers,
    locals_: Sequence[local_data.Local],
    hierarchies: Mapping[str, Hierarchy],
    associations: Iterable[Association] = (),
) -> Floats:
    """Chance that the luckiest reader picks the right individual: it believes only what is true.

    The largest ``1 / |class matched|`` over all that a reader can refine the tuple to (see
    `Reader.reachable`) without excluding the true person. Raising a value never makes it larger:
    what a reader reaches from the raised tuple, it reaches from the first one as well. The mean
    of `disclosure_risks` has no such bound, since it counts who is excluded with 0.

    Parameters
    ----------
    codes
        The true leaf codes of each tuple, -1 for missing; shape (tuples, attributes).
    levels
        Level that each value is shown at; shape (tuples, attributes).
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.

    Returns
    -------
    numpy.ndarray
        Risks, shape (tuples,); of several local data sets the greatest.
    """
    reader = Reader(hierarchies, associations)
    reached = reader.reachable(codes, levels)
    truth = codes[reached.origin]
    inside = (
        reader.shown(truth, reached.levels) == reader.shown(reached.codes, reached.levels)
    ).all(axis=1)
    risks = np.zeros(len(codes))
    for local in locals_:
        counts = left_by(local, reader.names, reached.codes, reached.levels)
        told = inside & (counts > 0)
        np.maximum.at(risks, reached.origin[told], 1 / counts[told])
    return risks


def disclosure_risk(risks: Floats, individuals: Integers | None = None) -> Measure:
    """Mean risk of the tuples over the linked individuals, 1 each if not given (Eq. 3)."""
    counts = np.ones(len(risks)) if individuals is None else individuals
    total = float(counts.sum())
    return Measure("linkage_disclosure_risk", float(risks @ counts) / total if total else 0.0)


class Enforced(NamedTuple):
    """What is enforced on some tuples: values to raise by a level, or to the root.

    Both have shape (tuples, attributes).
    """

    generalise: Bools
    suppress: Bools


Enforce = Callable[[Codes, npt.NDArray[np.integer], Sequence[Association] | None], Enforced]
"""What is enforced on tuples, given their leaf codes and levels; because of some associations only,
where these are given."""


def generalise_antecedents(reader: Reader) -> Enforce:
    """Generalise what a tuple shows of the antecedent of every association that refines it.

    That is what rules 5 to 7 of the paper derive where no site adds to them.
    """

    def enforce(codes: Codes, levels: Integers, only: Sequence[Association] | None) -> Enforced:
        # Without a choice every association on any way counts; with one, those that apply at once.
        if only is None:
            fired = reader.reachable(codes, levels).fired
        else:
            fired = np.zeros((len(codes), len(reader.rules)), dtype=np.bool_)
            fired[reader.telling(codes, levels, len(reader.rules))[:2]] = True
        raised = np.zeros(codes.shape, dtype=np.bool_)
        for number, rule in enumerate(reader.rules):
            for column, level, label in rule.antecedent:
                shows = levels[:, column] <= level
                shows &= reader.tables[column][level, codes[:, column]] == label
                raised[:, column] |= fired[:, number] & shows
        return Enforced(raised, np.zeros_like(raised))

    return enforce


def by_rules(
    derived: Callable[[Shown, Sequence[Association] | None], Enforcements],
    hierarchies: Mapping[str, Hierarchy],
) -> Enforce:
    """Do what the rules derive for the tuples.

    Parameters
    ----------
    derived
        Derives it: for a request of a policy
        ``lambda shown, only: derive(policy, request, shown=shown, associations=only or
        known).enforcements``.
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns.
    """
    names = list(hierarchies)

    def enforce(codes: Codes, levels: Integers, only: Sequence[Association] | None) -> Enforced:
        generalise = np.zeros(codes.shape, dtype=np.bool_)
        suppress = np.zeros(codes.shape, dtype=np.bool_)
        counts = np.ones(len(codes), dtype=np.int64)
        found = derived(Shown(hierarchies, codes, levels, counts), only)
        for number, case in enumerate(found.cases):
            rows = np.flatnonzero(found.alike == number)
            for each in case:
                raised = suppress if each.measure is Treatment.SUPPRESS else generalise
                for item in each.regarding:
                    raised[rows, names.index(item.attribute)] = True
        # The stricter measure wins where rules ask for both.
        return Enforced(generalise & ~suppress, suppress)

    return enforce


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found about some tuples at some levels.

    Attributes
    ----------
    alone
        Which tuples leave fewer than k once they are refined; shape (tuples,).
    between
        Which leave too few together with earlier releases; shape (tuples,).
    generalise, suppress
        The attributes that may be raised by a level, and those that may be taken to the root;
        each of shape (tuples, attributes).
    leaking
        The rules that leave fewer than k, per tuple, where asked for.
    """

    alone: Bools
    between: Bools
    generalise: Bools
    suppress: Bools
    leaking: dict[int, set[int]] = field(default_factory=dict)

    @property
    def bad(self) -> Bools:
        """Which tuples do not hold; shape (tuples,)."""
        return self.alone | self.between


class Judge:
    """Judges levels of the tuples of a release.

    Parameters
    ----------
    k
        How many individuals must be left in each.
    codes
        Leaf codes of the tuples, shape (tuples, attributes).
    earlier
        What earlier releases tell together about each tuple; ``None`` for nothing.
    enforce
        What may be raised because of associations.
    """

    def __init__(
        self,
        reader: Reader,
        locals_: Sequence[local_data.Local],
        k: int,
        codes: Codes,
        earlier: Tuples | None,
        enforce: Enforce,
    ) -> None:
        self._reader, self._locals, self._codes = reader, locals_, codes
        self._earlier, self._enforce = earlier, enforce
        self._k = np.full((len(locals_), len(codes)), k, dtype=np.int64)
        self.many = len(reader.rules) > MANY
        self.needed = self._k if earlier is None else self._floors(earlier)

    def counts(self, codes: Codes, levels: Integers) -> Counts:
        """Individuals who match each tuple in each local data set.

        Parameters
        ----------
        codes, levels
            The tuples; each of shape (tuples, attributes).

        Returns
        -------
        numpy.ndarray
            Shape (local data sets, tuples).
        """
        if not self._locals:
            return np.zeros((0, len(codes)), dtype=np.int64)
        names = self._reader.names
        return np.stack([left_by(local, names, codes, levels) for local in self._locals])

    def verdict(self, rows: Counts, levels: Levels, *, why: bool = False) -> Verdict:
        """Judge some of the tuples.

        Parameters
        ----------
        rows
            Their places, shape (judged,).
        levels
            Their levels, shape (judged, attributes).
        """
        codes = self._codes[rows]
        alone, leaking = self._leaves_few(codes, levels, self._k[:, rows], why)
        generalise = np.zeros(codes.shape, dtype=np.bool_)
        suppress = generalise.copy()
        if alone.any():
            only = None
            if self.many:
                # One association a tuple is enough: others are seen when it follows no more.
                rules = {min(leaking[row]) for row in np.flatnonzero(alone).tolist()}
                only = [self._reader.rules[rule].association for rule in sorted(rules)]
            generalise[alone], suppress[alone] = self._enforce(codes[alone], levels[alone], only)
            # No value hides that an association holds which everybody meets: any may be raised.
            always = np.flatnonzero(alone)[self._reader.tells_always(codes[alone], levels[alone])]
            generalise[always] = ~suppress[always]
        between = np.zeros(len(rows), dtype=np.bool_)
        if self._earlier is not None:
            before = (self._earlier[0][rows], self._earlier[1][rows])
            joint = intersection([before, (codes, levels)], self._reader.hierarchies)
            between, others = self._leaves_few(*joint, self.needed[:, rows], why)
            adds = self._reader.shown(*joint) != self._reader.shown(*before)
            # Where this release adds nothing to what was
            # shown before, it cannot make anything worse.
            between &= adds.any(axis=1)
            generalise |= between[:, np.newaxis] & adds & ~suppress
            for row, rules in others.items():
                leaking[row] = leaking.get(row, set()) | rules
        # A value at its root cannot be raised further, whatever the rules say.
        below = levels < np.array([hierarchy.height for hierarchy in self._reader.hierarchies])
        return Verdict(alone, between, generalise & below, suppress & below, leaking)

    def _leaves_few(
        self, codes: Codes, levels: Integers, needed: Counts, why: bool
    ) -> tuple[Bools, dict[int, set[int]]]:
        """Which tuples can be refined to what somebody matches, but too few; and by which rules.

        Tuples that show the same and need the same are worked out once.
        """
        if self.many:
            return self._few_of_many(codes, levels, needed)
        keys = np.column_stack([self._reader.shown(codes, levels), needed.T])
        _, first, same = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        same = same.ravel()
        reached = self._reader.reachable(codes[first], levels[first])
        # Refined tuples are counted as shown:
        # whether the true person matches plays no part, or it would tell.
        counts = self.counts(reached.codes, reached.levels)
        least = needed[:, first][:, reached.origin]
        short = np.flatnonzero(((counts > 0) & (counts < least)).any(axis=0))
        few = np.zeros(len(first), dtype=np.bool_)
        few[reached.origin[short]] = True
        rules = _leaking(reached, short) if why else {}
        return few[same], {row: rules[one] for row, one in enumerate(same.tolist()) if one in rules}

    def _leads_to_few(self, part: _Part, needed: Counts) -> tuple[Ints, Ints]:
        """Tuples that can be refined to too few, and a rule by which each is at first.

        What nobody matches is refined no further, nor is a tuple of which enough is known. One
        that leads to more than `REACH` others counts as one that does.
        """
        bad, by, starts = [_NOTHING], [_NOTHING], len(part.codes)
        reached, first = np.zeros(starts, dtype=np.int64), np.full(starts, -1, dtype=np.int64)
        seen = np.empty(0, dtype=np.dtype((np.void, 4 * (1 + part.codes.shape[1]))))
        while len(part.codes):
            rows, rules, over = self._reader.telling(part.codes, part.levels, REACH)
            found, keys = self._reader.steps(part, rows, rules)
            led = np.where(first[found.parent] < 0, found.rule, first[found.parent])
            reached += np.bincount(found.origin, minlength=starts)
            counts = self.counts(found.codes, found.levels)
            short = ((counts > 0) & (counts < needed[:, found.origin])).any(axis=0)
            # Unsure is taken for unsafe: what is too much to look at counts as leading to too few.
            short |= reached[found.origin] > REACH
            short |= np.isin(found.parent, over)
            bad.append(found.origin[short])
            by.append(led[short])
            new = (counts > 0).any(axis=0) & ~np.isin(keys, seen)
            new &= ~np.isin(found.origin, bad[-1])
            seen = np.concatenate([seen, keys[new]])
            part, first = found.at(np.flatnonzero(new)), led[new]
        rows, place = np.unique(np.concatenate(bad), return_index=True)
        return rows, np.concatenate(by)[place]

    def _few_of_many(
        self, codes: Codes, levels: Integers, needed: Counts
    ) -> tuple[Bools, dict[int, set[int]]]:
        """The same under more associations than are searched, some tuples at a time."""
        few: Bools = np.asarray((self.counts(codes, levels) < needed).any(axis=0))
        leaking: dict[int, set[int]] = {}
        every = np.arange(len(codes))
        for rows in np.array_split(every, len(every) // TUPLES_AT_ONCE + 1):
            own = np.arange(len(rows))
            part = _Part(codes[rows].astype(np.int32), levels[rows].astype(np.int8), own, own, own)
            bad, by = self._leads_to_few(part, needed[:, rows])
            few[rows[bad]] = True
            leaking |= {
                row: {rule} for row, rule in zip(rows[bad].tolist(), by.tolist(), strict=True)
            }
        return few, leaking

    def _floors(self, earlier: Tuples) -> Counts:
        """What earlier releases alone leave of each tuple at least, k at most."""
        if self.many:
            return np.minimum(self._k, self.counts(*earlier))
        reached = self._reader.reachable(*earlier)
        floors = self._k.copy()
        for floor, count in zip(floors, self.counts(reached.codes, reached.levels), strict=True):
            # What nobody matches bounds nothing: the reader discards it.
            some = count > 0
            np.minimum.at(floor, reached.origin[some], count[some])
        return floors


def _leaking(reached: Reached, short: Counts) -> dict[int, set[int]]:
    """The rules on the way to what has too few, per tuple."""
    found: dict[int, set[int]] = {}
    for place in short.tolist():
        found.setdefault(int(reached.origin[place]), set()).update(reached.rules_applied(place))
    return found


# Rounded, so that equal losses tie exactly and the heap then orders them by their levels.
DIGITS = 9
"""Losses that agree in so many decimals count as equal."""


def semantic_levels(
    codes: Codes,
    levels: Integers,
    locals_: Sequence[local_data.Local],
    hierarchies: Mapping[str, Hierarchy],
    associations: Iterable[Association],
    k: int,
    weights: Sequence[float] | None = None,
    *,
    earlier: Sequence[Tuples] = (),
    enforce: Enforce | None = None,
) -> SemanticLevels:
    """Generalise tuples further until no reader's inference leaves fewer than k.

    Starts from the tuples of linkage k-anonymity (Lu, Sinnott and Verspoor 2017, Section 2). A
    tuple holds if every tuple that its reader can refine it to, by any part of the associations
    in any order (see `Reader.reachable`), is matched by at least k individuals of every local
    data set, or by nobody: then the reader learns that the association fails here, and falls
    back to a coarser tuple, which holds as well. Whether the true person is among the matching
    ones does not matter for the decision, since a decision that depended on it would tell.

    Where an association that everybody meets refines it, whatever it shows may be raised.
    While a tuple does not hold else, values are raised as rules 5-7 of Table 1 say: those that it
    shows of the antecedent of an association that refines it, level by level up to the root (or
    to the root at once, where ``enforce`` says that they are suppressed). Of all
    tuples that hold and can be come by so, the one of least weighted NCP is taken; of equal
    losses the one that leaves the first attribute at its lowest level, then the second, and so
    on. The search visits the vectors of levels by ascending loss, all tuples together, and is
    exact; in the worst case it visits all vectors above the first one. With more than `MANY`
    associations nothing is searched: values are raised a level at a time until it holds, and a
    tuple that can be refined to more than `REACH` others is taken not to.

    With ``earlier`` the tuple must also hold against a reader who knows which tuples of earlier
    releases are the same person's, and intersects them: in each local data set at least k
    individuals, or as many as the earlier releases alone leave if these are fewer, match the
    intersection after every refinement, or nobody. What may be raised then are all values that
    are finer than those of earlier releases. What a release has shown cannot be called back:
    ``exposed`` says which tuples were below k before.

    Covered are readers who hold the local data sets as they are today, all releases given and
    the associations given. Not covered: older states of the local data; knowledge of attributes
    that are no quasi-identifier of a local data set; associations that were not accepted, or
    that hold the other way (who is not X is not Y); a reader who concludes from a tuple having
    been raised why it was; what persons have in common when they are all alike (sensitive
    values); where a person's data has changed between releases, a reader who believes the older
    value; readers of different releases who put them together without being given here as one.

    Parameters
    ----------
    codes
        Leaf codes of the distinct tuples, -1 for missing; shape (tuples, attributes). With
        ``earlier``, tuples that differ in what was shown before are distinct.
    levels
        The levels of linkage k-anonymity, shape (tuples, attributes).
    hierarchies
        The hierarchy of each attribute by its name, in the order of the columns: the linkage
        quasi-identifiers, and whatever else is released and occurs in associations.
    associations
        What the reader knows: the accepted ones.
    k
        How many individuals must be left in each local data set.
    weights
        The share of each attribute in loss, relative to the others; equal without them.
    earlier
        The tuples of each earlier release, the same persons in the same rows; attributes that a
        release did not have at their roots. See `shown_before`.
    enforce
        What the rules ask to raise in tuples that do not hold: `by_rules` for the rules of a
        policy. Without it the antecedents of all associations that refine the tuple are
        generalised.

    Returns
    -------
    SemanticLevels
        The levels, what was changed, and which tuples were below k before.
    """
    if codes.shape != levels.shape or codes.shape[1] != len(hierarchies):
        raise InputError("the tuples", "must have a code and a level for every attribute")
    reader = Reader(hierarchies, associations)
    before = intersection(earlier, reader.hierarchies) if earlier else None
    if before is not None and before[0].shape != codes.shape:
        raise InputError("earlier releases", "must show the same tuples and attributes as this one")
    enforce = generalise_antecedents(reader) if enforce is None else enforce
    judge = Judge(reader, locals_, k, codes, before, enforce)
    _check_start(judge.counts(codes, levels), locals_, k)
    start = levels.astype(np.int8)
    rows = np.arange(len(codes))
    first = judge.verdict(rows, start, why=True)
    if judge.many:
        found = _raised(judge, first, start, reader.hierarchies)
    else:
        found = _search(judge, first, codes, start, reader.hierarchies, weights)
    grown = local_data.certainty_penalties(codes, found, reader.hierarchies, weights)
    grown -= local_data.certainty_penalties(codes, start, reader.hierarchies, weights)
    changes = tuple(
        _change(int(row), first, reader, start, found, float(grown[row]))
        for row in np.flatnonzero((found != start).any(axis=1))
    )
    exposed = np.asarray((judge.needed < k).any(axis=0), dtype=np.bool_)
    return SemanticLevels(found, changes, exposed)


def _check_start(counts: Counts, locals_: Sequence[local_data.Local], k: int) -> None:
    for local, count in zip(locals_, counts, strict=True):
        few = int((count < k).sum())
        if few:
            raise InputError(
                "the levels to start from",
                f"must be those of linkage {k}-anonymity for local data '{local.name}'",
                found=f"{few} of {len(count)} tuples with fewer matching people",
                advice="generalise with least_levels first, with the same k",
            )


def _raised(
    judge: Judge, first: Verdict, start: Levels, hierarchies: Sequence[Hierarchy]
) -> Levels:
    """Levels that hold: whatever may be raised is, a level at a time, until a tuple does."""
    found, rows, verdict = start.copy(), np.flatnonzero(first.bad), first
    generalise, suppress = verdict.generalise[rows], verdict.suppress[rows]
    heights = np.array([hierarchy.height for hierarchy in hierarchies], dtype=np.int8)
    while len(rows):
        if not (generalise | suppress).any(axis=1).all():
            raise _too_little()
        # All at once without a search:
        # with many associations trying vectors in turn takes too long.
        found[rows] = np.where(suppress, heights, found[rows] + generalise)
        verdict = judge.verdict(rows, found[rows])
        bad = verdict.bad
        rows, generalise, suppress = rows[bad], verdict.generalise[bad], verdict.suppress[bad]
    return found


def _too_little() -> InputError:
    return InputError(
        "the rules",
        "must ask for enough to keep k people, whatever a reader infers",
        found="a tuple in which they let nothing more be raised",
        advice="check the site's rules: rules 5 to 7 as they are always ask for enough",
    )


def _search(
    judge: Judge,
    first: Verdict,
    codes: Codes,
    start: Levels,
    hierarchies: Sequence[Hierarchy],
    weights: Sequence[float] | None,
) -> Levels:
    """The cheapest levels that hold, tuple by tuple, all tuples a step at a time."""
    shares = local_data.normalised_weights(weights, len(hierarchies))
    losses = [
        share * local_data.penalty_table(hierarchy)
        for share, hierarchy in zip(shares, hierarchies, strict=True)
    ]
    heights = tuple(hierarchy.height for hierarchy in hierarchies)
    found = start.copy()
    searches = {
        row: _TupleSearch(codes[row], losses, heights) for row in np.flatnonzero(first.bad).tolist()
    }
    for row, search in searches.items():
        search.expand(start[row], first.generalise[row], first.suppress[row])
    while searches:
        rows = np.fromiter(searches, dtype=np.int64, count=len(searches))
        # One step of every tuple at a time, since judging
        # many tuples together costs little more than one.
        tried = np.array([searches[row].cheapest() for row in rows.tolist()], dtype=np.int8)
        verdict = judge.verdict(rows, tried)
        for place, row in enumerate(rows.tolist()):
            if verdict.bad[place]:
                searches[row].expand(
                    tried[place], verdict.generalise[place], verdict.suppress[place]
                )
            else:
                found[row] = tried[place]
                del searches[row]
    return found


class _TupleSearch:
    """The vectors of levels of one tuple that are still to be tried, cheapest first."""

    def __init__(self, codes: Codes, losses: Sequence[Floats], heights: tuple[int, ...]) -> None:
        self._codes, self._losses, self._heights = codes.tolist(), losses, heights
        self._waiting: list[tuple[float, tuple[int, ...]]] = []
        self._seen: set[tuple[int, ...]] = set()

    def cheapest(self) -> tuple[int, ...]:
        if not self._waiting:
            raise _too_little()
        return heapq.heappop(self._waiting)[1]

    def expand(self, levels: Levels, generalise: Bools, suppress: Bools) -> None:
        """Raise each of the attributes, by a level or to the root."""
        for column in np.flatnonzero(generalise | suppress).tolist():
            vector = levels.tolist()
            vector[column] = self._heights[column] if suppress[column] else vector[column] + 1
            higher = tuple(vector)
            # Two orders of raising the same values lead to the same vector, which is judged once.
            if higher not in self._seen:
                self._seen.add(higher)
                heapq.heappush(self._waiting, (self._loss(higher), higher))

    def _loss(self, vector: tuple[int, ...]) -> float:
        parts = zip(self._losses, vector, self._codes, strict=True)
        return round(float(sum(loss[level, code] for loss, level, code in parts)), DIGITS)


def _change(
    row: int, first: Verdict, reader: Reader, start: Levels, found: Levels, loss: float
) -> Change:
    raised = tuple(
        Raised(name, int(before), int(after))
        for name, before, after in zip(reader.names, start[row], found[row], strict=True)
        if before != after
    )
    leaking = tuple(reader.rules[rule].association for rule in sorted(first.leaking.get(row, ())))
    return Change(row, leaking, bool(first.between[row]), raised, loss)
