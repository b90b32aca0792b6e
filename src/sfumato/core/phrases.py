"""Phrases that are English wherever they stand, and are said in the reader's language on pages.

A `Phrase` is its English text and remembers what it was made of: JSON, logs and the terminal have
the English, a page the language that is spoken while it is filled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from datetime import date
from functools import cache
from gettext import GNUTranslations, NullTranslations
from html import escape
from importlib.resources import files
from io import BytesIO
from typing import Any, Literal, Self, get_args

from sfumato.core.errors import InputError

Language = Literal["en", "de", "fr"]
"""What pages can be said in."""
ENGLISH: Language = "en"
LANGUAGES: tuple[str, ...] = get_args(Language)
UNREAD = frozenset({"de", "fr"})
"""Languages that nobody who grew up with them has read; pages in them say so."""
_MARKS = {"de": (".", ","), "fr": ("\u202f", ",")}
"""What separates thousands, and decimals, where English has "," and "."."""

_spoken: ContextVar[str] = ContextVar("language", default=ENGLISH)


class Spoken(str):
    """A text that is English as a string, and in HTML what the language is that is spoken."""

    __slots__ = ()

    def said(self) -> str:
        """The same in the language that is spoken."""
        raise NotImplementedError

    def __html__(self) -> str:
        """What templates of Django and of Jinja fill in."""
        return escape(self.said())


_DIRECTIONS = dict.fromkeys((1564, 8206, 8207, *range(8234, 8239), *range(8294, 8298)))
"""What sets the direction of the text behind it (Unicode Standard Annex #9)."""


class Typed(str):
    """A text that a person typed: in HTML it has its own direction, and turns nothing around it."""

    __slots__ = ()

    def __html__(self) -> str:
        """What templates of Django and of Jinja fill in."""
        return f"\u2068{escape(self.translate(_DIRECTIONS))}\u2069"


class Phrase(Spoken):
    """A text in English that can be said in other languages.

    Attributes
    ----------
    message
        Its message id: English with named places.
    filled
        What stands in the named places; phrases are said in the same language.
    """

    __slots__ = ("filled", "message")
    message: str
    filled: dict[str, Any]

    def __new__(cls, message: str, /, **filled: Any) -> Self:
        """Fill the English."""
        self = super().__new__(cls, message.format(**filled))
        self.message, self.filled = message, filled
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), (self.message,), self.filled)

    @property
    def translated(self) -> str:
        """The message in the language that is spoken, its places empty."""
        return gettext(self.message)

    def said(self) -> str:
        """The same in the language that is spoken."""
        return self.translated.format(**{name: spoken(each) for name, each in self.filled.items()})


class Plural(Phrase):
    """A phrase about one thing or several.

    Attributes
    ----------
    several
        Its message id about several things.
    number
        How many there are.
    """

    __slots__ = ("number", "several")
    several: str
    number: int

    def __new__(cls, one: str, several: str, number: int, /, **filled: Any) -> Self:
        """Fill the English of so many things."""
        self = super().__new__(cls, one if number == 1 else several, **filled)
        self.message, self.several, self.number = one, several, number
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), (self.message, self.several, self.number), self.filled)

    @property
    def translated(self) -> str:
        """The message about so many things in the language that is spoken."""
        return ngettext(self.message, self.several, self.number)


class Sentence(Phrase):
    """A phrase that begins with a capital, whatever is filled in first."""

    __slots__ = ()

    def __new__(cls, message: str, /, **filled: Any) -> Self:
        """Fill the English."""
        self = super().__new__(cls, message, **filled)
        capital = str.__new__(cls, _capital(self))
        capital.message, capital.filled = self.message, self.filled
        return capital

    def said(self) -> str:
        """The same in the language that is spoken."""
        return _capital(super().said())


class Listed(Spoken):
    """Phrases one after the other, with commas or another sign between them."""

    __slots__ = ("between", "parts")
    parts: tuple[str, ...]
    between: str

    def __new__(cls, parts: Iterable[str], between: str = ", ") -> Self:
        """Join the English."""
        every = (*parts,)
        self = super().__new__(cls, between.join(every))
        self.parts, self.between = every, between
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Listed, (self.parts, self.between)

    def said(self) -> str:
        """The same in the language that is spoken."""
        return joined(self.between, self.parts)


class Figure(Spoken):
    """A number as English prints it, which other languages separate otherwise."""

    __slots__ = ()

    def said(self) -> str:
        """The same with the marks of the language that is spoken."""
        thousands, decimals = marks()
        return self.translate({ord(","): thousands, ord("."): decimals})


