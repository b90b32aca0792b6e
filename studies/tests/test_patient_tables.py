"""Tables 10, 13 and 16 of paper 003 on the INFORMS patient data: the orders that it claims.

The selection differs from the paper's and the scale of its ANE is unknown, so orders are tested,
and values only where a definition bounds them. The figures that were seen stand in docs/studies.md.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from studies.kartal_li import record_disclosure, value_disclosure
from studies.kartal_li.data_sets import PATIENT_DATA
from studies.kartal_li.published_numbers import RECORD_LOSSES, VALUE_RISKS
from studies.kartal_li.tree_measurement import (
    Encoded,
    LByFrequency,
    cut,
    decomposition_rows,
    encode,
)
from studies.kartal_li.value_disclosure import DISTINCT, H, L, measure_promise

from sfumato.release.promises.g_balance import GBalance


@pytest.fixture(scope="module")
def patients(shared_data: Path) -> Encoded:
    return encode(PATIENT_DATA.read(shared_data / "informs"), PATIENT_DATA)


def test_the_readings_of_the_icd_code(patients: Encoded) -> None:
    """21.07 % have the most shared code; without the 17 that over 4.39 % have, 4.29 %."""
    every, rare = patients.readings
    assert (every.left_out, rare.left_out) == (0, 17)
    assert every.most_shared == pytest.approx(0.2107, abs=5e-5)
    assert rare.most_shared <= PATIENT_DATA.common == pytest.approx(0.0439)
    assert every.values - rare.values == 17
    entries = np.bincount(patients.table.person)
    assert (np.diff(every.by_record.sensitive["ICD9CODX"].offsets) == entries).all()


@pytest.mark.slow
def test_table_10_g_loses_less_than_pid_k_and_k(patients: Encoded) -> None:
    """Section 7: at equal MaxGIDR ANE is less with g than with K, and with K than with k.

    At 20, 15, 10 and 5 % by a clear margin (seen: 16 to 22 % less than both). Where MaxGIDR must
    be 2 or 1 % there are some 40 classes or fewer, and one cut decides: at 2 % K wins by 2.5 %, at
    1 % g by 0.7 %, with these thresholds tried; so there within 6 %. At 15 % k wins by 1.6 %.
    """
    points = record_disclosure.record_frontier(patients, steps=24)
    for target in RECORD_LOSSES["patient"]:
        best = {
            part: record_disclosure.least_loss(points, part, target / 100)
            for part in ("k", "pid_k", "g_balance")
        }
        assert all(each.measured.max_gidr <= target / 100 for each in best.values())
        k, pid_k, g = (each.measured.ane for each in best.values())
        assert g < (0.9 if target >= 5 else 1.06) * min(pid_k, k)
        assert g < k
        assert pid_k < 1.02 * k
    risks = [point.measured.max_gidr for point in points if point.part == "g_balance"]
    assert min(risks) < 0.01 < 0.5 < max(risks)


@pytest.mark.slow
def test_table_13_h_bounds_the_risk_and_l_does_not(patients: Encoded) -> None:
    """Section 8: MaxGSAR ≤ h*; with l up to 10 it stays far above 1/l; AvgGSAR is lower with h.

    Values of few patients: averages within 2 points of the paper's for h (seen: 0.3 to 1.7).
    """
    rows = value_disclosure.value_risk_rows(patients, patients.readings[1])
    printed = VALUE_RISKS["patient"]
    assert len(rows) == 15
    for row in rows:
        assert row.affiliation.max_gsar <= row.h + 1e-9
        for other in (row.by_frequency, row.distinct):
            assert other.max_gsar > 2 * row.affiliation.max_gsar or row.h == 0.5
            assert other.max_gsar > row.h
            assert row.affiliation.avg_gsar < other.avg_gsar
        average = printed["h"][row.g, row.h].average
        assert 100 * row.affiliation.avg_gsar == pytest.approx(average, abs=2)
        assert row.by_frequency.max_gidr <= (1 - row.g) ** 0.5


def test_what_no_partition_can_meet_is_empty(patients: Encoded) -> None:
    """Lemma 1: with 21 % of the patients sharing a code nothing reaches h* = 0.2."""
    every = patients.readings[0]
    assert measure_promise(patients, every, H, 0.5, 0.20) is None
    assert measure_promise(patients, every, L, 0.5, 20) is None
    assert measure_promise(patients, every, H, 0.5, 0.33).max_gsar <= 0.33
    assert measure_promise(patients, every, DISTINCT, 0.5, 20).max_gsar == 1


@pytest.mark.slow
def test_table_16_h_loses_less_than_l(patients: Encoded, monkeypatch: pytest.MonkeyPatch) -> None:
    """Section 8: at equal MaxGSAR h loses less than l (seen: 35 to 78 % less)."""
    monkeypatch.setattr(value_disclosure, "BALANCES", (0.5,))
    points = value_disclosure.value_frontier(patients, patients.readings[1], steps=6)
    for target in value_disclosure.TARGETS:
        best = {
            name: value_disclosure.least_loss(points, name, 0.5, target / 100)
            for name in ("l", "distinct", "h")
        }
        assert all(each.measured.max_gsar <= target / 100 for each in best.values())
        by_l, distinct, h = (each.measured.ane for each in best.values())
        assert h < 0.8 * min(by_l, distinct)


@pytest.mark.parametrize("reading", [0, 1])
def test_l_by_frequency_keeps_what_it_says(patients: Encoded, reading: int) -> None:
    """Counted again from the records of each class."""
    read, l = patients.readings[reading], 8
    partition, _seconds = cut(read.by_record, [GBalance(0.5), LByFrequency(l)])
    assert partition.classes > 100
    class_of = partition.class_of_person[patients.table.person].astype(np.int64)
    size = np.bincount(class_of)
    known = read.codes >= 0
    pairs, times = np.unique(class_of[known] * 10_000 + read.codes[known], return_counts=True)
    assert (times * l <= size[pairs // 10_000] + 1e-6).all()
    assert cut(read.by_record, [LByFrequency(1.01 / read.most_frequent)]) is None
    assert cut(read.by_record, [LByFrequency(1 / read.most_frequent)]) is not None


@pytest.mark.slow
def test_the_decomposition_leaves_what_it_promises_to_remove(patients: Encoded) -> None:
    """Section 2: k individuals and l values per class, and risks far above 1/k and 1/l."""
    for row in decomposition_rows(patients, patients.readings[1]):
        assert row.joined.max_gidr > 1.5 / row.k
        assert row.joined.max_gsar > 1.5 / row.k
        assert row.proposed.max_gsar <= 1 / row.k + 1e-9
        assert row.proposed.max_gidr < row.joined.max_gidr
