"""What class means lose, beside naive loops over records and pairs of columns."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.release import information_loss
from sfumato.release.information_loss import correlation_change
from sfumato.release.release_options import Form
from sfumato.schema import Kind

TINY = 1e-9


def vectors(case, column):
    """Each kept record's coordinates: the normalised value, or half a unit per category."""
    size = column.domain.size
    points = []
    for code in column.codes.tolist():
        if code < 0:
            points.append(None)
        elif column.kind is Kind.CATEGORICAL:
            points.append([Fraction(int(code == c)) for c in range(size)])
        elif column.kind is Kind.ORDERED:
            points.append([Fraction(code, max(size - 1, 1))])
        else:
            values = column.domain.points.tolist()
            span = (values[-1] - values[0]) or 1
            points.append([Fraction(values[code] - values[0], span)])
    return points


def mean(points):
    return [sum(each) / len(points) for each in zip(*points, strict=True)]


def distance(one, other, column):
    total = sum(abs(a - b) for a, b in zip(one, other, strict=True))
    return total / 2 if column.kind is Kind.CATEGORICAL else total


def grouped(keys, points):
    groups = defaultdict(list)
    for key, point in zip(keys, points, strict=True):
        if point is not None:
            groups[key].append(point)
    return groups


def naive_ane(case, column):
    points = vectors(case, column)
    means = {t: mean(g) for t, g in grouped(case.class_of.tolist(), points).items()}
    errors = [
        distance(x, means[t], column)
        for x, t in zip(points, case.class_of.tolist(), strict=True)
        if x is not None
    ]
    class_of_person = dict(zip(case.persons(), case.class_of.tolist(), strict=True))
    by_person = [
        distance(mean(mine), means[class_of_person[p]], column)
        for p, mine in grouped(case.persons(), points).items()
    ]
    if not errors:
        return 0.0, 0.0
    return float(sum(errors) / len(errors)), float(sum(by_person) / len(by_person))


def naive_squares(case, column):
    points = [x for x in vectors(case, column) if x is not None]
    if not points:
        return 0.0, 0.0
    half = 2 if column.kind is Kind.CATEGORICAL else 1

    def squares(group):
        centre = mean(group)
        return sum((a - b) ** 2 for x in group for a, b in zip(x, centre, strict=True)) / half

    groups = grouped(case.class_of.tolist(), vectors(case, column))
    return float(sum(map(squares, groups.values()))), float(squares(points))


def naive_ncp(case, column, original):
    """From the printed cells."""
    size = original.domain.size
    spans = column.kind is Kind.NUMERIC and case.form is not Form.SET
    total = Fraction(0)
    for t in case.class_of.tolist():
        inside = case.candidates(original, t)
        if size == 1 or not inside:
            continue
        if spans:
            values = original.domain.points.tolist()
            total += Fraction(values[inside[-1]] - values[inside[0]], values[-1] - values[0])
        else:
            total += Fraction(len(inside) - 1, size - 1)
    suppressed = case.table.records - len(case.class_of)
    return float((total + suppressed) / case.table.records)


@given(data=st.data())
def test_every_loss_agrees_with_a_naive_one(data, cases) -> None:
    case = data.draw(cases())
    found = case.measure()
    columns = case.kept_columns()
    for loss, column, original in zip(
        found.columns, columns, case.table.quasi_identifiers, strict=True
    ):
        assert (loss.ane, loss.ane_persons) == pytest.approx(naive_ane(case, column), abs=TINY)
        assert (loss.sse, loss.sst) == pytest.approx(naive_squares(case, column), abs=TINY)
        assert loss.ncp == pytest.approx(naive_ncp(case, column, original), abs=TINY)
        assert loss.sse_sst == pytest.approx(loss.sse / loss.sst if loss.sst else 0.0)
    weights = [column.weight for column in columns]
    for name in ("ane", "ane_persons", "ncp"):
        parts = [getattr(loss, name) for loss in found.columns]
        expected = sum(w * p for w, p in zip(weights, parts, strict=True)) / sum(weights)
        assert getattr(found, name) == pytest.approx(expected, abs=TINY)
    sse = sum(w * loss.sse for w, loss in zip(weights, found.columns, strict=True))
    sst = sum(w * loss.sst for w, loss in zip(weights, found.columns, strict=True))
    assert found.sse_sst == pytest.approx(sse / sst if sst > TINY else 0.0, abs=TINY)


