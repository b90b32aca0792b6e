"""Numbers printed in papers 000, 003 and 004."""

from __future__ import annotations

import numpy as np
import pyarrow.csv
import pytest

from sfumato.engines.embedded.counts import group
from sfumato.risk.assessment import measure_classes
from sfumato.risk.class_measures import g_balance, gidr, gsar, idr, sar


def columns(records):
    return list(zip(*records, strict=True))


def test_003_section_4_whole_data_set(measure, records_003):
    """Paper 003, Section 4: g(D) = 0.82 and h(D) = 0.375."""
    names, diseases, _, _ = columns(records_003)
    risk = measure([0] * 19, names, disease=diseases)
    assert risk.g_balance_counts == (65, 19)
    assert risk.g_balance.value == pytest.approx(1 - 65 / 361)
    assert round(risk.g_balance.value, 2) == 0.82
    assert risk.sensitive["disease"].h_affiliation.value == 0.375
    assert (risk.k, risk.pid_k, risk.persons, risk.classes) == (19, 8, 8, 1)


def test_003_section_4_first_split(measure, records_003):
    """Paper 003, Section 4: by gender g is 0.5 and 0.747, h is 0.5 in both."""
    names, diseases, _, _ = columns(records_003)
    female = [name in {"Ashley", "Diana"} for name in names]
    summary = measure(female, names, disease=diseases).summary
    np.testing.assert_allclose(np.round(g_balance(summary), 3), [0.5, 0.747])
    np.testing.assert_allclose(gsar(summary, "disease"), 0.5)


def test_003_table_3b(measure, code, records_003):
    """Paper 003, Section 2: k = 3, Charlie 100 %, Harry 5/7; ulcers of 2 of 3 patients."""
    names, diseases, groups, _ = columns(records_003)
    risk = measure(groups, names, disease=diseases)
    assert (risk.k, risk.pid_k) == (3, 1)
    np.testing.assert_allclose(gidr(risk.summary), [2 / 3, 1, 1 / 2, 5 / 7])
    np.testing.assert_allclose(gsar(risk.summary, "disease"), [1, 1, 1, 2 / 3])
    own = idr(code(groups), 4, code(names))
    assert own[names.index("Harry")] == pytest.approx(5 / 7)
    assert own[names.index("Charlie")] == 1
    assert risk.max_gidr.value == 1
    assert risk.max_gidr.where.row == names.index("Charlie") + 1
    assert risk.max_gidr.where.equivalence_class == 2


def test_003_table_4(measure, code, records_003):
    """Paper 003, Table 4: 3 distinct values, and yet both patients have gastritis."""
    group_3 = [record for record in records_003 if record[2] == 3]
    names, diseases, groups, _ = columns(group_3)
    own = measure(groups, names, disease=diseases).sensitive["disease"]
    assert own.l_distinct == 3
    assert own.h_affiliation.value == 1
    assert own.h_affiliation.where.row == diseases.index("Gastritis") + 1
    np.testing.assert_allclose(
        sar(code(groups), 1, code(names), code(diseases)), [1 / 2, 1, 1 / 2, 1]
    )


def test_003_table_6b(measure, records_003):
    """Paper 003, Section 5: g = 0.5, 0.72, 0.5 and h = 0.5 in the three groups."""
    names, diseases, _, groups = columns(records_003)
    risk = measure(groups, names, disease=diseases)
    by_group = dict(zip(dict.fromkeys(groups), g_balance(risk.summary), strict=True))
    assert by_group == {1: pytest.approx(0.5), 2: pytest.approx(0.72), 3: pytest.approx(0.5)}
    np.testing.assert_allclose(gsar(risk.summary, "disease"), 0.5)
    assert (risk.k, risk.pid_k) == (4, 2)


def test_000_table_2(code):
    """Paper 000, Table 2: probabilities of re-identification in Table 1b."""
    names = ["Ashley"] * 2 + ["Bob"] + ["Charlie"] * 5 + ["Diana"] * 2 + ["Edward"] * 2
    names += ["Fred", "Greg"] + ["Harry"] * 5
    groups = [1] * 2 + [2] * 6 + [3] * 4 + [4] * 7
    found = dict(zip(names, np.round(100 * idr(code(groups), 4, code(names)), 1), strict=True))
    assert found == {
        "Ashley": 100.0,
        "Bob": 16.7,
        "Charlie": 83.3,
        "Diana": 50.0,
        "Edward": 50.0,
        "Fred": 14.3,
        "Greg": 14.3,
        "Harry": 71.4,
    }


def test_004_adult(shared_data):
    """Paper 004, Section 3: Adult by age, education, race, sex; the paper prints 0.104."""
    parse = pyarrow.csv.ParseOptions(delimiter=";")
    table = pyarrow.csv.read_csv(shared_data / "adult" / "adult.csv", parse_options=parse)
    names = ("age", "education", "race", "sex")
    coded = [table[name].combine_chunks().dictionary_encode() for name in names]
    class_of, classes = group(
        [column.indices.to_numpy().astype(np.int32) for column in coded],
        [len(column.dictionary) for column in coded],
    )
    person = np.arange(table.num_rows, dtype=np.int32)
    risk = measure_classes(class_of, classes, person, {}, threshold=0.2)
    assert (risk.records, risk.classes) == (30_162, 3_152)
    assert round(risk.marketer.value, 4) == 0.1045
    assert round(risk.average_risk.value, 4) == 0.1045
    assert (risk.sample_uniques, risk.sample_unique_records) == (1_206, 1_206)
