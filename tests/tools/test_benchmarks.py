"""Benchmarks measure the memory of the work alone, and look for persons where they stand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from sfumato.risk.population.estimator_protocol import SampleClasses

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
HELD, WORK, MOST = 400, 100, 250
"""MiB that are held before or around the work, that it takes, and that it may be said to take."""
MIB = 2**20


def run(code: str) -> list[str]:
    """What a program in the folder of the benchmarks prints, in words."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=BENCHMARKS, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def test_the_peak_of_a_block() -> None:
    """What was freed before it does not count."""
    block = f"with PeakMemory() as memory: bytearray({WORK * MIB})"
    said = "print(memory.most, memory.growth)"
    code = f"from timing import PeakMemory\nbytearray({HELD * MIB})\n{block}\n{said}"
    most, growth = map(int, run(code))
    assert 0.9 * WORK * MIB <= growth <= most <= MOST * MIB


def test_the_peak_of_a_command() -> None:
    """What the program holds that starts it does not count."""
    command = f"[sys.executable, '-c', 'bytearray({WORK * MIB})']"
    held = f"held = bytearray({HELD * MIB})"
    code = f"import sys\nfrom timing import usage\n{held}\nprint(usage({command}).peak)"
    (peak,) = map(int, run(code))
    assert WORK * MIB <= peak <= MOST * MIB


def test_the_copula_of_a_known_correlation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the rectangles of scipy's distribution, at the correlation that was drawn."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from record_peers import copula

    whole = multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]])
    cuts = [-np.inf, -1, 0, 0.7, np.inf], [-np.inf, -0.5, 0.5, np.inf]
    drawn = whole.rvs(40_000, random_state=1)
    codes = [np.digitize(each, ends[1:-1]) for each, ends in zip(drawn.T, cuts, strict=True)]
    keys, sizes = np.unique(np.column_stack(codes), axis=0, return_counts=True)
    found = copula(SampleClasses(sizes, 10**6, keys, (4, 3)), np.random.default_rng(1))
    for (a, b), chance in zip(keys.tolist(), found.tolist(), strict=True):
        low, high = [cuts[0][a], cuts[1][b]], [cuts[0][a + 1], cuts[1][b + 1]]
        assert chance == pytest.approx(whole.cdf(high, lower_limit=low), rel=0.08)


def test_the_area_under_the_curve_counts_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from population import area_under_curve

    chance, true = np.array([0.1, 0.5, 0.5, 0.9, 0.5]), np.array([False, True, False, True, True])
    pairs = [(a, b) for a in chance[true] for b in chance[~true]]
    expected = np.mean([(a > b) + (a == b) / 2 for a, b in pairs])
    assert area_under_curve(chance, true) == pytest.approx(expected)
    assert area_under_curve(chance, true | True) is None


@pytest.mark.slow
def test_the_parts_of_a_run(tmp_path: Path) -> None:
    """Each in a process of its own; one that fails ends the run."""
    part = tmp_path / "part.py"
    part.write_text(
        "import resource, sys\n"
        f"held = bytearray(int(sys.argv[1]) * {MIB})\n"
        "print('peak', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)\n"
    )
    parts = {name: [str(part), str(size)] for name, size in (("first", HELD), ("then", WORK))}
    parts["last"] = [str(part), "much"]
    code = f"import run, sys\nrun.PARTS = {parts}\nsys.argv[1:] = ['first', 'then']\nrun.main()"
    words = run(code)
    first, then = (int(words[at + 1]) for at, word in enumerate(words) if word == "peak")
    assert first >= HELD * MIB
    assert WORK * MIB <= then <= MOST * MIB
    done = subprocess.run(
        [sys.executable, "-c", code.replace("'first', 'then'", "'last', 'then'")],
        cwd=BENCHMARKS, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "peak" not in done.stdout


@pytest.mark.slow
def test_the_reader_of_random_series_looks_where_a_file_has_a_person() -> None:
    """Pay of 99, which one file has in steps of 20: 80, in a class whose range begins below 0."""
    as_it_is = "[({'pay': '62-103'}, ('C0',)), ({'pay': '62-103'}, ('C2',))]"
    in_steps = "[({'pay': '-5 to 84'}, (code,)) for code in ('C0', 'C2', 'C2')]"
    beside = "[({'pay': '95-184'}, ('C2',))]"
    files = (
        f"[File({as_it_is}, {{'P': {{'pay': 99}}}}, 2), "
        f"File({in_steps} + {beside}, {{'P': {{'pay': 80}}}}, 3)]"
    )
    code = f"from random_series import File, candidates\nprint(*candidates({files}, 'P'))"
    assert run(code) == ["2", "3"]
