"""What the values of a column are about: names, numbers of persons, dates of birth, codes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.core.arrays import Floats
from sfumato.core.number_text import percentage
from sfumato.table import header_words
from sfumato.table.common_words import (
    BIRTH_WORDS,
    COUNTRIES,
    DATE_WORDS,
    GIVEN_NAMES,
    ORDINARY,
    OTHER_SEXES,
    SEXES,
    STREET,
    SURNAME_ENDING,
    SURNAMES,
    YES_NO,
    folded,
)
from sfumato.table.person_candidates import FREE_TEXT_LENGTH, FREE_TEXT_SPACES, scale_of
from sfumato.table.sources import is_text, matching
from sfumato.table.value_forms import Form

FEW = 50
"""Different values up to which text or numbers look like categories."""
FEW_PEOPLE = 10
"""Different values below which each is looked at by itself.

As many must be there before a check digit, which one number in ten has by chance, tells anything.
"""
LOOKED_AT = 2_000
"""Different values that decide about what a column holds."""
CHECKED = 300
"""Different values whose check digits are worked out."""
MOSTLY = 0.9
"""Share of the values from which a shape says what they are."""
CERTAIN = 0.6
"""Confidence of what is likelier than anything else."""
LABEL = 5
"""Records per long text from which few such texts are labels of categories."""
YOUNGEST = 15
"""Years before now that dates lie back from which so few of them are births rather than events."""
BEYOND = 1e30
"""Larger numbers count nothing and number nobody."""
BY_CHANCE = 0.4
"""Share of numbers with a wrong digit that may pass a check all the same, at most."""


class Content(StrEnum):
    """What the values of a column are."""

    GIVEN_NAME = "given name"
    SURNAME = "surname"
    FULL_NAME = "full name"
    EMAIL = "e-mail"
    PHONE = "phone"
    ADDRESS = "address"
    STREET = "street"
    NATIONAL_NUMBER = "national number"
    PAYMENT_NUMBER = "payment number"
    NETWORK_ADDRESS = "network address"
    FREE_TEXT = "free text"
    IDENTIFIER = "identifier"
    BYTES = "bytes"
    SEX = "sex"
    DATE_OF_BIRTH = "date of birth"
    YEAR_OF_BIRTH = "year of birth"
    AGE = "age"
    DATE = "date"
    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    TIME = "time of day"
    COORDINATE = "coordinate"
    POSTCODE = "postcode"
    PLACE = "place"
    COUNTRY = "country"
    CATEGORY = "category"
    SCALE = "scale"
    YES_NO = "yes/no"
    DISEASE = "code of a disease"
    DRUG = "code of a drug"
    LABORATORY = "code of a laboratory test"
    PROCEDURE = "code of a procedure"
    CONCEPT = "code of a clinical concept"
    MEASUREMENT = "measurement"
    NUMBER = "number"
    TEXT = "text"
    CONSTANT = "constant"
    EMPTY = "empty"


PERSONAL = frozenset({
    Content.GIVEN_NAME, Content.SURNAME, Content.FULL_NAME, Content.EMAIL, Content.PHONE,
    Content.ADDRESS, Content.STREET, Content.NATIONAL_NUMBER, Content.PAYMENT_NUMBER,
    Content.NETWORK_ADDRESS, Content.FREE_TEXT, Content.IDENTIFIER, Content.BYTES,
})  # fmt: skip
"""What names, reaches or numbers a person, or may do so."""
CODES = frozenset({
    Content.DISEASE, Content.DRUG, Content.LABORATORY, Content.PROCEDURE, Content.CONCEPT,
})  # fmt: skip
"""Codes of public lists that say what happened to a person."""
OF_A_PERSON = frozenset({
    Content.SEX, Content.DATE_OF_BIRTH, Content.YEAR_OF_BIRTH, Content.GIVEN_NAME,
    Content.SURNAME, Content.FULL_NAME, Content.EMAIL, Content.PHONE, Content.NATIONAL_NUMBER,
})  # fmt: skip
"""What hardly changes about a person, and is not shared by all who live somewhere."""


@dataclass(frozen=True)
class Held:
    """What a column holds, how sure that is, from 0 to 1, and why, without a value."""

    content: Content
    confidence: float
    evidence: str


def held_in(form: Form, header: str = "") -> Held:
    """What a column holds, by its values; its name decides only between what they allow alike."""
    if form.look == "empty" or not form.distinct:
        return Held(Content.EMPTY, 1.0, "no value in any record")
    if form.look == "bytes":
        return Held(Content.BYTES, 1.0, "bytes cannot be judged")
    if form.distinct == 1:
        return _one_value(form, header)
    if form.look == "yes/no":
        return Held(Content.YES_NO, 1.0, "yes or no")
    if form.look == "dates":
        return _date(form)
    if form.look == "numbers" and not (np.abs(form.numbers()) < BEYOND).all():
        return Held(Content.NUMBER, CERTAIN, "numbers, infinite ones or nearly so among them")
    column = _Values(form, header)
    tests = _OF_NUMBERS if form.look == "numbers" else _OF_TEXTS
    return next(found for found in (test(column) for test in tests) if found is not None)


def _one_value(form: Form, header: str) -> Held:
    """What the only value of a column is: what names somebody, or nothing that can be told."""
    column = _Values(form, header)
    found = None if form.look in ("dates", "yes/no") else _shapes(column) or _of_few(column)
    if found is not None:
        return found
    if form.look == "text" and _is_sentence(column.texts[0].as_py()):
        return Held(Content.FREE_TEXT, CERTAIN, "a long text throughout")
    if (
        header_words.says_nothing(header)
        and form.look == "text"
        and may_be_names(column.texts.to_pylist())
    ):
        return Held(
            Content.FULL_NAME, CERTAIN, "words with capitals under a name that says nothing"
        )
    if form.look == "dates" and (
        header_words.named(map(folded, column.words), BIRTH_WORDS) or _years_ago(form) >= YOUNGEST
    ):
        return Held(Content.DATE_OF_BIRTH, CERTAIN, "one past date, as that of a birth")
    if form.told_apart > 1:
        return Held(Content.YES_NO, 1.0, "one value or none, which tells two kinds of records")
    return Held(Content.CONSTANT, 1.0, "one value throughout")


class _Values:
    """Different values of a column as texts, with the share of the records that have them."""

    def __init__(self, form: Form, header: str) -> None:
        self.form, self.header, self.words = form, header.casefold(), header_words.words_of(header)
        self.weights = form.counts[:LOOKED_AT] / max(form.counts[:LOOKED_AT].sum(), 1)
        self.plain = form.values[:LOOKED_AT]
        texts = self.plain if is_text(self.plain.type) else _printed(self.plain, form.width)
        self.texts = texts.cast(pa.large_string())
        self.repeats = form.filled / form.distinct

    def share(self, pattern: str) -> float:
        """Share of the records whose value matches."""
        return float(self.weights[matching(self.texts, pattern)].sum())

    def share_of_found(self, pattern: re.Pattern[str]) -> float:
        """As `share`, of a pattern that Python searches for faster than Arrow reads it."""
        found = [pattern.search(text) is not None for text in self.texts[:CHECKED].to_pylist()]
        return float(self.weights[: len(found)][found].sum() / self.weights[: len(found)].sum())

    def share_of(self, test: Callable[[str], bool]) -> float:
        """Share of the records whose folded value passes."""
        passed = [test(folded(text)) for text in self.texts.to_pylist()]
        return float(self.weights[np.array(passed, dtype=np.bool_)].sum())


def _printed(values: pa.Array, width: int) -> pa.Array:
    """Numbers as texts, whole ones without decimals, padded as they are written."""
    if pa.types.is_floating(values.type) and bool(
        pc.all(pc.equal(pc.floor(values), values)).as_py()
    ):
        values = values.cast(pa.int64(), safe=False)
    texts = values.cast(pa.large_string())
    return pc.utf8_lpad(texts, width, "0") if width else texts


def _date(form: Form) -> Held:
    days = form.numbers()
    weights = form.counts / form.counts.sum()
    order = np.argsort(days)
    at = np.cumsum(weights[order])
    # Two in a hundred at either end are left out, where mistyped years would widen the spread.
    years = [
        float(days[order[np.searchsorted(at, q)]]) / 365.25 for q in (0.02, 0.1, 0.5, 0.9, 0.98)
    ]
    spread, now = years[4] - years[0], _now()
    if (
        spread >= 30
        and years[3] - years[1] >= 15
        and years[0] + 1970 > 1850
        and years[4] + 1970 <= now + 1
    ):
        return Held(
            Content.DATE_OF_BIRTH, 0.9, f"past dates spread over {spread:.0f} years, as births are"
        )
    if years[2] + 1970 < now - YOUNGEST and years[4] + 1970 < now and spread >= 8:
        return Held(Content.DATE_OF_BIRTH, 0.6, f"past dates spread over {spread:.0f} years")
    duration = f"{max(spread, 0.1):.1f}".removesuffix(".0")
    within = "a year" if duration == "1" else f"{duration} years"
    return Held(Content.DATE, 0.9, f"dates within {within}, as events have")


def _years_ago(form: Form) -> float:
    return _now() - 1970 - float(form.numbers().max()) / 365.25


def _now() -> int:
    return int(np.datetime64("today", "Y").astype(int)) + 1970


def _shapes(column: _Values) -> Held | None:
    """E-mail addresses, those of networks, postal codes that are one house's."""
    if column.share(r"^[^@\s]+@[^@\s]+\.[^@\s.]{2,}$") > 0.7:
        return Held(Content.EMAIL, 0.99, "e-mail addresses")
    if column.share(r"^(?:\d{1,3}\.){3}\d{1,3}$|^(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$|^[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{0,4}){4,7}$|^https?://") > MOSTLY:  # fmt: skip # noqa: E501
        return Held(Content.NETWORK_ADDRESS, 0.95, "addresses of a network")
    if column.share_of_found(_EIRCODE) > MOSTLY:
        return Held(Content.ADDRESS, 0.9, _OF_ONE_HOUSE)
    return None


