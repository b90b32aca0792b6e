"""What the rules require of a release, step by step and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sfumato.core.arrays import Ints
from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item, Shown, State
from sfumato.semantics.policy import Finding, Severity, errors_for
from sfumato.semantics.policy_terms import Policy, Treatment
from sfumato.semantics.rules.reasoner import (
    Application,
    Reasoner,
    Rule,
    body_words,
    functions,
    house_rules,
    read_rules,
)
from sfumato.semantics.rules.rule_facts import TupleFacts, plain, policy_facts, tuple_facts

_SAID = {
    ("authenticate", 2): "{0} authenticates role {1}",
    ("allows_purpose", 2): "{0} may be linked for {1}",
    ("antecedent_of", 2): "{0} is in the antecedent of {1}",
    ("association_rule", 1): "{0} is accepted",
    ("authenticated", 1): "a linked database authenticates the role of request {0}",
    ("database", 1): "{0} is a database",
    ("enforce", 2): "{1} asks to {0}",
    ("enforce", 3): "{0} by {2} is enforced on {1}",
    ("first_antecedent", 2): "{0} is the first in the antecedent of {1}",
    ("has_ancestor", 2): "{0} lies below {1}",
    ("has_anonymity", 2): "there is {1}",
    ("has_k", 2): "k of {0} is {1}",
    ("has_linkage_k", 2): "k of linkage {0} is {1}",
    ("has_linkage_qi", 3): "{2} of {1} is a quasi-identifier of linkage {0}",
    ("has_own_k", 1): "{0} has a k",
    ("has_purpose", 2): "request {0} is for {1}",
    ("has_qi", 2): "{1} is a quasi-identifier of {0}",
    ("has_requester", 2): "request {0} comes from {1}",
    ("has_resource", 2): "request {0} asks for linkage {1}",
    ("has_role", 2): "request {0} is made as {1}",
    ("has_tuple", 2): "linkage {0} has {1}",
    ("has_value", 2): "{0} shows {1}",
    ("implies", 2): "{0} leads to {1}",
    ("last_antecedent", 2): "{0} is the last in the antecedent of {1}",
    ("lies_within", 2): "{0} lies within {1}",
    ("link_from", 2): "linkage {0} links {1}",
    ("linkage", 1): "{0} is a linkage",
    ("meets", 2): "{0} tells the whole antecedent of {1}",
    ("meets_up_to", 3): "{0} tells the antecedent of {1} up to {2}",
    ("next_antecedent", 3): "{1} follows {0} in the antecedent of {2}",
    ("purpose", 1): "{0} is a purpose",
    ("purpose_allowed", 2): "{1} may be linked for the purpose of request {0}",
    ("refines", 3): "{1} lets {2} be inferred in {0}",
    ("refuse", 2): "request {0} is refused: {1}",
    ("regarding", 3): "what {1} enforces on {0} regards {2}",
    ("request", 1): "{0} is a request",
    ("restricts_purpose", 1): "{0} may not be linked for every purpose",
    ("role", 1): "{0} is a role",
    ("shows", 2): "{0} shows {1}",
    ("tells", 2): "{0} tells {1}",
    ("without", 1): "not: {0}",
}
"""What an atom says, by its word and number of terms."""
_TERMS = {
    ("anonymity", 1): "the requirement of {0}",
    ("association", 1): "association {0}",
    ("item", 3): "{0} {2}",
    ("tuple", 1): "tuple {0}",
}
"""What a term says."""


def in_words(atom: Any) -> str:
    """An atom as a sentence; as the rules' language writes it where it is a site's own."""
    form = _SAID.get((atom.name, len(atom.arguments)))
    if form is None:
        return str(atom)
    return form.format(*map(_term, atom.arguments))


def _term(symbol: Any) -> str:
    if symbol.type.name != "Function":
        return str(plain(symbol))
    form = _TERMS.get((symbol.name, len(symbol.arguments)))
    return in_words(symbol) if form is None else form.format(*map(_term, symbol.arguments))


@dataclass(frozen=True)
class Step:
    """One application of a rule.

    Attributes
    ----------
    file, line
        Where the rule stands.
    title
        The comment above it; empty where there is none.
    """

    file: str
    line: int
    title: str
    because: tuple[Why, ...]


@dataclass(frozen=True)
class Why:
    """A conclusion or a fact.

    The steps that lead to it are none for a fact, and for what is explained further up already.
    """

    atom: str
    says: str
    steps: tuple[Step, ...] = ()

    def rules(self) -> Iterator[tuple[str, int, str]]:
        """File, line and title of every rule that was applied, outermost first."""
        for step in self.steps:
            yield step.file, step.line, step.title
            for why in step.because:
                yield from why.rules()

    def lines(self, depth: int = 0) -> Iterator[str]:
        """The explanation as indented lines of text."""
        yield f"{'  ' * depth}{self.says}"
        for step in self.steps:
            title = f": {step.title}" if step.title else ""
            yield f"{'  ' * depth}  by {step.file}, line {step.line}{title}"
            for why in step.because:
                yield from why.lines(depth + 2)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values."""
        steps = [
            {
                "file": step.file,
                "line": step.line,
                "title": step.title,
                "because": [why.to_dict() for why in step.because],
            }
            for step in self.steps
        ]
        return {"atom": self.atom, "says": self.says, "rules": steps}


