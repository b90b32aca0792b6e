"""Releases on request: the running example of paper 002 end to end, at two times."""

from __future__ import annotations

import csv
import json
import re
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from few_cases import fast_first
from hypothesis import given
from hypothesis import strategies as st
from oracles import intruders as oracle
from oracles.intruders import Record
from semantics.made import NAMES, built, cases
from semantics.policies import example
from semantics.reader import fewest, holds, shown, together
from semantics.requests import HIERARCHIES, opened, release, write_example

import sfumato as sf
from sfumato.core.atomic import write_text
from sfumato.core.errors import InputError
from sfumato.hierarchies import Hierarchy
from sfumato.semantics.associations import Association, Item, State
from sfumato.semantics.local_data import Linked, Local
from sfumato.semantics.policy import load_policy
from sfumato.semantics.release_request import Asked, Known, ask
from sfumato.semantics.request_ledger import RequestLedger
from sfumato.semantics.requested_release import (
    Enforced,
    RequestedRelease,
    anonymize_requested,
    enforce,
    make_release,
)
from sfumato.semantics.rules.derivation import derive
from sfumato.semantics.rules.reasoner import house_rules
from sfumato.semantics.sla import semantic_levels
from sfumato.table.sources import Labels
from sfumato.table.table_files import data_sha256

ASSOCIATION = "language Chinese languages -> ethnicity Chinese"
LA_AT_2 = ("1960-1980", "*", "Asian", "Mandarin")
SLA_AT_2 = ("1960-1980", "*", "Asian", "*")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_example(tmp_path)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def of_alice(path: Path) -> tuple[str, ...]:
    first = rows(path)[0]
    return first["born"], first["sex"], first["ethnicity"], first["language"]


def accept(ledger: RequestLedger) -> str:
    (found,) = [each for each in ledger.associations() if each.text == ASSOCIATION]
    ledger.decide([found.id], "accept", "a reader of release 2 sees it", "carol")
    return found.id


def own(folder: Path, name: str) -> Path:
    """A release in a folder of its own."""
    (folder / name).mkdir(exist_ok=True)
    return folder / name / "out.csv"


def test_time_1_is_linkage_anonymity_by_the_rules(folder: Path) -> None:
    with opened(folder) as ledger:
        made = release(folder, "one.toml", ledger, output=folder / "out.csv")
        assert made.k == 3
        assert made.asked.requirements.quasi_identifiers == {
            "Hospital A": ("born", "sex", "ethnicity")
        }
        assert of_alice(folder / "out.csv") == ("1971-1980", "F", "Chinese", "Mandarin")
        assert made.figures["LA"] == made.figures["SLA"]
        assert made.figures["SLA"].smallest_match >= 3
        assert made.changes == ()
        assert any("Rule 4" in each for each in made.rules)
        (noted,) = ledger.releases()
        assert noted.number == made.number
        assert (noted.requester, noted.role, noted.k) == ("Dr. Who", "clinician", 3)
        assert noted.file_hashes == {"out.csv": made.manifest["release"]["output_sha256"]}
        assert noted.digests
        assert ASSOCIATION in [each.text for each in ledger.associations()]
        assert {each.state for each in ledger.associations()} == {State.PROPOSED}
        assert ledger.verify().whole


