"""Attacks, and what reports take for granted and do not say, in words."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sfumato.core.measure import REGISTER
from sfumato.core.number_text import MANY_COLUMNS, count, percent
from sfumato.core.phrases import Listed, Phrase, Plural, listed
from sfumato.release.release_result import Release
from sfumato.reports.printed_numbers import quoted
from sfumato.risk.disclosure_risk import Risk
from sfumato.risk.measure_table import MEANINGS


@dataclass(frozen=True, slots=True)
class Point:
    """A short title and what is to be said."""

    title: str
    text: str


_WORDS = tomllib.loads(Path(__file__).with_name("adversaries.toml").read_text(encoding="utf-8"))


def _points(*names: str, **filled: str) -> list[Point]:
    words = (_WORDS["points"][name] for name in names)
    return [Point(Phrase(word["title"]), Phrase(word["text"], **filled)) for word in words]


def project_assumptions(*, has_persons: bool, keeps_order: bool | None) -> list[Point]:
    """What the numbers of a project take for granted.

    Parameters
    ----------
    keeps_order
        Whether the release keeps the order of its records; ``None`` where a policy decided.
    """
    persons = "has_persons" if has_persons else "no_persons"
    order = () if keeps_order is None else ("in_order" if keeps_order else "shuffled",)
    return _points(persons, "roles", "exact", "missing", "values", *order)


def project_limits(*, linked: bool) -> list[Point]:
    """What the numbers of a project do not say; more where its records were linked."""
    names = ("other_knowledge", "other_files", "attacks", "averages")
    return _points(*names, *(("linkage",) if linked else ()))


def intruder_points(risk: Risk, release: Release | None) -> list[Point]:
    """What the measures of a release or a file take an intruder to know and to want."""
    population = risk.population is not None or (release is not None and release.population)
    return _points("knows_population" if population else "knows", "unknown", "wanted")


def measure_assumptions(risk: Risk, release: Release | None) -> list[Point]:
    """What the measures of a release or a file take for granted."""
    people = {"people": count(risk.persons)}
    population = risk.population
    if population is not None:
        counted = population.marketer.estimator == REGISTER
        people = {"people": count(population.population)}
        found = _points("register" if counted else "sample", **people)
    elif release is not None and (sampled := release.population) is not None:
        why = sampled.marketer.why or ""
        found = _points("promised_population", people=count(sampled.persons), why=why)
    else:
        found = _points("own_population", **people)
    if release is None:
        return [*found, *_points("has_persons", "missing", "values")]
    made, kept = release.manifest, release.utility.histories
    if release.schema.person is None:
        names = ["no_persons"]
    else:
        divided = made.options.coarsen_counts == "split" or (kept is not None and kept.divided)
        names = ["has_persons", "divided" if divided else "keyed" if made.keyed else "random"]
    order = "in_order" if made.options.keep_order else "shuffled"
    found += _points(*names, "missing", "values", order)
    if (levels := release.levels) is not None:
        shown = (
            Phrase(
                "“{column}” {level} of {height} ({labels} labels)",
                column=each.name,
                level=each.level,
                height=each.height,
                labels=count(each.labels),
            )
            for each in levels.columns
        )
        found += _points(
            "recoded",
            levels=Listed(shown, "; "),
            bound="" if levels.exact else Phrase(" than {share}", share=percent(levels.bound)),
            loss=percent(levels.loss),
            split=count(levels.split_persons),
            people=count(risk.persons),
        )
    return found


def measure_limits(unchanged: Sequence[str]) -> list[Point]:
    """What the measures of a release or a file do not say.

    Parameters
    ----------
    unchanged
        The columns that are released as in the original.
    """
    shown: str = Phrase("{n} columns are", n=len(unchanged))
    if len(unchanged) < MANY_COLUMNS:
        names = listed([quoted(name) for name in unchanged])
        shown = Plural("{columns} is", "{columns} are", len(unchanged), columns=names)
    found = _points("other_knowledge", "other_files", "membership", "averages")
    return [*found, *(_points("unchanged", columns=shown) if unchanged else ())]


ATTACK_TITLES = {name: Phrase(title) for name, title in _WORDS["attacks"].items()}
"""By the name of the attack, or what stands before its colon."""

_PREDICTED = {name: Phrase(meaning) for name, meaning in _WORDS["predicted"].items()}
"""Measures whose usual words refer to the line above them."""


def predicted_meaning(name: str) -> str:
    """What a measure means, without the column that it is about.

    Parameters
    ----------
    name
        Its name, such as ``max_gsar:icd9``.
    """
    kind = name.partition(":")[0]
    return _PREDICTED.get(kind) or MEANINGS.get(kind) or kind


def attack_title(name: str) -> str:
    """The name of an attack as people read it.

    Parameters
    ----------
    name
        Its name, such as ``inference:icd9``.
    """
    kind, colon, column = name.partition(":")
    title: str | None = ATTACK_TITLES.get(name) or ATTACK_TITLES.get(kind)
    title = title or kind.replace("_", " ").capitalize()
    return Phrase("{attack}: {column}", attack=title, column=column) if colon else title
