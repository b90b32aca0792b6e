"""The rules of the house and of a site, run by clingo; what follows and because of what."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.optional_packages import needed
from sfumato.core.toml_text import read_text
from sfumato.semantics.rules.rule_facts import POLICY_PREDICATES as OF_POLICY
from sfumato.semantics.rules.rule_facts import TUPLE_PREDICATES as OF_TUPLES
from sfumato.semantics.rules.rule_facts import plain

Logger = Callable[[Any, str], None]
_PLACE = re.compile(r"^[^\n]*?:(\d+):[-\d:]*: error: (.*)", re.DOTALL)


def _clingo(part: str = "") -> Any:
    return needed(f"clingo{part}", extra="semantics", by="rules")


def with_clingo(run: Callable[[Logger], object], subject: str) -> None:
    """Let clingo work with a logger, and say its errors in our words."""
    messages: list[str] = []
    try:
        run(lambda _code, message: messages.append(message))
    except (RuntimeError, MemoryError):
        found = next((each for each in map(_PLACE.match, messages) if each), None)
        if found is None:
            raise InputError(subject, "must be rules that clingo can run") from None
        line, said = found.groups()
        what = " ".join(said.split("note:")[0].split())
        # The rule as clingo rewrote it would follow, which nobody would know as their own.
        what = what.partition(" in: ")[0] if what.startswith("unsafe") else what
        what = re.sub(r"\[#inc_base\];", "", re.sub(r" <[^>]*>:\d+:[-\d]+:$", "", what))
        if what.startswith("unsafe"):
            names = re.findall(r"note: ('\w+')", said)
            what = f"a variable that nothing binds, {', '.join(names)}"
        raise InputError(
            subject, "must be rules that clingo can run", found=f"in line {line}: {what}"
        ) from None


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes
    ----------
    line
        The line that it starts in, from 1.
    title
        The comment above it; empty where there is none.
    """

    file: str
    line: int
    title: str
    text: str
    statement: Any = field(repr=False, compare=False)

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}, line {self.line}"


def because_program(rules: Sequence[Rule]) -> str:
    """A program part ``why(step)`` that derives why each ``wanted(Atom,step)`` holds.

    For a rule ``head :- a, not b.`` with number 7, its place from 0, it holds
    ``because(7,head,(a,without(b))) :- wanted(head,step), a, not b.``; what the elements of an
    aggregate or of a conditional literal range over is in ``uses(7,head,element)``.
    """
    lines = ["#program why(step)."]
    for number, rule in enumerate(rules):
        lines += _of_rule(number, rule.statement)
    return "\n".join(lines)


def _of_rule(number: int, statement: Any) -> Iterator[str]:
    head = statement.head
    # Constraints and choices conclude nothing that could be explained.
    if head.ast_type.name != "Literal" or head.atom.ast_type.name != "SymbolicAtom":
        return
    if str(head).startswith("not "):
        return
    # An anonymous variable cannot be repeated in the head of an explaining rule; a named one can.
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
            # Variables of an element are its own;
            # in the body of a rule they would join with the others.
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
    # What is hidden under "not" has no value, so that no term can be written for it.
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
    ast = _clingo(".ast")
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
        ast = _clingo(".ast")
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
        ast = _clingo(".ast")
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


Word = tuple[str, int]
"""A predicate and how many terms it takes."""


def head_words(statement: Any) -> set[Word]:
    """The words that a rule says."""
    return set(_words(statement.head))


def body_words(statement: Any) -> list[Word]:
    """The words that a rule builds on."""
    return [word for part in statement.body for word in _words(part)]


def functions(statement: Any) -> list[Any]:
    """The terms with a name in a rule, at any depth."""
    return list(_nodes(statement, "Function"))


def _words(part: Any) -> Iterator[Word]:
    for atom in _nodes(part, "SymbolicAtom"):
        symbol = atom.symbol
        # A strongly negated atom is under its minus signs.
        while symbol.ast_type.name == "UnaryOperation":
            symbol = symbol.argument
        if symbol.ast_type.name == "Function":
            yield symbol.name, len(symbol.arguments)


def _nodes(part: Any, kind: str) -> Iterator[Any]:
    """All nodes of a kind at or below a part."""
    ast = _clingo(".ast")
    if isinstance(part, ast.AST):
        if part.ast_type.name == kind:
            yield part
        for key in part.child_keys:
            yield from _nodes(getattr(part, key), kind)
    elif isinstance(part, ast.ASTSequence):
        for each in part:
            yield from _nodes(each, kind)


def check_words(rules: Sequence[Rule], every: Iterable[Rule]) -> None:
    """Refuse a word that no fact and no rule says: it is mistyped, and its rule would not run."""
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


HOUSE_FILES = ("rules.lp", "requests.lp")
"""The files of the package."""
# Looked for in the text, since clingo reads an included file while it parses.
_READ_ELSEWHERE = re.compile(r"^[^%\"]*#\s*(include|script)\b", re.MULTILINE)


@cache
def house_rules() -> tuple[Rule, ...]:
    """The rules of the package: rules 1 to 7, and when a request is refused."""
    folder = Path(__file__).parent
    return tuple(rule for name in HOUSE_FILES for rule in _read(folder / name))


def read_rules(paths: Iterable[Path], known: Iterable[Rule]) -> tuple[Rule, ...]:
    """A site's own rules, in clingo's language, which may build on those that are known."""
    read = [rule for path in paths for rule in _read(Path(path))]
    check_words(read, [*known, *read])
    return tuple(read)