@pytest.mark.parametrize("policy", ["one.toml", "two.toml"])
def test_its_verdict_is_what_naive_code_finds_in_the_file(folder: Path, policy: str) -> None:
    """People of up to three records; the language is known to everybody under one policy alone."""
    rng = np.random.default_rng(3)
    hospital = pd.read_csv(folder / "hospital.csv")
    more = pd.concat([hospital] * 5, ignore_index=True)
    more["name"] = [f"p{each}" for each in range(len(more))]
    more.to_csv(folder / "hospital.csv", index=False)
    linked = more.sample(30, random_state=1)
    linked = linked.loc[linked.index.repeat(rng.integers(1, 4, 30))].reset_index(drop=True)
    linked["drug"] = rng.choice(["a", "b", "c"], len(linked))
    linked.to_csv(folder / "linked.csv", index=False)
    made = release(folder, policy)
    known = ["born", "sex", "ethnicity", *(["language"] if policy == "two.toml" else [])]
    table = made.table.to_pandas()
    of = pd.factorize(table["name"])[0]
    shows = table.groupby("name")[known].transform(lambda one: "|".join(sorted(set(one))))
    class_of = pd.factorize(shows.agg("/".join, axis=1))[0]
    cells = {name: pd.factorize(table[name])[0] for name in ("drug", "language")}
    records = [
        Record(
            int(person), int(person), int(class_of[row]), {n: int(c[row]) for n, c in cells.items()}
        )
        for row, person in enumerate(of)
    ]
    expected = oracle.found(records, bands=False)
    in_file = made.found.stranger
    assert (in_file.found.value, in_file.person.value) == pytest.approx(expected)
    # Who has a register looks among all patients of the hospital, not only those in the file.
    stranger = made.verdict.row("stranger").findings
    assert stranger is not None
    assert stranger.found.value == pytest.approx(made.figures["SLA"].risk)
    assert stranger.person.value == pytest.approx(1 / made.figures["SLA"].smallest_match)
    acquaintance = made.verdict.row("acquaintance").findings
    assert acquaintance is not None
    expected = oracle.found(records, bands=True)
    assert (acquaintance.found.value, acquaintance.person.value) == pytest.approx(expected)
    assert {*made.verdict.insiders} == {"drug", "language"} - {*known}
    for name, each in made.verdict.insiders.items():
        chances = [*oracle.by_two(records, (name,)).values()]
        assert each.found.value == pytest.approx(float(np.mean(chances)))
    # Within any limits, but without a ledger what the recipient finds was not measured.
    assert made.judged(sf.Limits(found=1, person=1, learned=1)).verdict.exit_code == 4


def test_a_codebook_stands_beside_it_and_the_recipe_in_manifest_and_report(folder: Path) -> None:
    text = (folder / "schema.toml").read_text(encoding="utf-8")
    recipe = '[recipe]\ndrug = { case = "upper", rename = { STATIN = "S1" } }\n'
    (folder / "schema.toml").write_text(text + recipe, encoding="utf-8")
    made = release(folder, "one.toml", output=folder / "out.csv")
    told = (folder / "out.codebook.md").read_text(encoding="utf-8")
    assert told == made.codebook("out.csv")
    assert "3 records of 3 people." in told
    assert "| `name` |  | text | the person: a pseudonym" in told
    assert "| `born` |  | text | generalised: " in told
    assert re.search(r"\| `drug` \|  \| text \| .*; 1 value renamed; ", told)
    assert "as in the original" in told
    assert not {"STATIN", "S1", "Alice"} & set(told.replace("|", " ").split())
    manifest = tomllib.loads((folder / "release.toml").read_text(encoding="utf-8"))
    assert [(each["step"], each["changed"]) for each in manifest["recipe"]] == [
        ("case", 3), ("rename", 1),
    ]  # fmt: skip
    sf.report(made, folder / "page.html")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "in upper case" in page


def test_labels_that_are_left_out_are_warned_about(folder: Path) -> None:
    linked = pd.read_csv(folder / "linked.csv", dtype=str).assign(dose="1", form="2")
    said = {"name": "Full name", "drug": "Drug that Alice takes", "dose": "Daily dose"}
    pyreadstat.write_sav(linked, folder / "linked.sav", column_labels=said,
                         variable_value_labels={"form": {"2": "as Tom has it"}})  # fmt: skip
    text = (folder / "schema.toml").read_text(encoding="utf-8")
    schema = (
        f'insensitive = ["dose", "form"]\n{text}\n[recipe]\ndose = {{ rename = {{ 1 = "9" }} }}\n'
    )
    (folder / "schema.toml").write_text(schema, encoding="utf-8")
    made = anonymize_requested(
        folder / "linked.sav", sf.load_schema(folder / "schema.toml"), policy=folder / "one.toml",
        request="diabetes", local={"Hospital A": folder / "hospital.csv"},
    )  # fmt: skip
    assert made.shown_labels == Labels({}, {})
    (warned,) = [each for each in made.warnings if "labels" in each]
    assert "'form', 'drug'" in warned
    assert "Alice" not in warned


