"""How the values of a pair are compared, character by character, and what of it is shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
import regex

from sfumato.kernels import record_pairs
from sfumato.review.review_settings import (
    Attribute,
    AttributeKind,
    Cell,
    CellKind,
    Comparison,
    DateOrder,
    Mark,
    MaskWidth,
    Mode,
    Positions,
    Rarity,
    RenderedAttribute,
    RenderedPair,
    Seen,
    Shown,
    Status,
    names_of,
)

# Control and direction characters could make a value read otherwise than it is stored.
_INVISIBLE = regex.compile(r"[\p{Cc}\p{Bidi_Control}\u00AD\u200B\u2060\uFEFF]")
_GRAPHEME = regex.compile(r"\X")
_ACCENT = regex.compile(r"[\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF]")


def cleaned(text: str) -> str:
    """A text in Unicode's composed form; single spaces, and no characters that cannot be seen.

    Joiners stay: they are part of emoji and of Persian and Indic words.
    """
    # Most values: Unicode's forms change nothing of them.
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    spaced = " ".join(unicodedata.normalize("NFC", text).split())
    # Split again: what stood around an invisible character may now be two spaces.
    return " ".join(_INVISIBLE.sub("", spaced).split())


def graphemes(text: str) -> tuple[str, ...]:
    """What a reader counts as the characters of a text (Unicode Standard Annex 29)."""
    if text.isascii():
        return tuple(text)
    return tuple(_GRAPHEME.findall(text))


def folded(character: str, *, case: bool, accents: bool) -> str:
    """A character as it is compared.

    Parameters
    ----------
    case, accents
        Whether they count; where they do not they are removed.
    """
    if character.isascii():
        return character if case else character.lower()
    result = character if case else character.casefold()
    if not accents:
        bare = _ACCENT.sub("", unicodedata.normalize("NFD", result))
        # A lone accent would become nothing, and equal to any other.
        result = bare or result
    # Folding may take a character apart, and both sides must be in one form.
    return unicodedata.normalize("NFC", result)


_PARTS = {
    DateOrder.YEAR_MONTH_DAY: (Mark.YEAR, Mark.MONTH, Mark.DAY),
    DateOrder.DAY_MONTH_YEAR: (Mark.DAY, Mark.MONTH, Mark.YEAR),
    DateOrder.MONTH_DAY_YEAR: (Mark.MONTH, Mark.DAY, Mark.YEAR),
}
_WIDTH = {Mark.YEAR: 4, Mark.MONTH: 2, Mark.DAY: 2}
WHOLE = 8
"""Digits of a date with day, month and year."""
MONTH_AND_YEAR = 6
"""Digits of a date without its day."""


def parts(order: DateOrder, count: int = WHOLE) -> dict[Mark, range]:
    """The places of each part of a date, in the order of display; empty if it has none.

    Parameters
    ----------
    count
        The number of digits: 8, or 6 without a day.
    """
    left_out = {WHOLE: set[Mark](), MONTH_AND_YEAR: {Mark.DAY}}.get(count)
    if left_out is None:
        return {}
    found, start = {}, 0
    for part in _PARTS[order]:
        if part not in left_out:
            found[part] = range(start, start + _WIDTH[part])
            start += _WIDTH[part]
    return found


@cache
def layout(order: DateOrder, count: int) -> tuple[int | str, ...]:
    """Places and separators of a date, which follow from the number of its characters alone.

    So a masked date, drawn in it, tells no more than that number.
    """
    separator = "-" if order is DateOrder.YEAR_MONTH_DAY else "/"
    characters: list[int | str] = []
    for places in parts(order, count).values():
        characters += [separator, *places] if characters else places
    return tuple(characters) or tuple(range(count))


PIVOT = 30
"""Years of two digits from here on are of the twentieth century, as in linkage."""

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_GAP = r"(?: ?[-/.,] ?| )"
_LOOSE = r"[-/., ]*"
_WORD = r"([a-z]{3,9})"
_DAY = r"(\d{1,2})"
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(\d{4}|\d{2})"

_TIME = re.compile(r"[t ]\d{1,2}:\d\d.*$")
_YEAR_FIRST = re.compile(rf"(\d{{4}}){_GAP}{_DAY}{_GAP}{_DAY}")
_YEAR_LAST = re.compile(rf"{_DAY}{_GAP}{_DAY}{_GAP}{_YEAR}")
_COMPACT = re.compile(r"((?:1[89]|20)\d\d)(\d\d)(\d\d)")
_COMPACT_LAST = re.compile(r"(\d\d)(\d\d)((?:1[89]|20)\d\d)")
_DAY_WORD = re.compile(rf"{_NTH}{_LOOSE}{_WORD}{_LOOSE}{_YEAR}")
_WORD_DAY = re.compile(rf"{_WORD}{_LOOSE}{_NTH}{_GAP}(\d{{4}})")
_YEAR_MONTH = re.compile(rf"(\d{{4}}){_GAP}(?:{_DAY}|{_WORD})")
_MONTH_YEAR = re.compile(rf"(?:{_DAY}|{_WORD}){_GAP}(\d{{4}})")
_YEAR_ALONE = re.compile(r"\d{4}")


class _Reading(NamedTuple):
    year: int
    month: int | None = None
    day: int | None = None


def digits(text: str, order: DateOrder) -> str | None:
    """The digits of a date in the order of display; ``None`` for what is no date.

    ``1980-03-04``, ``19800304``, ``4/3/1980``, ``04.03.80``, ``4 Mar 1980``, ``March 4th, 1980``
    are read, a time of day behind them left out: 8 digits. A month and a year give 6 digits, a
    year 4. Of two numbers before a year the day comes first if it does in `order`, else the
    month; where only the other reading is a date it is taken. Dates that do not exist
    (``31/02/1980``) keep their numbers.
    """
    day_first = order is DateOrder.DAY_MONTH_YEAR
    bare = _TIME.sub("", text.lower()).strip(" ,.")
    # Partial readings last: a whole date holds one of each.
    readings = list(_whole(bare, day_first=day_first)) or list(_partial(bare))
    if not readings:
        return None
    # A day of 13 or more settles the order, whatever is usual.
    return _written(next((reading for reading in readings if _exists(reading)), readings[0]), order)


def _written(reading: _Reading, order: DateOrder) -> str:
    if reading.month is None:
        return f"{reading.year:04}"
    text = {Mark.YEAR: f"{reading.year:04}", Mark.MONTH: f"{reading.month:02}"}
    if reading.day is not None:
        text[Mark.DAY] = f"{reading.day:02}"
    return "".join(text[part] for part in parts(order) if part in text)


def _exists(reading: _Reading) -> bool:
    try:
        # A part that is not known is taken for one that every year has.
        date(reading.year, reading.month or 1, reading.day or 1)
    except ValueError:
        return False
    return reading.month != 0 and reading.day != 0


def _whole(text: str, *, day_first: bool) -> Iterator[_Reading]:
    for pattern in (_YEAR_FIRST, _COMPACT):
        if match := pattern.fullmatch(text):
            yield _Reading(int(match[1]), int(match[2]), int(match[3]))
    for pattern in (_YEAR_LAST, _COMPACT_LAST):
        if match := pattern.fullmatch(text):
            one, two, year = int(match[1]), int(match[2]), _century(match[3])
            as_day_first, as_month_first = _Reading(year, two, one), _Reading(year, one, two)
            yield as_day_first if day_first else as_month_first
            yield as_month_first if day_first else as_day_first
    if (match := _DAY_WORD.fullmatch(text)) and (month := _month(match[2])):
        yield _Reading(_century(match[3]), month, int(match[1]))
    if (match := _WORD_DAY.fullmatch(text)) and (month := _month(match[1])):
        yield _Reading(int(match[3]), month, int(match[2]))


def _partial(text: str) -> Iterator[_Reading]:
    if match := _YEAR_MONTH.fullmatch(text):
        year, number, word = match.groups()
    elif match := _MONTH_YEAR.fullmatch(text):
        number, word, year = match.groups()
    else:
        if _YEAR_ALONE.fullmatch(text):
            yield _Reading(int(text))
        return
    month = int(number) if number else _month(word)
    if month is not None:
        yield _Reading(int(year), month)


def _century(year: str) -> int:
    if len(year) == 4:
        return int(year)
    return int(year) + (1900 if int(year) >= PIVOT else 2000)


def _month(word: str) -> int | None:
    """The number of a month from its name or the beginning of its name."""
    # The shortest that is read has three letters, which differ for all months.
    return next((n for n, name in enumerate(_MONTHS, 1) if name.startswith(word)), None)


def is_whole(characters: tuple[str, ...]) -> bool:
    """Whether these are the digits of a date with day, month and year."""
    return len(characters) == WHOLE and all(is_digit(character) for character in characters)


def is_digit(character: str) -> bool:
    """Whether a character is one of the digits that dates are displayed with."""
    return character.isascii() and character.isdigit()


def shown(attribute: Attribute, text: str | None) -> Shown | None:
    """The value of an attribute as it would be displayed in full; ``None`` where it is missing.

    Characters are graphemes; a category is one. A date is displayed by its digits in the
    attribute's order; its separators are no characters. What is no date is displayed as the text
    that it is, and its separators are characters; but digits alone are set like a date's, so
    that where separators stand follows from the characters. Runs of spaces become one; a text
    without visible characters is missing.
    """
    text = cleaned(text or "")
    if not text:
        return None
    places: tuple[int | str, ...] | None = None
    if attribute.kind is AttributeKind.CATEGORY:
        characters: tuple[str, ...] = (text,)
    elif attribute.kind is AttributeKind.DATE:
        characters = graphemes(digits(text, attribute.date_order) or text)
        # A layout by the count alone: separators at other places would tell more than it.
        if all(is_digit(character) for character in characters):
            places = layout(attribute.date_order, len(characters))
    else:
        characters = graphemes(text)
    return Shown(
        characters=characters,
        layout=places or tuple(range(len(characters))),
        folded=tuple(
            folded(character, case=attribute.case_sensitive, accents=attribute.accent_sensitive)
            for character in characters
        ),
    )


def text_of(value: Shown) -> str:
    """The text of a value displayed in full."""
    return "".join(
        value.characters[each] if isinstance(each, int) else each for each in value.layout
    )


RowEdits = tuple[tuple[Mark, int], ...]
"""Marks of edits and their places in one row."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How two values that are not the same differ.

    Attributes
    ----------
    edits
        Per row, marks and places.
    marks
        What is said of the difference, in the order of the enumeration.
    """

    edits: tuple[RowEdits, RowEdits]
    marks: tuple[Mark, ...]
    distance: int

    @property
    def differing(self) -> tuple[Positions, Positions]:
        """Per row, the places of the characters that differ."""
        left, right = self.edits
        return frozenset(place for _, place in left), frozenset(place for _, place in right)


def in_order(marks: set[Mark]) -> tuple[Mark, ...]:
    """Marks in the order of their enumeration."""
    return tuple(mark for mark in Mark if mark in marks)


_MARKS = {
    record_pairs.TRANSPOSED: Mark.TRANSPOSED,
    record_pairs.SUBSTITUTED: Mark.SUBSTITUTED,
    record_pairs.DELETED: Mark.DELETED,
    record_pairs.INSERTED: Mark.INSERTED,
}
_OTHER_WAY = {Mark.DELETED: Mark.INSERTED, Mark.INSERTED: Mark.DELETED}


def string_edits(left: tuple[str, ...], right: tuple[str, ...]) -> Difference:
    """The edits from the left string to the right: Damerau-Levenshtein, optimal string alignment.

    Which of several alignments is taken follows from what is equal to what, not from which
    characters these are: renaming the characters changes nothing. Exchanging the strings
    exchanges the two rows, unless each is the other with its characters renamed
    (``ababa``, ``babab``), where the alignment that deletes first is taken either way.
    """
    # Only which characters are equal: the alignment shown must not depend on hidden values.
    here, there = _numbered(left, right), _numbered(right, left)
    # One of both orders for either call, so that exchanging the rows exchanges the marks.
    turned = there < here
    end = len(right if turned else left)
    codes = np.array(min(here, there), dtype=np.int64)
    steps = record_pairs.steps(codes[:end], codes[end + 1 :])
    rows: list[list[tuple[Mark, int]]] = [[], []]
    places, distance = [0, 0], 0
    for step in steps.tolist():
        mark = _MARKS.get(step)
        for row, taken in enumerate(record_pairs.TAKEN[step]):
            if mark is not None:
                label = _OTHER_WAY.get(mark, mark) if turned else mark
                rows[row] += [(label, places[row] + index) for index in range(taken)]
            places[row] += taken
        # A step is one edit, also where it takes two characters.
        distance += mark is not None
    marks = in_order({mark for row in rows for mark, _ in row})
    edits = tuple(rows[0]), tuple(rows[1])
    return Difference(edits[::-1] if turned else edits, marks, distance)


def _numbered(one: tuple[str, ...], other: tuple[str, ...]) -> list[int]:
    """Both strings, an end between them, with a number for each character as it first occurs."""
    numbers: dict[str | None, int] = {}
    return [numbers.setdefault(each, len(numbers)) for each in (*one, None, *other)]


def date_edits(left: tuple[str, ...], right: tuple[str, ...], order: DateOrder) -> Difference:
    """The places at which two dates differ, digit by digit, with the part that they are in.

    Day and month exchanged are one edit, as are two exchanged digits of one part. Table 1 of
    001 marks all digits of an exchanged day and month; its Tables 3 to 5 mark those that differ
    by place, and carry the numbers: they are followed.

    Parameters
    ----------
    left, right
        8 digits each.
    """
    places = parts(order)
    differing = {
        part: [place for place in span if left[place] != right[place]]
        for part, span in places.items()
    }
    marks = {part for part, found in differing.items() if found}
    edits: list[tuple[Mark, int]] = []
    distance = 0
    swapped = _swapped(left, right, places)
    if swapped:
        marks = (marks - {Mark.DAY, Mark.MONTH}) | {Mark.DAY_MONTH_SWAP}
        distance += 1
    for part, found in differing.items():
        mark = part
        if swapped and part is not Mark.YEAR:
            mark = Mark.DAY_MONTH_SWAP
        elif _transposed(left, right, found):
            mark = Mark.TRANSPOSED
            marks.add(mark)
            distance += 1
        else:
            distance += len(found)
        edits += [(mark, place) for place in found]
    return Difference((tuple(edits), tuple(edits)), in_order(marks), distance)


def _swapped(left: tuple[str, ...], right: tuple[str, ...], places: dict[Mark, range]) -> bool:
    day, month = (slice(places[part].start, places[part].stop) for part in (Mark.DAY, Mark.MONTH))
    # Not where day and month are equal: then nothing is exchanged.
    return left[day] == right[month] != left[month] == right[day]


def _transposed(left: tuple[str, ...], right: tuple[str, ...], differing: list[int]) -> bool:
    # Neighbours of one part only, as the restricted distance has it.
    if len(differing) != 2 or differing[1] != differing[0] + 1:
        return False
    one, two = differing
    return left[one] == right[two] and left[two] == right[one]


def swapped(given: Sequence[Shown | None], family: Sequence[Shown | None]) -> bool:
    """Whether each row's given name is the other's family name, compared as folded.

    Parameters
    ----------
    given, family
        The names of row 1 and row 2.
    """
    (given_left, given_right), (family_left, family_right) = given, family
    if given_left is None or given_right is None or family_left is None or family_right is None:
        return False
    return given_left.folded == family_right.folded != given_right.folded == family_left.folded


_NOTHING: tuple[Positions, Positions] = (frozenset(), frozenset())


def compare(attribute: Attribute, left: Shown | None, right: Shown | None) -> Comparison:
    """How the two values of one attribute differ (001, Section 3.2).

    They are entirely different if more edits than half of the longer value's characters are
    between them; two categories that are not the same always are.

    Parameters
    ----------
    left, right
        The values of row 1 and row 2.
    """
    if left is None or right is None:
        return _missing(left, right)
    # As folded: a difference that the attribute does not count must not show as one.
    if left.folded == right.folded:
        return Comparison(
            left, right, Status.IDENTICAL, _NOTHING, (Mark.IDENTICAL,), edits=((), ())
        )
    if attribute.kind is AttributeKind.CATEGORY:
        return _different(left, right, Mark.DIFFERENT)
    difference = _difference(attribute, left, right)
    # Beyond half the characters marks would give away more of the values than that they differ.
    if 2 * difference.distance > max(len(left.folded), len(right.folded)):
        return _different(left, right, Mark.DIFFERENT)
    return Comparison(
        left, right, Status.SIMILAR, difference.differing, difference.marks, difference.edits
    )


def compare_pair(
    attributes: Sequence[Attribute], lefts: Sequence[Shown | None], rights: Sequence[Shown | None]
) -> tuple[Comparison, ...]:
    """How the values of a pair differ, attribute by attribute.

    Where given and family name are exchanged, that is all that is said of them: no character of
    theirs is new to the other row, so there is nothing to disclose in part.

    Parameters
    ----------
    lefts, rights
        The values of row 1 and row 2, per attribute.
    """
    comparisons = [compare(*each) for each in zip(attributes, lefts, rights, strict=True)]
    names = names_of(tuple(attributes))
    if names is not None:
        given, family = names
        if swapped((lefts[given], rights[given]), (lefts[family], rights[family])):
            for name in names:
                comparisons[name] = _different(lefts[name], rights[name], Mark.NAME_SWAP)
    return tuple(comparisons)


def _difference(attribute: Attribute, left: Shown, right: Shown) -> Difference:
    dates = attribute.kind is AttributeKind.DATE
    if dates and is_whole(left.characters) and is_whole(right.characters):
        return date_edits(left.characters, right.characters, attribute.date_order)
    return string_edits(left.folded, right.folded)


def _missing(left: Shown | None, right: Shown | None) -> Comparison:
    status = Status.MISSING_LEFT if left is None else Status.MISSING_RIGHT
    if left is None and right is None:
        status = Status.MISSING_BOTH
    return Comparison(left, right, status, _NOTHING, (Mark.MISSING,), edits=((), ()))


def _different(left: Shown | None, right: Shown | None, mark: Mark) -> Comparison:
    everything = (
        frozenset(range(len(left.characters) if left else 0)),
        frozenset(range(len(right.characters) if right else 0)),
    )
    return Comparison(left, right, Status.DIFFERENT, everything, (mark,), edits=((), ()))


_NOTHING_SEEN: Positions = frozenset()


def effective(comparison: Comparison, mode: Mode) -> Mode:
    """The mode in which an attribute is drawn: masked where there is no partial disclosure.

    Only values that differ in some characters have one: of others the partial state of Table 1
    (001) shows what the masked one does.
    """
    if mode is Mode.PARTIAL and comparison.status is not Status.SIMILAR:
        return Mode.MASKED
    return mode


def disclosed(comparison: Comparison, mode: Mode) -> tuple[Positions, Positions]:
    """Per row, the places of the characters that are disclosed."""
    drawn = effective(comparison, mode)
    if drawn is Mode.MASKED:
        return _NOTHING_SEEN, _NOTHING_SEEN
    if drawn is Mode.PARTIAL:
        return comparison.differing
    return _all(comparison.left), _all(comparison.right)


def more(comparison: Comparison, mode: Mode) -> tuple[Mode, ...]:
    """The modes that show more than this one.

    It follows from what this mode shows: that partial disclosure would show every character is
    known only when it does, and then full disclosure has nothing to add.
    """
    if mode is Mode.FULL or comparison.status is Status.MISSING_BOTH:
        return ()
    # Nothing differs in part there, so that only full disclosure is left.
    if comparison.status is not Status.SIMILAR:
        return (Mode.FULL,)
    if mode is Mode.MASKED:
        return (Mode.PARTIAL, Mode.FULL)
    everything = disclosed(comparison, Mode.FULL)
    # An opening that shows nothing more must not be offered, as it would be charged nothing and say
    # so.
    return () if comparison.differing == everything else (Mode.FULL,)


def share(value: Shown | None, positions: Positions) -> Fraction:
    """The share p of a value's characters that is disclosed (001, Definition 4.3)."""
    return Fraction(0) if value is None else Fraction(len(positions), len(value.characters))


