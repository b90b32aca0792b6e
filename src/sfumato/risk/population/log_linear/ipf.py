"""Iterative proportional fitting of two-way margins, on one table or along a junction tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from sfumato.risk.population.log_linear.cells import Floats, Pair
from sfumato.risk.population.log_linear.junction_tree import Clique, Node

_SWEEPS = 1_000


@dataclass
class _Bag:
    """A clique's table on its way to the fit, and the margins that it has to meet.

    ``clique`` has the order of the table's axes, the longest last. ``separator`` is the margin
    that it shared with its parent when they last met.
    """

    clique: Clique
    table: Floats
    targets: list[tuple[Pair, Floats]]
    parent: int
    shared: Clique
    separator: Floats


def fit_atom(
    nodes: Sequence[Node],
    singles: Mapping[int, Floats],
    targets: Mapping[Pair, Floats],
    tolerance: float,
) -> dict[Clique, Floats]:
    """The fitted margins of the cliques of one atom of a model.

    Each table is always the margin, on its clique, of one joint table that is nowhere formed: an
    update of a two-way margin changes the table of one clique, and the others learn of it on a
    walk along the tree (Jiroušek and Přeučil 1995, Computational Statistics & Data Analysis
    19:177-189).

    Parameters
    ----------
    nodes
        The cliques, parents first; the first one's separator may lie outside, any other's parent
        is the node before it that holds its separator.
    singles
        The observed one-way margin of each variable.
    targets
        The observed two-way margin of each term.
    tolerance
        Stop when no margin differs by more, in persons.

    Returns
    -------
    dict[Clique, Floats]
        The fitted margin of each clique, an axis per variable in ascending order.
    """
    bags = _start(nodes, singles, targets)
    below: list[list[int]] = [[] for _ in bags]
    for position, bag in enumerate(bags[1:], start=1):
        below[bag.parent].append(position)

    def visit(position: int, fitting: bool) -> float:
        bag = bags[position]
        worst = _update(bag) if fitting else 0.0
        for child in below[position]:
            _pass_on(bag, bags[child], bags[child])
            worst = max(worst, visit(child, fitting))
            _pass_on(bags[child], bag, bags[child])
            if fitting:
                worst = max(worst, _update(bag))
        return worst

    for _ in range(_SWEEPS):
        if visit(0, fitting=True) <= tolerance:
            break
    visit(0, fitting=False)
    return dict(_in_order(bag) for bag in bags)


def _start(
    nodes: Sequence[Node], singles: Mapping[int, Floats], targets: Mapping[Pair, Floats]
) -> list[_Bag]:
    """The cliques' tables under independence, each term at the smallest clique that holds it."""
    bags = []
    for position, node in enumerate(nodes):
        shared = node.separator if position else ()
        parent = next((i for i in range(position) if set(shared) <= set(nodes[i].clique)), -1)
        axes = tuple(sorted(node.clique, key=lambda variable: len(singles[variable])))
        table = _independent(axes, singles)
        met = tuple(variable for variable in axes if variable in shared)
        bags.append(_Bag(axes, table, [], parent, met, _margin(table, axes, met)))
    for term, target in targets.items():
        bag = min(
            (bag for bag in bags if set(term) <= set(bag.clique)), key=lambda bag: bag.table.size
        )
        turn = bag.clique.index(term[0]) > bag.clique.index(term[1])
        bag.targets.append((term[::-1], target.T) if turn else (term, target))
    return bags


def _in_order(bag: _Bag) -> tuple[Clique, Floats]:
    clique = tuple(sorted(bag.clique))
    return clique, np.transpose(bag.table, [bag.clique.index(variable) for variable in clique])


def _independent(clique: Clique, singles: Mapping[int, Floats]) -> Floats:
    """The table of independent variables."""
    table = singles[clique[0]]
    for variable in clique[1:]:
        table = np.multiply.outer(table, singles[variable] / singles[variable].sum())
    return np.array(table)


def _update(bag: _Bag) -> float:
    """Fit a clique's terms once; the largest difference that was found, in persons."""
    worst = 0.0
    for term, target in bag.targets:
        margin = _margin(bag.table, bag.clique, term)
        worst = max(worst, float(np.abs(margin - target).max()))
        _scale(bag.table, bag.clique, term, target, margin)
    return worst


def _pass_on(source: _Bag, target: _Bag, child: _Bag) -> None:
    """Tell a neighbour what has become of the margin that both share; ``child`` is one of them."""
    margin = _margin(source.table, source.clique, child.shared)
    _scale(target.table, target.clique, child.shared, margin, child.separator)
    child.separator = margin


def _margin(table: Floats, clique: Clique, variables: Clique) -> Floats:
    """The margin of some variables of a table, in the order of its axes."""
    axes = [axis for axis, variable in enumerate(clique) if variable in variables]
    if not axes:
        return np.asarray(table.sum())
    first, last = axes[0], axes[-1] + 1
    kept = table.shape[first:last]
    inner = table.reshape(-1, prod(table.shape[last:]))
    summed = inner[:, 0] if inner.shape[1] == 1 else inner @ np.ones(inner.shape[1])
    outer = summed.reshape(prod(table.shape[:first]), -1)
    summed = outer[0] if len(outer) == 1 else np.ones(len(outer)) @ outer
    between = tuple(axis - first for axis in range(first, last) if axis not in axes)
    return np.asarray(summed.reshape(kept).sum(axis=between))


def _scale(table: Floats, clique: Clique, variables: Clique, new: Floats, old: Floats) -> None:
    """Multiply a table by new / old of a margin, in place; 0 / 0 is 0."""
    ratio = np.divide(new, old, out=np.zeros_like(new), where=old > 0)
    lengths = zip(clique, table.shape, strict=True)
    table *= ratio.reshape([length if v in variables else 1 for v, length in lengths])
