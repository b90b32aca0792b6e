"""Numbers that other tools' own tests and examples assert, computed again on the same data.

Where a tool is wrong, the test holds our number and says what the tool prints, and why.
"""

from __future__ import annotations

from math import exp, lgamma, log

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from studies.dankar_el_emam.log_linear import LogLinear
from studies.dankar_el_emam.peer_estimators import Argus

import sfumato as sf
from sfumato.risk.population.estimator_protocol import SampleClasses
from sfumato.risk.population.uniqueness_models import fit_pitman, population_uniques


def assessed(columns, quasi, sensitive=(), **options):
    """The columns, those of ``quasi`` as categories."""
    other = [name for name in columns if name not in (*quasi, *sensitive)]
    schema = sf.Schema(
        quasi_identifiers=dict.fromkeys(quasi, "categorical"),
        sensitive=list(sensitive),
        insensitive=other,
    )
    return sf.assess(pa.table(columns), schema, **options)


# ------------------------------------------------- ARX: src/test/.../test/TestRiskMetrics.java


@pytest.fixture(scope="module")
def adult_sizes(shared_data):
    """Records of each class of Adult by all nine columns, as ARX's adult.csv has them."""
    parse = pyarrow.csv.ParseOptions(delimiter=";")
    table = pyarrow.csv.read_csv(shared_data / "adult" / "adult.csv", parse_options=parse)
    counts = table.group_by(table.column_names).aggregate([([], "count_all")])
    return counts["count_all"].to_numpy()


def test_arx_risk_of_adult(shared_data, adult_sizes):
    """testAverageRisk2, testHighestIndividualRisk2; testDecisionRule2 at p = 1."""
    names = [
        "sex", "age", "race", "marital-status", "education", "native-country", "workclass",
        "occupation", "salary-class",
    ]  # fmt: skip
    schema = sf.Schema(quasi_identifiers=dict.fromkeys(names, "categorical"))
    risk = sf.assess(shared_data / "adult" / "adult.csv", schema)
    assert risk.average_risk.value == pytest.approx(0.6465751607983555, rel=1e-12)
    assert risk.marketer.value == pytest.approx(0.6465751607983555, rel=1e-12)
    assert risk.prosecutor.value == 1
    everybody = SampleClasses(adult_sizes, int(adult_sizes.sum()))
    assert population_uniques("dankar", everybody) / everybody.n == pytest.approx(
        0.5142895033485844, rel=1e-12
    )


def test_arx_zayatz_on_adult(adult_sizes):
    """testDecisionRule2: at p = 0.1, and what ARX's rule gives at p = 0.2."""
    for fraction, printed in ((0.1, 0.3207402393466189), (0.2, 0.3577099234829125)):
        sample = of_adult(adult_sizes, fraction)
        assert population_uniques("zayatz", sample) / sample.population == pytest.approx(
            printed, rel=1e-12
        )


@pytest.mark.parametrize(
    ("fraction", "printed", "ours"),
    [(0.1, 0.27684993883653597, 0.276033), (0.01, 0.1446, 0.144565)],
)
def test_arx_pitman_is_the_limit_of_a_large_population(adult_sizes, fraction, printed, ours):
    """testDecisionRule2. ARX takes N^σ Γ(θ+1)/Γ(θ+σ), the limit for large N; here N is finite."""
    sample = of_adult(adult_sizes, fraction)
    found = population_uniques("pitman", sample)
    assert found / sample.population == pytest.approx(ours, abs=5e-7)
    assert population_uniques("dankar", sample) == found
    theta, sigma = fit_pitman(*sample.counts_of_sizes)
    limit = sigma * log(sample.population) + lgamma(theta + 1) - lgamma(theta + sigma)
    assert exp(limit) / sample.population == pytest.approx(printed, abs=5e-5)


def test_arx_rule_of_dankar_at_a_fifth_of_adult(adult_sizes):
    """testDecisionRule2 asserts 0.3577099 at p = 0.2, which is Zayatz' estimate.

    ARX's SNB (ModelSNB.java) cannot be the lower one: E[f_2] is multiplied by D^(α+2) where it is
    divided by it (Chen & Keller-McNulty 1998), and in K by Sh3 the -1 of (1+q)^i - 1 stands
    outside of the product with (1-q)^i f_i.
    """
    sample = of_adult(adult_sizes, 0.2)
    found = population_uniques("dankar", sample)
    assert found / sample.population == pytest.approx(0.319459, abs=5e-7)
    assert found == population_uniques("snb", sample)


