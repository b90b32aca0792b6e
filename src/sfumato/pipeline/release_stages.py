"""How a project's data is measured, released and attacked: ``assess``, ``release``, ``attack``."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.core.declaration import Place, Progress, fields_of
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted, share_text
from sfumato.core.secret_keys import FOR_REPEATING
from sfumato.ledger.ledger_options import default_ledger, default_ledger_keys, named_ledger
from sfumato.linkage.linked_file import PERSON, SOURCE
from sfumato.pipeline.project_folder import (
    ASSESS,
    ATTACK,
    LINK,
    LINKED,
    RELEASE,
    ProjectFolder,
    open_project,
)
from sfumato.pipeline.project_model import Assess, Attack, LedgerSection, Reviewers
from sfumato.pipeline.project_model import Release as ReleaseSection
from sfumato.pipeline.stage import (
    MEASURED,
    Made,
    Stage,
    current_record,
    depends,
    kept_secret,
    read_object,
    read_record,
    write_report,
)
from sfumato.release.anonymize import anonymize, check_asked
from sfumato.release.cures import detail_lost
from sfumato.release.database_release import check_of_tables
from sfumato.release.preset_promises import held_against
from sfumato.release.preset_promises import promises as promises_of
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.release_manifest import load_manifest
from sfumato.release.release_options import Options
from sfumato.release.release_result import Release
from sfumato.risk import verdict
from sfumato.risk.assessment import assess
from sfumato.risk.evidence import Evidence, evidence_of
from sfumato.risk.intruders import Findings
from sfumato.risk.learned_values import Share
from sfumato.risk.risk_thresholds import Preset, thresholds
from sfumato.risk.threshold_checks import check_numbers
from sfumato.semantics.request_ledger import RequestLedger
from sfumato.table.table_files import write_table

RELEASE_MANIFEST = "release.toml"
"""The manifest in the folder of the stage ``release``."""


def _register(place: ProjectFolder, asked: Assess | ReleaseSection | Attack) -> Place | None:
    return None if asked.register_file is None else place.at(asked.register_file)


def _presets(place: ProjectFolder, asked: Assess | ReleaseSection) -> tuple[Preset, ...]:
    """The thresholds that a section names."""
    if not asked.presets and asked.thresholds is None:
        return ()
    file = None if asked.thresholds is None else place.at(asked.thresholds)
    chosen = thresholds(*asked.presets, file=file)
    check_numbers(chosen)
    return chosen


def _settings_of_data(place: ProjectFolder) -> dict[str, Any]:
    return {
        "seed": place.project.about.seed,
        **place.data[1],
        "schema": place.plain_schema(place.released_schema()),
    }


def _assess_settings(place: ProjectFolder) -> dict[str, Any]:
    return _settings_of_data(place) | {
        "assess": place.project.assess.model_dump(mode="json", by_alias=True),
        **place.report_settings,
    }


def _assess_files(place: ProjectFolder) -> dict[str, Place]:
    asked = place.project.assess
    files = place.named(ASSESS, thresholds=asked.thresholds, register=asked.register_file)
    return place.data_files() | files


def _assess(place: ProjectFolder, making: Path, progress: Progress) -> Made:
    asked = place.project.assess
    data, layout = place.data
    risk = assess(
        data,
        place.released_schema(),
        **asked.measuring,
        population=asked.known_population(_register(place, asked)).given,
        seed=place.project.about.seed,
        presets=_presets(place, asked),
        **layout,
        progress=progress,
    )
    write_report(risk, place, making, "Risk before the release")
    return Made.of(
        risk,
        f"{counted(risk.records, 'record')} of {counted(risk.persons, 'person')}; "
        f"{counted(risk.sample_uniques, 'class')} with one person",
        place,
    )


ASSESS_STAGE = Stage(
    ASSESS, _assess_settings, _assess, files=_assess_files, earlier=ProjectFolder.data_stages
)


TABLES = "tables"
"""The folder with the released tables of a database."""


def release_files(place: ProjectFolder) -> tuple[str, ...]:
    """Names of the released file in each of its formats; of a database those of its tables."""
    if place.project.is_database:
        return tuple(f"{TABLES}/{name}.csv" for name in place.released_schema().tables)
    return tuple(f"{RELEASE}.{form}" for form in place.project.outputs.formats)


FOR_DATABASE = f"{RELEASE}.parquet"
"""The released file with the types that a database takes it with."""


def made_files(place: ProjectFolder) -> tuple[str, ...]:
    """Names of the released file in each form that the stage makes: one for a database, too."""
    into = () if place.project.outputs.database is None else (FOR_DATABASE,)
    return tuple(dict.fromkeys((*release_files(place), *into)))


def _release_settings(place: ProjectFolder) -> dict[str, Any]:
    return _settings_of_data(place) | {
        "limits": [repr(each) for each in _limited(place)],
        "release": _as_asked(place),
        "files": list(made_files(place)),
        **place.report_settings,
        # Where keys and head lie, and who gets the release, changes nothing of it.
        "ledger": _ledger(place).model_dump(mode="json", exclude={"keys", "head", "to"}),
        **({} if place.period is None else {"period": place.period}),
    }


def _as_asked(place: ProjectFolder) -> dict[str, Any]:
    """What the section says, but for who withdraws, which later periods add to."""
    return place.project.release.model_dump(mode="json", by_alias=True, exclude={"withdrawn"})


def _ledger(place: ProjectFolder) -> LedgerSection:
    return place.project.ledger or LedgerSection()


def _release_files(place: ProjectFolder) -> dict[str, Place]:
    asked = place.project.release
    files = place.named(
        RELEASE,
        thresholds=asked.thresholds,
        register=asked.register_file,
        pseudonym_key=asked.pseudonym_key,
        withdrawn=_withdrawn(place),
        continues=None if place.before is None else _continued(place.before),
    )
    return place.data_files() | files


def _withdrawn(place: ProjectFolder) -> Path | None:
    """Who leaves a series from this period on; ``None`` in the first file, which lacks them."""
    named = place.project.release.withdrawn
    if named is None or place.before is None or place.period is None:
        return None
    path: Path = place.at(named)
    if not path.is_dir():
        return path
    own = withdrawn_file(path, place.period)
    return own if own.is_file() else None


def withdrawn_file(folder: Path, period: str) -> Path:
    """The file of a folder that names who withdrew before a period."""
    return folder / f"{period}.parquet"


def _continued(before: ProjectFolder) -> Path:
    """The manifest of the release that the next period continues.

    Raises
    ------
    InputError
        If it was not made yet.
    """
    manifest = before.of_stage(RELEASE) / RELEASE_MANIFEST
    if not manifest.is_file() or read_record(manifest.parent) is None:
        raise InputError(
            f"period {before.period}",
            "must be run before the one that follows it",
            found="no release, or one without a readable stage.json",
            advice=f"sfumato run --period {before.period}, or bring its folder of stages back",
        )
    return manifest.resolve()


def _made_release(place: ProjectFolder, progress: Progress) -> Release:
    """The release of a project, as its file asks for it; nothing is written."""
    asked = place.project.release
    data, layout = place.data
    if place.before is not None:
        return anonymize(
            data,
            place.released_schema(),
            continues=_continued(place.before),
            period=place.period,
            withdrawn=_withdrawn(place),
            seed=place.project.about.seed,
            **layout,
            progress=progress,
        )
    return anonymize(
        data,
        place.released_schema(),
        *promised(place),
        *_limited(place),
        **asked.making,
        register=_register(place, asked),
        population=asked.population,
        seed=place.project.about.seed,
        pseudonym_key=place.key(asked.pseudonym_key, "release.pseudonym_key"),
        period=place.period,
        secret=kept_secret(place, RELEASE_STAGE, FOR_REPEATING),
        **layout,
        progress=progress,
    )


def _limited(place: ProjectFolder) -> tuple[verdict.Limits | verdict.Acceptance, ...]:
    """The limits where they are promised, and what stays as it is as somebody answers for it.

    How much an answer covers is held against what is found of it then.
    """
    project = place.project
    if not project.release.promise_limits:
        return ()
    # Who answers, and why, makes no other release.
    said, whole = "as the project file says", dict.fromkeys(verdict.SHARES, 1.0)
    kept = (
        verdict.Acceptance(intruder, said, said, each.until, whole, column)
        for (intruder, column), each in project.accept.by_row.items()
    )
    return (project.judged_by, *kept)


def promised(place: ProjectFolder) -> tuple[Constraint | Budget, ...]:
    """All promises, those of presets too."""
    asked = place.project.release
    presets = _presets(place, asked)
    held = promises_of(*presets, threshold=asked.threshold) if presets else ()
    return (*asked.promises, *held)


def _check_period(place: ProjectFolder) -> None:
    """Refuse a series without a period, and one that goes on otherwise than it began.

    Raises
    ------
    InputError
        If there is no period, or the one before has other promises or reached nobody.
    """
    if place.project.release.series is not None and place.period is None:
        raise InputError(
            "the project",
            "must be told which period its file tells of, as its releases are a series",
            advice="sfumato run --period 2026-01, or another month, quarter, year or week",
        )
    before = place.before
    if before is None:
        return
    record = read_record(_continued(before).parent)
    assert record is not None
    # A later version may know more options, which had their usual value then.
    now, then = _flat(_as_asked(place)), _flat(record.settings["release"])
    changed = [name for name, value in now.items() if name in then and value != then[name]]
    if changed:
        raise InputError(
            "section [release]",
            "must be as in the period before",
            found=f"another {', '.join(changed)}",
            advice="bring it back; another promise is another series, in a project of its own",
        )
    with ledger_of(place) as memory:
        if memory is not None and not got(memory, before):
            raise InputError(
                f"period {before.period}",
                "must be handed over before the one that follows it",
                found="a release that no recipient got, by the ledger of the project",
                advice="sfumato ledger hand-over, or name who gets it as 'to' under [ledger]: "
                f"sfumato run --period {before.period}",
            )


def _flat(asked: dict[str, Any]) -> dict[str, Any]:
    """The keys of a section with those of its series beside them."""
    own = asked.get("series") or {}
    return {**asked, **{f"series.{name}": value for name, value in own.items()}, "series": None}


def got(memory: RequestLedger, place: ProjectFolder) -> tuple[str, ...]:
    """Who got the release of a period, by a ledger."""
    released = load_manifest(place.of_stage(RELEASE) / RELEASE_MANIFEST).output_sha256
    alike = [each for each in memory.remembered() if each.output_sha256 == released]
    return tuple(dict.fromkeys(to for each in alike for to in each.to))


def _check_open(place: ProjectFolder) -> None:
    """Refuse to make the release of a period anew that somebody has, or a later one continues.

    Raises
    ------
    InputError
        If there is such a one: under the same pseudonyms both would be known.
    """
    if place.period is None:
        return
    found = ""
    periods = list(place.project.periods)
    for later in periods[periods.index(place.period) + 1 :]:
        if (open_project(place.file, later).of_stage(RELEASE) / RELEASE_MANIFEST).exists():
            found = f"a release of {later}, which continues it"
    if (place.of_stage(RELEASE) / RELEASE_MANIFEST).exists():
        with ledger_of(place) as memory:
            if memory is not None and got(memory, place):
                found = found or "a release that was handed over"
    if found:
        raise InputError(
            f"period {place.period}",
            "must stay as it was released",
            found=found,
            advice="what is corrected goes into the next period",
        )


def _check_release(place: ProjectFolder) -> None:
    """Refuse promises that no data could keep, and a file that is no key."""
    _check_period(place)
    asked = place.project.release
    # Opened, and made where there is none: what cannot be remembered must not be released.
    with ledger_of(place, make=True):
        key = place.key(asked.pseudonym_key, "release.pseudonym_key")
    schema = place.given_schema()
    if schema is None:
        return
    if schema.tables:
        check_of_tables(promised(place), asked.making)
        return
    if place.project.is_linked:
        # What the linkage adds: it finds the persons, and says where a record is from.
        added = {"person": PERSON, "insensitive": (*schema.insensitive, SOURCE)}
        schema = schema.model_copy(update=added)
    check_asked(
        schema,
        promised(place),
        Options(**asked.making),
        register=asked.register_file is not None,
        population=asked.population,
        pseudonym_key=key,
        limited=asked.promise_limits,
    )


def ledger_file(place: ProjectFolder) -> Path:
    """Where the releases of a project are remembered, if they are."""
    file = _ledger(place).file
    return default_ledger() if file is None else place.at(file)


def ledger_of(
    place: ProjectFolder, *, make: bool = False
) -> AbstractContextManager[RequestLedger | None]:
    """The ledger of a project, the user's own where no file is named.

    ``None`` where nothing is to be remembered, or nothing was yet.

    Parameters
    ----------
    make
        Whether to make the user's own for a project without ``[ledger]``.
    """
    section = _ledger(place)
    if not section.remember:
        return nullcontext()
    file = ledger_file(place)
    unnamed = place.project.ledger is None and named_ledger() is None
    if unnamed and not make and not file.exists():
        return nullcontext()
    try:
        return RequestLedger.open(
            file,
            default_ledger_keys() if section.keys is None else place.at(section.keys),
            make=unnamed and make,
            first=True,
            head=None if section.head is None else place.at(section.head),
        )
    except InputError as error:
        if section.file is not None or file.exists():
            raise
        advice = "name another one as 'file' under [ledger], or write 'remember = false' there"
        raise InputError(
            error.subject,
            error.rule,
            found=error.found,
            advice=f"{error.advice}; {advice}" if error.advice else advice,
        ) from None


def _release(place: ProjectFolder, making: Path, progress: Progress) -> Made:
    _check_open(place)
    project = place.project
    release = _made_release(place, progress).judged(
        project.judged_by,
        project.acceptances,
        linkage_of(place),
        cured=not project.release.no_cures,
    )
    release = replace(release, judged_in="the project's report")
    # The attack needs whose each record is, which stands in no file.
    if place.project.attack is not None:
        place.made[depends(place, RELEASE_STAGE).key] = release
    first, *others = (TABLES,) if project.is_database else made_files(place)
    with ledger_of(place) as memory:
        written = release.write(making / first, memory=memory, secret=making / FOR_REPEATING)
        release = held_against(written, _presets(place, place.project.release))
        for name in others:
            write_table(release.table, making / name, labels=release.content.shown_labels)
        write_report(release, place, making, "Release")
        draft = None if memory is None else memory.remembered()[-1]
        noted = "" if draft is None else f"; draft {draft.number}"
    risk = release.risk
    made = Made.of(
        release,
        f"{release.nothing_left}{counted(risk.records, 'record')} of "
        f"{counted(risk.persons, 'person')}; "
        f"detail lost: {share_text(detail_lost(release))}{noted}",
        place,
    )
    own = {} if draft is None else {"recipient": draft.together, "draft": draft.number}
    said = verdict.beside_files(release.verdict.to_json(), 0 if draft is None else draft.elsewhere)
    judged = {"verdict": said, "detail_lost": detail_lost(release), **own}
    return replace(made, measured={**made.measured, **judged})


def verdict_of(place: ProjectFolder, recipient: Findings | None = None) -> verdict.Verdict | None:
    """What is said of the release of a project; ``None`` where none was made, or a policy decided.

    Limits and acceptances are those of the project file as it is now: nothing is made again for
    them.

    Parameters
    ----------
    recipient
        What one recipient finds; without it who holds all that was handed over when it was made.
    """
    measured = read_object(place.of_stage(RELEASE) / MEASURED) or {}
    if "verdict" not in measured:
        return None
    if recipient is None and "recipient" in measured:
        recipient = Findings.among(**measured["recipient"])
    project = place.project
    return verdict.judged_again(
        measured["verdict"],
        project.judged_by,
        project.acceptances,
        recipient or "the ledger is off",
        linkage_of(place),
        _evidence(place),
    )


def linkage_of(place: ProjectFolder) -> verdict.Linkage | None:
    """How good the linkage is that is released; ``None`` where nothing is linked.

    Measured is what answers of people stand behind: a model's opinion of itself is none.
    """
    if not place.project.is_linked:
        return None
    # Where nobody answered anything the stage after the review has measured nothing.
    both = (read_object(place.of_stage(name) / MEASURED) or {} for name in (LINKED, LINK))
    measured = next((each for each in both if each.get("records")), {})
    answers = (measured.get("decisions") or {}).get("answers", 0)
    checks, persons = measured.get("checks") or {}, measured.get("persons", {})
    # Pairs that were drawn for it go before a model that learned from those that were doubtful.
    drawn = {"precision", "recall"} <= checks.keys()
    of = checks if drawn else persons
    precision, recall = (_share(of.get(name)) for name in ("precision", "recall"))
    # A simulated worker judges by the model, of which it is no check.
    simulated = place.project.review.by is Reviewers.SIMULATED
    if simulated or not answers:
        nobody = "a simulated worker answers by the model" if simulated else "no pair was checked"
        advice = f"[review] lets people look, or: sfumato accept {verdict.LINKAGE}"
        return verdict.Linkage(None, None, nobody, advice=advice)
    if precision is None or recall is None:
        why = "the answers do not tell it; 'check' under [link] draws pairs that do"
    elif drawn:
        why = f"by {counted(checks['answered'], 'pair')} drawn and checked"
    else:
        why = f"after {counted(answers, 'answer')} of people"
    return verdict.Linkage(precision, recall, why)


def _share(measure: Mapping[str, float] | None) -> Share | None:
    if measure is None or measure["value"] is None:
        return None
    return Share(measure["value"], measure["low"], measure["high"])


def _evidence(place: ProjectFolder) -> tuple[Evidence, ...]:
    """What attacks found in the release that is there now."""
    if place.project.attack is None or current_record(place, ATTACK_STAGE) is None:
        return ()
    attacked = read_object(place.of_stage(ATTACK) / MEASURED) or {}
    return evidence_of(attacked.get("evidence", ()))


def hand_over(place: ProjectFolder) -> str:
    """Hand the release over to whom the project file names, if it is ready; once.

    Returns
    -------
    str
        Who got it now; empty where nobody is named, or had it before.

    Raises
    ------
    HandOverRefusedError
        If it is not ready, or with what was handed over gives away too much.
    """
    section = _ledger(place)
    measured = read_object(place.of_stage(RELEASE) / MEASURED) or {}
    if section.to is None or "draft" not in measured:
        return ""
    number = measured["draft"]
    with ledger_of(place) as memory:
        if memory is None or section.to in memory.noted(number).to:
            return ""
        memory.hand_over(number, section.to, **judged_with(place, number))
    return section.to


def judged_with(place: ProjectFolder, draft: int) -> dict[str, Any]:
    """What a draft of the ledger is judged with, as far as the project knows: limits and more."""
    own = (read_object(place.of_stage(RELEASE) / MEASURED) or {}).get("draft") == draft
    return {
        "limits": place.project.judged_by,
        "accepted": place.project.acceptances,
        "linkage": linkage_of(place),
        "evidence": _evidence(place) if own else (),
    }


RELEASE_STAGE = Stage(
    RELEASE,
    _release_settings,
    _release,
    files=_release_files,
    earlier=ProjectFolder.data_stages,
    check=_check_release,
)


def _attack_section(place: ProjectFolder) -> Attack:
    if place.project.attack is None:
        raise InputError("section [attack]", "must be given for an attack")
    return place.project.attack


def _attack_settings(place: ProjectFolder) -> dict[str, Any]:
    return {
        "attack": _attack_section(place).model_dump(mode="json", by_alias=True),
        # The attack may make the release again: what changes the one changes the other.
        "release": _release_settings(place),
        **place.report_settings,
    }


def _attack_files(place: ProjectFolder) -> dict[str, Place]:
    return _release_files(place) | place.named(
        ATTACK, register=_attack_section(place).register_file
    )


def _attack_earlier(place: ProjectFolder) -> dict[str, tuple[str, ...]]:
    return {**place.data_stages(), RELEASE: release_files(place)}


def _attack(place: ProjectFolder, making: Path, progress: Progress) -> Made:
    from sfumato.intruder.attack import attack  # costs a start's time

    asked = _attack_section(place)
    # Whose each record is stands in no file: where this run did not make the release, it is made
    # again, from the same seed and secret.
    release = place.made.pop(depends(place, RELEASE_STAGE).key, None)
    if release is None:
        release = _made_release(place, progress)
    found = attack(
        release.judged(place.project.judged_by, place.project.acceptances),
        # A release of several tables, or of a later file of a series, has its own.
        original=None if place.project.is_database or place.before else place.data[0],
        register=_register(place, asked),
        **fields_of(asked, "knows counts noise missing attacks"),
        seed=place.project.about.seed,
        progress=progress,
    )
    # What is said of the release is said once, in the project's report: it knows the ledger, too.
    found = replace(found, verdict=None)
    write_report(found, place, making, "Attack")
    return Made.of(found, found.sentence.rstrip("."), place)


ATTACK_STAGE = Stage(
    ATTACK, _attack_settings, _attack, files=_attack_files, earlier=_attack_earlier
)
