"""The comments of a proposed project file: why each choice was made, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping

from sfumato.pipeline.project.model import Project

_TOP = """\
What this project is made of, what it promises, and what it makes of it.
'sfumato init' proposed it: read it, edit it, then type: sfumato run
Paths are named from the folder of this file. Every section is explained in docs/project.md."""
_NOTES = {
    "project": "Keep this file inside: with the seed and the tables, pseudonyms can be undone.",
    "schema": """\
What each column is: only you know what an intruder may know.
direct identifiers: never released; quasi-identifiers: what an intruder may know, generalised;
sensitive: what must not be learned; insensitive: released as they are.""",
    "link": "How records of one person are found. Sensitive columns are never compared.",
    "link.specification": """\
Proposed from the headers and a sample, without labels. Records are compared if they agree
on all parts of one of the blocking rules.""",
    "review": """\
Possible matches, which the model leaves open: "none" keeps their records apart; "terminal"
and "application" wait for people, who see them masked and open what they need.""",
    "review.k": "Records that what a reviewer sees must fit at least.",
    "review.budget": "KAPR that each reviewer may spend, from 0 to 1.",
    "release": "What every class of the release keeps. 'sfumato presets' lists thresholds in use.",
    "release.g_balance": """\
No person dominates a class: 0.9 is as much as ten persons with equally many records.""",
    "release.h_affiliation": "At most this share of a class has one sensitive value.",
    "release.pid_k": "At least so many persons in every class.",
    "release.presets": "The thresholds of these are met, too.",
    "attack": """\
A simulated intruder attacks the release: who knows the exact quasi-identifiers of everybody in
it, where nothing else is said. Without this section there is no attack.""",
    "outputs": """\
output/release may go out; output/reports and the folder stages stay inside.""",
}


def said_of(
    project: Project,
    columns: Mapping[str, str],
    compared: Mapping[str, str],
) -> dict[str, str]:
    """Comments on a proposed project, as `dump_project` takes them.

    Parameters
    ----------
    project
        The project.
    columns
        Why each column has its role.
    compared
        Why each column is compared, and each rule.
    """
    notes = {"": _TOP, "link": _NOTES["link"]} if project.is_linked else {"": _TOP}
    for place, text in _NOTES.items():
        section, _, key = place.partition(".")
        part = {"project": project.about, "schema": project.columns}.get(
            section, getattr(project, section, None)
        )
        if part is None or (section in {"link", "review"} and not project.is_linked):
            continue
        if not key or key in getattr(part, "model_fields_set", ()):
            notes[place] = text
    notes |= {f"schema.{name}": text for name, text in columns.items() if text}
    notes |= {f"link.specification.{name}": text for name, text in compared.items()}
    spec = None if project.link is None else project.link.specification
    if getattr(spec, "id", None) is not None and not project.columns_are_in_file:
        notes["schema"] += "\nThe column that numbers a table's records is not named here."
    return notes
