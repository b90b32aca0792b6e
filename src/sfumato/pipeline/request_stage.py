"""How a release on request is made: the stage ``release`` where a policy decides."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.core.declaration import Place, Progress
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.core.secret_keys import FOR_REPEATING
from sfumato.pipeline.project_folder import RELEASE, ProjectFolder, shell_path
from sfumato.pipeline.project_model import LedgerSection, OnRequest, Undecided
from sfumato.pipeline.release_stages import ledger_of, linkage_of, made_files
from sfumato.pipeline.stage import Made, Stage, Waiting, kept_secret, write_report
from sfumato.semantics.associations import State
from sfumato.semantics.policy import load_policy
from sfumato.semantics.release_request import Asked, Mining, ask, policy_sha256
from sfumato.semantics.request_ledger import RequestLedger
from sfumato.semantics.requested_release import RequestedRelease, make_release
from sfumato.table.table_files import write_table


def _section(place: ProjectFolder) -> OnRequest:
    if place.project.policy is None:
        raise InputError("section [policy]", "must be given for a release on request")
    return place.project.policy


def _settings(place: ProjectFolder) -> dict[str, Any]:
    section, release = _section(place), place.project.release
    with ledger_of(place) as ledger:
        noted = () if ledger is None else ledger.associations()
        # What readers are taken to know decides about the release: more of it makes it again.
        accepted = sorted(each.id for each in noted if each.state is State.ACCEPTED)
    return {
        "seed": place.project.about.seed,
        "schema": place.plain_schema(place.released_schema()),
        # Whether it waits changes nothing of what is released.
        "policy": section.model_dump(mode="json", exclude={"undecided"}),
        "policy_sha256": policy_sha256(load_policy(place.at(section.file))),
        "accepted": accepted,
        "keep_order": release.keep_order,
        "files": list(made_files(place)),
        **place.report_settings,
    }


def _files(place: ProjectFolder) -> dict[str, Place]:
    section, release = _section(place), place.project.release
    files = place.data_files() | _files_of_policy(place)
    files |= place.named(RELEASE, pseudonym_key=release.pseudonym_key)
    files |= {f"policy.local.{name}": place.at(path) for name, path in section.local.items()}
    files |= {f"policy.rules.{n}": place.at(path) for n, path in enumerate(section.rules, 1)}
    return files


def _files_of_policy(place: ProjectFolder) -> dict[str, Path]:
    """The files that the policy names; what it says itself is among the settings."""
    policy = load_policy(place.at(_section(place).file))
    files = {f"policy.file: rules.{n}": path for n, path in enumerate(policy.rules, 1)}
    for name, database in policy.databases.items():
        for column, identifier in database.quasi_identifiers.items():
            if isinstance(identifier.hierarchy, Path):
                key = f"policy.file: databases.{name}.quasi_identifiers.{column}"
                files[key] = identifier.hierarchy
    return files


def _check(place: ProjectFolder) -> None:
    # Opened once: a ledger that cannot be used is refused before any work.
    with ledger_of(place, make=True):
        pass
    place.key(place.project.release.pseudonym_key, "release.pseudonym_key")


def _asked(place: ProjectFolder) -> Asked:
    section = _section(place)
    return ask(
        place.data[0],
        place.released_schema(),
        policy=load_policy(place.at(section.file)),
        request=section.request,
        local={name: place.at(path) for name, path in section.local.items()},
        rules=tuple(place.at(path) for path in section.rules),
    )


def _mining(place: ProjectFolder) -> Mining:
    section = _section(place)
    return Mining(section.association_support, section.association_confidence)


def _prepare(place: ProjectFolder) -> None:
    """Propose the associations that a release would tell, before one is made and noted."""
    section = _section(place)
    if section.undecided is not Undecided.WAIT:
        return
    with ledger_of(place) as ledger:
        if ledger is None or _proposed(ledger):
            return
        known = {association.id for association in ledger.associations()}
        # A trial: the ledger does not see it, and no file comes of it.
        found = make_release(_asked(place), None, mining=_mining(place), seed=0).proposed
        new = [each for each in found if each.id not in known]
        if new:
            ledger.propose(new, f"project {place.project.about.name}")


def _proposed(ledger: RequestLedger) -> int:
    return sum(association.state is State.PROPOSED for association in ledger.associations())


def _waits(place: ProjectFolder) -> Waiting | None:
    if _section(place).undecided is not Undecided.WAIT:
        return None
    with ledger_of(place) as ledger:
        count = 0 if ledger is None else _proposed(ledger)
    if not count:
        return None
    section = place.project.ledger or LedgerSection()
    options = " ".join(
        f"{option} {shell_path(place.at(path))}"
        for option, path in (("--ledger", section.file), ("--keys", section.keys))
        if path is not None
    )
    return Waiting(
        "custodian",
        f"a decision is due on {counted(count, 'association')} that a reader could infer from",
        count,
        (
            f"sfumato ledger associations list --state proposed {options}".strip(),
            f"sfumato ledger associations accept ID --note WHY --by NAME {options}".strip(),
        ),
    )


def _make(place: ProjectFolder, making: Path, progress: Progress) -> Made:
    release = place.project.release
    progress("release", 0.0)
    asked = _asked(place)
    first, *others = made_files(place)

    def judged(made: RequestedRelease) -> RequestedRelease:
        project = place.project
        return made.judged(project.judged_by, project.acceptances, linkage_of(place))

    def write_others(made: RequestedRelease) -> None:
        made = judged(made)
        for name in others:
            write_table(made.table, making / name, labels=made.shown_labels)
        write_report(made, place, making, "Release on request")
        assert made.secret is not None
        made.secret.write(making / FOR_REPEATING)

    with ledger_of(place) as ledger:
        made = make_release(
            asked,
            ledger,
            making / first,
            mining=_mining(place),
            seed=place.project.about.seed,
            keep_order=release.keep_order,
            pseudonym_key=place.key(release.pseudonym_key, "release.pseudonym_key"),
            secret=kept_secret(place, REQUEST_STAGE, FOR_REPEATING),
            also=write_others,
        )
    made = judged(made)
    found = f"{counted(made.table.num_rows, 'record')} for request '{asked.request}', k = {made.k}"
    of = Made.of(made, found, place)
    if made.recipient is None:
        return of
    fewest = round(1 / made.recipient.person.value)
    own = {"recipient": {"found": made.recipient.found.value, "fewest": fewest}}
    return replace(of, measured={**of.measured, **own})


REQUEST_STAGE = Stage(
    RELEASE,
    _settings,
    _make,
    files=_files,
    earlier=ProjectFolder.data_stages,
    check=_check,
    prepare=_prepare,
    waits=_waits,
)
