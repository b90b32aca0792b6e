"""What an intruder holds, what the referee is told, how it is judged: each option declared once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sfumato.core import declaration
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from sfumato.risk.verdict import Limits

Shares = float | Mapping[str, float]
"""A share of all quasi-identifiers, or shares by column."""


def _shares(option: str, words: Sequence[str]) -> Shares:
    """A share for all columns, or shares by column, of the words of an option."""
    if len(words) == 1 and "=" not in words[0]:
        return _share(option, words[0])
    shares = {}
    for word in words:
        # The last sign divides them: a column's name may hold one, a share cannot.
        column, equals, share = word.rpartition("=")
        if not equals or not column:
            raise InputError(
                f"option {option}",
                "must be one share, or shares of single columns",
                found="both",
                accepted="SHARE, or COLUMN=SHARE as often as needed",
            )
        shares[column] = _share(option, share)
    return shares


def _share(option: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        # What is no number is refused like what is out of range, with one message.
        share = -1.0
    if not 0 <= share <= 1:
        raise InputError(f"option {option}", "must be a share", accepted="0 to 1")
    return share


def _hierarchy_files(option: str, words: Sequence[str]) -> dict[str, Path]:
    """The files of hierarchies by column; they are looked for before any work."""
    files = declaration.by_name(option, words)
    if not all(path.is_file() for path in files.values()):
        raise InputError(
            f"option {option}",
            "must name a column and a file that can be read",
            accepted="COLUMN=FILE",
        )
    return files


@dataclass(frozen=True)
class Holding:
    """What the intruder holds."""

    register: Annotated[
        Any,
        declaration.Parameter(
            "People with exact values, such as the population. The original where not given: "
            "what an acquaintance knows; for a release on request, the local data of the one "
            "who asked.",
            "FILE",
            path=True,
        ),
    ] = None
    priors: Annotated[
        Sequence[Any],
        declaration.Parameter(
            "Another release about the same people. Repeatable.",
            "FILE",
            path=True,
            option="--prior",
        ),
    ] = ()
    knows: Annotated[
        Sequence[str] | None,
        declaration.Parameter(
            "A quasi-identifier that the intruder knows; all of them where not given. Repeatable.",
            "COLUMN",
        ),
    ] = None
    counts: Annotated[
        bool,
        declaration.Parameter(
            "The intruder knows how many records each person has in the release."
        ),
    ] = False
    noise: Annotated[
        Shares,
        declaration.Parameter(
            "Share of what the intruder knows that is wrong, of all columns or of one.",
            "SHARE|COLUMN=SHARE",
            declaration.ShareOrShares(),
            parse=_shares,
        ),
    ] = 0.0
    missing: Annotated[
        Shares,
        declaration.Parameter(
            "Share of the values that the intruder does not know, likewise.",
            "SHARE|COLUMN=SHARE",
            declaration.ShareOrShares(),
            parse=_shares,
        ),
    ] = 0.0
    hierarchies: Annotated[
        Mapping[str, str | os.PathLike[str]],
        declaration.Parameter(
            "The published hierarchy of a column, one row per leaf; the schema's where not given.",
            "COLUMN=FILE",
            option="--hierarchy",
            parse=_hierarchy_files,
        ),
    ] = field(default_factory=dict)
    review: Annotated[
        Path | None,
        declaration.Parameter(
            "The folder of a clerical review: attack with what a worker's screen showed. It is "
            "what 'sfumato link' wrote, or a project, with the journals of the workbench's desk.",
            "FOLDER",
        ),
    ] = None

    def __post_init__(self) -> None:
        declaration.check_fields(self)
        # One name alone would be taken for a sequence of letters.
        if isinstance(self.knows, str):
            object.__setattr__(self, "knows", (self.knows,))
        object.__setattr__(self, "hierarchies", self.hierarchies or {})
        if self.review is not None:
            object.__setattr__(self, "review", Path(self.review))


@dataclass(frozen=True)
class Referee:
    """What only the referee is told: whose the records are."""

    original: Annotated[
        Any,
        declaration.Parameter(
            "The file that was released, where the release does not hold it. On the command line "
            "the release is repeated, with the release.toml beside it, and what it predicted is "
            "held against the attacks.",
            "DATA",
            path=True,
        ),
    ] = None
    truth: Annotated[
        Any,
        declaration.Parameter(
            "Columns 'row' and 'person' say whose each record is. A row is one of the release, "
            "from 1; a person is an id of the register or original, or its row number where it "
            "has no person column. In Python also 'same-order', or a person id per record. Without "
            "it and without original and register, the file is its own original.",
            "FILE",
            path=True,
        ),
    ] = None


@dataclass(frozen=True)
class Judging:
    """Which attacks run and what the file is held against."""

    attacks: Annotated[
        tuple[str, ...] | None,
        declaration.Parameter(
            "Run this attack; all that fit where not given. Repeatable.", "NAME", option="--attack"
        ),
    ] = None
    population: Annotated[
        int | None,
        declaration.Parameter(
            "People of the population that the register is of, for what is predicted of a file "
            "that comes without predictions.",
            "N",
            declaration.Count(1),
        ),
    ] = None
    limits: Annotated[
        Any,
        declaration.Parameter(
            "Limits of what intruders may find: public, contract, room, public-strict or cms; "
            "without it those of a public release, in Python those of the release.",
            "NAME",
        ),
    ] = None

    def __post_init__(self) -> None:
        declaration.check_fields(self)


@dataclass(frozen=True)
class Circumstances(declaration.Layout):
    """What an attack is made with."""

    seed: declaration.Seed = None


class AttackOptions(declaration.LayoutGiven, total=False):
    """The keywords of `sfumato.attack`; a test holds them to the declarations of this module."""

    register: Any
    priors: Sequence[Any]
    knows: Sequence[str] | None
    counts: bool
    noise: Shares
    missing: Shares
    hierarchies: Mapping[str, str | os.PathLike[str]] | None
    review: str | os.PathLike[str] | None
    original: Any
    truth: Any
    attacks: Sequence[str] | None
    population: int | None
    limits: str | Limits | None
    seed: int | None
