"""An attack on all files of a series, beside loops over the rows as they were written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli.conftest import Run

import sfumato as sf
from sfumato.core.errors import InputError
from sfumato.intruder.series_attack import attack_series
from sfumato.risk.verdict import Limits

SCHEMA = sf.Schema(
    person="id", quasi_identifiers={"born": "numeric", "sex": "categorical"}, sensitive=["status"]
)
TOML = """person = "id"
sensitive = ["status"]
[quasi_identifiers]
born = "numeric"
sex = "categorical"
"""


def registry(files: int) -> list[pd.DataFrame]:
    rng, now, made = np.random.default_rng(3), pd.DataFrame(), list[pd.DataFrame]()
    for number in range(files):
        new = pd.DataFrame({"id": [f"p{number}-{each}" for each in range(30 if made else 150)]})
        new["born"] = rng.integers(1940, 2000, len(new))
        new["sex"] = rng.choice(["f", "m"], len(new))
        new["status"] = rng.choice(list("abc"), len(new))
        now = pd.concat([now[rng.random(len(now)) > 0.06], new], ignore_index=True)
        other = rng.random(len(now)) < 0.3
        now.loc[other, "status"] = rng.choice(list("abc"), int(other.sum()))
        made.append(now.copy())
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[pd.DataFrame], list]:
    place = tmp_path_factory.mktemp("series")
    files, made = registry(5), []
    for number, each in enumerate(files):
        options = {"continues": made[-1]} if made else {"series": "snapshot", "effort": 0}
        promises = () if made else (sf.PidKAnonymity(6),)
        made.append(sf.anonymize(each, SCHEMA, *promises, **options))
        own = place / f"m{number}"
        own.mkdir()
        made[-1] = made[-1].write(own / "out.csv", secret=own / "release.secret")
    (place / "schema.toml").write_text(TOML, encoding="utf-8")
    return place, files, made


def test_every_file_is_attacked_as_by_loops_over_its_rows(
    folder: tuple[Path, list[pd.DataFrame], list],
) -> None:
    place, files, made = folder
    found = attack_series(place, SCHEMA, Limits())
    tables = [pd.read_csv(place / f"m{n}/out.csv", dtype=str) for n in range(len(files))]
    rows = [
        {row.id: ((row.born, row.sex), row.status) for row in each.itertuples()} for each in tables
    ]
    came = {name: n for n in reversed(range(len(rows))) for name in rows[n]}
    # Whose pseudonym is whose: by where each row of a file stood in the original.
    owner = {}
    for data, table, release in zip(files, tables, made, strict=True):
        for name, row in zip(table["id"], release.source_rows.tolist(), strict=True):
            if row < len(data):
                owner[name] = data["id"].iloc[row]
    for n, month in enumerate(found.months):
        home = {name: (came[name], cells) for name, (cells, _) in rows[n].items()}
        sizes = Counter(home.values())
        assert month.people == len(rows[n])
        assert month.came == pytest.approx(np.mean([1 / sizes[each] for each in home.values()]))
        chances, gone = [], []
        for name, own in home.items():
            inside = [m for m in range(n + 1) if owner[name] in set(files[m]["id"])]
            alike = [other for other in home if home[other] == own]
            if max(inside) < n:
                since = range(max(inside), n + 1)
                alike = [o for o in alike if len({rows[m].get(o, ("", ""))[1] for m in since}) == 1]
                gone.append(1 / len(alike))
            chances.append(1 / len(alike))
        assert min(sizes.values()) >= 6
        assert month.fewest == round(1 / max(chances))
        assert month.person == pytest.approx(max(chances))
        assert month.left == pytest.approx(np.mean(chances))
        assert month.leavers == len(gone)
        assert month.of_leavers == (pytest.approx(np.mean(gone)) if gone else None)
    assert found.months[-1].left > found.months[-1].came
    predicted = made[-1].verdict.row("acquaintance").findings.found.value
    assert found.months[-1].left == pytest.approx(predicted, abs=0.02)
    assert found.is_above
    below = attack_series(place, SCHEMA, Limits(found=1, person=1, learned=1))
    assert (below.is_above, below.exit_code) == (False, 0)


def test_one_person_above_the_limit_is_above_as_in_the_verdict(tmp_path: Path) -> None:
    rng, people = np.random.default_rng(1), pd.DataFrame({"id": range(600)})
    people["born"] = rng.integers(1940, 2000, len(people))
    people["sex"] = rng.choice(["f", "m"], len(people))
    people["status"] = "a"
    stayed, options, release = people[5:], {"series": "snapshot", "effort": 0}, None
    for file, values in enumerate("abc"):
        # Who left keeps the last value; everybody else has another one in each file.
        now = people if release is None else stayed.assign(status=values)
        promises = () if release else (sf.PidKAnonymity(12),)
        release = sf.anonymize(now, SCHEMA, *promises, **options)
        own = tmp_path / f"m{file}"
        own.mkdir()
        release = release.write(own / "out.csv", secret=own / "release.secret")
        options = {"continues": release}
    found, row = attack_series(tmp_path, SCHEMA, Limits()), release.verdict.row("acquaintance")
    assert found.worst.left < Limits().found
    assert found.least_hidden.person == row.findings.person.value == 1
    assert found.least_hidden.fewest == 1
    assert found.is_above
    assert found.exit_code == 2
    below = attack_series(tmp_path, SCHEMA, Limits(person=1))
    assert (below.is_above, below.exit_code) == (False, 4), "what is learned is not measured"
    assert found.to_json()["limits"] == {"found": 1 / 11, "person": 1 / 11}
    assert found.to_json()["not_measured"] == ["learned"]


def test_a_page_and_a_table_say_the_same(
    folder: tuple[Path, list[pd.DataFrame], list], run: Run, tmp_path: Path
) -> None:
    place, _, _ = folder
    page = tmp_path / "series.html"
    words = ["attack", "--series", str(place), "--schema", str(place / "schema.toml")]
    assert run(*words, "--report", page).code == 2
    plain = json.loads(page.with_suffix(".json").read_text(encoding="utf-8"))
    found = attack_series(place, SCHEMA, Limits())
    assert plain["months"] == found.to_json()["months"]
    text = page.read_text(encoding="utf-8")
    assert text.count("<tr>") == 1 + len(found.months)
    assert "<svg" in text
    assert json.loads(run(*words, "--json").out)["months"] == plain["months"]
    assert len(run(*words).out.splitlines()) >= 2 + len(found.months)
    for more in (
        ["--truth", str(page)],
        [str(page)],
        ["--counts"],
        ["--same-order"],
        ["--pseudonym-key", str(page)],
        ["--secret", str(page)],
        ["--details"],
        ["--seed", "0"],
    ):
        assert run(*words, *more).code == 1


def test_a_file_of_the_series_that_is_missing_or_changed_is_refused(
    folder: tuple[Path, list[pd.DataFrame], list], tmp_path: Path
) -> None:
    place, _, _ = folder
    with pytest.raises(InputError):
        attack_series(tmp_path, SCHEMA, Limits())
    for number in (0, 2):
        for name in ("out.csv", "release.toml", "release.secret", "release.series"):
            own = tmp_path / f"m{number}"
            own.mkdir(exist_ok=True)
            (own / name).write_bytes((place / f"m{number}" / name).read_bytes())
            for kept in own.iterdir():
                kept.chmod(0o600)
    with pytest.raises(InputError):
        attack_series(tmp_path, SCHEMA, Limits())
    for each in (tmp_path / "m2").iterdir():
        each.unlink()
    (tmp_path / "m2/release.toml").write_bytes((place / "m1/release.toml").read_bytes())
    with pytest.raises(InputError):
        attack_series(tmp_path, SCHEMA, Limits())
    (tmp_path / "m2/release.toml").unlink()
    assert len(attack_series(tmp_path, SCHEMA, Limits()).months) == 1
    with (tmp_path / "m0/out.csv").open("a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(InputError):
        attack_series(tmp_path, SCHEMA, Limits())