def _of_few(column: _Values) -> Held | None:
    """What names, numbers or reaches somebody, in columns of so few values that no count tells.

    Each value is looked at by itself, however often it is there.
    """
    if column.form.distinct >= FEW_PEOPLE or (
        column.form.look == "numbers" and not column.form.whole
    ):
        return None
    texts = column.texts.to_pylist()
    for content, test, most, why in _ONE_BY_ONE:
        if float(np.mean([bool(test(text)) for text in texts])) > most:
            return Held(content, CERTAIN, f"{why}; few different values, each looked at")
    names = [text for text in texts if _is_called_as_people_are(text)]
    if len(names) == len(texts) and _are_known_names(texts):
        several = all(re.search(r"\S[ ,]+\S", text) for text in texts)
        content = Content.FULL_NAME if several else Content.GIVEN_NAME
        return Held(content, CERTAIN, "frequent names of people among its few values")
    return None


_DAY = r"(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_BAND = re.compile(r"\D{0,3}(\d[\d.,]*)\D{1,5}(\d[\d.,]*)\D{0,3}")


def _is_long_number(text: str) -> bool:
    """Whether a text is a number or code of six digits or more that counts and dates nothing."""
    compact = re.sub(r"[\s./()+_-]", "", text)
    if len(compact) < 7 or not (compact.isascii() and compact.isalnum()):
        return False
    # Few different signs are a filler, such as zeros between dashes, rather than a digest.
    if re.fullmatch(r"[0-9A-Fa-f-]{16,}", text) and len(set(compact)) > 4:
        return True
    # Round numbers are amounts, and three small letters belong to words rather than to codes.
    if re.fullmatch(_DAY, compact) or compact.endswith("000") or re.search("[a-z]{3}", compact):
        return False
    band = _BAND.fullmatch(text)
    if band is not None:
        low, high = (re.sub(r"\D", "", group) for group in band.groups())
        if int(low) < int(high) and low[-1] in "01" and low[0] != "0":
            return False
    # Days and years date something: their digits do not make a long number.
    undated = re.sub(
        r"(?<!\d)(?:\d\d?[-./]\d\d?[-./])?(?:19|20)\d\d(?:[-./]\d\d?[-./]\d\d?)?(?!\d)", "", text
    )
    digits = sum(map(str.isdigit, undated))
    return digits >= 6 and 3 * digits >= len(compact)