def test_time_2_is_changed_by_an_association_accepted_between(folder: Path) -> None:
    with opened(folder) as ledger:
        release(folder, "one.toml", ledger)
        before = release(folder, "two.toml", output=own(folder, "la"))
        accepted = accept(ledger)
        made = release(folder, "two.toml", ledger, output=own(folder, "sla"))
        assert of_alice(own(folder, "la")) == LA_AT_2
        assert of_alice(own(folder, "sla")) == SLA_AT_2
        assert before.figures["SLA"].risk == made.figures["LA"].risk_unaware
        assert made.figures["LA"].risk == pytest.approx((1 / 2 + 1 / 3 + 1 / 3) / 3)
        assert made.figures["SLA"].risk <= 1 / 3
        assert made.figures["SLA"].sse_sst > made.figures["LA"].sse_sst
        reason, _ = made.changes
        assert (reason.association, reason.tuples, reason.individuals) == (accepted, 1, 1)
        assert any("Rule 7" in line for line in reason.explained)
        assert made.manifest["known"]["associations"] == [accepted]
        noted = ledger.releases()[-1]
        assert [each.id for each in noted.associations if each.state is State.ACCEPTED] == [
            accepted
        ]
        assert noted.figures["SLA"]["risk"] == made.figures["SLA"].risk
        assert ledger.verify().whole


def test_what_earlier_releases_showed_is_intersected(folder: Path) -> None:
    with opened(folder) as ledger:
        first = release(folder, "one.toml", ledger)
        made = release(folder, "two.toml", ledger)
        assert made.known.releases == (first.number,)
        assert made.exposed >= 1
        assert any("earlier releases alone" in each for each in made.warnings)
        assert ledger.releases()[-1].number == made.number


def test_a_person_with_several_records_counts_once(folder: Path) -> None:
    text = (folder / "linked.csv").read_text(encoding="utf-8")
    alice = next(line for line in text.splitlines() if line.startswith("Alice"))
    twice = alice.replace(",Mandarin,", ",English,")
    hospital = (folder / "hospital.csv").read_text(encoding="utf-8")
    hospital += "Alice,1975,F,Chinese,English\n"
    (folder / "hospital.csv").write_text(hospital, encoding="utf-8")
    (folder / "linked.csv").write_text(f"{text}{alice}\n{twice}\n", encoding="utf-8")
    with opened(folder) as ledger:
        release(folder, "one.toml", ledger)
        made = release(folder, "two.toml", ledger, output=folder / "out.csv")
        assert [each.individuals for each in ledger.releases()] == [3, 3]
    assert made.exposed <= 3
    assert len(rows(folder / "out.csv")) == 5
    assert made.table.num_rows == 5


def test_what_fails_behind_the_release_leaves_no_note_of_it(folder: Path) -> None:
    """A report that cannot be written: neither files nor entries are there, but what was."""
    asked = ask(
        folder / "linked.csv",
        sf.load_schema(folder / "schema.toml"),
        policy=folder / "one.toml",
        request="diabetes",
        local={"Hospital A": folder / "hospital.csv"},
    )
    numbers = []

    def fail(made: RequestedRelease) -> None:
        numbers.append(made.number)
        write_text(own(folder, "reports"), "report")
        raise InputError("output", "must be written whole")

    with opened(folder) as ledger:
        before = ledger.head()
        output = own(folder, "new")
        with pytest.raises(InputError, match="must be written whole"):
            make_release(asked, ledger, output, also=fail)
        assert (ledger.head(), ledger.associations()) == (before, [])
        for name in ("new", "reports"):
            assert list((folder / name).iterdir()) == []
        made = make_release(asked, ledger, output, also=lambda made: numbers.append(made.number))
        assert numbers == [made.number, made.number]
        assert ledger.associations()
        assert ledger.verify(before).whole
    assert {each.name for each in output.parent.iterdir()} == {
        "out.codebook.md",
        "out.csv",
        "release.toml",
    }


