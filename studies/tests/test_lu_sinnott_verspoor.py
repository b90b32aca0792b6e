"""Paper 002 (Lu, Sinnott and Verspoor 2017): Figures 1 and 2, and Table 2's shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from studies import lu_sinnott_verspoor_2017
from studies.lu_sinnott_verspoor import COMMON, COMMUNITIES, REGISTRY, SURVEY, simulate
from studies.study_document import Study

from sfumato.core.errors import InputError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study() -> Study:
    return lu_sinnott_verspoor_2017(repetitions=3)


def test_figures_1_and_2(study: Study) -> None:
    rows = study.grid("figures").records()
    assert [(row["risk"], row["refined"]) for row in rows] == [
        ("1/3", "1/3"),
        ("1/3", "1/2"),
        ("1/4", "1/4"),
        ("1/3", "1/3"),
    ]
    assert rows[1]["tuple"] == "<1960-1980, *, Asian, 7104 Mandarin>"


def test_the_shape_of_table_2_holds_in_every_draw(study: Study) -> None:
    for row in study.grid("shape").records():
        assert row["draws"] == row["risk_not_above"] == row["loss_within"] == 3
        assert row["largest_not_above"] == 3
    below = {row["k"]: row["risk_below"] for row in study.grid("shape").records()}
    assert below[3] == below[4] == 3


def test_table_2_as_printed_and_time_1_without_associations(study: Study) -> None:
    rows = {(r["time"], r["k"], r["scheme"]): r for r in study.grid("table_2").records()}
    assert rows[2, 4, "LA"]["risk_paper"] == pytest.approx(0.047)
    assert rows[2, 4, "SLA"]["loss_paper"] == pytest.approx(0.289)
    for k in (2, 3, 4):
        assert rows[1, k, "LA"]["risk"] == rows[1, k, "SLA"]["risk"]
        assert rows[1, k, "LA"]["loss"] == rows[1, k, "SLA"]["loss"]
        for key in ("risk", "loss"):
            cell = rows[2, k, "SLA"]
            assert 0 < cell[f"{key}_low"] <= cell[key] <= cell[f"{key}_high"] < 1
        assert rows[2, k, "SLA"]["risk"] <= 1 / k


def test_the_individuals() -> None:
    draw = simulate(np.random.default_rng(1))
    assert len(draw.registry) == REGISTRY == 1000
    assert len(draw.survey) == SURVEY == 1850
    assert len(draw.linked) == COMMON == 500
    assert np.array_equal(draw.linked, draw.registry[-COMMON:])
    names = list(draw.hierarchies)
    mandarin = draw.hierarchies["Language"].positions["7104 Mandarin"]
    chinese = draw.hierarchies["Ethnicity"].positions["6101 Chinese"]
    everybody = np.concatenate([draw.registry, draw.survey])
    speakers = everybody[everybody[:, names.index("Language")] == mandarin]
    assert (speakers[:, names.index("Ethnicity")] == chinese).mean() > 0.8


def test_the_languages_of_a_community_add_up() -> None:
    assert {sum(spoken.values()) for _, _, spoken in COMMUNITIES} == {100}


def test_a_seed_repeats_itself_and_another_differs() -> None:
    one, same, other = (
        lu_sinnott_verspoor_2017(repetitions=1, seed=seed).to_json() for seed in (5, 5, 6)
    )
    assert one == same
    assert one != other


def test_numbers_out_of_range_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="repetitions"):
        lu_sinnott_verspoor_2017(repetitions=0)
    with pytest.raises(InputError, match="seed"):
        lu_sinnott_verspoor_2017(seed=-1)
    with pytest.raises(InputError, match="folder"):
        lu_sinnott_verspoor_2017(tmp_path)
