"""What can be made of the released cells of people that might foretell what a release hides.

A column that gives somebody away need not do so as it stands: charges add up to an income, every
second digit of a number is a postcode, a text decodes to a name. Here is made whatever an intruder
would try, of one record and of all records of a person, of one column and of two, and screened
on few people: the next person in the order of what was made should have the same hidden value, or
one near it. What passes is measured again on more people by `sfumato.table.dependence`.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import contextlib
import gzip
import hashlib
import html
import json
import quopri
import re
import urllib.parse
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from sfumato.core.arrays import Bools, Floats, Ints

SCREENED, SCREENED_OF_MANY = 512, 2_048
"""People on whom everything is tried, and where so few of them share a hidden value that nothing
could be seen; what is found is measured again on more."""
LEAST_PAIRS = 50
"""Pairs that would differ by chance, without which nothing is said: that at most a fifth of them do
happens to a feature of chance with 1e-11 (Poisson), among 100,000 with 1e-6."""
PROMISING = 0.6
"""Share of what is not known from which a feature is measured again: the screen is coarser than the
measure, which stops at 0.8."""
SIGNS, WORDS, COMMONEST, FEW_VALUES = 20, 8, 12, 64
"""Signs from either end of a text, its words and numbers, values of a column that are counted in a
person's records, and values up to which a feature can be joined with others."""
JOINED, JOINABLE, ADDS = 6, 40, 0.02
"""Features that are joined to one, among how many of the best, and what each must add."""
COLUMNS = 20
"""Columns that are held against others."""
MODULI = (2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 16, 26, 31, 36, 37, 64, 89, 97, 100, 128, 1000)
"""By which numbers are divided: parities, check digits of ISO 7064 (11, 37, 97), Luhn and EAN (10),
letters, days, months, bits and digits."""
CHECKS = (9, 10, 11, 26, 37, 89, 97, 100, 101, 1000)
"""The same of two numbers, or two parts of one, added and subtracted."""
WHOLE = 2.0**53
"""Below it numbers are whole."""
DECODED = 0.9
"""Share of texts that must decode to something legible."""
LEAST_SIGNS = 6
"""Signs of a text that is decoded; shorter ones are values, which are told apart as they are."""
DEPTH = 3
"""So many times a text is decoded, as JSON in base64 in percent signs is."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_PLACES = re.compile(
    r"^(sign|word|length|month|weekday|hour) ?\d*( from the end)?(, (decoded|read) .*)?$"
)
"""What of a record is joined: parts that stand beside others, and not what is made of several."""
_WORD = re.compile(r"[^\W_]+")

Made = dict[str, Floats]
"""What was made of the cells of people, a number each, NaN for nothing, by how it was made."""
Place = tuple[str, str]
"""A column and how something was made of it."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """What is foretold of each person.

    Attributes
    ----------
    of, words
        The quasi-identifier, ``None`` of an identifier; and what of it, as a sentence's object.
    codes
        Of each person, in order where near codes are near values; -1 where it is not known.
    numbers
        Of an identifier, the numbers themselves: near ones say nothing of a person.
    """

    of: str | None
    words: str
    codes: Ints
    ordered: bool
    numbers: Floats | None = None

    def some(self, people: Ints) -> Hidden:
        """The same of some people."""
        numbers = None if self.numbers is None else self.numbers[people]
        return replace(self, codes=self.codes[people], numbers=numbers)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column in all records of some people, those of a person together.

    Attributes
    ----------
    numbers
        As numbers, or dates as days; ``None`` of anything else.
    texts
        As texts; ``None`` for missing.
    starts
        First record of each person; ascending.
    """

    numbers: Floats | None
    texts: Sequence[str | None]
    starts: Ints
    dates: bool = False

    @property
    def repeated(self) -> bool:
        """Whether a person has several records."""
        return len(self.texts) > len(self.starts)

    @cached_property
    def firsts(self) -> list[str | None]:
        """The text of the first record of each person."""
        return [self.texts[start] for start in self.starts.tolist()]

    @cached_property
    def decoded(self) -> list[tuple[str, list[str | None]]]:
        """What the texts of first records decode to, and how."""
        return list(decoded(self.firsts))

    @cached_property
    def joined(self) -> dict[str, list[str]]:
        """The first and the last signs of a person's records, one after the other."""
        ends = [*self.starts[1:].tolist(), len(self.texts)]
        some = [
            self.texts[start:end] for start, end in zip(self.starts.tolist(), ends, strict=True)
        ]
        return {
            way: ["".join((each or " ")[at] for each in own if each != "") for own in some]
            for way, at in (("first letters", 0), ("last signs", -1))
        }

    @property
    def readings(self) -> Iterator[tuple[str, Sequence[str | None]]]:
        """Texts that those of people may hide without a key, and how."""
        firsts = [first or "" for first in self.firsts]
        yield "", firsts
        yield "read backwards", [first[::-1] for first in firsts]
        yield "every second sign", [first[::2] for first in firsts]
        yield "every second sign from the second", [first[1::2] for first in firsts]
        yield "by ROT13", [codecs.encode(first, "rot13") for first in firsts]
        if self.repeated:
            yield from self.joined.items()
        yield from self.decoded

    @cached_property
    def of_records(self) -> Made:
        """What is made of the first record of each person."""
        return _of_records(self)

    @cached_property
    def of_people(self) -> Made:
        """What is made of all records of a person: sums, means, differences, counts."""
        return _of_people(self)

    @cached_property
    def aggregates(self) -> Made:
        """The same of the numbers of those who have several records."""
        return (
            aggregates(self.numbers, self.starts)
            if self.repeated and self.numbers is not None
            else {}
        )