def test_releases_without_persons_are_refused_unless_they_are_of_other_people(folder: Path) -> None:
    schema = sf.load_schema(folder / "schema.toml")
    nameless = schema.model_copy(update={"person": None, "direct_identifiers": ("name",)})

    def made(ledger: RequestLedger) -> RequestedRelease:
        return anonymize_requested(
            folder / "linked.csv",
            nameless,
            policy=folder / "one.toml",
            request="diabetes",
            local={"Hospital A": folder / "hospital.csv"},
            ledger=ledger,
        )

    with opened(folder) as ledger:
        first = made(ledger)
        assert not any(each.digests for each in ledger.releases())
        with pytest.raises(InputError, match="that can be followed"):
            made(ledger)
        ledger.waive(ledger.remembered()[0].number, note="of another year", by="carol")
        second = made(ledger)
        assert second.known.unfollowed == (first.number,)
        assert any("cannot be followed" in each for each in second.warnings)


def test_a_site_rule_changes_the_release(folder: Path) -> None:
    site = folder / "site.lp"
    site.write_text("% The site wants 4.\nhas_linkage_k(Ln, 4) :- linkage(Ln).\n", "utf-8")
    plain = release(folder, "one.toml", output=own(folder, "plain"))
    made = release(folder, "one.toml", output=own(folder, "site"), rules=[site])
    assert (plain.k, made.k) == (3, 4)
    assert rows(own(folder, "plain")) != rows(own(folder, "site"))
    assert made.figures["SLA"].smallest_match >= 4
    assert any("The site wants 4." in each for each in made.rules)
    names = ("policy_sha256", "rules_sha256")
    one, other = ([each.manifest["policy"][name] for name in names] for each in (plain, made))
    assert one[0] == other[0]
    assert one[1] != other[1]


@pytest.mark.slow
def test_a_site_rule_suppresses_what_is_generalised_without_it(folder: Path) -> None:
    lines = ["Mandarin;Chinese languages;*", "Cantonese;Chinese languages;*", "English;Germanic;*"]
    (folder / "language.csv").write_text("\n".join([*lines, ""]), encoding="utf-8")
    hospital = (folder / "hospital.csv").read_text(encoding="utf-8")
    hospital += "Bo,1973,M,Mongolian,Cantonese\nLi,1974,F,Mongolian,Cantonese\n"
    (folder / "hospital.csv").write_text(hospital, encoding="utf-8")
    linked = (folder / "linked.csv").read_text(encoding="utf-8")
    linked += "Bo,1973,M,Mongolian,Cantonese,x\nLi,1974,F,Mongolian,Cantonese,x\n"
    (folder / "linked.csv").write_text(linked, encoding="utf-8")
    site = folder / "site.lp"
    site.write_text("enforce(suppress, Tup, Ar) :- enforce(generalise, Tup, Ar).\n", "utf-8")
    with opened(folder) as ledger:
        release(folder, "one.toml", ledger)
        found = [each for each in ledger.associations() if each.text.startswith("language ")]
        (known,) = [each for each in found if each.text == "language Mandarin -> ethnicity Chinese"]
        ledger.decide([known.id], "accept", "well known", "carol")
        plain = release(folder, "two.toml", ledger, output=own(folder, "plain"))
        made = release(folder, "two.toml", ledger, output=own(folder, "site"), rules=[site])
    assert of_alice(own(folder, "plain"))[3] == "Chinese languages"
    assert of_alice(own(folder, "site"))[3] == "*"
    assert [each.changes[0].measure for each in (plain, made)] == ["generalise", "suppress"]


