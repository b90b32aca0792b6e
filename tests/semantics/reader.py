"""A naive reader of releases, who thinks in sets of values; shares no code with the product."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

Value = frozenset  # of leaves; the value None is a missing one
Tuple = tuple  # of values, one per attribute


@dataclass(frozen=True)
class Tree:
    """A hierarchy as a list of paths: per leaf its labels from leaf to root."""

    paths: tuple[tuple[str, ...], ...]

    @property
    def height(self) -> int:
        return len(self.paths[0]) - 1

    def value(self, leaf: int | None, level: int) -> Value:
        """The leaves that a released value stands for."""
        if level == self.height:
            return frozenset([*range(len(self.paths)), None])
        if leaf is None:
            return frozenset([None])
        label = self.paths[leaf][level]
        return frozenset(i for i, path in enumerate(self.paths) if path[level] == label)

    def penalty(self, leaf: int | None, level: int) -> float:
        if len(self.paths) == 1:
            return 0.0
        value = self.value(leaf, level) - {None}
        return max(len(value) - 1, 0) / (len(self.paths) - 1)

    def between(self, below: Value, above: Value) -> list[Value]:
        """The values from one to the next below another."""
        values = {
            self.value(leaf, level)
            for leaf in range(len(self.paths))
            for level in range(self.height)
        }
        return [value for value in values if below <= value < above]


@dataclass(frozen=True)
class Known:
    """An association that the reader knows."""

    antecedent: tuple[tuple[int, Value], ...]
    column: int
    value: Value


def shown(trees, leaves, levels) -> Tuple:
    return tuple(t.value(leaf, level) for t, leaf, level in zip(trees, leaves, levels, strict=True))


def satisfied(known: Known, tuple_: Tuple) -> bool:
    return all(tuple_[column] <= value for column, value in known.antecedent)


def fires(known: Known, tuple_: Tuple) -> bool:
    return satisfied(known, tuple_) and known.value < tuple_[known.column]


def everything(trees, associations, tuple_: Tuple) -> set[Tuple]:
    """Every tuple that a reader may end up with, whatever it believes and in whatever order."""
    found, waiting = set(), [tuple_]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        found.add(one)
        for known in associations:
            if fires(known, one):
                waiting.extend(
                    (*one[: known.column], value, *one[known.column + 1 :])
                    for value in trees[known.column].between(known.value, one[known.column])
                )
    return found


def fired(trees, associations, tuple_: Tuple) -> list[Known]:
    reached = everything(trees, associations, tuple_)
    return [known for known in associations if any(fires(known, one) for one in reached)]


def together(releases: list[Tuple]) -> Tuple:
    """What several releases say about one person; the later one where they contradict."""
    held = list(releases[0])
    for release in releases[1:]:
        for column, value in enumerate(release):
            both = held[column] & value
            held[column] = both or value
    return tuple(held)


def matching(people: dict[int, list[dict[int, int | None]]], tuple_: Tuple) -> int:
    """How many people have a record that the tuple may be about; records by column."""
    return sum(
        any(all(leaf in tuple_[column] for column, leaf in record.items()) for record in records)
        for records in people.values()
    )


def fewest(trees, associations, locals_, tuple_: Tuple) -> list[int | None]:
    """The fewest people that the reader can be left with per local data set, if any."""
    reached = everything(trees, associations, tuple_)
    counts = [[matching(people, one) for one in reached] for people in locals_]
    return [min((c for c in each if c), default=None) for each in counts]


def holds(trees, associations, locals_, tuple_: Tuple, least: list[int]) -> bool:
    few = fewest(trees, associations, locals_, tuple_)
    return all(c is None or c >= k for c, k in zip(few, least, strict=True))


def cheapest(trees, associations, locals_, leaves, levels, k, weights):
    """Brute force over what rules 5-7 allow: the cheapest levels that hold."""
    least = [k] * len(locals_)
    reached, waiting, good = set(), [tuple(levels)], []
    while waiting:
        vector = waiting.pop()
        if vector in reached:
            continue
        reached.add(vector)
        tuple_ = shown(trees, leaves, vector)
        if holds(trees, associations, locals_, tuple_, least):
            good.append(vector)
            continue
        columns = {
            c
            for known in fired(trees, associations, tuple_)
            for c, value in known.antecedent
            if tuple_[c] <= value
        }
        waiting.extend(
            (*vector[:column], vector[column] + 1, *vector[column + 1 :])
            for column in columns
            if vector[column] < trees[column].height
        )

    def loss(vector):
        parts = zip(weights, trees, leaves, vector, strict=True)
        return sum(w * t.penalty(leaf, level) for w, t, leaf, level in parts) / sum(weights)

    return min(good, key=lambda vector: (round(loss(vector), 8), vector))


def implied(trees, rows, counts, support, confidence, length):
    """All associations in released tuples, redundant ones included, by plain counting."""
    total = sum(counts)
    every = {
        (column, tree.value(leaf, level))
        for column, tree in enumerate(trees)
        for leaf in range(len(tree.paths))
        for level in range(tree.height)
        if len(tree.value(leaf, level)) < len(tree.paths)
    }
    found = {}
    for size in range(1, length + 1):
        for antecedent in itertools.combinations(sorted(every, key=str), size):
            columns = {column for column, _ in antecedent}
            if len(columns) < size:
                continue
            showing = [all(row[c] <= v for c, v in antecedent) for row in rows]
            n_x = sum(n for n, yes in zip(counts, showing, strict=True) if yes)
            if not n_x or n_x < support * total - 1e-9:
                continue
            for column, value in every:
                if column in columns:
                    continue
                n_xy = sum(
                    n
                    for n, yes, row in zip(counts, showing, rows, strict=True)
                    if yes and row[column] <= value
                )
                if n_xy >= confidence * n_x - 1e-9:
                    key = (frozenset(antecedent), (column, value))
                    found[key] = (n_x / total, n_xy / n_x)
    return found