def of_adult(sizes, fraction):
    return SampleClasses(sizes, round(int(sizes.sum()) / fraction))


# ------------------------------------------------------------------ sdcMicro: tests/testthat


def test_sdcmicro_individual_risk():
    """test_indivRisk.R, method "exact", which is μ-Argus with p = f / Σ weights.

    Its default, "approx", gives 0.01369863 for the class of three.
    """
    columns = {
        "A": [2, 3, 2, 2, 3, 3, 1, 2],
        "B": [3, 3, 3, 3, 3, 3, 4, 3],
        "C": [1, 3, 1, 2, 1, 1, 1, 1],
        "weight": [18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0],
    }
    keys = list(zip(*(columns[name] for name in "ABC"), strict=True))
    classes = list(dict.fromkeys(keys))
    sizes = np.array([keys.count(each) for each in classes])
    weighted = np.bincount([classes.index(key) for key in keys], columns["weight"])
    sample = SampleClasses(sizes, round(weighted.sum()), weighted=weighted)
    inverse = Argus().estimate(sample, np.random.default_rng(0)).inverse_sizes
    three, two = 0.01355297, 0.01877883
    printed = [three, 0.08579129, three, 0.17707583, two, two, 0.03931625, three]
    of_rows = inverse[[classes.index(key) for key in keys]]
    np.testing.assert_allclose(of_rows, printed, atol=5e-9)


SUDA = {
    "simple example": (
        {"a": [2, 1, 1], "b": [0, 3, 0], "c": [0, 6, 0]},
        None,
        {"a": 0.5, "b": 0.375, "c": 0.375},
    ),
    "book example": (
        {
            "age": ["20s"] * 7 + ["60s"],
            "gender": ["m"] * 4 + ["f"] * 3 + ["m"],
            "income": ["50k+"] * 2 + ["50k-"] * 6,
            "education": ["high"] * 4 + ["university", "high", "middle", "university"],
        },
        {5: 4, 6: 2, 7: 6, 8: 8},
        None,
    ),
    "sdc guideline": (
        {
            "Residence": list("uuuuruuuuu"),
            "Gender": list("fffmfmfmff"),
            "Education": ["s-", "s-", "p-", "s", "s", "s", "p", "post", "s-", "s-"],
            "Labor": ["e", "e", "non", "e", "un", "e", "non", "un", "non", "non"],
        },
        {3: 6, 5: 12, 7: 6, 8: 10},
        None,
    ),
}


@pytest.mark.parametrize("name", SUDA)
def test_sdcmicro_special_uniques(name):
    """test_suda2.R; scores are 0 but for the rows given."""
    columns, scores, contribution = SUDA[name]
    risk = assessed(columns, tuple(columns), special_uniques=True, msu_size=len(columns))
    found = risk.special_uniques
    if scores is not None:
        assert {at.row: score for at, score in found.highest_where} == scores
    if contribution is not None:
        assert found.contribution == pytest.approx(contribution)


def test_sdcmicro_l_diversity():
    """test_ldiversity.R: 3, 2 and 2 distinct values, a missing key being a value of its own."""
    columns = {
        "sex": ["f", "f", "f", "m", "m", "f", "f"],
        "occupation": [None, None, None, "teacher", "teacher", "nurse", "nurse"],
        "ethnicity": ["other"] * 5 + ["majority"] * 2,
        "sensitive": [1, 0, 2, 1, 0, 0, 1],
    }
    quasi = ("sex", "occupation", "ethnicity")
    risk = assessed(columns, quasi, ["sensitive"])
    assert risk.own_classes().distinct["sensitive"].tolist() == [3, 2, 2]
    assert risk.sensitive["sensitive"].l_distinct == 2


