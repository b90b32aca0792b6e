"""Values as they are displayed: characters, case and accents, dates."""

from __future__ import annotations

import unicodedata
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review.display_pairs import CATEGORY, DATE, DAY_FIRST, MONTH_FIRST, STRING, compared, drawn

from sfumato.review.pair_rendering import shown, text_of
from sfumato.review.review_settings import Attribute, AttributeKind, Mode, Status

FAMILY_EMOJI = "👩\u200d👩\u200d👧\u200d👦"
FLAG = "🇳🇴"


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("Jose\u0301", ["J", "o", "s", "é"]),
        ("x\u0323\u0307y", ["x\u0323\u0307", "y"]),
        (f"a{FAMILY_EMOJI}b", ["a", FAMILY_EMOJI, "b"]),
        (f"{FLAG}{FLAG}", [FLAG, FLAG]),
        ("각", ["각"]),
        ("नमस्ते", ["न", "म", "स्ते"]),
        ("שָׁלוֹם", ["שָׁ", "ל", "וֹ", "ם"]),
        ("  a \t\n b ", ["a", " ", "b"]),
        ("a\u202eb\u200b\x00c", ["a", "b", "c"]),
        ("می\u200cروم", ["م", "ی\u200c", "ر", "و", "م"]),
    ],
)
def test_characters_are_graphemes(text, characters):
    found = shown(STRING, text)
    assert [unicodedata.normalize("NFC", each) for each in characters] == list(found.characters)
    assert found.layout == tuple(range(len(characters)))


@pytest.mark.parametrize("text", [None, "", "  ", "\u200b", "\x00\t"])
@pytest.mark.parametrize("attribute", [STRING, DATE, CATEGORY])
def test_what_cannot_be_seen_is_missing(attribute, text):
    assert shown(attribute, text) is None


@pytest.mark.parametrize(
    ("left", "right", "case", "accents", "same"),
    [
        ("Müller", "MULLER", False, False, True),
        ("Müller", "Mu\u0308ller", True, True, True),
        ("Müller", "müller", True, False, False),
        ("Müller", "Muller", False, True, False),
        ("Müller", "MÜLLER", False, True, True),
        ("Ştefan", "Stefan", True, False, True),
        ("İnce", "ince", False, False, True),
        ("Ξένη", "ξενη", False, False, True),
        ("\u0301", "\u0308", False, False, False),
        ("がき", "かき", False, False, False),
        ("שָׁלוֹם", "שלום", False, False, False),
    ],
)
def test_case_and_accents(left, right, case, accents, same):
    attribute = Attribute(
        name="a", kind=AttributeKind.VARIABLE, case_sensitive=case, accent_sensitive=accents
    )
    assert (compared(attribute, left, right).status is Status.IDENTICAL) is same


def test_graphemes_are_masked_and_disclosed_whole():
    left, right = f"Zoe\u0308 {FAMILY_EMOJI}", f"Zoé {FLAG}"
    strict = STRING.model_copy(update={"accent_sensitive": True})
    assert drawn(strict, left, right) == ("**@*@", "**&*&")
    assert drawn(strict, left, right, Mode.PARTIAL) == (f"**ë*{FAMILY_EMOJI}", f"**é*{FLAG}")
    assert drawn(STRING, left, right) == ("****@", "****&")


def test_right_to_left_characters_stay_in_the_order_of_the_text():
    assert drawn(STRING, "سارة", "سارا", Mode.PARTIAL) == ("***ة", "***ا")
    assert drawn(STRING, "דניאל", "דנאל") == ("**@**", "****")


@given(st.text(max_size=12), st.sampled_from([STRING, CATEGORY, DATE]))
def test_any_text_can_be_shown(text, attribute):
    found = shown(attribute, text)
    if found is None:
        return
    places = [place for place in found.layout if isinstance(place, int)]
    assert places == list(range(len(found.characters)))
    assert len(found.folded) == len(found.characters)
    assert all(found.characters)
    assert all(found.folded)
    again = shown(attribute, text_of(found))
    assert again.folded == found.folded


@pytest.mark.parametrize(
    "text",
    [
        *("1980-03-04", "1980/3/4", "1980.03.04", "1980 03 04", "19800304", "4-Mar-1980"),
        *("4 Mar 1980", "4th March, 1980", "March 4, 1980", "MAR 4th 1980", "4mar1980", "4 mar 80"),
        *("1980-03-04T10:30:00Z", "1980-03-04 00:00", "04 March 80", " 1980 - 03 - 04 "),
        *("4. March 1980", "Mar. 4, 1980"),
    ],
)
def test_spellings_of_one_date(text):
    assert text_of(shown(DATE, text)) == "1980-03-04"
    assert text_of(shown(DAY_FIRST, text)) == "04/03/1980"
    assert text_of(shown(MONTH_FIRST, text)) == "03/04/1980"


@pytest.mark.parametrize("text", ["3/4/1980", "03.04.80", "3-4-1980", "03041980", "3 4 1980"])
def test_what_a_date_does_not_say_the_order_does(text):
    assert text_of(shown(DAY_FIRST, text)) == "03/04/1980"
    assert text_of(shown(MONTH_FIRST, text)) == "03/04/1980"
    assert text_of(shown(DATE, text)) == "1980-03-04"


@pytest.mark.parametrize(
    ("text", "year_first", "day_first"),
    [
        ("25/12/1964", "1964-12-25", "25/12/1964"),
        ("12/25/1964", "1964-12-25", "25/12/1964"),
        ("1/2/29", "2029-01-02", "01/02/2029"),
        ("1/2/30", "1930-01-02", "01/02/1930"),
        ("1964-02-31", "1964-02-31", "31/02/1964"),
        ("00/00/1964", "1964-00-00", "00/00/1964"),
        ("19641399", "1964-13-99", "99/13/1964"),
        ("1964", "1964", "1964"),
        ("08/1964", "1964-08", "08/1964"),
        ("1964-8", "1964-08", "08/1964"),
        ("Aug 1964", "1964-08", "08/1964"),
        ("sept. 1964", "1964-09", "09/1964"),
        ("unknown", "unknown", "unknown"),
        ("Summer 1964", "Summer 1964", "Summer 1964"),
        ("4 Marzipan 1980", "4 Marzipan 1980", "4 Marzipan 1980"),
        ("12/1964/7", "12/1964/7", "12/1964/7"),
        ("٠٩/٠٨/١٩٦٤", "1964-09-08", "09/08/1964"),
    ],
)
def test_odd_and_partial_dates(text, year_first, day_first):
    assert text_of(shown(DATE, text)) == year_first
    assert text_of(shown(DAY_FIRST, text)) == day_first


def test_separators_are_no_characters():
    assert len(shown(DATE, "4/3/1980").characters) == 8
    assert len(shown(DATE, "3/1980").characters) == 6


@given(st.dates(min_value=date(1000, 1, 1)))
def test_every_date_is_read_back(day):
    for attribute in (DATE, DAY_FIRST, MONTH_FIRST):
        found = shown(attribute, day.isoformat())
        assert len(found.characters) == 8
        assert shown(attribute, text_of(found)) == found


def test_a_category_is_one_character():
    found = shown(CATEGORY, "Not  Stated")
    assert found.characters == ("Not Stated",)
    assert compared(CATEGORY, "Not stated", "NOT STATED").status is Status.IDENTICAL
