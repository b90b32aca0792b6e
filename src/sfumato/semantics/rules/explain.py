"""Why a conclusion holds: the rules that were applied, and to which facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.semantics.rules.reasoner import Application, Reasoner
from sfumato.semantics.rules.words import in_words


@dataclass(frozen=True)
class Step:
    """One application of a rule.

    Attributes
    ----------
    file, line
        Where the rule stands.
    title
        The comment above it; empty where there is none.
    because
        What it was applied to.
    """

    file: str
    line: int
    title: str
    because: tuple[Why, ...]


@dataclass(frozen=True)
class Why:
    """A conclusion or a fact.

    Attributes
    ----------
    atom
        As the rules' language writes it.
    says
        In words.
    steps
        The applications of rules that lead to it; none for a fact, and for what is explained
        further up already.
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
        """The explanation as indented lines of text.

        Parameters
        ----------
        depth
            How far it is indented, in steps.
        """
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
    """Why some atoms hold, down to the facts.

    Parameters
    ----------
    reasoner
        What derived them.
    atoms
        The atoms, as clingo's symbols.
    """
    known: dict[Any, tuple[Application, ...]] = {}
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
