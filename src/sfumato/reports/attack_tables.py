"""What attacks found as rows of one table, the same for the page of an attack and of a project."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sfumato.core.number_text import MANY_COLUMNS, NONE, counted
from sfumato.core.phrases import Listed, Phrase, Plural
from sfumato.intruder.referee.attack_odds import Outcome, rank
from sfumato.reports.adversaries import attack_title, predicted_meaning
from sfumato.reports.printed_numbers import COUNT, SHARE, ends_of, height, plain_number, printed
from sfumato.risk.verdict import WHO

SHOWN = 3
"""Attacks of one kind on many columns that have a row of their own, and those that are drawn."""
_NUMBERS = ("share", "guesses", "predicted", "allowed", "random", "control")


def plain_outcome(outcome: Outcome, *, unshown: bool = False) -> dict[str, Any]:
    """An attack as the report of a project has it.

    Parameters
    ----------
    unshown
        Whether no row of the verdict measures what it knows.
    """
    made = outcome.to_json()
    predicted = outcome.predicted
    return made | {
        "row": outcome.intruder,
        "title": attack_title(outcome.attack),
        "predicted": None if predicted is None else predicted.value,
        "predicted_by": None if predicted is None else predicted.name,
        "tried": bool(outcome.attempts),
        "unshown": unshown,
    }


def standing(each: Mapping[str, Any]) -> tuple[bool, bool, float]:
    """The place of an attack as a report tells it: the worst has the least."""
    told = [height(each[name])[0] for name in ("success", "baseline")] if each["tried"] else [0, 0]
    return rank(each["tried"], each["broken"], told[0] - max(0.0, told[1]))


def attack_lines(
    outcomes: Iterable[Mapping[str, Any]], most: int = SHOWN
) -> tuple[list[dict[str, Any]], list[str]]:
    """The printed rows, each kind of attack by its worst, and what had nothing to guess.

    Parameters
    ----------
    outcomes
        Attacks as `plain_outcome` has them, or as an audience is told them.
    most
        Attacks of one kind on many columns that have a row of their own.
    """
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    untried: dict[str, list[Mapping[str, Any]]] = {}
    for each in sorted(outcomes, key=standing):
        found = kinds if each["tried"] else untried
        found.setdefault(each["attack"].partition(":")[0], []).append(each)
    lines = []
    for kind, every in kinds.items():
        shown = every if len(every) < MANY_COLUMNS else every[:most]
        lines += [_line(each, first=not place) for place, each in enumerate(shown)]
        if rest := every[len(shown) :]:
            lines.append(_further(kind, rest))
    return lines, [_nothing(kind, every) for kind, every in untried.items()]


def _line(each: Mapping[str, Any], *, first: bool) -> dict[str, Any]:
    success = each["success"]
    notes = list(each.get("notes", ()))
    allowed, predicted = (plain_number(each[name]) for name in ("allowed", "predicted"))
    if each.get("unshown"):
        notes.append(
            Phrase("No row of the verdict shows what an intruder who knows so much finds.")
        )
    if allowed is not None and predicted is not None and allowed < predicted:
        notes.append(
            Phrase(
                "Of so few records only whole ones can be right, which is less than was predicted."
            )
        )
    return {
        "title": each["title"],
        # What an attack does stands once, above the columns that it was tried on.
        "what": each.get("what", "") if first else "",
        "notes": notes,
        "row": WHO.get(each["row"], each["row"]),
        "share": printed(_alone(success), SHARE),
        "ends": ends_of(success, SHARE) if isinstance(success, dict) else "",
        "guesses": _guesses(each),
        "predicted": printed(each["predicted"], SHARE),
        "by": each["predicted_by"],
        "allowed": printed(each["allowed"], SHARE),
        "random": printed(_alone(each["baseline"]), SHARE),
        "control": printed(_alone(each["control"]), SHARE),
        "kept": None if each["predicted"] is None else not each["broken"],
    }


def _further(kind: str, rest: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The other columns that an attack was tried on, in one row."""
    unpredicted = sum(each["predicted"] is None for each in rest)
    broken = any(each["broken"] for each in rest)
    # Who is told of no number cannot be told that it is none above.
    notes = [Phrase("None is worse, by what it found beyond random guessing.")]
    notes *= all(each["success"] is not None for each in rest)
    notes += [Phrase("Not predicted: {n}.", n=unpredicted)] if unpredicted else []
    return {
        **dict.fromkeys(_NUMBERS, NONE),
        "title": Plural(
            "{attack}: {n} further column",
            "{attack}: {n} further columns",
            len(rest),
            attack=attack_title(kind),
            n=len(rest),
        ),
        "what": "",
        "notes": tuple(notes),
        "row": WHO.get(rest[0]["row"], rest[0]["row"]),
        "ends": "",
        "by": None,
        "kept": None if unpredicted and not broken else not broken,
    }


