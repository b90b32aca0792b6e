"""Releases that keep a promise about known events, counted again on what is released alone."""

import re
from collections import Counter
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first
from oracles import histories
from oracles.holders import holders

import sfumato as sf
from sfumato.release import assembly
from sfumato.release import histories as searched

CODES = [f"{a}{b}{c}" for a in "12" for b in "0123" for c in "05"]


def visits(seed, persons=120, most=5):
    """Visits with codes, a few common and many rare, of persons with quasi-identifiers."""
    rng = np.random.default_rng(seed)
    many = rng.integers(1, most + 1, persons)
    person = np.repeat(np.arange(persons), many)
    weights = 1.0 / (1 + rng.permutation(len(CODES)))
    codes = rng.choice(CODES, len(person), p=weights / weights.sum())
    age, sex = rng.integers(20, 80, persons), rng.choice(["f", "m"], persons)
    return pd.DataFrame({"person": person, "age": age[person], "sex": sex[person], "code": codes})


def schema(code=None, **more):
    event = code or {"kind": "code", "hierarchy": {"lengths": [2, 1]}}
    return sf.Schema(
        person="person",
        quasi_identifiers=["age", "sex"],
        sensitive=["code"],
        events={"code": event},
        **more,
    )


def fewest(release, data, m):
    """Persons who share what is least shared, from the released cells."""
    new = release.data.astype(str).to_dict("records")
    old = data.iloc[release.source_rows].astype(str).to_dict("records")
    return histories.fewest_sharing(new, old, ["age", "sex"], "person", ["code"], m)


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_every_m_events_are_shared_by_k(m, seed):
    data = visits(seed)
    promises = sf.PidKAnonymity(12), sf.KnownEvents(m, k=4)
    release = sf.anonymize(data, schema(), *promises, seed=1, ends="tight")
    assert len(release.data) == len(data)
    assert fewest(release, data, m) >= 4
    assert (release.data["code"].astype(str) != "*").any()


def highest(release, data, m):
    """The largest chance to choose a pseudonym of a target by events, from the released cells."""
    new = release.data.astype(str).reset_index(drop=True)
    old = data.iloc[release.source_rows].reset_index(drop=True).astype(str)
    chances = [0.0]
    for rows in new.groupby(["age", "sex"]).groups.values():
        written = dict(zip(old["code"][rows], new["code"][rows], strict=True))
        shown = new.loc[rows].groupby("person")["code"].apply(Counter).unstack(fill_value=0)
        owner = dict(zip(new["person"][rows], old["person"][rows], strict=True))
        for target, codes in old.loc[rows].groupby("person")["code"].unique().items():
            own = np.array([owner[each] == target for each in shown.index])
            for known in (one for size in range(m) for one in combinations(codes, size + 1)):
                asked = Counter(written[each] for each in known)
                fit = np.logical_and.reduce([shown[one] >= many for one, many in asked.items()])
                if (fit & own).any():
                    chances.append((fit & own).sum() / fit.sum())
    return max(chances)


@pytest.mark.parametrize(("m", "k", "width"), [(1, 3, 3), (2, 3, 3), (2, 5, 6), (3, 3, 4)])
@pytest.mark.parametrize("heavy", [False, True])
def test_nobody_is_found_with_a_chance_above_one_in_k(m, k, width, heavy):
    data = visits(1, 60, 5)
    if heavy:  # a few persons have most of the records
        data = data.loc[(data["person"] % 6 == 0) | ~data["person"].duplicated()]
    promises = sf.PidKAnonymity(width), sf.KnownEvents(m, k=k)
    release = sf.anonymize(data, schema(), *promises, seed=1, effort=0, ends="tight")
    counted = highest(release, data, m)
    assert counted <= 1 / k + 1e-9
    assert promises[1].reached(release.risk)[0] == pytest.approx(counted)