def _read(path: Path) -> list[Rule]:
    return parse_rules(read_text(path, f"rules file {path.name}"), path.name)


def parse_rules(text: str, name: str) -> list[Rule]:
    """Rules from text."""
    ast = _clingo(".ast")
    subject = f"rules file {name}"
    elsewhere = _READ_ELSEWHERE.search(text)
    if elsewhere is not None:
        line = text.count("\n", 0, elsewhere.start(1)) + 1
        raise _not_a_rule(subject, line, f"#{elsewhere.group(1)}")
    statements: list[Any] = []
    with_clingo(lambda log: ast.parse_string(text, statements.append, logger=log), subject)
    rules: list[Rule] = []
    above: tuple[int, list[str]] = (0, [])
    for statement in statements:
        begin, end = statement.location.begin.line, statement.location.end.line
        kind = statement.ast_type
        adjoins = above[0] == begin - 1
        if kind == ast.ASTType.Comment:
            said = str(statement).strip("%* \n")
            if not (rules and begin == rules[-1].statement.location.end.line):
                above = (
                    end,
                    [*above[1], said] if adjoins and not _follows(rules, above) else [said],
                )
        elif kind == ast.ASTType.Rule:
            title = " ".join(above[1]) if adjoins else ""
            _check_statement(statement, subject)
            rules.append(Rule(name, begin, title, str(statement), statement))
            # Rules directly below each other share the comment above the first one.
            above = (end, above[1] if adjoins else [])
        elif not _is_harmless(statement):
            raise _not_a_rule(subject, begin, str(statement).split("(", 1)[0].split(" ", 1)[0])
    _check_safe(rules, subject)
    return rules


def _follows(rules: Sequence[Rule], above: tuple[int, list[str]]) -> bool:
    """Whether what stands above is a rule, and not a comment."""
    return bool(rules) and rules[-1].statement.location.end.line == above[0]


def _is_harmless(statement: Any) -> bool:
    ast = _clingo(".ast")
    kind = statement.ast_type
    if kind == ast.ASTType.Program:
        return statement.name == "base" and not len(statement.parameters)
    return kind in {ast.ASTType.ShowSignature, ast.ASTType.ShowTerm, ast.ASTType.Defined}


def _not_a_rule(subject: str, line: int, found: str) -> InputError:
    return InputError(
        subject,
        "must hold rules only",
        found=f"{found} in line {line}",
        accepted="facts, rules and `:-` lines of clingo's language",
    )


def _check_statement(statement: Any, subject: str) -> None:
    """Refuse functions that run Python."""
    for term in functions(statement):
        # A policy may come from somebody else, and must not run code.
        if getattr(term, "external", 0):
            raise _not_a_rule(subject, statement.location.begin.line, f"@{term.name}")


def _check_safe(rules: Sequence[Rule], subject: str) -> None:
    """Let clingo look at the rules without facts, so that its errors name one file and line."""
    clingo = _clingo()
    ast = _clingo(".ast")

    def run(log: Any) -> None:
        control = clingo.Control(["--warn=none"], logger=log)
        with ast.ProgramBuilder(control) as builder:
            for rule in rules:
                # Without facts nothing follows from the rules, so that the check takes no time.
                if rule.statement.body:
                    builder.add(rule.statement)
        control.ground()

    with_clingo(run, subject)


_SUBJECT = "the rules"
SHOWN = 5
"""Applications of one rule that are given as reasons for one atom; there may be thousands."""


@dataclass(frozen=True)
class Application:
    """One application of a rule, to clingo's symbols; ``without(Atom)`` for what must not hold."""

    rule: Rule
    used: tuple[Any, ...]


class Reasoner:
    """Everything that follows from facts by rules."""

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
        clingo, ast = _clingo(), _clingo(".ast")
        # A second model is enough to know that there is not one answer.
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
                advice="look at the site's `:-` lines"
                if not models
                else "look at the site's rules with a choice or with 'not'",
            )
        # Mostly all is decided by grounding: then asking each atom of a model would only take time.
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
        """What holds of a word, as clingo's symbols, in no order."""
        for atom in self._control.symbolic_atoms.by_signature(word, terms):
            if atom.is_fact or atom.literal in self._true:
                yield atom.symbol

    def about(self, word: str, terms: int, first: str) -> list[Any]:
        """What holds of a word and a first term, as clingo's symbols, sorted.

        The term is text, or what the rules' language writes.
        """
        return sorted(atom for atom in self.atoms(word, terms) if plain(atom.arguments[0]) == first)

    def because(self, wanted: Iterable[Any]) -> dict[Any, tuple[Application, ...]]:
        """The applications of rules that lead to some atoms, `SHOWN` of each rule at most.

        None lead to a fact.
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
        # Sorted triples, so that the reasons that are kept are the same in every run.
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
        clingo = _clingo()
        if not self._prepared:
            self._control.add("why", ["step"], because_program(self.rules))
            self._prepared = True
        self._step += 1
        part = f"wanted_{self._step}"
        # A number for each question, as what was grounded
        # for one is not grounded again for the next.
        facts = "\n".join(f"wanted({atom},{self._step})." for atom in asked)
        self._control.add(part, [], facts)
        self._control.ground([(part, []), ("why", [clingo.Number(self._step)])])