def seen(
    attribute: Attribute, comparison: Comparison, mode: Mode, mask_width: MaskWidth
) -> tuple[Seen, Seen]:
    """What each row discloses of the attribute of its record."""
    masked = effective(comparison, mode) is Mode.MASKED
    # What is disclosed is drawn at its place, which shows the length under any mask.
    length = mask_width is MaskWidth.TRUE or not masked
    twice = comparison.status is Status.IDENTICAL
    left, right = (
        Seen(
            missingness=True,
            length=length and value is not None,
            rarity=attribute.rarity and value is not None,
            twice=twice,
            positions=positions,
        )
        for value, positions in zip(
            (comparison.left, comparison.right), disclosed(comparison, mode), strict=True
        )
    )
    return left, right


def _all(value: Shown | None) -> Positions:
    return frozenset(range(len(value.characters))) if value else _NOTHING_SEEN


FIXED_WIDTH = 8
"""Cells of a masked value whose width does not show."""

_HIDDEN = {Status.IDENTICAL: CellKind.EQUAL, Status.DIFFERENT: CellKind.DIFFERING}


def render(
    attribute: Attribute,
    comparison: Comparison,
    mode: Mode,
    mask_width: MaskWidth,
    rarity: tuple[Rarity | None, Rarity | None],
) -> RenderedAttribute:
    """One attribute of a pair as it may be shown (001, Table 1); nothing else is in it.

    Parameters
    ----------
    rarity
        How rare each row's value is; left out unless the attribute shows it.
    """
    drawn = effective(comparison, mode)
    values = comparison.left, comparison.right
    bands = [
        band if attribute.rarity and value is not None else None
        for band, value in zip(rarity, values, strict=True)
    ]
    open_places = disclosed(comparison, mode)
    left, right = (
        _cells(attribute, comparison, row, drawn, mask_width, open_places[row]) for row in (0, 1)
    )
    return RenderedAttribute(
        name=attribute.name,
        mode=drawn,
        marks=comparison.marks,
        rows=(left, right),
        rarity=(bands[0], bands[1]),
        more=more(comparison, mode),
    )