def _is_address(text: str) -> bool:
    """Whether a text has a word for a street and a number, or two parts with a number in one."""
    if not (re.search(r"\d", text) and re.search(r"[^\W\d_]{3}", text)):
        return False
    parts = re.search(r"[^\W\d_]{3}.*,.*[^\W\d_]{3}", text) is not None
    capitals = len(re.findall(r"\b[^\W\d_a-z][^\W\d_]{2}", text))
    return _STREET.search(text) is not None or (parts and capitals > 1)


_EIRCODE = re.compile(r"(?i)^[AC-FHKNPRTV-Y]\d[\dW] ?(?=\d*[A-Z])[\dAC-FHKNPRTV-Y]{4}$")
"""A routing key and the sign of one house (An Post, Eircode address database, product guide)."""
_OF_ONE_HOUSE = "postal codes of Ireland, each of which is one address"


def _tells_of_somebody(text: str) -> bool:
    """Whether a text is a sentence with a name in it."""
    words = re.findall(r"\b[^\W\d_a-z][^\W\d_]+", text)
    return _is_sentence(text) and any(folded(word) in _NAMES for word in words)


def _is_sentence(text: str) -> bool:
    return len(text) >= FREE_TEXT_LENGTH and text.count(" ") >= FREE_TEXT_SPACES


def may_be_names(texts: list[str]) -> bool:
    """Whether texts are built as full names are, two to four capitalised words or ideographs."""
    words = [re.split(r"[ ,]+", text) for text in texts]
    capitals = all(w[:1] != w[:1].lower() for word in words for w in (word[0], word[-1]))
    built = capitals and all(2 <= len(word) <= 4 for word in words)
    every = [word for each in words for word in each]
    return (
        built
        and len(set(every)) > MOSTLY * len(every)
        and all(map(_is_called_as_people_are, texts))
    ) or bool(
        texts and all(re.fullmatch(r"[\u4e00-\u9fff\uac00-\ud7a3]{2,4}", text) for text in texts)
    )


def _is_called_as_people_are(text: str) -> bool:
    named_so = text[:1] != text[:1].lower() and re.fullmatch(_NAME_OF_ONE, text) is not None
    return named_so and OF_INSTITUTIONS.search(text) is None


def _are_known_names(texts: list[str]) -> bool:
    """Whether a third of some texts of several words has a frequent name, of single ones half."""
    words = [re.split(r"[ ,.\-]+", folded(text)) for text in texts]
    known = float(np.mean([any(word in _NAMES for word in each) for each in words]))
    several = float(np.mean([len(word) > 1 for word in words]))
    return known >= 1 / 3 if several > MOSTLY else known > 1 / 2


_NAMES = (GIVEN_NAMES | SURNAMES) - ORDINARY
OF_INSTITUTIONS = re.compile(
    r"(?i)hospi|h[oô]pital|clini|klini|krankenhaus|univers|school|schule|colleg|cent(?:er|re|rum)\b"
)
"""Words in the names and headers of what is no person."""
_NAME_OF_ONE = r"[^\W\d_][\w.'’\-]*(?:,? [^\W\d_][\w.'’\-]*){0,5}"
_REACHED = re.compile(r"(?=(?:\D*\d){7})[(]?(?:\+|00?)[\d ()./-]{7,22}(?: ?x\d+)?")
_ONE_BY_ONE: tuple[tuple[Content, Callable[[str], object], float, str], ...] = (
    (Content.PHONE, _REACHED.fullmatch, 2 / 3, "telephone numbers"),
    (Content.IDENTIFIER, _is_long_number, 2 / 3, "long numbers that count nothing"),
    (Content.ADDRESS, _EIRCODE.match, 1 / 2, _OF_ONE_HOUSE),
    (Content.ADDRESS, _is_address, 1 / 2, "streets or towns with numbers"),
    (Content.FREE_TEXT, _tells_of_somebody, 0, "sentences with names in them"),
)  # fmt: skip
"""What values are one by one, how many of them must be, and what is said of them."""


def _time(column: _Values) -> Held | None:
    if column.share(r"^\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp]\.?[Mm]\.?)?$") > MOSTLY:
        return Held(Content.TIME, 0.9, "times of day")
    if column.share(r"^\D{0,12}(\d{1,2}[-/.]\d{1,2}[-/.](\d{2}|\d{4})|\d{4}[-/.]\d{1,2}[-/.]\d{1,2})\b") > MOSTLY:  # fmt: skip # noqa: E501
        return Held(Content.DATE, 0.7, "dates in a form that no line of a recipe reads")
    return None


def _pair(column: _Values) -> Held | None:
    if column.share(r"^\d{2,3} ?/ ?\d{2,3}$") > MOSTLY:
        return Held(Content.MEASUREMENT, 0.8, "pairs of numbers, such as blood pressures")
    return None


_OF_A_YEAR = r"^(19|20)\d{2}[-/]\d+$|^\d+[-/](19|20)\d{2}$"
"""A year and a number within it, as files of authorities have."""


def _phone(column: _Values) -> Held | None:
    if column.repeats > 50 or column.form.distinct < 10:
        return None
    signs = r"^[(+]{0,2}\d[\d ()./-]{5,20}\d( ?x\d{1,6})?$"
    if column.share(signs) < MOSTLY or column.share(_OF_A_YEAR) > MOSTLY:
        return None
    # Behind an x stands an extension, which is no part of the number's length.
    digits = [sum(c.isdigit() for c in text.partition("x")[0]) for text in column.texts.to_pylist()]
    if not 6 <= np.median(digits) <= 14:
        return None
    marks = column.share(r"^\(?\+|^\(?0[ \d().-]*[ /-]|^0\d{8,11}$|^00\d{8,}|^\(\d{2,3}\)")
    groups = column.share(
        r"^(\+?\d{1,3}[ .-])?(\(\d{2,4}\) ?|\d{2,4}[ .-])\d{2,4}([ .-]\d{2,4}){1,3}( ?x\d+)?$"
        r"|^\d{2,5}[-/ ]\d{4,8}$"
    )
    if marks > 0.8 or groups > MOSTLY:
        return Held(Content.PHONE, 0.9 if marks > 0.8 else 0.75, "telephone numbers by their shape")
    if column.form.look == "text" and column.repeats < 2 and column.share(r"\d\D+\d") > 0.5:
        return Held(Content.PHONE, 0.7, "digits in groups that hardly repeat, as in telephones")
    return None


