"""The junction tree of a model's graph: cliques, separators, and what can be fitted apart."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations
from math import log, prod
from typing import TYPE_CHECKING

from sfumato.risk.population.log_linear.cells import Pair

if TYPE_CHECKING:
    import networkx as nx

Clique = tuple[int, ...]
"""Variables, ascending."""


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
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(range(len(domains)))
    graph.add_edges_from(terms)
    chordal = graph.copy()
    chordal.add_edges_from(_fill(graph, domains))
    cliques = sorted(tuple(sorted(clique)) for clique in nx.chordal_graph_cliques(chordal))
    shared = nx.Graph()
    shared.add_nodes_from(range(len(cliques)))
    for one, other in combinations(range(len(cliques)), 2):
        common = len(set(cliques[one]) & set(cliques[other]))
        if common:
            shared.add_edge(one, other, weight=common)
    nodes = _ordered(cliques, nx.maximum_spanning_tree(shared))
    return JunctionTree(tuple(nodes), _atoms(nodes, graph))


def _fill(graph: nx.Graph, domains: tuple[int, ...]) -> list[Pair]:
    """Edges that make the graph chordal: least fill first, then the smallest clique."""
    neighbours = {node: set(graph[node]) for node in graph}
    added: list[Pair] = []

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
            added.append((a, b))
        for other in neighbours.pop(node):
            neighbours[other].discard(node)
    return added


def _ordered(cliques: list[Clique], tree: nx.Graph) -> list[Node]:
    """The cliques by depth from the first one of each part."""
    import networkx as nx

    nodes: list[Node] = []
    for part in sorted(nx.connected_components(tree), key=min):
        root = min(part)
        place = {root: len(nodes)}
        nodes.append(Node(cliques[root], (), -1))
        for above, below in nx.bfs_edges(tree, root):
            shared = tuple(v for v in cliques[below] if v in cliques[above])
            place[below] = len(nodes)
            nodes.append(Node(cliques[below], shared, place[above]))
    return nodes


def _atoms(nodes: list[Node], graph: nx.Graph) -> tuple[tuple[int, ...], ...]:
    """The parts that stay when the tree is cut at every separator that is fitted exactly."""
    atom_of: list[int] = []
    members: list[list[int]] = []
    for position, node in enumerate(nodes):
        separator = node.separator
        exact = len(separator) < 2 or (len(separator) == 2 and graph.has_edge(*separator))
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
