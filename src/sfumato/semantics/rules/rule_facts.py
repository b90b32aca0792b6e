"""What the rules are asked about, as facts: the policy, tuples, item sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from sfumato.core.arrays import Bools, Integers, Ints
from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item, Shown
from sfumato.semantics.policy_terms import Policy


def quoted(text: str) -> str:
    """Text as a string of the rules' language."""
    # The backslash first, or those of the other two would be escaped again.
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
    return f'"{escaped}"'


def item_term(item: Item, hierarchy: Hierarchy) -> str:
    """An item as a term: ``item("language",0,"7104 Mandarin")``."""
    label = quoted(hierarchy.label(item.level, item.label))
    return f"item({quoted(item.attribute)},{item.level},{label})"


def plain(symbol: Any) -> Any:
    """A ground term as a plain value: text, a number, or what the rules' language writes."""
    kind = symbol.type.name
    if kind == "String":
        return symbol.string
    return symbol.number if kind == "Number" else str(symbol)


Numbers = Ints


class ItemSets:
    """The values of one hierarchy, each numbered by the lowest level that shows the same leaves.

    Ragged hierarchies repeat a value at several levels; to a reader it is one value.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        sizes = [len(labels) for labels in hierarchy.labels]
        self.starts: Numbers = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
        leaves = np.arange(len(hierarchy.leaves))
        self._leaf: Numbers = np.zeros(self.starts[-1], dtype=np.int64)
        self._lowest: Numbers = np.arange(self.starts[-1], dtype=np.int64)
        counts = [hierarchy.leaf_counts(level) for level in range(hierarchy.height + 1)]
        for level, ancestors in enumerate(hierarchy.ancestors):
            own = self.starts[level] + ancestors
            self._leaf[own] = leaves
            if level:
                under = hierarchy.ancestors[level - 1]
                # With as many leaves below it as the value under it has,
                # it is the same value to a reader.
                same = counts[level][ancestors] == counts[level - 1][under]
                self._lowest[own[same]] = self._lowest[self.starts[level - 1] + under[same]]

    def lowest(self, item: Item) -> Item:
        """The same value at the lowest level that shows it."""
        return self.item(item.attribute, int(self._lowest[self.starts[item.level] + item.label]))

    def item(self, attribute: str, number: int) -> Item:
        """The item with a number."""
        level = int(np.searchsorted(self.starts, number, side="right")) - 1
        return Item(attribute, level, number - int(self.starts[level]))

    def numbers(self, codes: Integers, levels: Integers) -> Numbers:
        """The number of each shown value, -1 where it is missing; shape (tuples,).

        Missing is a value of its own below the root; the root shows it as any other, and a reader
        infers what is hidden there.

        Parameters
        ----------
        codes
            A leaf below each value, -1 for missing; shape (tuples,).
        levels
            Level that each is shown at; shape (tuples,).
        """
        present = codes >= 0
        hidden = ~present & (levels == self.hierarchy.height)
        numbers = np.full(len(codes), -1, dtype=np.int64)
        numbers[hidden] = self._lowest[self.starts[self.hierarchy.height]]
        at = levels[present].astype(np.int64)
        raw = self.starts[at] + self.hierarchy.ancestors[at, codes[present]]
        numbers[present] = self._lowest[raw]
        return numbers

    def ancestors(self, item: Item) -> list[Item]:
        """The distinct values above an item, which is at its lowest level, lowest first."""
        leaf = self._leaf[self.starts[item.level] + item.label]
        above = range(item.level + 1, self.hierarchy.height + 1)
        items = [
            self.lowest(Item(item.attribute, level, int(self.hierarchy.ancestors[level, leaf])))
            for level in above
        ]
        return [fromkey for fromkey in dict.fromkeys(items) if fromkey != item]

    def at_or_below(self, items: Iterable[Item], attribute: str) -> Bools:
        """Which values are one of these items or lie below it; shape (values,).

        Parameters
        ----------
        items
            Items at their lowest level, of any attribute.
        """
        found = np.zeros(self.starts[-1], dtype=np.bool_)
        for item in items:
            if item.attribute == attribute:
                level = self.hierarchy.ancestors[item.level]
                # Values are numbered level by level,
                # so those above the item's level are left out at once.
                low = slice(0, self.starts[item.level + 1])
                found[low] |= level[self._leaf[low]] == item.label
        return found

    def above(self, items: Iterable[Item], attribute: str) -> Bools:
        """Which values, shape (values,), are ancestors of one of these lowest items."""
        found = np.zeros(self.starts[-1], dtype=np.bool_)
        for item in items:
            if item.attribute == attribute:
                for above in self.ancestors(item):
                    found[self.starts[above.level] + above.label] = True
        return found


POLICY_PREDICATES = {
    "allows_purpose": (2,),
    "authenticate": (2,),
    "database": (1,),
    "has_anonymity": (2,),
    "has_k": (2,),
    "has_purpose": (2,),
    "has_qi": (2,),
    "has_requester": (2,),
    "has_resource": (2,),
    "has_role": (2,),
    "link_from": (2,),
    "linkage": (1,),
    "purpose": (1,),
    "request": (1,),
    "restricts_purpose": (1,),
    "role": (1,),
}
"""The words of these facts, and how many terms each takes."""


def policy_facts(policy: Policy, request: str) -> str:
    """A policy and one of its requests, by name, as facts.

    The k and the quasi-identifiers of a database hang on a term ``anonymity(Database)``, as in the
    paper.
    """
    return "\n".join([*_databases(policy), *_others(policy), *_request(policy, request)])


def _fact(word: str, *names: str) -> str:
    return f"{word}({','.join(map(quoted, names))})."


def _databases(policy: Policy) -> Iterator[str]:
    for name, database in policy.databases.items():
        yield _fact("database", name)
        anonymity = f"anonymity({quoted(name)})"
        yield f"has_anonymity({quoted(name)},{anonymity})."
        if database.k is not None:
            yield f"has_k({anonymity},{database.k})."
        for column in database.quasi_identifiers:
            yield f"has_qi({anonymity},{quoted(column)})."
        for role in database.authenticates:
            yield _fact("authenticate", name, role)
        if database.purposes is not None:
            yield _fact("restricts_purpose", name)
            for purpose in database.purposes:
                yield _fact("allows_purpose", name, purpose)


def _others(policy: Policy) -> Iterator[str]:
    for role in policy.roles:
        yield _fact("role", role)
    for purpose in policy.purposes:
        yield _fact("purpose", purpose)
    for name, linkage in policy.linkages.items():
        yield _fact("linkage", name)
        for database in linkage.from_:
            yield _fact("link_from", name, database)


def _request(policy: Policy, name: str) -> Iterator[str]:
    request = policy.requests[name]
    yield _fact("request", name)
    yield _fact("has_role", name, request.role)
    yield _fact("has_resource", name, request.linkage)
    if request.purpose is not None:
        yield _fact("has_purpose", name, request.purpose)
    if request.requester:
        yield _fact("has_requester", name, request.requester)


TUPLE_PREDICATES = {
    "antecedent_of": (2,),
    "association_rule": (1,),
    "enforce": (2,),
    "first_antecedent": (2,),
    "has_ancestor": (2,),
    "has_tuple": (2,),
    "has_value": (2,),
    "implies": (2,),
    "last_antecedent": (2,),
    "next_antecedent": (3,),
}
"""The words of these facts, and how many terms each takes."""


@dataclass(frozen=True, eq=False)
class TupleFacts:
    """A release's tuples, reduced to what rules can tell apart.

    Tuples that show the same values of those that any association (or a site's rule) speaks
    about are one tuple to the rules: ``tuple(0)``, ``tuple(1)``, ...

    Attributes
    ----------
    alike
        Number of the rules' tuple that each released tuple is, -1 for one that shows nothing
        that any association speaks about; shape (tuples,).
    terms
        The item of each term that stands for a value, as an association says it where one does.
    """

    text: str = field(repr=False)
    alike: Ints = field(repr=False)
    terms: Mapping[str, Item] = field(repr=False)

    def of_one(self, case: int) -> str:
        """The facts without those about other tuples."""
        starts, end = f"has_value(tuple({case}),", f",tuple({case}))."
        return "\n".join(
            line
            for line in self.text.splitlines()
            if not line.startswith(("has_tuple(", "has_value("))
            or line.startswith(starts)
            or (line.startswith("has_tuple(") and line.endswith(end))
        )


def tuple_facts(
    linkage: str,
    shown: Shown,
    associations: Mapping[int, Association],
    measure: str,
    named: Sequence[Item] = (),
    every: bool = False,
) -> TupleFacts:
    """A release's tuples and the accepted associations as facts.

    Parameters
    ----------
    measure
        What is enforced for each of them: ``"generalise"`` or ``"suppress"``.
    every
        Whether a site's rules speak about tuples; if not, those are left out from which no
        association lets anything be inferred: rules 5 to 7 say nothing of them.
    """
    hierarchies = shown.hierarchies
    for number, association in associations.items():
        for item in (*association.antecedent, association.consequent):
            _check_item(item, number, hierarchies)
    sets = {name: ItemSets(hierarchy) for name, hierarchy in hierarchies.items()}

    def lowest(item: Item) -> Item:
        return sets[item.attribute].lowest(item)

    below = {
        lowest(item) for association in associations.values() for item in association.antecedent
    }
    # Values that only a site's rule names must be told apart, too, or it would never apply.
    below |= {lowest(item) for item in named if item.attribute in sets}
    follows = {lowest(association.consequent) for association in associations.values()}
    values = np.full(shown.codes.shape, -1, dtype=np.int64)
    for column, (name, items) in enumerate(sets.items()):
        # What no rule can tell apart is left out: many tuples become one, and little is grounded.
        relevant = items.at_or_below(below, name) | items.above(follows, name)
        numbers = items.numbers(shown.codes[:, column], shown.levels[:, column])
        values[:, column] = np.where((numbers >= 0) & relevant[numbers], numbers, -1)
    if not every:
        values[~_telling(values, associations, sets)] = -1
    distinct, alike = _distinct(values)
    lines = _Lines(hierarchies, sets)
    facts = [
        *lines.tuples(linkage, distinct),
        *(
            line
            for number, association in associations.items()
            for line in lines.rule(
                number, _rarest_first(association.antecedent, distinct, sets), association
            )
        ),
        *(f"enforce({measure},association({number}))." for number in associations),
        *lines.ancestors(follows, below),
    ]
    return TupleFacts("\n".join(facts), alike, lines.items)


def _check_item(item: Item, number: int, hierarchies: Mapping[str, Hierarchy]) -> None:
    hierarchy = hierarchies.get(item.attribute)
    found = None
    if hierarchy is None:
        found = f"attribute '{item.attribute}', which is none of them"
    elif not 0 <= item.level <= hierarchy.height:
        found = f"a level that attribute '{item.attribute}' does not have"
    elif not 0 <= item.label < len(hierarchy.labels[item.level]):
        found = f"a value that attribute '{item.attribute}' does not have"
    if found is not None:
        raise InputError(
            f"association {number}", "must speak about the release's attributes", found=found
        )


def _telling(
    values: Ints, associations: Mapping[int, Association], sets: Mapping[str, ItemSets]
) -> Bools:
    """Which tuples show an association's whole antecedent and an ancestor of its consequent.

    Others tell nothing that they do not show: the first thing that is inferred from a tuple
    follows from what it shows.
    """
    columns = {name: column for column, name in enumerate(sets)}
    found = np.zeros(len(values), dtype=np.bool_)
    for association in associations.values():
        # One association is enough, so tuples that have one are not looked at again.
        rows = np.flatnonzero(~found)
        leads = association.consequent
        over = sets[leads.attribute].above([sets[leads.attribute].lowest(leads)], leads.attribute)
        masks = [(columns[leads.attribute], over)]
        for item in association.antecedent:
            items = sets[item.attribute]
            below = items.at_or_below([items.lowest(item)], item.attribute)
            masks.append((columns[item.attribute], below))
        for column, mask in masks:
            shown = values[rows, column]
            rows = rows[(shown >= 0) & mask[shown]]
        found[rows] = True
    return found


def _distinct(values: Ints) -> tuple[Ints, Ints]:
    """The distinct rows with any value, and which of them each row is."""
    some = np.flatnonzero((values >= 0).any(axis=1))
    alike = np.full(len(values), -1, dtype=np.int64)
    if not len(some):
        return values[:0], alike
    distinct, inverse = np.unique(values[some], axis=0, return_inverse=True)
    alike[some] = inverse.reshape(-1)
    return distinct, alike


def _rarest_first(
    antecedent: Sequence[Item], distinct: Ints, sets: Mapping[str, ItemSets]
) -> list[Item]:
    """An antecedent with the item first that the fewest tuples show, so that little is joined."""
    columns = {name: column for column, name in enumerate(sets)}

    def showing(item: Item) -> int:
        items = sets[item.attribute]
        below = items.at_or_below([items.lowest(item)], item.attribute)
        values = distinct[:, columns[item.attribute]]
        return int((below[values] & (values >= 0)).sum())

    return sorted(antecedent, key=showing)


class _Lines:
    """Facts line by line; remembers the items that it has spoken about."""

    def __init__(self, hierarchies: Mapping[str, Hierarchy], sets: Mapping[str, ItemSets]) -> None:
        self.hierarchies = hierarchies
        self.sets = sets
        self.items: dict[str, Item] = {}
        self.shown: set[Item] = set()

    def term(self, item: Item) -> str:
        lowest = self.sets[item.attribute].lowest(item)
        term = item_term(lowest, self.hierarchies[item.attribute])
        self.items.setdefault(term, lowest)
        return term

    def tuples(self, linkage: str, distinct: Ints) -> Iterator[str]:
        """That the linkage has these tuples, and what each of them shows."""
        names = quoted(linkage)
        for number in range(len(distinct)):
            yield f"has_tuple({names},tuple({number}))."
        for column, (name, items) in enumerate(self.sets.items()):
            of_column = distinct[:, column]
            terms = {}
            for value in np.unique(of_column[of_column >= 0]).tolist():
                item = items.item(name, value)
                self.shown.add(item)
                terms[value] = self.term(item)
            for number, value in enumerate(of_column.tolist()):
                if value >= 0:
                    yield f"has_value(tuple({number}),{terms[value]})."

    def rule(
        self, number: int, antecedent: Sequence[Item], association: Association
    ) -> Iterator[str]:
        """What an association says, with its antecedent in the order in which it is looked up."""
        name = f"association({number})"
        terms = [self.term(item) for item in antecedent]
        # As the association says it, which may be at another level than the lowest.
        self.items |= dict(zip(terms, antecedent, strict=True))
        yield f"association_rule({name})."
        yield f"implies({name},{self.term(association.consequent)})."
        yield f"first_antecedent({terms[0]},{name})."
        yield f"last_antecedent({terms[-1]},{name})."
        for term in terms:
            yield f"antecedent_of({term},{name})."
        for one, following in pairwise(terms):
            yield f"next_antecedent({one},{following},{name})."

    def ancestors(self, follows: set[Item], below: set[Item]) -> Iterator[str]:
        """Which shown or following values lie below which others that matter."""
        over = {above for item in follows for above in self.sets[item.attribute].ancestors(item)}
        # Every pair of a value and an ancestor would be far more facts than rules ever ask for.
        matter = below | (self.shown & over)
        for item in sorted(self.shown | follows):
            for above in self.sets[item.attribute].ancestors(item):
                if above in matter:
                    yield f"has_ancestor({self.term(item)},{self.term(above)})."
