"""Paper 004 (Dankar and El Emam 2010, PAIS'10) again: Table 1 and Figure 2."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from studies import DRAWN, STUDIES, Study, dankar_elemam_2010
from studies.dankar_el_emam import estimator_tables
from studies.dankar_el_emam.estimator_tables import (
    ADULT,
    ADULT_4,
    ADULT_8,
    CLINICS,
    DATA_SETS,
    ESTIMATORS,
    FRACTIONS,
    INFORMS,
    LABELS,
    TABLE_1,
    DataSet,
    Errors,
    Population,
    compare,
    figure_2_section,
    population_of,
    rank_of,
    ranks_section,
    search_samples,
    simulate,
    table_1_section,
)

from sfumato.core.errors import InputError
from sfumato.risk.population.estimator_protocol import EstimationFailedError

pytestmark = pytest.mark.slow

HEADER = "sex;age;race;marital-status;education;native-country;workclass;occupation;salary-class"


def small_adult(folder: Path, persons: int = 1_500) -> Path:
    """A file with the columns of Adult, few values each."""
    rng = np.random.default_rng(4)
    sizes = (2, 20, 3, 2, 5, 1, 1, 4, 2)
    cells = np.column_stack([rng.integers(0, size, persons) for size in sizes])
    folder.mkdir()
    lines = [HEADER, *(";".join(f"v{cell}" for cell in row) for row in cells.tolist())]
    (folder / "adult.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("data")
    small_adult(folder / "adult")
    told: list[tuple[str, float]] = []
    made = dankar_elemam_2010(
        folder, repetitions=2, progress=lambda stage, share: told.append((stage, share))
    )
    assert all(0 <= share <= 1 for _stage, share in told)
    stages = list(dict.fromkeys(stage for stage, _share in told))
    assert stages == ["read", ADULT_4.key, ADULT_8.key, CLINICS.key]
    return made


def adult(shared_data: Path, data: DataSet) -> Population:
    found = data.find(shared_data)
    assert found is not None
    return population_of(found, data.columns)


# ------------------------------------------------------------------------------------- Table 1


def test_it_is_known_by_its_name() -> None:
    assert STUDIES["dankar-elemam-2010"] is dankar_elemam_2010
    assert set(STUDIES) >= DRAWN


def test_the_row_of_adult(shared_data: Path) -> None:
    """Table 1 (Section 2.5): n = 30,162; 72, 16, 5 and 2 values; λ = 0.104, cut after 3 digits.

    NOTES, section 2: 3,152 classes, λ = 0.1045.
    """
    population = adult(shared_data, ADULT_4)
    assert population.persons == ADULT.persons == 30_162
    assert population.values == (72, 16, 5, 2)
    assert population.values == tuple(number for _name, number in ADULT.quasi_identifiers)
    assert population.classes == 3_152
    assert round(population.marketer, 4) == 0.1045
    assert int(1000 * population.marketer) / 1000 == ADULT.marketer == 0.104


def test_the_other_rows_are_printed_only(shared_data: Path) -> None:
    """Table 1: n and λ of FARS, the emergency department, Niday and the pharmacy."""
    section = table_1_section({ADULT_4: adult(shared_data, ADULT_4)})
    rows = section.grids[0].records()
    assert [(row["persons_published"], row["marketer_published"]) for row in rows] == [
        (27_529, 0.229),
        (30_162, 0.104),
        (25_470, 0.033),
        (57_679, 0.687),
        (3_507, 0.75),
    ]
    computed = [row["data"] for row in rows if row["marketer"] is not None]
    assert computed == [ADULT.name]
    assert "not public" in section.text[0]
    assert len(TABLE_1) == 5


# ------------------------------------------------------------------------------------ Figure 2


@pytest.mark.parametrize(
    ("data", "fraction", "argus", "negative_binomial"),
    [
        (ADULT_4, 0.1, -29.9, -35.6),
        (ADULT_4, 0.3, -12.9, -15.3),
        (ADULT_4, 0.5, -6.6, -8.1),
        (ADULT_4, 0.7, -3.2, -4.0),
        (ADULT_8, 0.1, -59.4, -53.0),
        (ADULT_8, 0.3, -33.6, -30.4),
        (ADULT_8, 0.5, -19.7, -18.4),
    ],
)
def test_argus_and_negative_binomial_on_adult(
    shared_data: Path, data: DataSet, fraction: float, argus: float, negative_binomial: float
) -> None:
    """NOTES, section 2, table of what is attainable."""
    names = ("argus", "negative-binomial")
    errors = simulate(adult(shared_data, data), fraction, names, 10, seed=(1,)).of
    allowed = 4 if fraction == 0.1 else 2
    assert 100 * errors["argus"].mean() == pytest.approx(argus, abs=allowed)
    assert 100 * errors["negative-binomial"].mean() == pytest.approx(negative_binomial, abs=allowed)


def test_the_statement_of_section_3_on_adult(shared_data: Path) -> None:
    """Section 3: on Adult the log-linear approach errs less than Argus and Bethlehem et al.'s."""
    names = ("log-linear", "argus", "negative-binomial")
    errors = simulate(adult(shared_data, ADULT_4), 0.3, names, 4, seed=(2,))
    row = compare("Adult", errors)
    assert row is not None
    assert (row.lowest, row.significant) == (True, True)