# What is made of one column.


def _of_records(cells: Cells) -> Made:
    firsts, records = cells.firsts, {}
    if cells.numbers is not None:
        numbers = cells.numbers[cells.starts]
        records = {"itself": numbers, **_of_date(numbers)} if cells.dates else _of_number(numbers)
    records |= _of_text(firsts)
    for way, texts in cells.decoded:
        read = _numbers_of(texts)
        records |= {f"{each}, {way}": own for each, own in (_of_text(texts) | read).items()}
    return records


def _of_people(cells: Cells) -> Made:
    if not cells.repeated:
        return {}
    made = dict(cells.aggregates)
    if made:
        made |= {f"sum, {each}": own for each, own in _of_number(made["sum"]).items()}
    code = numbered(cells.texts).astype(np.int64)
    counts = np.bincount(code[code >= 0], minlength=1)
    for rank, place in enumerate(np.argsort(-counts, kind="stable")[:COMMONEST].tolist()):
        often = np.add.reduceat((code == place).astype(np.float64), cells.starts)
        made[f"number of the value {rank + 1}"] = often
    known = np.add.reduceat((code >= 0).astype(np.float64), cells.starts)
    made["number of values"], made["parity of the number of values"] = known, known % 2
    made["number of different values"] = _distinct(code, cells.starts)
    made["length of all values"] = np.add.reduceat(
        np.array([len(text or "") for text in cells.texts], dtype=np.float64), cells.starts
    )
    for way, texts in () if cells.numbers is not None else cells.joined.items():
        made |= {f"{way}, {each}": sign for each, sign in _of_signs(texts).items()}
    ends = list(zip(cells.starts.tolist(), [*cells.starts[1:].tolist(), len(code)], strict=True))
    for record in range(min(3, int(np.diff(cells.starts).max(initial=1)))):
        later = [cells.texts[one + record] if one + record < end else None for one, end in ends]
        made[f"record {record + 1}"] = numbered(later)
    return made


def of_counts(counts: Floats) -> Made:
    """What is made of the number of a person's records."""
    # Counts are small: larger moduli would leave most of them as they are.
    return {"number of records": counts} | {
        f"number of records modulo {each}": counts % each for each in MODULI[:8]
    }


