"""What the stages of a project found, and what was done with every column of its data."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.core.errors import InputError
from sfumato.core.phrases import Figure, Listed, Phrase
from sfumato.release.codebook import cell_words
from sfumato.release.history_utility import DIVIDED, UNCHANGED, written
from sfumato.release.release_options import Ends, Form, Recoding
from sfumato.reports.audience import Discretion
from sfumato.reports.release_report import KINDS
from sfumato.schema import Kind

LINK, REVIEW, LINKED = "link", "review", "linked"
ASSESS, RELEASE, ATTACK = "assess", "release", "attack"
CONTEXT = ("recipients", "purpose", "controls", "context", "review_date")
"""What a project file may say of a release beside its data."""
STATED = {
    "contract": Phrase("Contract, and what it forbids"),
    "means": Phrase("Other files, tools and people within reach"),
    "training": Phrase("Training of the people who work with it"),
    "security": Phrase("Rooms, machines and access"),
    "retention": Phrase("Deletion, and how it is shown"),
    "incidents": Phrase("Who hears of a breach, and how soon"),
    "intruder_test": Phrase("Test by people who tried to find someone"),
    "analysis": Phrase("The recipient’s own analysis, before and after"),
}
"""What a custodian may state of a recipient, which no measure tells."""


@dataclass(frozen=True)
class StageFound:
    """What a stage found.

    Attributes
    ----------
    record
        Its record as plain values: settings, hashes, seed, time, versions.
    about
        What its own report adds to that: how it stands to thresholds in use elsewhere.
    """

    record: Mapping[str, Any]
    measured: Mapping[str, Any]
    about: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ProjectResults:
    """What a whole project found.

    Attributes
    ----------
    name
        Name of the project.
    stages
        What its stages found, by their names.
    context
        What the project file says of recipients, purpose, controls, context and the review date.
    reasons
        Why columns have their roles, in the custodian's words, by column.
    verdict
        What is said of the release, as `sfumato.risk.verdict` has it; ``None`` where none was made.
    stated
        What the custodian states of each recipient.
    handed
        What the ledger says of the release and of all others that left; ``None`` where it is off.
    expired
        Acceptances that count no more.
    """

    name: str
    stages: Mapping[str, StageFound]
    context: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    verdict: Mapping[str, Any] | None = None
    stated: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    handed: Mapping[str, Any] | None = None
    expired: Iterable[Mapping[str, Any]] = ()

    @property
    def is_on_request(self) -> bool:
        """Whether a policy decided about the release."""
        return "request" in self.measured(RELEASE)

    @property
    def is_of_tables(self) -> bool:
        """Whether the release is of several tables."""
        return "tables" in self.settings(RELEASE).get("schema", {})

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema of the released file, with the direct identifiers of its sources."""
        released = self.settings(RELEASE).get("schema", {})
        if "tables" in released:
            released = _of_all_tables(released["tables"])
        sources = self.settings(LINK).get("schema", {})
        # Those of the sources come first: the linked file has none of them any more.
        direct = (*sources.get("direct_identifiers", ()), *released.get("direct_identifiers", ()))
        return {
            "person": released.get("person"),
            "household": released.get("household"),
            "direct_identifiers": list(dict.fromkeys(direct)),
            "quasi_identifiers": dict(released.get("quasi_identifiers", {})),
            "sensitive": list(released.get("sensitive", ())),
            "insensitive": list(released.get("insensitive", ())),
            "undecided": list(released.get("undecided", ())),
            "accepted": dict(released.get("accepted", {})),
            "events": list(released.get("events", ())),
        }

    @property
    def before(self) -> Mapping[str, Any]:
        """What was measured of the data by the same measures as the release."""
        # Requests are not measured as promises are: what was assessed stands for the data before.
        if self.is_on_request:
            return self.measured(ASSESS)
        before: Mapping[str, Any] = self.measured(RELEASE).get("before", {})
        return before

    @property
    def after(self) -> Mapping[str, Any]:
        """What was measured of the release; nothing of one on request, which has other measures."""
        return {} if self.is_on_request else self.measured(RELEASE)

    @property
    def linkage(self) -> Mapping[str, Any]:
        """What was measured of the linkage, after people's answers where there are any."""
        after = self.measured(LINKED)
        return after if after.get("records") else self.measured(LINK)

    def measured(self, stage: str) -> Mapping[str, Any]:
        """What a stage measured; nothing where there is no such stage."""
        found = self.stages.get(stage)
        return {} if found is None else found.measured

    def settings(self, stage: str) -> Mapping[str, Any]:
        """The part of the project file that concerns a stage; nothing where there is none."""
        found = self.stages.get(stage)
        return {} if found is None else found.record.get("settings", {})

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> ProjectResults:
        """The results as ``sfumato run`` collects them in project.json.

        Parameters
        ----------
        plain
            ``project``, ``stages`` with ``record`` and ``measured`` each, and where they are
            known ``about`` of each, ``context`` and ``reasons``.

        Raises
        ------
        InputError
            If they are something else.
        """
        try:
            stages = {
                name: StageFound(each["record"], each["measured"], each.get("about") or {})
                for name, each in plain["stages"].items()
            }
            name = str(plain["project"])
            said = {key: str(text) for key, text in (plain.get("context") or {}).items()}
            reasons = dict(plain.get("reasons") or {})
        except (KeyError, TypeError, AttributeError):
            raise _wrong() from None
        if RELEASE not in stages:
            raise InputError(
                "results of a project",
                "must include its release",
                found="none",
                advice="run the project first: sfumato run",
            )
        stated, handed = dict(plain.get("stated") or {}), plain.get("handed")
        expired = tuple(plain.get("expired") or ())
        return cls(name, stages, said, reasons, plain.get("verdict"), stated, handed, expired)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ProjectResults:
        """The results that ``sfumato run`` wrote, ``reports/project.json``.

        Raises
        ------
        InputError
            If it cannot be read or holds something else.
        """
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            raise _wrong() from None
        return cls.from_json(plain)


