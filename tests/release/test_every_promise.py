"""Every promise of a manifest is one that was measured again on what is released."""

import json
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first
from oracles.holders import holders
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.project_model import Release as ReleaseSection
from sfumato.pipeline.run import run
from sfumato.release.promises import PROMISES
from sfumato.release.promises.promise import strictest
from sfumato.release.release_manifest import load_manifest
from sfumato.schema.roles import dump_schema

PEOPLE, CODES = 48, ("a", "b", "c")
GIVEN = {
    "g_balance": ({"g": 0.5}, {"g": 0.7}),
    "h_affiliation": ({"h": 0.9}, {"h": 0.75}),
    "k": ({"k": 3}, {"k": 8}),
    "pid_k": ({"k": 2}, {"k": 5}),
    "l": ({"l": 2}, {"l": 3}),
    "marketer": ({"tau": 0.3}, {"tau": 0.15}),
    "shared_counts": ({"m": 2}, {"m": 3}),
    "t_closeness": ({"t": 0.5}, {"t": 0.3}),
    "known_events": ({"known": "2:0.5", "p95": 0.9}, {"known": "2:0.4", "p95": 0.8}),
    "household_k": ({"k": 2}, {"k": 3}),
    "presence": ({"low": 0.1, "high": 0.9}, {"low": 0.2, "high": 0.8}),
    "k_map": ({"k": 2}, {"k": 4}),
    "population_uniques": ({"share": 0.5}, {"share": 0.1}),
}
"""By promise, its parameters and stricter ones."""


PERSON = np.repeat(np.arange(PEOPLE), 2)
DATA = pd.DataFrame(
    {
        "person": PERSON,
        "home": PERSON // 2,
        "age": PERSON // 2 % 6 * 10 + 20,
        "code": [CODES[each % 3] for each in range(2 * PEOPLE)],
    }
)
REGISTER = pd.concat([DATA, DATA.assign(person=PERSON + 1000)]).drop_duplicates("person")
SCHEMA = sf.Schema(
    person="person",
    household="home",
    quasi_identifiers=["age"],
    sensitive=["code"],
    events={"code": {}},
)


def made(name, place):
    return PROMISES[name](**GIVEN[name][place])


def known(release, m):
    """By person, the chances to be found and learned of by sets of m of its events.

    From the released cells, and from whose they are where the release says it: nobody has several
    pseudonyms where it does not.
    """
    rows = getattr(release, "source_rows", None)
    owners = release.data["person"] if rows is None else PERSON[rows]
    classes = defaultdict(lambda: (defaultdict(list), defaultdict(list), defaultdict(set)))
    for row, owner in zip(release.data.astype(str).itertuples(), owners, strict=True):
        ids, own, whose = classes[row.age]
        ids[row.person].append(row.code)
        own[owner].append(row.code)
        whose[owner].add(row.person)
    found = []
    for ids, own, whose in classes.values():
        several, told = any(len(each) > 1 for each in whose.values()), {}
        for target, codes in own.items():
            key = target if several else tuple(sorted(codes))  # who shows the same is told alike
            if key not in told:
                owner = {"target": whose[target], "nobody": {-1, -2} if several else {-1}}
                sets = combinations([(one, one) for one in sorted(codes)], min(m, len(codes)))
                told[key] = [holders(ids, owner, each, {"*"}) for each in sets]
            found.append(told[key])
    return found


def keeps_known(promise, release):
    """Whether known events find and tell as rarely as is promised, counted one by one."""
    for m in range(1, promise.m + 1):
        over = np.max if promise.k else np.mean
        each = np.array([over(sets, axis=0) for sets in known(release, m)])
        chances = each[:, 1 if promise.of == "learned" else 0]
        reached = chances.max() if promise.k else chances.mean()
        p95 = 0 if promise.k else np.quantile(chances, 0.95, method="inverted_cdf")
        if reached > promise.risk + 1e-9 or p95 > promise.p95 + 1e-9:
            return False
    return True


def counts_of(release):
    """By class, its people with their records and codes, from the released file alone."""
    classes = defaultdict(lambda: defaultdict(list))
    for row in release.data.astype(str).itertuples():
        classes[row.age][row.person].append(row.code)
    return classes


