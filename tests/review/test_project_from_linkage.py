"""A project from a linkage that was made for real, and its answers on their way back."""

from __future__ import annotations

import shutil
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.core.errors import InputError
from sfumato.examples import generate_clinics, generate_registrations
from sfumato.examples.registrations import Registrations
from sfumato.linkage.earlier_linkage import apply_decisions
from sfumato.linkage.link import link
from sfumato.linkage.link_spec import LinkSpec, SetThresholds
from sfumato.review.review_decisions import (
    Answer,
    Decisions,
    History,
    decisions_table,
    write_decisions,
)
from sfumato.review.review_project import Project, load_project, write_project
from sfumato.review.review_settings import Attribute, AttributeKind, DateOrder, NamePart, Settings
from sfumato.review.review_sources import Which, from_linkage

pytestmark = pytest.mark.usefixtures("few_random_pairs")

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
SPEC = LinkSpec(
    id="patient",
    columns={
        "given_name": "given name",
        "surname": "surname",
        "Date of birth": "date",
        "sex": "category",
        "zip": "postcode",
    },
    blocking=["surname:2", "Date of birth:year + sex", "zip"],
    thresholds=SetThresholds(lower=0.001, upper=0.9999),
)


@pytest.fixture(scope="module")
def registrations() -> Registrations:
    """The same persons at two clinics."""
    return generate_registrations(generate_clinics(150, rng=2))


