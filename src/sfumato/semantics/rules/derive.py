"""What a policy, a request and the rules require of a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item, Shown
from sfumato.semantics.associations.association import State
from sfumato.semantics.policy import Measure, Policy
from sfumato.semantics.rules.model import Rule
from sfumato.semantics.rules.policy_facts import policy_facts
from sfumato.semantics.rules.reasoner import Reasoner
from sfumato.semantics.rules.requirements import Enforcement, Enforcements, Requirements
from sfumato.semantics.rules.rule import house_rules, read_rules
from sfumato.semantics.rules.terms import plain
from sfumato.semantics.rules.tuple_facts import TupleFacts, tuple_facts
from sfumato.semantics.rules.words_used import body_words, functions

_ABOUT_TUPLES = {
    ("enforce", 3),
    ("has_tuple", 2),
    ("has_value", 2),
    ("meets", 2),
    ("meets_up_to", 3),
    ("refines", 3),
    ("regarding", 3),
    ("shows", 2),
    ("tells", 2),
}
"""Words that a site's rule uses where it speaks about tuples."""


def derive(
    policy: Policy,
    request: str,
    *,
    shown: Shown | None = None,
    associations: Iterable[Association] = (),
    rules: Iterable[Path] = (),
) -> Requirements:
    """What must hold for the release that a request gets, by the rules.

    Rules 1 to 7 of Lu, Sinnott and Verspoor (2017), Table 1, the package's rules on refusing,
    and the site's own, of the policy and of ``rules``.

    Parameters
    ----------
    policy
        The policy, with its paths located.
    request
        The request's name.
    shown
        The distinct tuples of the release, for rules 5 to 7.
    associations
        Associations of earlier releases; only accepted ones are taken to be known to a reader.
    rules
        More files with a site's rules.

    Raises
    ------
    InputError
        If the request is not in the policy, a file of rules cannot be read or run, the rules
        contradict each other, ask for a k that is no whole number or for a quasi-identifier
        that the policy does not have, or an association does not fit the release.
    """
    if request not in policy.requests:
        near = get_close_matches(request, policy.requests, n=1)
        raise InputError(
            f"request '{request}'",
            "must be one of the policy's",
            accepted=", ".join(near or policy.requests) or "none: it has no requests",
        )
    house = house_rules()
    site = read_rules([*policy.rules, *rules], house)
    linkage = policy.requests[request].linkage
    facts = policy_facts(policy, request)
    given = tuple(associations)
    of_tuples = _tuples(linkage, shown, given, policy.measure, site)
    reasoner = Reasoner((*house, *site), f"{facts}\n{of_tuples.text}")
    k, quasi_identifiers = _k(reasoner, linkage), _quasi_identifiers(reasoner, linkage, policy)
    refused = tuple(str(plain(atom.arguments[1])) for atom in reasoner.about("refuse", 2, request))
    if k is None and not refused:
        refused = ("no rule gives its linkage a k",)
    if not quasi_identifiers and not refused:
        refused = ("no rule gives its linkage quasi-identifiers",)
    return Requirements(
        request,
        linkage,
        k,
        quasi_identifiers,
        refused,
        _enforcements(reasoner, of_tuples),
        reasoner,
        _asked(reasoner, request, linkage, k),
        facts,
        of_tuples,
    )


def _tuples(
    linkage: str,
    shown: Shown | None,
    associations: Sequence[Association],
    measure: Measure,
    site: Sequence[Rule],
) -> TupleFacts:
    if shown is None:
        return TupleFacts("", np.empty(0, dtype=np.int64), {})
    accepted = {
        number: each for number, each in enumerate(associations, 1) if each.state is State.ACCEPTED
    }
    named = [item for rule in site for item in _named_items(rule, shown.hierarchies)]
    every = any(word in _ABOUT_TUPLES for rule in site for word in body_words(rule.statement))
    return tuple_facts(linkage, shown, accepted, measure.value, named, every)


