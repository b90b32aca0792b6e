"""Dots of the frontier: releases of some promise each, made roughly and kept by nobody.

A dot is made of all records (*rough*: no people move between classes after the tree), or of some
people of a large file (*sample*). What it finds of risk in a sample is near that of all; the detail
that it loses is more than all will lose, as fewer people are there to be alike.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import ConstraintsNotMetError, InputError, SfumatoError
from sfumato.core.phrases import Phrase
from sfumato.pipeline.project_folder import LINKED, ProjectFolder, open_project
from sfumato.pipeline.release_stages import linkage_of, promised
from sfumato.pipeline.stage import RECORD
from sfumato.release.assembly import make_release
from sfumato.release.cures import detail_lost
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.release.promises.promise import strictest
from sfumato.release.release_manifest import Manifest, file_sha256
from sfumato.release.release_options import Options
from sfumato.release.release_result import Release
from sfumato.risk.verdict import INTRUDERS
from sfumato.server.workbench.bench import ROUGH, SAMPLE, inputs_of
from sfumato.server.workbench.job_process import Telling
from sfumato.table.classification import open_classified
from sfumato.table.table import Table

SAMPLE_RECORDS = 20_000
"""Records of the people of a sample: a dot of so many takes about a second."""
PEOPLE = (11, 3, 20, 5, 30, 8, 15, 50, 2, 25, 40, 10)
"""People in a class, in the order in which they are tried: the ends of what is usual first."""
FEWEST, MOST = 2, 50
"""What the slider reaches."""
DOT = "dot"
"""The key of a line that tells a dot."""


def dots_key(place: ProjectFolder) -> str:
    """What dots rest on: all that the project says, but for the number that is searched."""
    project, linked = place.project, place.of_stage(LINKED) / RECORD
    told = {
        "inputs": inputs_of(place),
        "schema": place.plain_schema(place.given_schema()),
        "release": project.release.model_dump(
            mode="json", exclude={"pid_k", "promise_limits", "no_cures", "effort"}
        ),
        "limits": repr(project.judged_by),
        "accept": project.accept.model_dump(mode="json"),
        "seed": project.about.seed,
        "linked": file_sha256(linked) if project.is_linked and linked.is_file() else "",
    }
    text = json.dumps(told, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _check_same(place: ProjectFolder, job: Telling) -> None:
    """Refuse to go on for a project that is another one by now."""
    if dots_key(open_project(place.file)) != job.revision:
        raise InputError(
            "the project",
            "must stay as it was while its releases are tried",
            found="a change",
            advice="try them again",
        )


@dataclass(frozen=True)
class Dot:
    """A release that was tried.

    Attributes
    ----------
    people
        People in every class, at least.
    kind
        *rough* or *sample*.
    found
        People found by each intruder, as value and ends of the interval; ``None`` if not measured.
    state
        That of the worst row of the verdict.
    lost
        Detail lost, in [0, 1].
    failed
        Why there is no such release; then nothing else is known.
    """

    people: int
    kind: str
    found: Mapping[str, Sequence[float] | None]
    state: str
    lost: float
    classes: int
    failed: str = ""
    options: Sequence[str] = ()

    @property
    def stranger(self) -> float | None:
        """People found by a stranger."""
        share = self.found.get("stranger")
        return None if share is None else share[0]


def search(place: ProjectFolder, arguments: Mapping[str, Any], job: Telling) -> None:
    """Make the dots of a project: of a sample first where the file is large, then of all."""
    job.progress("read", 0.0)
    _check_same(place, job)
    table = opened(place, job.progress)
    some = sample_of(table)
    done = {(each.people, each.kind) for each in dots_in(job.before)}
    wanted = dict.fromkeys((*arguments.get("first", ()), *PEOPLE))
    tables = [(SAMPLE, some), (ROUGH, table)] if some is not table else [(ROUGH, table)]
    for kind, each in tables:
        for people in wanted:
            if (people, kind) in done or people > each.persons:
                continue
            dot = _dot(place, each, people, kind, job.progress)
            _check_same(place, job)
            job.tell({DOT: {**vars(dot), "options": list(dot.options)}})


def dots_in(lines: Sequence[Mapping[str, Any]]) -> list[Dot]:
    """The dots that a job has told."""
    return [Dot(**line[DOT]) for line in lines if DOT in line]


def best_known(dots: Sequence[Dot]) -> list[Dot]:
    """One dot of each promise, of all records where there is one, by people in a class."""
    known: dict[int, Dot] = {}
    for dot in dots:
        if dot.people not in known or dot.kind == ROUGH:
            known[dot.people] = dot
    return [known[people] for people in sorted(known)]


def _dot(place: ProjectFolder, table: Table, people: int, kind: str, progress: Progress) -> Dot:
    try:
        release = drafted(place, table, people, progress)
    except ConstraintsNotMetError as error:
        why = error.failures[0] if error.failures else str(error)
        return Dot(people, kind, {}, "", 1.0, 0, why, error.options)
    verdict, found = release.verdict, dict[str, Sequence[float] | None]()
    for name in INTRUDERS:
        findings = verdict.row(name).findings
        share = None if findings is None else findings.found
        found[name] = None if share is None else (share.value, share.low, share.high)
    lost, classes = float(detail_lost(release)), release.risk.classes
    return Dot(people, kind, found, verdict.state.value, lost, classes)


def why_not(place: ProjectFolder) -> Phrase | None:
    """Why no release of a project is tried before it is made; ``None`` where they are."""
    asked = place.project.release
    if place.project.is_database:
        return Phrase(
            "Of several tables nothing is tried before: Run makes the release that is promised."
        )
    if asked.register_file is not None or asked.population is not None:
        return Phrase(
            "With a register or a population nothing is tried before: Run makes the release that "
            "is promised."
        )
    return None


def opened(place: ProjectFolder, progress: Progress = silent) -> Table:
    """The table that is released, encoded."""
    why = why_not(place)
    if why:
        raise SfumatoError(why)
    data, layout = place.data
    options = Options(**place.project.release.making)
    return open_classified(
        data, place.released_schema(), options.unclassified, progress=progress, **layout
    )


def sample_of(table: Table, records: int = SAMPLE_RECORDS) -> Table:
    """The records of people drawn at random, about so many; all of a small file."""
    if table.records <= 2 * records:
        return table
    # The same people for each dot, so that dots compare.
    order = np.random.default_rng(table.records).permutation(table.persons)
    counts = np.bincount(table.person, minlength=table.persons)[order]
    drawn = np.zeros(table.persons, dtype=np.bool_)
    drawn[order[: int(np.searchsorted(np.cumsum(counts), records)) + 1]] = True
    return table.take(np.flatnonzero(drawn[table.person]))


def drafted(
    place: ProjectFolder, table: Table, people: int, progress: Progress = silent
) -> Release:
    """A rough release in which each class has so many people, judged as the project says."""
    asked, seed = place.project.release, place.project.about.seed
    options = replace(Options(**asked.making), effort=0).with_ends(everybody=False)
    others = (each for each in promised(place) if not isinstance(each, PidKAnonymity))
    promises = strictest((*others, PidKAnonymity(people)))
    manifest = Manifest(options, promises, seed or 0, keyed=False, schema_sha256="")
    release = make_release(table, manifest, None, progress)
    judged_by, answers = place.project.judged_by, place.project.acceptances
    return release.judged(judged_by, answers, linkage_of(place))


def between(dots: Sequence[Dot], people: int) -> Iterator[Dot]:
    """The dots on both sides of a promise that has none."""
    below = [dot for dot in dots if dot.people < people and not dot.failed]
    above = [dot for dot in dots if dot.people > people and not dot.failed]
    yield from (*below[-1:], *above[:1])
