"""A policy as RDF, both ways."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.schema.roles import IntervalHierarchy, PrefixHierarchy
from sfumato.semantics.policy_terms import NAMESPACE, WORDS, Database, LinkageQI, Measure, Policy

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Identifier, Node


def policy_from_turtle(text: str, subject: str) -> Policy:
    """Read a policy from Turtle text.

    Lists keep their order; several objects without a list are taken in the order of their
    labels, and so is what has a class of the vocabulary and is in no list of the policy.

    Parameters
    ----------
    subject
        What an error is about: ``"policy file policy.ttl"``.

    Raises
    ------
    InputError
        If rdflib is not installed, or the text is not Turtle, uses a word that the vocabulary
        does not have, leaves out a label, or breaks a rule of `Policy`.
    """
    needed("rdflib", extra="semantics", by="a policy in RDF")
    with _quiet():
        return Policy(**_Reader(_parsed(text, subject), subject).fields())


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep rdflib from printing what it reads."""
    logger = logging.getLogger("rdflib")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _parsed(text: str, subject: str) -> Graph:
    from rdflib import Graph
    from rdflib.exceptions import ParserError
    from rdflib.plugins.parsers.notation3 import BadSyntax

    graph = Graph()
    try:
        graph.parse(data=text, format="turtle", publicID="policy:///")
    except BadSyntax as error:
        line = getattr(error, "lines", None)
        found = "an error" if line is None else f"an error in line {line + 1}"
        raise InputError(subject, "must be Turtle", found=found) from None
    except (ParserError, ValueError, RecursionError):
        raise InputError(subject, "must be Turtle") from None
    for word in graph.predicates(unique=True):
        name = str(word).removeprefix(NAMESPACE)
        if name != str(word) and name not in WORDS:
            raise InputError(
                subject,
                "must use the words of the vocabulary",
                found=f"sf:{name}",
                advice="docs/policy.md lists them",
            )
    return graph


