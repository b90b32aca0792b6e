"""Drafts, hand-overs, erasure and retention: what the ledger keeps, and that it stays whole."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from ledger.releases import FIRST, SECOND, draft, opened, people, released

import sfumato as sf
from sfumato.cli.anonymize_command import check_memory
from sfumato.core.chain import parse_head
from sfumato.core.errors import HandOverRefusedError, InputError
from sfumato.ledger.overlap import by_id, followed
from sfumato.ledger.release_ledger import Terms
from sfumato.ledger.sketches import RECORDS, Shown, sketch_of, sketch_of_parts
from sfumato.release.release_manifest import load_manifest
from sfumato.risk.verdict import Acceptance

KEY = bytes(range(32))


def test_what_is_tried_is_not_noted_and_a_draft_blocks_nothing(tmp_path: Path) -> None:
    data = people()
    with opened(tmp_path) as ledger:
        first = released(data, FIRST)
        assert ledger.remembered() == []
        draft(first, tmp_path, "first", ledger)
        two = draft(released(data, SECOND, seed=2), tmp_path, "second", ledger)
        assert [each.to for each in ledger.remembered()] == [(), ()]
        assert ledger.hand_over(two, "somebody").all.keys() == {two}
        assert ledger.remembered()[1].to == ("somebody",)


def test_a_release_is_the_same_whether_it_is_remembered_or_not(tmp_path: Path) -> None:
    data = people()
    with opened(tmp_path) as ledger:
        made = released(data, FIRST)
        draft(made, tmp_path, "first", ledger)
    (tmp_path / "plain").mkdir()
    released(data, FIRST, secret=made.secret).write(tmp_path / "plain" / "first.csv")
    plain, noted = ((tmp_path / name / "first.csv").read_bytes() for name in ("plain", "first"))
    assert plain == noted
    one, two = (load_manifest(tmp_path / n / "release.toml") for n in ("plain", "first"))
    assert replace(two, ledger_head="", verdict=one.verdict) == one


def test_manifest_and_report_print_the_head_that_proves_the_draft(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with opened(tmp_path) as ledger:
        made = released(people(), FIRST).write(tmp_path / "out" / "first.csv", memory=ledger)
        head = str(ledger.head())
        assert ledger.verify(parse_head(head, "")).whole
    assert load_manifest(tmp_path / "out" / "release.toml").ledger_head == head
    sf.report(made, tmp_path / "out" / "first.html")
    assert head in (tmp_path / "out" / "first.html").read_text(encoding="utf-8")


def test_a_release_on_a_cluster_is_refused_clearly(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger, pytest.raises(InputError, match="Spark cannot be remembered"):
        ledger.remember(replace(released(people(), FIRST), disclosed=None), "first.csv")
    with pytest.raises(InputError, match="cannot remember a release on Spark"):
        check_memory({"ledger": tmp_path / "l", "keys": None}, on_spark=True)


def test_a_sketch_says_the_same_of_a_person_in_every_file() -> None:
    data = people()
    shuffled = data.sample(frac=1, random_state=4)
    grown = pd.concat([shuffled, shuffled.assign(code=shuffled["code"].to_numpy()[::-1])])
    one, two = (
        sketch_of(released(each, FIRST).disclosed, KEY)
        for each in (data.assign(birth_year=data["birth_year"].astype(str) + ".0"), grown)
    )
    found = followed(one, two)
    assert len(by_id(one.persons, two.persons)[0]) == len(found) == 600
    alike = {
        a.name: np.mean(a.digests[found.first] == two.by_name()[a.name].digests[found.second])
        for a in one.columns
    }
    assert alike["birth_year"] == alike["sex"] == 1
    assert alike["code"] < 0.01
    assert alike["person"] == 0
    assert alike[RECORDS] == 0


def test_another_key_says_something_else_of_everybody() -> None:
    disclosed = released(people(), FIRST).disclosed
    one, two = sketch_of(disclosed, KEY), sketch_of(disclosed, KEY[::-1])
    assert not np.isin(one.persons, two.persons).any()
    for each in one.columns:
        assert not np.isin(each.digests, two.by_name()[each.name].digests).any()


def test_a_column_that_reads_the_same_everywhere_is_in_no_sketch() -> None:
    disclosed = released(people(), FIRST).disclosed
    blank = pa.array(["*"] * disclosed.table.records)
    mixed = pa.array(["*", "C1"] * disclosed.table.records).slice(0, disclosed.table.records)
    for cells, spoken_of, there in (
        (blank, (), False),
        (blank, ("code",), True),
        (mixed, (), True),
    ):
        sketch = sketch_of(replace(disclosed, cells={"code": cells}), KEY, spoken_of)
        assert ("code" in sketch.by_name()) == there


def test_a_sketch_is_kept_in_its_parts() -> None:
    sketch = sketch_of(released(people(), FIRST).disclosed, KEY)
    parts = {each.name: each.array for each in sketch.parts()}
    back = sketch_of_parts(sketch.described(), parts)
    assert (back.persons == sketch.persons).all()
    assert (back.classes == sketch.classes).all()
    for one, other in zip(sketch.columns, back.columns, strict=True):
        assert (one.name, one.shown, one.role) == (other.name, other.shown, other.role)
        assert (one.digests == other.digests).all()


def test_every_column_shown_is_remembered_insensitive_ones_too() -> None:
    data = people().assign(note=lambda each: "n" + each["area"], name="x")
    schema = sf.Schema(
        person="person",
        quasi_identifiers=FIRST,
        sensitive=["code"],
        insensitive=["note"],
        direct_identifiers=["name", "income", "area"],
    )
    sketch = sketch_of(sf.anonymize(data, schema, sf.GBalance(0.9), seed=1).disclosed, KEY)
    assert {each.name: (each.shown, each.role) for each in sketch.columns} == {
        "person": (Shown.PSEUDONYM, "person"),
        "birth_year": (Shown.RECODED, "quasi-identifier"),
        "sex": (Shown.RECODED, "quasi-identifier"),
        "code": (Shown.UNCHANGED, "sensitive"),
        "note": (Shown.UNCHANGED, "insensitive"),
        RECORDS: (Shown.UNCHANGED, ""),
    }


def test_a_file_without_persons_is_remembered(tmp_path: Path) -> None:
    data = people().drop_duplicates("person")
    schema = sf.Schema(quasi_identifiers=FIRST, sensitive=["code"])
    table = pa.Table.from_pandas(data[[*FIRST, "code"]], preserve_index=False)
    release = sf.anonymize(table, schema, sf.GBalance(0.93), seed=1)
    with opened(tmp_path) as ledger:
        number = draft(release, tmp_path, "first", ledger)
        assert ledger.sketch(ledger.remembered()[0]).persons is None
        assert ledger.hand_over(number, "a").found == pytest.approx(
            {number: release.risk.classes / 600}
        )


def test_a_person_is_forgotten_and_the_ledger_stays_whole(tmp_path: Path) -> None:
    data = people()
    with opened(tmp_path) as ledger:
        one = draft(released(data, FIRST), tmp_path, "first", ledger)
        ledger.hand_over(one, "a")
        before = ledger.sketch(ledger.remembered()[0])
        assert ledger.forget(["P00017"], note="asked to", by="carol") == ((one,), 0)
        after = ledger.sketch(ledger.remembered()[0])
        assert len(after) == len(before) - 1
        (gone,) = set(before.persons.tolist()) - set(after.persons.tolist())
        assert ledger.forget(["P00018"], note="asked to", by="carol") == ((one,), 0)
        assert ledger.verify().whole
        for name in ("l.sqlite", "l.sqlite-wal"):
            assert gone not in (tmp_path / "book" / name).read_bytes()
        with pytest.raises(InputError, match="no sketch holds"):
            ledger.forget(["P00017"], note="again", by="carol")


def test_arrays_that_are_gone_without_an_entry_are_found(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        one = draft(released(people(), FIRST), tmp_path, "first", ledger)
        connection = ledger._log.connection
        (trigger,) = connection.execute(
            "SELECT sql FROM sqlite_master WHERE name = 'part_delete'"
        ).fetchone()
        connection.execute("DROP TRIGGER part_delete")
        connection.execute("DELETE FROM part WHERE entry = ?", [one])
        connection.execute(trigger)
        assert not ledger.verify().whole


def test_sketches_expire(tmp_path: Path) -> None:
    data = people()
    with opened(tmp_path) as ledger:
        one = draft(released(data, FIRST), tmp_path, "first", ledger)
        ledger.hand_over(one, "a")
        with pytest.raises(InputError, match="how long"):
            ledger.expire(by="carol")
        ledger.settle(Terms(keep="10 years"), note="the law", by="carol")
        assert ledger.expire(by="carol") == ()
        later = datetime.now(UTC) + timedelta(days=3700)
        assert ledger.expire(by="carol", now=later) == (one,)
        assert ledger.verify().whole
        two = draft(released(data, SECOND, seed=2), tmp_path, "second", ledger)
        assert ledger.hand_over(two, "b").all.keys() == {two}


def _two_releases(folder: Path) -> Path:
    """A ledger of two drafts, and a copy of it from before the second."""
    data = people(200)
    with opened(folder) as ledger:
        draft(released(data, FIRST), folder, "first", ledger)
        ledger._log.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        older = Path(shutil.copy(folder / "book" / "l.sqlite", folder / "older.sqlite"))
        draft(released(data, SECOND, seed=2), folder, "second", ledger)
    return older


def _put_in_place(folder: Path, other: Path) -> None:
    for name in ("l.sqlite-wal", "l.sqlite-shm"):
        (folder / "book" / name).unlink(missing_ok=True)
    shutil.copy(other, folder / "book" / "l.sqlite")


def test_an_older_copy_is_refused_until_it_is_registered(tmp_path: Path) -> None:
    _put_in_place(tmp_path, _two_releases(tmp_path))
    with pytest.raises(InputError, match="must hold entry 3, as it did before"):
        opened(tmp_path)
    with opened(tmp_path, anchored=False) as ledger:
        ledger.register(note="the disk was lost", by="carol")
    with opened(tmp_path) as ledger:
        assert ledger.verify(ledger.kept()).whole
        assert len(ledger.remembered()) == 1


def test_another_ledger_in_its_place_is_refused(tmp_path: Path) -> None:
    _two_releases(tmp_path)
    other = tmp_path / "other" / "book"
    (tmp_path / "other").mkdir()
    keys = shutil.copytree(tmp_path / "keys", tmp_path / "other" / "keys")
    for each in keys.glob("*.head"):
        each.unlink()
    opened(tmp_path / "other").close()
    _put_in_place(tmp_path, other / "l.sqlite")
    with pytest.raises(InputError, match="the one that stood in its place"):
        opened(tmp_path)


def test_a_missing_ledger_is_not_made_anew(tmp_path: Path) -> None:
    _two_releases(tmp_path)
    shutil.rmtree(tmp_path / "book")
    with pytest.raises(InputError, match="must not take the place of one that is missing"):
        opened(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        opened(tmp_path, make=False)


def _with_head_elsewhere(folder: Path) -> Path:
    """A release handed over; then a second one, with ledger and keys of before put back."""
    head = folder / "other disk" / "head"
    head.parent.mkdir()
    with opened(folder, head=head) as ledger:
        draft(released(people(), FIRST), folder, "first", ledger)
    for name in ("book", "keys"):
        shutil.copytree(folder / name, folder / f"old {name}")
    with opened(folder) as ledger:
        draft(released(people(), SECOND, seed=2), folder, "second", ledger)
    for name in ("book", "keys"):
        shutil.rmtree(folder / name)
        shutil.copytree(folder / f"old {name}", folder / name)
    return head


def test_a_head_elsewhere_finds_a_copy_of_ledger_and_keys(tmp_path: Path) -> None:
    head = _with_head_elsewhere(tmp_path)
    with pytest.raises(InputError, match="must hold entry 3, as it did before"):
        opened(tmp_path)
    with opened(tmp_path, anchored=False) as ledger:
        assert not ledger.verify(ledger.kept()).whole
        ledger.register(note="the disk was lost", by="carol")
        assert head.read_text(encoding="utf-8").splitlines()[0] == str(ledger.head())
    opened(tmp_path).close()


def test_a_head_elsewhere_that_is_missing_is_refused_until_another_is_named(tmp_path: Path) -> None:
    head, other = _with_head_elsewhere(tmp_path), tmp_path / "third disk"
    head.unlink()
    with pytest.raises(InputError, match="file head must hold the head of ledger"):
        opened(tmp_path)
    with opened(tmp_path, anchored=False) as ledger:
        ledger.register(note="that disk is gone", by="carol", head=other)
    with opened(tmp_path) as ledger:
        ledger.settle(Terms(), note="as before", by="carol")
        assert other.read_text(encoding="utf-8").splitlines()[0] == str(ledger.head())
    assert not head.exists()


def test_a_ledger_made_anew_with_the_right_key_lacks_what_a_head_elsewhere_saw(
    tmp_path: Path,
) -> None:
    head = _with_head_elsewhere(tmp_path)
    shutil.rmtree(tmp_path / "book")
    next((tmp_path / "keys").glob("*.head")).unlink()
    opened(tmp_path).close()
    with pytest.raises(InputError, match="must hold entry 3"):
        opened(tmp_path, head=head)
    with pytest.raises(InputError, match="must be a new file"):
        opened(tmp_path / "new", head=head)


def test_a_head_that_was_changed_is_refused(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (head,) = (tmp_path / "keys").glob("*.head")
    head.write_text("1:0\n")
    with pytest.raises(InputError, match="as it was written"):
        opened(tmp_path)


def test_a_ledger_of_keys_that_know_none_is_taken(tmp_path: Path) -> None:
    opened(tmp_path).close()
    (head,) = (tmp_path / "keys").glob("*.head")
    head.unlink()
    with opened(tmp_path) as ledger:
        ledger.settle(Terms(), note="as before", by="carol")
        assert ledger.kept() == ledger.head()


@pytest.mark.parametrize("keep", ["ten years", "10", "-1 days", "10 years "])
def test_a_time_that_is_none(keep: str) -> None:
    with pytest.raises(InputError, match="must be a time"):
        Terms(keep=keep)


def test_what_is_not_ready_is_not_handed_over(tmp_path: Path) -> None:
    made = released(people(), FIRST)
    with opened(tmp_path) as ledger:
        one = draft(made, tmp_path, "first", ledger)
        with pytest.raises(HandOverRefusedError, match=r"accept insider\.code"):
            ledger.hand_over(one, "a", limits=sf.Limits())
        assert ledger.noted(one).to == ()
        most = dict.fromkeys(("found", "person", "learned"), 1.0)
        answers = "carol", "nobody knows them", date(2999, 1, 1), most
        rows = (("insider", "code"), ("acquaintance", ""), ("stranger", ""))
        accepted = [Acceptance(row, *answers, column) for row, column in rows]
        ledger.hand_over(one, "a", limits=sf.Limits(), accepted=accepted)
        assert ledger.noted(one).to == ("a",)


def test_who_answers_for_the_recipient_does_not_lift_the_terms(tmp_path: Path) -> None:
    made = released(people(), FIRST)
    most = dict.fromkeys(("found", "person", "learned"), 1.0)
    answer = Acceptance("recipient", "carol", "they are one house", date(2999, 1, 1), most)
    with opened(tmp_path) as ledger:
        one = draft(made, tmp_path, "first", ledger)
        share = ledger.noted(one).together["found"]
        strict = {"limits": replace(sf.Limits(found=1, person=1, learned=1), found=share * 0.9)}
        rows = [replace(answer, intruder=each) for each in ("stranger", "acquaintance")]
        rows.append(replace(answer, intruder="insider", column="code"))
        with pytest.raises(HandOverRefusedError):
            ledger.hand_over(one, "a", **strict, accepted=rows)
        ledger.settle(Terms(tolerable=share * 0.9), note="stricter", by="carol")
        with pytest.raises(HandOverRefusedError):
            ledger.hand_over(one, "a", **strict, accepted=[*rows, answer])
        ledger.settle(Terms(), note="as before", by="carol")
        ledger.hand_over(one, "a", **strict, accepted=[*rows, answer])


def test_the_limits_of_a_release_hold_beside_the_terms(tmp_path: Path) -> None:
    made = released(people(), FIRST)
    with opened(tmp_path) as ledger:
        one = draft(made, tmp_path, "first", ledger)
        share = ledger.noted(one).together["found"]
        with pytest.raises(HandOverRefusedError):
            ledger.hand_over(one, "a", limits=replace(sf.Limits(), found=share * 0.9))
        ledger.settle(Terms(tolerable=share * 0.9), note="stricter", by="carol")
        with pytest.raises(HandOverRefusedError):
            ledger.hand_over(one, "a")


def test_nothing_of_the_data_is_in_the_ledger(tmp_path: Path) -> None:
    data = people().assign(code=lambda each: "CANARY" + each["code"])
    with opened(tmp_path) as ledger:
        ledger.hand_over(draft(released(data, FIRST), tmp_path, "first", ledger), "a")
        text = "".join(each.detail for each in ledger._log.entries())
    assert "CANARY" not in text
    assert b"CANARY" not in (tmp_path / "book" / "l.sqlite").read_bytes()
    assert b"P00017" not in (tmp_path / "book" / "l.sqlite").read_bytes()


@pytest.mark.parametrize("place", ["book/head", "book/l.sqlite", "keys/head"])
def test_a_head_elsewhere_is_elsewhere(tmp_path: Path, place: str) -> None:
    with pytest.raises(InputError, match="must be outside the folders of the ledger and its keys"):
        opened(tmp_path, head=tmp_path / place)
    assert not (tmp_path / "book").exists()
    with opened(tmp_path) as ledger, pytest.raises(InputError, match="must be outside the folders"):
        ledger.register(note="another disk", by="carol", head=tmp_path / place)
