"""Hold constants: each of tools/constants.toml is changed, and the fast test beside it must fail.

Usage: constants.py check [WORD]   all constants of the table, or those whose module has a word
       constants.py find FILE...   constants of these modules that the table lacks, as its lines

A constant is changed as its module is compiled, so that what is worked out from it changes, too.
`find` tries the room's tests that name the module, those of the file of the same name first.
"""

from __future__ import annotations

import ast
import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.machinery import SourceFileLoader
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "tools" / "constants.toml"
WARM = ["numpy", "pyarrow.compute", "pyarrow.parquet", "pytest", "scipy.stats"]
"""What most tests import and no constant changes: it is imported once, and each try is a fork."""


class FirstFailure:
    """The first test that fails; its parameters are left out."""

    test = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See how a test ended."""
        if report.failed and not self.test:
            self.test = report.nodeid.partition("[")[0]


def _compile_changed(file: str, name: str, value: float) -> None:
    """Compile a module with another value of a constant from now on."""
    stats, compiled = SourceFileLoader.path_stats, SourceFileLoader.source_to_code

    def path_stats(self: SourceFileLoader, path: str) -> Any:
        if path == file:
            raise OSError("compile it anew")
        return stats(self, path)

    def source_to_code(self: SourceFileLoader, data: Any, at: Any, **more: Any) -> Any:
        if at == file:
            tree = ast.parse(data)
            for node in tree.body:
                targets = getattr(node, "targets", [getattr(node, "target", None)])
                if any(getattr(target, "id", None) == name for target in targets):
                    constant = ast.Constant(value)
                    node.value = ast.copy_location(constant, node.value)
            data = ast.unparse(tree)
        return compiled(self, data, at, **more)

    SourceFileLoader.path_stats = path_stats  # type: ignore[method-assign]
    SourceFileLoader.source_to_code = source_to_code  # type: ignore[assignment,method-assign]
    sys.dont_write_bytecode = True


def failing(module: str, name: str, value: float, *tests: str) -> str:
    """The first of some tests that fails under another value; "" where none does.

    It is run in a process of its own, in which nothing of the package was imported before.
    """
    os.chdir(ROOT)
    os.environ["CI"] = "1"
    _compile_changed(str(ROOT / "src" / f"{module.replace('.', '/')}.py"), name, value)
    first = FirstFailure()
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
        # Plain assertions: the difference of two long lists takes minutes to explain.
        options = ["-q", "-x", "-pno:cacheprovider", "-mnot slow", "--tb=no", "--assert=plain"]
        pytest.main([*options, *tests], plugins=[first])
    return first.test


def trying() -> Pool:
    """Two processes at a time, each for one try."""
    context = get_context("forkserver")
    context.set_forkserver_preload(WARM)
    return context.Pool(2, maxtasksperchild=1)


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
            with trying() as pool:
                test = pool.apply(failing, (module, name, other, *tests)) if tests else ""
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
    lost = 0
    with trying() as pool:
        answers = [pool.apply_async(failing, each) for each in tried]
        for (module, name, value, test), answer in zip(tried, answers, strict=True):
            found = answer.get()
            lost += not found
            said = "" if found else f": {test} does not fail"
            print(f"{module}.{name} = {value}{said}", flush=True)
    print(f"{len(tried) - lost} of {len(tried)} constants are held by a fast test")
    return min(lost, 1)


if __name__ == "__main__":
    sys.exit(find(sys.argv[2:]) if sys.argv[1] == "find" else check(*sys.argv[2:]))
