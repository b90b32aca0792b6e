"""Ways in which a stranger who has read the documentation tries to get round the ledger.

Two releases by promises, each tolerable alone, are too much together: the second one is asked for
in every disguise, of a ledger that is held to the share found alone. For requests each disguise of
the second one meets the first. docs/reference/ledger.md lists the ways.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from few_cases import fast_first
from ledger.releases import ANY, FIRST, SECOND, draft, opened, people, released
from semantics.requests import opened as opened_book
from semantics.requests import release, write_example

import sfumato as sf
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.ledger.release_ledger import ReleaseLedger, Terms

DATA = people(400)
IDS = DATA["person"].unique()


@pytest.fixture(autouse=True)
def _without_proposals(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would help costs more releases; test_attacked_together looks for that."""
    monkeypatch.setattr("sfumato.ledger.release_ledger.coarser", lambda *_: None)


@cache
def first() -> Any:
    """The first release."""
    return released(DATA, FIRST)


def of(some: Any) -> pd.DataFrame:
    """The records of some of the persons."""
    return DATA[DATA["person"].isin(some)]


def coarser(data: pd.DataFrame) -> pd.DataFrame:
    """The same under another recoding: incomes in tens, areas in fives."""
    area = "B" + (data["area"].str[1:].astype(int) // 5).astype(str)
    return data.assign(income=data["income"] // 10 * 10, area=area)


def renamed(data: pd.DataFrame, **names: str) -> Any:
    """The second release of a file whose columns have other names."""
    known = {names.get(name, name): kind for name, kind in SECOND.items()}
    code = names.get("code", "code")
    schema = sf.Schema(
        person=names.get("person", "person"), quasi_identifiers=known, sensitive=[code]
    )
    columns = ["person", *SECOND, "code"]
    return sf.anonymize(
        data[columns].rename(columns=names), schema, sf.GBalance(0.93), sf.HAffiliation(0.9), seed=2
    )


def insensitive(data: pd.DataFrame) -> Any:
    """The second release with its code called insensitive."""
    schema = sf.Schema(person="person", quasi_identifiers=SECOND, insensitive=["code"])
    return sf.anonymize(data[["person", *SECOND, "code"]], schema, sf.GBalance(0.93), seed=2)


def recoded(data: pd.DataFrame) -> pd.DataFrame:
    """The same with another code for each code."""
    return data.assign(code="D" + (data["code"].str[1:].astype(int) * 37 % 61).astype(str))


def rewritten(data: pd.DataFrame) -> pd.DataFrame:
    """The same under other ids, in another order."""
    return data.assign(person="X" + data["person"].str[::-1]).sample(frac=1, random_state=4)


def half_rewritten(data: pd.DataFrame) -> pd.DataFrame:
    """The same under other ids for every second person."""
    ids = data["person"]
    return data.assign(person=np.where(ids.isin(IDS[::2]), "X" + ids, ids))


def coarse_codes(data: pd.DataFrame) -> pd.DataFrame:
    """The same with the group of each code."""
    return data.assign(code=data["code"].str[:3])


def capital(data: pd.DataFrame) -> pd.DataFrame:
    """The same with its codes in other letters, and blanks about them."""
    return data.assign(code=" " + data["code"].str.lower())


def one_cell(data: pd.DataFrame) -> Any:
    """The second release with all codes of a person in one cell, nobody's name beside them."""
    grouped = data.groupby("person")
    codes = grouped["code"].agg(lambda each: ";".join(sorted(each)))
    file = grouped[list(SECOND)].first().assign(codes=codes).reset_index()
    schema = sf.Schema(person="person", quasi_identifiers=SECOND, sensitive=["codes"])
    return sf.anonymize(file, schema, sf.PidKAnonymity(16), seed=2, withhold=["person"])


def many_columns(data: pd.DataFrame) -> Any:
    """The second release with each code of a person in a column of its own, nobody named."""
    codes = data.groupby("person")["code"].agg(sorted)
    columns = [f"code{number}" for number in range(1, 5)]
    file = data.groupby("person")[list(SECOND)].first()
    wide = pd.DataFrame([[*each, *[""] * 4][:4] for each in codes], codes.index, columns)
    schema = sf.Schema(person="person", quasi_identifiers=SECOND, sensitive=columns)
    whole = file.join(wide).reset_index()
    return sf.anonymize(whole, schema, sf.PidKAnonymity(16), seed=2, withhold=["person"])


SECONDS: dict[str, Callable[[], Any]] = {
    "a person's codes in one cell, other ids": lambda: one_cell(rewritten(DATA)),
    "a person's codes in columns, other ids": lambda: many_columns(rewritten(DATA)),
    "as it is": lambda: released(DATA, SECOND, seed=2),
    "rewritten ids": lambda: released(DATA.assign(person="X" + DATA["person"]), SECOND, seed=2),
    "ids as numbers": lambda: released(
        DATA.assign(person=DATA["person"].str[1:].astype(int)), SECOND, seed=2
    ),
    "half of the ids rewritten": lambda: released(half_rewritten(DATA), SECOND, seed=2),
    "a subset": lambda: released(of(IDS[:300]), SECOND, seed=2),
    "renamed columns": lambda: renamed(DATA, code="diagnosis", person="patient", income="pay"),
    "renamed columns, rewritten ids and a sample": lambda: renamed(
        of(IDS[:270]).assign(person=lambda each: "X" + each["person"].str[::-1]), code="diagnosis"
    ),
    "another recoding": lambda: released(coarser(DATA), SECOND, seed=2),
    "an insensitive column": lambda: insensitive(DATA),
    "the order of the rows": lambda: released(DATA, SECOND, seed=2, keep_order=True),
    "the same pseudonyms": lambda: released(DATA, SECOND, seed=2, pseudonym_key=b"k" * 32),
    "a lower promise": lambda: released(DATA, SECOND, promises=(sf.PidKAnonymity(2),), seed=2),
    "shuffled and spelled otherwise": lambda: released(
        DATA.sample(frac=1, random_state=1).assign(income=DATA["income"].astype(str) + ".0"),
        SECOND,
        seed=2,
    ),
    "other codes": lambda: released(recoded(DATA), SECOND, seed=2),
    "other codes and an order-preserving mapping of ids": lambda: released(
        recoded(DATA).assign(person=DATA["person"].str[1:].astype(int) * 7 + 3),
        SECOND,
        seed=2,
        keep_order=True,
    ),
    "letters and ids": lambda: released(rewritten(capital(DATA)), SECOND, seed=2),
    "letters, ids and names": lambda: renamed(rewritten(capital(DATA)), code="dx"),
    "other codes and ids": lambda: released(rewritten(recoded(DATA)), SECOND, seed=2),
    "other codes and names": lambda: renamed(recoded(DATA), code="dx"),
    "other codes, names and ids": lambda: renamed(rewritten(recoded(DATA)), code="dx"),
    "other codes and half of the ids": lambda: released(
        half_rewritten(recoded(DATA)), SECOND, seed=2
    ),
    "coarser codes": lambda: released(coarse_codes(DATA), SECOND, seed=2),
    "coarser codes and names": lambda: renamed(coarse_codes(DATA), code="dx"),
    "coarser codes and ids": lambda: released(rewritten(coarse_codes(DATA)), SECOND, seed=2),
    "names of columns exchanged": lambda: renamed(DATA, code="income", income="code"),
    "a subset by a filter": lambda: released(DATA[DATA["sex"] == "F"], SECOND, seed=2),
    "a file that has grown": lambda: released(pd.concat([DATA, recoded(DATA)]), SECOND, seed=2),
    "padded with invented persons": lambda: released(
        pd.concat([DATA, people(300, 9).assign(person=lambda each: "Z" + each["person"])]),
        SECOND,
        seed=2,
    ),
}


@pytest.mark.parametrize("way", fast_first(4, SECONDS))
def test_the_second_release_is_refused_in_every_disguise(way: str, tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        ledger.settle(Terms(unkept=1), note="the share found alone", by="carol")
        ledger.hand_over(draft(first(), tmp_path, "first", ledger), "a")
        two = draft(SECONDS[way](), tmp_path, "second", ledger)
        for recipient in ("a", "A", "somebody else"):
            with pytest.raises(ConstraintsNotMetError):
                ledger.hand_over(two, recipient)
        assert ledger.remembered()[-1].to == ()


@pytest.mark.parametrize("person", [None, "record"])
def test_records_that_name_no_person_are_an_error(person: str | None, tmp_path: Path) -> None:
    """Whoever is in both cannot be followed: only the custodian can say that they are others."""
    data = DATA.assign(record=[f"r{each}" for each in range(len(DATA))])
    schema = sf.Schema(person=person, quasi_identifiers=SECOND, sensitive=["code"])
    columns = [*([person] if person else []), *SECOND, "code"]
    made = sf.anonymize(data[columns].sample(frac=1, random_state=1), schema, sf.KAnonymity(5))
    with opened(tmp_path) as ledger:
        ledger.hand_over(draft(first(), tmp_path, "first", ledger), "a")
        number = draft(made, tmp_path, "second", ledger)
        with pytest.raises(InputError, match="that can be followed"):
            ledger.hand_over(number, "a")


FEW = DATA[DATA["person"].isin(IDS[:240])]


def without_code(data: pd.DataFrame, known: dict[str, str], person: str | None, seed: int) -> Any:
    """A release of quasi-identifiers alone; without a person column its promise counts rows."""
    schema = sf.Schema(person=person, quasi_identifiers=known)
    promise = sf.KAnonymity(20) if person is None else sf.PidKAnonymity(14)
    return sf.anonymize(data[[*([person] if person else []), *known]], schema, promise, seed=seed)


def test_that_nobody_is_recognised_is_no_finding(tmp_path: Path) -> None:
    """Nothing is shown in common; who is in both is known to the custodian alone."""
    with opened(tmp_path) as ledger:
        first = draft(without_code(FEW, FIRST, "person", 1), tmp_path, "first", ledger)
        ledger.hand_over(first, "a")
        number = draft(without_code(FEW, SECOND, None, 2), tmp_path, "second", ledger)
        with pytest.raises(InputError, match=f"waive --release {number}"):
            ledger.hand_over(number, "b")
        ledger.waive(number, note="of another country", by="carol")
        ledger.hand_over(number, "b")
        (tmp_path / "again").mkdir()
        again = replace(without_code(FEW, SECOND, None, 2), limits=ANY)
        again.write(tmp_path / "again/second.csv", memory=ledger)
        ledger.hand_over(ledger.remembered()[-1].number, "b")  # as a project makes it again
        other = draft(without_code(FEW[:-9], SECOND, None, 2), tmp_path, "other", ledger)
        with pytest.raises(InputError, match=f"waive --release {other}"):
            ledger.hand_over(other, "b")


@pytest.mark.parametrize("persons", [("person", None), (None, "person")])
def test_numbers_of_rows_of_classes_join_releases(
    persons: tuple[str | None, str | None], tmp_path: Path
) -> None:
    """One says how many rows a person has, the other how many rows the people of a class have."""
    with opened(tmp_path) as ledger:
        for number, person in enumerate(persons):
            made = draft(without_code(FEW, FIRST, person, number), tmp_path, f"{number}", ledger)
            if number == 0:
                ledger.hand_over(made, "a")
        with pytest.raises(ConstraintsNotMetError):
            ledger.hand_over(made, "a")


def test_numbers_of_rows_tell_nothing_where_each_person_has_one(tmp_path: Path) -> None:
    once = FEW.drop_duplicates("person")
    with opened(tmp_path) as ledger:
        for number, person in enumerate(("person", None)):
            made = draft(without_code(once, FIRST, person, number), tmp_path, f"{number}", ledger)
            found = ledger.hand_over(made, "a")
        assert found.found == {key: each.found for key, each in found.alone.items()}


def test_who_has_the_same_id_is_the_same_whatever_was_waived(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        one = draft(first(), tmp_path, "first", ledger)
        ledger.hand_over(one, "a")
        ledger.waive(one, note="of other people than a third one", by="carol")
        with pytest.raises(ConstraintsNotMetError):
            ledger.hand_over(draft(released(DATA, SECOND), tmp_path, "second", ledger), "a")


def test_a_clock_that_is_set_back_makes_nothing_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as ledger:
        one = draft(first(), tmp_path, "first", ledger)

        class Earlier(datetime):
            @classmethod
            def now(cls, tz: Any = None) -> datetime:
                return datetime(2001, 1, 1, tzinfo=tz)

        monkeypatch.setattr("sfumato.core.chain.datetime", Earlier)
        ledger.hand_over(one, "a")
        (noted,) = ledger.remembered()
        assert noted.handed >= noted.time


def test_whoever_gets_it_twice_or_later_counts(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        one = draft(first(), tmp_path, "first", ledger)
        for recipient in ("a", "a", "b"):
            ledger.hand_over(one, recipient)
        assert ledger.remembered()[0].to == ("a", "a", "b")
        ledger.waive("b", note="a public office", by="carol")
        with pytest.raises(ConstraintsNotMetError):  # of a
            ledger.hand_over(draft(released(DATA, SECOND), tmp_path, "second", ledger), "c")


def test_a_link_leads_to_the_same_ledger(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        ledger.hand_over(draft(first(), tmp_path, "first", ledger), "a")
    shutil.copytree(tmp_path / "book", tmp_path / "older")
    link = tmp_path / "link.sqlite"
    link.symlink_to(tmp_path / "book" / "l.sqlite")
    with ReleaseLedger.open(link, tmp_path / "keys") as ledger:
        draft(released(DATA, SECOND), tmp_path, "second", ledger)
    link.unlink()
    link.symlink_to(tmp_path / "older" / "l.sqlite")
    with pytest.raises(InputError, match="must hold entry"):
        ReleaseLedger.open(link, tmp_path / "keys")
    (tmp_path / "inside").symlink_to(tmp_path / "book" / "keys")
    shutil.copytree(tmp_path / "keys", tmp_path / "book" / "keys")
    with pytest.raises(InputError, match="outside the ledger's folder"):
        ReleaseLedger.open(tmp_path / "book" / "l.sqlite", tmp_path / "inside")


def test_of_two_copies_that_go_on_one_is_refused(tmp_path: Path) -> None:
    """With the same keys; with a copy of the keys only a head elsewhere tells."""
    for name in ("known", "elsewhere"):
        folder = tmp_path / name
        folder.mkdir()
        head = {"head": folder / "head"} if name == "elsewhere" else {}
        opened(folder, **head).close()
        shutil.copytree(folder / "book", folder / "copy")
        keys = folder / "keys"
        if head:
            keys = shutil.copytree(keys, folder / "keys of the copy")
        with opened(folder) as ledger:
            draft(first(), folder, "first", ledger)
        with pytest.raises(InputError, match="must hold entry"):
            ReleaseLedger.open(folder / "copy" / "l.sqlite", keys)


def test_a_ledger_that_grew_meanwhile_is_compared_as_it_is(tmp_path: Path) -> None:
    """Two processes have it open; the one that is late meets what the other one handed over."""
    with opened(tmp_path) as ledger, opened(tmp_path) as other:
        one = draft(first(), tmp_path, "first", ledger)
        second = draft(released(DATA, SECOND, seed=2), tmp_path, "second", other)
        ledger.hand_over(one, "a")
        with pytest.raises(ConstraintsNotMetError):
            other.hand_over(second, "a")


def test_a_hand_over_that_was_interrupted_counts_or_never_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the entry and the head beside the keys: the entry is there, and holds."""
    ledger = opened(tmp_path)
    one = draft(first(), tmp_path, "first", ledger)
    with monkeypatch.context() as stopped:
        stopped.setattr("sfumato.ledger.head_anchor.Anchor.keep", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.hand_over(one, "a")
    ledger.close()
    with opened(tmp_path) as ledger:
        assert ledger.remembered()[0].to == ("a",)
        with pytest.raises(ConstraintsNotMetError):
            ledger.hand_over(draft(released(DATA, SECOND), tmp_path, "second", ledger), "b")


def _interrupted(anchor: object, head: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_other_ids_never_make_it_look_safer(tmp_path: Path) -> None:
    """Whose class is whose is guessed then, so that every record is taken for joined."""
    constant = DATA.assign(code=(DATA["person"].str[-1] < "5").astype(str))
    said = []
    for name, data in (("kept", constant), ("rewritten", rewritten(constant))):
        (tmp_path / name).mkdir()
        with opened(tmp_path / name) as ledger:
            ledger.settle(Terms(tolerable=1, unkept=1), note="to see", by="carol")
            for number, (file, known) in enumerate(((constant, FIRST), (data, SECOND))):
                made = released(file, known, promises=(sf.PidKAnonymity(20),), seed=number)
                handed = draft(made, tmp_path / name, f"{number}", ledger)
                found = ledger.hand_over(handed, "a")
            said.append(found.most)
    assert said[1] > 2 * said[0]


def test_two_files_in_one_order_are_not_taken_for_those_of_strangers(tmp_path: Path) -> None:
    """No ids, and nothing else in common: the place of a row says who it is."""
    rows = DATA.drop_duplicates("person")
    with opened(tmp_path) as ledger:
        for number, known in ((2, FIRST), (4, SECOND)):
            schema, k = sf.Schema(quasi_identifiers=known), sf.KAnonymity(20)
            made = sf.anonymize(rows[[*known]], schema, k, seed=2, keep_order=True)
            assert draft(made, tmp_path, f"{number}", ledger) == number
            if number == 2:
                ledger.hand_over(number, "a")
        with pytest.raises(InputError, match="that can be followed"):
            ledger.hand_over(number, "a")


def test_what_was_erased_is_said_where_a_release_is_handed_over(tmp_path: Path) -> None:
    small = DATA[DATA["person"].isin(IDS[:120])]
    with opened(tmp_path) as ledger:
        ledger.settle(Terms(tolerable=1, unkept=1, keep="1 day"), note="to see", by="carol")
        for name in ("first", "second"):
            ledger.hand_over(draft(released(small, FIRST), tmp_path, name, ledger), "a")
        ledger.forget([str(IDS[0])], note="asked for", by="carol")
        found = ledger.hand_over(
            draft(released(of(IDS[200:300]), FIRST), tmp_path, "x", ledger), "a"
        )
        assert "people were erased from 3, 5" in found.unknown[-1]
        ledger.expire(by="carol", now=datetime.now(UTC) + timedelta(days=2))
        found = ledger.hand_over(draft(released(small, FIRST), tmp_path, "y", ledger), "a")
        assert any("could not be compared" in each for each in found.unknown)


def test_a_file_in_two_halves_is_refused_at_the_first_or_the_second(tmp_path: Path) -> None:
    with opened(tmp_path) as ledger:
        ledger.hand_over(draft(first(), tmp_path, "first", ledger), "a")
        for name, half in (("left", IDS[:200]), ("right", IDS[200:])):
            two = draft(released(of(half), SECOND, seed=2), tmp_path, name, ledger)
            with pytest.raises(ConstraintsNotMetError):
                ledger.hand_over(two, "a")


def test_columns_in_two_files_are_refused_before_they_join(tmp_path: Path) -> None:
    """Income with the first release's file, area later: each time all are compared."""
    with opened(tmp_path) as ledger:
        ledger.hand_over(draft(first(), tmp_path, "first", ledger), "a")
        for name in SECOND:
            one = draft(released(DATA, {name: SECOND[name]}, seed=3), tmp_path, name, ledger)
            with pytest.raises(ConstraintsNotMetError):
                ledger.hand_over(one, "a")


def test_a_draft_that_went_out_without_a_word_is_only_known_as_one(tmp_path: Path) -> None:
    """The ledger cannot see what is mailed: the draft says so, and a later one is not held back."""
    with opened(tmp_path) as ledger:
        draft(first(), tmp_path, "first", ledger)
        two = draft(released(DATA, SECOND, seed=2), tmp_path, "second", ledger)
        assert ledger.hand_over(two, "a").all.keys() == {two}
        assert [each.to for each in ledger.remembered()] == [(), ("a",)]
        with pytest.raises(ConstraintsNotMetError):
            ledger.hand_over(ledger.remembered()[0].number, "b")


def _away(folder: Path, ledger: ReleaseLedger) -> None:
    shutil.rmtree(folder / "book")


def _fresh(folder: Path, ledger: ReleaseLedger) -> None:
    _away(folder, ledger)
    opened(folder / "other").close()
    shutil.copytree(folder / "other" / "book", folder / "book")


def _other_keys(folder: Path, ledger: ReleaseLedger) -> None:
    shutil.rmtree(folder / "keys")
    opened(folder / "other").close()
    shutil.copytree(folder / "other" / "keys", folder / "keys")


def _copied_keys_and_a_fresh_ledger(folder: Path, ledger: ReleaseLedger) -> None:
    """The signing key is copied without its heads; the ledger made with it takes the old place."""
    copied = shutil.copytree(folder / "keys", folder / "other" / "keys")
    for each in copied.glob("*.head"):
        each.unlink()
    opened(folder / "other").close()
    shutil.rmtree(folder / "book")
    shutil.copytree(folder / "other" / "book", folder / "book")


@pytest.mark.parametrize(
    "way",
    [_away, _fresh, _other_keys, _copied_keys_and_a_fresh_ledger],
    ids=lambda way: way.__name__,
)
def test_another_ledger_or_other_keys_are_refused(
    way: Callable[[Path, ReleaseLedger], None], tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    with opened(tmp_path) as ledger:
        ledger.hand_over(draft(first(), tmp_path, "first", ledger), "a")
    way(tmp_path, ledger)
    with pytest.raises(InputError):
        opened(tmp_path)


# ------------------------------------------------------------------------ releases on request


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_example(tmp_path)


def rewrite(folder: Path, name: str, *pairs: tuple[str, str]) -> None:
    text = (folder / name).read_text(encoding="utf-8")
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    (folder / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    "pairs",
    fast_first(
        2,
        [
            [('requester = "Dr. Who"', 'requester = "dr. who"')],
            [('requester = "Dr. Who"\n', "")],
            [('"A with B"', '"A and B"'), ("A with B", "A and B")],
        ],
    ),
    ids=["another spelling", "nobody", "another linkage"],
)
def test_a_request_under_another_name_meets_the_earlier_one(folder: Path, pairs: Any) -> None:
    with opened_book(folder) as ledger:
        first = release(folder, "one.toml", ledger)
        for old, new in pairs:
            text = (folder / "two.toml").read_text(encoding="utf-8")
            (folder / "two.toml").write_text(text.replace(old, new), encoding="utf-8")
        made = release(folder, "two.toml", ledger)
        assert made.known.releases == (first.number,)
        assert made.exposed >= 1


def test_a_lower_k_under_another_linkage_is_refused(folder: Path) -> None:
    rewrite(folder, "two.toml", ("A with B", "A and B"), ("k = 3", "k = 2"))
    with opened_book(folder) as ledger:
        release(folder, "one.toml", ledger)
        with pytest.raises(InputError, match="must keep the k of its earlier releases, 3"):
            release(folder, "two.toml", ledger)


def test_rewritten_ids_are_followed_by_what_is_shown(folder: Path) -> None:
    with opened_book(folder) as ledger:
        first = release(folder, "one.toml", ledger)
        for name in ("linked.csv", "hospital.csv"):
            rewrite(folder, name, ("Alice", "X1"), ("Tom", "X2"), ("Emma", "X3"))
        ledger.grant(
            "A with B",
            k=None,
            local={"Hospital A": _sha256(folder / "hospital.csv")},
            note="new numbers",
            by="carol",
        )
        made = release(folder, "two.toml", ledger)
        assert made.known.releases == (first.number,)


def _sha256(path: Path) -> str:
    from sfumato.table.table_files import data_sha256

    return data_sha256(path)


def _without_columns(folder: Path) -> None:
    linked = pd.read_csv(folder / "linked.csv").drop(columns=["born", "sex"])
    linked.to_csv(folder / "linked.csv", index=False)
    rewrite(folder, "schema.toml", ('born = "categorical"\n', ""), ('sex = "categorical"\n', ""))
    rewrite(folder, "two.toml", ('born = "born.csv"\n', ""), ('sex = "sex.csv"\n', ""))


def _other_labels(folder: Path) -> None:
    rows = [each.split(";") for each in (folder / "born.csv").read_text("utf-8").splitlines()]
    lines = [
        ";".join([own, f"about {ten}", f"about {twenty}", end]) for own, ten, twenty, end in rows
    ]
    (folder / "born.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _padded(folder: Path) -> None:
    with (folder / "hospital.csv").open("a", encoding="utf-8") as patients:
        patients.write("Z1,1975,F,Chinese,Mandarin\nZ2,1962,F,Irish,English\n")


def _padded_under_another_name(folder: Path) -> None:
    _padded(folder)
    rewrite(folder, "two.toml", ("Hospital A", "Clinic A"))


@pytest.mark.parametrize(
    ("way", "said"),
    fast_first(
        2,
        [
            (_without_columns, "attribute 'born' must be generalised as in release 2"),
            (_other_labels, "attribute 'born' must be generalised as in release 2"),
            (_padded, "must be what earlier releases were held against"),
            (_padded_under_another_name, "must be what earlier releases were held against"),
        ],
        tuples=True,
    ),
)
def test_a_request_that_hides_what_was_shown_is_refused(
    way: Callable[[Path], None], said: str, folder: Path
) -> None:
    with opened_book(folder) as ledger:
        release(folder, "one.toml", ledger)
        way(folder)
        name = "Clinic A" if way is _padded_under_another_name else "Hospital A"
        with pytest.raises(InputError, match=said):
            release(folder, "two.toml", ledger, local={name: folder / "hospital.csv"})


def test_a_request_and_a_release_by_promises_are_compared(folder: Path) -> None:
    """Three persons by promises are found at once; beside them the request would be as well."""
    schema = sf.Schema(
        person="name", quasi_identifiers={"born": "numeric"}, sensitive=["drug"],
        direct_identifiers=["sex", "ethnicity", "language"],
    )  # fmt: skip
    made = sf.anonymize(folder / "linked.csv", schema, sf.PidKAnonymity(3), seed=1)
    (folder / "out").mkdir()
    with opened_book(folder) as ledger:
        release(folder, "one.toml", ledger)
        replace(made, limits=ANY).write(folder / "out" / "out.csv", memory=ledger)
        number = ledger.remembered()[-1].number
        with pytest.raises(ConstraintsNotMetError, match="pid_k"):
            ledger.hand_over(number, "a")
    assert [each.request > 0 for each in ledger_of(folder)] == [True, False]


def ledger_of(folder: Path) -> Any:
    with opened_book(folder) as ledger:
        return ledger.remembered()
