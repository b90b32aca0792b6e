"""For every rule, rules that say what it was applied to; grounded when somebody asks why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sfumato.semantics.extra import needed
from sfumato.semantics.rules.model import Rule


def because_program(rules: Sequence[Rule]) -> str:
    """A program part ``why(step)`` that derives why each ``wanted(Atom,step)`` holds.

    For a rule ``head :- a, not b.`` with number 7 it holds
    ``because(7,head,(a,without(b))) :- wanted(head,step), a, not b.``; what the elements of an
    aggregate or of a conditional literal range over is in ``uses(7,head,element)``.

    Parameters
    ----------
    rules
        The rules; their numbers are their places, from 0.
    """
    lines = ["#program why(step)."]
    for number, rule in enumerate(rules):
        lines += _of_rule(number, rule.statement)
    return "\n".join(lines)


def _of_rule(number: int, statement: Any) -> Iterator[str]:
    head = statement.head
    if head.ast_type.name != "Literal" or head.atom.ast_type.name != "SymbolicAtom":
        return
    if str(head).startswith("not "):
        return
    named = _Naming()
    body = [named.literal(part) for part in statement.body]
    used = [term for part in body if (term := _as_term(part)) is not None]
    head_text = str(named.literal(head))
    texts = [f"wanted({head_text},step)", *map(str, body)]
    terms = "".join(f"{term}," for term in used)
    yield f"because({number},{head_text},({terms})) :- {'; '.join(texts)}."
    outside = {
        name for part in (head, *body) if _elements(part) is None for name in _variables(part)
    }
    outside |= {name for part in body for name in _guards(part)}
    for part in body:
        for conditions in _elements(part) or ():
            own = _Renaming(outside)
            inner = [own.visit(condition) for condition in conditions]
            for each in inner:
                term = _as_term(each)
                if term is not None:
                    all_of = "; ".join([*texts, *map(str, inner)])
                    yield f"uses({number},{head_text},{term}) :- {all_of}."


def _as_term(part: Any) -> str | None:
    """A literal as a term; nothing for comparisons, aggregates and what hides a variable."""
    if part.ast_type.name != "Literal" or part.atom.ast_type.name != "SymbolicAtom":
        return None
    text = str(part.atom)
    if int(part.sign) == 0:
        return text
    return None if "_" in _variables(part) else f"without({text})"


def _elements(part: Any) -> list[list[Any]] | None:
    """The conditions of an aggregate's or conditional literal's elements; nothing of others."""
    if part.ast_type.name == "ConditionalLiteral":
        return [[part.literal, *part.condition]]
    if part.ast_type.name == "Literal" and part.atom.ast_type.name == "BodyAggregate":
        return [list(element.condition) for element in part.atom.elements]
    if part.ast_type.name == "Literal" and part.atom.ast_type.name == "Aggregate":
        return [[element.literal, *element.condition] for element in part.atom.elements]
    return None


def _guards(part: Any) -> set[str]:
    """The variables that an aggregate is compared with."""
    atom = getattr(part, "atom", None)
    guards = [getattr(atom, side, None) for side in ("left_guard", "right_guard")]
    return {name for guard in guards if guard is not None for name in _variables(guard)}


def _variables(part: Any) -> set[str]:
    ast = needed("clingo.ast", "rules")
    found: set[str] = set()

    class Collect(ast.Transformer):  # type: ignore[misc,name-defined]
        def visit_Variable(self, node: Any) -> Any:  # noqa: N802
            found.add(node.name)
            return node

    Collect().visit(part)
    return found


class _Naming:
    """Gives names to the anonymous variables of positive literals."""

    def __init__(self) -> None:
        self.count = 0

    def literal(self, part: Any) -> Any:
        positive = part.ast_type.name == "Literal" and int(part.sign) == 0
        if not positive or part.atom.ast_type.name != "SymbolicAtom":
            return part
        ast = needed("clingo.ast", "rules")
        outer = self

        class Name(ast.Transformer):  # type: ignore[misc,name-defined]
            def visit_Variable(self, node: Any) -> Any:  # noqa: N802
                if node.name != "_":
                    return node
                outer.count += 1
                return node.update(name=f"Any{outer.count}")

        return Name().visit(part)


class _Renaming:
    """Renames the variables of an element that are its own."""

    def __init__(self, outside: set[str]) -> None:
        self.outside = outside
        self.count = 0

    def visit(self, part: Any) -> Any:
        ast = needed("clingo.ast", "rules")
        outer = self

        class Rename(ast.Transformer):  # type: ignore[misc,name-defined]
            def visit_Variable(self, node: Any) -> Any:  # noqa: N802
                if node.name in outer.outside:
                    return node
                if node.name == "_":
                    outer.count += 1
                    return node.update(name=f"Own{outer.count}")
                return node.update(name=f"Own_{node.name}")

        return Rename().visit(part)
