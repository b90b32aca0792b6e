"""Rules read from files: their titles, places and statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.semantics.extra import needed
from sfumato.semantics.rules.clingo_errors import with_clingo
from sfumato.semantics.rules.model import Rule
from sfumato.semantics.rules.words_used import check_words, functions

HOUSE_FILES = ("rules.lp", "requests.lp")
"""The files of the package."""
_READ_ELSEWHERE = re.compile(r"^[^%\"]*#\s*(include|script)\b", re.MULTILINE)


def house_rules() -> tuple[Rule, ...]:
    """The rules of the package: rules 1 to 7, and when a request is refused.

    Raises
    ------
    InputError
        If clingo is not installed.
    """
    folder = Path(__file__).parent
    return tuple(rule for name in HOUSE_FILES for rule in _read(folder / name))


def read_rules(paths: Iterable[Path], known: Iterable[Rule]) -> tuple[Rule, ...]:
    """A site's own rules.

    Parameters
    ----------
    paths
        The files, in UTF-8, in clingo's language.
    known
        The rules that they may build on.

    Raises
    ------
    InputError
        If a file cannot be read, is not in clingo's language, runs or reads something else, or
        has a rule that uses a word which no fact and no rule says.
    """
    read = [rule for path in paths for rule in _read(Path(path))]
    check_words(read, [*known, *read])
    return tuple(read)


def _read(path: Path) -> list[Rule]:
    subject = f"rules file {path.name}"
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(subject, "must be text in UTF-8") from None
    except OSError as error:
        found = "a folder" if isinstance(error, IsADirectoryError) else error.strerror or ""
        raise InputError(subject, "must be a file that can be read", found=found.lower()) from None
    return parse_rules(text, path.name)


def parse_rules(text: str, name: str) -> list[Rule]:
    """Rules from text.

    Parameters
    ----------
    text
        The text, in clingo's language.
    name
        Name of the file that it comes from.

    Raises
    ------
    InputError
        If it is not in clingo's language, or has statements other than rules.
    """
    ast = needed("clingo.ast", "rules")
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
            above = (end, above[1] if adjoins else [])
        elif not _is_harmless(statement):
            raise _not_a_rule(subject, begin, str(statement).split("(", 1)[0].split(" ", 1)[0])
    _check_safe(rules, subject)
    return rules


def _follows(rules: Sequence[Rule], above: tuple[int, list[str]]) -> bool:
    """Whether what stands above is a rule, and not a comment."""
    return bool(rules) and rules[-1].statement.location.end.line == above[0]


def _is_harmless(statement: Any) -> bool:
    ast = needed("clingo.ast", "rules")
    kind = statement.ast_type
    if kind == ast.ASTType.Program:
        return statement.name == "base" and not len(statement.parameters)
    return kind in {ast.ASTType.ShowSignature, ast.ASTType.ShowTerm, ast.ASTType.Defined}


def _not_a_rule(subject: str, line: int, found: str) -> InputError:
    return InputError(
        subject,
        "must hold rules only",
        found=f"{found} in line {line}",
        accepted="facts, rules and constraints of clingo's language",
    )


def _check_statement(statement: Any, subject: str) -> None:
    """Refuse functions that run Python."""
    for term in functions(statement):
        if getattr(term, "external", 0):
            raise _not_a_rule(subject, statement.location.begin.line, f"@{term.name}")


def _check_safe(rules: Sequence[Rule], subject: str) -> None:
    """Let clingo look at the rules without facts, so that its errors name one file and line."""
    clingo = needed("clingo", "rules")
    ast = needed("clingo.ast", "rules")

    def run(log: Any) -> None:
        control = clingo.Control(["--warn=none"], logger=log)
        with ast.ProgramBuilder(control) as builder:
            for rule in rules:
                if rule.statement.body:
                    builder.add(rule.statement)
        control.ground()

    with_clingo(run, subject)
