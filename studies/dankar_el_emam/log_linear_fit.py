"""Maximum likelihood fits of log-linear models with two-way terms, at any number of cells."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import log, prod

import numpy as np

from sfumato.core.arrays import Codes, Floats, Ints
from sfumato.core.errors import SfumatoError
from studies.dankar_el_emam.contingency_table import Cells, Pair, SparseTable

Clique = tuple[int, ...]
"""Variables, ascending."""
_SWEEPS = 1_000
"""Rounds of proportional fitting, at most."""
Terms = frozenset[Pair]
"""The two-way terms of a model; every one-way term is in every model."""
_KEPT_CELLS = 20_000_000
"""Cells of fitted tables that are kept for the models that share them."""


@dataclass(frozen=True)
class Node:
    """A clique of the triangulated graph, below the cliques before it.

    Attributes
    ----------
    clique
        Its variables.
    separator
        Those that it shares with its parent; empty for a root.
    parent
        Position of its parent in the tree, -1 for a root.
    """

    clique: Clique
    separator: Clique
    parent: int


@dataclass(frozen=True)
class JunctionTree:
    """The cliques of a triangulation of a model's graph, every parent before its children.

    Attributes
    ----------
    nodes
        The cliques.
    atoms
        Positions of the cliques that must be fitted together. Two atoms meet in a separator
        whose margin the model fits exactly (a variable, or a two-way term of the model), so that
        the maximum likelihood fit is the product of the atoms' fits over the separators' margins
        (Lauritzen 1996, Graphical Models, Section 4.4). An atom of one clique with one or two
        variables is its observed margin.
    """

    nodes: tuple[Node, ...]
    atoms: tuple[tuple[int, ...], ...]


def junction_tree(domains: tuple[int, ...], terms: Collection[Pair]) -> JunctionTree:
    """The junction tree of a model with all one-way and some two-way terms.

    Parameters
    ----------
    domains
        Number of values of each variable.
    terms
        The two-way terms.
    """
    neighbours: dict[int, set[int]] = {variable: set() for variable in range(len(domains))}
    for one, other in terms:
        neighbours[one].add(other)
        neighbours[other].add(one)
    nodes = _ordered(_cliques(neighbours, domains))
    return JunctionTree(tuple(nodes), _atoms(nodes, {frozenset(term) for term in terms}))


def _cliques(neighbours: dict[int, set[int]], domains: tuple[int, ...]) -> list[Clique]:
    """The cliques of the graph made chordal: least fill first, then the smallest clique.

    Each variable is eliminated with those around it, which are joined to each other first
    (Lauritzen 1996, Section 4.4); the graph of the neighbours is used up.
    """
    found: list[set[int]] = []

    def missing(node: int) -> list[Pair]:
        around = sorted(neighbours[node])
        return [(a, b) for a, b in combinations(around, 2) if b not in neighbours[a]]

    def cost(node: int) -> tuple[int, float, int]:
        cells = log(domains[node]) + sum(log(domains[other]) for other in neighbours[node])
        return len(missing(node)), cells, node

    while neighbours:
        node = min(neighbours, key=cost)
        for a, b in missing(node):
            neighbours[a].add(b)
            neighbours[b].add(a)
        around = neighbours.pop(node)
        for other in around:
            neighbours[other].discard(node)
        if not any(clique.issuperset({node, *around}) for clique in found):
            found.append({node, *around})
    return sorted(tuple(sorted(clique)) for clique in found)


def _ordered(cliques: list[Clique]) -> list[Node]:
    """The cliques by depth from the first one of each part of a tree of the largest separators."""
    shared = {
        (one, other): tuple(v for v in cliques[other] if v in cliques[one])
        for one, other in combinations(range(len(cliques)), 2)
    }
    part = list(range(len(cliques)))
    beside: list[list[int]] = [[] for _ in cliques]
    for one, other in sorted(shared, key=lambda pair: -len(shared[pair])):
        if shared[one, other] and part[one] != part[other]:  # Kruskal's algorithm
            beside[one].append(other)
            beside[other].append(one)
            part = [part[one] if each == part[other] else each for each in part]
    nodes: list[Node] = []
    place: dict[int, int] = {}
    for root in range(len(cliques)):
        if root in place:
            continue
        waiting = deque([(root, -1)])
        while waiting:
            clique, above = waiting.popleft()
            if clique in place:
                continue
            separator = () if above < 0 else shared[min(clique, above), max(clique, above)]
            place[clique] = len(nodes)
            nodes.append(Node(cliques[clique], separator, -1 if above < 0 else place[above]))
            waiting.extend((other, clique) for other in beside[clique])
    return nodes


def _atoms(nodes: list[Node], terms: set[frozenset[int]]) -> tuple[tuple[int, ...], ...]:
    """The parts that stay when the tree is cut at every separator that is fitted exactly."""
    atom_of: list[int] = []
    members: list[list[int]] = []
    for position, node in enumerate(nodes):
        separator = node.separator
        exact = len(separator) < 2 or frozenset(separator) in terms
        if node.parent < 0 or exact:
            atom_of.append(len(members))
            members.append([])
        else:
            atom_of.append(atom_of[node.parent])
        members[atom_of[-1]].append(position)
    return tuple(map(tuple, members))


def table_cells(domains: tuple[int, ...], clique: Clique) -> int:
    """Number of cells of a clique's table.

    Parameters
    ----------
    domains
        Number of values of each variable.
    clique
        Its variables.
    """
    return prod(domains[variable] for variable in clique)


@dataclass(frozen=True, eq=False)
class Factor:
    """The distribution of variables given others, at the combinations that can occur.

    Attributes
    ----------
    given
        The variables of the condition; empty for a root.
    of
        The variables that it is the distribution of.
    domains
        Number of values of ``given`` and of ``of``, in this order.
    keys
        Packed codes (given first) of ``probabilities``, ascending; ``None`` where that holds
        every combination.
    probabilities
        Of each combination; those of one condition add up to 1, or to 0 where the condition
        cannot occur.
    """

    given: tuple[int, ...]
    of: tuple[int, ...]
    domains: tuple[int, ...]
    keys: Ints | None
    probabilities: Floats = field(repr=False)

    def at(self, codes: Codes) -> Floats:
        """Its probability at each cell, 0 where the cell cannot occur.

        Parameters
        ----------
        codes
            Code of every variable of the model, shape (cells, variables).
        """
        packed = self._pack(codes, (*self.given, *self.of))
        if self.keys is None:
            return self.probabilities[packed]
        place = np.minimum(np.searchsorted(self.keys, packed), len(self.keys) - 1)
        return np.where(self.keys[place] == packed, self.probabilities[place], 0.0)

    def draw(self, codes: Codes, uniforms: Floats) -> Floats:
        """Write draws of ``of`` into cells whose ``given`` is written already.

        Parameters
        ----------
        codes
            Code of every variable of the model, shape (cells, variables); written to.
        uniforms
            A number in [0, 1) for each cell.

        Returns
        -------
        Floats
            The probability of what was drawn.
        """
        condition = self._pack(codes, self.given)
        low, high = self._starts[condition], self._starts[condition + 1]
        before = self._cumulative[low]
        wanted = before + uniforms * (self._cumulative[high] - before)
        place = np.searchsorted(self._cumulative, wanted, side="right") - 1
        place = np.clip(place, low, high - 1)
        packed = place - low if self.keys is None else self.keys[place] % self._width
        for variable, domain in zip(
            reversed(self.of), reversed(self.domains[len(self.given) :]), strict=True
        ):
            rest = packed // domain
            codes[:, variable] = packed - rest * domain
            packed = rest
        return self.probabilities[place]

    @property
    def _width(self) -> int:
        return prod(self.domains[len(self.given) :])

    @cached_property
    def _starts(self) -> Ints:
        """Where the combinations of each condition begin, and where the last one ends."""
        bounds = np.arange(prod(self.domains[: len(self.given)]) + 1) * self._width
        return bounds if self.keys is None else np.searchsorted(self.keys, bounds)

    @cached_property
    def _cumulative(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.probabilities)])

    def _pack(self, codes: Codes, variables: tuple[int, ...]) -> Ints:
        packed = np.zeros(len(codes), dtype=np.int64)
        for variable, domain in zip(variables, self.domains, strict=False):
            packed *= domain
            packed += codes[:, variable]
        return packed


def factor_of_array(table: Floats, variables: tuple[int, ...], given: tuple[int, ...]) -> Factor:
    """The factor that a margin gives.

    Parameters
    ----------
    table
        Fitted counts, an axis per variable.
    variables
        The variables of its axes.
    given
        The variables of the condition.
    """
    of = tuple(variable for variable in variables if variable not in given)
    turned = np.transpose(table, [variables.index(variable) for variable in (*given, *of)])
    rows = prod(turned.shape[: len(given)])
    flat = turned.reshape(rows, -1)
    total = flat.sum(axis=1, keepdims=True)
    shares = np.divide(flat, total, out=np.zeros_like(flat), where=total > 0)
    return Factor(given, of, turned.shape, None, shares.ravel())


def factor_of_pairs(
    table: SparseTable, pair: tuple[int, int], domains: tuple[int, int], given: tuple[int, ...]
) -> Factor:
    """The factor that a large two-way margin gives.

    Parameters
    ----------
    table
        Its positive cells.
    pair
        The two variables.
    domains
        Number of values of each.
    given
        The variables of the condition: none, or one of the two.
    """
    first, second, counts = table.first, table.second, table.counts
    if given == pair[1:]:
        order = np.argsort(second, kind="stable")
        first, second, counts = second[order], first[order], counts[order]
        pair, domains = pair[::-1], domains[::-1]
    keys = first.astype(np.int64) * domains[1] + second
    if not given:
        return Factor((), pair, domains, keys, counts / counts.sum())
    total = np.bincount(first, weights=counts)
    return Factor(pair[:1], pair[1:], domains, keys, counts / total[first])


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


class TooManyCellsError(SfumatoError):
    """A model cannot be fitted, because a clique of its graph has too many cells."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model: n times a product of conditional distributions along its junction tree.

    Attributes
    ----------
    n
        Number of persons of the sample.
    factors
        One per clique, parents first.
    """

    n: float
    factors: tuple[Factor, ...]

    def means(self, codes: Codes) -> Floats:
        """μ, the fitted number of persons of the sample in each cell.

        Parameters
        ----------
        codes
            Code of every variable, shape (cells, variables).
        """
        product = np.full(len(codes), self.n)
        for factor in self.factors:
            product *= factor.at(codes)
        return product

    def draw(self, uniforms: Floats) -> tuple[Codes, Floats]:
        """Cells drawn from the fitted model, each with probability μ / n.

        Parameters
        ----------
        uniforms
            Numbers in [0, 1), shape (at least as many as variables, draws).

        Returns
        -------
        tuple[Codes, Floats]
            Code of every variable, shape (draws, variables), and μ of each drawn cell.
        """
        variables = sum(len(factor.of) for factor in self.factors)
        codes = np.zeros((uniforms.shape[1], variables), dtype=np.int32, order="F")
        means = np.full(len(codes), self.n)
        for factor, column in zip(self.factors, uniforms, strict=False):
            means *= factor.draw(codes, column)
        return codes, means


class Fitter:
    """Fits models to one sample, and keeps what models share.

    Parameters
    ----------
    cells
        The observed cells.
    limit
        Largest table of a clique that is filled, in cells; a margin of one or two variables that
        is fitted exactly needs none.
    tolerance
        Largest difference of a fitted margin from the observed one, in persons.
    """

    def __init__(self, cells: Cells, limit: int, tolerance: float = 1e-3) -> None:
        self.cells = cells
        self._limit = limit
        self._tolerance = tolerance
        self._atoms: dict[tuple[frozenset[Clique], Terms], dict[Clique, Floats]] = {}

    def feasible(self, terms: Collection[Pair]) -> bool:
        """Whether the tables that a model needs filled are within the limit.

        Parameters
        ----------
        terms
            The model's two-way terms.
        """
        tree = junction_tree(self.cells.domains, terms)
        return self._cost(tree) <= self._limit

    def fit(self, terms: Collection[Pair]) -> Fitted:
        """The maximum likelihood fit of a model.

        Parameters
        ----------
        terms
            The model's two-way terms.

        Raises
        ------
        TooManyCellsError
            If a table would be larger than the limit.
        """
        tree = junction_tree(self.cells.domains, terms)
        if self._cost(tree) > self._limit:
            raise TooManyCellsError("a clique of the model has too many cells to be filled")
        factors: dict[int, Factor] = {}
        for atom in tree.atoms:
            nodes = [tree.nodes[position] for position in atom]
            tables = self._tables(nodes, frozenset(terms))
            for position, node in zip(atom, nodes, strict=True):
                factors[position] = self._factor(node, tables)
        ordered = tuple(factors[position] for position in range(len(tree.nodes)))
        return Fitted(self.cells.n, ordered)

    def _cost(self, tree: JunctionTree) -> int:
        """Cells of the tables that have to be filled."""
        return sum(
            table_cells(self.cells.domains, tree.nodes[position].clique)
            for atom in tree.atoms
            for position in atom
            if not _observed([tree.nodes[place] for place in atom])
        )

    def _tables(self, nodes: list[Node], terms: Terms) -> dict[Clique, Floats]:
        """The fitted margins of an atom's cliques; none where they are observed margins."""
        if _observed(nodes):
            return {}
        cliques = frozenset(node.clique for node in nodes)
        inside = frozenset(term for term in terms if any(set(term) <= set(c) for c in cliques))
        if (cliques, inside) not in self._atoms:
            if len(self._atoms) * self._limit > _KEPT_CELLS:
                self._atoms.clear()
            variables = {variable for clique in cliques for variable in clique}
            self._atoms[cliques, inside] = fit_atom(
                nodes,
                {variable: self.cells.single(variable) for variable in variables},
                {term: self._dense(term) for term in sorted(inside)},
                self._tolerance,
            )
        return self._atoms[cliques, inside]

    def _dense(self, term: Pair) -> Floats:
        table = self.cells.pair(term)
        if not isinstance(table, SparseTable):
            return table
        filled = np.zeros([self.cells.domains[variable] for variable in term])
        filled[table.first, table.second] = table.counts
        return filled

    def _factor(self, node: Node, tables: dict[Clique, Floats]) -> Factor:
        clique, given = node.clique, node.separator
        if clique in tables:
            return factor_of_array(tables[clique], clique, given)
        if len(clique) == 1:
            return factor_of_array(self.cells.single(clique[0]), clique, given)
        first, second = clique
        table = self.cells.pair((first, second))
        if not isinstance(table, SparseTable):
            return factor_of_array(table, clique, given)
        domains = (self.cells.domains[first], self.cells.domains[second])
        return factor_of_pairs(table, (first, second), domains, given)


def _observed(nodes: list[Node]) -> bool:
    """Whether an atom's fit is an observed margin."""
    return len(nodes) == 1 and len(nodes[0].clique) <= 2