_CODE_SHAPES: tuple[tuple[Content, str, str], ...] = (
    # ATC has fourteen main groups, each with its letter.
    (Content.DRUG, r"^[A-DGHJLMNPRSV]\d{2}([A-Z]([A-Z](\d{2})?)?)?$", "ATC"),
    (Content.DISEASE, r"^[A-TV-Z]\d[0-9A-Z](\.?[0-9A-Z-]{1,4})?[*†+!]?$", "ICD-10"),
    (Content.DISEASE, r"^(\d{3}(\.\d{1,2})?|V\d{2}(\.\d{1,2})?|E\d{3}(\.\d)?)$", "ICD-9"),
    (Content.LABORATORY, r"^\d{1,5}-\d$", "LOINC"),
    (Content.PROCEDURE, r"^\d-[0-9a-z]{3}(\.[0-9a-z]{1,2})?$", "OPS"),
    # ICD-10-PCS leaves out I and O, which look like 1 and 0.
    (Content.PROCEDURE, r"^[0-9A-HJ-NP-Z]{7}$", "ICD-10-PCS"),
    (Content.DRUG, r"^\d{4,5}-\d{3,4}-\d{1,2}$", "NDC"),
    (Content.PROCEDURE, r"^[A-Z]\d{2}[A-Z]$", "DRG"),
)  # fmt: skip


def _codes(column: _Values) -> Held | None:
    """Codes of public lists, which repeat."""
    form = column.form
    if form.distinct < 5 or (form.unique and form.filled > 20):
        return None
    for content, shape, called in _CODE_SHAPES:
        share = column.share(shape)
        if share < 0.95 or not _bears_out(called, column):
            continue
        return Held(
            content, 0.9, f"codes of the shape of {called} in {percentage(share)} of the records"
        )
    # SNOMED CT numbers concepts by 6 to 18 digits, the last of which is Verhoeff's check digit.
    digits = (
        form.distinct >= 10 and column.repeats > 1.5 and column.share(r"^[1-9]\d{5,17}$") == 1.0
    )
    if digits and _valid(column, "verhoeff", CHECKED) > 0.95:
        return Held(Content.CONCEPT, 0.9, "codes with the check digit of SNOMED CT")
    return None


def _bears_out(called: str, column: _Values) -> bool:
    """Whether values of a shape that much else has are those codes all the same."""
    if called == "ATC":  # whole codes, or groups of more than one length
        return column.share(r"^[A-Z]\d{2}[A-Z]") > 0.5 and column.share(r"^.{4}$") < 0.9
    if called == "ICD-9":
        text = column.form.look == "text" or column.form.width == 3
        letters, dots = column.share(r"^[VE]\d"), column.share(r"^\d{3}\.\d{1,2}$")
        zeros = column.share(r"^0\d\d")
        headed = bool(re.search(r"icd|diag|dx|disease|condition", column.header))
        mixed = 0.05 < dots < 0.999 and column.share(r"^\d{3}$") > 0.02
        return headed or (text and (letters > 0 or zeros > 0) and column.repeats > 1.2) or (
            text and mixed and column.form.distinct > 20)  # fmt: skip
    if called == "LOINC":
        return _valid(column, "luhn", CHECKED, strip="-") > 0.9
    if called == "ICD-10-PCS":
        both = column.share(r"\d.*[A-Z]")  # a letter and a number are the code of some person
        return both > 0.95 and column.repeats > 2 and column.share(r"^[0-9A-HX]") > 0.99
    if called == "ICD-10":
        initials = pc.utf8_slice_codeunits(column.texts, 0, 1)
        several = pc.count_distinct(initials).as_py() > 1
        return several or column.share(r"\.") > 0.3
    return True


def _valid(column: _Values, module: str, most: int, *, strip: str = "") -> float:
    """Share of values that a check of `stdnum` accepts."""
    accepts = validator(module)
    texts = column.texts[:most].to_pylist()
    return float(np.mean([accepts(t.replace(strip, "") if strip else t) for t in texts]))


