"""Docstring rules that ruff does not know: Raises sections, and names that match the code.

Usage: check_docstrings.py FOLDER...

1. What `sfumato` exports, functions, methods and classes (``__init__`` and ``__post_init__``), and
   raises, itself or through a private helper of the same file, has a Raises section that names
   every exception which can leave it.
2. A Parameters section, where there is one, names parameters of the signature, in its order:
   those of which name and type do not say it all.
3. An Attributes section of an exported class, where there is one, names every public field.
4. No entry of Parameters or Attributes only repeats the words of its name and type.

Whether there is a docstring at all is ruff's business (D1).
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile, zip_longest
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)

UNNAMED = "an exception"
"""Stands for one whose class cannot be read from the code: a section is enough."""
CONTROL = {"StopIteration", UNNAMED}
"""Never has to be named."""
COMMANDS = "cli"
"""The folder of the commands, whose docstrings are their help texts: what they raise, users see."""
OF_THE_CLASS = ("__init__", "__post_init__")
ARTICLES = {"a", "an", "the", "of", "its", "this", "that", "to", "in", "one", "each"}
"""Words that add nothing to the name of a parameter."""


def sections(docstring: str) -> dict[str, list[str]]:
    """Names listed in each section of a NumPy-style docstring."""
    found: dict[str, list[str]] = {}
    names: list[str] = []
    lines = inspect.cleandoc(docstring).splitlines()
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        if line and re.fullmatch(r"-{3,}", below):
            names = found.setdefault(line.strip(), [])
        elif line and not line[0].isspace() and not re.fullmatch(r"-{3,}", line):
            names.extend(name.strip(" *`") for name in line.split(" : ")[0].split(","))
    return found


def repeating(docstring: str, types: Mapping[str, str]) -> list[str]:
    """Parameters and attributes whose entry says nothing but their name and type."""
    lines = inspect.cleandoc(docstring).splitlines()
    found: list[str] = []
    section = ""
    for number, line in enumerate(lines[:-1]):
        if re.fullmatch(r"-{3,}", lines[number + 1]):
            section = line
        below = [each for each in lines[number + 1 :] if each]
        text = " ".join(takewhile(lambda each: each[0].isspace(), below))
        words = set(re.findall(r"\w+", text.lower())) - ARTICLES
        known = f"{line} {types.get(line.strip('*'), '')}".lower()
        if (
            section in ("Parameters", "Attributes")
            and re.fullmatch(r"\*{0,2}\w+", line)
            and text
            and words <= set(re.findall(r"[a-z]+", known))
        ):
            found.append(line)
    return found


@dataclass
class Scope:
    """Where a function stands: what it may call, and what is being handled around it."""

    helpers: dict[str, Function]
    visited: set[str] = field(default_factory=set)  # shared: each helper is read once
    caught: frozenset[str] = frozenset()
    handled: tuple[str, ...] = ()
    variable: str | None = None


def _last_name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else UNNAMED


def _handled_names(handler: ast.ExceptHandler) -> tuple[str, ...]:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return tuple(_last_name(kind) for kind in kinds)


def _raised_names(node: ast.Raise, scope: Scope) -> tuple[str, ...]:
    raised = node.exc
    if raised is None or (isinstance(raised, ast.Name) and raised.id == scope.variable):
        return scope.handled
    name = _last_name(raised.func if isinstance(raised, ast.Call) else raised)
    if name[:1].isupper():
        return (name,)
    helper = scope.helpers.get(name)
    kind = _last_name(helper.returns) if helper is not None else UNNAMED
    return (kind if kind[:1].isupper() else UNNAMED,)


def _escaping_try(node: ast.Try, scope: Scope) -> Iterator[str]:
    names = frozenset(name for handler in node.handlers for name in _handled_names(handler))
    for child in node.body:
        yield from escaping(child, replace(scope, caught=scope.caught | names))
    for handler in node.handlers:
        around = replace(scope, handled=_handled_names(handler), variable=handler.name)
        for child in handler.body:
            yield from escaping(child, around)
    for child in (*node.orelse, *node.finalbody):
        yield from escaping(child, scope)


def _escaping_call(node: ast.Call, scope: Scope) -> Iterator[str]:
    name = _last_name(node.func)
    own = isinstance(node.func, ast.Name) or _last_name(getattr(node.func, "value", None)) in {
        "self",
        "cls",
    }
    if own and name.startswith("_") and name in scope.helpers and name not in scope.visited:
        scope.visited.add(name)
        for child in scope.helpers[name].body:
            found = escaping(child, Scope(scope.helpers, scope.visited))
            yield from (kind for kind in found if kind not in scope.caught)


def escaping(node: ast.AST, scope: Scope) -> Iterator[str]:
    """Names of the exceptions that leave a statement."""
    if isinstance(node, SCOPES):
        return
    if isinstance(node, ast.Try):
        yield from _escaping_try(node, scope)
        return
    if isinstance(node, ast.Raise):
        names = _raised_names(node, scope)
        yield from (name for name in names if name not in scope.caught)
    if isinstance(node, ast.Call):
        yield from _escaping_call(node, scope)
    for child in ast.iter_child_nodes(node):
        yield from escaping(child, scope)


def _raised_by(functions: list[Function], helpers: dict[str, Function]) -> set[str]:
    scope = Scope(helpers)
    return {
        name for function in functions for child in function.body for name in escaping(child, scope)
    }


def _parameters(function: Function) -> list[str]:
    given = function.args
    unpacked = given.kwarg and "Unpack" in ast.unparse(given.kwarg.annotation or ast.Constant(""))
    # `keywords` adds the options of a typed dictionary to the docstring.
    stars = [given.vararg, None if unpacked else given.kwarg]
    plain = [*given.posonlyargs, *given.args]
    names = [
        arg.arg
        for arg in (*plain, stars[0], *given.kwonlyargs, stars[1])
        if arg is not None and not arg.arg.startswith("_")
    ]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def _check_raises(found: dict[str, list[str]], raised: set[str]) -> Iterator[str]:
    documented = found.get("Raises", [])
    if missing := sorted(raised - CONTROL - set(documented)):
        yield f"Raises section lacks {', '.join(missing)}"
    elif UNNAMED in raised and not documented:
        yield "raises, but has no Raises section"


def _check_parameters(documented: list[str], names: list[str]) -> Iterator[str]:
    if documented != [name for name in names if name in documented]:
        yield f"Parameters are {names}, documented are {documented}"


def _check_function(
    function: Function, helpers: dict[str, Function], *, exported: bool
) -> Iterator[str]:
    found = sections(ast.get_docstring(function) or "")
    if exported:
        yield from _check_raises(found, _raised_by([function], helpers))
    documented = found.get("Parameters", []) + found.get("Other Parameters", [])
    yield from _check_parameters(documented, _parameters(function))
    given = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    yield from _check_words(function, {arg.arg: arg.annotation for arg in given})


def _check_words(
    node: Function | ast.ClassDef, annotations: Mapping[str, ast.expr | None]
) -> Iterator[str]:
    types = {name: ast.unparse(each) for name, each in annotations.items() if each is not None}
    if repeated := repeating(ast.get_docstring(node) or "", types):
        yield f"entries that only repeat name and type: {', '.join(repeated)}"


def _public_fields(node: ast.ClassDef) -> Iterator[str]:
    for child, below in zip_longest(node.body, node.body[1:]):
        if not isinstance(child, ast.AnnAssign) or not isinstance(child.target, ast.Name):
            continue
        explained = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        explained |= "Parameter(" in ast.unparse(child.annotation)  # a declaration has its words
        if not child.target.id.startswith("_") and not explained:
            yield child.target.id


def _check_class(
    node: ast.ClassDef, helpers: dict[str, Function], *, exported: bool
) -> Iterator[str]:
    found = sections(ast.get_docstring(node) or "")
    fields_of = {
        n.target.id: n.annotation
        for n in node.body
        if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
    }
    yield from _check_words(node, fields_of)
    if not exported:
        return
    makers = [n for n in node.body if isinstance(n, FUNCTIONS) and n.name in OF_THE_CLASS]
    yield from _check_raises(found, _raised_by(makers, helpers))
    documented = found.get("Parameters", []) + found.get("Attributes", [])
    fields = list(_public_fields(node))
    init = next((n for n in makers if n.name == "__init__"), None)
    if init is not None and "Parameters" in found and not fields:
        yield from _check_parameters(found["Parameters"], _parameters(init))
    elif documented and (missing := [name for name in fields if name not in documented]):
        yield f"fields without a word: {', '.join(missing)}"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _check_body(
    body: list[ast.stmt],
    helpers: dict[str, Function],
    exported: Collection[str] | bool,
    inside: str = "",
) -> Iterator[tuple[int, str]]:
    for node in body:
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)) or _is_private(node.name):
            continue
        name = f"{inside}{node.name}"
        public = exported if isinstance(exported, bool) else node.name in exported
        if isinstance(node, ast.ClassDef):
            methods = {n.name: n for n in node.body if isinstance(n, FUNCTIONS)}
            yield from (
                (node.lineno, f"{name}: {said}")
                for said in _check_class(node, {**helpers, **methods}, exported=public)
            )
            yield from _check_body(node.body, {**helpers, **methods}, public, f"{name}.")
        elif not node.name.startswith("__") or (
            ast.get_docstring(node) and node.name not in OF_THE_CLASS
        ):
            found = _check_function(node, helpers, exported=public)
            yield from ((node.lineno, f"{name}: {said}") for said in found)


def check_source(source: str, exported: Collection[str] | bool = True) -> list[tuple[int, str]]:
    """Line and text of every broken rule in one file, of which all or these names are exported."""
    tree = ast.parse(source)
    helpers = {node.name: node for node in tree.body if isinstance(node, FUNCTIONS)}
    return list(_check_body(tree.body, helpers, exported))


def exports() -> dict[str, set[str]]:
    """What the package exports, by the module where it is made."""
    import sfumato

    found = defaultdict(set)
    for name in sfumato.__all__:
        home = getattr(getattr(sfumato, name), "__module__", None)
        found[home or ""].add(name)
    return found


def main(folders: list[str]) -> int:
    """Print what breaks a rule; 1 when anything does."""
    broken, exported = 0, exports()
    for folder in folders:
        for file in sorted(Path(folder).rglob("*.py")):
            if COMMANDS in file.parts or "tests" in file.parts:
                continue
            module = ".".join(file.relative_to(folder).with_suffix("").parts)
            own = exported.get(module.removesuffix(".__init__"), set())
            for line, said in check_source(file.read_text(encoding="utf-8"), own):
                print(f"{file}:{line}: {said}")
                broken += 1
    return min(broken, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