@given(data=st.data())
def test_class_sizes_agree_with_a_naive_count(data, cases) -> None:
    case = data.draw(cases())
    found = case.measure()
    sizes = Counter(case.class_of.tolist())
    records, kept = case.table.records, len(case.class_of)
    assert found.discernibility == sum(n * n for n in sizes.values()) + (records - kept) * records
    assert found.suppressed_records == records - kept
    assert found.suppressed_persons == case.table.persons - len(set(case.persons()))
    assert found.average_class_records == pytest.approx(kept / len(sizes))
    pairs = set(zip(case.class_of.tolist(), case.persons(), strict=True))
    assert found.average_class_persons == pytest.approx(len(pairs) / len(sizes))


@given(data=st.data())
def test_results_are_in_range_and_plain_json(data, cases) -> None:
    found = data.draw(cases()).measure()
    for each in (found, *found.columns):
        for name in ("ane", "ane_persons", "ncp", "sse_sst"):
            assert -TINY <= getattr(each, name) <= 1 + TINY
    assert all(0 <= each.total_variation <= 1 + TINY for each in found.columns)
    text = json.dumps(found.to_json(), allow_nan=False)
    assert json.loads(text)["ane"] == found.ane
    assert "ane_persons" in str(found)
    assert "<table>" in found._repr_html_()


@given(data=st.data())
def test_one_record_per_person_makes_both_averages_equal(data, cases) -> None:
    found = data.draw(cases(single=True)).measure()
    for loss in found.columns:
        assert loss.ane == pytest.approx(loss.ane_persons, abs=TINY)


def _mixed(column):
    return [
        column("age", Kind.NUMERIC, [30, 30, 41, 55, 55, 70, None]),
        column("level", Kind.ORDERED, list("aabccde")),
        column("place", Kind.CATEGORICAL, ["a", "a", "b", "c", "c", None, "a"], tree=True),
    ]


@pytest.mark.parametrize("form", Form)
def test_a_release_of_the_original_loses_nothing(form, case, column) -> None:
    found = case(_mixed(column), range(7), [0, 0, 1, 2, 2, 3, 4], form).measure()
    for each in (found, *found.columns):
        assert each.ane == each.ane_persons == each.ncp == each.sse_sst == 0.0
    assert all(each.total_variation == 0.0 for each in found.columns)
    assert found.correlations.max_change == pytest.approx(0.0, abs=1e-12)
    assert found.queries.mean == found.queries.median == 0.0
    assert found.discernibility == 4 + 1 + 4 + 1 + 1


def test_one_class_loses_everything(case, column) -> None:
    columns = [
        column("age", Kind.NUMERIC, [0, 10, 0, 10]),
        column("level", Kind.ORDERED, list("abab")),
        column("place", Kind.CATEGORICAL, list("abba")),
    ]
    found = case(columns, range(4), [0, 0, 0, 0]).measure()
    assert (found.ane, found.ane_persons, found.ncp, found.sse_sst) == (0.5, 0.5, 1.0, 1.0)
    assert found.discernibility == 16
    assert found.average_class_records == 4
    assert {value for row in found.correlations.after for value in row} == {0.0, 1.0}


def test_ane_of_persons_by_hand(case, column) -> None:
    ages = column("age", Kind.NUMERIC, [20, 30, 40, 40])
    places = column("place", Kind.CATEGORICAL, list("abaa"))
    found = case([ages, places], [0, 0, 1, 1], [0, 0]).measure()
    age, place = found.columns
    # class mean 32.5: records 12.5, 2.5, 7.5, 7.5 of 20; persons 25 and 40, 7.5 each of 20
    assert age.ane == pytest.approx(0.375)
    assert age.ane_persons == pytest.approx(0.375)
    # shares a 3/4, b 1/4: records 1/4, 3/4, 1/4, 1/4; persons (1/2, 1/2) and (1, 0), 1/4 each
    assert place.ane == pytest.approx(0.375)
    assert place.ane_persons == pytest.approx(0.25)


def test_two_categories_lose_as_much_as_their_0_1_column(case, column) -> None:
    columns = [
        column("as_number", Kind.NUMERIC, [0, 1, 1, 0, 0, 1]),
        column("as_category", Kind.CATEGORICAL, list("abbaab")),
    ]
    number, category = case(columns, [0, 0, 1, 2, 2, 3], [0, 0, 1, 1]).measure().columns
    for name in ("ane", "ane_persons", "ncp", "sse", "sst", "total_variation"):
        assert getattr(number, name) == pytest.approx(getattr(category, name))


