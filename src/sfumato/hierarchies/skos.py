"""Hierarchies as SKOS in Turtle, read and written without loss."""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.hierarchies.code_lists import CodeList, read_text
from sfumato.hierarchies.hierarchy import Hierarchy

SKOS = "http://www.w3.org/2004/02/skos/core#"
OWN = "urn:sfumato:hierarchy#"
"""Properties beside SKOS: ``height`` and ``floor`` of a scheme, ``place`` of a concept.

A place is ``level/position``, both from 0; a concept that stands at several levels has several.
"""
BASE = "urn:sfumato:codes:"
_PLACE = re.compile(r"([0-9]{1,9})/([0-9]{1,9})")


def _rdflib() -> Any:
    """The package rdflib, which is an extra and takes long to load."""
    return needed("rdflib", extra="semantics", by="a hierarchy in Turtle")


def read_skos(
    path: str | os.PathLike[str], *, scheme: str | None = None, language: str = "en"
) -> CodeList:
    """Read a code list from a file in Turtle.

    A concept without narrower ones is a leaf; ``skos:broader`` and ``skos:narrower`` make the
    levels, counted from the top; a leaf whose branch has fewer levels repeats its code. Concepts
    show their ``skos:notation``, those without one their ``skos:prefLabel``. Leaves are in the
    order of what they show, in a file that `write_skos` wrote in their own.

    Parameters
    ----------
    path
        The file, in UTF-8.
    scheme
        The IRI of the concept scheme to read; needed where the file has several.
    language
        The language of the names, where there are several.
    """
    found = _Graph(Path(path), language).scheme(scheme)
    found.check_cycles()
    names = {found.texts[concept]: name for concept, name in found.names.items()}
    stated = found.height is not None
    return CodeList(found.at_stated_places() if stated else found.from_chains(), names)


@dataclass(frozen=True)
class _Scheme:
    """The concepts of one scheme, by their IRI: what each shows, its name, parent and places.

    A file of `write_skos` states the height, and the places of all concepts.
    """

    subject: str
    texts: dict[str, str]
    names: dict[str, str]
    broader: dict[str, str]
    places: dict[str, list[str]]
    height: int | None
    floor: int

    def check_cycles(self) -> None:
        """Refuse a concept that is its own ancestor."""
        finished: set[str] = set()
        for start in self.texts:
            path: dict[str, None] = {}
            concept: str | None = start
            while concept is not None and concept not in finished:
                if concept in path:
                    raise InputError(
                        self.subject,
                        "must not have a concept above itself",
                        found=f"a cycle through '{self.texts[concept]}'",
                        advice="remove one of the skos:broader links on it",
                    )
                path[concept] = None
                concept = self.broader.get(concept)
            # What leads to the top once need not be followed again: O(concepts) in all.
            finished.update(path)

    def from_chains(self) -> Hierarchy:
        """Levels counted from the top, each leaf repeated where its branch has fewer."""
        inner = set(self.broader.values())
        chains = []
        for leaf in sorted(self.texts.keys() - inner, key=lambda each: self.texts[each]):
            chain = [leaf]
            while chain[-1] in self.broader:
                chain.append(self.broader[chain[-1]])
            chains.append(chain)
        depth = max(len(chain) for chain in chains)
        # Filled at the leaf's end, so that branches of other depths share the levels from the top.
        full = [[chain[0]] * (depth - len(chain)) + chain for chain in chains]
        columns = []
        for column in zip(*full, strict=True):
            counted = Counter(self.texts[each] for each in set(column))
            twice = next((text for text, count in counted.items() if count > 1), None)
            if twice is not None:
                raise InputError(
                    self.subject,
                    "must have each code at one place",
                    found=f"several concepts that show '{twice}'",
                    advice="give each its own skos:notation",
                )
            columns.append([self.texts[each] for each in column])
        return Hierarchy.from_columns(columns, self.subject)

    def at_stated_places(self) -> Hierarchy:
        """The hierarchy whose concepts all state their levels and positions."""
        height = self.height or 0
        levels: list[dict[int, str]] = [{} for _ in range(height + 1)]
        positions: dict[tuple[str, int], int] = {}
        for concept, places in self.places.items():
            for place in places:
                parts = _PLACE.fullmatch(place)
                # A place that cannot be read gets a level that there is not, and so the same error.
                level, position = (int(parts[1]), int(parts[2])) if parts else (height + 1, 0)
                if level > height or position in levels[level]:
                    raise self._unfit_place(concept)
                levels[level][position] = concept
                positions[concept, level] = position
        for level, concepts in enumerate(levels):
            if len(concepts) and max(concepts) >= len(concepts):
                raise InputError(
                    self.subject,
                    "must have a concept at every place",
                    found=f"a gap at level {level}",
                )
        ancestors = np.empty((height + 1, len(levels[0])), dtype=np.int32)
        for leaf_position, leaf in levels[0].items():
            above: str | None = leaf
            for level in range(height + 1):
                # A concept that stands at several levels is
                # passed through at each before its parent.
                while above is not None and (above, level) not in positions:
                    above = self.broader.get(above)
                if above is None:
                    raise self._unfit_place(leaf)
                ancestors[level, leaf_position] = positions[above, level]
        labels = tuple(
            tuple(self.texts[concepts[position]] for position in range(len(concepts)))
            for concepts in levels
        )
        return Hierarchy(labels[0], labels, ancestors, self.floor)

    def _unfit_place(self, concept: str) -> InputError:
        return InputError(
            self.subject,
            "must have places that fit the broader concepts",
            found=f"others at '{self.texts[concept]}'",
            advice="remove sfumato:height and sfumato:place, so that the levels are counted from "
            "the top",
        )