def render_pair(
    attributes: Sequence[Attribute],
    comparisons: Sequence[Comparison],
    modes: Sequence[Mode],
    mask_width: MaskWidth,
    rarity: Sequence[tuple[Rarity | None, Rarity | None]],
) -> RenderedPair:
    """A pair as it may be shown."""
    return tuple(
        render(attribute, comparison, mode, mask_width, bands)
        for attribute, comparison, mode, bands in zip(
            attributes, comparisons, modes, rarity, strict=True
        )
    )


def _cells(
    attribute: Attribute,
    comparison: Comparison,
    row: int,
    mode: Mode,
    mask_width: MaskWidth,
    open_places: Positions,
) -> tuple[Cell, ...]:
    value = (comparison.left, comparison.right)[row]
    if value is None:
        return (Cell(CellKind.MISSING),)
    if mode is Mode.MASKED and mask_width is MaskWidth.FIXED:
        # A category is one unit and never shows its width.
        width = 1 if attribute.kind is AttributeKind.CATEGORY else FIXED_WIDTH
        return (Cell(_HIDDEN.get(comparison.status, CellKind.MASKED)),) * width
    edits = {place: mark for mark, place in comparison.edits[row]}
    return tuple(
        Cell(CellKind.SEPARATOR, place)
        if isinstance(place, str)
        else Cell(CellKind.CHARACTER, value.characters[place], edits.get(place))
        if place in open_places
        else Cell(_closed(comparison, row, place), edit=edits.get(place))
        for place in _layout(attribute, value, mode)
    )


