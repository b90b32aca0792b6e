"""Number the distinct displayed values of an attribute, and their characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.errors import InputError
from sfumato.review.attributes import Attribute, AttributeKind
from sfumato.review.display.shown import shown
from sfumato.review.values import Shown

Codes = npt.NDArray[np.int32]
_PLAIN = r"^[!-~]+( [!-~]+)*$"
"""Text that is displayed as it is, each of its bytes a character."""
_PLAIN_KINDS = frozenset({AttributeKind.VARIABLE, AttributeKind.FIXED})
_ASCII = 128


@dataclass
class Alphabet:
    """Numbers of characters: those of ASCII have their own, others follow as they are met."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, character: str) -> int:
        """The number of a character, at least 1."""
        if len(character) == 1 and 0 < ord(character) < _ASCII:
            return ord(character)
        return self.numbers.setdefault(character, _ASCII + len(self.numbers))

    @property
    def dtype(self) -> type[np.unsignedinteger[Any]]:
        """The narrowest type that holds every number."""
        top = _ASCII + len(self.numbers)
        return np.uint8 if top <= 1 << 8 else np.uint16 if top <= 1 << 16 else np.uint32


@dataclass(frozen=True, eq=False)
class Encoded:
    """One attribute.

    Attributes
    ----------
    codes
        The value of each record, -1 where it is missing; shape (records,).
    texts
        A text that is displayed as the value; shape (values,).
    start
        Place of the first character of each value in `characters`; shape (values + 1,).
    characters
        Numbers of the characters, value after value.
    folded_count
        Number of records whose value is compared as equal to this one; shape (values,).
    one_layout
        Whether equal characters have equal layouts.
    """

    codes: Codes
    texts: pa.StringArray
    start: npt.NDArray[np.int64]
    characters: npt.NDArray[np.unsignedinteger[Any]]
    folded_count: Codes
    one_layout: bool


def encode(attribute: Attribute, column: Sequence[str | None] | Any, alphabet: Alphabet) -> Encoded:
    """Encode a column; values that are displayed alike are one value.

    Parameters
    ----------
    attribute
        What the column is.
    column
        Texts, or an Arrow array that can be cast to text; shape (records,).
    alphabet
        The characters so far; new ones are added.

    Raises
    ------
    InputError
        If the column does not hold text.
    """
    numbered = _texts(attribute.name, column).dictionary_encode()
    texts = numbered.dictionary.cast(pa.string())
    plain = _plain(attribute, texts)
    values = {
        place: shown(attribute, texts[place].as_py()) for place in np.flatnonzero(~plain).tolist()
    }
    kept, new_code = _merged(texts, values)
    codes = np.append(new_code, np.int32(-1))[
        numbered.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    ]
    texts, plain = texts.take(pa.array(kept)), plain[kept]
    others = [value for place in kept[~plain].tolist() if (value := values[place]) is not None]
    start, characters = _characters(texts, plain, others, alphabet)
    return Encoded(
        codes,
        texts,
        start,
        characters,
        _folded_count(attribute, texts, plain, others, codes),
        len({each.characters for each in others}) == len(others),
    )


def _texts(name: str, column: Sequence[str | None] | Any) -> pa.Array:
    """A column as text, in one piece."""
    try:
        if not isinstance(column, pa.Array | pa.ChunkedArray):
            column = pa.array(column, pa.string())
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if isinstance(column, pa.DictionaryArray):
            column = column.dictionary_decode()
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raise InputError(
            f"column '{name}'", "must hold text", accepted="texts, missing values"
        ) from None


def _plain(attribute: Attribute, texts: pa.StringArray) -> npt.NDArray[np.bool_]:
    """Which texts are displayed as they are."""
    if attribute.kind not in _PLAIN_KINDS:
        return np.zeros(len(texts), np.bool_)
    found = pc.match_substring_regex(texts, _PLAIN)
    return np.asarray(found.to_numpy(zero_copy_only=False), np.bool_)


def _key(characters: tuple[str, ...]) -> str:
    """Equal for equal tuples only; the text itself where each character is one code point."""
    if all(len(each) == 1 for each in characters):
        return "".join(characters)
    return "\0".join(characters) + "\0"


def _value_key(value: Shown) -> str:
    key = _key(value.characters)
    if value.layout == tuple(range(len(value.characters))):
        return key
    return f"{key}\0\0{value.layout!r}"


def _merged(
    texts: pa.StringArray, values: dict[int, Shown | None]
) -> tuple[npt.NDArray[np.int64], Codes]:
    """The first text of each distinct value, and of each text its value, -1 for none."""
    if not values:
        return np.arange(len(texts)), np.arange(len(texts), dtype=np.int32)
    keys = {place: _value_key(value) for place, value in values.items() if value is not None}
    places = np.fromiter(values, np.int64, len(values))
    mask = np.zeros(len(texts), np.bool_)
    mask[places] = True
    replaced = pa.array([keys.get(place) for place in sorted(values)], pa.string())
    numbered = pc.replace_with_mask(texts, pa.array(mask), replaced).dictionary_encode()
    codes = numbered.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    held = np.flatnonzero(codes >= 0)
    first = np.zeros(len(numbered.dictionary), np.int64)
    first[codes[held][::-1]] = held[::-1]
    return first, codes


def _characters(
    texts: pa.StringArray, plain: npt.NDArray[np.bool_], others: list[Shown], alphabet: Alphabet
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.unsignedinteger[Any]]]:
    """Starts of the values, and the numbers of their characters one after the other."""
    lengths = np.empty(len(texts), np.int64)
    simple = texts.filter(pa.array(plain))
    lengths[plain] = pc.binary_length(simple).to_numpy(zero_copy_only=False)
    lengths[~plain] = [len(each.characters) for each in others]
    numbers = [alphabet.number(each) for value in others for each in value.characters]
    start = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    characters = np.empty(start[-1], alphabet.dtype)
    of_plain = np.repeat(plain, lengths)
    characters[of_plain] = _data(simple)
    characters[~of_plain] = numbers
    return start, characters


def _data(texts: pa.StringArray) -> npt.NDArray[np.uint8]:
    """The bytes of texts, one after the other."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return np.empty(0, np.uint8)
    edges = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return np.frombuffer(data, np.uint8)[edges[0] : edges[-1]]


def _folded_count(
    attribute: Attribute,
    texts: pa.StringArray,
    plain: npt.NDArray[np.bool_],
    others: list[Shown],
    codes: Codes,
) -> Codes:
    """Per value, the number of records whose value is compared as equal to it."""
    folded = texts if attribute.case_sensitive else pc.ascii_lower(texts)
    if others:
        keys = pa.array([_key(each.folded) for each in others], pa.string())
        folded = pc.replace_with_mask(folded, pa.array(~plain), keys)
    group = folded.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    count = np.bincount(codes[codes >= 0], minlength=len(texts))
    total = np.bincount(group, count)
    return np.asarray(total[group], np.int32)