class _Graph:
    """The triples of a file in Turtle."""

    def __init__(self, path: Path, language: str) -> None:
        self._subject = f"hierarchy file {path.name}"
        self._library, self._language = _rdflib(), language
        text = read_text(path, self._subject, "Turtle")
        from rdflib.plugins.parsers.notation3 import BadSyntax

        try:
            self._triples = self._library.Graph().parse(data=text, format="turtle")
        except BadSyntax as error:
            raise InputError(
                self._subject, "must be Turtle", found=f"an error in line {error.lines + 1}"
            ) from None

    def scheme(self, iri: str | None) -> _Scheme:
        """The concepts of the scheme with this IRI, or of the only one."""
        scheme = self._scheme_of(iri)
        links = set(self._triples.subject_objects(self._term("broader")))
        narrower = self._triples.subject_objects(self._term("narrower"))
        # SKOS lets a file state either direction, as the one follows from the other.
        links |= {(lower, upper) for upper, lower in narrower}
        concepts = self._concepts(links, scheme)
        texts, names, places = {}, {}, {}
        # A graph has no order: sorted, errors and hierarchies are the same each time.
        for concept in sorted(concepts):
            texts[str(concept)], name = self._text_and_name(concept)
            if name is not None:
                names[str(concept)] = name
            stated = self._triples.objects(concept, self._term("place", OWN))
            places[str(concept)] = [str(place) for place in stated]
        broader: dict[str, str] = {}
        for lower, upper in sorted(links):
            if lower not in concepts or upper not in concepts:
                continue
            if broader.setdefault(str(lower), str(upper)) != str(upper):
                raise InputError(
                    self._subject,
                    "must give each concept one broader concept",
                    found=f"several of '{texts[str(lower)]}'",
                    advice="keep one parent, or make a code of its own below each",
                )
        height, floor = self._number(scheme, "height"), self._number(scheme, "floor")
        return _Scheme(self._subject, texts, names, broader, places, height, floor or 0)

    def _term(self, name: str, namespace: str = SKOS) -> Any:
        return self._library.URIRef(f"{namespace}{name}")

    def _scheme_of(self, iri: str | None) -> Any:
        """The concept scheme to read; ``None`` where the file names none."""
        schemes = sorted(
            set(self._triples.subjects(self._library.RDF.type, self._term("ConceptScheme")))
        )
        if iri is not None:
            if self._library.URIRef(iri) not in schemes:
                raise InputError(self._subject, "must have the concept scheme that is asked for")
            return self._library.URIRef(iri)
        if len(schemes) > 1:
            raise InputError(
                self._subject,
                "must have one concept scheme, or say which to read",
                found=f"{len(schemes)} schemes",
            )
        return schemes[0] if schemes else None

    def _concepts(self, links: set[tuple[Any, Any]], scheme: Any) -> set[Any]:
        """All concepts but those that are in other schemes only."""
        concepts = set(self._triples.subjects(self._library.RDF.type, self._term("Concept")))
        concepts |= {concept for link in links for concept in link}
        if scheme is not None:
            member = self._term("inScheme")
            concepts -= {
                concept
                for concept in concepts
                if (concept, member, None) in self._triples
                and (concept, member, scheme) not in self._triples
            }
        if not concepts:
            raise InputError(self._subject, "must have concepts", found="none")
        return concepts

    def _number(self, scheme: Any, name: str) -> int | None:
        if scheme is None:
            return None
        value = self._triples.value(scheme, self._term(name, OWN))
        if value is not None and not str(value).isdecimal():
            raise InputError(self._subject, "must have whole numbers as height and floor")
        return None if value is None else int(value)

    def _text_and_name(self, concept: Any) -> tuple[str, str | None]:
        """What a concept shows, and its name."""
        notations = self._triples.objects(concept, self._term("notation"))
        codes = sorted({str(notation) for notation in notations})
        if len(codes) > 1:
            raise InputError(
                self._subject,
                "must give each concept one notation",
                found=f"{len(codes)} of '{codes[0]}'",
            )
        labels = sorted(
            self._triples.objects(concept, self._term("prefLabel")),
            # The language asked for, else one without a language, else the first by its code.
            key=lambda each: (each.language != self._language, each.language or "", str(each)),
        )
        name = str(labels[0]) if labels else None
        text = codes[0] if codes else name
        if text is None:
            raise InputError(
                self._subject,
                "must give each concept a skos:notation or a skos:prefLabel",
                found=f"neither at '{str(concept).rpartition('/')[2].rpartition('#')[2]}'",
                advice="add them, or remove the links to it",
            )
        return text, name


