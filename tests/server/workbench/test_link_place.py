"""What Link says of a linkage, held against counts of every outcome and of every threshold."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pyarrow as pa
import pytest
from patience import wait_until
from server.workbench.workbenches import workbench

from sfumato.core.errors import InputError
from sfumato.examples import generate_clinics, generate_registrations
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, SetThresholds
from sfumato.review.review_journal import budget_of, journal_path, read_journal
from sfumato.review.review_settings import Costs, MaskWidth, Mode, Settings
from sfumato.server.workbench import charts, link_view
from sfumato.server.workbench.link_view import WORTH, errors_at, least_sure
from sfumato.server.workbench.review_view import rules_in


def _of_every_outcome(chances: list[float]) -> tuple[float, float]:
    """Mean and standard deviation of how many of some independent things happen."""
    outcomes = []
    for happens in itertools.product((0, 1), repeat=len(chances)):
        each = (c if yes else 1 - c for c, yes in zip(chances, happens, strict=True))
        outcomes.append((sum(happens), math.prod(each)))
    mean = sum(number * chance for number, chance in outcomes)
    return mean, math.sqrt(sum((number - mean) ** 2 * chance for number, chance in outcomes))


@pytest.mark.parametrize("threshold", [0.05, 0.5, 0.9, 1.0])
def test_pairs_joined_wrongly_and_missed_are_those_of_every_outcome(threshold: float) -> None:
    scores = [0.02, 0.1, 0.5, 0.5, 0.7, 0.9, 0.95, 0.99]
    found = errors_at(np.array(scores), threshold, 0.0)
    joined = [score for score in scores if score >= threshold]
    assert found.joined == len(joined)
    reach = NormalDist().inv_cdf(0.975)
    for interval, chances in (
        (found.wrong, [1 - score for score in joined]),
        (found.missed, [score for score in scores if score < threshold]),
    ):
        mean, spread = _of_every_outcome(chances)
        ends = (mean, max(0.0, mean - reach * spread), mean + reach * spread)
        assert interval == pytest.approx(ends)


def test_what_no_pair_was_compared_for_is_missed_too() -> None:
    mean, low, high = errors_at(np.array([0.5]), 0.9, 3.5).missed
    assert mean == 4.0
    assert mean - low == pytest.approx(high - mean)
    assert high - mean == pytest.approx(NormalDist().inv_cdf(0.975) * math.sqrt(3.5 + 0.25))


def _numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(r"[\d,]+(?:\.\d+)?", text)]


def test_numbers_have_two_digits_and_no_power_of_ten(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _numbers(link_view._said((123.4, 0.0, 98765.0))) == [120, 0, 99000]
    for module in (link_view, charts):
        monkeypatch.setattr(module, "_", str)  # texts need a server's settings
    held = {"value": 0.004, "low": 0.001, "high": 0.05}
    page = link_view._chart({"precision": held, "recall": {**held, "low": 0.0}})
    shown = re.findall(r"[^<>]+ % \([^<>]+", page)
    assert {tuple(_numbers(each)) for each in shown} == {(99.6, 95, 99.9), (99.6, 95, 100)}


@pytest.mark.parametrize("seed", range(5))
def test_the_least_sure_are_those_of_a_naive_search(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A person is as sure as the highest threshold that still holds their records together."""
    monkeypatch.setattr(link_view, "_", str)
    rng, records = np.random.default_rng(seed), 9
    person = np.sort(rng.integers(0, 4, records))
    every = np.array(list(itertools.combinations(range(records), 2)))
    chosen = every[rng.random(len(every)) < 0.7]
    score = rng.random(len(chosen)).round(2)
    own = person[chosen[:, 0]] == person[chosen[:, 1]]
    outside: dict[int, float] = {}
    weakest: dict[int, float] = {}
    for each in np.unique(person).tolist():
        touching = (person[chosen] == each).any(axis=1)
        outside[each] = max(score[touching & ~own], default=0.0)
        held = np.flatnonzero(person == each).tolist()
        weakest[each] = max(
            (t for t in (1.0, *score) if _are_together(held, chosen[own & (score >= t)])),
            default=0.0,
        )
    doubt = {each: max(1 - weakest[each], outside[each]) for each in outside}
    found = least_sure(_linkage(person, chosen, score))
    assert found
    first = max(doubt.values())
    assert max(1 - found[0].weakest, found[0].outside) == pytest.approx(first)
    known = {(weakest[each], outside[each]) for each in doubt if doubt[each] >= WORTH}
    assert {(each.weakest, each.outside) for each in found} <= known


def _are_together(records: list[int], pairs: Any) -> bool:
    reached = {records[0]}
    for _ in records:
        reached |= {int(each) for pair in pairs if reached & set(pair.tolist()) for each in pair}
    return reached >= set(records)


def _linkage(person: Any, pairs: Any, score: Any) -> Any:
    made = SimpleNamespace(left=pairs[:, 0], right=pairs[:, 1], score=score, levels={})
    records = SimpleNamespace(
        source_of=lambda records: np.zeros(len(records), np.int64), sources=["a"]
    )
    texts = pa.array([f"p{each}" for each in person])
    return SimpleNamespace(pairs=made, person=texts, records=records)


def test_rules_of_a_folder_are_those_of_its_form() -> None:
    form = {"k": "3", "costs": "exact", "start": "masked", "hints": "yes", "budget": "0,5"}
    given = rules_in({**form, "policy": "", "worker": "anna"})
    asked = Settings(k=3, costs=Costs.EXACT, start=Mode.MASKED, hints=True, budget=0.5)
    assert Settings(**given) == asked
    for wrong in ({"k": "0"}, {"k": "1.5"}, {"costs": "QZX"}, {"budget": "QZX"}, {"budget": "2"}):
        with pytest.raises(InputError) as refused:
            rules_in(wrong)
        assert "QZX" not in str(refused.value)


@pytest.mark.slow
@pytest.mark.usefixtures("few_random_pairs")
def test_rules_hold_from_the_first_start_on(tmp_path: Path) -> None:
    made = generate_registrations(generate_clinics(60, rng=2))
    spec = LinkSpec(
        id="patient",
        columns={"given_name": "given name", "surname": "surname", "date_of_birth": "date"},
        blocking=["surname:2", "date_of_birth:year"],
        thresholds=SetThresholds(lower=0.001, upper=0.9999),
    )
    folder = tmp_path / "linked"
    link({"hospital": made.hospital, "practice": made.practice}, spec, seed=1).write(folder)
    with workbench(tmp_path, [folder]) as bench:
        cookie = bench.enter()
        assert 'name="mask_width"' in bench.ask("/link/desk", cookie=cookie)[2].decode()
        for form in ({"k": "2", "mask_width": "fixed"}, {"k": "5", "budget": "0.4"}):
            said = urlencode({"worker": "anna", **form})
            bench.ask("/link/desk/open", "POST", said, cookie=cookie)
            wait_until(lambda: b'class="pair' in bench.ask("/link/desk", cookie=cookie)[2])
            bench.ask("/link/desk/leave", "POST", cookie=cookie)
    written = read_journal(journal_path(folder, "anna"))
    assert written is not None
    first = written.beginning.settings
    assert (first.k, first.mask_width) == (2, MaskWidth.FIXED)
    assert budget_of(written.beginning, written.entries) == 0.4