def test_persons_of_informs_are_read(shared_data: Path) -> None:
    population = adult(shared_data, INFORMS)
    assert population.persons == 33_961
    assert len(population.values) == 4


def test_a_sample_of_everybody_has_the_populations_risk() -> None:
    population = Population(
        np.array([3, 1, 1]), np.zeros((3, 1), dtype=np.int32), domains=(2,), values=(1,)
    )
    sample, real = population.draw(1.0, np.random.default_rng(0))
    assert (sample.n, sample.population) == (5, 5)
    assert real == pytest.approx(population.marketer) == pytest.approx(3 / 5)


def test_a_samples_risk_has_the_populations_as_its_mean() -> None:
    """Theorem 1 under equal probabilities: Σ f / (n F) has the expectation J̃ / N."""
    population = Population(
        np.arange(1, 40), np.zeros((39, 1), dtype=np.int32), domains=(2,), values=(1,)
    )
    rng = np.random.default_rng(6)
    drawn = [population.draw(0.1, rng)[1] for _ in range(3_000)]
    assert np.mean(drawn) == pytest.approx(population.marketer, rel=0.02)


def test_the_seed_decides_and_the_set_of_estimators_does_not() -> None:
    population = population_of(_clinics(), CLINICS.columns)
    one = simulate(population, 0.1, ("argus", "shlosser"), 2, seed=(1, 2)).of
    again = simulate(population, 0.1, ("argus",), 2, seed=(1, 2)).of
    other = simulate(population, 0.1, ("argus",), 2, seed=(1, 3)).of
    np.testing.assert_array_equal(one["argus"], again["argus"])
    assert not np.array_equal(one["argus"], other["argus"])


def _clinics() -> object:
    from studies.dankar_el_emam.estimator_tables import clinic_patients

    return clinic_patients().slice(0, 2_000)


def test_a_patient_of_the_clinics_counts_once() -> None:
    from studies.dankar_el_emam.estimator_tables import CLINIC_PERSONS, clinic_patients

    patients = clinic_patients()
    assert len(patients) == len(set(patients["patient"].to_pylist())) == CLINIC_PERSONS


def test_the_search_runs_on_fewer_samples(study: Study) -> None:
    assert [search_samples(20, every) for every in (1, 3, 20, 50)] == [20, 7, 1, 1]
    for data in (ADULT_4, ADULT_8, CLINICS):
        rows = study.grid(f"figure_2_{_words(data)}").records()
        samples = {row["estimator"]: row["samples"] for row in rows}
        assert samples[LABELS["log-linear"]] == search_samples(2, data.search_every)
        assert samples[LABELS["argus"]] == 2
    assert "1 of them on Adult, 4 QIs" in study.to_markdown()


def _words(data: DataSet) -> str:
    return {ADULT_4: "adult_4_qis", ADULT_8: "adult_8_qis", CLINICS: "clinics"}[data]