def test_a_k_that_hangs_on_tuples_is_refused(folder: Path) -> None:
    site = folder / "site.lp"
    site.write_text("has_linkage_k(Ln, 5) :- has_tuple(Ln, Tup).\n", encoding="utf-8")
    with opened(folder) as ledger:
        release(folder, "one.toml", ledger)
        accept(ledger)
        with pytest.raises(InputError, match="whatever its tuples are"):
            release(folder, "two.toml", ledger, rules=[site])


def give_all(folder: Path, place: int, value: str) -> None:
    """Give a value to everybody, in the hospital's data and in the linked data."""
    for name in ("hospital.csv", "linked.csv"):
        head, *lines = (folder / name).read_text(encoding="utf-8").splitlines()
        cells = [line.split(",") for line in lines]
        for row in cells:
            row[place] = value
        text = "\n".join([head, *map(",".join, cells), ""])
        (folder / name).write_text(text, encoding="utf-8")


def granted(folder: Path, ledger: RequestLedger) -> None:
    """The custodian grants that the hospital's file is another."""
    hospital = {"Hospital A": data_sha256(folder / "hospital.csv")}
    ledger.grant("A with B", k=None, local=hospital, note="corrected", by="carol")


def test_values_that_nobody_has_any_more_tell_nothing(folder: Path) -> None:
    with opened(folder) as ledger:
        release(folder, "one.toml", ledger)
        accepted = accept(ledger)
        give_all(folder, 4, "English")
        granted(folder, ledger)
        made = release(folder, "two.toml", ledger, output=folder / "out.csv")
        assert made.known.accepted == ()
        assert [each.id for each in made.known.noted if each.state is State.ACCEPTED] == [accepted]
        assert len(made.known.releases) == 1
        assert ledger.releases()[-1].number == made.number


def test_what_everybody_has_is_no_conclusion(folder: Path) -> None:
    with opened(folder) as ledger:
        release(folder, "one.toml", ledger)
        accept(ledger)
        give_all(folder, 3, "Chinese")
        granted(folder, ledger)
        made = release(folder, "two.toml", ledger)
        assert made.known.accepted == ()


def test_a_condition_that_everybody_meets_is_known_of_everybody(folder: Path) -> None:
    """All speak Mandarin, so that a reader takes whoever may be Chinese for Chinese."""
    with opened(folder) as ledger:
        release(folder, "one.toml", ledger)
        accept(ledger)
        give_all(folder, 4, "Mandarin")
        granted(folder, ledger)
        made = release(folder, "two.toml", ledger, output=own(folder, "all"))
        assert ledger.verify().whole
    hospital = rows(folder / "hospital.csv")
    assert len(made.known.accepted) == 1
    for each in rows(own(folder, "all")):
        may_be_chinese = each["ethnicity"] in {"*", "Asian", "Chinese"}
        told = {**each, "ethnicity": "Chinese"} if may_be_chinese else each
        left = [who for who in hospital if all(fits(who, told, name) for name in HIERARCHIES)]
        assert len(left) >= 3 or not left
    assert made.figures["SLA"].risk <= made.figures["LA"].risk


def fits(person: dict[str, str], shown: dict[str, str], name: str) -> bool:
    """Whether a value that is shown stands for that of a person, by the lines of the code list."""
    (line,) = (each for each in HIERARCHIES[name] if each.split(";")[0] == person[name])
    return shown[name] in line.split(";")


def without(monkeypatch: pytest.MonkeyPatch, title: str) -> None:
    """The package's rules without those of a title."""
    rules = tuple(each for each in house_rules() if not each.title.startswith(title))
    assert len(rules) < len(house_rules())
    monkeypatch.setattr(
        sys.modules["sfumato.semantics.rules.derivation"], "house_rules", lambda: rules
    )