def _wrong() -> InputError:
    return InputError(
        "results of a project",
        "must be what 'sfumato run' collects in project.json",
        found="something else",
    )


DIRECT, PERSON, HOUSEHOLD = (
    Phrase("direct identifier"),
    Phrase("person"),
    Phrase("household"),
)
QUASI, SENSITIVE, INSENSITIVE = (
    Phrase("quasi-identifier"),
    Phrase("sensitive"),
    Phrase("insensitive"),
)
UNDECIDED = Phrase("undecided")
REMOVED = Phrase("removed")
"""What was done to a column that is not in the release."""
NOTHING = Phrase("“*” in every record")
"""What was done to a column that shows no value any more."""
UNTOLD = Phrase("not measured how its cells are written")
"""What was done to a column of events that no run notes."""
_WHY: dict[str, str] = {
    DIRECT: Phrase("names, numbers or reaches a person by itself"),
    PERSON: Phrase("says which records are of one person"),
    HOUSEHOLD: Phrase("says which people live together; measured, and not released"),
    QUASI: Phrase(
        "an intruder may know it of a person, and single the person out by it with others"
    ),
    SENSITIVE: Phrase("is not to be learned of a person; needed for the analysis"),
    INSENSITIVE: Phrase("taken as not known outside the file and not harmful"),
    UNDECIDED: Phrase("its role is not stated"),
}

"""Why a column has its role, where the custodian gives no reason."""


def variables(results: ProjectResults, show: Discretion) -> list[dict[str, Any]]:
    """One line for each column, direct identifiers first."""
    schema = results.schema
    lines = [_line(results, name, DIRECT, REMOVED) for name in schema["direct_identifiers"]]
    manifest = results.measured(RELEASE).get("manifest", {})
    withheld, tables = manifest.get("options", {}).get("withhold", ()), manifest.get("tables", {})
    if schema["person"]:
        done = REMOVED if schema["person"] in withheld else _pseudonyms(results)
        lines.append(_line(results, schema["person"], PERSON, done))
    if schema["household"]:
        lines.append(_line(results, schema["household"], HOUSEHOLD, REMOVED))
    utility = results.measured(RELEASE).get("utility", {})
    lost = {each["column"]: each for each in utility.get("columns", ())}
    for name, quasi in schema["quasi_identifiers"].items():
        own = lost.get(name, {})
        # What the project file leaves open the release has found by the values.
        known = {**quasi, "kind": quasi.get("kind") or own.get("kind")}
        done = NOTHING if own.get("hidden") == 1 else _generalised(results, name, known)
        line = _line(results, name, QUASI, done)
        lines.append(line | {"kind": _kind(known), "lost": show.degree(own.get("ncp"))})
    events = utility.get("histories", {}).get("done", {})
    other = dict.fromkeys(schema["events"], UNTOLD if results.is_of_tables else UNCHANGED)
    other |= {
        f"{t}.{name}": UNCHANGED
        for t, each in tables.items()
        for name, ways in each.get("shown", {}).items()
        if ways["exact"] == 1
    }
    other |= {name: written(each, exact=not show.is_public) for name, each in events.items()}
    other |= {
        f"{t}.{name}": NOTHING for t, each in tables.items() for name in each.get("undated", ())
    }
    other |= dict.fromkeys(withheld, REMOVED)
    for role, names in ((SENSITIVE, schema["sensitive"]), (INSENSITIVE, schema["insensitive"])):
        for name in names:
            done = other.get(name, UNCHANGED)
            lines.append(_line(results, name, role, done))
    lines += [_line(results, name, UNDECIDED, REMOVED) for name in schema["undecided"]]
    # Whoever signs must find every column of the sources, those that went early among them.
    told = {line["name"] for line in lines}
    linked = results.settings(LINK).get("schema", {})
    for role, part in (
        (QUASI, "quasi_identifiers"), (SENSITIVE, "sensitive"), (INSENSITIVE, "insensitive"),
    ):  # fmt: skip
        gone = (name for name in linked.get(part, ()) if name not in told)
        done = Phrase("left out by the linkage")
        lines += [_line(results, name, role, done) for name in gone]
    return lines