def test_a_sample_without_a_value_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fails:
        def estimate(self, sample, rng):
            raise EstimationFailedError("no value")

    named = estimator_tables.estimator_named
    monkeypatch.setattr(
        estimator_tables,
        "estimator_named",
        lambda name: Fails() if name == "shlosser" else named(name),
    )
    population = population_of(_clinics(), CLINICS.columns)
    errors = simulate(population, 0.5, ("argus", "shlosser"), 2, seed=(1,))
    assert np.isnan(errors.of["shlosser"]).all()
    assert len(errors.shared(("argus", "shlosser"))["argus"]) == 0
    section = figure_2_section({CLINICS: [errors]}, 2, 1)
    assert "Samples without a value, left out of the means: Shlosser on Clinics: 2." in section.text
    assert section.grids[0].records()[1]["mean_0.5"] is None


# ----------------------------------------------------------------------------------- Section 3


def errors_of(log_linear: list[float], argus: list[float], binomial: list[float]) -> Errors:
    parts = {"log-linear": log_linear, "argus": argus, "negative-binomial": binomial}
    others = {name: argus for name in ESTIMATORS if name not in parts}
    return Errors(0.1, {name: np.array(part) for name, part in (parts | others).items()})


def test_ranks_go_by_the_absolute_error() -> None:
    assert rank_of({"a": -0.2, "b": 0.1, "c": 0.1, "d": 0.0}) == {"a": 4, "b": 2, "c": 2, "d": 1}


def test_the_statement_is_refuted_where_it_does_not_hold() -> None:
    better = errors_of([0.01, 0.012, 0.009], [-0.2, -0.21, -0.19, 0.9], [-0.3, -0.31, -0.3, 0.0])
    noisy = errors_of([0.01, 0.3, -0.29], [-0.2, -0.21, -0.19], [-0.3, -0.31, -0.3])
    worse = errors_of([0.5, 0.5], [-0.2, -0.21], [-0.3, -0.31])
    first, second, third = (compare("x", each) for each in (better, noisy, worse))
    assert first is not None
    assert second is not None
    assert third is not None
    assert (first.lowest, first.significant, first.samples) == (True, True, 3)
    assert first.errors["argus"] == pytest.approx(-0.2)
    assert (second.lowest, second.significant) == (True, False)
    assert (third.lowest, third.significant) == (False, False)
    said = ranks_section({CLINICS: [better, worse]}).text[0]
    assert "this does not hold here: it has the lowest error in 1 of 2" in said
    assert "this holds here" in ranks_section({CLINICS: [better]}).text[0]


def test_one_sample_is_not_tested() -> None:
    row = compare("x", errors_of([0.01], [0.2], [0.3]))
    assert row is not None
    assert row.significant is None


# ----------------------------------------------------------------------------- the whole study


def test_absent_files_are_said(study: Study) -> None:
    said = study.to_markdown()
    assert "Not computed, because the data folder lacks their files: INFORMS" in said
    assert "demographics_2005.parquet in DIR or DIR/informs" in said


def test_every_population_and_fraction_is_ranked(study: Study) -> None:
    ranks = study.grid("ranks").records()
    assert len(ranks) == 3 * len(FRACTIONS) + 1
    assert [row["fraction"] for row in ranks[:5]] == [0.1, 0.3, 0.5, 0.7, 0.9]
    for row in ranks[:-1]:
        assert min(row[name.replace("-", "_")] for name in ESTIMATORS) == 1


def test_it_is_written_with_its_plot(study: Study, tmp_path: Path) -> None:
    study.write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"figure_2.svg", "study.json", "study.md"}
    json.loads((tmp_path / "study.json").read_text())
    drawn = (tmp_path / "figure_2.svg").read_text()
    for said in (*LABELS.values(), "Adult, 4 QIs", "Clinics", "sampling fraction"):
        assert said in drawn


def test_a_folder_without_data_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"adult\.csv in DIR or DIR/adult or demographics_2005"):
        dankar_elemam_2010(tmp_path)


@pytest.mark.parametrize("numbers", [{"repetitions": 0}, {"repetitions": True}, {"seed": -1}])
def test_a_wrong_number_is_refused(numbers: dict[str, int]) -> None:
    with pytest.raises(InputError, match="must be a whole number of at least"):
        dankar_elemam_2010(**numbers)


def test_each_data_set_is_said_once() -> None:
    assert len({data.key for data in DATA_SETS}) == len(DATA_SETS) == 4
