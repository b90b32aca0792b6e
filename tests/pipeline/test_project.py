"""The project file: read, written, completed by editors, and refused with the place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from pipeline.clinics_project import PROJECT

from sfumato.core.declaration import declared
from sfumato.core.errors import InputError
from sfumato.pipeline.project_folder import open_project
from sfumato.pipeline.project_model import Project, Release, Reviewers, Source, Unanswered
from sfumato.pipeline.project_text import (
    dump_project,
    json_schema_text,
    load_project,
    parse_project,
    project_json_schema,
)
from sfumato.release.promises import PROMISES
from sfumato.release.release_options import Options
from sfumato.review.review_settings import Mode

FULL = """
[project]
name = "all keys"
seed = 9223372036854775807
[sources.a]
file = "a.csv"
delimiter = ";"
id = "no"
attach = "visits.csv"
[sources.b]
file = "b.parquet"
id = "number"
[schema]
file = "schema.toml"
[link]
specification.file = "link.toml"
dedupe = true
one_per_source = false
false_match_rate = 0.01
missed_match_rate = 0.05
allow_pairs = 1000
engine = "spark"
model = "model.json"
previous = "old"
quasi_identifiers = "sex"
check = 0.02
by_uncertainty = true
key_file = "key"
[review]
by = "desk"
unanswered = "apart"
k = 3
budget = 0.5
project_budget = 0.9
costs = "exact"
mask_width = "fixed"
policy = "paper"
start = "partial"
hints = true
folder = "work"
[assess]
threshold = 0.1
population = 1000
estimator = "accumulation"
presets = ["cms"]
special_uniques = true
msu_size = 2
recursive_l = [4]
[release]
g_balance = 0.9
h_affiliation = 0.5
k = 3
pid_k = 4
l = 2
marketer = 0.1
shared_counts = 2
t_closeness = 0.3
distance = "equal"
presence_low = 0.1
presence_high = 0.5
values = "bounds"
suppress = 0.01
register = "register.csv"
[attack]
knows = ["age"]
counts = true
noise = { age = 0.1 }
[outputs]
folder = "results"
formats = ["csv", "parquet"]
report = "json"
"""
ONE = """
[project]
name = "one"
seed = 1
[sources.a]
file = "a.csv"
[schema]
quasi_identifiers = ["age"]
[release]
pid_k = 5
"""


@pytest.mark.parametrize("text", [PROJECT, FULL, ONE])
def test_what_is_written_reads_as_the_same(text: str) -> None:
    project = parse_project(text)
    notes = {"": "about it", "release": "promises", "schema.age": "years", "sources.a": "one"}
    again = dump_project(project, notes)
    assert parse_project(again) == project
    assert "# promises" in again
    assert again.startswith("#:schema ./")
    assert dump_project(parse_project(again), notes) == again


def test_words_mean_what_they_mean_elsewhere() -> None:
    project = parse_project(FULL)
    assert project.review.by is Reviewers.DESK
    assert project.review.unanswered is Unanswered.APART
    assert project.review.settings.start is Mode.PARTIAL
    assert [each.name for each in project.release.promises] == [
        "g_balance", "h_affiliation", "k", "pid_k", "l", "marketer", "shared_counts",
        "t_closeness", "presence",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("pid_k = 5", "pid_kk = 5", "release.pid_kk: is no known key; 'pid_k' is"),
        ("pid_k = 5", "pid_k = 0", "release.pid_k: must be a whole number, accepted: 1 or more"),
        ("pid_k = 5", 'presets = [1]', "release.presets"),
        ("pid_k = 5", "", "must promise something"),
        ("pid_k = 5", 'pid_k = 5\nvalues = "rang"', "release.values"),
        ("pid_k = 5", "pid_k = 5\n[policy]\nfile = 'p'\nrequest = 'r'", "beside a policy"),
        ("pid_k = 5", "pid_k = 5\n[revew]\nk = 3", "revew: is no known key; 'review' is"),
        ("pid_k = 5", "pid_k = 5\n[attack]\nattacks = 'nonesuch'", "attack"),
        ("seed = 1", "seed = -1", "project.seed"),
        ("seed = 1", "seed = 'x'", "project.seed"),
        ("seed = 1", "", "project.seed: is missing"),
        ('file = "a.csv"', 'fil = "a.csv"', "sources.a.fil: is no known key; 'file' is"),
        ('name = "one"', 'name = "../one"', "project.name"),
        ("[sources.a]", '[sources."../a"]', "sources"),
        ('= ["age"]', '= {age = "nmeric"}', "[schema]"),
        ('quasi_identifiers = ["age"]', "sensitive = ['x']", "[schema]"),
        ('quasi_identifiers = ["age"]', "file = 's'\nperson = 'x'", "schema.person"),
        ("[schema]", "[link]\nengine = 'duck'\n[schema]", "link.engine"),
        ("[schema]", "[link.specification]\nmodes = 'x'\n[schema]", "[link.specification]"),
        ("[schema]", "[link]\nfalse_match_rate = 0.1\n[schema]", "come together"),
        ("[project]", "[project", "must be TOML"),
        ("pid_k = 5", 'pid_k = 5\n[outputs]\nfolder = "a\\u0000b"', "outputs.folder: must not"),
        ("pid_k = 5", 'pid_k = 5\npresets = ["a\\u0000b"]', "release.presets.1: must not"),
        ("[release]", "[review]\nby = 'desk'\n[release]", "linked"),
    ],
)  # fmt: skip
def test_what_breaks_a_rule_is_named_with_its_place(old: str, new: str, said: str) -> None:
    assert old in ONE
    with pytest.raises(InputError) as error:
        parse_project(ONE.replace(old, new))
    assert said in str(error.value)


def test_no_value_stands_in_an_error() -> None:
    with pytest.raises(InputError) as error:
        parse_project(ONE.replace("pid_k = 5", "pid_k = 'canary-7f3a'"))
    assert "canary" not in str(error.value)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml"):
        load_project(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"name = '\xe4'")
    with pytest.raises(InputError, match="UTF-8"):
        load_project(tmp_path / "latin.toml")


def test_the_documentation_shows_a_project_and_names_every_key(project_root: Path) -> None:
    page = (project_root / "docs" / "reference" / "project.md").read_text("utf-8")
    [shown] = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert parse_project(shown).is_reviewed
    # These stand in tables that the documentation derives from the declarations.
    derived = {each.key for kind in (*PROMISES.values(), Options) for each in declared(kind)}
    for section in Project.model_fields.values():
        name = section.alias or ""
        part = {"schema": None, "sources": Source}.get(name, section.annotation)
        models = [part, *getattr(part, "__args__", ())]
        for model in models:
            for key, field in getattr(model, "model_fields", {}).items():
                named = f"`{field.alias or key}" in page
                assert named or (model is Release and key in derived), (model, key)


@pytest.mark.parametrize("folder", [".", "..", "stages", "stages/out"])
def test_folders_of_a_project_do_not_stand_in_each_other(tmp_path: Path, folder: str) -> None:
    (tmp_path / "sfumato.toml").write_text(f"{ONE}[outputs]\nfolder = '{folder}'\n")
    with pytest.raises(InputError, match="folder"):
        open_project(tmp_path)


@pytest.mark.parametrize("key", ["folder", "stages"])
def test_a_folder_that_no_path_leads_to(tmp_path: Path, key: str) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for name in ("x" * 300, "circle"):
        (tmp_path / "sfumato.toml").write_text(f"{ONE}[outputs]\n{key} = '{name}'\n")
        with pytest.raises(InputError, match=rf"outputs\.{key}"):
            open_project(tmp_path)


def test_the_json_schema_knows_every_key_and_shorthand() -> None:
    schema = project_json_schema()
    assert json.loads(json_schema_text()) == schema
    jsonschema = pytest.importorskip("jsonschema")
    import tomllib

    check = jsonschema.Draft202012Validator(schema)
    for text in (PROJECT, FULL, ONE):
        assert [error.message for error in check.iter_errors(tomllib.loads(text))] == []
    wrong = tomllib.loads(ONE.replace("pid_k", "pid_kk"))
    assert list(check.iter_errors(wrong))
