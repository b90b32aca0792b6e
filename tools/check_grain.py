"""Check the grain of the house: how deep modules are, and how many files a call goes through.

1. A module below 150 lines has more than one importer, or one outside its folder. What a
   registry finds (promises, attacks, commands, migrations) has none and is left out, and so is
   what needs an extra and is imported by whoever has it.
2. At most 8 % of the lines are imports.
3. The name of a file is that of no other, but for frameworks' own and the twins of two engines.
4. A function runs in at most so many files of the package in one `assess`, `anonymize` and `link`
   by the command line, with its report. The ceilings only fall.
5. A vague name takes at most so large a share of the assignments, docstrings at most so many lines.
6. At most so many functions have eight parameters or more.
"""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "sfumato"
REGISTERED = (
    "release/promises",
    "intruder/attacks",
    "server/migrations",
    "server/store/migrations",
)
"""Folders whose modules a registry finds."""
EXTRA = {"sfumato.intruder.review_screens", "sfumato.server.workbench.job_process"}
"""Modules of an extra that are imported within a function, or by a process of their own."""
SHARED = {
    "__init__", "admin", "apps", "asgi", "forms", "models", "services", "settings", "urls",
    "views", "wsgi",
}  # fmt: skip
"""Names that frameworks give to files."""
SMALL, IMPORTS = 150, 0.08
VAGUE = {
    "asked", "each", "found", "given", "held", "here", "kept", "known", "made", "one", "other",
    "own", "said", "seen", "shown", "taken", "there", "told", "whole",
}  # fmt: skip
"""Names that say nothing of what they hold."""
VAGUE_SHARE, DOCSTRINGS, PARAMETERS, LONG = 0.113, 27_500, 7, 40
"""What is reached; the aim for names is 0.04."""
JOURNEYS = {
    "assess": (54, "assess visits.csv --schema schema.toml --report a.html"),
    "assess with a population": (
        69, "assess visits.csv --schema schema.toml --population 10000 --report b.html"
    ),
    "anonymize": (
        96,
        "anonymize visits.csv --schema schema.toml --g-balance 0.8 --output r.csv --report c.html",
    ),
    "link": (75, "link a.csv b.csv --output linked"),
}  # fmt: skip
"""Files at most, and the command; the aims are 25, 35, 45 and 50."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
QUIET = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
TRACED = """
import sys, threading
from pathlib import Path
import sfumato
home = str(Path(sfumato.__file__).parent)
entered = set()
def note(frame, event, _):
    path = frame.f_code.co_filename
    # Bodies of classes run once a module is loaded, which is no step of the way.
    if event != "call" or path in entered or not path.startswith(home) or not path.endswith(".py"):
        return
    while frame:
        if frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(home):
            return
        frame = frame.f_back
    entered.add(path)
from sfumato.cli.app import app
sys.argv[0] = "sfumato"
threading.setprofile(note)
sys.setprofile(note)
try:
    app()
finally:
    sys.setprofile(None)
    Path("entered").write_text("\\n".join(sorted(entered)))