def explain(reasoner: Reasoner, atoms: Sequence[Any]) -> tuple[Why, ...]:
    """Why some atoms hold, down to the facts."""
    known: dict[Any, tuple[Application, ...]] = {}
    # All atoms of a depth are asked together: each question is one more grounding by clingo.
    wanted = list(atoms)
    while wanted:
        found = reasoner.because(wanted)
        known |= found
        used = [
            each
            for applications in found.values()
            for application in applications
            for each in application.used
            if each.name != "without"
        ]
        wanted = [each for each in dict.fromkeys(used) if each not in known]
    return tuple(_tree(atom, known, frozenset()) for atom in atoms)


def _tree(atom: Any, known: dict[Any, tuple[Application, ...]], above: frozenset[Any]) -> Why:
    # Rules may support each other in a circle; an atom is no reason for itself.
    applications = () if atom in above else known.get(atom, ())
    within = above | {atom}
    steps = tuple(
        Step(
            application.rule.file,
            application.rule.line,
            application.rule.title,
            tuple(_tree(each, known, within) for each in application.used),
        )
        for application in applications
        if not above & set(application.used)
    )
    return Why(str(atom), in_words(atom), steps)


class Enforcement(NamedTuple):
    """What is done to a tuple because of one association.

    Attributes
    ----------
    measure
        What is done; the stricter one where rules ask for both.
    association
        The association's number, from 1, in the order in which they were passed.
    regarding
        The values that it is done to, as the association says them; what the tuple shows is
        one of them or lies below it.
    """

    measure: Treatment
    association: int
    regarding: tuple[Item, ...]


@dataclass(frozen=True, eq=False)
class Enforcements:
    """What is done to each tuple of a release.

    Attributes
    ----------
    alike
        Which of the distinct cases each tuple is, -1 for one that nothing is done to; shape
        (tuples,).
    cases
        What is done in each distinct case.
    """

    alike: Ints = field(repr=False)
    cases: tuple[tuple[Enforcement, ...], ...] = field(repr=False)

    def of(self, tuple_: int) -> tuple[Enforcement, ...]:
        """What is done to one tuple, by its place in the release, from 0."""
        case = int(self.alike[tuple_])
        return () if case < 0 else self.cases[case]

    def tuples(self) -> Ints:
        """The places of the tuples that something is done to."""
        busy = np.fromiter(map(bool, self.cases), dtype=np.bool_, count=len(self.cases))
        return np.flatnonzero((self.alike >= 0) & busy[self.alike]) if len(busy) else _NONE


_NONE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Requirements:
    """What must hold for the release that a request gets.

    Attributes
    ----------
    request, linkage
        The names of the request and of the linkage that it asks for.
    k
        Individuals of each database of ``quasi_identifiers`` that every tuple must match at
        least; ``None`` where no rule gives one, and then the request is refused.
    quasi_identifiers
        By database whose readers ask: its quasi-identifiers, in the order of the policy. A
        tuple must match ``k`` individuals of each on these.
    refused
        Why the request is refused; empty where it is not.
    """

    request: str
    linkage: str
    k: int | None
    quasi_identifiers: Mapping[str, tuple[str, ...]]
    refused: tuple[str, ...]
    enforcements: Enforcements
    _reasoner: Reasoner = field(repr=False)
    _asked: tuple[Any, ...] = field(repr=False)
    _policy_facts: str = field(repr=False)
    _tuple_facts: TupleFacts = field(repr=False)

    @property
    def linkage_qis(self) -> tuple[str, ...]:
        """The quasi-identifiers of all these databases, each once."""
        names = (name for identifier in self.quasi_identifiers.values() for name in identifier)
        return tuple(dict.fromkeys(names))

    def require_allowed(self) -> int:
        """The k of a request that is not refused."""
        if self.refused or self.k is None:
            raise InputError(
                f"request '{self.request}'",
                "must be one that the rules allow",
                found="; ".join(self.refused),
                advice="'sfumato policy explain' says which rule and why",
            )
        return self.k

    def explain(self) -> tuple[Why, ...]:
        """Why the request is refused, its k is what it is, and these are its quasi-identifiers."""
        return explain(self._reasoner, self._asked)

    def explain_tuple(self, tuple_: int) -> tuple[Why, ...]:
        """Why something is done to a tuple (by its place, from 0).

        What is known of it alone is used where that suffices.
        """
        case = int(self.enforcements.alike[tuple_])
        if not self.enforcements.of(tuple_):
            return ()
        atoms = _about(self._reasoner, case)
        facts = f"{self._policy_facts}\n{self._tuple_facts.of_one(case)}"
        # One tuple's facts ground in no time, where those of a whole release may take seconds.
        alone = Reasoner(self._reasoner.rules, facts)
        same = set(_about(alone, case)) == set(atoms)
        # A site's rule may compare tuples, and then one alone does not lead to the same.
        return explain(alone if same else self._reasoner, atoms)