@pytest.mark.parametrize("title", ["Rule 1.", "Rule 2.", "Rule 3.", "Rule 4."])
def test_without_a_rule_there_is_no_release(
    folder: Path, monkeypatch: pytest.MonkeyPatch, title: str
) -> None:
    without(monkeypatch, title)
    with opened(folder) as ledger, pytest.raises(InputError, match="rules allow"):
        release(folder, "one.toml", ledger, output=folder / "out.csv")
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize("title", fast_first(1, ["Rule 5.", "Rule 6.", "Rule 7."]))
def test_what_no_rule_enforces_is_refused_and_not_mended_beside_them(
    folder: Path, monkeypatch: pytest.MonkeyPatch, title: str
) -> None:
    with opened(folder) as ledger:
        release(folder, "one.toml", ledger)
        accept(ledger)
        without(monkeypatch, title)
        with pytest.raises(InputError, match="enough to keep k"):
            release(folder, "two.toml", ledger, output=folder / "out.csv")
        assert len(ledger.releases()) == 1
    assert not (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"request": "diabetis"}, "request 'diabetis'.*diabetes"),
        ({"request": "stranger"}, "role 'visitor' is not in the policy"),
        ({"local": {}}, "none of 'Hospital A'"),
        ({"local": {"Hospital B": "x.csv"}}, "none of 'Hospital A'"),
        ({"local": {"Hospital A": "h.csv", "Hospital C": "h.csv"}}, "local data 'Hospital C'"),
    ],
)
def test_refused_before_work(folder: Path, asked: dict[str, Any], said: str) -> None:
    with opened(folder) as ledger:
        head = ledger.head()
        with pytest.raises(InputError, match=said):
            release(folder, "one.toml", ledger, output=folder / "out.csv", **asked)
        assert ledger.head() == head
    assert not (folder / "out.csv").exists()


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_k_above_the_local_data_is_refused(folder: Path) -> None:
    change(folder / "one.toml", "k = 3", "k = 9")
    with pytest.raises(InputError, match="k = 9 and 8 people"):
        release(folder, "one.toml")


def test_an_unknown_code_is_refused_without_naming_it(folder: Path) -> None:
    change(folder / "hospital.csv", "Mongolian", "Canaryish")
    with pytest.raises(InputError, match="values without a leaf") as error:
        release(folder, "one.toml")
    assert "Canaryish" not in str(error.value)


def test_a_quasi_identifier_without_hierarchy_is_refused(folder: Path) -> None:
    change(folder / "one.toml", 'ethnicity = "ethnicity.csv"', "ethnicity = {}")
    with pytest.raises(InputError, match="'ethnicity' has no hierarchy"):
        release(folder, "one.toml")


def test_a_column_that_the_rules_call_a_quasi_identifier_must_be_one(folder: Path) -> None:
    change(folder / "schema.toml", 'ethnicity = "categorical"\n', "")
    with pytest.raises(InputError, match="column 'ethnicity'"):
        release(folder, "one.toml")


def test_nothing_is_handed_out_where_the_ledger_fails(folder: Path, monkeypatch: Any) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise InputError("the ledger", "must be written", found="a full disk")

    with opened(folder) as ledger:
        monkeypatch.setattr(RequestLedger, "append", fail)
        with pytest.raises(InputError, match="a full disk"):
            release(folder, "one.toml", ledger, output=folder / "out.csv")
    left = {path.name for path in folder.iterdir()}
    assert not left & {"out.csv", "release.toml"}
    assert not any(name.startswith(".") for name in left)


def test_nothing_is_noted_where_the_output_cannot_be_written(folder: Path) -> None:
    with opened(folder) as ledger:
        head = ledger.head()
        with pytest.raises(InputError):
            release(folder, "one.toml", ledger, output=folder / "no" / "out.csv")
        assert ledger.head() == head