def aggregates(numbers: Floats, starts: Ints) -> Made:
    """What the records of each person have in common, shape (people,)."""
    known = ~np.isnan(numbers)
    count = np.add.reduceat(known.astype(np.float64), starts)
    none = np.where(count > 0, 0.0, np.nan)
    several = np.where(count > 1, 0.0, np.nan)
    person = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(numbers))))
    in_order = numbers[np.lexsort((numbers, person))]
    ends = starts + np.maximum(count.astype(np.int64), 1) - 1
    middle = (in_order[(starts + ends) // 2] + in_order[(starts + ends + 1) // 2]) / 2
    filled = np.where(known, numbers, 0.0)
    total = np.add.reduceat(filled, starts) + none
    square = np.add.reduceat(filled**2, starts) + none
    last = np.append(starts[1:], len(numbers)) - 1
    steps = np.diff(in_order, append=np.nan)
    # From the last record of a person to the first of the next one is no step.
    steps[last] = np.nan
    smallest, largest = in_order[starts], in_order[ends]
    with np.errstate(all="ignore"):
        mean = total / count
        logarithm = np.log(np.where(numbers > 0, numbers, np.nan))
        made = {
            "sum": total, "mean": mean, "smallest": smallest, "largest": largest,
            "range": largest - smallest + several, "median": middle,
            "mean distance": (largest - smallest) / (count - 1) + several,
            "smallest distance": np.fmin.reduceat(steps, starts) + several,
            "largest distance": np.fmax.reduceat(steps, starts) + several,
            "second smallest": in_order[np.minimum(starts + 1, ends)] + several,
            "second largest": in_order[np.maximum(ends - 1, starts)] + several,
            "spread": np.sqrt(np.maximum(square / count - mean**2, 0.0)) + several,
            "sum of squares": square,
            "geometric mean": np.add.reduceat(logarithm, starts) / count,
            # By logarithms, as a product of many records overflows and only its order counts.
            "product": np.add.reduceat(logarithm, starts),
            "last less first": numbers[last] - numbers[starts] + several,
            "second less first": numbers[np.minimum(starts + 1, last)] - numbers[starts] + several,
            "first over last": numbers[starts] / numbers[last] + several,
            "largest over smallest": largest / smallest + several,
        }  # fmt: skip
    if _are_whole(numbers):
        whole = filled.astype(np.int64)
        made["exclusive or"] = np.bitwise_xor.reduceat(whole, starts).astype(np.float64)
    # Equal sums may differ in their last bits by the order of their terms, and have to agree.
    made["sum"] = np.round(made["sum"], 6)
    return {way: _finite(each) for way, each in made.items()}


def _finite(numbers: Floats) -> Floats:
    return np.where(np.isfinite(numbers), numbers, np.nan)


def _distinct(code: Ints, starts: Ints) -> Floats:
    person = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(code))))
    width = int(code.max(initial=0)) + 1
    pairs = np.unique(person[code >= 0] * width + code[code >= 0]) // width
    return np.bincount(pairs, minlength=len(starts)).astype(np.float64)


def _are_whole(numbers: Floats) -> bool:
    known = numbers[np.isfinite(numbers)]
    return bool(len(known) and (known % 1.0 == 0.0).all() and (np.abs(known) < WHOLE).all())