def naive(promise, release):
    """Whether the released file keeps a promise, in plain Python; ``None`` for what it lacks."""
    classes = list(counts_of(release).values())
    people = sum(map(len, classes))
    records = [[len(each) for each in one.values()] for one in classes]
    shown = Counter(code for one in classes for own in one.values() for code in own)

    def distance(one):
        own = Counter(code for each in one.values() for code in each)
        return sum(abs(own[code] / own.total() - shown[code] / shown.total()) for code in shown) / 2

    match promise.name:
        case "g_balance":
            return all(
                1 - sum((each / sum(own)) ** 2 for each in own) >= promise.g - 1e-9
                for own in records
            )
        case "h_affiliation":
            return all(
                sum(code in own for own in one.values()) <= promise.h * len(one) + 1e-9
                for one in classes
                for code in CODES
            )
        case "k":
            return all(sum(own) >= promise.k for own in records)
        case "pid_k" | "k_map":
            return all(len(own) >= promise.k for own in records)
        case "l":
            return all(
                len({c for own in one.values() for c in own}) >= promise.l for one in classes
            )
        case "marketer":
            return len(classes) <= promise.tau * people + 1e-9
        case "shared_counts":
            return all(min(Counter(own).values()) >= promise.m for own in records)
        case "t_closeness":
            return all(distance(one) <= promise.t + 1e-9 for one in classes)
        case "population_uniques":
            return sum(len(one) == 1 for one in classes) <= promise.share * people
        case "known_events":
            return keeps_known(promise, release)
    return None


def pairs():
    names = sorted(GIVEN)
    for one, other in product(names, names):
        for place in (0, 1):
            yield one, place, other, 1 - place if one == other else place


def released(one, other):
    """The release under two promises; ``None`` where they are refused before work."""
    promises = (one, other)
    about = {each.name for each in promises}
    beside = {}
    if "presence" in about:
        beside = {"register": REGISTER, "effort": 0, "ends": "tight"}
    try:
        return sf.anonymize(DATA, SCHEMA, *promises, seed=1, **({"effort": 0} | beside))
    except (sf.InputError, sf.ConstraintsNotMetError):
        return None


def check_pair(one, place, other, beside):
    """Whether a release was made; its promises were measured again if so."""
    promises = made(one, place), made(other, beside)
    release = released(*promises)
    if release is None:
        assert {one, other} & {"household_k", "presence"}, (one, other)
        return False
    assert release.constraints == release.manifest.constraints == strictest(promises)
    if one == other:
        assert release.constraints == (made(one, 1),)
    for promise in release.constraints:
        if release.population is None:
            assert naive(promise, release) is not False, (promise, one, other)
    return True


@pytest.mark.parametrize("place", fast_first(1, [0, 1]))
def test_a_promise_given_twice_is_the_stricter_one(place):
    assert all(check_pair(name, place, name, 1 - place) for name in GIVEN)


@pytest.mark.parametrize("other", fast_first(1, ["known_events", "household_k", "presence"]))
def test_what_is_kept_beside_classes_goes_with_every_promise(other):
    assert sum([check_pair(name, 0, other, 0) for name in GIVEN if name != other]) > 5


@pytest.mark.slow
@pytest.mark.parametrize("first", sorted(GIVEN))
def test_every_pair_of_promises_is_measured_again(first):
    assert sum([check_pair(*each) for each in pairs() if each[0] == first]) > 9


def test_the_stricter_of_two_known_events_holds_in_either_order():
    lax, strict = sf.KnownEvents(2, 0.46, p95=0.9), sf.KnownEvents(2, 0.4, p95=0.8)
    for several in ((lax, strict), (strict, lax)):
        release = sf.anonymize(DATA, SCHEMA, sf.PidKAnonymity(2), *several, seed=1, effort=0)
        assert release.manifest.constraints == (sf.PidKAnonymity(2), strict)
        assert strict.reached(release.risk)[0] <= 0.4


@pytest.mark.parametrize(
    ("promise", "measure"),
    [
        (sf.KnownEvents(2, k=3), "highest"),
        (sf.KnownEvents(1, 0.3, p95=0.3, of="learned"), "p95_learned"),
        (sf.KnownEvents(2, 0.4, p95=0.45, of="learned"), "p95_learned"),
        (sf.KnownEvents(2, 0.4, p95=0.4), "p95_with_m"),
    ],
)
def test_known_events_are_measured_again(promise, measure):
    release = sf.anonymize(DATA, SCHEMA, sf.PidKAnonymity(2), promise, seed=1, effort=0)
    assert naive(promise, release)
    own = release.risk.known_events
    for persons in (own.persons, 7):  # all of them, or some that were drawn
        worse = {measure: sf.Measure(measure, 1.0), "persons": persons}
        risks = tuple(replace(each, **worse) for each in own.risks)
        with pytest.raises(sf.SfumatoError, match="known_events"):
            replace(release, risk=replace(release.risk, known_events=replace(own, risks=risks)))