"""
GIVEN, FAMILY = ("anna", "ben", "carla", "dora", "emil"), ("mayer", "huber", "gruber")
SCHEMA = """person = "person"
sensitive = ["code"]
[quasi_identifiers]
age = "numeric"
sex = "categorical"
zip = "categorical"
region = "categorical"
"""


@dataclass
class Module:
    """A file of the package: its lines of code, those of its imports, what it imports."""

    path: Path
    lines: int = 0
    code: int = 0
    imports: int = 0
    docstrings: int = 0
    long: int = 0
    stores: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)

    @property
    def folder(self) -> str:
        """Its folder within the package."""
        return self.path.parent.relative_to(SOURCE).as_posix()


def code_lines(source: str) -> int:
    """Number of lines that hold code: no blank line, comment or docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in QUIET:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def read(path: Path) -> Module:
    """A module and what it imports from the package, by dotted names."""
    source = path.read_text(encoding="utf-8")
    found = Module(path, source.count("\n"), code_lines(source))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            found.docstrings += (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            found.long += len([a for a in arguments if a.arg not in ("self", "cls")]) > PARAMETERS
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.stores.append(node.id)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            found.imports += (node.end_lineno or node.lineno) - node.lineno + 1
        if isinstance(node, ast.ImportFrom) and node.module:
            found.names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return found


def lonely(modules: dict[str, Module]) -> Iterator[str]:
    """Small modules that only a neighbour imports."""
    importers: dict[str, set[str]] = defaultdict(set)
    for name, module in modules.items():
        for each in module.names & modules.keys():
            importers[each].add(name)
    for name, module in modules.items():
        if module.folder in REGISTERED or name in EXTRA or module.path.stem == "__init__":
            continue
        by = importers[name]
        if (
            module.lines < SMALL
            and len(by) == 1
            and modules[next(iter(by))].folder == module.folder
        ):
            yield f"{name}: {module.lines} lines, and only {next(iter(by))} imports it"


def repeated(modules: dict[str, Module]) -> Iterator[str]:
    """Names that several files have."""
    named = Counter(
        each.path.stem
        for each in modules.values()
        if each.path.stem not in SHARED and not each.folder.startswith("engines/")
    )
    for name, times in named.items():
        if times > 1:
            yield f"{name}.py is the name of {times} files"


def entered(folder: Path, command: str) -> list[str]:
    """The files in which a function runs for a command."""
    subprocess.run(  # noqa: S603
        [sys.executable, "-c", TRACED, *command.split()],
        cwd=folder, env={**os.environ, "HOME": str(folder)}, capture_output=True, check=True,
    )  # fmt: skip
    return (folder / "entered").read_text(encoding="utf-8").split()


def make_files(folder: Path) -> None:
    """Write 1,000 records with four quasi-identifiers, their schema, and two files to link."""
    visits = [
        f"{n % 300},{20 + n * 7 % 60},{'fm'[n % 2]},{1000 + n % 7},{'abcd'[n * n % 4]},{n * n % 11}"
        for n in range(1000)
    ]
    people = [
        f"{n},{GIVEN[n % 5]},{FAMILY[n % 3]}"
        f"{'abcdefghij'[n % 10]},{1940 + n * 13 % 60}-{1 + n % 12:02d}-{1 + n * 5 % 28:02d}"
        for n in range(400)
    ]
    header = "id,first_name,last_name,birth_date"
    for name, lines in {
        "visits": ["person,age,sex,zip,region,code", *visits],
        "a": [header, *people[:300]],
        "b": [header, *people[100:]],
    }.items():
        (folder / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "schema.toml").write_text(SCHEMA, encoding="utf-8")


def journeys() -> Iterator[str]:
    """Print how many files each command goes through, and give those that are too many."""
    with tempfile.TemporaryDirectory() as made:
        make_files(Path(made))
        for journey, (most, command) in JOURNEYS.items():
            files = entered(Path(made), command)
            print(f"{journey}: functions of {len(files)} files run, of {most}")
            if len(files) > most:
                yield from (f"{journey} goes through {len(files)} files, at most {most}", *files)


def too_much(modules: Collection[Module]) -> Iterator[str]:
    """Print the shares of the whole house, and give those above their ceilings."""
    code = sum(module.code for module in modules)
    names = [name for module in modules for name in module.stores]
    for what, value, most in (
        ("share of lines that are imports", sum(m.imports for m in modules) / code, IMPORTS),
        ("share of vague names", sum(name in VAGUE for name in names) / len(names), VAGUE_SHARE),
        ("lines of docstrings", sum(m.docstrings for m in modules), DOCSTRINGS),
        ("functions with 8 parameters or more", sum(m.long for m in modules), LONG),
    ):
        print(f"{what}: {value:,.4g} of {most:,.4g}")
        if value > most:
            yield f"{what}: {value:,.4g}, at most {most:,.4g}"
    print(f"{len(modules)} files, {code} lines of code")


def main() -> int:
    """Print the figures, and what breaks a rule; 1 where something does."""
    modules = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        modules[name.removesuffix(".__init__")] = read(path)
    broken = [
        *lonely(modules), *repeated(modules), *too_much(modules.values()), *journeys()
    ]  # fmt: skip
    print("\n".join(broken))
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