@pytest.mark.parametrize(
    ("m", "of", "persons", "most"),
    fast_first(
        2,
        [
            (1, "found", 250, 5),
            (2, "found", 250, 5),
            (3, "found", 250, 5),
            (3, "found", 90, 9),  # most sets of three are not looked at, and all are counted here
            (2, "learned", 250, 5),
        ],
        tuples=True,
    ),
)
def test_the_mean_chance_is_at_most_the_risk(m, of, persons, most):
    data = visits(5, persons, most)
    promise = sf.KnownEvents(m, 0.12, p95=0.5, of=of)
    release = sf.anonymize(data, schema(), sf.PidKAnonymity(3), promise, seed=1)
    new = release.data.astype(str)
    old = data.iloc[release.source_rows].reset_index(drop=True).astype(str)
    keys = new["age"] + "|" + new["sex"]
    total, persons = 0.0, 0
    for rows in new.groupby(keys).groups.values():
        codes = {code: place for place, code in enumerate(sorted(set(old["code"][rows])))}
        labels = [""] * len(codes)
        units = {}
        for row in rows:
            labels[codes[old["code"][row]]] = new["code"][row]
            unit = units.setdefault(new["person"][row], {})
            unit[codes[old["code"][row]]] = unit.get(codes[old["code"][row]], 0) + 1
        found = histories.unit_risks([[*unit.items()] for unit in units.values()], labels, m)
        total, persons = total + sum(found), persons + len(found)
    if of == "found":
        assert total / persons <= 0.12
    else:
        assert total / persons > 0.12
    assert (new["code"] == old["code"]).mean() > 0.1


def learned(release, data, m):
    """The mean chance to learn by m events of a person, from the released cells."""
    new = release.data.astype(str).reset_index(drop=True)
    old = data.iloc[release.source_rows].reset_index(drop=True).astype(str)
    chances = []
    for rows in new.groupby(["age", "sex"]).groups.values():
        ids = new.loc[rows].groupby("person")["code"].apply(list).to_dict()
        written = dict(zip(old["code"][rows], new["code"][rows], strict=True))
        place = {label: at for at, label in enumerate(sorted({*written.values()}))}
        ids = {one: [place[label] for label in shown] for one, shown in ids.items()}
        silent = {place["*"]} if "*" in place else set()
        for target in old["person"][rows].unique():
            own = old["person"][rows] == target
            known = [place[written[code]] for code in sorted(set(old["code"][rows][own]))]
            owner = {"target": set(new["person"][rows][own]), "nobody": {-1, -2}}
            sets = [*combinations([(one, one) for one in known], min(m, len(known)))]
            found = [holders(ids, owner, each, silent)[1] for each in sets]
            chances.append(np.mean(found))
    return float(np.mean(chances))


@pytest.mark.slow
def test_several_pseudonyms_hide_what_is_beside_and_are_counted_as_a_reader_meets_them(tmp_path):
    data = visits(5, 400, 6)
    promises = sf.PidKAnonymity(3), sf.KnownEvents(2, 0.09, p95=0.5, of="learned")
    whole = sf.anonymize(data, schema(), *promises, seed=1, techniques="roll-up,suppress-cells")
    release = sf.anonymize(
        data, schema(), *promises, seed=1, techniques="roll-up,suppress-cells,split-pseudonyms"
    )
    assert len(release.data) == len(data)
    assert release.data["person"].nunique() > data["person"].nunique()
    for m in (1, 2):
        counted = learned(release, data, m)
        assert counted <= 0.09
        assert release.risk.known_events.of(m).learned.value == pytest.approx(counted)
    assert release.utility.histories.kept > whole.utility.histories.kept
    several = release.utility.histories.divided
    persons = data["person"].iloc[release.source_rows].to_numpy()
    assert several == (release.data.groupby(persons)["person"].nunique() > 1).sum() > 0
    assert "have several" in release.codebook()
    page = sf.report(release, tmp_path / "report.html").read_text(encoding="utf-8")
    assert re.search(f"events of {several} people", page)
    assert "may have several" in page
    assert whole.utility.histories.divided == 0


@pytest.mark.parametrize("p95", fast_first(1, [0.2, 0.25]))
def test_more_is_kept_where_the_percentile_is_paid_for_beside_the_mean(p95, monkeypatch):
    data, kept = visits(1, persons=800, most=12), []
    promises = sf.PidKAnonymity(40), sf.KnownEvents(2, 0.15, p95=p95, of="learned")
    for _ in range(2):
        release = sf.anonymize(
            data,
            schema(),
            *promises,
            seed=1,
            ends="tight",
            techniques="suppress-cells,split-pseudonyms",
        )
        kept.append(release.utility.histories.kept)
        monkeypatch.setattr(searched._Search, "_is_near", lambda *_: False)
    assert kept[0] > kept[1]


@pytest.mark.slow
def test_widths_tried_on_a_part_of_a_file_lose_little_more_than_those_tried_on_all(monkeypatch):
    data, lost = visits(3, 1200, 6), []
    for _ in range(2):
        release = sf.anonymize(data, schema(), sf.GBalance(0.9), sf.KnownEvents(2, 0.09), seed=1)
        lost.append(1 - release.utility.histories.kept + 3 * release.utility.ane)
        monkeypatch.setattr(assembly, "REGION", 240)
    assert lost[1] <= 1.15 * lost[0]


