"""Conditional distributions of some variables given others: what a fitted model is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from sfumato.risk.population.log_linear.cells import Codes, Floats, Ints, SparseTable


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
