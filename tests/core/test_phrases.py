"""Phrases are English, and said in other languages; numbers and dates as Babel has them."""

from __future__ import annotations

import copy
import json
import pickle
import re
from datetime import date
from io import StringIO

import pytest

from sfumato.core.errors import InputError
from sfumato.core.number_text import NARROW, count, counted, number, percent, share_text
from sfumato.core.phrases import (
    LANGUAGES,
    Listed,
    Phrase,
    Plural,
    Sentence,
    compiled,
    entries,
    language,
    long_date,
    speaking,
    spoken,
)

OTHERS = LANGUAGES[1:]
CATALOG = r"""msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n > 1);\n"

# a comment
msgid "a \"{x}\"\n"
msgstr "un « {x} »\n"

msgid "{n} thing"
msgid_plural "{n} things"
msgstr[0] "{n} chose"
msgstr[1] "{n} "
"choses"

#, fuzzy
msgid "old"
msgstr "vieux"

msgid "not yet"
msgstr ""
"""


def test_a_phrase_is_its_english_wherever_it_goes() -> None:
    phrase = Phrase("{low} to {high}", low=percent(0.0813), high=percent(0.5))
    assert phrase == f"8.1{NARROW}% to 50{NARROW}%"
    assert json.loads(json.dumps([phrase])) == [str(phrase)]
    with speaking("de"):
        for other in (phrase, copy.deepcopy(phrase), pickle.loads(pickle.dumps(phrase))):
            assert other == phrase
            assert spoken(other) == f"8,1{NARROW}% bis 50{NARROW}%"
    assert language() == "en"
    assert spoken(phrase) == phrase


@pytest.mark.parametrize("number", [0, 1, 2])
def test_plural_forms_are_those_of_the_language(number: int) -> None:
    """French has nothing in the singular, German and English in the plural."""
    said = counted(number, "record")
    assert isinstance(said, Plural)
    assert said == f"{number} record{'' if number == 1 else 's'}"
    with speaking("de"):
        assert spoken(said) == f"{number} {'Datensatz' if number == 1 else 'Datensätze'}"
    with speaking("fr"):
        assert spoken(said) == f"{number} enregistrement{'s' if number > 1 else ''}"


def test_sentences_and_lists_are_said_whole() -> None:
    listed = Listed([counted(1, "record"), counted(1200, "person")], "; ")
    sentence = Sentence("{begin}.", begin=Phrase("not measured"))
    assert (listed, sentence) == ("1 record; 1,200 people", "Not measured.")
    for each in (listed, sentence):
        assert pickle.loads(pickle.dumps(each)) == each
    with speaking("de"):
        assert spoken(listed) == "1 Datensatz; 1.200 Personen"
        assert spoken(pickle.loads(pickle.dumps(sentence))) == "Nicht gemessen."


def test_another_language_is_refused_and_nothing_changes() -> None:
    with pytest.raises(InputError, match="de, fr"), speaking("tlh"):
        pass
    assert language() == "en"


@pytest.mark.parametrize("chosen", OTHERS)
def test_numbers_and_days_are_those_of_babel(chosen: str) -> None:
    dates, numbers = pytest.importorskip("babel.dates"), pytest.importorskip("babel.numbers")
    with speaking(chosen):
        for value in (0, 7, 1234, 9_876_543):
            assert spoken(count(value)) == numbers.format_decimal(value, locale=chosen)
        assert spoken(number(0.125)) == numbers.format_decimal(0.125, locale=chosen)
        shares = {spoken(percent(0.0815, 2)), spoken(share_text(0.815))}
        wanted = {numbers.format_decimal(each, "#0.##", locale=chosen) for each in (8.15, 81.5)}
        assert {re.sub(r"\s?%", "", each) for each in shares} == wanted
        for month in range(1, 13):
            day = date(2026, month, 15)
            assert long_date(day) == dates.format_date(day, "long", locale=chosen)


def test_catalogs_are_read_as_babel_reads_them() -> None:
    pofile = pytest.importorskip("babel.messages.pofile")
    from gettext import GNUTranslations
    from io import BytesIO

    for text in (CATALOG, *(_catalog(chosen) for chosen in OTHERS)):
        ours = entries(text)
        for each in pofile.read_po(StringIO(text)):
            key = "\0".join(each.id) if each.pluralizable else each.id
            said = "\0".join(each.string) if each.pluralizable else each.string
            if key and "fuzzy" not in each.flags:
                assert ours[key] == said
    told = GNUTranslations(BytesIO(compiled(CATALOG)))
    assert told.gettext('a "{x}"\n') == "un « {x} »\n"
    assert [told.ngettext("{n} thing", "{n} things", n) for n in (1, 2)] == [
        "{n} chose",
        "{n} choses",
    ]
    # What is fuzzy or empty is said in English.
    assert [told.gettext(each) for each in ("old", "not yet")] == ["old", "not yet"]


def _catalog(chosen: str) -> str:
    from importlib.resources import files

    return files("sfumato.core").joinpath("languages", f"{chosen}.po").read_text("utf-8")