_NATIONAL: tuple[tuple[str, str, str], ...] = (
    ("gb.nhs", r"\d{10}", "an NHS number"),
    ("gb.nino" , r"[A-Z]{2}\d{6}[A-D]", "a National Insurance number"),
    ("nl.bsn", r"\d{8,9}", "a Dutch BSN"),
    ("fr.nir", r"[1-478]\d{12}(\d{2})?|[12]\d{4}2[AB]\d{6,8}", "a French NIR"),
    ("de.idnr", r"\d{11}", "a German tax number"),
    ("se.personnummer", r"\d{10}(\d{2})?", "a Swedish personal number"),
    ("fi.hetu", r"\d{6}[-+A-FU-Y]?\d{3}[0-9A-Y]", "a Finnish personal number"),
    ("no.fodselsnummer", r"\d{11}", "a Norwegian birth number"),
    ("dk.cpr", r"\d{10}", "a Danish CPR number"),
    ("is_.kennitala", r"\d{10}", "an Icelandic kennitala"),
    ("be.nn", r"\d{11}", "a Belgian national number"),
    ("es.dni", r"\d{8}[A-Z]", "a Spanish DNI"),
    ("es.nie", r"[XYZ]\d{7}[A-Z]", "a Spanish NIE"),
    ("es.nif", r"[0-9XYZKLM]\d{7}[A-Z]", "a Spanish NIF"),
    ("it.codicefiscale", r"[A-Z]{6}([0-9L-V]{2}[A-Z]){2}[0-9L-V]{3}[A-Z]", "a codice fiscale"),
    ("pl.pesel", r"\d{11}", "a Polish PESEL"),
    ("br.cpf", r"\d{11}", "a Brazilian CPF"),
    ("pt.nif", r"\d{9}", "a Portuguese NIF"),
    ("pt.cc", r"\d{9}[A-Z0-9]{2}\d", "a Portuguese citizen card"),
    ("ch.ssn", r"756\d{10}", "a Swiss AHV number"),
    ("at.vnr", r"\d{10}", "an Austrian insurance number"),
    ("au.medicare", r"\d{10,11}", "an Australian Medicare number"),
    ("au.tfn", r"\d{8,9}", "an Australian tax number"),
    ("ca.sin", r"\d{9}", "a Canadian SIN"),
    ("cz.rc", r"\d{9,10}", "a Czech or Slovak birth number"),
    ("tr.tckimlik", r"[1-9]\d{10}", "a Turkish identity number"),
    ("ro.cnp", r"[1-9]\d{12}", "a Romanian CNP"),
    ("hr.oib", r"\d{11}", "a Croatian OIB"),
    ("bg.egn", r"\d{10}", "a Bulgarian EGN"),
    ("ee.ik", r"\d{11}", "an Estonian identity code"),
    ("lt.asmens", r"\d{11}", "a Lithuanian personal code"),
    ("lv.pk", r"\d{11}", "a Latvian personal code"),
    ("ie.pps", r"\d{7}[A-W][A-IW]?", "an Irish PPS number"),
    ("gr.amka", r"\d{11}", "a Greek AMKA"),
    ("si.emso", r"\d{13}", "an EMŠO"),
    ("za.idnr", r"\d{13}", "a South African identity number"),
    ("il.idnr", r"\d{9}", "an Israeli identity number"),
    ("in_.aadhaar", r"[2-9]\d{11}", "an Aadhaar number"),
    ("cn.ric", r"\d{17}[0-9X]", "a Chinese identity number"),
    ("kr.rrn", r"\d{13}", "a Korean registration number"),
    ("th.pin", r"\d{13}", "a Thai identity number"),
    ("mx.curp", r"[A-Z]{4}\d{6}[A-Z]{6}[0-9A-Z]\d", "a Mexican CURP"),
    ("cl.rut", r"\d{7,8}[0-9K]", "a Chilean RUT"),
    ("ar.cuit", r"\d{11}", "an Argentine CUIT"),
    ("hu.taj", r"\d{9}", "a Hungarian TAJ"),
)  # fmt: skip
"""Module of `stdnum`, shape without separators, and what it is."""


def _national_number(column: _Values) -> Held | None:
    """Numbers of persons, cards and accounts, by their check digits.

    A check counts where numbers with one digit changed rarely pass it.
    """
    form = column.form
    if form.look == "numbers" and not form.whole:
        return None
    if form.distinct < 10 or column.share(r"^[A-Za-z]{0,6}[\d ./-]{5,}[\dA-Za-z /.-]*$") < MOSTLY:
        return None
    if column.share(r"^\d{3}-\d{2}-\d{4}$") > MOSTLY:
        return Held(Content.NATIONAL_NUMBER, 0.9, "the shape of a US social security number")
    texts = column.texts[:CHECKED].to_pylist()
    compact = [re.sub(r"[\s./-]", "", text).upper() for text in texts]
    if form.look == "numbers" and not form.width:
        # Typed numbers have lost the zeros before them, which check digits count.
        compact = [each.zfill(max(map(len, compact))) for each in compact]
    kept = [re.sub(r"[\s./]", "", text).upper() for text in texts]
    changed = list(_with_a_wrong_digit(compact))
    best, margin = "", 0.0
    for module, shape, called in _candidates(compact):
        accepts = validator(module)
        # In Finnish and Swedish numbers a dash or plus says the century: it is no separator.
        own = kept if "-+A" in shape or module in {"se.personnummer", "lv.pk"} else compact
        right = float(np.mean([accepts(each) for each in own]))
        chance = float(np.mean([accepts(each) for each in changed]))
        if right > 0.85 and chance < BY_CHANCE and right - chance > margin:
            best, margin = called, right - chance
    if not best:
        return None
    of_money = best in {"an IBAN", "the check digit of payment cards"}
    content = Content.PAYMENT_NUMBER if of_money else Content.NATIONAL_NUMBER
    return Held(content, 0.97, f"the check digits of {best}" if not of_money else best)


def _candidates(compact: list[str]) -> Iterator[tuple[str, str, str]]:
    money = (("iban", r"[A-Z]{2}\d{2}[A-Z0-9]{11,30}", "an IBAN"),
             ("luhn", r"\d{15,16}", "the check digit of payment cards"))  # fmt: skip
    for module, shape, called in (*_NATIONAL, *money):
        whole = re.compile(rf"(?:{shape})\Z")
        if sum(whole.match(each) is not None for each in compact) > MOSTLY * len(compact):
            yield module, shape, called


def validator(module: str) -> Callable[[str], bool]:
    """The check of a module of `stdnum`; a text at which it raises is no such number.

    The module is named without the package's name, such as ``"gb.nhs"``.
    """
    try:
        foreign = import_module(f"stdnum.{module}").is_valid
    except ModuleNotFoundError:
        return lambda _: False

    def accepts(text: str) -> bool:
        try:
            return bool(foreign(text))
        # Others' checks raise what they please: KeyError, IndexError, and what comes next.
        except Exception:  # noqa: BLE001
            return False

    return accepts


def _with_a_wrong_digit(texts: list[str]) -> Iterator[str]:
    rng = np.random.default_rng(0)
    for text in texts:
        places = [i for i, letter in enumerate(text) if letter.isdigit()]
        if places:
            place = places[int(rng.integers(len(places)))]
            digit = (int(text[place]) + int(rng.integers(1, 10))) % 10
            yield f"{text[:place]}{digit}{text[place + 1 :]}"


_STREET = re.compile(STREET)
_PREFIXED = r"^[A-Za-z]{1,2}-?\d{4,5}$"
"""A letter and a number: the number of a person, or a postcode behind the sign of a country."""
_POSTCODES = (
    (r"^[A-Za-z]{1,2}\d[A-Za-z\d]? ?\d[A-Za-z]{2}$", 0.95),
    (r"^[A-Za-z]\d[A-Za-z] ?\d[A-Za-z]\d$", 0.95),
    (r"^\d{4} ?[A-Za-z]{2}$", 0.9),
    (r"^\d{2}-\d{3}$", 0.9),
    (r"^\d{5}-\d{3,4}$", 0.9),
    (r"^\d{3} \d{2}$", 0.9),
    (r"^\d{4}-\d{3}$", 0.9),
    (_PREFIXED, 0.5),
    (r"^\d{5}$", 0.6),
    (r"^\d{4}$", 0.5),
    (r"^\d{6}$", 0.4),
)  # fmt: skip
_ANY_POSTCODE = r"^[A-Za-z]{0,2}-?\d[A-Za-z\d -]{2,8}$"
_SAYS_POSTCODE = re.compile(
    r"zip|post|plz|\bcp\b|\bcap\b|\bcep\b|psc|pincode|kod_poczt|codigo_p|irsz|pc$|邮编|邮政|郵便|郵遞|우편"
)


