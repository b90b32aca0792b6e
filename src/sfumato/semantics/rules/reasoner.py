"""Facts and rules, worked out by clingo, and why each conclusion holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.core.errors import InputError
from sfumato.semantics.extra import needed
from sfumato.semantics.rules.because import because_program
from sfumato.semantics.rules.clingo_errors import Logger, with_clingo
from sfumato.semantics.rules.model import Rule
from sfumato.semantics.rules.terms import plain

_SUBJECT = "the rules"
SHOWN = 5
"""Applications of one rule that are given as reasons for one atom; there may be thousands."""


@dataclass(frozen=True)
class Application:
    """One application of a rule.

    Attributes
    ----------
    rule
        The rule.
    used
        The atoms that it was applied to, as clingo's symbols; ``without(Atom)`` for one that
        must not hold.
    """

    rule: Rule
    used: tuple[Any, ...]


class Reasoner:
    """Everything that follows from facts by rules.

    Parameters
    ----------
    rules
        The rules.
    facts
        The facts, in clingo's language.

    Raises
    ------
    InputError
        If clingo is not installed, or the rules contradict each other or leave a choice.
    """

    def __init__(self, rules: Sequence[Rule], facts: str) -> None:
        self.rules = tuple(rules)
        self._step = 0
        self._prepared = False
        self._open = False
        """Whether anything is left to solve once the rules are grounded."""
        self._true: set[int] = set()
        with_clingo(lambda log: self._start(facts, log), _SUBJECT)
        self._decide()

    def _start(self, facts: str, log: Logger) -> None:
        clingo, ast = needed("clingo", "rules"), needed("clingo.ast", "rules")
        self._control = clingo.Control(["--warn=none", "--models=2"], logger=log)
        with ast.ProgramBuilder(self._control) as builder:
            for rule in self.rules:
                builder.add(rule.statement)
        self._control.add("base", [], f"{facts}\n#show.")
        self._control.ground()

    def _decide(self) -> None:
        """Find the one answer; atoms that are not facts hold if it has them."""
        with self._control.solve(yield_=True) as handle:
            models = sum(1 for _ in handle)
        if models != 1:
            raise InputError(
                _SUBJECT,
                "must give one answer",
                found="a contradiction: none can hold" if not models else "several that can hold",
                advice="look at the site's constraints"
                if not models
                else "look at the site's rules with a choice or with 'not'",
            )
        self._open = self._open or self._control.statistics["problem"]["lp"]["bodies"] > 0
        if not self._open:
            return
        with self._control.solve(yield_=True) as handle:
            for model in handle:
                self._true = {
                    atom.literal
                    for atom in self._control.symbolic_atoms
                    if not atom.is_fact and model.is_true(atom.literal)
                }

    def atoms(self, word: str, terms: int) -> Iterator[Any]:
        """What holds of a word, as clingo's symbols, in no order.

        Parameters
        ----------
        word
            The word.
        terms
            How many terms it takes.
        """
        for atom in self._control.symbolic_atoms.by_signature(word, terms):
            if atom.is_fact or atom.literal in self._true:
                yield atom.symbol

    def about(self, word: str, terms: int, first: str) -> list[Any]:
        """What holds of a word and a first term, as clingo's symbols, sorted.

        Parameters
        ----------
        word
            The word.
        terms
            How many terms it takes.
        first
            The first term: text, or what the rules' language writes.
        """
        return sorted(atom for atom in self.atoms(word, terms) if plain(atom.arguments[0]) == first)

    def because(self, wanted: Iterable[Any]) -> dict[Any, tuple[Application, ...]]:
        """The applications of rules that lead to some atoms.

        Parameters
        ----------
        wanted
            The atoms, as clingo's symbols; they hold.

        Returns
        -------
        dict
            By atom, `SHOWN` of each rule at most; none for a fact.

        Raises
        ------
        InputError
            If clingo refuses to ground the rules again.
        """
        asked = list(dict.fromkeys(wanted))
        if not asked:
            return {}
        with_clingo(lambda _log: self._ground_why(asked), _SUBJECT)
        self._decide()
        uses: dict[tuple[int, Any], list[Any]] = {}
        of = set(asked)
        for number, head, used in self._triples("uses"):
            if head in of:
                uses.setdefault((number.number, head), []).append(used)
        found: dict[Any, list[Application]] = {atom: [] for atom in asked}
        given: Counter[tuple[int, Any]] = Counter()
        for number, head, body in self._triples("because"):
            given[number.number, head] += 1
            if head in of and given[number.number, head] <= SHOWN:
                more = uses.get((number.number, head), [])
                used = tuple(dict.fromkeys([*body.arguments, *more]))
                found[head].append(Application(self.rules[number.number], used))
        return {atom: tuple(each) for atom, each in found.items()}

    def _triples(self, word: str) -> list[tuple[Any, ...]]:
        return [tuple(atom.arguments) for atom in sorted(self.atoms(word, 3))]

    def _ground_why(self, asked: Sequence[Any]) -> None:
        clingo = needed("clingo", "rules")
        if not self._prepared:
            self._control.add("why", ["step"], because_program(self.rules))
            self._prepared = True
        self._step += 1
        part = f"wanted_{self._step}"
        facts = "\n".join(f"wanted({atom},{self._step})." for atom in asked)
        self._control.add(part, [], facts)
        self._control.ground([(part, []), ("why", [clingo.Number(self._step)])])
