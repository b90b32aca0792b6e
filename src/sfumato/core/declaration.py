"""How a promise or an option is declared: once, as a field with its type, its range and its words.

A declaration is a frozen dataclass (or a pydantic model) whose fields carry a `Parameter`:

>>> @dataclass(frozen=True)
... class Trimming:
...     most: Annotated[int | None, Parameter("Keep at most M records.", "M", Count(1))] = None

The command line, the project file and its JSON Schema, the Python signature, the manifest and the
tables of the documentation are derived from `declared`, so that an option is added in one place.
Options that several verbs take stand at the end.
"""

from __future__ import annotations

import inspect
import os
import re
import secrets
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass
from difflib import get_close_matches
from enum import Enum, StrEnum
from functools import cache
from numbers import Integral, Real
from pathlib import Path
from textwrap import fill
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Protocol,
    TypedDict,
    TypeGuard,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from sfumato.core.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

REQUIRED = MISSING
"""The default of a parameter that has to be given."""
_Verb = TypeVar("_Verb", bound=Callable[..., Any])


class Range(Protocol):
    """The values that a parameter accepts; its text says which."""

    def check(self, subject: str, value: object) -> Any:
        """The value as its type has it, or an `InputError` about the subject."""

    @property
    def bounds(self) -> Mapping[str, float]:
        """The same in the words of JSON Schema, for a number."""


@dataclass(frozen=True)
class Share:
    """Numbers from 0 to 1, each end included or not."""

    zero: bool
    one: bool

    def __str__(self) -> str:
        return f"a number in {'[' if self.zero else '('}0, 1{']' if self.one else ')'}"

    def check(self, subject: str, value: object) -> float:
        """The value as a float."""
        # True is a number to Python, and a share of 1 for whoever wrote it by mistake.
        if isinstance(value, bool) or not isinstance(value, Real):
            raise InputError(
                subject, "must be a number", found=type(value).__name__, accepted=str(self)
            )
        number = float(value)
        above = number > 0 or (self.zero and number == 0)
        if not (above and (number < 1 or (self.one and number == 1))):
            raise InputError(subject, "must be a share", accepted=str(self))
        return number

    @property
    def bounds(self) -> Mapping[str, float]:
        """The two ends."""
        low, high = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")
        return {low[not self.zero]: 0, high[not self.one]: 1}