def _layout(attribute: Attribute, value: Shown, mode: Mode) -> tuple[int | str, ...]:
    """Until all is disclosed, places and separators tell no more than how many places there are."""
    if mode is Mode.FULL:
        return value.layout
    count = len(value.characters)
    if attribute.kind is AttributeKind.DATE:
        return layout(attribute.date_order, count)
    return tuple(range(count))


def _closed(comparison: Comparison, row: int, place: int) -> CellKind:
    if place in comparison.differing[row]:
        return CellKind.DIFFERING
    compared = comparison.left is not None and comparison.right is not None
    return CellKind.EQUAL if compared else CellKind.MASKED


_SYMBOLS = {CellKind.EQUAL: "*", CellKind.MASKED: "*", CellKind.MISSING: "?"}
_DIFFERING = "@&"


def plain(rendered: RenderedAttribute) -> tuple[str, str]:
    """Row 1 and row 2 of an attribute as text (001, Tables 1 and 3 to 5).

    ``*`` is a masked character, ``@`` one that only row 1 has and ``&`` one that only row 2 has;
    ``?`` is a missing value. Where day and month are exchanged each has its own symbol, which
    moves with it: ``*@/*&/****`` and ``*&/*@/****``.

    Parameters
    ----------
    rendered
        The attribute as it may be shown.
    """
    left, right = rendered.rows
    return "".join(symbols(left, 0)), "".join(symbols(right, 1))


def symbols(cells: tuple[Cell, ...], row: int) -> tuple[str, ...]:
    """The text of each cell of a row.

    Parameters
    ----------
    row
        0 for row 1, 1 for row 2.
    """
    texts: list[str] = []
    part = 0
    swapped: list[int] = []
    for cell in cells:
        if cell.kind is CellKind.SEPARATOR:
            part += 1
        if cell.kind is not CellKind.DIFFERING:
            texts.append(_SYMBOLS.get(cell.kind, cell.text))
            continue
        symbol = row
        if cell.edit is Mark.DAY_MONTH_SWAP:
            swapped.append(part)
            symbol = row ^ (part != swapped[0])
        texts.append(_DIFFERING[symbol])
    return tuple(texts)