def _postcode(column: _Values) -> Held | None:
    form = column.form
    if form.distinct < 8 or (form.unique and form.filled > 30):
        return None
    if _SAYS_POSTCODE.search(column.header) and column.share(_ANY_POSTCODE) > MOSTLY:
        return Held(Content.POSTCODE, 0.95, "codes as postcodes are, and its name says so")
    for shape, sure in _POSTCODES:
        if column.share(shape) < 0.97:
            continue
        # Plain digits may count or number anything: postcodes repeat and keep leading zeros.
        plain = sure <= 0.6
        if plain and (
            (form.look == "numbers" and not form.width)
            or form.filled < 3 * form.distinct
            or header_words.says_money(column.header)
        ):
            return None
        if sure == 0.5 and form.look == "numbers" and _years(form.numbers()):
            return None
        if shape == _PREFIXED and are_numbered(column.texts.to_pylist()):
            return Held(
                Content.IDENTIFIER, CERTAIN, "a letter and a number, as things are numbered"
            )
        return Held(Content.POSTCODE, sure, "codes of the shape of postcodes")
    return None


def are_numbered(texts: list[str]) -> bool:
    """Whether codes are a letter or some and a number that counts, rather than a postcode.

    Before a postcode stands the sign of a country, or the letter of one of many districts, and it
    does not count up.
    """
    found = [re.fullmatch(r"([A-Za-z]{1,3})(-?)(\d{2,8})", text) for text in texts]
    parts = [each.groups() for each in found if each is not None]
    if not texts or len(parts) < MOSTLY * len(texts):
        return False
    letters, dashes, digits = (set(each) for each in zip(*parts, strict=True))
    numbers = np.array([*map(int, digits)])
    if 2 * len(numbers) > np.ptp(numbers) + 1:
        return True
    if len(letters) == 1:
        sign = letters.pop().upper()
        return sign not in f"{_SIGNS} {_BEFORE_DASHES if dashes == {'-'} else ''}".split()
    return any(digit.startswith("0") for digit in digits)


_SIGNS = "AI AZ BB CH FL HT LT LV MD VC VG"
"""What countries write before a postcode."""
_BEFORE_DASHES = (
    "A AL AM B BE BG CY CZ D DE DK E EE ES EST F FI FR FIN GE GR H HR HU I IL IS IT L LU MC MK MNE "
    "N NL NO P PL PT RO RS S SE SI SK SLO SM SRB TR UA"
)
"""What stands before others, with a dash, in letters from abroad."""


def _years(numbers: Floats) -> bool:
    return bool(((numbers >= 1850) & (numbers <= _now() + 50)).all())


def _address(column: _Values) -> Held | None:
    form = column.form
    if column.share(r"\p{L}{2}") < MOSTLY or form.distinct < 10:
        return None
    words = column.share_of_found(_STREET)
    numbered = column.share(
        r"^\D*\p{L}{3}\D*[ ,.]\d{1,5} ?[A-Za-z]?(\W.*)?$|^\d{1,5} ?[A-Za-z]?,? +\D*\p{L}{3}"
    )
    if numbered > 0.8 and (
        words > 0.3 or (form.distinct > FEW and form.distinct > 0.3 * form.filled)
    ):
        return Held(
            Content.ADDRESS, 0.95 if words > 0.3 else 0.75, "streets with the numbers of houses"
        )
    if words > 0.5 and form.distinct > 20:
        return Held(Content.STREET, 0.9, "words for streets in most values")
    return None


def _free_text(column: _Values) -> Held | None:
    length = pc.mean(pc.utf8_length(column.texts)).as_py()
    spaces = pc.mean(pc.count_substring(column.texts, " ")).as_py()
    long = length >= FREE_TEXT_LENGTH and spaces >= FREE_TEXT_SPACES
    label = column.form.distinct <= FEW and column.repeats > LABEL
    if (
        long
        and not label
        and column.form.distinct > 1
        and (spaces >= 6 or column.share_of_found(_STREET) < 0.3)
    ):
        return Held(Content.FREE_TEXT, 0.95, "free text may name people")
    sentences = spaces >= 3 and column.share_of_found(_STREET) < 0.3
    if sentences and column.form.distinct > max(FEW, 0.5 * column.form.filled):
        return Held(Content.FREE_TEXT, 0.8, "sentences that hardly repeat may name people")
    return None


def _words(column: _Values) -> Held | None:
    """Few words that are known: sexes, answers, countries, steps of a scale."""
    form = column.form
    if form.distinct > 300:
        return None
    texts = [folded(text) for text in column.texts.to_pylist()]
    known = {SEXES[text] for text in texts if text in SEXES}
    only = all(text in SEXES or text in OTHER_SEXES for text in texts)
    # These few words mean answers, or points of the compass, in other languages.
    if len(known) == 2 and only and not set(texts) <= {"no", "v", "n", "o", "e"}:
        return Held(Content.SEX, 0.9, "words for the sexes")
    if form.distinct <= 3 and set(texts) <= YES_NO:
        return Held(Content.YES_NO, 0.85, "yes or no")
    if form.distinct <= 30 and scale_of(column.texts.to_pylist()) is not None:
        return Held(Content.SCALE, 0.85, "the steps of a known scale")
    if form.distinct >= 3 and column.share_of(lambda each: each in COUNTRIES) > 0.8:
        return Held(Content.COUNTRY, 0.85, "countries")
    return None


