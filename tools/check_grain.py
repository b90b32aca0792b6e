"""Check the grain of the house: how deep modules are, and how many files a call goes through.

1. A module below 150 lines has more than one importer, or one outside its folder. What a
   registry finds (promises, attacks, commands, migrations) has none and is left out, and so is
   what needs an extra and is imported by whoever has it.
2. At most 8 % of the lines are imports.
3. The name of a file is that of no other, but for frameworks' own and the twins of two engines.
4. One `assess` of a CSV enters at most 20 files, one `anonymize` at most 46.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
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
SMALL, IMPORTS, ASSESS, ANONYMIZE = 150, 0.08, 20, 46
QUIET = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
TRACED = """
import sys, sfumato as sf
from pathlib import Path
home = str(Path(sf.__file__).parent)
entered = set()
def note(frame, event, _):
    if event == "call" and frame.f_code.co_filename.startswith(home):
        if frame.f_code.co_name not in ("<module>", "__getattr__"):
            entered.add(frame.f_code.co_filename)
schema = sf.Schema(
    person="person", quasi_identifiers={"age": "numeric", "sex": "categorical"}, sensitive=["code"]
)
call = sys.argv[2]
promises = (sf.GBalance(0.8), sf.HAffiliation(0.9)) if call == "anonymize" else ()
getattr(sf, call)
sys.setprofile(note)
getattr(sf, call)(sys.argv[1], schema, *promises)
sys.setprofile(None)
print("\\n".join(sorted(entered)))
"""


@dataclass
class Module:
    """A file of the package: its lines of code, those of its imports, what it imports."""

    path: Path
    lines: int = 0
    code: int = 0
    imports: int = 0
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


def entered(call: str) -> list[str]:
    """The files that a call goes through, on 1,000 records in a CSV file."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "visits.csv"
        rows = [f"{n % 300},{20 + n * 7 % 60},{'fm'[n % 2]},{n * n % 11}" for n in range(1000)]
        data.write_text("\n".join(["person,age,sex,code", *rows]), encoding="utf-8")
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", TRACED, str(data), call],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    return done.stdout.split()


def main() -> int:
    """Print the figures, and what breaks a rule; 1 where something does."""
    modules = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
        modules[name.removesuffix(".__init__")] = read(path)
    broken = [*lonely(modules), *repeated(modules)]
    code = sum(each.code for each in modules.values())
    share = sum(each.imports for each in modules.values()) / code
    if share > IMPORTS:
        broken.append(f"{share:.1%} of the lines are imports")
    for call, most in (("assess", ASSESS), ("anonymize", ANONYMIZE)):
        files = entered(call)
        print(f"{call} enters {len(files)} files of {most}")
        if len(files) > most:
            broken += [f"{call} enters {len(files)} files, at most {most}", *files]
    print(f"{len(modules)} files, {code} lines of code, {share:.1%} imports")
    print("\n".join(broken))
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