def _named_items(rule: Rule, hierarchies: Mapping[str, Hierarchy]) -> list[Item]:
    """The items that a rule names in full."""
    found = []
    for term in functions(rule.statement):
        if term.name != "item" or len(term.arguments) != 3:
            continue
        parts = [getattr(part, "symbol", None) for part in term.arguments]
        if None in parts:
            continue
        name, level, label = map(plain, parts)
        hierarchy = hierarchies.get(name)
        if hierarchy is None or not isinstance(level, int) or not 0 <= level <= hierarchy.height:
            continue
        if label in hierarchy.labels[level]:
            found.append(Item(name, level, hierarchy.labels[level].index(label)))
    return found


def _k(reasoner: Reasoner, linkage: str) -> int | None:
    """The largest k that rules give a linkage."""
    found = [plain(atom.arguments[1]) for atom in reasoner.about("has_linkage_k", 2, linkage)]
    if not all(isinstance(k, int) and k >= 1 for k in found):
        raise InputError("the rules", "must give whole numbers from 1 as k")
    return max(found, default=None)


def _quasi_identifiers(
    reasoner: Reasoner, linkage: str, policy: Policy
) -> dict[str, tuple[str, ...]]:
    """The linkage's quasi-identifiers by database, in the order of the policy."""
    found = {
        (str(plain(atom.arguments[1])), str(plain(atom.arguments[2])))
        for atom in reasoner.about("has_linkage_qi", 3, linkage)
    }
    ordered: dict[str, tuple[str, ...]] = {}
    for name, database in policy.databases.items():
        columns = tuple(each for each in database.quasi_identifiers if (name, each) in found)
        if columns:
            ordered[name] = columns
    known = {(name, each) for name, columns in ordered.items() for each in columns}
    for name, column in sorted(found - known):
        raise InputError(
            "the rules",
            "must ask for quasi-identifiers that the policy gives a hierarchy",
            found=f"'{column}' of database '{name}'",
            advice="add it to this database's quasi-identifiers",
        )
    return ordered


def _enforcements(reasoner: Reasoner, facts: TupleFacts) -> Enforcements:
    cases = int(facts.alike.max(initial=-1)) + 1
    measures: list[dict[int, Measure]] = [{} for _ in range(cases)]
    regarding: dict[tuple[int, int], list[Item]] = {}
    for atom in reasoner.atoms("enforce", 3):
        measure, about, association = atom.arguments
        case, number = _number(about, "tuple"), _number(association, "association")
        if case is None or number is None:
            continue
        asked = _measure(str(measure))
        if measures[case].get(number) is not Measure.SUPPRESS:
            measures[case][number] = asked
    for atom in reasoner.atoms("regarding", 3):
        about, association, item = atom.arguments
        case, number = _number(about, "tuple"), _number(association, "association")
        if case is not None and number is not None:
            regarding.setdefault((case, number), []).append(facts.terms[str(item)])
    return Enforcements(
        facts.alike,
        tuple(
            tuple(
                Enforcement(measure, number, tuple(sorted(regarding.get((case, number), ()))))
                for number, measure in sorted(of_case.items())
            )
            for case, of_case in enumerate(measures)
        ),
    )


def _measure(name: str) -> Measure:
    try:
        return Measure(name)
    except ValueError:
        raise InputError(
            "the rules",
            "must enforce a measure that there is",
            accepted=", ".join(Measure),
        ) from None


def _number(symbol: Any, word: str) -> int | None:
    """The number in ``tuple(7)`` or ``association(3)``."""
    if symbol.type.name != "Function" or symbol.name != word or len(symbol.arguments) != 1:
        return None
    number: int = symbol.arguments[0].number
    return number


def _asked(reasoner: Reasoner, request: str, linkage: str, k: int | None) -> tuple[Any, ...]:
    """The conclusions that a request's explanation is about."""
    of_k = [
        atom
        for atom in reasoner.about("has_linkage_k", 2, linkage)
        if plain(atom.arguments[1]) == k
    ]
    of_qis = reasoner.about("has_linkage_qi", 3, linkage)
    return (*reasoner.about("refuse", 2, request), *of_k, *of_qis)