PROJECT = """
[project]
name = "codes"
seed = 1

[sources.codes]
file = "data.csv"

[schema]
person = "person"
household = "home"
sensitive = ["code"]

[schema.quasi_identifiers]
age = "numeric"

[schema.events]
code = {{ kind = "code" }}

[release]
{keys}
effort = 0

[ledger]
remember = false

[outputs]
formats = ["csv"]
report = "json"
"""


@pytest.mark.parametrize(
    "keys",
    [
        {"pid_k": 3, "known_events": "2:k3"},
        {"known_events": "2:0.3", "known_events_p95": 0.5, "known_events_of": "learned"},
        {"l": 2, "h_affiliation": 0.75, "known_events": "2:0.3", "known_events_p95": 0.4},
    ],
)
def test_what_a_project_releases_keeps_its_promises(keys, tmp_path):
    lines = "\n".join(f"{key} = {json.dumps(value)}" for key, value in keys.items())
    (tmp_path / "sfumato.toml").write_text(PROJECT.format(keys=lines), encoding="utf-8")
    DATA.to_csv(tmp_path / "data.csv", index=False)
    assert run(open_project(tmp_path)).is_done
    made = tmp_path / "output"
    released = SimpleNamespace(data=pd.read_csv(made / "release" / "release.csv"))
    promises = load_manifest(made / "reports" / "release.toml").constraints
    assert promises == ReleaseSection(**keys).promises
    assert all(naive(each, released) for each in promises)


@pytest.mark.parametrize(
    ("one", "other", "left"),
    [
        (sf.KnownEvents(2, 0.2), sf.KnownEvents(1, 0.3), 1),
        (sf.KnownEvents(2, 0.2), sf.KnownEvents(1, 0.1), 2),
        (sf.KnownEvents(2, 0.2, p95=0.5), sf.KnownEvents(2, 0.3, p95=0.4), 2),
        (sf.KnownEvents(2, 0.2), sf.KnownEvents(2, 0.2, of="learned"), 1),
        (sf.KnownEvents(2, k=5), sf.KnownEvents(2, 0.2), 1),
        (sf.KnownEvents(2, k=5), sf.KnownEvents(2, 0.1), 2),
        (sf.KnownEvents(1, k=5), sf.KnownEvents(2, k=3), 2),
        (sf.DeltaPresence(0.1, 0.5), sf.DeltaPresence(0.0, 0.6), 1),
        (sf.DeltaPresence(0.0, 0.5), sf.DeltaPresence(0.1, 0.6), 2),
        (sf.TCloseness(0.3), sf.TCloseness(0.2, distance="ordered"), 2),
        (sf.HAffiliation(0.3), sf.HAffiliation(0.2, attribute="code"), 2),
    ],
)
def test_what_is_left_of_two(one, other, left):
    assert len(strictest([one, other])) == len(strictest([other, one])) == left
    if left == 2 and one.name == other.name == "known_events":
        for several in ((one, other), (other, one)):
            with pytest.raises(sf.InputError, match="known_events"):
                sf.anonymize(DATA, SCHEMA, *several)


def test_a_release_is_refused_that_lacks_the_measure_of_a_promise():
    release = sf.anonymize(
        DATA, SCHEMA, sf.PidKAnonymity(2), sf.KnownEvents(2, 0.5, p95=0.9), effort=0
    )
    with pytest.raises(sf.SfumatoError, match="known_events"):
        replace(release, risk=replace(release.risk, known_events=None))
    for promise in (sf.HouseholdK(40), sf.KAnonymity(10**6), sf.DeltaPresence(0.0, 0.5)):
        manifest = replace(release.manifest, constraints=(*release.constraints, promise))
        with pytest.raises(sf.SfumatoError, match=promise.name):
            replace(release, manifest=manifest)


def test_an_option_of_a_promise_is_given_once(tmp_path):
    data, schema = tmp_path / "data.csv", tmp_path / "schema.toml"
    DATA.to_csv(data, index=False)
    schema.write_text(dump_schema(SCHEMA), encoding="utf-8")
    for name in ("--known-events", "--pid-k"):
        values = ("2:0.5", "2:0.4") if name == "--known-events" else ("2", "5")
        words = ["anonymize", str(data), "--schema", str(schema), "-o", str(tmp_path / "r.csv")]
        ran = CliRunner().invoke(app, [*words, name, values[0], name, values[1]])
        assert ran.exit_code != 0
        assert not Path(tmp_path / "r.csv").exists()


def test_a_project_names_every_promise_of_its_keys():
    keys = {"known_events": "2:0.4", "pid_k": 3, "h_affiliation": 0.9, "presence_high": 0.5}
    for some in combinations(keys, 2):
        promises = ReleaseSection(**{name: keys[name] for name in some}).promises
        assert strictest(promises) == promises
        assert len(promises) == 2