def test_ncp_by_hand(case, column) -> None:
    ages = column("age", Kind.NUMERIC, [0, 2, 10, 10, None, None, 4], weight=3.0)
    levels = column("level", Kind.ORDERED, list("abdeaca"))
    kept = [True] * 6 + [False]
    found = case([ages, levels], range(7), [0, 0, 1, 2, 2, 3, 4], kept=kept).measure()
    age, level = found.columns
    # age: 0-2 twice 0.2, 10 alone 0, 10 with missing `*` twice 1, missing 0, suppressed 1
    assert age.ncp == pytest.approx((0.4 + 2 + 1) / 7)
    # level: a-b twice 1/4, d 0, a-e twice 1, c 0, suppressed 1
    assert level.ncp == pytest.approx((0.5 + 2 + 1) / 7)
    assert found.ncp == pytest.approx((3 * age.ncp + level.ncp) / 4)
    assert (found.suppressed_records, found.suppressed_persons) == (1, 1)
    assert found.suppressed_records_share == pytest.approx(1 / 7)


def test_a_capped_person_is_not_suppressed(case, column) -> None:
    ages = column("age", Kind.NUMERIC, [1, 2, 3])
    found = case([ages], [0, 0, 1], [0, 0], kept=[True, False, True]).measure()
    assert (found.suppressed_records, found.suppressed_persons) == (1, 0)
    assert found.average_class_persons == 2


def test_means_are_exact_for_equal_values(case, column) -> None:
    values = [1, 1, 1, 1, 1, 1, 10]
    found = case([column("q", Kind.NUMERIC, [0, *values])], range(8), [1] + [0] * 6 + [2]).measure()
    assert found.ane == 0.0


def naive(case):
    """Pairwise-complete correlations of values and of class means, a pair at a time."""
    columns = [
        c
        for c in case.kept_columns()
        if c.domain.size == 2 or (c.kind is not Kind.CATEGORICAL and c.domain.size > 1)
    ]
    before, after = [], []
    for column in columns:
        value = np.append(column.domain.normalized, np.nan)[column.codes]
        mean = np.array(
            [
                np.nanmean(v)
                if len(v := value[case.class_of == t]) and not np.isnan(v).all()
                else np.nan
                for t in case.class_of
            ]
        )
        before.append(value)
        after.append(np.where(np.isnan(value), np.nan, mean))

    def matrix(vectors):
        out = np.eye(len(vectors))
        for i, x in enumerate(vectors):
            for j, y in enumerate(vectors):
                both = ~np.isnan(x) & ~np.isnan(y)
                if i != j and both.any() and min(x[both].std(), y[both].std()) > 1e-9:
                    out[i, j] = np.corrcoef(x[both], y[both])[0, 1]
        return out

    return [c.name for c in columns], matrix(before), matrix(after)


@given(data=st.data(), chunk=st.sampled_from([3, 1 << 18]))
def test_correlations_agree_with_numpy(data, chunk, cases) -> None:
    case = data.draw(cases())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(information_loss, "RECORDS_AT_ONCE", chunk)
        found = correlation_change(case.kept_columns(), case.class_of, case.classes)
    names, before, after = naive(case)
    assert found.columns == tuple(names)
    if names:
        assert np.array(found.before) == pytest.approx(before, abs=1e-7)
        assert np.array(found.after) == pytest.approx(after, abs=1e-7)
    change = [abs(after[i, j] - before[i, j]) for j in range(len(names)) for i in range(j)]
    assert found.max_change == pytest.approx(max(change, default=0.0), abs=1e-7)
    assert found.mean_change == pytest.approx(np.mean(change) if change else 0.0, abs=1e-7)


def test_where_both_have_a_value_a_constant_column_has_no_correlation(column) -> None:
    """Its mean is that of other records, too, so that rounding leaves a residue."""
    rng = np.random.default_rng(0)
    for constant in (1, 3, 7, 33):
        first = [constant] * 30 + rng.integers(0, 100, 40).tolist()
        second = [*rng.integers(0, 100, 30).tolist(), *[None] * 40]
        columns = [column("a", Kind.NUMERIC, first), column("b", Kind.NUMERIC, second)]
        found = correlation_change(columns, np.arange(70, dtype=np.int32), 70)
        assert found.before[0][1] == found.after[0][1] == 0


def test_a_column_with_a_heavy_tail_keeps_its_correlation(column) -> None:
    rng = np.random.default_rng(4)
    ages = rng.integers(20, 80, 500)
    incomes = ages * 1000 + rng.integers(0, 9000, 500)
    incomes[0] = 10**14
    columns = [
        column("age", Kind.NUMERIC, ages.tolist()),
        column("income", Kind.NUMERIC, incomes.tolist()),
    ]
    alone = np.arange(500, dtype=np.int32)
    found = correlation_change(columns, alone, 500)
    assert found.before[0][1] == pytest.approx(np.corrcoef(ages, incomes)[0, 1], abs=1e-9)
    assert found.max_change == pytest.approx(0.0, abs=1e-12)