def _again(kind: type[Phrase], words: tuple[Any, ...], filled: dict[str, Any]) -> Phrase:
    return kind(*words, **filled)


def spoken(text: Any) -> Any:
    """A phrase or a figure in the language that is spoken; anything else as it is."""
    return text.said() if isinstance(text, Spoken) else text


def listed(names: Sequence[str]) -> str:
    """Names as a phrase: ``a, b and c``."""
    if len(names) < 2:
        return names[0] if names else ""
    return Phrase("{first} and {last}", first=Listed(names[:-1]), last=names[-1])


def recalled(text: str, phrases: Iterable[Phrase]) -> str:
    """A text that went through JSON as the phrase that it was, of these; else as it is."""
    for each in () if isinstance(text, Phrase) else phrases:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(each.message))
        if found := re.fullmatch(pattern, text, re.DOTALL):
            return Phrase(each.message, **found.groupdict())
    return text


def joined(between: str, several: Iterable[Any]) -> str:
    """Phrases in the language that is spoken, with something between them."""
    return between.join(str(spoken(each)) for each in several)


def marks() -> tuple[str, str]:
    """What separates thousands, and decimals, in the language that is spoken."""
    return _MARKS.get(language(), (",", "."))


def language() -> str:
    """The language that is spoken."""
    return _spoken.get()


def speak(chosen: str) -> Token[str]:
    """Fill pages in a language from now on.

    Raises
    ------
    InputError
        If it is none of `LANGUAGES`.
    """
    if chosen not in LANGUAGES:
        raise InputError("language", "must be one of these", accepted=", ".join(LANGUAGES))
    return _spoken.set(chosen)


@contextmanager
def speaking(chosen: str) -> Iterator[None]:
    """Fill pages in a language, one of `LANGUAGES`.

    Yields
    ------
    None
        While it is spoken.
    """
    before = speak(chosen)
    try:
        yield
    finally:
        _spoken.reset(before)


def gettext(message: str) -> str:
    """A message in the language that is spoken."""
    return catalog(language()).gettext(message)


def ngettext(one: str, several: str, number: int) -> str:
    """A message about so many things in the language that is spoken."""
    return catalog(language()).ngettext(one, several, number)


def long_date(day: date) -> str:
    """A day with its month's name."""
    months = gettext(
        "January February March April May June July August September October November December"
    )
    words = gettext("{day} {month} {year}")
    return words.format(day=day.day, month=months.split()[day.month - 1], year=day.year)


@cache
def catalog(chosen: str) -> NullTranslations:
    """The messages of a language; English is its own."""
    if chosen == ENGLISH:
        return NullTranslations()
    text = files("sfumato.core").joinpath("languages", f"{chosen}.po").read_text(encoding="utf-8")
    return GNUTranslations(BytesIO(compiled(text)))


def compiled(text: str) -> bytes:
    """A catalog of gettext as the standard library reads it, from the file that people edit.

    Compiled where it is read, so that no file can be older than what it was made of.
    """
    pairs = sorted((key.encode(), entry.encode()) for key, entry in entries(text).items() if entry)
    head, words, table = 28, b"", []
    begin = head + 16 * len(pairs)
    for place in (0, 1):
        for pair in pairs:
            table += [len(pair[place]), begin + len(words)]
            words += pair[place] + b"\0"
    numbers = [0x950412DE, 0, len(pairs), head, head + 8 * len(pairs), 0, 0, *table]
    return b"".join(number.to_bytes(4, "little") for number in numbers) + words


def entries(text: str) -> dict[str, str]:
    """What a ``.po`` file says, by message; the forms of a plural are parted by a null.

    A message that is marked fuzzy is not said: its English has changed since.
    """
    found: dict[str, str] = {}
    for block in text.replace("\r\n", "\n").split("\n\n"):
        lines = block.splitlines()
        if any(line.startswith("#,") and "fuzzy" in line for line in lines):
            continue
        parts: list[list[str]] = []
        for line in lines:
            keyword, _, rest = line.partition(" ")
            if keyword.startswith("msg"):
                parts.append([keyword, _unquoted(rest)])
            elif line.startswith('"'):
                parts[-1].append(_unquoted(line))
        told = [(keyword, "".join(words)) for keyword, *words in parts]
        said = [words for keyword, words in told if keyword.startswith("msgstr")]
        if told:
            ids = (words for keyword, words in told if keyword.startswith("msgid"))
            found["\0".join(ids)] = "\0".join(said) if all(said) else ""
    return found


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _unquoted(line: str) -> str:
    pairs = {"n": "\n", "t": "\t"}
    return re.sub(r"\\(.)", lambda each: pairs.get(each[1], each[1]), line.strip()[1:-1])
