"""Series: a foreign reader joins all files by pseudonym and cells, and knows who came and left."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from ledger.releases import opened
from oracles.released_cells import contains, parse_released

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.ledger.composition import together
from sfumato.release.lasting_classes import SERIES_FILE, LastingClasses
from sfumato.release.release_manifest import load_manifest
from sfumato.release.series_files import following
from sfumato.risk.intruders import Findings
from sfumato.risk.verdict import State, judged_again
from sfumato.schema import Kind

K, FILES = 4, 5
QUASI = ["born", "sex", "zip", "school", "since"]
SCHOOLS = ["none", "primary", "secondary", "university"]
SCHEMA = sf.Schema(
    person="id",
    direct_identifiers=["name"],
    quasi_identifiers={
        "born": "numeric",
        "sex": "categorical",
        "zip": {"kind": "categorical", "hierarchy": {"lengths": [2, 1]}},
        "school": {"kind": "ordered", "order": SCHOOLS},
        "since": "numeric",
    },
    sensitive=["status"],
)


def drawn(count: int, first: int, rng: np.random.Generator) -> pd.DataFrame:
    """New people of a registry."""
    born = (1930 + 75 * rng.beta(2, 2, count)).astype(int)
    data = pd.DataFrame({"id": [f"p{first + each}" for each in range(count)]})
    data["name"] = [f"Canary{first + each}" for each in range(count)]
    data["born"] = pd.array(born, dtype="Int64")
    data.loc[rng.random(count) < 0.05, "born"] = pd.NA
    data["sex"] = rng.choice(["f", "m"], count)
    data["zip"] = rng.choice(["101", "102", "115", "201", "202", "230"], count)
    data["school"] = rng.choice(SCHOOLS, count)
    days = rng.integers(0, 3_000, count)
    data["since"] = [str(np.datetime64("2010-01-01") + each) for each in days.tolist()]
    return data


def registry(seed: int, people: int = 240, files: int = FILES) -> list[pd.DataFrame]:
    """The files of a registry: people come, leave and change in each of them."""
    rng = np.random.default_rng(seed)
    now, made = drawn(people, 0, rng), []
    for _ in range(files):
        if made:
            now = now[rng.random(len(now)) >= 0.04].copy()
            moved = rng.random(len(now)) < 0.05
            now.loc[moved, "zip"] = rng.choice(["101", "202", "230", "311"], int(moved.sum()))
            now = pd.concat([now, drawn(20, 10_000 * len(made), rng)], ignore_index=True)
        now["status"] = rng.choice(list("abcd"), len(now))
        made.append(now.sample(frac=1, random_state=seed))
    return made


def released(files: list[pd.DataFrame], **options: object) -> list[sf.Release]:
    options = {"series": "snapshot", "effort": 0} | options
    first = sf.anonymize(files[0], SCHEMA, sf.PidKAnonymity(K), **options)
    made = [first]
    for each in files[1:]:
        made.append(sf.anonymize(each, SCHEMA, continues=made[-1]))
    return made


def cells_by_pseudonym(release: sf.Release) -> dict[str, tuple[str | None, ...]]:
    rows = release.table.select(["id", *QUASI]).to_pylist()
    return {row["id"]: tuple(row[name] for name in QUASI) for row in rows}


@pytest.mark.parametrize("values", ["range", "set", "hierarchy"])
def test_who_joins_all_files_finds_nobody_among_fewer_than_promised(values: str) -> None:
    files = registry(len(values))
    made = released(files, values=values)
    shown = [cells_by_pseudonym(each) for each in made]
    came = {name: number for number in reversed(range(FILES)) for name in shown[number]}
    for before, after in pairwise(shown):
        assert before.items() <= after.items()  # nobody moves, and nobody is taken out
    for number, each in enumerate(shown):
        alike = Counter((cells, came[name]) for name, cells in each.items())
        assert min(alike.values()) >= K
        assert len(each) == made[number].risk.persons
    # Newcomers of the second file are in the third one.
    assert [made[number].manifest.series.get("waiting") for number in (1, 2)] == [20, 0]
    assert len(shown[0]) == len(shown[1]) < len(shown[2]) == len(shown[3]) < len(shown[4])


def test_newcomers_in_smaller_classes_leave_those_of_the_first_file_as_they_were(
    tmp_path: Path,
) -> None:
    files = registry(13, people=200)
    first = sf.anonymize(
        files[0], SCHEMA, sf.PidKAnonymity(8), series="snapshot", newcomers_k=3, effort=0
    )
    made = [first]
    for each in files[1:]:
        made.append(sf.anonymize(each, SCHEMA, continues=made[-1]))
    shown = [cells_by_pseudonym(each) for each in made]
    came = {name: number for number in reversed(range(FILES)) for name in shown[number]}
    for each, release in zip(shown, made, strict=True):
        sizes = Counter((cells, came[name]) for name, cells in each.items())
        of_first = [size for (_, file), size in sizes.items() if file == 0]
        later = [size for (_, file), size in sizes.items() if file]
        assert min(of_first) >= 8
        assert min(later, default=3) >= 3
        assert release.verdict.found.fewest == min(sizes.values())
        # What a file promises is what all of its classes keep.
        (promised,) = release.manifest.constraints
        assert promised.k == (8 if release is first else 3)
    assert min(later) < 8
    assert not any(release.manifest.series.get("waiting") for release in made[2::2])
    # What was promised after the first file is sealed, too.
    made[1].write(tmp_path / "out.csv")
    again = sf.anonymize(files[2], SCHEMA, continues=tmp_path / "release.toml")
    assert cells_by_pseudonym(again) == shown[2]
    manifest = tmp_path / "release.toml"
    manifest.write_text(manifest.read_text().replace("k = 3", "k = 2"))
    with pytest.raises(InputError):
        sf.anonymize(files[2], SCHEMA, continues=manifest)


def test_who_knows_that_people_left_finds_no_more_where_their_classes_retire() -> None:
    files = registry(14, people=240)
    made = released(files, leavers="retire")
    kept = released(files)
    shown = [cells_by_pseudonym(each) for each in made]
    for number, release in enumerate(made[1:], 1):
        assert release.lasting is not None
        present = set(files[number]["id"])
        # By id: of every class that was shown, all are there, or none is from now on.
        before = made[number - 1].lasting.class_of
        with_who_left = {before[name] for name in before.keys() - present}
        out = {name for name, own in before.items() if own in with_who_left}
        assert out
        assert release.manifest.series["withdrawn"] == len(out - present) + len(out & present)
        assert release.lasting.class_of.keys() <= present
        assert not any(out & set(each.lasting.class_of) for each in made[number:])
        assert "left" not in release.manifest.series or not release.manifest.series["left"]
        sizes = Counter(release.lasting.class_of.values())
        assert min(sizes.values()) >= K
        rows = release.verdict
        stranger, acquaintance = (
            rows.row(name).findings.found.value for name in ("stranger", "acquaintance")
        )
        assert acquaintance == pytest.approx(stranger)
    assert len(shown[-1]) < len(cells_by_pseudonym(kept[-1]))
    found = kept[-1].verdict.row("acquaintance").findings.found.value
    assert found > made[-1].verdict.row("acquaintance").findings.found.value


def test_classes_retire_in_a_series_alone_and_not_where_ids_are_other_ones() -> None:
    first, second = registry(1, people=60, files=2)
    with pytest.raises(InputError):
        sf.anonymize(first, SCHEMA, sf.PidKAnonymity(K), leavers="retire")
    made = sf.anonymize(
        first, SCHEMA, sf.PidKAnonymity(K), series="snapshot", leavers="retire", effort=0
    )
    with pytest.raises(InputError):
        sf.anonymize(second.assign(id=second["id"] + "x"), SCHEMA, continues=made)


def test_what_is_asked_of_newcomers_and_changes_nothing_is_refused() -> None:
    data = registry(1, people=60, files=1)[0]
    for asked in (
        {"newcomers_k": 4, "series": "snapshot"},
        {"newcomers_k": 5, "series": "snapshot"},
        {"newcomers_k": 1, "series": "snapshot"},  # a class of one promises nothing
        {"newcomers_k": 2},
        {"admit_every": 3},
        {"known_months": "entry"},
    ):
        with pytest.raises(InputError):
            sf.anonymize(data, SCHEMA, sf.PidKAnonymity(4), effort=0, **asked)


def test_cells_hold_what_is_so_and_the_manifest_counts_what_has_changed() -> None:
    files = registry(11)
    made = released(files)
    assert made[-1].lasting is not None
    table = pd.concat(files).drop_duplicates("id", keep="last").set_index("id")
    changed: Counter[str] = Counter()
    class_of, cells = made[-1].lasting.class_of, made[-1].lasting.cells
    for name, number in class_of.items():
        for column, kind in zip(
            QUASI,
            (Kind.NUMERIC, Kind.CATEGORICAL, Kind.CATEGORICAL, Kind.ORDERED, Kind.NUMERIC),
            strict=True,
        ):
            value = table.loc[name, column]
            label = None if pd.isna(value) else str(value)
            cell = parse_released(cells[column][number], kind, SCHOOLS)
            if column == "zip" and label is not None:
                text = cells[column][number]
                covered = text in ("*", label) or label.startswith(text)
            else:
                covered = contains(cell, label, kind, order=SCHOOLS)
            changed[column] += not covered
    assert made[-1].manifest.series["changed"] == {n: c for n, c in changed.items() if c}
    assert set(made[-1].manifest.series["changed"]) == {"zip"}


def test_the_same_file_in_other_words_shows_and_loses_the_same() -> None:
    data = registry(3)[0]
    first, again = released([data, data.sample(frac=1, random_state=5)])
    assert cells_by_pseudonym(first) == cells_by_pseudonym(again)
    for before, after in zip(first.utility.columns, again.utility.columns, strict=True):
        assert after.ncp == pytest.approx(before.ncp, abs=1e-9)
        assert after.ane == pytest.approx(before.ane, abs=1e-9)
    assert first.risk.classes == again.risk.classes


def test_who_knows_two_files_or_who_left_is_in_the_verdict() -> None:
    files = registry(5, people=160, files=4)
    made = released(files)
    last = made[-1]
    status = [
        dict(zip(*(each.table.column(name).to_pylist() for name in ("id", "status")), strict=True))
        for each in made
    ]
    cells = cells_by_pseudonym(last)
    found = []
    for then in status[:-1]:
        alike = Counter((cells[name], status[-1][name], then.get(name)) for name in cells)
        found.append(np.mean([1 / alike[cells[n], status[-1][n], then.get(n)] for n in cells]))
    insider = last.verdict.row("insider").findings
    assert insider is not None
    assert insider.found.value == pytest.approx(max(found))
    # Who has left, by the files themselves: pseudonyms stand in the order of the released rows.
    truth = ids_of_rows(last, files)
    gone = {
        shown: max(n for n, each in enumerate(files) if own in set(each["id"]))
        for shown, own in truth.items()
        if own not in set(files[-1]["id"])
    }
    chances = []
    for name, own in cells.items():
        same = [other for other in cells if cells[other] == own]
        if name in gone:
            since = range(gone[name], len(made))
            same = [
                other for other in same if len({status[number].get(other) for number in since}) == 1
            ]
        chances.append(1 / len(same))
    acquaintance = last.verdict.row("acquaintance").findings
    assert gone
    assert acquaintance is not None
    assert acquaintance.found.value == pytest.approx(np.mean(chances))
    assert acquaintance.person.value == pytest.approx(max(chances))
    assert last.verdict.row("recipient").findings is None
    assert not last.verdict.ready


def test_by_entry_alone_the_recipient_has_what_a_known_exit_finds() -> None:
    files = registry(5, people=160, files=3)
    by_exit, by_entry = (
        released(files, known_months=known, seed=1)[-1].verdict for known in ("exit", "entry")
    )
    stranger, acquaintance, recipient = (
        by_entry.row(name) for name in ("stranger", "acquaintance", "recipient")
    )
    assert recipient.findings == by_exit.row("acquaintance").findings
    assert recipient.findings.found.value > stranger.findings.found.value
    assert acquaintance.findings.found == stranger.findings.found
    assert recipient.state is State.ABOVE
    assert by_entry.exit_code == 2
    # Neither who answers for numbers nor who answers for a blank answers for the other.
    until = date(2099, 12, 31)
    for share in (0.0, 1.0):
        most = dict.fromkeys(("found", "person", "learned"), share)
        answer = sf.Acceptance("recipient", "A. Name", "of a test", until, most)
        again = judged_again(by_entry.to_json(), by_entry.limits, [answer], recipient="no ledger")
        assert again.row("recipient").state is State.ABOVE
    measured = judged_again(by_entry.to_json(), by_entry.limits, [answer], Findings.among(0.01, 99))
    assert measured.row("recipient").state is State.ACCEPTED
    assert measured.row("recipient").findings.found == recipient.findings.found
    # Below the limit it is as if no ledger had looked: all files together are not measured.
    below = sf.Limits(found=1, person=1, learned=1)
    wide = judged_again(by_entry.to_json(), below, recipient="no ledger")
    assert wide.row("recipient").state is State.NOT_MEASURED


def ids_of_rows(release: sf.Release, files: list[pd.DataFrame]) -> dict[str, str]:
    """By pseudonym the id, from where each released row was in the file with who left."""
    present = files[-1]["id"].tolist()
    people = release.lasting.records.column("(person)").to_pylist()
    # The records that are kept stand in the order of the file, who left behind it.
    waiting = [name for name in present if name not in release.lasting.class_of]
    order = [*present, *(name for name in people if name not in set(present))]
    assert len(order) == len(people) + len(waiting)
    names = release.table.column("id").to_pylist()
    return {
        shown: order[row] for shown, row in zip(names, release.source_rows.tolist(), strict=True)
    }


def test_a_promise_that_breaks_refuses_and_holds_nobody_back() -> None:
    first = registry(7, people=120, files=1)[0]
    promises = (sf.PidKAnonymity(K), sf.LDiversity(2))
    options = {"series": "snapshot", "suppress": 0.9, "effort": 0}
    made = sf.anonymize(first, SCHEMA, *promises, **options)
    with pytest.raises(ConstraintsNotMetError):
        sf.anonymize(first.assign(status="a"), SCHEMA, continues=made)


def test_promises_hold_for_those_who_came_together() -> None:
    """Classes of one look stay apart: who came when tells them."""
    first = pd.DataFrame({"id": range(4), "born": 1950, "status": list("abab")})
    schema = sf.Schema(person="id", quasi_identifiers=["born"], sensitive=["status"])
    promises = (sf.PidKAnonymity(4), sf.LDiversity(2))
    made = sf.anonymize(first, schema, *promises, series="snapshot", effort=0)
    more = pd.concat([first, first.assign(id=range(4, 8))])
    made = sf.anonymize(more, schema, continues=made)
    made = sf.anonymize(more, schema, continues=made)
    assert made.risk.persons == 8
    assert made.verdict.found.fewest == 4
    with pytest.raises(ConstraintsNotMetError):
        sf.anonymize(more.assign(status=list("aaaabbbb")), schema, continues=made)


def test_newcomers_who_would_break_a_promise_wait() -> None:
    rng = np.random.default_rng(0)
    first = pd.DataFrame({"id": range(200), "born": rng.integers(1940, 1990, 200)})
    first["status"] = ["a", "b"] * 100
    schema = sf.Schema(person="id", quasi_identifiers=["born"], sensitive=["status"])
    promises = (sf.PidKAnonymity(4), sf.TCloseness(0.5))
    made = sf.anonymize(first, schema, *promises, series="snapshot", effort=0)
    more = pd.concat([first, first[:20].assign(id=range(500, 520), status="a")])
    for _ in range(2):
        made = sf.anonymize(more, schema, continues=made)
        assert made.manifest.series["waiting"] == 20


def test_what_is_learned_over_two_files_is_in_the_verdict() -> None:
    rng = np.random.default_rng(1)
    first = pd.DataFrame({"id": range(400), "born": 1950})
    first["status"], then = rng.choice(["x", "y"], (2, 400))
    second = first.assign(status=then)
    second["illness"] = np.where(first["status"] == then, "hiv", "none")
    first["illness"] = "none"
    schema = sf.Schema(person="id", quasi_identifiers=["born"], sensitive=["status", "illness"])
    made = sf.anonymize(first, schema, sf.PidKAnonymity(12), series="snapshot", effort=0)
    made = sf.anonymize(second, schema, continues=made)
    known = made.verdict.found.insiders["status"]
    illness = next(each for each in known.learned if each.column == "illness")
    assert illness.beyond.value > 0.95
    alone = sf.anonymize(second, schema, sf.PidKAnonymity(12), effort=0).verdict.found
    before = next(e for e in alone.insiders["status"].learned if e.column == "illness")
    assert before.beyond.value < 0.3


def test_the_order_of_the_file_is_in_no_dictionary() -> None:
    data = registry(8, people=200, files=1)[0]
    made = sf.anonymize(data, SCHEMA, sf.PidKAnonymity(K), seed=1)
    column = made.table.column("id").combine_chunks()
    assert column.indices.to_pylist() == list(range(200))


def test_files_and_command_lines_go_on_where_data_frames_do(tmp_path: Path) -> None:
    files = registry(9, people=120, files=3)
    whole = released(files)
    manifest = None
    for number, each in enumerate(files):
        folder = tmp_path / str(number)
        folder.mkdir()
        each.to_csv(folder / "in.csv", index=False)
        options = {"continues": manifest} if manifest else {"series": "snapshot", "effort": 0}
        promises = () if manifest else (sf.PidKAnonymity(K),)
        made = sf.anonymize(folder / "in.csv", SCHEMA, *promises, **options)
        made.write(folder / "out.csv", secret=folder / "release.secret")
        manifest = folder / "release.toml"
        kept = (folder / SERIES_FILE).read_bytes()
        assert (folder / SERIES_FILE).stat().st_mode & 0o077 == 0
        assert b"Canary" not in kept
        assert made.risk.persons == whole[number].risk.persons
    written = load_manifest(tmp_path / "2" / "release.toml").series
    assert written["file"] == 3
    assert written["waiting"] == 0
    before = load_manifest(tmp_path / "1" / "release.toml")
    assert written["continues_sha256"] == before.output_sha256


@pytest.mark.parametrize(
    "beside",
    [
        {"seed": 1, "suppress": 0.1},
        {"pseudonym_key": bytes(32)},
        {"secret": bytes(32)},
        {"promise": sf.PidKAnonymity(2)},
    ],
)
def test_what_the_file_before_says_is_not_said_again(beside: dict) -> None:
    first, second = registry(1, people=60, files=2)
    made = sf.anonymize(first, SCHEMA, sf.PidKAnonymity(K), series="snapshot", effort=0)
    promises = [beside.pop("promise")] if "promise" in beside else []
    with pytest.raises(InputError):
        sf.anonymize(second, SCHEMA, *promises, continues=made, **beside)


def test_another_schema_file_or_record_is_refused(tmp_path: Path) -> None:
    first, second = registry(1, people=60, files=2)
    first.to_csv(tmp_path / "in.csv", index=False)
    made = sf.anonymize(
        tmp_path / "in.csv", SCHEMA, sf.PidKAnonymity(K), series="snapshot", effort=0
    )
    made.write(tmp_path / "out.csv", secret=tmp_path / "release.secret")
    with pytest.raises(InputError):
        sf.anonymize(tmp_path / "in.csv", SCHEMA, continues=tmp_path / "release.toml")
    other = SCHEMA.model_copy(update={"insensitive": ("name",), "direct_identifiers": ()})
    with pytest.raises(InputError):
        sf.anonymize(second, other, continues=made)
    with pytest.raises(InputError):
        sf.anonymize(second.assign(born="x"), SCHEMA, continues=made)
    kept = LastingClasses.read(tmp_path / SERIES_FILE, made.lasting.sha256)
    assert kept.class_of == made.lasting.class_of
    with pytest.raises(InputError):
        LastingClasses.read(tmp_path / SERIES_FILE, "0" * 64)
    (tmp_path / SERIES_FILE).write_bytes(b"no parquet")
    with pytest.raises(InputError):
        sf.anonymize(second, SCHEMA, continues=tmp_path / "release.toml")
    plain = sf.anonymize(first, SCHEMA, sf.PidKAnonymity(K))
    with pytest.raises(InputError):
        sf.anonymize(second, SCHEMA, continues=plain)


@pytest.mark.parametrize(
    "asked",
    [
        ([sf.KAnonymity(K)], {}),
        ([sf.PidKAnonymity(K), sf.KnownEvents(1, 0.5)], {"known_columns": ["status"]}),
        ([sf.PidKAnonymity(K)], {"pseudonym_key": bytes(range(32))}),
        ([sf.PidKAnonymity(K)], {"values": "mean"}),
        ([sf.PidKAnonymity(K)], {"keep_order": True}),
        ([sf.PidKAnonymity(K)], {"recoding": "full-domain"}),
        ([sf.PidKAnonymity(K)], {"population": 10_000}),
        ([sf.PidKAnonymity(K), sf.Limits("contract")], {}),
    ],
)
def test_what_classes_that_last_do_not_go_with_is_refused(asked: tuple) -> None:
    promises, options = asked
    with pytest.raises(InputError):
        sf.anonymize(
            registry(1, people=60, files=1)[0], SCHEMA, *promises, series="snapshot", **options
        )


def test_several_records_of_a_person_and_ids_written_otherwise_are_refused() -> None:
    first, second = registry(1, people=60, files=2)
    with pytest.raises(InputError):
        sf.anonymize(pd.concat([first, first[:1]]), SCHEMA, sf.PidKAnonymity(K), series="snapshot")
    made = sf.anonymize(first, SCHEMA, sf.PidKAnonymity(K), series="snapshot", effort=0)
    with pytest.raises(InputError):
        sf.anonymize(pd.concat([second, second[:1]]), SCHEMA, continues=made)
    with pytest.raises(InputError):
        sf.anonymize(second.assign(id=second["id"] + "x"), SCHEMA, continues=made)
    numbered = [each.assign(id=range(1, 61)) for each in (first, first)]
    texts = numbered[0].assign(id=[f"{n:03d}" for n in range(1, 61)])
    made = sf.anonymize(texts, SCHEMA, sf.PidKAnonymity(K), series="snapshot", effort=0)
    with pytest.raises(InputError):
        sf.anonymize(numbered[1][1:], SCHEMA, continues=made)


def test_another_secret_and_changed_promises_are_refused(tmp_path: Path) -> None:
    first, second = registry(1, people=60, files=2)
    made = sf.anonymize(first, SCHEMA, sf.PidKAnonymity(K), series="snapshot", effort=0)
    made.write(tmp_path / "out.csv")
    manifest, secret = tmp_path / "release.toml", tmp_path / "release.secret"
    text, own = manifest.read_text(), secret.read_bytes()
    assert sf.anonymize(second, SCHEMA, continues=manifest).risk.persons
    manifest.write_text(text.replace(f"k = {K}", "k = 2"))
    with pytest.raises(InputError):
        sf.anonymize(second, SCHEMA, continues=manifest)
    manifest.write_text(text)
    secret.write_bytes(own[::-1])
    with pytest.raises(InputError):
        sf.anonymize(second, SCHEMA, continues=manifest)


def test_two_series_under_one_secret_have_no_pseudonym_in_common() -> None:
    data = registry(1, people=60, files=1)[0]
    options = {"series": "snapshot", "effort": 0, "secret": bytes(range(32))}
    one, other = (
        cells_by_pseudonym(sf.anonymize(data, SCHEMA, sf.PidKAnonymity(k), seed=1, **options))
        for k in (K, K + 1)
    )
    assert not one.keys() & other.keys()


@pytest.mark.parametrize(
    "born", [{"kind": "numeric", "top": 1985, "bottom": 1940}, {"kind": "ordered"}]
)
def test_coded_and_ordered_cells_lose_the_same_when_nothing_changed(born: dict) -> None:
    data = registry(3)[0]
    quasi = {"born": born, "sex": "categorical"}
    schema = sf.Schema(
        person="id",
        quasi_identifiers=quasi,
        sensitive=["status"],
        direct_identifiers=["name", "zip", "school", "since"],
    )
    first = sf.anonymize(data, schema, sf.PidKAnonymity(K), series="snapshot", effort=0)
    again = sf.anonymize(data.sample(frac=1, random_state=1), schema, continues=first)
    for before, after in zip(first.utility.columns, again.utility.columns, strict=True):
        # Coded values are measured as they were in the first file, as coded in later ones.
        assert after.ncp == pytest.approx(before.ncp, abs=5e-3)


def test_newcomers_of_one_look_wait_until_they_are_enough() -> None:
    first = registry(2, people=60, files=1)[0]
    new = drawn(K - 1, 5_000, np.random.default_rng(0)).assign(status="a")
    made = released([first, first, pd.concat([first, new])])
    assert made[-1].manifest.series["waiting"] == K - 1
    waiting = made[-1].risk.persons
    more = drawn(1, 6_000, np.random.default_rng(1)).assign(status="b")
    after = sf.anonymize(pd.concat([first, new, more]), SCHEMA, continues=made[-1])
    assert after.risk.persons == waiting + K


def test_who_returns_is_shown_as_before() -> None:
    first = registry(2, people=60, files=1)[0]
    made = released([first, first.iloc[5:], first.assign(status="c")])
    shown = [cells_by_pseudonym(each) for each in made]
    assert shown[0] == shown[1] == shown[2]
    statuses = defaultdict(set)
    for each in made[2].table.select(["id", "status"]).to_pylist():
        statuses[each["status"]].add(each["id"])
    assert set(statuses) == {"c"}


def test_who_withdraws_leaves_with_everybody_of_their_class(tmp_path: Path) -> None:
    files = registry(6, people=160, files=5)
    made = released(files[:3])
    members = made[-1].lasting.class_of
    own = next(name for name in files[0]["id"] if name in files[3]["id"].tolist())
    new = files[3].loc[~files[3]["id"].isin(members), "id"].tolist()
    alike = {name for name, number in members.items() if number == members[own]}
    pd.DataFrame({"id": [own, new[0]]}).to_csv(tmp_path / "withdrawn.csv", index=False)
    after = sf.anonymize(files[3], SCHEMA, continues=made[-1], withdrawn=tmp_path / "withdrawn.csv")
    assert len(alike) >= K
    assert after.manifest.series["withdrawn"] == len(alike) + 1
    last, following_file = cells_by_pseudonym(made[-1]), cells_by_pseudonym(after)
    assert len(last.keys() - following_file.keys()) == len(alike)
    assert after.lasting.class_of.keys() == members.keys() - alike
    # Those of the class are in no later file either, and nobody need be named again.
    there = pd.concat([files[4], files[0][files[0]["id"].isin(alike)]]).drop_duplicates("id")
    for release in (
        sf.anonymize(there, SCHEMA, continues=after),
        sf.anonymize(there, SCHEMA, continues=after, withdrawn=pd.DataFrame({"id": [own]})),
    ):
        shown = set(ids_of_rows(release, [there]).values())
        assert not shown & {*alike, new[0]}
        assert len(cells_by_pseudonym(release)) == release.risk.persons == len(shown)
        assert "withdrawn" not in release.manifest.series
        assert not set(release.lasting.records.column("(person)").to_pylist()) & alike
    after.lasting.write(tmp_path / SERIES_FILE)
    kept = LastingClasses.read(tmp_path / SERIES_FILE, after.lasting.sha256)
    assert kept.out == after.lasting.out


def test_a_name_that_no_file_has_withdraws_nobody() -> None:
    files = registry(6, people=80, files=2)
    first = sf.anonymize(files[0], SCHEMA, sf.PidKAnonymity(K), series="snapshot", effort=0)
    for continues, named in ((first, ["nobody", "x", "p1"]), (None, ["p1"])):
        promises = () if continues else (sf.PidKAnonymity(K),)
        series = {} if continues else {"series": "snapshot"}
        with pytest.raises(InputError):
            sf.anonymize(
                files[1],
                SCHEMA,
                *promises,
                continues=continues,
                withdrawn=pd.DataFrame({"id": named}),
                **series,
            )


@pytest.mark.parametrize("other", ["7", "p07", "P007", " p007", "p007.0", "\ufeffp007"])
def test_an_id_that_is_written_otherwise_is_refused_where_its_person_would_stay(
    other: str,
) -> None:
    own = other if other == "7" else "p007"
    first = registry(6, people=80, files=1)[0]
    first["id"] = [f"{each:03}" if own == "7" else f"p{each:03}" for each in range(len(first))]
    made = sf.anonymize(first, SCHEMA, sf.PidKAnonymity(K), series="snapshot", effort=0)
    there = first["id"].tolist()
    for named, is_taken in (([*there[:3], "q"], True), ([*there[:3], other], other == "p07")):
        withdrawn = pd.DataFrame({"id": named})
        if is_taken:
            after = sf.anonymize(first[1:], SCHEMA, continues=made, withdrawn=withdrawn)
            assert not set(there[:3]) & after.lasting.class_of.keys()
            continue
        with pytest.raises(InputError):
            sf.anonymize(first[1:], SCHEMA, continues=made, withdrawn=withdrawn)


@pytest.mark.parametrize(
    ("period", "after"),
    [
        ("2026", "2027"),
        ("2026-Q3", "2026-Q4"),
        ("2026-Q4", "2027-Q1"),
        ("2026-09", "2026-10"),
        ("2026-12", "2027-01"),
        ("2026-W53", "2027-W01"),
        ("2025-W52", "2026-W01"),
    ],
)
def test_a_period_is_followed_by_the_next_one(period: str, after: str) -> None:
    assert following(period) == after


@pytest.mark.parametrize("period", ["", "26", "2026-13", "2026-Q5", "2025-W53", "2026-01-05"])
def test_another_text_is_no_period(period: str) -> None:
    with pytest.raises(InputError):
        following(period)


def test_a_period_comes_once_and_none_is_left_out() -> None:
    files = registry(6, people=80, files=2)
    options = {"series": "snapshot", "effort": 0}
    with pytest.raises(InputError):
        sf.anonymize(files[0], SCHEMA, sf.PidKAnonymity(K), period="2026-01")
    first = sf.anonymize(files[0], SCHEMA, sf.PidKAnonymity(K), period="2026-01", **options)
    for period in ("2026-01", "2026-03", "2026-Q1", None):
        with pytest.raises(InputError):
            sf.anonymize(files[1], SCHEMA, continues=first, period=period)
    second = sf.anonymize(files[1], SCHEMA, continues=first, period="2026-02")
    assert [each.manifest.series["period"] for each in (first, second)] == ["2026-01", "2026-02"]


def test_two_files_of_a_series_do_not_share_a_folder(tmp_path: Path) -> None:
    files = registry(6, people=80, files=2)
    first, second = released(files)
    first.write(tmp_path / "a.csv")
    before = (tmp_path / SERIES_FILE).read_bytes()
    with pytest.raises(InputError):
        second.write(tmp_path / "b.csv")
    assert (tmp_path / SERIES_FILE).read_bytes() == before
    assert not (tmp_path / "b.csv").exists()


def test_who_waited_and_withdrew_is_in_no_later_file() -> None:
    files = registry(6, people=120, files=2)
    new = drawn(3, 7_000, np.random.default_rng(0)).assign(status="a")
    own = files[0]["id"].tolist()
    made = released([files[0], pd.concat([files[0][1:], new])])[-1]
    assert made.manifest.series["waiting"] == 3
    withdrawn = pd.DataFrame({"id": [new["id"].iloc[0], own[5]]})
    after = sf.anonymize(files[0][2:], SCHEMA, continues=made, withdrawn=withdrawn)
    assert any("1 id " in each for each in after.warnings)
    more = pd.concat([files[0], new, drawn(9, 8_000, np.random.default_rng(1)).assign(status="b")])
    for _ in range(2):
        after = sf.anonymize(more, SCHEMA, continues=after)
    assert new["id"].iloc[1] in after.lasting.class_of
    assert new["id"].iloc[0] not in after.lasting.class_of


@pytest.mark.parametrize(("known", "row"), [("exit", "acquaintance"), ("entry", "recipient")])
def test_a_ledger_hands_every_file_over_for_which_people_answer(
    known: str, row: str, tmp_path: Path
) -> None:
    until = date(2099, 12, 31)
    most = {"found": 1.0, "person": 1.0, "learned": 1.0}
    accepted = [
        sf.Acceptance(row, "A. Name", "who left is not known", until, most),
        sf.Acceptance("insider", "A. Name", "of a test", until, most, column="status"),
    ]
    files = registry(4, people=200, files=4)
    with opened(tmp_path) as ledger:
        made = None
        for number, each in enumerate(files):
            promise = [sf.PidKAnonymity(12)] if made is None else []
            options = {"continues": made}
            if made is None:
                options = {"series": "snapshot", "effort": 0, "known_months": known}
            (tmp_path / str(number)).mkdir()
            made = sf.anonymize(each, SCHEMA, *promise, **options).judged("contract", accepted)
            made = made.write(tmp_path / str(number) / "out.csv", memory=ledger)
            draft = ledger.remembered()[-1].number
            if number == len(files) - 1:
                with pytest.raises(ConstraintsNotMetError):
                    ledger.hand_over(draft, "a university", accepted=accepted[1:])
            found = ledger.hand_over(draft, "a university", accepted=accepted)
            assert min(one.fewest for one in found.all.values()) >= 12
            assert found.most <= 1 / 12


def status_registry(seed: int, people: int, files: int) -> list[pd.DataFrame]:
    """A registry of which 3 % are new in each file, 1 % have left, and 2 % have moved."""
    rng = np.random.default_rng(seed)

    def some(count: int, first: int) -> pd.DataFrame:
        ages = np.clip(rng.gamma(5, 9, count).astype(int), 0, 95)
        data = pd.DataFrame({"id": range(first, first + count), "born": 2020 - ages})
        data["sex"] = rng.choice(["f", "m"], count)
        return data.assign(zip=10_000 + rng.zipf(1.3, count) % 800)

    now, following, made = some(people, 0), people, []
    for number in range(files):
        if number:
            now = now[rng.random(len(now)) >= 0.01].copy()
            moved = rng.random(len(now)) < 0.02
            now.loc[moved, "zip"] = some(int(moved.sum()), 0)["zip"].to_numpy()
            new = int(0.03 * len(now))
            now = pd.concat([now, some(new, following)], ignore_index=True)
            following += new
        made.append(now.assign(status=rng.choice(list("abcdefgh"), len(now))))
    return made


REGISTRY = sf.Schema(
    person="id",
    quasi_identifiers={"born": "numeric", "sex": "categorical", "zip": "numeric"},
    sensitive=["status"],
)


@pytest.mark.slow
def test_the_figures_of_the_page_on_series(tmp_path: Path) -> None:
    made: list[sf.Release] = []
    with opened(tmp_path) as ledger:
        for number, each in enumerate(status_registry(1, 5_000, 12)):
            promise = [] if made else [sf.PidKAnonymity(12)]
            options = {"continues": made[-1]} if made else {"series": "snapshot"}
            (tmp_path / str(number)).mkdir()
            release = sf.anonymize(each, REGISTRY, *promise, **options)
            made.append(release.write(tmp_path / str(number) / "out.csv", memory=ledger))
        drafts = [each.number for each in ledger.remembered()]
        handed = {number: ledger.compared(number, "anybody")[number] for number in drafts}
    found = together(handed)
    assert min(each.fewest for each in found.all.values()) == 12
    assert found.alone[drafts[0]].found == pytest.approx(0.075, abs=0.002)
    assert found.most == pytest.approx(0.076, abs=0.002)
    waiting = [each.manifest.series.get("waiting", 0) for each in made]
    assert [each > 0 for each in waiting] == [number % 2 == 1 for number in range(12)]
    assert made[-1].verdict.row("acquaintance").findings.found.value == pytest.approx(
        0.134, abs=0.002
    )
    # Of the last file in which nobody waits.
    assert made[10].utility.ncp / made[0].utility.ncp == pytest.approx(1.8, abs=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "newcomers_k", "shown", "lost"), [(15, 12, 0.065, 1.65), (17, 5, 0.086, 1.15)]
)
def test_the_figures_of_smaller_classes_of_newcomers(
    k: int, newcomers_k: int, shown: float, lost: float
) -> None:
    made: list[sf.Release] = []
    opened_with = {"series": "snapshot", "newcomers_k": newcomers_k}
    for each in status_registry(1, 5_000, 11):
        promise = [] if made else [sf.PidKAnonymity(k)]
        options = {"continues": made[-1]} if made else opened_with
        made.append(sf.anonymize(each, REGISTRY, *promise, **options))
    came: dict[str, int] = {}
    for number, release in enumerate(made):
        came = dict.fromkeys(release.table.column("id").to_pylist(), number) | came
    columns = ["id", "born", "sex", "zip"]
    rows = zip(*(made[-1].table.column(name).to_pylist() for name in columns), strict=True)
    alike = Counter((came[name], *cells) for name, *cells in rows)
    found = len(alike) / sum(alike.values())
    assert min(alike.values()) == newcomers_k
    assert [each.manifest.series["waiting"] > 0 for each in made[1:]] == [True, False] * 5
    assert found == pytest.approx(shown, abs=0.002)
    assert made[-1].verdict.row("stranger").findings.found.value == pytest.approx(found)
    assert made[-1].utility.ncp / made[0].utility.ncp == pytest.approx(lost, abs=0.05)


@pytest.mark.slow
def test_the_figures_of_classes_that_retire() -> None:
    files = status_registry(1, 5_000, 12)
    made = sf.anonymize(
        files[0], REGISTRY, sf.PidKAnonymity(12), series="snapshot", leavers="retire"
    )
    for each in files[1:]:
        made = sf.anonymize(each, REGISTRY, continues=made)
    assert made.verdict.row("acquaintance").findings.found.value == pytest.approx(0.078, abs=0.002)
    assert made.risk.persons / len(files[-1]) == pytest.approx(1 / 3, abs=0.03)


@pytest.mark.slow
def test_what_three_files_give_away_that_are_cut_anew(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        for number, each in enumerate(status_registry(1, 5_000, 3)):
            (tmp_path / str(number)).mkdir()
            made = sf.anonymize(each, REGISTRY, sf.PidKAnonymity(12))
            made.write(tmp_path / str(number) / "out.csv", memory=ledger)
        drafts = [each.number for each in ledger.remembered()]
        handed = {number: ledger.compared(number, "anybody")[number] for number in drafts}
    assert together(handed).most == pytest.approx(0.28, abs=0.02)