def _about(reasoner: Reasoner, case: int) -> list[Any]:
    """What the rules enforce on one tuple, and what that regards."""
    about = f"tuple({case})"
    enforced = (atom for atom in reasoner.atoms("enforce", 3) if plain(atom.arguments[1]) == about)
    return [*sorted(enforced), *reasoner.about("regarding", 3, about)]


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
    shown
        The distinct tuples of the release, for rules 5 to 7.
    associations
        Associations of earlier releases; only accepted ones are taken to be known to a reader.
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
    # No k is no permission: what the rules do not speak of is refused.
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
    measure: Treatment,
    site: Sequence[Rule],
) -> TupleFacts:
    if shown is None:
        return TupleFacts("", np.empty(0, dtype=np.int64), {})
    # Numbered with the rest, so that a number means the same association to the caller.
    accepted = {
        number: association
        for number, association in enumerate(associations, 1)
        if association.state is State.ACCEPTED
    }
    named = [item for rule in site for item in _named_items(rule, shown.hierarchies)]
    # Rules 5 to 7 leave most tuples alone; a site's rule may speak about any of them.
    every = any(word in _ABOUT_TUPLES for rule in site for word in body_words(rule.statement))
    return tuple_facts(linkage, shown, accepted, measure.value, named, every)


def _named_items(rule: Rule, hierarchies: Mapping[str, Hierarchy]) -> list[Item]:
    """The items that a rule names in full."""
    items = []
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
            items.append(Item(name, level, hierarchy.labels[level].index(label)))
    return items


def _k(reasoner: Reasoner, linkage: str) -> int | None:
    """The largest k that rules give a linkage."""
    found = [plain(atom.arguments[1]) for atom in reasoner.about("has_linkage_k", 2, linkage)]
    if not all(isinstance(k, int) and k >= 1 for k in found):
        raise InputError("the rules", "must give whole numbers from 1 as k")
    # A site's rules may add a k beside that of rule 2, and the stricter one must hold.
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
        columns = tuple(
            identifier for identifier in database.quasi_identifiers if (name, identifier) in found
        )
        if columns:
            ordered[name] = columns
    known = {(name, column) for name, columns in ordered.items() for column in columns}
    # Without a hierarchy nobody could generalise it, so the rule would ask for the impossible.
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
    measures: list[dict[int, Treatment]] = [{} for _ in range(cases)]
    regarding: dict[tuple[int, int], list[Item]] = {}
    for atom in reasoner.atoms("enforce", 3):
        measure, about, association = atom.arguments
        case, number = _number(about, "tuple"), _number(association, "association")
        if case is None or number is None:
            continue
        asked = _measure(str(measure))
        # Atoms come in no order, and the stricter measure must win in any.
        if measures[case].get(number) is not Treatment.SUPPRESS:
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


def _measure(name: str) -> Treatment:
    try:
        return Treatment(name)
    except ValueError:
        raise InputError(
            "the rules", "must enforce a measure that there is", accepted=", ".join(Treatment)
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


def check_rules(policy: Policy, rules: Iterable[Path] = ()) -> tuple[Finding, ...]:
    """Findings of the rules, for requests in which `check_policy` finds no error."""
    paths = tuple(rules)
    found: dict[Finding, None] = {}
    for name in policy.requests:
        # What the policy gets wrong the rules would say again, in other words.
        if errors_for(policy, name):
            continue
        where = f"request '{name}'"
        try:
            refused = derive(policy, name, rules=paths).refused
        except InputError as error:
            found[Finding(Severity.ERROR, "rules", str(error).removesuffix("."))] = None
            continue
        for said in refused:
            found[Finding(Severity.ERROR, where, f"a rule refuses it: {said}")] = None
    return tuple(found)