@pytest.fixture(scope="module")
def linked(registrations: Registrations, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of their linkage."""
    tables = {"hospital": registrations.hospital, "practice": registrations.practice}
    renamed = {
        name: table.rename_columns(
            [c.replace("date_of", "Date of").replace("of_", "of ") for c in table.column_names]
        )
        for name, table in tables.items()
    }
    folder = tmp_path_factory.mktemp("linkage") / "linked"
    link(renamed, SPEC, seed=1, check_half_width=0.2).write(folder)
    return folder


def rng() -> np.random.Generator:
    """A generator."""
    return np.random.default_rng(1)


@pytest.fixture(scope="module")
def gold(registrations: Registrations) -> pa.Table:
    """Pairs of known truth: ten of one person, ten of two."""
    rows = registrations.truth.to_pylist()
    of = {
        clinic: [row for row in rows if row["clinic"] == clinic]
        for clinic in ("hospital", "practice")
    }
    pairs = [(one, two) for one in of["hospital"] for two in of["practice"]]
    same = [each for each in pairs if each[0]["person"] == each[1]["person"]][:10]
    others = [each for each in pairs if each[0]["person"] != each[1]["person"]][:10]
    return pa.table(
        {
            "source_l": ["hospital"] * 20,
            "id_l": [one["patient"] for one, _ in same + others],
            "source_r": ["practice"] * 20,
            "id_r": [two["patient"] for _, two in same + others],
            "same": [True] * 10 + [False] * 10,
        }
    )


def test_the_possible_matches_over_all_records(linked: Path, registrations: Registrations) -> None:
    """All records with their attributes as they were given; each pair names its two."""
    project = from_linkage(linked, rng())
    assert len(project.records) == len(registrations.hospital) + len(registrations.practice)
    given = registrations.hospital["surname"].to_pylist()
    given += registrations.practice["surname"].to_pylist()
    assert project.records["surname"].to_pylist() == given
    review = {row["pair"]: row for row in pq.read_table(linked / "review.parquet").to_pylist()}
    assert set(project.pair_ids) == set(review)
    assert project.pair_ids != tuple(review)
    records = project.records.to_pylist()
    names = [each.name for each in project.attributes]
    for pair in project.pairs.to_pylist():
        for side, number in (("l", pair["left"]), ("r", pair["right"])):
            row = review[pair["pair"]]
            assert records[number]["source"] == row[f"source_{side}"]
            assert [records[number][n] for n in names] == [row[f"{n}_{side}"] for n in names]
    assert project.of_linkage == set(review)
    assert project.columns[1].to_pylist() == given


def test_attributes_are_proposed_by_the_kinds_of_the_linkage(linked: Path) -> None:
    """Also those that are not compared, by their names and values; free text never shows."""
    project = from_linkage(linked, rng())
    assert project.attributes == (
        Attribute(
            name="given_name", kind=AttributeKind.VARIABLE, name_part=NamePart.GIVEN, rarity=True
        ),
        Attribute(
            name="surname", kind=AttributeKind.VARIABLE, name_part=NamePart.FAMILY, rarity=True
        ),
        Attribute(name="date_of_birth", kind=AttributeKind.DATE),
        Attribute(name="sex", kind=AttributeKind.CATEGORY),
        Attribute(name="zip", kind=AttributeKind.FIXED),
        Attribute(name="phone", kind=AttributeKind.FIXED),
    )
    assert project.attributes[2].date_order is DateOrder.YEAR_MONTH_DAY


def test_weights_are_the_models(linked: Path) -> None:
    """As the manifest has them, by attribute."""
    project = from_linkage(linked, rng())
    model = tomllib.loads((linked / "manifest.toml").read_text())["model"]
    assert project.prior == model["prior"]
    assert [each.m for each in project.weights] == [each["m"] for each in model["weights"]]
    by_comparison = project.weights_of(project.attributes[3])
    assert list(by_comparison) == ["sex"]
    assert [each.label for each in by_comparison["sex"]] == ["equal", "different"]
    assert project.weights_of(project.attributes[5]) == {}


def test_attributes_and_settings_of_ones_own(linked: Path) -> None:
    """No other column is in the project; an unknown one is refused."""
    surname = Attribute(name="surname", kind=AttributeKind.VARIABLE)
    project = from_linkage(linked, rng(), attributes=[surname], settings=Settings(budget=None, k=3))
    assert project.records.column_names == ["source", "id", "surname"]
    assert project.settings.k == 3
    town = surname.model_copy(update={"name": "town"})
    with pytest.raises(InputError, match="'town' must be among the linkage's"):
        from_linkage(linked, rng(), attributes=[town])
    with pytest.raises(InputError, match="attribute to show"):
        from_linkage(linked, rng(), attributes=[])


def test_the_order_tells_nothing_of_scores(linked: Path) -> None:
    """It is random, and the seed repeats it."""
    one, two = (from_linkage(linked, np.random.default_rng(seed)) for seed in (1, 2))
    assert one.pair_ids == from_linkage(linked, rng()).pair_ids != two.pair_ids
    assert set(one.pair_ids) == set(two.pair_ids)


def test_gold_pairs_among_the_others(linked: Path, gold: pa.Table, tmp_path: Path) -> None:
    """Those that the linkage knows keep its ids; the others are not exported."""
    project = from_linkage(linked, rng(), gold=gold)
    assert sorted(project.gold.values()) == [False] * 10 + [True] * 10
    plain = from_linkage(linked, rng())
    assert set(plain.pair_ids) < set(project.pair_ids)
    assert len(project.pair_ids) == len(set(project.others)) + 20
    known = {row["pair"]: row for row in pq.read_table(linked / "pairs.parquet").to_pylist()}
    ids = project.records["id"].to_pylist()
    truth = {(row["id_l"], row["id_r"]): row["same"] for row in gold.to_pylist()}
    added = 0
    for pair in project.pairs.to_pylist():
        if pair["pair"] not in project.gold:
            continue
        names = ids[pair["left"]], ids[pair["right"]]
        assert truth[names] is project.gold[pair["pair"]]
        in_linkage = any((row["id_l"], row["id_r"]) == names for row in known.values())
        assert (pair["pair"] in known) is in_linkage is (pair["pair"] in project.of_linkage)
        added += not in_linkage
    assert added > 0
    gold_file = tmp_path / "gold.csv"
    gold_file.write_text(
        "source_l,id_l,source_r,id_r,same\n"
        + "".join(",".join(map(str, row.values())) + "\n" for row in gold.to_pylist())
    )
    assert from_linkage(linked, rng(), gold=gold_file).gold == project.gold


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"id_l": ["SECRET"] * 20}, "unknown record in row 1"),
        ({"source_r": ["hospital"] * 19 + ["SECRET"]}, "unknown record in row"),
        ({"same": ["SECRET"] * 20}, "another value in row 1"),
        ({"same": None}, "one column 'same'"),
        ({"id_r": None}, "one column 'id_r'"),
    ],
)
def test_gold_that_is_none(
    linked: Path, gold: pa.Table, changed: dict[str, list[str] | None], match: str
) -> None:
    """By row, never by value."""
    columns = {name: gold[name] for name in gold.column_names} | changed
    wrong = pa.table({name: column for name, column in columns.items() if column is not None})
    with pytest.raises(InputError, match=match) as caught:
        from_linkage(linked, rng(), gold=wrong)
    assert "SECRET" not in str(caught.value)


def test_a_pair_of_two_truths_is_refused(linked: Path, gold: pa.Table) -> None:
    """Also where its records stand the other way round."""
    turned = gold.rename_columns(["source_r", "id_r", "source_l", "id_l", "same"])
    turned = turned.set_column(4, "same", pa.array([False] * 20)).select(gold.column_names)
    with pytest.raises(InputError, match="another one in row 21"):
        from_linkage(linked, rng(), gold=pa.concat_tables([gold, turned]))


def test_pairs_drawn_for_checks(linked: Path) -> None:
    """They are reviewed the same way."""
    project = from_linkage(linked, rng(), which=Which.CHECKS)
    drawn = pq.read_table(linked / "checks.parquet")["pair"].to_pylist()
    assert sorted(project.pair_ids) == sorted(drawn)


def test_folders_that_are_none(linked: Path, tmp_path: Path) -> None:
    """Another folder, another manifest, encodings, an older linkage, no possible match."""

    def broken(name: str, **files: str | None) -> Path:
        folder = tmp_path / name
        shutil.copytree(linked, folder)
        for file, text in files.items():
            path = folder / file.replace("_", ".")
            path.unlink()
            if text is not None:
                path.write_text(text)
        return folder

    def refused(folder: Path, match: str, which: Which = Which.POSSIBLE) -> None:
        with pytest.raises(InputError, match=match) as caught:
            from_linkage(folder, rng(), which=which)
        assert "SECRET" not in str(caught.value)

    refused(tmp_path / "nowhere", "no such folder")
    refused(tmp_path, "no manifest.toml in it")
    refused(broken("a", manifest_toml="[SECRET"), "manifest.toml must be one")
    refused(broken("b", manifest_toml="a = 1"), "another manifest")
    text = (linked / "manifest.toml").read_text()
    refused(
        broken("c", manifest_toml=text.replace("[model]", "[model]\nencodings = 1")), "encodings"
    )
    refused(broken("d", manifest_toml=text.replace("\nm = ", "\nn = ")), "other weights")
    refused(broken("e", identifying_parquet=None), "link again with this version")
    refused(broken("f", identifying_parquet="SECRET"), "must be there and whole")
    refused(broken("g", review_parquet=None), "review.parquet must be there")
    refused(broken("h", link_toml=None), "link.toml")
    refused(broken("i", checks_parquet=None), "check-half-width", Which.CHECKS)
    empty = broken("j")
    pq.write_table(pq.read_table(linked / "review.parquet").slice(0, 0), empty / "review.parquet")
    refused(empty, "must have pairs to review")
    other = broken("k")
    review = pq.read_table(linked / "review.parquet").slice(0, 1)
    pq.write_table(review.set_column(0, "pair", pa.array(["SECRET"])), other / "review.parquet")
    refused(other, "an unknown pair")


def test_a_project_and_its_folder(linked: Path, gold: pa.Table, tmp_path: Path) -> None:
    """Both ways without loss; nobody else may read; no value in the rules; never over another."""
    settings = Settings(k=2, budget=0.25, hints=True)
    project = from_linkage(linked, rng(), gold=gold, settings=settings)
    folder = write_project(project, tmp_path / "project")
    again = load_project(folder)
    for name in ("attributes", "settings", "weights", "prior", "gold", "fingerprints"):
        assert getattr(again, name) == getattr(project, name), name
    assert again.records.equals(project.records)
    assert again.pairs.equals(project.pairs)
    assert folder.stat().st_mode & 0o077 == 0
    assert all(path.stat().st_mode & 0o077 == 0 for path in folder.iterdir())
    text = (folder / "project.toml").read_text()
    surnames = {value for value in project.records["surname"].to_pylist() if len(value or "") > 4}
    assert not any(value in text for value in surnames)
    with pytest.raises(InputError, match="new or empty folder"):
        write_project(project, folder)


def test_folders_that_are_no_projects(linked: Path, tmp_path: Path) -> None:
    """What is wrong is named, never what stands there."""
    project = from_linkage(linked, rng())
    folder = write_project(project, tmp_path / "project")
    text = (folder / "project.toml").read_text()

    def refused(match: str, **files: str) -> None:
        place = tmp_path / "broken"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(folder, place)
        for name, content in files.items():
            (place / name.replace("_", ".")).write_text(content)
        with pytest.raises(InputError, match=match) as caught:
            load_project(place)
        assert "SECRET" not in str(caught.value)

    with pytest.raises(InputError, match="no such folder"):
        load_project(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"no project\.toml"):
        load_project(linked)
    refused("project.toml must be", project_toml="SECRET")
    refused("k: input should be", project_toml=text.replace("k = 1", "k = 'SECRET'"))
    refused("kind: input should be", project_toml=text.replace('"date"', '"SECRET"'))
    refused("belong to the project", project_toml=text.replace('"surname"', '"town"', 1))
    refused("records.parquet must be there", records_parquet="SECRET")
    refused("pairs.parquet must be there", pairs_parquet="SECRET")


def answered(project: Project, truth: dict[str, str]) -> Decisions:
    """Two workers' answers about all pairs, the one right, the other wrong about every fifth."""
    ids = project.records["id"].to_pylist()
    histories = []
    for number, pair in enumerate(project.pairs.to_pylist()):
        same = truth[ids[pair["left"]]] == truth[ids[pair["right"]]]
        right = Answer.SAME_HIGH if same else Answer.DIFFERENT_HIGH
        wrong = Answer(-right) if number % 5 == 0 else right
        histories.append(History(pair["pair"], "ann").decide(right, NOON))
        histories.append(
            History(pair["pair"], "bob").decide(wrong, NOON + timedelta(seconds=number))
        )
    return Decisions.of(histories)


def test_answers_go_back_to_the_linkage(
    linked: Path, registrations: Registrations, gold: pa.Table, tmp_path: Path
) -> None:
    """A resolution outvotes the workers; what was withdrawn, and a foreign pair, do not count."""
    project = from_linkage(linked, rng(), gold=gold)
    truth = {row["patient"]: row["person"] for row in registrations.truth.to_pylist()}
    decisions = answered(project, truth)
    ids = project.records["id"].to_pylist()
    by_pair = {pair["pair"]: pair for pair in project.pairs.to_pylist()}
    doubtful = sorted(set(project.others) & project.of_linkage)
    resolved, withdrawn = doubtful[0], doubtful[1]
    against = Answer(-decisions.answers[resolved]["ann"] // 3)
    events = list(decisions.events)
    events += History(resolved, "eve").resolve(against, NOON).events
    for worker in ("ann", "bob"):
        history = decisions.history(withdrawn, worker).withdraw(NOON + timedelta(days=1))
        events += history.events[1:]
    path = tmp_path / "decisions.parquet"
    write_decisions(Decisions(tuple(events)), project.of_linkage, path, named=lambda w: f"w-{w}")
    assert path.stat().st_mode & 0o077 == 0
    rows = pq.read_table(path)
    assert rows.column_names == ["pair", "worker", "answer", "time", "withdrawn"]
    assert set(rows["worker"].to_pylist()) == {"w-ann", "w-bob", "w-eve"}
    assert set(rows["pair"].to_pylist()) == project.of_linkage < set(project.pair_ids)

    links = apply_decisions(linked, path)
    verdicts = {
        f"p{pair + 1}": int(result)
        for pair, result in zip(
            links.settled.verdicts.pair, links.settled.verdicts.result, strict=True
        )
    }
    assert withdrawn not in verdicts
    assert verdicts[resolved] == (1 if against > 0 else -1)
    for pair, result in verdicts.items():
        named = [truth[ids[by_pair[pair][side]]] for side in ("left", "right")]
        conflict = len({a.same for a in decisions.answers[pair].values()}) > 1
        # Answers that contradict each other are weighed with the score.
        if pair != resolved and not conflict:
            assert result == (1 if named[0] == named[1] else -1)
    applied = tmp_path / "applied"
    links.write(applied)
    assert from_linkage(applied, rng()).records.equals(project.records)

    reopened = History(resolved, "eve").resolve(against, NOON).reopen(NOON + timedelta(days=1))
    write_decisions(
        Decisions((*events, *reopened.events[1:])),
        project.of_linkage,
        path,
        named=lambda w: f"w-{w}",
    )
    again = apply_decisions(applied, path).settled.verdicts
    number = np.flatnonzero(again.pair == int(resolved[1:]) - 1)
    named = decisions.answers[resolved]
    expected = np.sign(sum(int(answer) for answer in named.values()))
    assert again.result[number].tolist() == [expected]


def test_the_export_has_the_latest_answer_of_each(linked: Path) -> None:
    """One row per pair and worker, with the time since when it stands or does not."""
    changed = History("p1", "ann").decide(Answer.SAME_LOW, NOON).decide(Answer.SAME_HIGH, NOON)
    put_off = History("p2", "ann").decide(Answer.SAME_LOW, NOON).skip(NOON + timedelta(hours=1))
    only = History("p3", "ann").skip(NOON)
    decisions = Decisions.of([changed, put_off, only])
    assert decisions_table(decisions, {"p1", "p2", "p3"}).to_pylist() == [
        {"pair": "p1", "worker": "ann", "answer": 3, "time": NOON, "withdrawn": False},
        {
            "pair": "p2",
            "worker": "ann",
            "answer": 1,
            "time": NOON + timedelta(hours=1),
            "withdrawn": True,
        },
    ]
    assert decisions_table(Decisions(), {"p1"}).num_rows == 0
    both = Decisions.of([changed, History("p1", "bob").decide(Answer.SAME_LOW, NOON)])
    with pytest.raises(InputError, match="must differ"):
        decisions_table(both, {"p1"}, named=lambda _: "somebody")