def test_another_releases_manifest_is_not_written_over(folder: Path) -> None:
    with opened(folder) as ledger:
        release(folder, "one.toml", ledger, output=folder / "out.csv")
        kept = (folder / "release.toml").read_bytes()
        with pytest.raises(InputError, match=r"the place of the release\.toml of another file"):
            release(folder, "two.toml", ledger, output=folder / "other.csv")
        assert (folder / "release.toml").read_bytes() == kept
        assert len(ledger.releases()) == 1
        release(folder, "two.toml", ledger, output=folder / "out.csv")
        assert (folder / "release.toml").read_bytes() != kept


def test_another_release_in_between_is_noticed(folder: Path, monkeypatch: Any) -> None:
    module = sys.modules["sfumato.semantics.requested_release"]
    real = module.enforce
    with opened(folder) as ledger, opened(folder) as other:

        def slow(*given: Any) -> Any:
            monkeypatch.setattr(module, "enforce", real)
            release(folder, "one.toml", other)
            return real(*given)

        monkeypatch.setattr(module, "enforce", slow)
        with pytest.raises(InputError, match="must not have changed"):
            release(folder, "one.toml", ledger, output=folder / "out.csv")
        assert len(ledger.releases()) == 1
    assert not (folder / "out.csv").exists()


def test_no_value_of_a_person_in_the_manifest_or_the_ledger(folder: Path) -> None:
    for name in ("hospital.csv", "linked.csv"):
        change(folder / name, "Alice", "Canary")
    with opened(folder) as ledger:
        made = release(folder, "one.toml", ledger, output=folder / "out.csv")
        kept = (folder / "release.toml").read_text() + json.dumps(made.to_json())
    assert "Canary" not in kept + (folder / "out.csv").read_text()
    # Whole words: a keyed digest holds any four digits in one of some thousand runs.
    assert not {"1975", "metformin"} & set(re.findall(r"\w+", kept))
    assert str(folder) not in kept
    for file in (folder / "book").iterdir():
        assert b"Canary" not in file.read_bytes()


def test_a_dataframe_in_a_dataframe_out(folder: Path) -> None:
    made = anonymize_requested(
        pd.read_csv(folder / "linked.csv"),
        sf.load_schema(folder / "schema.toml"),
        policy=load_policy(folder / "one.toml"),
        request="diabetes",
        local={"Hospital A": pd.read_csv(folder / "hospital.csv")},
    )
    assert isinstance(made.data, pd.DataFrame)
    assert any("without a ledger" in each for each in made.warnings)


TREES = {
    "language": Hierarchy.from_columns(
        [["Mandarin", "Cantonese", "English"], ["Chinese", "Chinese", "Germanic"]], "language"
    ),
    "ethnicity": Hierarchy.from_columns(
        [["Chinese", "Mongolian", "Irish"], ["Asian", "Asian", "European"]], "ethnicity"
    ),
    "born": Hierarchy.from_columns([["1961-1970", "1971-1980"]], "born"),
}
MANDARIN = Association(
    (Item("language", 0, 0),), Item("ethnicity", 0, 0), 0.5, 0.95, State.ACCEPTED
)
PEOPLE = [(0, 0, 1), (0, 0, 1), (0, 1, 1), (0, 0, 0), (0, 0, 0), (2, 2, 1), (0, -1, 1), (2, 1, 1)]


def of_one(leaves: tuple[int, ...], levels: tuple[int, ...], earlier: Any = ()) -> Enforced:
    """What is made of one tuple of `TREES`, where readers know that Mandarin is Chinese; k = 3."""
    local = Local.from_codes(
        "Hospital A", list(TREES), list(TREES.values()), np.array(PEOPLE, dtype=np.int32), k=3
    )
    codes = np.array([leaves], dtype=np.int32)
    policy = example()
    nothing = cast(Any, None)
    one = np.ones(1, dtype=np.int64)
    trees = tuple(TREES.values())
    linked = Linked(nothing, tuple(TREES), trees, (1.0,) * 3, codes, one * 0, one, (local,))
    asked = Asked(policy, "diabetes", (), derive(policy, "diabetes"), 3, linked, nothing, None, {})
    shown_then = tuple((codes, np.array([each], dtype=np.int8)) for each in earlier)
    known = Known(accepted=(MANDARIN,), ids=("1",), earlier=shown_then)
    return enforce(asked, known, linked, np.array([levels], dtype=np.int8))


