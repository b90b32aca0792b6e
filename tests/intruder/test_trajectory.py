"""Two releases whose pseudonyms differ, joined by what the records of a person keep."""

import numpy as np
import pandas as pd
import pytest

import sfumato as sf
from sfumato.intruder.guesses.trajectory_attack import alike, unchanged
from sfumato.intruder.reading import read_release


def visits(seed, persons=150):
    """Visits with a code and a day, of persons of few kinds by their age."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(persons), rng.integers(2, 6, persons))
    day = np.datetime64("2020-01-01") + rng.integers(0, 900, len(person))
    codes = rng.choice([f"c{each}" for each in range(12)], len(person))
    age, town = rng.integers(20, 80, persons), rng.choice(["a", "b", "c"], persons)
    return pd.DataFrame(
        {
            "person": person,
            "age": age[person],
            "town": town[person],
            "code": codes,
            "day": day.astype(str),
        }
    )


def released(data, quasi, seed, k=15):
    """A release with own pseudonyms, its dates moved by an offset a person."""
    dropped = {"age", "town"} - set(quasi)
    schema = sf.Schema(
        person="person",
        quasi_identifiers=list(quasi),
        direct_identifiers=sorted(dropped),
        sensitive=["code"],
        insensitive=["day"],
    )
    offset = np.random.default_rng(seed).integers(-400, 400, data["person"].max() + 1)
    days = pd.to_timedelta(offset[data["person"]], unit="D")
    moved = (pd.to_datetime(data["day"]) + days).dt.strftime("%Y-%m-%d")
    return sf.anonymize(data.assign(day=moved), schema, sf.PidKAnonymity(k), seed=seed)


@pytest.mark.parametrize("seed", [1, 2])
def test_histories_join_what_pseudonyms_do_not(seed):
    data = visits(seed)
    first, second = released(data, ["age"], 1), released(data, ["town"], 2)
    files = [read_release(each.data, each.schema) for each in (first, second)]
    columns = unchanged(*files)
    assert [one.name for one, _ in columns] == ["code", "day"]
    joined = alike(*files, columns)
    owner = [
        dict(zip(file.unit.tolist(), data["person"].iloc[each.source_rows], strict=True))
        for file, each in zip(files, (first, second), strict=True)
    ]
    right = [owner[0][one] == owner[1][other] for one, other in joined.tolist()]
    assert len(right) > 120
    assert np.mean(right) > 0.98


def test_persons_of_other_histories_are_not_joined():
    one, other = released(visits(1), ["age"], 1), released(visits(9), ["age"], 2)
    files = [read_release(each.data, each.schema) for each in (one, other)]
    both = released(visits(1), ["town"], 3)
    same = [files[0], read_release(both.data, both.schema)]
    strangers = len(alike(*files, unchanged(*files)))
    assert strangers < len(alike(*same, unchanged(*same)))


def test_the_attack_finds_whom_neither_release_shows_alone():
    data = visits(3)
    first, second = (released(data, ["age", "town"], k, k) for k in (15, 11))
    found = sf.attack(first, priors=[second], attacks=["trajectory", "exact"], seed=1)
    outcomes = {each.attack: each for each in found.outcomes}
    assert outcomes["trajectory"].right > 1.5 * outcomes["exact_free"].right
    with pytest.raises(sf.InputError, match="needs another release"):
        sf.attack(first, attacks=["trajectory"], seed=1)
