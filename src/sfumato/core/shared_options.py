"""Options that several verbs take, each declared once, and how long work tells how far it is."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeGuard

from sfumato.core.declaration import Count, Parameter, Share
from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SEEDS = Count(0, 2**63 - 1)
Seed = Annotated[
    int | None, Parameter("Seed of every random choice; drawn when not given.", "NUMBER", SEEDS)
]
Delimiter = Annotated[
    str | None, Parameter("The separator of a CSV file; found by itself.", "CHARACTER")
]
Threshold = Annotated[
    float,
    Parameter("Risk above which a record counts as at risk.", "SHARE", Share(zero=False, one=True)),
]
EngineName = Annotated[
    str | None,
    Parameter(
        "Where the work is done: embedded (in this process) or spark, with sfumato[spark].",
        "NAME",
    ),
]
PseudonymKey = Annotated[
    bytes | None,
    Parameter(
        "Key for pseudonyms that are the same in every release; random without it.",
        "FILE",
        path=True,
    ),
]


Progress = Callable[[str, float], None]
"""Called with the name of the stage and the share of it that is done, in [0, 1]."""


def silent(stage: str, share: float) -> None:
    """A progress that tells nobody."""


def by_name(option: str, words: Sequence[str]) -> dict[str, Path]:
    """The files of an option that is given as NAME=FILE, once for each name.

    Parameters
    ----------
    option
        How the error calls it.
    words
        What was given with it.

    Raises
    ------
    InputError
        If one has another form, or a name is there twice.
    """
    return {name: Path(file) for name, file in named_words(option, words).items()}


def named_words(option: str, words: Sequence[str]) -> dict[str, str]:
    """What an option that is given as NAME=FILE says by name, as texts.

    Parameters
    ----------
    option
        How the error calls it.
    words
        What was given with it.

    Raises
    ------
    InputError
        If one has another form, or a name is there twice.
    """
    found: dict[str, str] = {}
    for each in words:
        name, _, file = each.partition("=")
        if not (name and file) or name in found:
            raise InputError(
                f"option {option}",
                "must name each once, with its file",
                found="a name twice" if name in found else "another form",
                accepted="NAME=FILE",
            )
        found[name] = file
    return found


def drawn_seed(seed: object) -> int:
    """The seed that was given, or a fresh one.

    Raises
    ------
    InputError
        If it is no whole number of 63 bits.
    """
    if seed is None:
        return secrets.randbits(63)
    return SEEDS.check("parameter seed", seed)


@dataclass(frozen=True)
class Seeded:
    """Where the random choices of a command come from."""

    seed: Seed = None


@dataclass(frozen=True)
class Delimited:
    """How a file of text is read."""

    delimiter: Delimiter = None


_MODULES = ("pyspark.sql", "pyspark.sql.connect.dataframe")


class Engine(StrEnum):
    """Where a file is worked on: in this process, or on a Spark cluster."""

    EMBEDDED = "embedded"
    SPARK = "spark"


def is_spark_frame(data: object) -> TypeGuard[DataFrame]:
    """Whether the data is a DataFrame of PySpark, which is not imported for it.

    Parameters
    ----------
    data
        Anything.
    """
    kinds = [getattr(sys.modules.get(module), "DataFrame", None) for module in _MODULES]
    return any(kind is not None and isinstance(data, kind) for kind in kinds)


def takes_spark(data: object, engine: str | None) -> bool:
    """Whether a file is worked on by Spark.

    Parameters
    ----------
    data
        A dataframe, a path, or anything else that is opened.
    engine
        The name of an engine; without one, that of the data: Spark for a dataframe of PySpark.

    Raises
    ------
    InputError
        If there is no such engine.
    """
    if engine is None:
        return is_spark_frame(data)
    if engine not in tuple(Engine):
        raise InputError(
            "parameter engine",
            "must be the name of an engine",
            found="another value",
            accepted=", ".join(Engine),
        )
    return engine == Engine.SPARK
