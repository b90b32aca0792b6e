"""What other packages add: promises, attacks, readers and estimators, found by their entry points.

Nothing of them is loaded before its name is asked for, and no name of ours is looked for there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from sfumato.core.errors import InputError, SfumatoError

Kind = Literal["promise", "attack", "reader", "estimator"]
"""What is added; the group of its entry points is ``sfumato.promises`` and so on."""


@dataclass(frozen=True)
class Extension:
    """A part that another package adds."""

    kind: Kind
    name: str
    package: str
    version: str
    part: Any

    @property
    def key(self) -> str:
        """What stands beside its version in manifests and reports."""
        return f"{self.kind} {self.name} of {self.package}"

    def __str__(self) -> str:
        return f"{self.kind} {self.name} of the package {self.package} {self.version}"

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Let it work, and say its errors without its words, which may be values of the data.

        Yields
        ------
        None
            While it works.

        Raises
        ------
        SfumatoError
            If it fails.
        """
        try:
            yield
        # What others' code raises nobody knows, an error of ours with words of its own included.
        except Exception as error:  # noqa: BLE001
            raise SfumatoError(f"The {self} stopped with {type(error).__name__}.") from None


def extension_names(kind: Kind) -> tuple[str, ...]:
    """The names that installed packages add, none of them loaded."""
    from importlib.metadata import entry_points

    return tuple(sorted(entry_points(group=f"sfumato.{kind}s").names))


@cache
def extension(kind: Kind, name: str) -> Extension | None:
    """What an installed package adds under a name; ``None`` where none does."""
    # Costs the start of a program that needs none of it.
    from importlib.metadata import entry_points

    found = tuple(entry_points(group=f"sfumato.{kind}s", name=name))
    if not found:
        return None
    packages = {each.dist.name: each.dist.version for each in found if each.dist is not None}
    if len(packages) != 1:
        raise InputError(
            f"{kind} {name}",
            "must be added by one package",
            found=", ".join(sorted(packages)) or "none that pip installed",
            advice="uninstall the others",
        )
    (package, version), *_ = packages.items()
    try:
        part = found[0].load()
    # A package that is broken may raise anything while it loads.
    except Exception as error:  # noqa: BLE001
        raise InputError(
            f"{kind} {name}",
            f"must be importable from the package {package} {version}",
            found=type(error).__name__,
            advice="install it again, or ask its authors",
        ) from None
    return Extension(kind, name, package, version, part)
