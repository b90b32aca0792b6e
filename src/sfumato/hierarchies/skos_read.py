"""Read a hierarchy from SKOS in Turtle."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.hierarchies.code_list import CodeList
from sfumato.hierarchies.hierarchy import Hierarchy
from sfumato.hierarchies.skos_places import placed
from sfumato.hierarchies.skos_words import OWN, SKOS, rdflib
from sfumato.hierarchies.text_file import read_text


@dataclass(frozen=True)
class _Concepts:
    """The concepts of one scheme, by their IRI."""

    texts: dict[str, str]
    names: dict[str, str]
    broader: dict[str, str]
    places: dict[str, list[str]]
    height: int | None
    floor: int


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

    Raises
    ------
    InputError
        If rdflib is not installed, the file cannot be read or is not Turtle, it has several
        schemes or no concept, or a concept has several parents or notations, is its own
        ancestor, lacks a label, or shows what another one of its level shows.
    """
    subject = f"hierarchy file {Path(path).name}"
    library = rdflib()
    graph = _graph(library, read_text(Path(path), subject, "Turtle"), subject)
    found = _concepts(library, graph, _scheme(library, graph, scheme, subject), language, subject)
    _check_cycles(found, subject)
    names = {found.texts[each]: found.names[each] for each in found.names}
    if found.height is not None:
        hierarchy = placed(
            found.texts, found.broader, found.places, found.height, found.floor, subject
        )
        return CodeList(hierarchy, names)
    return CodeList(_from_chains(found, subject), names)


def _graph(library: Any, text: str, subject: str) -> Any:
    from rdflib.plugins.parsers.notation3 import BadSyntax

    try:
        return library.Graph().parse(data=text, format="turtle")
    except BadSyntax as error:
        raise InputError(
            subject, "must be Turtle", found=f"an error in line {error.lines + 1}"
        ) from None


def _scheme(library: Any, graph: Any, asked: str | None, subject: str) -> Any:
    """The concept scheme to read; ``None`` where the file names none."""
    kinds = sorted(set(graph.subjects(library.RDF.type, library.URIRef(f"{SKOS}ConceptScheme"))))
    if asked is not None:
        if library.URIRef(asked) not in kinds:
            raise InputError(subject, "must have the concept scheme that is asked for")
        return library.URIRef(asked)
    if len(kinds) > 1:
        raise InputError(
            subject,
            "must have one concept scheme, or say which to read",
            found=f"{len(kinds)} schemes",
        )
    return kinds[0] if kinds else None


def _concepts(library: Any, graph: Any, scheme: Any, language: str, subject: str) -> _Concepts:
    def word(name: str, space: str = SKOS) -> Any:
        return library.URIRef(f"{space}{name}")

    pairs = set(graph.subject_objects(word("broader")))
    pairs |= {(lower, upper) for upper, lower in graph.subject_objects(word("narrower"))}
    concepts = set(graph.subjects(library.RDF.type, word("Concept")))
    concepts |= {each for pair in pairs for each in pair}
    if scheme is not None:
        apart = {each for each in concepts if (each, word("inScheme"), None) in graph}
        concepts -= {each for each in apart if (each, word("inScheme"), scheme) not in graph}
    if not concepts:
        raise InputError(subject, "must have concepts", found="none")
    texts, names, places = {}, {}, {}
    for each in sorted(concepts):
        texts[str(each)], name = _shown(graph, each, word, language, subject)
        if name is not None:
            names[str(each)] = name
        places[str(each)] = [str(place) for place in graph.objects(each, word("place", OWN))]
    broader: dict[str, str] = {}
    for lower, upper in sorted(pairs):
        if lower not in concepts or upper not in concepts:
            continue
        if broader.setdefault(str(lower), str(upper)) != str(upper):
            raise InputError(
                subject,
                "must give each concept one broader concept",
                found=f"several of '{texts[str(lower)]}'",
                advice="keep one parent, or make a code of its own below each",
            )
    height = graph.value(scheme, word("height", OWN)) if scheme is not None else None
    floor = graph.value(scheme, word("floor", OWN)) if scheme is not None else None
    return _Concepts(
        texts, names, broader, places, _whole(height, subject), _whole(floor, subject) or 0
    )


def _whole(value: Any, subject: str) -> int | None:
    if value is None:
        return None
    if not str(value).isdecimal():
        raise InputError(subject, "must have whole numbers as height and floor")
    return int(value)


def _shown(
    graph: Any, concept: Any, word: Any, language: str, subject: str
) -> tuple[str, str | None]:
    """What a concept shows, and its name."""
    codes = sorted({str(each) for each in graph.objects(concept, word("notation"))})
    if len(codes) > 1:
        raise InputError(
            subject,
            "must give each concept one notation",
            found=f"{len(codes)} of '{codes[0]}'",
        )
    labels = sorted(
        graph.objects(concept, word("prefLabel")),
        key=lambda label: (label.language != language, label.language or "", str(label)),
    )
    name = str(labels[0]) if labels else None
    text = codes[0] if codes else name
    if text is None:
        raise InputError(
            subject,
            "must give each concept a skos:notation or a skos:prefLabel",
            found=f"neither at '{str(concept).rpartition('/')[2].rpartition('#')[2]}'",
            advice="add them, or remove the links to it",
        )
    return text, name


def _check_cycles(found: _Concepts, subject: str) -> None:
    """Refuse a concept that is its own ancestor."""
    finished: set[str] = set()
    for start in found.texts:
        way: dict[str, None] = {}
        each: str | None = start
        while each is not None and each not in finished:
            if each in way:
                raise InputError(
                    subject,
                    "must not have a concept above itself",
                    found=f"a cycle through '{found.texts[each]}'",
                    advice="remove one of the skos:broader links on it",
                )
            way[each] = None
            each = found.broader.get(each)
        finished.update(way)


def _from_chains(found: _Concepts, subject: str) -> Hierarchy:
    """Levels counted from the top, each leaf repeated where its branch has fewer."""
    inner = set(found.broader.values())
    chains = []
    for leaf in sorted(found.texts.keys() - inner, key=lambda each: found.texts[each]):
        chain = [leaf]
        while chain[-1] in found.broader:
            chain.append(found.broader[chain[-1]])
        chains.append(chain)
    depth = max(len(chain) for chain in chains)
    full = [[chain[0]] * (depth - len(chain)) + chain for chain in chains]
    columns = []
    for level in range(depth):
        column = [row[level] for row in full]
        counted = Counter(found.texts[each] for each in set(column))
        twice = next((text for text, count in counted.items() if count > 1), None)
        if twice is not None:
            raise InputError(
                subject,
                "must have each code at one place",
                found=f"several concepts that show '{twice}'",
                advice="give each its own skos:notation",
            )
        columns.append([found.texts[each] for each in column])
    return Hierarchy.from_columns(columns, subject)