_NAME = r"^[\p{L}\p{M}][\p{L}\p{M}.'’\-]*(?:,? [\p{L}\p{M}.'’\-]+){0,4}$"
_TITLE = (
    r"(?i)^(dr|prof|mr|mrs|ms|miss|sir|herr|frau|hr|fr|mme|mlle|sr|sra|dra|dott|mag|dhr|mevr)\b\.? "
    r"?\p{L}"
)
_SAINT = r"(?i)^(san|santa|santo|são|st|saint|sainte|sankt|sint|el|la|los|las|le|les|bad)[ .-]"
_DIVISION = r"[市县縣區区省州町村]$|[시군구도]$"
_HAN_NAME = r"^[\p{Han}\p{Hangul}]{2,4}$"


def _name(column: _Values) -> Held | None:
    """Names of persons, by titles, ideographs, frequent names, and how surnames end."""
    form = column.form
    if form.distinct < 8 or column.share(r"\d") > 0.1 or column.share(_NAME) < MOSTLY:
        return None
    if column.share(_TITLE) > MOSTLY:
        return Held(Content.FULL_NAME, 0.9, "titles before names of people")
    if max(column.share(_SAINT), column.share(_DIVISION)) > BY_CHANCE:
        return Held(Content.PLACE, 0.7, "words that stand before or behind the names of places")
    if column.share(_HAN_NAME) > MOSTLY and form.distinct > FEW:
        return Held(Content.FULL_NAME, 0.7, "two to four ideographs, as names have")
    return _known_names(column)


def _known_names(column: _Values) -> Held | None:
    """Names in letters, where some are known or where they are built as those of persons are."""
    form = column.form
    tokens = [re.split(r"[ ,.\-]+", folded(text)) for text in column.texts.to_pylist()]
    weights = column.weights
    given = float(weights[[any(t in GIVEN_NAMES for t in token) for token in tokens]].sum())
    first = float(weights[[token[0] in GIVEN_NAMES for token in tokens]].sum())
    known = float(weights[[any(t in SURNAMES for t in token) for token in tokens]].sum())
    ended = column.share(SURNAME_ENDING)
    # Other words end like surnames, too, so that endings count beside some known surnames only.
    family = max(known, ended if ended > 0.35 and known > 0.03 else 0.0)
    several = float(weights[[len(token) > 1 for token in tokens]].sum())

    def said(share: float, what: str) -> str:
        return f"names of people: {percentage(share)} of the records have a frequent {what}"

    if (
        several > 0.7
        and form.distinct > 20
        and given > 0.25
        and (known + ended > 0.15 or given > 0.5)
    ):
        return Held(Content.FULL_NAME, 0.95, said(given, "given name"))
    known_ones = sum(any(t in GIVEN_NAMES for t in token) for token in tokens)
    # Many given names are surnames, too: the more frequent of both kinds decides.
    if given > 0.25 and first >= family * 0.9 and known_ones > 2:
        return Held(Content.GIVEN_NAME, min(0.6 + given / 2, 0.97), said(given, "one"))
    if several > MOSTLY and _share_no_words(column.texts):
        return Held(Content.FULL_NAME, CERTAIN, "words with capitals, hardly one of them in two")
    if family > 0.12 and form.distinct > 15:
        return Held(
            Content.SURNAME,
            min(0.65 + family / 2, 0.97),
            said(family, "surname"),
        )
    if given > 0.12 and form.distinct > 15:
        return Held(Content.GIVEN_NAME, 0.65, said(given, "one"))
    return None


def _share_no_words(texts: pa.Array) -> bool:
    """Whether nearly all last two words stand in one text only and begin with a capital.

    Names of persons are like this; places share their first words, categories most of them.
    """
    words = [part for text in texts.to_pylist() for part in re.split(r"[ ,]+", text)[-2:] if part]
    capital = np.mean([word[:1] != word[:1].lower() for word in words])
    return bool(capital > MOSTLY and len(set(words)) > MOSTLY * len(words))


def _text(column: _Values) -> Held:
    """What is left of texts: identifiers, categories, anything."""
    form = column.form
    share = form.distinct / form.filled
    digits = column.share(r"\d")
    one_word = column.share(r"^\S+$")
    long = column.share(r"^[0-9A-Fa-f-]{16,}$") > MOSTLY
    if form.unique and form.filled >= 20 and one_word > MOSTLY and (digits > 0.5 or long):
        return Held(Content.IDENTIFIER, 0.95, "different in every record")
    if form.distinct > FEW and one_word > MOSTLY and (digits > 0.95 or long):
        sure = 0.9 if long or _alike(column.texts) else 0.6
        return Held(Content.IDENTIFIER, sure, "many codes of one shape that is of no known list")
    if form.distinct <= FEW and (share < 0.2 or form.distinct <= 8):
        return Held(Content.CATEGORY, 0.8, "few different values")
    if share > 0.5 and form.filled >= 20:
        return Held(Content.TEXT, 0.5, "text, different in most records")
    return Held(Content.TEXT, 0.5, "text with many different values")


def _alike(texts: pa.Array) -> bool:
    """Whether texts are of one shape: as many letters and digits at the same places."""
    shapes = {
        re.sub(r"\d", "9", re.sub(r"[A-Za-z]", "a", text)) for text in texts[:500].to_pylist()
    }
    return len(shapes) <= 3


def _year_or_age(column: _Values) -> Held | None:  # noqa: PLR0911
    form = column.form
    numbers = form.numbers()
    if not form.whole or form.distinct < 3:
        return None
    order = np.argsort(numbers)
    at = np.cumsum(form.counts[order]) / form.filled
    low, middle, high = (numbers[order[np.searchsorted(at, q)]] for q in (0.02, 0.5, 0.98))
    now = _now()
    if _years(numbers[[order[np.searchsorted(at, 0.005)], order[np.searchsorted(at, 0.994)]]]):
        born = high - low >= 30 and high <= now and middle < now - 10
        if born:
            return Held(Content.YEAR_OF_BIRTH, 0.9, f"years spread over {high - low:.0f} years")
        return Held(Content.YEAR, 0.9, "years")
    ends = int(numbers.min()), int(numbers.max())
    says_age = header_words.named(map(folded, column.words), _AGES)
    says_other = (
        header_words.identifies(column.words)
        or header_words.hinted(column.header, "person")
        or header_words.named(map(folded, column.words), _AMOUNTS)
    )
    # Ages begin at 0, numbers of households at 1; those of records are different in each.
    as_ages = ends[0] == 0 and 60 <= ends[1] <= 110 and not form.unique
    if form.distinct > FEW and _are_numbering(form, numbers) and not (says_age or as_ages):
        return None
    if says_other and not says_age:
        return None
    if ends[0] >= 0 and ends[1] <= 120 and form.distinct >= 15 and (
        says_age
        # Numbers that end at 100 exactly are percentages or scores, not ages.
        or (form.distinct >= 40 and ends[0] <= 25 and 60 <= ends[1] != 100 and _dense(numbers))
    ):  # fmt: skip
        return Held(Content.AGE, 0.95 if says_age else 0.75, "whole numbers as ages are")
    if form.distinct == 12 and ends == (1, 12):
        return Held(Content.MONTH, 0.7, "whole numbers from 1 to 12")
    if 28 <= form.distinct <= 31 and ends[0] == 1 and ends[1] == 31 and form.filled > 60:
        return Held(Content.DAY, 0.7, "whole numbers from 1 to 31")
    return None


