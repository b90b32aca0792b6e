"""Where rules of a review begin and end: each is shown on both of its sides."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from sfumato.review import hints, pair_rendering, reviewer_agreement
from sfumato.review.review_settings import AttributeKind, MaskWidth, Mode
from sfumato.review.review_sources import _by_values
from sfumato.review.worker_state import kapr_text


def test_a_masked_value_of_any_length_is_eight_cells_wide():
    """Its length would tell names apart; a category is one unit."""
    comparison = SimpleNamespace(left="Li", right="Wolfeschlegelsteinhausen", status=None)
    widths = {
        len(
            pair_rendering._cells(
                SimpleNamespace(kind=kind), comparison, row, Mode.MASKED, MaskWidth.FIXED, ()
            )
        )
        for kind in (AttributeKind.VARIABLE, AttributeKind.DATE)
        for row in (0, 1)
    }
    assert widths == {8}


@pytest.mark.parametrize(("cells", "shown"), [(9, "0.1235"), (99_999, "0.123457")])
def test_kapr_has_four_decimals_and_as_many_as_one_cell_needs(cells, shown):
    assert kapr_text(0.1234567, cells) == shown


def test_a_level_that_no_pair_had_adds_thirty_bits_at_most():
    """A thousand millionth is the least that a probability of a level is taken for."""
    sure = hints.Level(1.0, 0.0).log_odds / np.log(2)
    assert sure == pytest.approx(29.9, abs=0.05)
    assert hints.Level(0.0, 1.0).log_odds / np.log(2) == pytest.approx(-sure)


@pytest.mark.parametrize(("dates", "kind"), [(8, "date"), (7, "variable")])
def test_four_of_five_values_say_what_a_column_holds(dates, kind):
    values = [f"1980-01-{n + 10}" for n in range(dates)] + ["Ann", "Bo", "Cy"][: 10 - dates]
    found = _by_values("column", pa.chunked_array([values]))
    assert (found is AttributeKind.DATE) is (kind == "date")


@pytest.mark.parametrize(("distinct", "category"), [(60, True), (61, False)])
def test_up_to_sixty_words_are_a_category(distinct, category):
    letters = [chr(97 + n // 26) + chr(97 + n % 26) * (1 + n % 5) for n in range(distinct)]
    found = _by_values("column", pa.chunked_array([letters * 10]))
    assert (found is AttributeKind.CATEGORY) is category


@pytest.fixture
def many_samples(monkeypatch):
    """As many as a user has: tests of the server, in the same process, draw fewer."""
    monkeypatch.setattr(reviewer_agreement, "RESAMPLES", 500)


@pytest.mark.usefixtures("many_samples")
def test_ends_of_agreement_are_those_of_95_in_100_samples():
    """Of 10,000 answers, half of them yes, the standard error of the share is half a percent."""
    low, high = reviewer_agreement.bootstrap(
        lambda counts: float(counts[0] / counts.sum()),
        np.array([5_000, 5_000]),
        np.random.default_rng(1),
    )
    assert (high - low) / (2 * 0.005) == pytest.approx(1.96, abs=0.2)


@pytest.mark.usefixtures("many_samples")
@pytest.mark.parametrize(("defined", "told"), [(92, True), (88, False)])
def test_agreement_has_ends_where_nine_of_ten_samples_define_it(defined, told):
    asked = iter(range(10**6))
    ends = reviewer_agreement.bootstrap(
        lambda counts: 0.5 if next(asked) % 100 < defined else None,
        np.array([5, 5]),
        np.random.default_rng(1),
    )
    assert (ends is not None) is told
