"""Parts of another package: found when named, measured again, named in manifest and report."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.core import extensions
from sfumato.core.errors import InputError, SfumatoError
from sfumato.core.extensions import extension
from sfumato.examples import generate_clinics, write_clinics
from sfumato.intruder.attacks import check_names
from sfumato.pipeline.project_text import parse_project
from sfumato.release.promises import AddedPromises, all_asked
from sfumato.release.promises.promise import strictest

EXAMPLE = Path(__file__).parent / "example_package"
PACKAGE = "sfumato-example"
SCHEMA = '[quasi_identifiers]\nage = "numeric"\nsex = "categorical"\n'
RELEASED = {"k": 5}


def install(folder: Path, *, name: str = PACKAGE) -> None:
    """What pip makes of the example's project file, without its network."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    told = folder / f"{name.replace('-', '_')}-{project['version']}.dist-info"
    told.mkdir(parents=True)
    (told / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {project['version']}\n"
    )
    groups = (
        "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())])
        for group, entries in project["entry-points"].items()
    )
    (told / "entry_points.txt").write_text("\n".join(groups))
    (folder / "sfumato_example.py").write_text((EXAMPLE / "sfumato_example.py").read_text("utf-8"))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path in which the example is installed; nothing of it is loaded."""
    folder = tmp_path / "site"
    install(folder)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "sfumato_example", raising=False)
    extension.cache_clear()
    yield folder
    extension.cache_clear()
    sys.modules.pop("sfumato_example", None)


@pytest.fixture
def cards(tmp_path: Path) -> Path:
    rows = [f"age={age};sex={sex}" for age in range(20, 60) for sex in ("f", "m")]
    (tmp_path / "people.cards").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    return tmp_path / "people.cards"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    write_clinics(generate_clinics(150, rng=1), tmp_path)
    return tmp_path / "visits.csv"


def schema_of(path: Path) -> sf.Schema:
    return sf.load_schema(path.with_name("schema.toml"))


def loaded() -> bool:
    return "sfumato_example" in sys.modules


def test_nothing_is_loaded_before_it_is_named(installed: Path, visits: Path) -> None:
    sf.assess(visits, schema_of(visits))
    assert extensions.extension_names("promise") == ("roomy",)
    with pytest.raises(InputError, match="crowd"):
        sf.assess(visits, schema_of(visits), population=9_000, estimator="another")
    assert not loaded()
    found = extension("promise", "roomy")
    assert loaded()
    assert found is not None
    assert (found.package, found.version) == (PACKAGE, "1.2")


def test_two_packages_of_one_name_are_refused(installed: Path) -> None:
    install(installed, name="another-example")
    importlib.invalidate_caches()
    with pytest.raises(InputError, match="another-example, sfumato-example"):
        extension("reader", "cards")


def test_a_package_that_cannot_be_imported(installed: Path) -> None:
    (installed / "sfumato_example.py").write_text("import no_such_module_anywhere\n")
    with pytest.raises(InputError, match=r"sfumato-example 1\.2"):
        extension("attack", "blindfold")


def test_a_release_by_an_added_promise(installed: Path, visits: Path, tmp_path: Path) -> None:
    """From the command line with what reads the file, repeated from its manifest."""
    (promise,) = all_asked({"promise": {"roomy": 6}})
    release = sf.anonymize(visits, schema_of(visits), promise, seed=1)
    assert release.risk.pid_k >= 6
    assert (release.risk.own_classes().records >= 12).all()
    assert release.manifest.versions[f"promise roomy of {PACKAGE}"] == "1.2"
    (tmp_path / "one").mkdir()
    release.write(tmp_path / "one" / "release.csv")
    manifest = tomllib.loads((tmp_path / "one" / "release.toml").read_text("utf-8"))
    assert manifest["constraints"] == [{"name": "roomy", "k": 6}]
    sf.report(release, tmp_path / "report.html")
    assert f"promise roomy of {PACKAGE}" in (tmp_path / "report.html").read_text("utf-8")


def test_what_is_promised_is_measured_again(
    installed: Path, visits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A promise that calls itself kept, and that makes ours look superfluous, gets neither."""
    (promise,) = all_asked({"promise": {"roomy": 40}})
    kind = type(promise)
    monkeypatch.setattr(kind, "met", lambda self, classes: classes.persons > 0)
    monkeypatch.setattr(kind, "kept", lambda self, risk: True)
    monkeypatch.setattr(kind, "is_counted", False)
    monkeypatch.setattr(kind, "implies", lambda self, other: True)
    assert len(strictest([promise, sf.KAnonymity(50)])) == 2
    with pytest.raises(SfumatoError, match="roomy was not found when it was measured"):
        sf.anonymize(visits, schema_of(visits), promise, seed=1)


