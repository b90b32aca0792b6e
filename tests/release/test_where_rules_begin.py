"""Where rules of a release begin and end: each is shown on both of its sides."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.release import (
    codebook,
    cures,
    cuts,
    distributions,
    event_dates,
    event_protection,
    full_domain,
    lost_columns,
)
from sfumato.release.analysis_loss import sensitive_axis
from sfumato.release.modelled_population import UNKNOWN
from sfumato.release.population_register import _by_model
from sfumato.release.preset_promises import promises
from sfumato.release.series_plan import plan_series
from sfumato.release.suppression import _suppress_option
from sfumato.risk.population.cell_dispersion import SURE
from sfumato.table.table import NumberDomain


def rng():
    return np.random.default_rng(1)


@dataclass(frozen=True)
class Column:
    """A numeric column, as remedies look at it."""

    name: str
    domain: SimpleNamespace
    weight: float = 1.0
    kind: str = "numeric"


def column(values, **more):
    """A column whose codes are 0 to ``values`` - 1, of one person each."""
    domain = SimpleNamespace(size=values, label=str)
    known = {"codes": np.arange(values), "domain": domain, "hierarchy": None}
    return SimpleNamespace(**known | more)


# ---------------------------------------------------------------------------------- promises


@pytest.mark.parametrize(("fewer", "met"), [(0.049, True), (0.051, False)])
def test_a_class_that_has_too_few_once_in_twenty_keeps_k_map(fewer, met):
    cells = SimpleNamespace(smaller=lambda k, persons, alike: np.array([fewer]))
    promise = sf.KMap(2)
    classes = SimpleNamespace(persons=np.ones(1), population=np.ones(1))
    judged = type(promise).met(SimpleNamespace(k=2, cells=cells), classes)
    assert judged.tolist() == [met]


@pytest.mark.parametrize(("value", "kept"), [(0.2 + 0.9e-9, True), (0.2 + 1.1e-9, False)])
def test_a_limit_is_kept_but_for_rounding(value, kept):
    assert sf.MarketerRisk(0.2).keeps(value) is kept


def test_the_true_risk_may_be_half_of_what_a_model_of_the_population_says():
    """Nothing is allowed for here: the low end is the estimate's half."""
    prices = SimpleNamespace(
        matches=lambda persons, alike: persons / 4,
        smaller=lambda k, persons, alike: np.zeros(len(persons)),
        allowance=1.0,
        gathered=1.0,
        least=1.0,
        beside=1.0,
        least_beside=1.0,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.release.population_register.replace", lambda kept, **_: kept)
        patch.setattr("sfumato.release.population_register.fewest", lambda *_: 4)
        found = _by_model(100, prices, np.array([8]), np.array([8]), np.array([0])).marketer
    assert (found.low, found.value, found.high) == (0.125, 0.25, 0.25)


def test_where_no_threshold_is_said_a_risk_above_a_fifth_is_at_risk():
    """A record is not at risk in a class of five."""
    at_risk = sf.Preset("none", (sf.Threshold("records_at_risk", 0),), source="ours")
    assert promises(at_risk) == (sf.PidKAnonymity(5),)


def test_a_series_has_two_files():
    file = pa.table({"person": ["a", "b"], "age": [1, 2]})
    schema = sf.Schema(person="person", quasi_identifiers={"age": "numeric"})
    asked = schema, [sf.PidKAnonymity(2)]
    with pytest.raises(InputError):
        plan_series([file], *asked)
    assert plan_series([file] * 2, *asked)


@pytest.mark.parametrize(("alone", "offered"), [(3, True), (5, False)])
def test_a_fifth_of_the_people_is_offered_to_be_left_out(alone, offered):
    """Of twenty people some stand apart; the others are alike."""

    def rows(table, constraints, budgets, most, persons_of):
        return np.arange(alone, 20) if alone / 20 <= most else None

    table = SimpleNamespace(persons=20, records=20, person=np.arange(20))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sfumato.release.suppression.suppressed_rows", rows)
        assert bool(_suppress_option(table, (), (), None)) is offered


# ------------------------------------------------------------------------------ search, cures


@pytest.mark.parametrize(("columns", "choices"), [(3, 8), (4, 6)])
def test_every_choice_of_three_columns_is_tried(columns, choices):
    names = "abcd"[:columns]
    assert len(cures._choices(names, set(names))) == choices


def test_shares_of_cures_have_four_decimals_on_the_safe_side():
    assert cures._down(0.12356) == 0.1235


def test_numbers_are_compared_at_37_significant_bits():
    told, alike = cuts.rounded(np.array([1 + 2.0**-36, 1 + 2.0**-38])).tolist()
    assert told > 1
    assert alike == 1


def test_ages_from_17_to_90_get_the_widths_of_the_manual():
    ages = column(74, domain=NumberDomain(np.arange(17, 91), 0, "number"))
    assert full_domain.proposed_widths(ages) == (5, 10, 20, 40)


@pytest.mark.parametrize(("events", "drawn"), [(6, False), (7, True)])
def test_of_more_than_thirty_sets_of_events_some_are_drawn(events, drawn):
    """Six events have 20 sets of three, seven have 35; of two, all are looked at."""
    assert event_protection._are_drawn(events, 3) is drawn
    assert not event_protection._are_drawn(100, 2)


@pytest.mark.parametrize(("days", "most"), [(100, 365), (400, 400)])
def test_dates_are_moved_by_a_year_at_least(days, most):
    asked = []

    def offset(by):
        asked.append(by)
        return np.zeros(2, dtype=np.int64)

    scheme = SimpleNamespace(period=1, dating=event_dates.Dating.SHIFTED)
    event = SimpleNamespace(event=SimpleNamespace(days=1), codes=np.arange(2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_dates, "days_of", lambda _: np.array([0, days]))
        dates = event_dates.dates_by(event, scheme, np.arange(2), offset)
    assert asked == [most]
    assert dates.shown.tolist() == [0, days]


@pytest.mark.parametrize("others", [2, 5])
def test_a_lost_column_is_tried_ten_times_as_heavy_and_without_three_others(others):
    names = ["lost", *map(str, range(others))]
    columns = [Column(name, SimpleNamespace(size=at)) for at, name in enumerate(names)]
    table = SimpleNamespace(quasi_identifiers=tuple(columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lost_columns, "_with", lambda _, chosen: [*chosen])
        tried = [chosen for _, chosen, _, _ in lost_columns._remedies(table, "lost", (), None)]
    assert [each.weight for each in tried[0]] == [10.0] + [1.0] * others
    assert [len(each) for each in tried[1:]] == [others] * min(others, 3)


# --------------------------------------------------------------------------- what is told of it


def test_models_tell_thirty_values_of_a_sensitive_column_apart():
    everybody = np.ones(40, dtype=bool)
    axis = sensitive_axis(column(40), everybody, np.zeros(40, dtype=np.int32))
    assert axis.shares.shape[1] == 30


def test_two_hundred_values_of_a_column_are_listed():
    labels = SimpleNamespace(values={"a": {str(n): "label" for n in range(250)}})
    lines = [line for line in codebook._value_lines(labels) if line.startswith("| ")]
    assert len(lines) == 1 + 200 + 1
    assert lines[-1].split()[-3] == "50"


def test_bars_have_ten_persons_and_are_thirty_at_most():
    assert distributions._large_enough(np.array([9, 1, 10, 9, 20])) == [1, 2]
    assert len(distributions._categories(column(40), np.full(40, 10)).labels) == 30
    assert len(distributions._categories(column(30), np.full(30, 10)).labels) == 30
    assert len(distributions._categories(column(12), np.arange(12)).labels) == 3


def test_numbers_are_drawn_in_twenty_bins():
    domain = NumberDomain(np.arange(1_000), 0, "number")
    bars = distributions._bins(domain, np.ones(1_000, dtype=int), np.full(1_000, 10))
    assert 18 <= len(bars.labels) <= 22


def test_queries_cover_three_tenths_of_the_records():
    records = np.ones(1_000, dtype=int)
    numeric = SimpleNamespace(kind=sf.Kind.NUMERIC)
    low, high = distributions.draw_predicates(numeric, records, 200, rng()).ends
    assert (high - low + 1).mean() == pytest.approx(300, abs=2)


def test_errors_of_queries_are_relative_to_a_thousandth_of_the_records_at_least():
    counts = distributions.QueryCounts(1, np.array([0.0, 2.0]), np.array([1.0, 3.0]))
    assert distributions.error_of(counts, 1_000).mean == pytest.approx((1 / 1 + 1 / 2) / 2)


def test_untried_models_are_off_by_a_factor_of_two_as_a_standard_error():
    assert np.exp(UNKNOWN) == pytest.approx(2, abs=0.05)
    assert np.exp(-SURE * UNKNOWN) < 1 / 3