def _of_number(numbers: Floats) -> Made:
    """Remainders, sums of digits, parts and check digits of a number, in cents where it has any."""
    known = ~np.isnan(numbers)
    made = {"itself": numbers}
    cents = np.round(numbers * 100)
    if not _are_whole(numbers):
        numbers = cents
    if not _are_whole(numbers):
        return made
    whole = np.abs(np.where(known, numbers, 0.0)).astype(np.int64)
    found = {f"remainder modulo {each}": whole % each for each in MODULI}
    digits = [whole // 10**place % 10 for place in range(min(len(str(whole.max(initial=1))), 16))]
    # As if the check digit stood behind: the last digit is the first that is doubled (Luhn).
    doubled = [digit if place % 2 else digit * 2 // 10 + digit * 2 % 10
               for place, digit in enumerate(digits)]  # fmt: skip
    found["sum of digits"] = total = np.sum(digits, axis=0)
    found["sum of digits modulo 9"] = total % 9
    found["sum of digits modulo 10"] = total % 10
    found["sum of digits by Luhn modulo 10"] = np.sum(doubled, axis=0) % 10
    found["alternating sum of digits"] = np.sum(digits[::2], axis=0) - np.sum(
        digits[1::2] or [whole * 0], axis=0
    )
    found["product of digits"] = np.prod([np.maximum(digit, 1) for digit in digits], axis=0)
    bits = (whole[:, None] >> np.arange(48)) & 1
    found["number of bits"] = bits.sum(axis=1)
    weights = 1 << np.arange(24)
    found["even bits"], found["odd bits"] = bits[:, ::2] @ weights, bits[:, 1::2] @ weights
    found["Gray code"] = _from_gray(whole)
    for place in (1, 2, 3):
        head, tail = whole // 10**place, whole % 10**place
        for check in CHECKS:
            found[f"last {place} digits less the others, modulo {check}"] = (tail - head) % check
            found[f"last {place} digits and the others, modulo {check}"] = (tail + head) % check
    return made | {way: np.where(known, each, np.nan) for way, each in found.items()}


def _from_gray(whole: Ints) -> Ints:
    # Each bit is the exclusive or of all above it: six doublings reach 64 of them.
    for shift in (1, 2, 4, 8, 16, 32):
        whole = whole ^ (whole >> shift)
    return whole


def _of_date(days: Floats) -> Made:
    """Parts of a date and of its time."""
    known = ~np.isnan(days)
    seconds = np.round(np.where(known, days, 0.0) * 86_400).astype("M8[s]")
    day, month, year = (seconds.astype(f"M8[{unit}]") for unit in "DMY")
    found = {
        "year": year.astype(np.int64), "month": month.astype(np.int64) % 12,
        "day of the month": (day - month.astype("M8[D]")).astype(np.int64),
        "day of the year": (day - year.astype("M8[D]")).astype(np.int64),
        "weekday": day.astype(np.int64) % 7,
        "hour": seconds.astype(np.int64) // 3600 % 24,
        "minute": seconds.astype(np.int64) // 60 % 60,
        "second": seconds.astype(np.int64) % 60,
        "time": seconds.astype(np.int64) % 86_400,
    }  # fmt: skip
    return {way: np.where(known, each, np.nan) for way, each in found.items()}


def numbered(texts: Sequence[str | None]) -> Floats:
    """Texts numbered in their order, -1 for missing."""
    known = np.array([text is not None for text in texts], dtype=bool)
    code = np.unique([text or "" for text in texts], return_inverse=True)[1]
    return np.where(known, code, -1).astype(np.float64)


def _of_text(texts: Sequence[str | None]) -> Made:
    """Signs, words and numbers of a text by their place, and how many there are."""
    made = _of_signs(texts)
    words = [_WORD.findall(text or "") for text in texts]
    most = min(max(map(len, words), default=0), WORDS)
    if most > 1:
        made["number of words"] = np.array([len(word) for word in words], dtype=np.float64)
        made["first letters of words"] = _shortlex(["".join(b[0] for b in word) for word in words])
        for place in range(most):
            named = [word[place] if len(word) > place else None for word in words]
            made[f"word {place + 1}"] = _shortlex(named)
            made[f"word {place + 1} from the end"] = _shortlex(
                [word[-1 - place] if len(word) > place else None for word in words]
            )
            made[f"length of word {place + 1}"] = (
                np.array([len(each or "") for each in named]) * 1.0
            )
    if any(text and not _NUMBER.fullmatch(text) for text in texts):
        made |= _numbers_of(texts)
    return made


def _numbers_of(texts: Sequence[str | None]) -> Made:
    """Numbers in a text, and what is made of each."""
    found = [_NUMBER.findall(text or "") for text in texts]
    numbers: Made = {}
    for place in range(min(max(map(len, found), default=0), WORDS)):
        own = np.array([float(each[place]) if len(each) > place else np.nan for each in found])
        if np.isfinite(own).sum() >= LEAST_PAIRS and np.nanmax(own) < WHOLE:
            numbers |= {f"number {place + 1}, {way}": each for way, each in _of_number(own).items()}
    return numbers


def _of_signs(texts: Sequence[str | None]) -> Made:
    """The signs of texts from either end, their numbers by kind, and the texts' order."""
    known = np.array([text is not None for text in texts], dtype=bool)
    cut = [(text or "")[:SIGNS].ljust(SIGNS, "\0") for text in texts]
    ends = [(text or "")[-SIGNS:].rjust(SIGNS, "\0") for text in texts]
    left, right = (
        np.array(each, dtype=f"U{SIGNS}").view(np.uint32).reshape(len(texts), SIGNS)
        for each in (cut, ends)
    )
    length = np.array([len(text or "") for text in texts], dtype=np.float64)
    width = min(int(length.max(initial=0)), SIGNS)
    made = {f"sign {place + 1}": left[:, place] * 1.0 for place in range(width)}
    if len(set(length[known].tolist())) > 1 or length.max(initial=0) > SIGNS:
        for place in range(width):
            made[f"sign {place + 1} from the end"] = right[:, -1 - place] * 1.0
        made["length"] = length
    made["order"] = _shortlex(texts)
    made["order from the end"] = _shortlex([None if text is None else text[::-1] for text in texts])
    letter = ((left | 32) >= ord("a")) & ((left | 32) <= ord("z"))
    sum_of_letters = np.where(letter, (left | 32) - ord("a") + 1, 0).sum(axis=1)
    if letter.any():
        made["number of capitals"] = (letter & (left < ord("a"))).sum(axis=1) * 1.0
        made["number of letters"] = letter.sum(axis=1) * 1.0
        made["sum of letters"] = sum_of_letters * 1.0
        made["sum of letters modulo 26"] = sum_of_letters % 26 * 1.0
        vowels = np.isin(left | 32, [ord(each) for each in "aeiou"])
        made["number of vowels"] = vowels.sum(axis=1) * 1.0
    sum_of_signs = np.where(left > 0, left, 0).sum(axis=1)
    made |= {f"sum of signs modulo {each}": sum_of_signs % each * 1.0 for each in (2, 10, 97, 256)}
    return {way: np.where(known, each, np.nan) for way, each in made.items()}


def _shortlex(texts: Sequence[str | None]) -> Floats:
    """Place of each text among them, the shorter first; NaN for missing."""
    known = sorted({text for text in texts if text is not None}, key=lambda each: (len(each), each))
    place = {each: float(at) for at, each in enumerate(known)}
    return np.array([np.nan if text is None else place[text] for text in texts], dtype=np.float64)


# What texts decode to.


def _bytes_of_bits(text: str) -> bytes:
    bits = re.sub(r"\s", "", text)
    if not re.fullmatch(r"([01]{8})+", bits):
        raise ValueError
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def _bytes_of_numbers(text: str) -> bytes:
    return bytes(int(part) for part in re.split(r"[\s,;.]+", text.strip()))


def _padded(text: str, width: int) -> str:
    return text + "=" * (-len(text) % width)


def _changed(text: str, other: str) -> bytes:
    if text == other:
        raise ValueError
    return other.encode()


DECODERS: dict[str, Callable[[str], bytes]] = {
    "hexadecimal": lambda text: bytes.fromhex(re.sub(r"^0x|[:-]", "", text)),
    "bits": _bytes_of_bits,
    "codes of signs": _bytes_of_numbers,
    "base32": lambda text: base64.b32decode(_padded(text.upper(), 8)),
    "base64": lambda text: base64.b64decode(
        _padded(text.translate(str.maketrans("-_", "+/")), 4), validate=True
    ),
    "base85": base64.b85decode,
    "Ascii85": lambda text: base64.a85decode(text, adobe=text.startswith("<~")),
    # A plus is a blank beside such a sign only: alone it is one of base64.
    "percent signs": lambda text: _changed(
        text, urllib.parse.unquote_plus(text) if "%" in text else text
    ),
    "HTML": lambda text: _changed(text, html.unescape(text)),
    "quoted-printable": lambda text: _changed(text, quopri.decodestring(text.encode()).decode()),
    "backslashes": lambda text: _changed(text, text.encode("ascii").decode("unicode_escape")),
}
"""How texts are read as bytes (RFC 4648, 3986, 2045; base85 of Git, Ascii85 of PDF)."""
HASHES = ("md5", "sha1", "sha224", "sha256", "sha384", "sha512")
"""Hashes that are tried (RFC 1321, FIPS 180-4)."""
_FORMS: tuple[Callable[[str], str], ...] = (
    str, str.lower, str.upper, lambda text: "".join(filter(str.isalnum, text)),
)  # fmt: skip
# One of eight digits is never right by chance.
_HEXADECIMAL = re.compile(r"(?=[a-f]*[0-9])[0-9a-f]{8,}")
_SEGMENT = re.compile(r"[A-Za-z0-9+/=_-]{6,}")


def _legible(content: bytes) -> str:
    """The text of some bytes, unpacked where compressed; a ValueError if it is none."""
    # How gzip (RFC 1952) and zlib (RFC 1950) begin. The latter is the letter x, too: what cannot be
    # unpacked is text.
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    elif content[:1] == b"\x78":
        with contextlib.suppress(zlib.error):
            content = zlib.decompress(content)
    text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8")
    if not text or not text.replace("\n", "").replace("\t", "").isprintable():
        raise ValueError
    return text


def _read(text: str | None, decoder: Callable[[str], bytes], part: int | None) -> str | None:
    """What a text, or a part of it, decodes to; ``None`` where to nothing."""
    if not text:
        return None
    if part is not None:
        segments = _SEGMENT.findall(text)
        if len(segments) <= part or segments[part] == text:
            return None
        text = segments[part]
    try:
        return _flat(_legible(decoder(text)))
    except (ValueError, binascii.Error, OSError, EOFError, zlib.error):
        return None


def _reads(texts: Sequence[str], decoder: Callable[[str], bytes], part: int | None) -> bool:
    """Whether most texts decode."""
    failed = 0
    for text in texts:
        failed += _read(text, decoder, part) is None
        if failed > (1.0 - DECODED) * len(texts):
            return False
    return True


def _flat(text: str) -> str:
    """A text, or the names and values of JSON in the order of the names."""
    if text[:1] not in "{[":
        return text
    try:
        return "; ".join(sorted(_leaves(json.loads(text))))
    except (ValueError, RecursionError):
        return text


def _leaves(value: object, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for each, own in value.items():
            yield from _leaves(own, f"{name} {each}".strip())
    elif isinstance(value, list):
        for place, own in enumerate(value):
            yield from _leaves(own, f"{name} {place}".strip())
    else:
        yield f"{name}: {value}"


def decoded(
    texts: Sequence[str | None], depth: int = DEPTH
) -> Iterator[tuple[str, list[str | None]]]:
    """What texts, or their parts, decode to, and how; nothing where few do, or by chance."""
    some = [text for text in texts if text][:: max(1, len(texts) // 40)]
    if not depth or sum(len(each) >= LEAST_SIGNS for each in some) < DECODED * max(len(some), 1):
        return
    if sum(each[:1] in "{[" for each in some) >= DECODED * len(some):
        yield "read as JSON", [None if text is None else _flat(text) for text in texts]
    for name, decoder in DECODERS.items():
        for part in (None, 0, 1, 2):
            if not _reads(some, decoder, part):
                continue
            whole = [_read(text, decoder, part) for text in texts]
            yield f"decoded from {name}", whole
            yield from decoded(whole, depth - 1)
            break


def hashed(texts: Sequence[str | None], of: Sequence[str]) -> float:
    """The share of texts that hold a hash of another one, whole or cut, made without a key."""
    pairs = [(a.casefold(), b) for a, b in zip(texts, of, strict=True) if a and b]
    own = [(_HEXADECIMAL.search(text), b) for text, b in pairs]
    if sum(found is not None for found, _ in own) < DECODED * max(len(own), 1):
        return 0.0
    right = [0]
    for name, form in product(HASHES, _FORMS):
        digests = [hashlib.new(name, form(b).encode()).hexdigest() for _, b in own]
        held = zip(own, digests, strict=True)
        right.append(sum(found is not None and found[0] in digest for (found, _), digest in held))
    return max(right) / len(own)


# What is made of two columns.


def of_pair(one: Cells, other: Cells) -> Made:
    """What is made of two columns of numbers, in one record and in all of a person."""
    assert one.numbers is not None
    assert other.numbers is not None
    left, right, starts = one.numbers, other.numbers, one.starts
    made = _of_two(left[starts], right[starts])
    if one.repeated:
        with np.errstate(all="ignore"):
            together = {"product": left * right, "ratio": left / right, "difference": left - right}
        together = {name: _finite(each) for name, each in together.items()}
        both = {name: aggregates(each, starts) for name, each in together.items()}
        for name, found in both.items():
            for way in ("sum", "mean", "largest", "smallest"):
                made[f"{way} of the {name}s of records"] = found[way]
        first, second = one.aggregates, other.aggregates
        for way in ("sum", "mean", "largest", "smallest"):
            for name, each in _of_two(first[way], second[way], checks=way == "sum").items():
                made[f"{name} of the {way}s"] = each
    return made


def _of_two(left: Floats, right: Floats, *, checks: bool = True) -> Made:
    with np.errstate(all="ignore"):
        made = {
            "sum": left + right, "difference": left - right,
            "product": left * right, "ratio": left / right,
        }  # fmt: skip
    made = {way: _finite(each) for way, each in made.items()}
    known = ~np.isnan(left + right)
    one, other = np.where(known, left, 0.0), np.where(known, right, 0.0)
    if checks and _are_whole(one) and _are_whole(other):
        whole, more = one.astype(np.int64), other.astype(np.int64)
        found = {"exclusive or": whole ^ more}
        found |= {f"sum modulo {check}": (whole + more) % check for check in (2, 7, *CHECKS)}
        found |= {f"difference modulo {check}": (whole - more) % check for check in CHECKS}
        made |= {way: np.where(known, each, np.nan) for way, each in found.items()}
    return made


# What passes.


class Screen:
    """People on whom everything is tried, in an order of chance."""

    def __init__(self, hidden: Sequence[Hidden]) -> None:
        total = len(hidden[0].codes)
        for most in (SCREENED, SCREENED_OF_MANY):
            self.people: Ints = np.arange(0, total, -(-total // most))
            some = [each.some(self.people) for each in hidden]
            if all(each.ordered or _shared(each.codes) >= LEAST_PAIRS for each in some):
                break
        # An order of its own for ties: a file may be in the order of what is looked at.
        self._turn = np.random.default_rng(total).permutation(len(self.people))
        self.hidden = [each.some(self._turn) for each in some if each.numbers is None]
        self._named = [(each, each.numbers) for each in some if each.numbers is not None]

    def scores(self, features: Sequence[Floats] | Floats, at: int | None = None) -> Floats:
        """Of what is not known, what the next in the order of each feature tells.

        Parameters
        ----------
        features
            A number for each person, NaN for nothing.
        at
            The place of the hidden column that alone is looked at.

        Returns
        -------
        numpy.ndarray
            Shape (hidden, features), of one (features,); 0 where too little is known.
        """
        values = np.array([feature[self._turn] for feature in features], dtype=np.float64)
        order = np.argsort(values, axis=1, kind="stable")
        pairs = np.arange(values.shape[1] - 1) < (~np.isnan(values)).sum(axis=1)[:, None] - 1
        if at is not None:
            return _adjacent(self.hidden[at], order, pairs)
        found: Floats = np.array([_adjacent(each, order, pairs) for each in self.hidden])
        return found

    def promising(self, made: Made) -> Iterator[tuple[Hidden, str, float]]:
        """The ways that tell something hidden, the best of each, and how much."""
        ways = list(made)
        if not ways:
            return
        features = np.array([made[way] for way in ways], dtype=np.float64)
        equal = [np.isclose(features, numbers).mean(axis=1) for _, numbers in self._named]
        told = zip(self.hidden, self.scores(features), strict=True)
        named = zip((each for each, _ in self._named), equal, strict=True)
        for each, row in (*told, *named):
            best = int(row.argmax())
            if row[best] >= PROMISING:
                yield each, ways[best], float(row[best])

    def joined(self, made: Mapping[Place, Floats]) -> Iterator[tuple[Hidden, tuple[Place, ...]]]:
        """Ways that tell something hidden together, one added after the other.

        Each is a place at which people differ in few values, as a digit is: a decision tree that
        asks the same of everybody at each level.
        """
        codes_of = {way: np.unique(each, return_inverse=True)[1] for way, each in made.items()}
        few = {
            way: code.astype(np.float64)
            for way, code in codes_of.items()
            if 0 < code.max() < FEW_VALUES
        }
        if not few:
            return
        ways = list(few)
        alone = self.scores([few[way] for way in ways])
        for at, each in enumerate(self.hidden):
            pool = [ways[place] for place in np.argsort(-alone[at], kind="stable")[:JOINABLE]]
            chosen: list[Place] = []
            best = 0.0
            codes: Floats = np.zeros(len(self._turn))
            while len(chosen) < JOINED:
                tried = [codes * FEW_VALUES + few[way] for way in pool]
                row = self.scores(tried, at)
                top = int(row.argmax())
                if row[top] < best + ADDS:
                    break
                best, codes = (
                    float(row[top]),
                    np.unique(tried[top], return_inverse=True)[1].astype(np.float64),
                )
                chosen.append(pool[top])
            if len(chosen) > 1 and best >= PROMISING:
                yield each, tuple(chosen)


def _shared(codes: Ints) -> float:
    """Pairs of neighbours that are the same in the order of the codes, beyond those by chance."""
    known = np.bincount(codes[codes >= 0], minlength=1)
    total = int(known.sum())
    same = float((known * (known - 1.0)).sum()) / max(total - 1.0, 1.0)
    return total - np.count_nonzero(known) - same


def _adjacent(hidden: Hidden, order: Ints, pairs: Bools) -> Floats:
    """What neighbours in each order have in common beyond chance, of what they could."""
    codes = hidden.codes
    known = np.bincount(codes[codes >= 0], minlength=1)
    total = int(known.sum())
    if total < LEAST_PAIRS:
        return np.zeros(len(order))
    in_order = codes.astype(np.int32)[order]
    pairs = pairs & (in_order[:, 1:] >= 0) & (in_order[:, :-1] >= 0)
    often = pairs.sum(axis=1)
    if hidden.ordered:
        ends = np.cumsum(known)
        rank = (ends - (known - 1) / 2.0).astype(np.float32)[in_order]
        apart = np.abs(np.diff(rank, axis=1)).sum(
            axis=1, where=pairs, dtype=np.float64
        ) / np.maximum(often, 1)
        some = np.sort((ends - (known - 1) / 2.0)[codes[codes >= 0]])
        # The mean difference of the ranks of any two people, as in `dependence.narrows`.
        weights = 2.0 * np.arange(total) - total + 1.0
        overall = 2.0 * float(weights @ some) / (total * (total - 1.0))
        share, differ = 1.0 - apart / overall if overall > 0 else apart * 0.0, often
    else:
        same = float((known * (known - 1.0)).sum()) / (total * (total - 1.0))
        agree = ((in_order[:, 1:] == in_order[:, :-1]) & pairs).sum(axis=1) / np.maximum(often, 1)
        if _shared(codes) < LEAST_PAIRS:
            return np.zeros(len(order))
        # The most there can be: in the order of the hidden value only its changes differ.
        most = (total - np.count_nonzero(known)) / (total - 1.0)
        share, differ = (agree - same) / (most - same), (1.0 - same) * often
    return np.where(differ >= LEAST_PAIRS, share, 0.0)


def joinable(columns: Mapping[str, Cells]) -> dict[Place, Floats]:
    """What differs in few values, of all columns: signs, words, values, sixteenths of numbers."""
    made: dict[Place, Floats] = {}
    for name, cells in list(columns.items())[:COLUMNS]:
        found = {way: record for way, record in cells.of_records.items() if _PLACES.search(way)}
        plain = dict(cells.aggregates)
        if cells.numbers is not None:
            plain["itself"] = cells.numbers[cells.starts]
        for way in ("itself", "sum", "mean", "largest", "smallest", "range"):
            if way in plain:
                found[f"sixteenths of {way}"] = _sixteenths(plain[way])
        found["whole text"] = numbered(cells.firsts)
        for record in ("record 2", "record 3"):
            if record in cells.of_people:
                found[record] = cells.of_people[record]
        made |= {(name, way): each for way, each in found.items()}
    return made


def _sixteenths(numbers: Floats) -> Floats:
    known = np.isfinite(numbers)
    if not known.any():
        return numbers
    ends = np.unique(np.quantile(numbers[known], np.arange(1, 16) / 16))
    return np.where(known, np.searchsorted(ends, numbers, side="right"), np.nan)


def joined_codes(made: Mapping[Place, Floats], ways: Sequence[Place]) -> Ints:
    """A number for each combination of what was made in some ways."""
    codes = np.zeros(len(next(iter(made.values()))), dtype=np.int64)
    for way in ways:
        own = np.unique(made[way], return_inverse=True)[1]
        codes = np.unique(codes * (int(own.max()) + 1) + own, return_inverse=True)[1]
    return codes
