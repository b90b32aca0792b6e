"""Values are encoded as they are displayed, by the fast way and the slow one."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.review.anonymity_database import Alphabet, encode
from sfumato.review.pair_rendering import shown
from sfumato.review.review_settings import Attribute, AttributeKind, DateOrder

KINDS = [
    Attribute(name="name", kind=AttributeKind.VARIABLE),
    Attribute(name="name", kind=AttributeKind.VARIABLE, case_sensitive=True, accent_sensitive=True),
    Attribute(name="number", kind=AttributeKind.FIXED),
    Attribute(name="born", kind=AttributeKind.DATE, date_order=DateOrder.MONTH_DAY_YEAR),
    Attribute(name="sex", kind=AttributeKind.CATEGORY),
]
TEXTS = (
    st.text(st.characters(max_codepoint=127), max_size=8)
    | st.text("aAäÄ\u0308 \r\n\u200d\U0001f469", max_size=5)
    | st.dates().map(str)
    | st.sampled_from(["1/2/2000", "2000-01-02", "12/31/1999", "20000102"])
)


@pytest.mark.parametrize("attribute", KINDS, ids=lambda each: f"{each.kind} {each.case_sensitive}")
@given(column=st.lists(st.none() | TEXTS, min_size=1, max_size=12))
def test_encoded_values_are_those_displayed(attribute, column):
    alphabet = Alphabet()
    found = encode(attribute, column, alphabet)
    letters = {number: letter for letter, number in alphabet.numbers.items()}
    expected = [shown(attribute, text) for text in column]
    for code, value in zip(found.codes.tolist(), expected, strict=True):
        assert (code < 0) == (value is None)
        if value is not None:
            part = found.characters[found.start[code] : found.start[code + 1]].tolist()
            assert tuple(letters.get(number) or chr(number) for number in part) == value.characters
            assert shown(attribute, found.texts[code].as_py()) == value
            same = sum(each is not None and each.folded == value.folded for each in expected)
            assert found.folded_count[code] == same
    held = {code for code in found.codes.tolist() if code >= 0}
    assert held == set(range(len(found.texts)))
    assert len(held) == len({value for value in expected if value is not None})


def test_parts_of_arrow_arrays_are_read():
    names = pa.array(["left out", "Ann", "Bob", "Ann"]).slice(1)
    found = encode(KINDS[0], names, Alphabet())
    assert found.texts.to_pylist() == ["Ann", "Bob"]
    assert found.codes.tolist() == [0, 1, 0]
    assert bytes(found.characters) == b"AnnBob"