def test_a_person_stays_whole_where_something_else_would_bring_the_records_together():
    data = visits(5, 400, 6)
    promises = sf.PidKAnonymity(3), sf.KnownEvents(2, 0.09, p95=0.5, of="learned")
    for more in ({"keep_order": True}, {"pseudonym_key": b"0123456789abcdef0123456789abcdef"}):
        release = sf.anonymize(data, schema(), *promises, seed=1, **more)
        assert release.data["person"].nunique() == data["person"].nunique()
    blood = data.assign(blood=data["person"] % 4)
    other = schema(insensitive=["blood"])
    release = sf.anonymize(blood, other, *promises, seed=1)
    assert release.data["person"].nunique() == data["person"].nunique()


def test_no_page_calls_a_protected_column_unchanged(tmp_path):
    release = sf.anonymize(visits(7), schema(), sf.GBalance(0.7), sf.KnownEvents(2, 0.2), seed=1)
    stars = (release.data["code"].astype(str) == "*").mean()
    said = f"“*” in {100 * stars:.1f}"
    assert stars > 0
    assert said in release.codebook().replace("\u202f", " ")
    page = sf.report(release, tmp_path / "report.html").read_text(encoding="utf-8")
    assert said in page
    assert "the other columns are unchanged" not in page
    (line,) = [each for each in release.codebook().splitlines() if each.startswith("| `code`")]
    assert not line.endswith("| unchanged |")


@pytest.mark.parametrize(
    ("promise", "counted"),
    fast_first(
        2,
        [
            (sf.KnownEvents(3, 0.2, p95=0.6), False),
            (sf.KnownEvents(2, 0.2), True),
            (sf.KnownEvents(3, k=3), True),
        ],
        tuples=True,
    ),
)
def test_what_some_drawn_sets_say_is_not_promised(promise, counted, tmp_path):
    release = sf.anonymize(visits(3), schema(), sf.PidKAnonymity(3), promise, seed=1)
    said = [each["promised"] for each in release.to_json()["constraints"]]
    assert said == [True, counted]
    page = sf.report(release, tmp_path / "report.html").read_text(encoding="utf-8")
    assert ("estimated, not promised" in page) is not counted


