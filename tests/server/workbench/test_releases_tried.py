"""What the place Release computes: dots, samples, class sizes, and analyses against naive ones."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t
from server.workbench.conftest import project
from server.workbench.workbenches import workbench

from sfumato.core.errors import InputError, SfumatoError
from sfumato.pipeline.project_folder import RELEASE, open_project
from sfumato.pipeline.run import run
from sfumato.server.workbench import analysis_view, release_dots, release_view
from sfumato.server.workbench.bench import ROUGH, SAMPLE, Bench
from sfumato.server.workbench.column_figures import FEWEST
from sfumato.server.workbench.project_edits import ProjectEdits


class Told:
    """A job that keeps what it is told."""

    def __init__(self, before: list[dict[str, Any]], revision: str) -> None:
        self.before, self.lines, self.revision = before, [*before], revision

    def tell(self, line: dict[str, Any]) -> None:
        self.lines.append(line)

    def progress(self, _stage: str, _share: float) -> None:
        pass


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("tried") / "project", 60)


def searched(file: Path, before: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> Told:
    monkeypatch.setattr(release_dots, "PEOPLE", (5, 2, 50))
    place = open_project(file)
    job = Told(before, release_dots.dots_key(place))
    release_dots.search(place, {"first": [3]}, job)  # type: ignore[arg-type]
    return job


def test_dots_are_measured_of_their_promise_and_go_on(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = searched(file, [], monkeypatch)
    dots = release_dots.best_known(release_dots.dots_in(whole.lines))
    assert [each.people for each in dots] == [2, 3, 5, 50]
    assert {each.kind for each in dots} == {ROUGH}
    for each in dots:
        # Of k people who look alike each is found with a chance of at most 1 / k.
        assert each.stranger is not None
        assert each.stranger <= 1 / each.people + 1e-9
    assert [each.lost for each in dots] == sorted(each.lost for each in dots)
    again = searched(file, whole.lines[:2], monkeypatch)
    assert again.lines == whole.lines


@pytest.mark.parametrize("when", ["before", "after one"])
def test_a_search_ends_where_the_project_changes(tmp_path: Path, when: str) -> None:
    file = project(tmp_path / "project", 20)
    place = open_project(file)
    job, tell = Told([], release_dots.dots_key(place)), Told.tell

    def changed(line: dict[str, Any] | None = None) -> None:
        if line is not None:
            tell(job, line)
        text = file.read_text().replace("\n[release]", "\n[release]\nh_affiliation = 0.9", 1)
        file.write_text(text)

    if when == "before":
        changed()
    else:
        job.tell = changed  # type: ignore[method-assign]
    with pytest.raises(InputError, match="must stay as it was"):
        release_dots.search(place, {}, job)  # type: ignore[arg-type]
    assert len(job.lines) == (0 if when == "before" else 1)


def test_a_small_file_is_no_sample(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert release_view.sampled(Bench(file))[1] is False
    sample_of = release_dots.sample_of
    monkeypatch.setattr(release_dots, "sample_of", lambda table: sample_of(table, 30))
    table, is_sample = release_view.sampled(Bench(file))
    assert is_sample
    assert table.records < 60


def test_what_no_release_keeps_is_a_dot_that_says_why(file: Path) -> None:
    place = open_project(file)
    table = release_dots.opened(place)
    dot = release_dots._dot(place, table, table.persons + 1, ROUGH, lambda _stage, _share: None)
    assert dot.failed
    assert dot.stranger is None
    search = release_view.Search(None, [dot], others=False)
    assert search.impossible is dot


def test_a_sample_holds_people_whole(file: Path) -> None:
    table = release_dots.opened(open_project(file))
    some = release_dots.sample_of(table, 30)
    assert 30 <= some.records < 30 + 3
    whole = np.bincount(table.person)
    assert release_dots.sample_of(table, 30).source.equals(some.source)
    ids = some.source.column("patient").to_pylist()
    original = table.source.column("patient").to_pylist()
    assert all(ids.count(each) == original.count(each) for each in set(ids))
    assert release_dots.sample_of(table) is table
    assert whole.sum() == table.records


def test_of_two_dots_of_a_promise_that_of_all_records_counts() -> None:
    def dot(people: int, kind: str) -> release_dots.Dot:
        return release_dots.Dot(people, kind, {}, "", 0.1, 1)

    dots = [dot(5, SAMPLE), dot(5, ROUGH), dot(3, SAMPLE), dot(9, ROUGH)]
    known = release_dots.best_known(dots)
    assert [(each.people, each.kind) for each in known] == [(3, SAMPLE), (5, ROUGH), (9, ROUGH)]
    assert [each.people for each in release_dots.between(known, 7)] == [5, 9]


def test_dots_rest_on_all_but_the_number_that_is_searched(tmp_path: Path) -> None:
    file = project(tmp_path / "project", 20)
    bench, text = Bench(file), file.read_text()
    key = release_dots.dots_key(bench.place)
    changes = {
        "\n[release]\npid_k = 7": True,
        "\n[release]\nh_affiliation = 0.9": False,
    }
    for change, same in changes.items():
        file.write_text(text.replace("\n[release]", change))
        assert (release_dots.dots_key(bench.place) == key) is same
    file.write_text(text)
    (tmp_path / "project" / "visits.csv").write_text("patient,zip\n1,2\n")
    assert release_dots.dots_key(bench.place) != key


@pytest.mark.parametrize("asked", ['register = "visits.csv"', "population = 5000"])
def test_what_cannot_be_tried_is_said_before_the_click(tmp_path: Path, asked: str) -> None:
    made = project(tmp_path / "project", 20)
    assert release_dots.why_not(open_project(made)) is None
    made.write_text(made.read_text().replace("\n[release]", f"\n[release]\n{asked}", 1))
    why = release_dots.why_not(open_project(made))
    assert why is not None
    with pytest.raises(SfumatoError, match=re.escape(why)):
        release_dots.opened(open_project(made))


def test_what_binds_the_recipient_sets_the_limits(tmp_path: Path) -> None:
    made = project(tmp_path / "project", 20)
    with workbench(tmp_path, [made]) as bench:
        cookie = bench.enter()
        for said, limits in (("Contract 17 forbids it.", "contract"), (" ", "public")):
            shown = bench.ask("/release", cookie=cookie)[2].decode()
            form = {"controls": said, "expected": ProjectEdits(made).sha()}
            bench.ask("/release/controls", "POST", urlencode(form), cookie=cookie)
            assert f"Limits: {limits} (" not in shown
            assert 'href="/release/analysis"' in shown  # nothing was tried
            assert open_project(made).project.judged_by.preset == limits
            assert open_project(made).project.about.controls == (said.strip() or None)
        # The page that answered a form can be loaded again.
        status, headers, _body = bench.ask("/release/controls", cookie=cookie)
        assert (status, headers["Location"]) == (302, "/release")


def test_the_release_itself_is_analysed_as_its_file_says(tmp_path: Path) -> None:
    made = project(tmp_path / "project", 60)
    text = made.read_text().replace("promise_limits = true", "pid_k = 3")
    made.write_text(re.sub(r"\n\[attack\].*?(?=\n\[|\Z)", "\n", text, flags=re.DOTALL))
    place = open_project(made)
    run(place, until=RELEASE)
    with (place.of_stage(RELEASE) / "release.csv").open() as file:
        rows = list(csv.DictReader(file))
    cells = analysis_view.made(place)
    found = {each.label: each for each in analysis_view.means(cells, "charge", "sex")}
    assert {row["sex"] for row in rows} == set(found)
    for sex, estimate in found.items():
        own = [row for row in rows if row["sex"] == sex]
        assert estimate.people == len({row["patient"] for row in own})
        assert estimate.value == pytest.approx(sum(float(row["charge"]) for row in own) / len(own))
    with pytest.raises(InputError) as refused:
        analysis_view.means(cells, "given_name", "sex")
    assert "role" in refused.value.advice


def test_large_figures_of_an_analysis_are_read_without_an_exponent() -> None:
    shown = analysis_view._text(analysis_view.Estimate("a", 16140.0, 15110.0, 17160.0, 20))
    assert re.findall(r"[\d,.e+]+", shown) == ["16,140", "15,110", "17,160"]


@given(
    persons=st.lists(st.sampled_from([2, 6, 12, 30, 60]), min_size=1, max_size=60),
)
def test_small_counts_of_classes_are_hidden_with_what_would_tell_them(
    persons: list[int],
) -> None:
    classes = SimpleNamespace(own_classes=lambda: SimpleNamespace(persons=np.array(persons)))
    shown = release_view.class_sizes(SimpleNamespace(risk=classes))  # type: ignore[arg-type]
    counts = [text for _size, text in shown]
    true = [persons.count(each) for each in (2, 6, 12, 30, 60)]
    hidden = [count for count, text in zip(true, counts, strict=True) if text == "…"]
    for count, text in zip(true, counts, strict=True):
        assert text in ("…", f"{count:,}")
        assert text == "…" or not 0 < count < FEWEST
    # The number of all classes is known: one hidden count would be the rest.
    assert len(hidden) != 1 or sum(true) == hidden[0]


def cells(rows: list[tuple[int, float, str]]) -> analysis_view.Cells:
    columns = {
        "y": [repr(each[1]) for each in rows],
        "x": [f"{10 * int(each[1])} to {10 * int(each[1]) + 9}" for each in rows],
        "g": [each[2] for each in rows],
    }
    person = np.array([each[0] for each in rows])
    return analysis_view.Cells(person, lambda name: list(columns[name]))


ROWS = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.floats(-50, 50).map(lambda each: round(each, 2)),
        st.sampled_from("abc"),
    ),
    min_size=8,
    max_size=40,
)


@settings(max_examples=30, deadline=None)
@given(rows=ROWS)
def test_means_and_their_intervals_are_those_of_a_naive_sum(
    rows: list[tuple[int, float, str]],
) -> None:
    for found in analysis_view.means(cells(rows), "y", "g"):
        own = [(who, value) for who, value, group in rows if group == found.label]
        people = {who for who, _value in own}
        if len(people) < FEWEST:
            assert found.value is None
            continue
        mean = sum(value for _who, value in own) / len(own)
        off = sum(
            sum(value - mean for who, value in own if who == person) ** 2 for person in people
        )
        error = np.sqrt(off * len(people) / (len(people) - 1)) / len(own)
        half = t.ppf(0.975, len(people) - 1) * error
        assert found.people == len(people)
        assert (found.value, found.low, found.high) == pytest.approx(
            (mean, mean - half, mean + half), abs=1e-6
        )


@settings(max_examples=30, deadline=None)
@given(rows=ROWS)
def test_people_in_groups_are_counted_once(rows: list[tuple[int, float, str]]) -> None:
    for found in analysis_view.counted(cells(rows), "g"):
        people = {who for who, _value, group in rows if group == found.label}
        assert found.value in (None, len(people))
        assert found.value is None or len(people) >= FEWEST


def test_a_regression_finds_what_the_values_were_made_of() -> None:
    rng = np.random.default_rng(8)
    groups = rng.choice(["a", "b"], 300, p=[0.7, 0.3]).tolist()
    rows = [(at // 2, float(rng.integers(0, 90)), groups[at // 2]) for at in range(600)]
    values = {
        "y": [
            repr(2.0 + 0.5 * (10 * int(x) + 4.5) + (3.0 if g == "b" else 0.0) + rng.normal())
            for _who, x, g in rows
        ]
    }
    base = cells(rows)
    made = analysis_view.Cells(base.person, lambda name: values.get(name) or base.texts(name))
    found = {each.label: each for each in analysis_view.regression(made, "y", ["x", "g"])}
    for label, truth in (("constant", 2.0), ("x", 0.5), ("g: b", 3.0)):
        estimate = found[label]
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < truth < estimate.high
        assert estimate.high - estimate.low < 2


def test_a_regression_tells_nothing_of_few_people() -> None:
    rows = [(at, float(at % 40), "ab"[at % 2]) for at in range(80)]
    for few in (
        [*rows, *((80 + at, 1.0, "c") for at in range(FEWEST - 1))],
        [(at, 20.0 if at > 3 else 30.0, "ab"[at % 2]) for at in range(80)],
    ):
        assert all(each.value is None for each in analysis_view.regression(cells(few), "y", "xg"))
    assert all(each.value is not None for each in analysis_view.regression(cells(rows), "y", "xg"))


def regressed(pairs: list[tuple[str | None, str | None, int]]) -> list[analysis_view.Estimate]:
    """A regression of y on x, each pair of them of as many people."""
    rows = [(x, y, at) for x, y, people in pairs for at in range(people)]
    columns = {
        "x": [x for x, _y, _at in rows],
        "y": [None if y is None else repr(float(y) + at % 7) for _x, y, at in rows],
    }
    made = analysis_view.Cells(np.arange(len(rows)), lambda name: columns[name])
    return analysis_view.regression(made, "y", ["x"])


def test_few_people_of_a_number_are_those_that_the_regression_uses() -> None:
    for few in (
        [("0", None, 57), ("0", "1", FEWEST - 2), ("1", "2", 40)],
        [(None, "1", 49), ("0", "1", 48), ("1", "2", FEWEST - 2)],
    ):
        assert all(each.value is None for each in regressed(few))
    for many in ([("0", "1", 60), ("1", "2", 40)], [(f"{x}", f"{x}", 1) for x in range(90)]):
        assert all(each.value is not None for each in regressed(many))


def test_the_commoner_of_two_numbers_is_not_of_few_people() -> None:
    # Records count for what is commonest, people for what is told of them.
    person = np.array([0] * 60 + [*range(1, 41)])
    columns = {"x": ["0"] * 60 + ["1"] * 40, "y": [repr(at % 7) for at in range(100)]}
    made = analysis_view.Cells(person, lambda name: columns[name])
    assert all(each.value is None for each in analysis_view.regression(made, "y", ["x"]))


def test_a_column_of_many_groups_is_not_tabled() -> None:
    many = analysis_view.Cells(np.arange(90), lambda _name: [str(at) for at in range(90)])
    with pytest.raises(InputError, match="at most 24 groups"):
        analysis_view.counted(many, "id")