@dataclass
class _Concept:
    """A label, at all levels that repeat it over the same leaves."""

    label: str
    broader: int = -1
    places: list[str] = field(default_factory=list)


def write_skos(
    codes: CodeList | Hierarchy, path: str | os.PathLike[str], *, base: str = BASE
) -> None:
    """Write a hierarchy, with names or without, so that `read_skos` gives it back without loss.

    Every label is a ``skos:Concept`` with its ``skos:notation``, its name as ``skos:prefLabel`` and
    ``skos:broader``; a label that a branch repeats over the same leaves is one concept.
    """
    given = codes if isinstance(codes, CodeList) else CodeList(codes)
    library = _rdflib()
    skos, own = library.Namespace(SKOS), library.Namespace(OWN)
    graph = library.Graph()
    graph.bind("skos", skos)
    graph.bind("sfumato", own)
    scheme = library.URIRef(f"{base}scheme")
    graph.add((scheme, library.RDF.type, skos.ConceptScheme))
    graph.add((scheme, own.height, library.Literal(given.hierarchy.height)))
    graph.add((scheme, own.floor, library.Literal(given.hierarchy.floor)))
    concepts = _concepts(given.hierarchy)
    repeated = Counter(concept.label for concept in concepts)
    names = [
        library.URIRef(f"{base}code:{quote(concept.label, safe='')}")
        if repeated[concept.label] == 1
        # A label at two places is two concepts, which its code cannot tell apart.
        else library.URIRef(f"{base}place:{concept.places[0]}")
        for concept in concepts
    ]
    for concept, name in zip(concepts, names, strict=True):
        name_text = given.names.get(concept.label, concept.label)
        graph.add((name, library.RDF.type, skos.Concept))
        graph.add((name, skos.inScheme, scheme))
        graph.add((name, skos.notation, library.Literal(concept.label)))
        graph.add((name, skos.prefLabel, library.Literal(name_text)))
        if concept.broader >= 0:
            graph.add((name, skos.broader, names[concept.broader]))
        else:
            graph.add((scheme, skos.hasTopConcept, name))
        for place in concept.places:
            graph.add((name, own.place, library.Literal(place)))
    write_text(path, graph.serialize(format="turtle"))


def _concepts(hierarchy: Hierarchy) -> list[_Concept]:
    """One concept per label, and one only for a label that a branch repeats."""
    concepts: list[_Concept] = []
    below: list[int] = []
    for level, labels in enumerate(hierarchy.labels):
        here = [-1] * len(labels)
        links: list[tuple[int, int]] = []
        if level:
            lower, upper = hierarchy.ancestors[level - 1 : level + 1].tolist()
            links = list(zip(lower, upper, strict=True))
            counts, counts_below = hierarchy.leaf_counts(level), hierarchy.leaf_counts(level - 1)
        for child, index in links:
            same = hierarchy.labels[level - 1][child] == labels[index]
            # Over the same leaves the label says the same: one concept at several levels.
            if here[index] < 0 and same and counts_below[child] == counts[index]:
                here[index] = below[child]
        for index, label in enumerate(labels):
            if here[index] < 0:
                here[index] = len(concepts)
                concepts.append(_Concept(label))
            concepts[here[index]].places.append(f"{level}/{index}")
        for child, index in links:
            if below[child] != here[index]:
                concepts[below[child]].broader = here[index]
        below = here
    return concepts