def _nothing(kind: str, every: Sequence[Mapping[str, Any]]) -> str:
    title = attack_title(kind if len(every) > 1 else every[0]["attack"])
    if len(every) > 1:
        title = Phrase("{attack} ({columns})", attack=title, columns=counted(len(every), "column"))
    notes = every[0].get("notes", ())
    return Phrase("{attack}: {notes}", attack=title, notes=Listed(notes, " ")) if notes else title


def _guesses(each: Mapping[str, Any]) -> str:
    if each["attempts"] is None:
        return NONE
    right, attempts = (printed(each[name], COUNT) for name in ("right", "attempts"))
    return Phrase("{some} of {all}", some=right, all=attempts)


def _alone(value: Any) -> Any:
    """The value of an estimate, without its interval."""
    return value["value"] if isinstance(value, dict) and "value" in value else value


def most_found(
    evidence: Iterable[Mapping[str, Any]], outcomes: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Of each intruder the attack with most right guesses at people, the most first.

    Guesses of values are no finds.
    """
    finds = {each["attack"] for each in evidence if each["number"] == "found"}
    found = [each for each in outcomes if each["attack"] in finds and each["success"]]
    # By what is told: an order by exact numbers would tell more of them outside.
    found.sort(key=lambda one: height(one["success"]))
    best = {each["row"]: each for each in found}
    return sorted(best.values(), key=lambda one: height(one["success"]), reverse=True)


def most_found_text(found: Sequence[Mapping[str, Any]]) -> str:
    """The worst of them in a sentence; nothing where no attack names people."""
    if not found or found[0]["attempts"] is None:
        return ""
    each = found[0]
    return Phrase(
        "Most right guesses of an attack ({who}, “{attack}”): {guesses}, {share}.",
        who=WHO.get(each["row"], each["row"]),
        attack=each["title"],
        guesses=_guesses(each),
        share=printed(_alone(each["success"]), SHARE),
    )


def prediction_lines(measures: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """What was predicted: its meaning, name, value and interval; of many columns the largest."""
    kinds: dict[str, list[str]] = {}
    for name in measures:
        kinds.setdefault(name.partition(":")[0], []).append(name)
    lines = []
    for kind, names in kinds.items():
        worst = max(names, key=lambda name: float(measures[name].value))
        many, column = len(names) >= MANY_COLUMNS, worst.partition(":")[2]
        for name in [worst] if many else names:
            each = measures[name]
            meaning = predicted_meaning(each.name)
            if many:
                meaning = Phrase(
                    "{meaning}; the largest of {n} columns, of {column}",
                    meaning=meaning,
                    n=len(names),
                    column=column,
                )
            shown = each.name if each.name.startswith("linkage") else (kind if many else name)
            ends = ends_of({"low": each.low, "high": each.high}, SHARE)
            lines.append((meaning, shown, printed(each.value, SHARE), ends))
    return lines