def test_the_verdict_is_the_same_with_an_added_promise(installed: Path, visits: Path) -> None:
    schema = schema_of(visits)
    ours = sf.anonymize(visits, schema, sf.PidKAnonymity(8), seed=1, cut="median", effort=0)
    (promise,) = all_asked({"promise": {"roomy": {"k": 1}}})
    both = sf.anonymize(
        visits, schema, sf.PidKAnonymity(8), promise, seed=1, cut="median", effort=0
    )
    assert [each.state for each in both.verdict.rows] == [each.state for each in ours.verdict.rows]


def test_a_project_file_names_an_added_promise(installed: Path) -> None:
    text = (
        '[project]\nname = "x"\nseed = 1\n[sources.v]\nfile = "visits.csv"\n'
        '[schema]\nfile = "schema.toml"\n[release]\npid_k = 3\npromise = {roomy = LIMIT}\n'
    )
    release = parse_project(text.replace("LIMIT", "{k = 5}")).release
    assert release is not None
    assert [each.name for each in release.promises] == ["pid_k", "roomy"]
    assert release.promises[1].parameters() == {"k": 5}
    with pytest.raises(InputError, match="roomy"):
        parse_project(text.replace("LIMIT", "{colour = 5}"))


@pytest.mark.parametrize(
    "given", [{"roomy": 0}, {"roomy": {"k": 3, "colour": 1}}, {"unheard": 3}, {"roomy": "many"}]
)
def test_wrong_promises_are_refused(installed: Path, given: dict[str, object]) -> None:
    with pytest.raises(InputError):
        all_asked({"promise": given})


