"""Print how much room the core takes installed, and how much each extra adds, in MB.

Usage: sizes.py

Read from what is installed in this environment, without the bytecode that Python adds.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def closure(name: str, extras: frozenset[str], seen: dict[str, Distribution]) -> None:
    """Add a package, and all that it needs with some extras."""
    own = distribution(name)
    seen[canonicalize_name(name)] = own
    for line in own.requires or ():
        wanted = Requirement(line)
        if wanted.marker and not any(
            wanted.marker.evaluate({"extra": extra}) for extra in extras or {""}
        ):
            continue
        if canonicalize_name(wanted.name) not in seen or wanted.extras:
            closure(wanted.name, frozenset(wanted.extras), seen)


def size(package: Distribution) -> int:
    """Bytes of a package's files; sfumato's are those of its source, which may be editable."""
    if package.metadata["Name"] == "sfumato":
        import sfumato

        folder = Path(sfumato.__path__[0])
        files = list(folder.rglob("*"))
    else:
        files = [Path(str(package.locate_file(each))) for each in package.files or ()]
    return sum(each.stat().st_size for each in files if each.suffix != ".pyc" and each.is_file())


def sizes() -> dict[str, float]:
    """MB of the core, and MB that each extra adds to it.

    Raises
    ------
    SystemExit
        If this environment lacks a package of an extra.
    """
    core: dict[str, Distribution] = {}
    closure("sfumato", frozenset(), core)
    found = {"core": sum(map(size, core.values())) / 1e6}
    for extra in distribution("sfumato").metadata.get_all("Provides-Extra") or ():
        with_it: dict[str, Distribution] = {}
        try:
            closure("sfumato", frozenset({extra}), with_it)
        except PackageNotFoundError as error:
            raise SystemExit(f"the extra {extra} needs {error.name}, which is missing") from None
        found[extra] = sum(size(each) for name, each in with_it.items() if name not in core) / 1e6
    return found


if __name__ == "__main__":
    for name, megabytes in sizes().items():
        print(f"{name:<10} {megabytes:>6.0f}")
    sys.exit(0)
