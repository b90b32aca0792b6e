"""Small folders to review, of values that no word of a program is made of."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.core.declaration import silent
from sfumato.review.review_journal import folder_lock
from sfumato.review.review_project import Project, write_project
from sfumato.review.review_session import Session, begin
from sfumato.review.review_settings import Attribute, AttributeKind, NamePart, Settings
from sfumato.review.review_sources import open_folder

ATTRIBUTES = (
    Attribute(name="given_name", kind=AttributeKind.VARIABLE, name_part=NamePart.GIVEN),
    Attribute(name="surname", kind=AttributeKind.VARIABLE, name_part=NamePart.FAMILY),
    Attribute(name="number", kind=AttributeKind.FIXED),
)
Record = tuple[str | None, ...]
PLANTED: tuple[Record, ...] = (
    ("QXZJKVWQQXZJ", "ZZKVJQXWQZKV", "XKXQJVZWZQKJ"),
    ("QXZJKVWQQXZJ", "ZZKVJQXWQZVK", "WVJKQZXXJQWZ"),
    ("VJVQKXWZJXKQ", "KZQWXJVKZZXQ", "ZXQVKJWQVXJK"),
    ("VJVQKXWZJXKJ", "KZQWXJVKZZXQ", "ZXQVKJWQVXJK"),
    ("QXZJKVWQQXZJ", "KZQWXJVKZZXQ", None),
    ("JQWKZVXJQKWV", "VQKJXZWKJQVX", "QJXKVZJWQKXV"),
)
"""Records of twelve characters."""
PAIRS = ((0, 1), (2, 3), (4, 5))


def project_folder(
    folder: Path,
    settings: Settings | None = None,
    gold: bool = False,
    planted: Sequence[Record] = PLANTED,
    pairs: Sequence[tuple[int, int]] = PAIRS,
) -> Path:
    """A project of planted records."""
    columns = dict(
        zip(("given_name", "surname", "number"), zip(*planted, strict=True), strict=True)
    )
    records = pa.table(
        {
            "source": pa.array(["a"] * len(planted), pa.large_string()),
            "id": pa.array([str(n) for n in range(len(planted))], pa.large_string()),
            **{name: pa.array(values, pa.large_string()) for name, values in columns.items()},
        }
    )
    left, right = zip(*pairs, strict=True)
    table = pa.table(
        {
            "pair": pa.array([f"p{n + 1}" for n in range(len(pairs))], pa.string()),
            "left": pa.array(left, pa.int64()),
            "right": pa.array(right, pa.int64()),
        }
    )
    truth = {"p1": True, "p3": False} if gold else {}
    project = Project(ATTRIBUTES, settings or Settings(budget=None), records, table, gold=truth)
    return write_project(project, folder)


def many_pairs(folder: Path, count: int, settings: Settings) -> tuple[Path, set[str]]:
    """A project of many pairs, and the values of its records."""
    rng, planted = random.Random(5), list[Record]()
    for _ in range(count):
        one = ["".join(rng.choices("JKQVWXZ", k=12)) for _ in ATTRIBUTES]
        # Never alike: such a cell opens in full alone, and which pair is first is random.
        other = [value[:-1] + rng.choice("JKQVWXZ".replace(value[-1], "")) for value in one]
        planted += [tuple(one), tuple(other)]
    pairs = [(2 * number, 2 * number + 1) for number in range(count)]
    made = project_folder(folder, settings, planted=planted, pairs=pairs)
    return made, {value for record in planted for value in record if value}


def reviewed(
    folder: Path, do: Callable[[Session], Any] = lambda _session: None, worker: str = "reviewer",
    **given: Any,
) -> Session:  # fmt: skip
    """A session in a folder in which something was done; its journal is closed."""
    with folder_lock(folder):
        session = begin(folder, open_folder(folder), worker, given, silent)
        do(session)
        session.journal.close()
    return session


def grams(values: Sequence[str], length: int = 4) -> set[str]:
    """All pieces of some values."""
    return {v[at : at + length] for v in values for at in range(len(v) - length + 1)}
