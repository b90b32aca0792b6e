"""Maximum likelihood fits of log-linear models with two-way terms, at any number of cells."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from sfumato.core.errors import SfumatoError
from sfumato.risk.population.log_linear.cells import Cells, Codes, Floats, Pair, SparseTable
from sfumato.risk.population.log_linear.factors import Factor, factor_of_array, factor_of_pairs
from sfumato.risk.population.log_linear.ipf import fit_atom
from sfumato.risk.population.log_linear.junction_tree import (
    Clique,
    JunctionTree,
    Node,
    junction_tree,
    table_cells,
)

Terms = frozenset[Pair]
"""The two-way terms of a model; every one-way term is in every model."""


_KEPT_CELLS = 20_000_000


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