@dataclass(frozen=True)
class Between:
    """Numbers between two others, neither of which is accepted."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"above {self.low:g} and below {self.high:g}"

    def check(self, subject: str, value: object) -> float:
        """The value as a float."""
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not self.low < float(value) < self.high:  # type: ignore[arg-type]
            raise InputError(subject, f"must be {self}")
        return float(value)  # type: ignore[arg-type]

    @property
    def bounds(self) -> Mapping[str, float]:
        """The two ends."""
        return {"exclusiveMinimum": self.low, "exclusiveMaximum": self.high}


@dataclass(frozen=True)
class Above:
    """Numbers above another one."""

    low: float
    what: str = "a number"

    def __str__(self) -> str:
        return f"more than {self.low:g}"

    def check(self, subject: str, value: object) -> float:
        """The value as a float."""
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not self.low < float(value) < float("inf"):  # type: ignore[arg-type]
            raise InputError(subject, f"must be {self.what}", accepted=str(self))
        return float(value)  # type: ignore[arg-type]

    @property
    def bounds(self) -> Mapping[str, float]:
        """The lower end."""
        return {"exclusiveMinimum": self.low}


@dataclass(frozen=True)
class ShareOrShares:
    """A share from 0 to 1 for all columns, or shares by column."""

    def __str__(self) -> str:
        return "a number in [0, 1], or one by column"

    def check(self, subject: str, value: object) -> float | dict[str, float]:
        """The share, or the shares."""
        share = Share(zero=True, one=True)
        if isinstance(value, Mapping):
            return {name: share.check(subject, each) for name, each in value.items()}
        return share.check(subject, value)

    @property
    def bounds(self) -> Mapping[str, float]:
        """Those of one for all columns."""
        return Share(zero=True, one=True).bounds


@dataclass(frozen=True)
class Count:
    """Whole numbers from ``least`` on, up to ``most`` where there is a most."""

    least: int
    most: int | None = None

    def __str__(self) -> str:
        if self.most is None:
            return f"{self.least} or more"
        # Nobody reads 9223372036854775807: powers of 2 print as such.
        bits = (self.most + 1).bit_length() - 1
        most = f"2**{bits} - 1" if bits > 32 and self.most + 1 == 1 << bits else f"{self.most}"
        return f"{self.least} to {most}"

    def check(self, subject: str, value: object) -> int:
        """The value as an int."""
        whole = isinstance(value, Integral) and not isinstance(value, bool)
        if not whole or int(value) < self.least or int(value) > (self.most or int(value)):  # type: ignore[call-overload]
            raise InputError(subject, "must be a whole number", accepted=str(self))
        return int(value)  # type: ignore[call-overload,no-any-return]

    @property
    def bounds(self) -> Mapping[str, float]:
        """The least, and the most where there is one."""
        return {"minimum": self.least} | ({} if self.most is None else {"maximum": self.most})


@dataclass(frozen=True)
class Parameter:
    """What is said about a field beside its name, its type and its default.

    Attributes
    ----------
    help
        One or two sentences, as the command line and the documentation print them.
    flag
        Its key in a project file and, with dashes, its option; the field's name where empty.
    option
        Its option, where that is another one.
    usual
        What holds where the default is ``None``, in words.
    path
        Whether the command line and a project file name a file that holds the value; of a text,
        one that the command line takes as it is, for it may be a URI.
    parse
        Makes the value of the words of an option that may be repeated, given the option's name;
        of a number, of those that were given once.
    """

    help: str
    metavar: str = ""
    range: Range | None = None
    flag: str = ""
    option: str = ""
    usual: str = ""
    path: bool = False
    env: str = ""
    parse: Callable[[str, Sequence[str]], Any] | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """The schema of a field of a pydantic model, in which the range holds, too."""
        inner = handler(source)
        if self.range is None:
            return inner
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self._in_range, inner)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> Any:
        """Its JSON Schema, with the ends of the range."""
        found = handler(schema)
        if self.range is not None:
            # A type that may be null has its number within anyOf.
            for part in (found, *found.get("anyOf", ())):
                if part.get("type") in ("number", "integer"):
                    part.update(self.range.bounds)
        return found

    def checked(self, subject: str, value: Any) -> Any:
        """A value in the range, or a tuple of values that all are."""
        if self.range is None:
            return value
        if isinstance(value, tuple):
            return tuple(self.range.check(subject, each) for each in value)
        return self.range.check(subject, value)

    def _in_range(self, value: Any) -> Any:
        if value is None:
            return value
        try:
            return self.checked("", value)
        except InputError as error:
            # Pydantic catches ValueError alone, and puts the key before its words.
            raise ValueError(said_of_key(error)) from None


def said_of_key(error: InputError) -> str:
    """What a rule says where the key, which stands before it, is the subject."""
    return f"{error.rule}, accepted: {error.accepted}" if error.accepted else error.rule


@dataclass(frozen=True)
class Declared:
    """A declared field, as everything derived from it reads it.

    Attributes
    ----------
    type
        Its type without ``None``.
    optional
        Whether ``None`` is a value.
    default
        `REQUIRED` where it has none.
    """

    name: str
    type: Any
    optional: bool
    default: Any
    said: Parameter

    @property
    def key(self) -> str:
        """Its key in a project file."""
        return self.said.flag or self.name

    @property
    def option(self) -> str:
        """Its option on the command line."""
        return self.said.option or f"--{self.key.replace('_', '-')}"

    @property
    def option_name(self) -> str:
        """The one of its options that errors name."""
        return self.option.split()[0].partition("/")[0]

    @property
    def annotation(self) -> Any:
        """Its type as a signature shows it: words are texts."""
        kind = str if self.has_words else self.type
        return kind | None if self.optional else kind

    @property
    def usual(self) -> Any:
        """Its default as a plain value, as a signature shows it."""
        if self.default is REQUIRED:
            return inspect.Parameter.empty
        return word_of(self.default) if isinstance(self.default, Enum) else self.default

    @property
    def has_words(self) -> bool:
        """Whether its values are words."""
        return isinstance(self.type, type) and issubclass(self.type, Enum)

    @property
    def values(self) -> dict[str, Any]:
        """Its values by their words."""
        return {word_of(each): each for each in self.type} if self.has_words else {}

    @property
    def words(self) -> str:
        """What it is, the words that it accepts, and what holds where it is not given."""
        said = self.said.help
        if self.accepted and self.accepted not in said:
            said += f" Accepted: {self.accepted}."
        return f"{said} Usual: {self.said.usual}." if self.said.usual else said

    @property
    def accepted(self) -> str:
        """The values that it may have, in words; empty where its type says all."""
        if self.has_words:
            return ", ".join(self.values)
        return "" if self.said.range is None else str(self.said.range)

    def check(self, value: object, name: str = "") -> Any:
        """The value as its type has it, under its own or another name for the error."""
        subject = f"parameter {name or self.name}"
        if value is None and self.optional:
            return None
        if self.has_words:
            if isinstance(value, self.type):
                return value
            if isinstance(value, str) and value in self.values:
                return self.values[value]
            raise InputError(subject, "must be one of the known words", accepted=self.accepted)
        if self.type is bool and not isinstance(value, bool):
            raise InputError(subject, "must be true or false")
        # TOML and JSON have lists only.
        if get_origin(self.type) is tuple and isinstance(value, list):
            value = tuple(value)
        return self.said.checked(subject, value)


def as_tuple(value: Any) -> Any:
    """One text alone as a list of one; all else as it is."""
    return (value,) if isinstance(value, str) else value


def word_of(value: Enum) -> str:
    """How a member of an enumeration is written; those of numbers by their names."""
    return value.value if isinstance(value.value, str) else value.name.lower()


def declared(*declarations: Any, only: Collection[str] = ()) -> tuple[Declared, ...]:
    """The declared fields of dataclasses or pydantic models, in order; of some keys, or all."""
    every = (declared_field for kind in declarations for declared_field in _declared(kind))
    return tuple(each for each in every if not only or each.key in only)


@cache
def _declared(declaration: Any) -> tuple[Declared, ...]:
    defaults = _defaults(declaration)
    found = []
    for name, hint in get_type_hints(declaration, include_extras=True).items():
        # A field without `Parameter` is no option: only what is declared reaches the command line.
        if get_origin(hint) is not Annotated:
            continue
        kind, *extras = get_args(hint)
        said = next((each for each in extras if isinstance(each, Parameter)), None)
        if said is None:
            continue
        optional = get_origin(kind) in (Union, types.UnionType) and type(None) in get_args(kind)
        rest = [each for each in get_args(kind) if each is not type(None)] if optional else [kind]
        # The bar between types cannot be written for a number of types that only the hint tells.
        bare = rest[0] if len(rest) == 1 else Union[tuple(rest)]  # noqa: UP007
        found.append(Declared(name, bare, optional, defaults.get(name, REQUIRED), said))
    return tuple(found)


def _defaults(declaration: Any) -> dict[str, Any]:
    if is_dataclass(declaration):
        return {
            field.name: field.default
            if field.default_factory is MISSING
            else field.default_factory()
            for field in fields(declaration)
        }
    return {
        name: REQUIRED if model_field.is_required() else model_field.default
        for name, model_field in declaration.model_fields.items()
    }


def check_fields(declaration: Any) -> None:
    """Check the declared fields of a frozen dataclass as it is made, and give them their types."""
    for each in declared(type(declaration)):
        # A frozen dataclass refuses plain assignments, also while it is made.
        object.__setattr__(declaration, each.name, each.check(getattr(declaration, each.name)))


def plain(declaration: Any, *, usual: bool = True) -> dict[str, Any]:
    """The fields of a dataclass as values of TOML and JSON, without those that are ``None``.

    Fields that have their default are listed where ``usual`` says so.
    """
    found = {}
    for field in fields(declaration):
        value = getattr(declaration, field.name)
        if value is not None and (usual or value != field.default):
            found[field.name] = word_of(value) if isinstance(value, Enum) else value
    return found


def fields_of(value: object, names: str) -> dict[str, Any]:
    """Attributes of a value by their names, blanks between, for plain values that call them so."""
    return {name: getattr(value, name) for name in names.split()}


def plain_fields(value: object, names: str) -> dict[str, Any]:
    """The same as JSON has them: lists for tuples, words for enumerations, what has ``to_json``."""
    return {name: _plain_value(field) for name, field in fields_of(value, names).items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain_value(each) for each in value]
    if isinstance(value, Enum):
        return word_of(value)
    return value.to_json() if hasattr(value, "to_json") else value


def keywords(*declarations: type) -> Callable[[_Verb], _Verb]:
    """Let a verb's signature and docstring list what it takes as ``**options``.

    Completion in notebooks, ``help`` and the documentation then show every declared field as a
    keyword, although the verb itself names none.
    """

    def listed(verb: _Verb) -> _Verb:
        given = inspect.signature(verb)
        own = [p for p in given.parameters.values() if p.kind is not p.VAR_KEYWORD]
        options = declared(*declarations)
        added = [
            inspect.Parameter(
                option.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=option.usual,
                annotation=option.annotation,
            )
            for option in options
        ]
        verb.__signature__ = given.replace(parameters=[*own, *added])  # type: ignore[attr-defined]
        entries = "\n".join(f"{option.name}\n{_indented(option.words)}" for option in options)
        text = inspect.cleandoc(verb.__doc__ or "")
        # Parameters stand before these sections in numpy's form of docstrings.
        after = next(each for each in ("Returns", "Raises") if f"\n\n{each}\n" in text)
        verb.__doc__ = text.replace(f"\n\n{after}\n", f"\n{entries}\n\n{after}\n", 1)
        return verb

    return listed


def _indented(text: str) -> str:
    return fill(text, 96, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def taken(options: Mapping[str, Any], *declarations: type) -> list[Any]:
    """What a verb was given as ``**options``, as one instance of each declaration."""
    rest, made = dict(options), []
    for kind in declarations:
        names = [each.name for each in declared(kind) if each.name in rest]
        made.append({name: rest.pop(name) for name in names})
    if rest:
        known = [each.name for each in declared(*declarations)]
        close = get_close_matches(next(iter(rest)), known, n=1)
        meant = f"; did you mean '{close[0]}'?" if close else ""
        raise TypeError(f"unexpected keyword argument '{next(iter(rest))}'{meant}")
    return [kind(**given) for kind, given in zip(declarations, made, strict=True)]


@contextmanager
def naming(subjects: Mapping[str, str]) -> Iterator[None]:
    """Call a parameter in errors as whoever gave it does: an option, a key of a file."""
    try:
        yield
    except InputError as error:
        subject = subjects.get(error.subject.removeprefix("parameter "))
        if subject is None or not error.subject.startswith("parameter "):
            raise
        raise error.about(subject) from None


# What a signed number of 64 bits holds, as Parquet, TOML and databases have integers.
SEEDS = Count(0, 2**63 - 1)
Seed = Annotated[
    int | None, Parameter("Seed of every random choice; drawn when not given.", "NUMBER", SEEDS)
]
OwnSecret = Annotated[
    bytes | None,
    Parameter(
        "The secret that pseudonyms, order and offsets of dates come from, to repeat what was made "
        "with it; a fresh one without it.",
        "FILE",
        path=True,
    ),
]
Delimiter = Annotated[
    str | None, Parameter("The separator of a CSV file; found by itself.", "CHARACTER")
]
Header = Annotated[
    bool | None,
    Parameter(
        "Whether the first line names the columns; asked where it has the form of a record.",
        option="--header/--no-header",
    ),
]
Encoding = Annotated[
    str | None,
    Parameter(
        "The encoding of a CSV file, where it is not UTF-8 or UTF-16, such as windows-1252.",
        "NAME",
    ),
]
SkippedLines = Annotated[
    int | None,
    Parameter(
        "Lines before the first of the table; titles and comments are found by themselves.",
        "N",
        Count(0),
    ),
]
Sheet = Annotated[
    str | None,
    Parameter(
        "The sheet of an Excel workbook, by its name or number; without it the first.", "SHEET"
    ),
]


def names_in(option: str, words: Sequence[str]) -> tuple[str, ...]:
    """Names of an option that takes several, with commas between or one by one."""
    names = tuple(name.strip() for word in words for name in word.split(","))
    if not all(names):
        raise InputError(f"option {option}", "must name every column", found="an empty name")
    return names


Names = Annotated[
    tuple[str, ...],
    Parameter(
        "Names of the columns of a file without header, in their order.",
        "NAME,...",
        parse=names_in,
        usual="column_1, column_2 and so on",
    ),
]
Threshold = Annotated[
    float,
    Parameter("Risk above which a record counts as at risk.", "SHARE", Share(zero=False, one=True)),
]
EngineName = Annotated[
    str | None,
    Parameter(
        "Where the work is done: embedded (in this process) or spark, with sfumato[spark].", "NAME"
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


# Two letters at least before the colon: one is a drive of Windows.
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")
DATABASES = ("postgresql://", "postgres://", "sqlite:///")
"""How the URL of a table in a database begins."""
Place = Path | str
"""Where a table is: the path of a file, or a URI as it stands."""


def is_uri(place: str | os.PathLike[str]) -> bool:
    """Whether a place is a URI, such as ``s3a://bucket/a``, which Spark reads, or a database's."""
    return _URI.match(os.fspath(place)) is not None