def test_sdcmicro_global_risk_is_another_number():
    """test_modRisks.R: 0.552916 and 0.7053842 by "IPF" on ten records of weight 100.

    modRisk takes the fitted mean of the cell in the sample where that in the population belongs
    (100 times as much here), and divides by the number of cells that are not empty: its two
    numbers are no counts. τ1 and τ2 of Skinner and Shlomo 2008 are 2.5e-9 and 0.19 of the eight
    sample uniques.
    """
    # R's set.seed(123); round(runif(10, 1, 3)), round(runif(10, 1, 2)), round(runif(10, 1, 5))
    rows = ["225", "314", "224", "325", "314", "124", "213", "313", "212", "222"]
    columns = {f"Var{at + 1}": [row[at] for row in rows] for at in range(3)}
    codes = np.array([[int(cell) for cell in row] for row in rows])
    keys, sizes = np.unique(codes, axis=0, return_counts=True)
    sample = SampleClasses(sizes, 1_000, keys.astype(np.int32), tuple(codes.max(axis=0) + 1))
    found = LogLinear("independence").estimate(sample, np.random.default_rng(0))
    means = {
        row: 10
        * np.prod([column.count(row[at]) / 10 for at, column in enumerate(columns.values())])
        for row in rows
    }
    alone = np.array([means[row] for row in means if rows.count(row) == 1])
    further = 0.99 * alone
    theirs = np.exp(-further), -np.expm1(-further) / further
    printed = (0.552916, 0.7053842)
    assert [each.sum() / len(means) for each in theirs] == pytest.approx(printed, abs=5e-7)
    further = 0.99 * alone / 0.01
    assert found.expected_uniques == pytest.approx(np.exp(-further).sum())
    assert found.unique_matches == pytest.approx((-np.expm1(-further) / further).sum())
    assert found.expected_uniques == pytest.approx(2.517e-9, rel=1e-3)
    assert found.unique_matches == pytest.approx(0.191919, rel=1e-5)


# -------------------------------------------------------------------------- pycanon and anjana

HOSPITAL = {
    "age": [29, 24, 23, 22, 24, 28, 27, 24, 23, 19, 29, 17, 19],
    "gender": list("fmmmffmfmmmmm"),
    "city": ["tn", "tn", "tn", "tn", "ke", "tn", "ka", "ke", "ka", "ke", "ka", "ke", "ke"],
    "disease": [
        "cancer", "cancer", "cancer", "cancer", "viral", "tb", "none", "heart", "tb", "cancer",
        "heart", "heart", "viral",
    ],
}  # fmt: skip
"""anjana's examples/data/hospital_extended.csv, names and religions left out."""


def test_anjana_hospital():
    """tests/test_anonymity.py, TestHospital: k = 2 with ages by ten years; l = 2 without city too.

    pycanon 1.3.6 measures k = 2, l = 1 and t = 0.615385 of the first; k = 3, l = 3, t = 0.282051
    and entropy l = 2 of the second: of exp(H) = 3, a little less by rounding, cut off.
    """
    columns = HOSPITAL | {"age": [age // 10 for age in HOSPITAL["age"]]}
    risk = assessed(columns, ("age", "gender", "city"), ["disease"])
    own = risk.sensitive["disease"]
    assert (risk.k, own.l_distinct, own.l_entropy.value) == (2, 1, 1)
    assert own.t_closeness.value == pytest.approx(0.6153846153846154)
    risk = assessed(columns, ("age", "gender"), ["disease"])
    own = risk.sensitive["disease"]
    assert (risk.k, own.l_distinct, own.l_entropy.value) == (3, 3, 3)
    assert own.t_closeness.value == pytest.approx(0.28205128205128205)


def test_pycanon_recursive_and_entropy_diversity():
    """pycanon 1.3.6, pycanon/anonymity/_l_diversity.py.

    It sorts the counts of (c, l)-diversity upwards, where r_1 is the largest, and so prints
    c = 1 of the first table; it cuts entropy l off to whole numbers, 2 and 6 here.
    """
    of = assessed({"q": [1] * 7, "s": list("aaaaabc")}, "q", "s").sensitive["s"]
    assert of.recursive[3].value == 5
    assert of.l_entropy.value == pytest.approx(7 / 5 ** (5 / 7))
    of = assessed({"q": [1] * 7, "s": list("abcdefg")}, "q", "s", recursive_l=[7]).sensitive["s"]
    assert of.recursive[7].value == 1
    assert of.l_entropy.value == 7