def test_k_for_three_dates_is_refused():
    data = visits(3)
    data["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(len(data)) % 90, "D")
    dated = sf.Schema(
        person="person",
        quasi_identifiers=["age", "sex"],
        sensitive=["code", "day"],
        events={"day": {"kind": "date"}},
    )
    with pytest.raises(sf.InputError, match="k for at most two events where dates"):
        sf.anonymize(data, dated, sf.PidKAnonymity(3), sf.KnownEvents(3, k=2), seed=1)


def test_what_is_written_is_the_value_a_label_above_it_or_a_star():
    data = visits(7)
    release = sf.anonymize(data, schema(), sf.GBalance(0.7), sf.KnownEvents(2, 0.2), seed=1)
    old = data["code"].iloc[release.source_rows].tolist()
    for shown, code in zip(release.data["code"].tolist(), old, strict=True):
        assert shown in (code, code[:2], code[:1], "*")


def test_pairs_of_codes_are_kept_where_both_are_and_one_pseudonym_shows_them():
    data = visits(7)
    release = sf.anonymize(data, schema(), sf.PidKAnonymity(3), sf.KnownEvents(2, k=4), seed=1)
    old = data.iloc[release.source_rows].reset_index(drop=True).astype(str)
    new = release.data.astype(str)
    shares = []
    for rows in old.groupby("person").groups.values():
        kept = [old["code"][row] == new["code"][row] for row in rows]
        pairs = [
            kept[a] and kept[b] and new["person"][rows[a]] == new["person"][rows[b]]
            for a in range(len(rows))
            for b in range(a)
        ]
        shares.append(np.mean(pairs or kept))
    assert 0 < np.mean(shares) < 1
    assert release.utility.histories.co_occurring == pytest.approx(np.mean(shares))
    assert release.utility.histories.survival is None


@pytest.mark.parametrize(
    "techniques", fast_first(1, ["widen,suppress-cells", "widen,roll-up,suppress-cells"])
)
def test_an_event_that_is_known_at_a_level_counts_so_whatever_may_be_written(techniques):
    data = visits(7, persons=600)
    event = {"kind": "code", "known": "level 1", "hierarchy": {"lengths": [2, 1]}}
    of = schema(code=event)
    promises = sf.PidKAnonymity(3), sf.KnownEvents(2, 0.08)
    release = sf.anonymize(data, of, *promises, seed=1, techniques=techniques)
    outcomes = sf.attack(release, attacks=["events"], seed=1).outcomes
    found = next(each for each in outcomes if each.attack == "events_2").success
    predicted = release.risk.known_events.of(2).found.value
    assert found.low <= predicted <= 0.08
    assert predicted > 1.5 / 600 * release.risk.classes


def test_techniques_that_are_not_named_are_not_used():
    data = visits(8)
    promises = sf.GBalance(0.7), sf.KnownEvents(2, 0.2)
    release = sf.anonymize(data, schema(), *promises, seed=1, techniques="widen,suppress-cells")
    shown = set(release.data["code"].astype(str))
    assert shown <= {*CODES, "*"}
    with pytest.raises(sf.ConstraintsNotMetError, match="classes of at least"):
        sf.anonymize(
            data, schema(), sf.GBalance(0.5), sf.KnownEvents(2, 0.03), techniques="suppress-cells"
        )


def test_what_cannot_be_asked_is_refused_before_work():
    with pytest.raises(sf.InputError, match="must say what is known"):
        sf.KnownEvents("2:often")
    with pytest.raises(sf.InputError, match="give one"):
        sf.KnownEvents(2, 0.1, k=3)
    with pytest.raises(sf.InputError, match="1 to 6"):
        sf.KnownEvents(7)
    plain = sf.Schema(person="person", quasi_identifiers=["age", "sex"], sensitive=["code"])
    with pytest.raises(sf.InputError, match=r"\[events\]"):
        sf.anonymize(visits(1), plain, sf.KnownEvents(2))
    # Of several pseudonyms a class does not say how many people share what one of them shows.
    both = sf.KnownEvents(2, k=3), sf.SharedCounts(3)
    with pytest.raises(sf.InputError, match="coarsen_counts"):
        sf.anonymize(visits(1), schema(), *both, coarsen_counts="split")
    # Days between a person's dates would bring the pseudonyms together.
    dated = visits(1).assign(day="2020-01-01")
    kinds = {"code": sf.Event(kind="code"), "day": sf.Event(kind="date")}
    asked = sf.Schema(
        person="person", quasi_identifiers=["age", "sex"], sensitive=["code", "day"], events=kinds
    )
    with pytest.raises(sf.InputError, match="coarsen_counts"):
        sf.anonymize(dated, asked, sf.KnownEvents(2), both[1], coarsen_counts="split")
    with pytest.raises(sf.InputError, match="techniques"):
        sf.anonymize(visits(1), schema(), sf.KnownEvents(2), techniques="widen,guess")


def test_what_is_promised_of_two_events_is_counted_however_many_a_person_has():
    """An estimate by some pairs of a person's might be above what all of them tell."""
    rng, many, people = np.random.default_rng(3), 52, 24
    person = np.repeat(np.arange(people), many)
    codes = np.concatenate([rng.permutation(60)[:many] for _ in range(people)])
    data = pd.DataFrame({"person": person, "age": person % 7, "sex": "F", "code": codes})
    data["code"] = "c" + data["code"].astype(str)
    made = sf.anonymize(data, schema(), sf.KnownEvents(2, 0.15, p95=0.16), seed=1, effort=0)
    told = made.risk.known_events.of(2)
    assert told.exact
    assert told.p95.value <= 0.16


def test_who_has_no_event_counts_in_the_mean() -> None:
    """Ten of twelve are found by .2 on average where classes are of 9 and 3; all twelve by more."""
    data = pd.DataFrame(
        {
            "person": [f"p{each}" for each in range(12)],
            "town": ["a"] * 9 + ["b"] * 3,
            "code": [None, *"xyzxyzxy", None, *"xy"],
        }
    )
    schema = sf.Schema(
        person="person",
        quasi_identifiers={"town": "categorical"},
        sensitive=["code"],
        events={"code": sf.Event(kind="code")},
    )
    release = sf.anonymize(data, schema, sf.PidKAnonymity(2), sf.KnownEvents(1, 0.2, 0.5), seed=1)
    found = {each.m: each.found.value for each in release.risk.known_events.risks}
    assert found[1] <= 0.2
    assert release.risk.classes == 1


@pytest.mark.parametrize(
    ("columns", "levels", "ways"), [(1, 16, 16), (1, 17, 2), (4, 3, 16), (5, 2, 2), (64, 8, 2)]
)
def test_the_ways_to_write_an_event_of_many_columns_are_their_ends(columns, levels, ways):
    column = SimpleNamespace(losses=np.linspace(0, 1, levels))
    rungs = searched._rungs([column] * columns)
    assert len(rungs) == ways
    assert (rungs[0].loss, rungs[-1].loss) == (0, 1)
