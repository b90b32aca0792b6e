"""Values are counted as a reader counts them."""

import pandas as pd
import pytest

import sfumato as sf
from sfumato.table.door import open_table
from sfumato.table.spellings import LOOK_ALIKES, reading

ONE_VALUE = [
    ("HIV", "hiv", " HIV ", "H\u200bIV", "H\u00adIV", "\ufeffHIV", "H\u0336IV", "H.I.V.", "(HIV)"),
    ("HIV", "\u041dIV", "\u0397\u0399V", "HI\u03bd", "\u043div", "\u13bbIV", "\ua4e7\ua4f2\ua4e6"),
    (
        "HIV",
        "\uff28\uff29\uff36",
        "\u029c\u026a\u1d20",
        "\U0001d407\U0001d408\U0001d415",
        "H1V",
        "HlV",
    ),
    (
        "B20",
        "b20",
        "B20.",
        "B 20",
        "B-20",
        "B_20",
        '"B20"',
        "B2O",
        "\u041220",
        "\uff22\uff12\uff10",
    ),
    ("1", "1.0", "1.00", "01", "\uff11", "1.", " 1", "1,0", "\u0661"),
    ("-1", "\u22121", "- 1", "-1.0"),
    ("caf\u00e9", "cafe\u0301", "CAF\u00c9"),
    ("malaria", "MaLaRiA", "ma\u0406aria", "ma1aria", "Ma\u0399aria"),
    ("fibrosis", "\ufb01brosis"),
    ("E11.9", "E119", "e11.9", "E11-9"),
    ("\u0420\u0410\u041a", "\u0440\u0430\u043a", "\u0420\u0430\u043a"),
    ("\u039d\u0395\u0391", "\u03bd\u03b5\u03b1"),
    ("Stra\u00dfe", "STRASSE"),
    ("<5", "< 5", "<5.0", "\uff1c5"),
    ("HIV-1", "HIV1", "HIV 1"),
    ("1/2", "\u00bd", "1\u20442", "1 / 2", "1\u22152"),
    ("breast cancer", "Breast  Cancer", "breast-cancer"),
]
APART = (  # noqa: SIM905
    "HIV HIV+ HIV- 1 -1 1.5 15 5 <5 >5 5+ 5% C C# C++ 5-10 510 5:10 1/2 12 I10 L10 µg mg 5µg 5mg "
    "1,000 1000 A+ A- A 2020-01-01 20200101 ND NC शिव शव がん かん ♀ ♂ <=6 -5 1.05 10.5 none"
).split()
MISSING = ["?", "??", "-", "--", "n/a", "N/A", "NA", "unknown", "Unknown.", "un\u200bknown", "n.d."]


@pytest.mark.parametrize("spellings", ONE_VALUE, ids=lambda each: each[0])
def test_spellings_of_one_value_are_one(spellings):
    assert len({reading(each) for each in spellings} - {None}) == 1
    assert None not in map(reading, spellings)


def test_what_a_reader_tells_apart_stays_apart():
    read = [reading(each) for each in APART]
    assert None not in read
    assert len(set(read)) == len(APART)


@pytest.mark.parametrize("text", MISSING)
def test_words_for_a_missing_value_are_missing(text):
    assert reading(text) is None


def test_what_is_read_is_read_as_itself():
    for each in [*sum(ONE_VALUE, ()), *APART, *LOOK_ALIKES]:
        key = reading(each)
        assert key is not None
        assert reading(key) == key


def people(values, times=4):
    return pd.DataFrame(
        {
            "person": [f"p{place}" for place in range(times * len(values))],
            "age": [30] * (times * len(values)),
            "ill": [*values] * times,
        }
    )


SCHEMA = sf.Schema(person="person", quasi_identifiers=["age"], sensitive=["ill"])


@pytest.mark.parametrize("spellings", ONE_VALUE, ids=lambda each: each[0])
def test_no_promise_is_met_by_spelling(spellings):
    data = people([*spellings, "unknown"])
    risk = sf.assess(data, SCHEMA).sensitive["ill"]
    assert risk.l_distinct == 1
    assert risk.h_affiliation.value == len(spellings) / (len(spellings) + 1)
    for promise in (sf.LDiversity(2), sf.HAffiliation(0.4)):
        with pytest.raises(sf.ConstraintsNotMetError):
            sf.anonymize(data, SCHEMA, promise, seed=1)


def test_texts_are_released_as_they_are_and_what_was_merged_is_said():
    data = people(["HIV", "hiv", "H\u200bIV", "flu", "n/a"])
    release = sf.anonymize(data, SCHEMA, sf.LDiversity(2), seed=1, effort=0)
    assert set(release.data["ill"]) == set(data["ill"])
    said = [each for each in release.warnings if "'ill'" in each]
    assert any("4 spellings (values: 2)" in each for each in said)
    assert any("4 records" in each for each in said)
    assert not any(value in each for each in said for value in ("HIV", "hiv", "flu", "n/a"))


def test_a_minus_beside_a_plus_is_a_value():
    for values, distinct in ((["+", "-"], 2), (["5", "-"], 1), (["+", "?"], 1)):
        assert sf.assess(people(values), SCHEMA).sensitive["ill"].l_distinct == distinct


def test_events_are_known_as_they_are_spelled():
    data = people(["HIV", "hiv", "flu"])
    table = open_table(data, SCHEMA)
    assert table.sensitive[0].domain.size == 2
    assert table.events[0].size == 3
    assert len(set(table.events[0].codes.tolist())) == 3


def test_plain_numbers_are_not_looked_at():
    table = open_table(people(["1", "2", "10", "-3", "0.5"]), SCHEMA)
    assert table.sensitive[0].domain.size == 5
    assert not [each for each in table.warnings if "spelling" in each]


def test_an_intruder_guesses_what_is_said():
    data = people(["HIV", "hiv", "H\u200bIV", "HIV."])
    release = sf.anonymize(data, SCHEMA, sf.PidKAnonymity(2), seed=1, effort=0)
    attack = sf.attack(release, original=data, attacks=["inference"], seed=1)
    (found,) = [each for each in attack.outcomes if each.attack == "inference:ill"]
    assert found.right == found.attempts > 0
