"""Hold constants: each of tools/constants.toml is changed, and the fast test beside it must fail.

Usage: constants.py check [WORD]   all constants of the table, or those whose module has a word
       constants.py find FILE...   constants of these modules that the table lacks, as its lines

A constant is changed as its module is compiled, so that what is worked out from it changes, too.
`find` tries the room's tests that name the module, those of the file of the same name first.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tools" / "constants.toml"
RUN = """
import ast, sys
from importlib.machinery import SourceFileLoader
import pytest
path, name, value, *words = sys.argv[1:]
stats, compiled = SourceFileLoader.path_stats, SourceFileLoader.source_to_code
def path_stats(self, at):
    if at == path:
        raise OSError("compile it anew")
    return stats(self, at)
def source_to_code(self, data, at, **more):
    if at == path:
        tree = ast.parse(data)
        for node in tree.body:
            targets = getattr(node, "targets", [getattr(node, "target", None)])
            if any(getattr(each, "id", None) == name for each in targets):
                node.value = ast.copy_location(ast.Constant(ast.literal_eval(value)), node.value)
        data = ast.unparse(tree)
    return compiled(self, data, at, **more)
SourceFileLoader.path_stats, SourceFileLoader.source_to_code = path_stats, source_to_code
sys.dont_write_bytecode = True
sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "--tb=no", *words]))
"""


def failing(module: str, name: str, value: float, *tests: str) -> str:
    """The first of some tests that fails under another value; "" where none does."""
    path = ROOT / "src" / f"{module.replace('.', '/')}.py"
    done = subprocess.run(  # noqa: S603
        (sys.executable, "-c", RUN, str(path), name, repr(value), *tests),
        cwd=ROOT, env={**os.environ, "CI": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return "" if done.returncode != 1 or found is None else found[1].partition("[")[0]


def constants(path: Path) -> Iterator[tuple[str, float]]:
    """Names and values of a module's numeric constants."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(node, ast.Assign) or not isinstance(target, ast.Name):
            continue
        value = node.value.value if isinstance(node.value, ast.Constant) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and value:
            yield target.id, value


def changed(value: float) -> float:
    """Another value within a factor of two; of shares above a half the middle between it and 1."""
    if isinstance(value, int):
        return value + max(1, value // 2)
    return (value + 1) / 2 if 0.5 <= value < 1 else value / 2


def find(files: list[str]) -> int:
    """Print a line of the table for each constant that is held, and name the others."""
    known = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    for file in files:
        path = Path(file).resolve()
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        module, room = ".".join(parts), ROOT / "tests" / parts[1]
        own = [each for each in room.rglob("test_*.py") if parts[-1] in each.read_text("utf-8")]
        own.sort(key=lambda each: each.stem != f"test_{parts[-1]}")
        tests = [str(each.relative_to(ROOT)) for each in own]
        print(f'\n["{module}"]', flush=True)
        for name, value in constants(path):
            if name in known.get(module, {}):
                continue
            other = changed(value)
            test = failing(module, name, other, *tests) if tests else ""
            print(f'{name} = [{other!r}, "{test}"]' if test else f"# nothing holds {name}",
                  flush=True)  # fmt: skip
    return 0


def check(word: str = "") -> int:
    """Say which constants no test holds any more: 1 where there is one."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    tried = [
        (module, name, value, test)
        for module, own in table.items() if word in module
        for name, (value, test) in own.items()
    ]  # fmt: skip
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda each: failing(*each), tried))
    lost = [each for each, test in zip(tried, found, strict=True) if not test]
    for module, name, value, test in lost:
        print(f"{module}.{name} = {value}: {test} does not fail")
    print(f"{len(tried) - len(lost)} of {len(tried)} constants are held by a fast test")
    return min(len(lost), 1)


if __name__ == "__main__":
    sys.exit(find(sys.argv[2:]) if sys.argv[1] == "find" else check(*sys.argv[2:]))