def is_database(place: object) -> TypeGuard[str]:
    """Whether something is the URL of a table in a database."""
    return isinstance(place, str) and place.startswith(DATABASES)


def place_of(place: Place) -> Place:
    """Where a table is that somebody named by a text; a path would take the slashes of a URI."""
    # A `Path` makes one slash of two, and with that no URI.
    return place if is_uri(place) else Path(place)


Progress = Callable[[str, float], None]
"""Called with the name of the stage and the share of it that is done, in [0, 1]."""


def silent(stage: str, share: float) -> None:
    """A progress that tells nobody."""


def places_by_name(option: str, words: Sequence[str]) -> dict[str, Place]:
    """As `by_name`, of tables, which may be in a database."""
    return {name: place_of(place) for name, place in named_words(option, words).items()}


def by_name(option: str, words: Sequence[str]) -> dict[str, Path]:
    """The files of an option that is given as NAME=FILE, once for each name."""
    return {name: Path(file) for name, file in named_words(option, words).items()}


def named_words(option: str, words: Sequence[str]) -> dict[str, str]:
    """What an option that is given as NAME=FILE says by name, as texts."""
    found: dict[str, str] = {}
    for word in words:
        name, _, file = word.partition("=")
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
    """The seed that was given, or a fresh one."""
    if seed is None:
        return secrets.randbits(63)
    return SEEDS.check("parameter seed", seed)