class _Reader:
    """One graph, read node by node."""

    def __init__(self, graph: Graph, subject: str) -> None:
        from rdflib import Namespace

        self.graph = graph
        self.subject = subject
        self.word = Namespace(NAMESPACE)

    def fields(self) -> dict[str, Any]:
        from rdflib import RDF

        tops = list(self.graph.subjects(RDF.type, self.word.Policy))
        if len(tops) > 1:
            raise InputError(self.subject, "must hold one policy", found=f"{len(tops)} of them")
        top = tops[0] if tops else None
        fields: dict[str, Any] = {
            "rules": [self.text(node) for node in self.many(top, "rules")],
            "roles": self.described(top, "roles", "Role"),
            "purposes": self.described(top, "purposes", "Purpose"),
            "databases": self.entries(top, "databases", "Database", self.database),
            "linkages": self.entries(top, "linkages", "Linkage", self.linkage),
            "requests": self.entries(top, "requests", "Request", self.request),
        }
        measure = self.one(top, "measure")
        return fields if measure is None else {**fields, "measure": self.text(measure)}

    def nodes(self, top: Node | None, listed: str, kind: str) -> dict[str, Node]:
        """The nodes by label: those that the policy lists, then others of the class."""
        from rdflib import RDF

        rest = self.graph.subjects(RDF.type, self.word[kind])
        nodes = [*self.many(top, listed), *sorted(rest, key=self._order)]
        found: dict[str, Node] = {}
        for node in nodes:
            name = self.label(node)
            if found.setdefault(name, node) != node:
                raise InputError(
                    self.subject, "must name each thing once", found=f"two {kind}s named '{name}'"
                )
        return found

    def described(self, top: Node | None, listed: str, kind: str) -> dict[str, str]:
        nodes = self.nodes(top, listed, kind)
        return {name: self.comment(node) for name, node in nodes.items()}

    def entries(
        self, top: Node | None, listed: str, kind: str, read: Callable[[Node], dict[str, Any]]
    ) -> dict[str, Any]:
        return {name: read(node) for name, node in self.nodes(top, listed, kind).items()}

    def database(self, node: Node) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "authenticates": [self.label(role) for role in self.many(node, "authenticate")],
            "description": self.comment(node),
        }
        if self.one(node, "allowsPurpose", lists=True) is not None:
            allowed = self.many(node, "allowsPurpose")
            fields["purposes"] = [self.label(purpose) for purpose in allowed]
        anonymity = self.one(node, "hasAnonymity")
        if anonymity is not None:
            fields["k"] = self.number(anonymity, "hasAnoReq")
            fields["quasi_identifiers"] = {
                self.label(qi): self.quasi(qi) for qi in self.many(anonymity, "hasQI")
            }
        return fields

    def quasi(self, node: Node) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        weight = self.number(node, "weight")
        if weight is not None:
            fields["weight"] = weight
        form = self.one(node, "hierarchy")
        if form is not None:
            fields["hierarchy"] = self.hierarchy(form)
        return fields

    def hierarchy(self, node: Node) -> Any:
        from rdflib import Literal

        if isinstance(node, Literal):
            return self.text(node)
        lengths, widths = self.many(node, "lengths"), self.many(node, "widths")
        if lengths:
            groups = [self.text(each) for each in self.many(node, "groups")]
            return {"lengths": [_plain(each) for each in lengths], "groups": groups}
        start = self.number(node, "start")
        fields: dict[str, Any] = {"widths": [_plain(each) for each in widths]}
        return fields if start is None else {**fields, "start": start}

    def linkage(self, node: Node) -> dict[str, Any]:
        names = [self.label(database) for database in self.many(node, "linkFrom")]
        return {"from": names, "description": self.comment(node)}

    def request(self, node: Node) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for field, word in (("role", "hasRole"), ("linkage", "hasResource")):
            value = self.one(node, word)
            if value is not None:
                fields[field] = self.label(value)
        purpose, requester = self.one(node, "hasPurpose"), self.one(node, "requester")
        if purpose is not None:
            fields["purpose"] = self.label(purpose)
        if requester is not None:
            fields["requester"] = self.text(requester)
        return fields

    def many(self, node: Node | None, word: str) -> list[Node]:
        """The objects of a word, lists in their order, others in that of their labels."""
        from rdflib import RDF
        from rdflib.collection import Collection

        found: list[Node] = []
        single: list[Node] = []
        if node is None:
            return found
        for value in self.graph.objects(node, self.word[word]):
            if value == RDF.nil or (value, RDF.first, None) in self.graph:
                try:
                    found += list(Collection(self.graph, value))
                except ValueError:
                    raise self.wrong(word, "one list", "a list that contains itself") from None
            else:
                single.append(value)
        return found + sorted(single, key=self._order)

    def one(self, node: Node | None, word: str, *, lists: bool = False) -> Node | None:
        """The one object of a word, or none."""
        values = [] if node is None else list(self.graph.objects(node, self.word[word]))
        if len(values) > 1 and not lists:
            raise self.wrong(word, "once", f"{len(values)} values")
        return values[0] if values else None

    def number(self, node: Node, word: str) -> Any:
        value = self.one(node, word)
        return None if value is None else _plain(value)

    def text(self, node: Node) -> str:
        from rdflib import Literal

        if not isinstance(node, Literal):
            raise InputError(
                self.subject, "must have text between quotes for names and paths", found="a node"
            )
        return str(node)

    def label(self, node: Node) -> str:
        from rdflib import RDFS

        labels = sorted(str(each) for each in self.graph.objects(node, RDFS.label))
        if len(labels) != 1:
            raise InputError(
                self.subject,
                "must have one rdfs:label for whatever it speaks about",
                found="none" if not labels else f"{len(labels)} of one node",
            )
        return labels[0]

    def comment(self, node: Node) -> str:
        from rdflib import RDFS

        return " ".join(sorted(str(each) for each in self.graph.objects(node, RDFS.comment)))

    def wrong(self, word: str, rule: str, found: str) -> InputError:
        return InputError(self.subject, f"must say sf:{word} as {rule}", found=found)

    def _order(self, node: Node) -> tuple[str, str]:
        from rdflib import RDFS

        return str(next(self.graph.objects(node, RDFS.label), "")), str(node)


def _plain(node: Node) -> Any:
    """A number, or the text of what is none; decimals as floats."""
    from rdflib import Literal

    value = node.toPython() if isinstance(node, Literal) else None
    if isinstance(value, Decimal):
        return float(value)
    return value if isinstance(value, (int, float)) else str(node)


def policy_to_turtle(policy: Policy) -> str:
    """Write a policy as Turtle text; what equals its default is left out.

    Raises
    ------
    InputError
        If rdflib is not installed.
    """
    needed("rdflib", extra="semantics", by="a policy in RDF")
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