def test_what_is_inferred_from_two_releases_together_is_generalised() -> None:
    hidden = (2, 1, 0)
    assert not of_one((0, 0, 1), hidden).changes
    found = of_one((0, 0, 1), hidden, [(0, 2, 1)])
    assert not found.exposed.any()
    (change,) = found.changes
    assert change.between
    assert change.associations == (MANDARIN,)
    assert "language" not in [each.attribute for each in change.raised]


def test_a_missing_value_at_the_root_is_refined_as_any_other() -> None:
    found = of_one((0, -1, 1), (0, 2, 0))
    (change,) = found.changes
    assert [each.attribute for each in change.raised] == ["language"]
    (enforced,) = found.requirements.enforcements.of(0)
    assert [item.attribute for item in enforced.regarding] == ["language"]


def work_of(case: Any, earlier: tuple[Any, ...] = ()) -> tuple[Asked, Known, Linked, Any]:
    """A random case as a request, what readers know, the tuples, and where they start."""
    hierarchies, associations, locals_, _, _, codes = built(case)
    k = max(local.k for local in locals_)
    policy = example()
    databases = {name: each.model_copy(update={"k": k}) for name, each in policy.databases.items()}
    policy = policy.model_copy(update={"databases": databases})
    held = tuple(replace(local, k=k) for local in locals_)
    trees = tuple(hierarchies.values())
    nothing = cast(Any, None)
    linked = Linked(
        nothing,
        NAMES,
        trees,
        (1.0,) * len(NAMES),
        codes,
        np.arange(len(codes)),
        np.ones(len(codes), dtype=np.int64),
        held,
    )
    required = derive(policy, "diabetes")
    asked = Asked(policy, "diabetes", (), required, k, linked, nothing, None, {})
    accepted = tuple(replace(each, state=State.ACCEPTED) for each in associations)
    known = Known(accepted=accepted, ids=tuple(map(str, range(len(accepted)))), earlier=earlier)
    return asked, known, linked, linked.least_levels()


@given(cases())
def test_the_rules_enforce_what_semantic_anonymity_needs(case: Any) -> None:
    asked, known, linked, start = work_of(case)
    found = enforce(asked, known, linked, start)
    hierarchies = dict(zip(NAMES, linked.hierarchies, strict=True))
    wanted = semantic_levels(
        linked.codes, start, linked.locals_, hierarchies, known.accepted, asked.k
    )
    assert np.array_equal(found.levels, wanted.levels)
    assert [each.row for each in found.changes] == [each.row for each in wanted.changes]
    for one, other in zip(found.changes, wanted.changes, strict=True):
        assert one.raised == other.raised
        assert one.loss == pytest.approx(other.loss)


@given(cases(), st.data())
def test_a_naive_reader_of_two_releases_never_gets_below_k(case: Any, data: Any) -> None:
    made, naive = case[0], built(case)[4]
    said, codes = built(case)[3], built(case)[5]
    level = st.tuples(*(st.integers(0, tree.height) for tree in made))
    before = np.array([data.draw(level) for _ in codes], dtype=np.int8)
    asked, known, linked, start = work_of(case, ((codes, before),))
    found = enforce(asked, known, linked, start)
    assert (found.levels >= start).all()
    for row, levels in enumerate(found.levels.tolist()):
        leaves = [None if code < 0 else int(code) for code in codes[row]]
        past = shown(made, leaves, before[row].tolist())
        now = shown(made, leaves, levels)
        fewest_before = fewest(made, said, naive, past)
        least = [asked.k if few is None else min(asked.k, few) for few in fewest_before]
        assert holds(made, said, naive, now, [asked.k] * len(naive))
        assert holds(made, said, naive, together([past, now]), least)