_CLOCKS = (1, 1_000, 1_000_000)
"""Parts of a second that computers count since 1970."""
_FIRST_CLOCK = 631_152_000
"""1990-01-01, before which hardly a computer wrote down when people did something."""
_SECONDS_A_DAY = 86_400


def _moment(column: _Values) -> Held | None:
    """Moments as computers count them since 1970, in seconds or parts of them."""
    form = column.form
    numbers = form.numbers()
    if not form.whole or form.distinct <= FEW:
        return None
    now, says = (_now() + 2 - 1970) * 365.25 * _SECONDS_A_DAY, header_words.named(
        map(folded, column.words), f"{header_words.MOMENT_WORDS} {DATE_WORDS}")  # fmt: skip
    for parts in _CLOCKS:
        first, last = float(numbers.min()) / parts, float(numbers.max()) / parts
        if not (_SECONDS_A_DAY * 365 if says else _FIRST_CLOCK) <= first < last <= now:
            continue
        if last - first < _SECONDS_A_DAY or len(numbers) > 0.1 * np.ptp(numbers):
            return None  # numbers without gaps number something
        return Held(Content.DATE, 0.9 if says else 0.5, "moments as computers count them from 1970")
    return None


_AGES = (
    "age ages agey ageyr ageyrs ageyears alter edad leeftijd eta idade wiek alder yas ika kor "
    "eletkor vek vozrast varsta starost vecums amzius vanus ilikia aldur"
)
"""Words for an age."""
_AMOUNTS = (
    "hours days weeks months minutes count counts amount total sum stunden tage wochen monate "
    "minuten anzahl heures jours semaines horas dias semanas godziny dni tygodnie saat gun hafta "
    "ore giorni uren dagen timer dage timmar dagar 工时 天数"
)
"""Words for what is counted or measured, and numbers nothing."""


def _dense(numbers: Floats) -> bool:
    return bool(len(numbers) > 0.6 * (numbers.max() - numbers.min()))


def _number(column: _Values) -> Held:
    """What is left of numbers."""
    form = column.form
    numbers = form.numbers()
    if not form.whole:
        few = form.distinct <= 12
        return Held(Content.CATEGORY if few else Content.MEASUREMENT, 0.8, "numbers with decimals")
    many = form.distinct > FEW or form.distinct > 0.3 * form.filled
    if header_words.says_money(column.header) and many and not _are_numbering(form, numbers):
        return Held(Content.NUMBER, 0.8, "whole numbers, and its name says money")
    long = float(numbers.max()) >= 1e8 and form.distinct > 0.5 * form.filled
    if long or (form.unique and form.filled >= 20 and not is_skewed(numbers)):
        return Held(Content.IDENTIFIER, 0.9, "whole numbers, different in every record")
    amount = header_words.named(map(folded, column.words), _AMOUNTS)
    if form.distinct > FEW and _are_numbering(form, numbers) and not amount:
        return Held(
            Content.IDENTIFIER, CERTAIN, "numbers without gaps, as those that number things"
        )
    if (
        many
        and not is_skewed(numbers)
        and (
            form.width >= 5
            or (form.width == 0 and numbers.min() >= 10_000 and _one_length(numbers))
        )
    ):
        return Held(Content.IDENTIFIER, 0.7, "whole numbers of one length")
    if form.distinct <= FEW and form.distinct < 0.5 * form.filled:
        if form.distinct <= 3 and set(numbers.tolist()) <= {0.0, 1.0}:
            return Held(Content.YES_NO, 0.8, "0 or 1")
        return Held(Content.CATEGORY, 0.7, "few different whole numbers")
    return Held(Content.NUMBER, 0.6, "many different whole numbers")


def is_skewed(numbers: Floats) -> bool:
    """Whether different values lie as those of amounts do, more of them low than high."""
    # Mean and median of n evenly spread numbers differ by 1 / sqrt(n) of the spread by chance.
    spread, limit = float(numbers.std()), 0.15 + 1 / np.sqrt(len(numbers))
    return spread > 0 and abs(float(numbers.mean() - np.median(numbers))) > limit * spread


def _are_numbering(form: Form, numbers: Floats) -> bool:
    """Whether numbers count up from 0 or 1 without gaps, the last as frequent as the others."""
    if numbers.min() not in (0.0, 1.0) or len(numbers) < 0.9 * (numbers.max() - numbers.min()):
        return False
    last = form.counts[numbers > np.quantile(numbers, 0.9)]
    return float(last.mean()) > 0.6 * float(form.counts.mean())


def _one_length(numbers: Floats) -> bool:
    lengths = np.floor(np.log10(np.maximum(numbers, 1)))
    return bool(np.unique(lengths).size == 1)


_Test = Callable[[_Values], Held | None]
# The first test that fits decides, so that fixed forms and check digits come before what only
# looks like something.
_OF_TEXTS: tuple[_Test, ...] = (
    _shapes, _time, _pair, _words, _codes, _of_few, _national_number, _postcode, _phone, _free_text,
    _address, _name, _text,
)  # fmt: skip
_OF_NUMBERS: tuple[_Test, ...] = (
    _moment, _year_or_age, _codes, _of_few, _national_number, _postcode, _phone, _number,
)  # fmt: skip