def test_a_promise_about_nothing_that_we_measure_is_refused(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = extension("promise", "roomy")
    assert found is not None
    monkeypatch.setattr(found.part, "measure", "cosiness")
    with pytest.raises(InputError, match="limit on a measure"):
        all_asked({"promise": {"roomy": 3}})


def test_words_of_the_option() -> None:
    (option,) = sf.core.declaration.declared(AddedPromises)
    assert option.option == "--promise"
    parsed = option.said.parse("--promise", ["a=5", "b=0.5,attribute=icd9,strict=true"])
    assert parsed == {"a": {"": 5}, "b": {"": 0.5, "attribute": "icd9", "strict": True}}
    for wrong in (["a"], ["a=1", "a=2"], ["=3"], ["a=1,b"]):
        with pytest.raises(InputError):
            option.said.parse("--promise", wrong)


def test_an_added_reader(installed: Path, cards: Path) -> None:
    risk = sf.assess(cards, schema_of(cards))
    assert (risk.records, risk.classes) == (80, 80)
    assert any(f"reader cards of the package {PACKAGE} 1.2" in each for each in risk.warnings)
    release = sf.anonymize(cards, schema_of(cards), sf.KAnonymity(5), seed=1)
    assert release.manifest.versions[f"reader cards of {PACKAGE}"] == "1.2"


def test_a_reader_that_fails_says_no_value(installed: Path, cards: Path) -> None:
    cards.write_text("age=41;Hieronymus\n", encoding="utf-8")
    with pytest.raises(SfumatoError) as raised:
        sf.assess(cards, schema_of(cards))
    assert "ValueError" in str(raised.value)
    assert "Hieronymus" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_an_added_attack_is_judged_and_decides_nothing(installed: Path, visits: Path) -> None:
    release = sf.anonymize(visits, schema_of(visits), sf.GBalance(0.8), seed=1)
    alone = sf.attack(release, original=visits, attacks=["exact"], seed=3)
    found = sf.attack(release, original=visits, attacks=["exact", "blindfold"], seed=3)
    outcome = found.outcomes[-1]
    assert (outcome.attack, outcome.attempts) == ("blindfold", found.persons)
    # Of many people one or two at most are named rightly by chance.
    assert outcome.success.value < 0.1
    assert found.evidence == alone.evidence
    assert found.outcomes[:-1] == alone.outcomes
    assert any(f"{PACKAGE} 1.2" in each for each in found.warnings)
    assert "blindfold" not in check_names(None)


def test_an_attack_that_names_people_who_are_not_there(
    installed: Path, visits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = sf.anonymize(visits, schema_of(visits), sf.GBalance(0.8), seed=1)
    found = extension("attack", "blindfold")
    assert found is not None

    def beyond(file, knowledge, rng):
        guesses = found.part(file, knowledge, rng)
        guesses.person[0] = knowledge.persons
        return guesses

    monkeypatch.setattr("sfumato.intruder.attacks.added", lambda name: _replaced(found, beyond))
    with pytest.raises(InputError, match="must guess once"):
        sf.attack(release, original=visits, attacks=["blindfold"], seed=3)


def _replaced(found, part):
    return extensions.Extension(found.kind, found.name, found.package, found.version, part)


def test_an_added_estimator_decides_nothing(installed: Path, visits: Path) -> None:
    schema = schema_of(visits)
    alone = sf.assess(visits, schema, limits="public", seed=1)
    risk = sf.assess(
        visits, schema, population=1_000_000, estimator="crowd", limits="public", seed=1
    )
    assert risk.marketer.estimator == "crowd"
    assert risk.marketer.value < alone.marketer.value / 100
    assert [each.state for each in risk.verdict.rows] == [each.state for each in alone.verdict.rows]
    assert [each.findings for each in risk.verdict.rows] == [
        each.findings for each in alone.verdict.rows
    ]
    assert any(f"{PACKAGE} 1.2" in each for each in risk.warnings)
    with pytest.raises(InputError, match="beside presets"):
        sf.assess(visits, schema, population=1_000_000, estimator="crowd", presets=["cms"])


def test_an_estimator_that_says_what_cannot_be(
    installed: Path, visits: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = extension("estimator", "crowd")
    assert found is not None
    said = found.part().estimate
    monkeypatch.setattr(
        found.part,
        "estimate",
        lambda self, sample, rng: replace(said(sample, rng), low=0.9),
    )
    with pytest.raises(SfumatoError, match="cannot be"):
        sf.assess(visits, schema_of(visits), population=1_000_000, estimator="crowd")


def test_the_command_line_has_them(installed: Path, cards: Path) -> None:
    """A file that another package reads, released by its promise, and repeated."""
    for folder in ("a", "b"):
        (cards.parent / folder).mkdir()
    program = str(Path(sys.executable).with_name("sfumato"))
    line = [program, "anonymize", cards.name, "--schema", "schema.toml"]
    asked = ("--promise", "roomy=5", "--seed", "1", "-o", "a/r.csv", "--json")
    done = _run(installed, [*line, *asked], cards.parent)
    manifest = json.loads(done)["manifest"]
    assert manifest["constraints"] == [{"name": "roomy", "k": 5}]
    added = {f"promise roomy of {PACKAGE}": "1.2", f"reader cards of {PACKAGE}": "1.2"}
    assert added.items() <= manifest["versions"].items()
    _run(installed, [*line, "--repeat", "a/release.toml", "-o", "b/r.csv"], cards.parent)
    written = [(cards.parent / each / "r.csv").read_bytes() for each in "ab"]
    assert written[0] == written[1]


def _run(installed: Path, line: list[str], folder: Path) -> str:
    done = subprocess.run(
        line,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 2, 4), done.stderr
    return done.stdout
