"""Write a hierarchy as SKOS in Turtle."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import quote

from sfumato.core.atomic import write_text
from sfumato.hierarchies.code_list import CodeList
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.skos_words import OWN, SKOS, rdflib

BASE = "urn:sfumato:codes:"


@dataclass
class _Concept:
    """A label, at all levels that repeat it over the same leaves."""

    label: str
    broader: int = -1
    places: list[str] = field(default_factory=list)


def write_skos(
    codes: CodeList | Hierarchy, path: str | os.PathLike[str], *, base: str = BASE
) -> None:
    """Write a hierarchy so that `read_skos` gives it back without loss.

    Every label is a ``skos:Concept`` with its ``skos:notation``, its name as ``skos:prefLabel``
    and ``skos:broader``; a label that a branch repeats over the same leaves is one concept.

    Parameters
    ----------
    codes
        The hierarchy, with names or without.
    path
        The file to write, whole or not at all.
    base
        What the concepts' IRIs begin with.

    Raises
    ------
    InputError
        If rdflib is not installed, or the file cannot be written.
    """
    given = codes if isinstance(codes, CodeList) else CodeList(codes)
    library = rdflib()
    skos, own = library.Namespace(SKOS), library.Namespace(OWN)
    graph = library.Graph()
    graph.bind("skos", skos)
    graph.bind("sfumato", own)
    scheme = library.URIRef(f"{base}scheme")
    graph.add((scheme, library.RDF.type, skos.ConceptScheme))
    graph.add((scheme, own.height, library.Literal(given.hierarchy.height)))
    graph.add((scheme, own.floor, library.Literal(given.hierarchy.floor)))
    concepts = list(_concepts(given.hierarchy))
    repeated = Counter(concept.label for concept in concepts)
    names = [
        library.URIRef(f"{base}code:{quote(concept.label, safe='')}")
        if repeated[concept.label] == 1
        else library.URIRef(f"{base}place:{concept.places[0]}")
        for concept in concepts
    ]
    for concept, name in zip(concepts, names, strict=True):
        called = given.names.get(concept.label, concept.label)
        graph.add((name, library.RDF.type, skos.Concept))
        graph.add((name, skos.inScheme, scheme))
        graph.add((name, skos.notation, library.Literal(concept.label)))
        graph.add((name, skos.prefLabel, library.Literal(called)))
        if concept.broader >= 0:
            graph.add((name, skos.broader, names[concept.broader]))
        else:
            graph.add((scheme, skos.hasTopConcept, name))
        for place in concept.places:
            graph.add((name, own.place, library.Literal(place)))
    write_text(path, graph.serialize(format="turtle"))


def _concepts(hierarchy: Hierarchy) -> Iterator[_Concept]:
    """One concept per label, and one only for a label that a branch repeats."""
    concepts: list[_Concept] = []
    below: list[int] = []
    for level, labels in enumerate(hierarchy.labels):
        here = [-1] * len(labels)
        counts = hierarchy.leaf_counts(level)
        under = hierarchy.leaf_counts(level - 1) if level else counts
        for leaf, index in enumerate(hierarchy.ancestors[level].tolist()):
            if not level:
                break
            lower = int(hierarchy.ancestors[level - 1, leaf])
            same = hierarchy.labels[level - 1][lower] == labels[index]
            if here[index] < 0 and same and under[lower] == counts[index]:
                here[index] = below[lower]
        for index, label in enumerate(labels):
            if here[index] < 0:
                here[index] = len(concepts)
                concepts.append(_Concept(label))
            concepts[here[index]].places.append(f"{level}/{index}")
        if level:
            for lower, index in zip(
                hierarchy.ancestors[level - 1].tolist(),
                hierarchy.ancestors[level].tolist(),
                strict=True,
            ):
                if below[lower] != here[index]:
                    concepts[below[lower]].broader = here[index]
        below = here
    yield from concepts