def alike(lines: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Columns of one role that were treated alike, for one reason, in one line with their names."""
    found: dict[tuple[Any, ...], list[str]] = {}
    keys = ("role", "kind", "done", "why", "custodians_reason")
    for each in lines:
        found.setdefault(tuple(each[key] for key in keys), []).append(each["name"])
    return [{**dict(zip(keys, told, strict=True)), "names": names} for told, names in found.items()]


def _of_all_tables(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The schema of all rows of a database: columns behind the names of their tables."""
    found: dict[str, Any] = {"quasi_identifiers": {}, "accepted": {}, "undecided": [], "events": []}
    for name, own in tables.items():

        def named(columns: Iterable[str], name: str = name) -> list[str]:
            return [f"{name}.{column}" for column in columns]

        if own.get("persons"):
            found["person"] = f"{name}.{own['key']}"
        quasi = own.get("quasi_identifiers", {})
        found["quasi_identifiers"] |= {
            f"{name}.{column}": {"kind": each} if isinstance(each, str) else each
            for column, each in quasi.items()
        }
        for role in ("direct_identifiers", "insensitive", "undecided"):
            found.setdefault(role, []).extend(named(own.get(role, ())))
        events = [each for each in own.get("events", {}) if each not in own.get("insensitive", ())]
        told = named(dict.fromkeys((*own.get("sensitive", ()), *events)))
        found["events"] += named(own.get("events", {}))
        found.setdefault("sensitive", []).extend(told)
        found["accepted"] |= {f"{name}.{n}": why for n, why in own.get("accepted", {}).items()}
    return found


def _line(results: ProjectResults, name: str, role: str, done: str) -> dict[str, Any]:
    own = results.reasons.get(name) or results.schema["accepted"].get(name)
    return {
        "name": name,
        "role": role,
        "kind": None,
        "why": own or _WHY[role],
        "custodians_reason": own is not None,
        "done": done,
        "lost": None,
    }


def _kind(quasi: Mapping[str, Any]) -> str | None:
    weight = quasi.get("weight", 1)
    said = [KINDS[Kind(quasi["kind"])]] if quasi.get("kind") else []
    if weight != 1:
        said.append(Phrase("weight {weight}", weight=Figure(f"{weight:g}")))
    return Listed(said) if said else None


def _pseudonyms(results: ProjectResults) -> str:
    if results.measured(RELEASE).get("utility", {}).get("histories", {}).get("divided"):
        return DIVIDED
    manifest = results.measured(RELEASE).get("manifest", {}).get("release", {})
    if manifest.get("keyed_pseudonyms"):
        return Phrase(
            "replaced by pseudonyms made with a key, the same in every release with that key"
        )
    return Phrase("replaced by random pseudonyms, new in this release")


def _generalised(results: ProjectResults, name: str, quasi: Mapping[str, Any]) -> str:
    if results.is_on_request:
        return Phrase(
            "generalised to a level of its code list, value by value, as the rules require"
        )
    making = results.settings(RELEASE).get("release", {})
    levels = results.measured(RELEASE).get("levels", {}).get("columns", ())
    for level in levels:
        if making.get("recoding") == Recoding.FULL_DOMAIN and level["name"] == name:
            return Phrase(
                "recoded: all records show level {level} of {height} of its hierarchy",
                level=level["level"],
                height=level["height"],
            )
    kind = Kind(quasi.get("kind") or Kind.CATEGORICAL)
    made = results.measured(RELEASE).get("manifest", {})
    shown = cell_words(
        making.get("values", Form.RANGE),
        kind,
        Phrase(", in two columns"),
        has_hierarchy=bool(quasi.get("hierarchy")),
        ends=made.get("options", {}).get("ends", Ends.TIGHT),
    )
    said = Phrase("generalised: each record shows {shown}", shown=shown)
    if quasi.get("top") is None and quasi.get("bottom") is None:
        return said
    return Phrase("{what}; ends coded", what=said)