@dataclass(frozen=True)
class Seeded:
    """Where the random choices of a command come from."""

    seed: Seed = None


@dataclass(frozen=True)
class Layout:
    """How the file of a table is laid out, as far as that is not found by itself."""

    delimiter: Delimiter = None
    header: Header = None
    names: Names = ()
    encoding: Encoding = None
    skip_lines: SkippedLines = None
    sheet: Sheet = None


class LayoutGiven(TypedDict, total=False):
    """The keywords of `Layout`; a test holds them to it."""

    delimiter: str | None
    header: bool | None
    names: Sequence[str]
    encoding: str | None
    skip_lines: int | None
    sheet: str | None


LAYOUT = tuple(each.key for each in declared(Layout))


def layout_of(given: object) -> LayoutGiven:
    """What is said of the layout of a file among other options."""
    told = given if isinstance(given, Mapping) else {n: getattr(given, n, None) for n in LAYOUT}
    found = {name: told[name] for name in LAYOUT if told.get(name) not in (None, ())}
    return cast(LayoutGiven, found)


_MODULES = ("pyspark.sql", "pyspark.sql.connect.dataframe")


class Engine(StrEnum):
    """Where a file is worked on: in this process, or on a Spark cluster."""

    EMBEDDED = "embedded"
    SPARK = "spark"


def is_spark_frame(data: object) -> TypeGuard[DataFrame]:
    """Whether the data is a DataFrame of PySpark, which is not imported for it."""
    # Whoever holds such a dataframe has imported its
    # module: importing it here would only cost time.
    kinds = [getattr(sys.modules.get(module), "DataFrame", None) for module in _MODULES]
    return any(kind is not None and isinstance(data, kind) for kind in kinds)


def takes_spark(data: object, engine: str | None) -> bool:
    """Whether a file is worked on by Spark, as the engine or, without one, its data says."""
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
