"""A policy written as Turtle."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sfumato.schema.roles import IntervalHierarchy, PrefixHierarchy
from sfumato.semantics.extra import needed
from sfumato.semantics.policy.model import Database, LinkageQI, Measure, Policy
from sfumato.semantics.policy.vocabulary import NAMESPACE

if TYPE_CHECKING:
    from rdflib.term import Identifier, Node


def policy_to_turtle(policy: Policy) -> str:
    """Write a policy as Turtle text; what equals its default is left out.

    Parameters
    ----------
    policy
        The policy.

    Raises
    ------
    InputError
        If rdflib is not installed.
    """
    needed("rdflib", "a policy in RDF")
    return _Writer().write(policy)


class _Writer:
    """One graph, filled node by node."""

    def __init__(self) -> None:
        import rdflib

        self.graph = rdflib.Graph()
        self.word = rdflib.Namespace(NAMESPACE)
        self.graph.bind("sf", self.word)

    def write(self, policy: Policy) -> str:
        import rdflib

        top = rdflib.URIRef("urn:sfumato:policy")
        self.say(top, rdflib.RDF.type, self.word.Policy)
        self.declarations(top, policy)
        if policy.measure is not Measure.GENERALISE:
            self.say(top, self.word.measure, self.text(policy.measure.value))
        if policy.rules:
            self.say_list(top, "rules", [self.text(path.as_posix()) for path in policy.rules])
        for name, database in policy.databases.items():
            self.database(self.named("database", name), database)
        for name, linkage in policy.linkages.items():
            nodes = [self.named("database", each) for each in linkage.from_]
            self.say_list(self.named("linkage", name), "linkFrom", nodes)
        for name, request in policy.requests.items():
            node = self.named("request", name)
            self.say(node, self.word.hasRole, self.named("role", request.role))
            self.say(node, self.word.hasResource, self.named("linkage", request.linkage))
            if request.purpose is not None:
                self.say(node, self.word.hasPurpose, self.named("purpose", request.purpose))
            if request.requester:
                self.say(node, self.word.requester, self.text(request.requester))
        return self.graph.serialize(format="turtle")

    def declarations(self, top: Node, policy: Policy) -> None:
        for kind, names in (("role", policy.roles), ("purpose", policy.purposes)):
            nodes = [self.declared(kind, name, said) for name, said in names.items()]
            self.say_all(top, f"{kind}s", nodes)
        described = {
            "database": {name: each.description for name, each in policy.databases.items()},
            "linkage": {name: each.description for name, each in policy.linkages.items()},
            "request": dict.fromkeys(policy.requests, ""),
        }
        for kind, names in described.items():
            nodes = [self.declared(kind, name, said) for name, said in names.items()]
            self.say_all(top, f"{kind}s", nodes)

    def database(self, node: Node, database: Database) -> None:
        import rdflib

        if database.k is not None or database.quasi_identifiers:
            anonymity = rdflib.BNode()
            self.say(node, self.word.hasAnonymity, anonymity)
            if database.k is not None:
                self.say(anonymity, self.word.hasAnoReq, rdflib.Literal(database.k))
            qis = [self.quasi(name, qi) for name, qi in database.quasi_identifiers.items()]
            self.say_all(anonymity, "hasQI", qis)
        roles = [self.named("role", role) for role in database.authenticates]
        self.say_all(node, "authenticate", roles)
        if database.purposes is not None:
            purposes = [self.named("purpose", purpose) for purpose in database.purposes]
            self.say_list(node, "allowsPurpose", purposes)

    def quasi(self, name: str, qi: LinkageQI) -> Node:
        import rdflib

        node = rdflib.BNode()
        self.say(node, rdflib.RDFS.label, self.text(name))
        if qi.weight != 1.0:
            self.say(node, self.word.weight, self.number(qi.weight))
        if isinstance(qi.hierarchy, Path):
            self.say(node, self.word.hierarchy, self.text(qi.hierarchy.as_posix()))
        elif qi.hierarchy is not None:
            form = rdflib.BNode()
            self.say(node, self.word.hierarchy, form)
            self.form(form, qi.hierarchy)
        return node

    def form(self, node: Node, hierarchy: PrefixHierarchy | IntervalHierarchy) -> None:
        import rdflib

        if isinstance(hierarchy, PrefixHierarchy):
            self.say_list(node, "lengths", [rdflib.Literal(each) for each in hierarchy.lengths])
            self.say_all(node, "groups", [self.text(each) for each in hierarchy.groups])
            return
        widths = [
            self.text(each) if isinstance(each, str) else self.number(each)
            for each in hierarchy.widths
        ]
        self.say_list(node, "widths", widths)
        if hierarchy.start != 0:
            self.say(node, self.word.start, self.number(hierarchy.start))

    def named(self, kind: str, name: str) -> Node:
        """The node of a name, labelled."""
        import rdflib

        node = rdflib.URIRef(f"urn:sfumato:{kind}:{quote(name, safe='')}")
        self.say(node, rdflib.RDFS.label, self.text(name))
        return node

    def declared(self, kind: str, name: str, description: str) -> Node:
        """The node of a name that the policy declares; others are only referred to."""
        import rdflib

        node = self.named(kind, name)
        self.say(node, rdflib.RDF.type, self.word[kind.capitalize()])
        if description:
            self.say(node, rdflib.RDFS.comment, self.text(description))
        return node

    def text(self, value: str) -> Identifier:
        import rdflib

        return rdflib.Literal(value)

    def number(self, value: float) -> Identifier:
        """A decimal number: rdflib writes doubles with six digits."""
        import rdflib

        return rdflib.Literal(format(Decimal(repr(value)), "f"), datatype=rdflib.XSD.decimal)

    def say(self, node: Node, word: Node, value: Node) -> None:
        self.graph.add((node, word, value))

    def say_list(self, node: Node, word: str, values: Iterable[Any]) -> None:
        """Say a list, whose order is kept; an empty one too."""
        import rdflib
        from rdflib.collection import Collection

        items = list(values)
        if not items:
            self.say(node, self.word[word], rdflib.RDF.nil)
            return
        head = rdflib.BNode()
        Collection(self.graph, head, items)
        self.say(node, self.word[word], head)

    def say_all(self, node: Node, word: str, values: list[Any]) -> None:
        """Say a list unless it is empty."""
        if values:
            self.say_list(node, word, values)
