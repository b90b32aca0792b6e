"""The words that rules use and say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from sfumato.core.errors import InputError
from sfumato.semantics.extra import needed
from sfumato.semantics.rules.model import Rule
from sfumato.semantics.rules.policy_facts import PREDICATES as OF_POLICY
from sfumato.semantics.rules.tuple_facts import PREDICATES as OF_TUPLES

Word = tuple[str, int]
"""A predicate and how many terms it takes."""


def head_words(statement: Any) -> set[Word]:
    """The words that a rule says.

    Parameters
    ----------
    statement
        The rule, as clingo read it.
    """
    return set(_words(statement.head))


def body_words(statement: Any) -> list[Word]:
    """The words that a rule builds on.

    Parameters
    ----------
    statement
        The rule, as clingo read it.
    """
    return [word for part in statement.body for word in _words(part)]


def functions(statement: Any) -> list[Any]:
    """The terms with a name in a rule, at any depth.

    Parameters
    ----------
    statement
        The rule, as clingo read it.
    """
    return list(_nodes(statement, "Function"))


def _words(part: Any) -> Iterator[Word]:
    for atom in _nodes(part, "SymbolicAtom"):
        symbol = atom.symbol
        while symbol.ast_type.name == "UnaryOperation":
            symbol = symbol.argument
        if symbol.ast_type.name == "Function":
            yield symbol.name, len(symbol.arguments)


def _nodes(part: Any, kind: str) -> Iterator[Any]:
    """All nodes of a kind at or below a part."""
    ast = needed("clingo.ast", "rules")
    if isinstance(part, ast.AST):
        if part.ast_type.name == kind:
            yield part
        for key in part.child_keys:
            yield from _nodes(getattr(part, key), kind)
    elif isinstance(part, ast.ASTSequence):
        for each in part:
            yield from _nodes(each, kind)


def check_words(rules: Sequence[Rule], every: Iterable[Rule]) -> None:
    """Refuse a word that no fact and no rule says: it is mistyped, and its rule would not run.

    Parameters
    ----------
    rules
        The rules that are looked at.
    every
        All rules.

    Raises
    ------
    InputError
        If there is one.
    """
    said = {
        (name, arity)
        for table in (OF_POLICY, OF_TUPLES)
        for name, arities in table.items()
        for arity in arities
    }
    said |= {word for rule in every for word in head_words(rule.statement)}
    for rule in rules:
        for name, arity in body_words(rule.statement):
            if (name, arity) not in said:
                near = get_close_matches(name, sorted({known for known, _ in said}), n=1)
                hint = [f"{known} with {terms}" for known, terms in sorted(said) if [known] == near]
                raise InputError(
                    f"rules file {rule.file}",
                    "must use words that facts or rules say",
                    found=f"{name} with {arity} terms in line {rule.line}",
                    accepted=", ".join(hint),
                )
