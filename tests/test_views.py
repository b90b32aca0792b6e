"""What Python shows: the worst first, our own names alone, and what to write instead."""

from __future__ import annotations

import re
from inspect import isclass, signature

import numpy as np
import pyarrow as pa
import pytest
from pydantic import BaseModel

import sfumato as sf
from sfumato.core.errors import naming_options, typed
from sfumato.core.number_text import share_text

DRAW = np.random.default_rng(4)
DATA = pa.table(
    {
        "age": DRAW.integers(20, 60, 90),
        "sex": DRAW.choice(["f", "m"], 90),
        "ill": DRAW.choice(["a", "b", "c"], 90),
    }
)
SCHEMA = sf.Schema(quasi_identifiers={"age": "numeric", "sex": "categorical"}, sensitive=["ill"])


@pytest.fixture(scope="module")
def results():
    release = sf.anonymize(DATA, SCHEMA, sf.KAnonymity(5), seed=1)
    return {"release": release, "risk": sf.assess(DATA, SCHEMA)}


@pytest.mark.parametrize("kind", ["release", "risk"])
def test_the_worst_stands_first(results, kind):
    result = results[kind]
    risk = result if kind == "risk" else result.risk
    said = f"A stranger finds {share_text(risk.marketer.value)} of 90 people"
    if kind == "release":
        said = result.verdict.worst
        assert said.split()[1] == result.verdict.rows[0].intruder
    assert repr(result).startswith(f"{type(result).__name__}({said}")
    assert str(result).removeprefix("Release(").startswith(said)
    assert result._repr_html_().startswith(f"<p><strong>{said}")


def test_an_attack_begins_with_the_worst_and_counts_predictions_alone():
    release = sf.anonymize(DATA, SCHEMA, sf.KAnonymity(5), seed=1)
    found = sf.attack(release, original=DATA, attacks=["exact", "singling_out"], seed=1)
    predicted = sum(each.predicted is not None for each in found.evidence)
    assert 0 < predicted < len(found.evidence)
    assert " ".join(str(found).split()).startswith(" ".join(found.sentence.split()))
    assert [int(n) for n in re.findall(r"\d+", found.sentence)][-2:] == [
        len(found.evidence),
        predicted,
    ]
    assert repr(found) == f"Attack({found.sentence} seed=1)"


def test_a_schema_shows_what_was_stated_and_can_be_read_again():
    shown = repr(SCHEMA)
    names = {name: getattr(sf, name) for name in ("Schema", "QuasiIdentifier")}
    assert eval(shown, names) == SCHEMA
    assert "None" not in shown
    assert "recipe" not in shown
    assert str(SCHEMA) == shown
    open_one = SCHEMA.model_copy(update={"undecided": {"note": "What is it?"}})
    roles = re.findall(r'<th scope="row"[^>]*>([^<]+)<', open_one._repr_html_())
    assert roles == ["undecided", "quasi-identifier", "sensitive"]


def test_no_names_of_another_library_are_listed():
    """Of each class that is exported, and of what is made by it; but for names of our own."""
    others = {name for name in dir(BaseModel) if not name.startswith("__")}
    exported = [getattr(sf, name) for name in dir(sf)]
    models = [each for each in exported if isclass(each) and issubclass(each, BaseModel)]
    assert len(models) >= 8
    made = [
        SCHEMA,
        SCHEMA.quasi_identifiers["age"],
        sf.LinkSpec(columns={"a": {"kind": "surname"}}, blocking=[["a"]]),
    ]
    for each in (*models, *made):
        kind = each if isclass(each) else type(each)
        assert not others & set(dir(each)), kind
        assert set(kind.model_fields) <= set(dir(each)), kind


@pytest.mark.parametrize(
    ("keyword", "names"),
    [
        ("k", {"KAnonymity(k)", "PidKAnonymity(k)"}),
        ("g_balance", {"GBalance(g)"}),
        ("l", {"LDiversity(l)"}),
    ],
)
def test_a_keyword_for_a_promise_says_what_to_write(keyword, names):
    with pytest.raises(sf.InputError, match=keyword) as refused:
        sf.anonymize(DATA, SCHEMA, **{keyword: 5})
    written = set(re.findall(r"sfumato\.(\w+\(\w+\))", str(refused.value)))
    assert names <= written
    for each in written:
        promise, _, parameter = each.rstrip(")").partition("(")
        assert parameter in signature(getattr(sf, promise)).parameters


@pytest.mark.parametrize("asked", [(), (SCHEMA,)])
def test_what_is_missing_is_said_in_python_or_as_an_option(asked):
    with pytest.raises(sf.InputError) as refused:
        sf.anonymize(DATA, *asked)
    assert "sfumato." in str(refused.value)
    assert "--" not in str(refused.value)
    with naming_options():
        assert typed("k=5", "--k 5") == "--k 5"
    assert typed("k=5", "--k 5") == "k=5"


def test_a_dataframe_alone_is_told_to_have_a_name():
    with pytest.raises(sf.InputError, match="found one table") as refused:
        sf.link(DATA)
    assert "{" in str(refused.value)
    with pytest.raises(sf.InputError, match=r"sfumato\.guess_schema"):
        sf.attack(DATA)
