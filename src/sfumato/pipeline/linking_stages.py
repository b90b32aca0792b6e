"""How sources are linked in a project: the stage ``link``, and ``linked`` with people's answers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.core.declaration import LAYOUT, Place, Progress, layout_of
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.linkage import link_spec, linkage_files
from sfumato.linkage.earlier_linkage import apply_decisions, read_earlier
from sfumato.linkage.link import changed, link
from sfumato.linkage.link_sources import numbers_a_person
from sfumato.linkage.spec_suggestion import Suggestion, suggest_links
from sfumato.pipeline.project_folder import LINK, LINKED, REVIEW, ProjectFolder, copy_private
from sfumato.pipeline.project_model import InFile, Link, Reviewers, TableFile
from sfumato.pipeline.stage import MEASURED, Made, Stage, kept_secret, read_object, write_report
from sfumato.review.review_decisions import DECISIONS
from sfumato.table.classification import check_decided, classified
from sfumato.table.person_candidates import person_candidates_of
from sfumato.table.preparation import prepared
from sfumato.table.stacked_tables import check_named
from sfumato.table.table_files import open_source

_OF_PREVIOUS = (
    linkage_files.SPEC,
    linkage_files.MODEL,
    linkage_files.PERSONS,
    linkage_files.ANSWERS,
)
"""What a linkage takes from the one before, beside its manifest."""
_COPIED = (linkage_files.LINKED, linkage_files.LINKED_SCHEMA, linkage_files.PERSONS)
"""What is taken over where nobody answered anything."""
_APPLIED_TO = (
    linkage_files.ANALYTIC,
    linkage_files.IDENTIFYING,
    linkage_files.LEVELS,
    linkage_files.MODEL,
    linkage_files.PAIRS,
    linkage_files.REVIEW,
    linkage_files.SPEC,
)
"""What answers are applied to, beside that."""


def _source_tables(place: ProjectFolder) -> dict[str, object]:
    """The sources by name: paths, or opened where their layout is given."""
    return {name: _table(place, source) for name, source in place.project.sources.items()}


def _table(place: ProjectFolder, table: TableFile) -> object:
    path, layout = place.at(table.file), layout_of(table)
    return open_source(path, **layout) if layout else path


def specification(place: ProjectFolder) -> Suggestion:
    """What is linked and how: as the project says it, or proposed."""
    asked, names = place.project.link or Link(), tuple(place.project.sources)
    mode = _mode(asked, len(names))
    given = _given(place, asked)
    if given is None:
        made = suggest_links(
            _source_tables(place),
            place.schema_to_link(),
            mode=mode,
            id_column=next(iter(_ids(place).values()), None),
            max_pairs=asked.allow_pairs or link_spec.MAX_PAIRS,
        )
    else:
        made = Suggestion(given, {})
    return replace(made, spec=changed(made.spec, _changes(place, asked, made.spec, mode)))


def _given(place: ProjectFolder, asked: Link) -> link_spec.LinkSpec | None:
    """The specification of the project file, of a file, or of the linkage before."""
    given = asked.specification
    if isinstance(given, InFile):
        return link_spec.load_link_spec(place.at(given.file))
    if given is None:
        return None if asked.previous is None else read_earlier(place.at(asked.previous)).spec
    if given.nicknames is not None:
        return given.model_copy(update={"nicknames": place.at(given.nicknames)})
    return given


def _mode(asked: Link, sources: int) -> link_spec.Mode | None:
    # One table has nothing to be linked with: the same persons are looked for within it.
    if sources == 1:
        return link_spec.Mode.DEDUPE_ONLY
    return link_spec.Mode.LINK_AND_DEDUPE if asked.dedupe else None


def _changes(
    place: ProjectFolder, asked: Link, spec: link_spec.LinkSpec, mode: link_spec.Mode | None
) -> dict[str, object]:
    """What the project's own keys say in place of the specification's."""
    changes: dict[str, object] = {} if mode is None else {"mode": mode}
    ids = _ids(place)
    if ids:
        # Ids have one name in the linked file, whatever each source calls them.
        name = spec.id or next(iter(ids.values()))
        rename = {source: dict(names) for source, names in spec.rename.items()}
        for source, header in ids.items():
            if header != name:
                rename.setdefault(source, {})[name] = header
        changes |= {"id": name, "rename": rename}
    if asked.one_per_source:
        changes["one_per_source"] = tuple(place.project.sources)
    if asked.false_match_rate is not None and asked.missed_match_rate is not None:
        rates = link_spec.WantedRates(
            false_match_rate=asked.false_match_rate, missed_match_rate=asked.missed_match_rate
        )
        # Rates and thresholds both say what is a match: only one of them can hold.
        changes |= {"thresholds": None, "rates": rates}
    if asked.allow_pairs is not None:
        changes["max_pairs"] = asked.allow_pairs
    return changes


def _ids(place: ProjectFolder) -> dict[str, str]:
    """The header of the ids, by source."""
    return {
        name: source.id for name, source in place.project.sources.items() if source.id is not None
    }


def check_classified(place: ProjectFolder) -> None:
    """Refuse, before any work, a project with a column that its release would refuse."""
    schema, unclassified = place.given_schema(), place.project.release.unclassified
    if schema is None:
        return
    if place.project.is_database:
        check_named(place.tables, unclassified)
        return
    if not place.project.is_linked:
        path, layout = place.data
        alone = prepared(open_source(path, **layout), schema)
        candidates = partial(person_candidates_of, alone)
        classified(alone.subject, alone.names, schema, unclassified, candidates)
        return
    spec = _given(place, place.project.link or Link())
    if spec is None:
        return  # What will be compared, and is not in the linked file then, is not known yet.
    compared = spec.columns if spec.splink is None else link_spec.columns_of_settings(spec.splink)
    for name, source in place.project.sources.items():
        renamed = (
            each
            for given in spec.rename.get(name, {}).values()
            for each in link_spec.headers_of(given)
        )
        headers = (*renamed, spec.id or "", source.id or "")
        known = {link_spec.sql_name(each) for each in (*schema.columns(), *compared, *headers)}
        tables = [open_source(place.at(source.file), **layout_of(source))]
        if source.attach is not None:
            tables.append(open_source(place.at(source.attach.file), **layout_of(source.attach)))
        for table in tables:
            unnamed = [name for name in table.names if link_spec.sql_name(name) not in known]
            names = [name for name in unnamed if not numbers_a_person(name)]
            check_decided(table.subject, names, schema, unclassified, lambda _names: ())


def _link_settings(place: ProjectFolder) -> dict[str, Any]:
    asked = place.project.link or Link()
    given = _given(place, asked)
    attached = {
        name: source.attach.model_dump(mode="json", exclude={"file"})
        for name, source in place.project.sources.items()
        if source.attach is not None and layout_of(source.attach)
    }
    sources = {
        name: source.model_dump(mode="json", include={*LAYOUT, "id"})
        for name, source in place.project.sources.items()
    }
    return {
        "seed": place.project.about.seed,
        "sources": sources,
        **({"attached": attached} if attached else {}),
        # Roles alone: a change of a hierarchy must not make the linkage again.
        "schema": place.plain_schema(place.schema_to_link()),
        # The specification stands below as what it says: moved to a file it stays the same.
        "link": asked.model_dump(mode="json", exclude={"specification"}),
        "specification": None if given is None else link_spec.link_spec_to_dict(given),
        **place.report_settings,
    }


def _link_files(place: ProjectFolder) -> dict[str, Place]:
    asked = place.project.link or Link()
    inputs = place.named(LINK, model=asked.model, key_file=asked.key_file)
    for name, source in place.project.sources.items():
        inputs |= place.named(f"sources.{name}", file=source.file)
        if source.attach is not None:
            inputs |= place.named(f"sources.{name}", attach=source.attach.file)
    if asked.previous is not None:
        folder = place.at(asked.previous)
        inputs["link.previous"] = folder / linkage_files.MANIFEST
        others = {f"link.previous/{name}": folder / name for name in _OF_PREVIOUS}
        inputs |= {name: path for name, path in others.items() if path.is_file()}
    given = _given(place, asked)
    if given is not None and given.nicknames is not None:
        inputs["link.specification.nicknames"] = given.nicknames
    return inputs


def _link(place: ProjectFolder, making: Path, progress: Progress) -> Made:
    asked = place.project.link or Link()
    links = link(
        _source_tables(place),
        specification(place),
        schema=place.schema_to_link(),
        model=None if asked.model is None else place.at(asked.model),
        previous=None if asked.previous is None else place.at(asked.previous),
        attach_tables={
            name: _table(place, source.attach)
            for name, source in place.project.sources.items()
            if source.attach is not None
        },
        quasi_identifiers=asked.quasi_identifiers,
        by_uncertainty=asked.by_uncertainty,
        check_half_width=asked.check,
        pseudonym_key=place.key(asked.key_file, "link.key_file"),
        secret=kept_secret(place, LINK_STAGE, linkage_files.FOR_REPEATING),
        seed=place.project.about.seed,
        engine=asked.engine,
        progress=progress,
    )
    links.write(making, also=lambda folder: write_report(links, place, folder, "Linkage"))
    found = links.settled.persons.count
    return Made.of(
        links,
        f"{counted(links.records.count, 'record')} of {counted(found, 'person')} by score; "
        f"{counted(links.review.num_rows, 'possible match')}",
        place,
    )


def _check_link(place: ProjectFolder) -> None:
    """Refuse a schema that names persons, whom the linkage is to find, or a file without a key."""
    given = place.given_schema()
    if given is not None and given.person is not None:
        raise InputError(
            "schema.person",
            "must be left out where records are linked",
            found="a column",
            advice="the linkage finds the people; to name records, give 'id' of the sources",
        )
    asked = place.project.link or Link()
    # Read here, too: a file that is no key is refused before any work.
    place.key(asked.key_file, "link.key_file")


LINK_STAGE = Stage(LINK, _link_settings, _link, files=_link_files, check=_check_link)


def _answers(place: ProjectFolder) -> Path | None:
    """The answers to apply, where people were asked and there was something to answer."""
    if not place.project.is_reviewed:
        return None
    file = place.of_stage(REVIEW) / DECISIONS
    return file if file.is_file() else None


def _linked_settings(place: ProjectFolder) -> dict[str, Any]:
    return {"seed": place.project.about.seed, **place.report_settings}


def _linked_files(place: ProjectFolder) -> dict[str, Place]:
    asked = place.project.link
    # Without answers the linked file is copied, and nobody gets a new pseudonym.
    if asked is None or not place.project.is_reviewed:
        return {}
    return place.named(LINK, key_file=asked.key_file)


def _linked_earlier(place: ProjectFolder) -> dict[str, tuple[str, ...]]:
    if _answers(place) is None:
        return {LINK: _COPIED}
    checks = (
        (linkage_files.CHECKS,) if (place.of_stage(LINK) / linkage_files.CHECKS).is_file() else ()
    )
    return {LINK: (*_COPIED, *_APPLIED_TO, *checks), REVIEW: (DECISIONS,)}


def _apply(place: ProjectFolder, making: Path, progress: Progress) -> Made:
    answers = _answers(place)
    if answers is None:
        for name in _COPIED:
            copy_private(place.of_stage(LINK) / name, making / name)
        persons = (read_object(place.of_stage(LINK) / MEASURED) or {}).get("persons", {})
        found = persons.get("count")
        said = (
            "as linked by score"
            if found is None
            else f"{counted(found, 'person')}, as linked by score"
        )
        return Made({"decisions": None, "persons": persons}, said)
    progress("persons", 0.0)
    asked = place.project.link
    key = None if asked is None else place.key(asked.key_file, "link.key_file")
    # Nobody looked at anything: a simulated worker's answers are no evidence of who is one person.
    simulated = place.project.review.by is Reviewers.SIMULATED
    links = apply_decisions(
        place.of_stage(LINK), answers, afresh=True, believed=not simulated, pseudonym_key=key
    )
    links.write(
        making, also=lambda folder: write_report(links, place, folder, "Linkage after review")
    )
    whose = "a simulated worker's" if simulated else "people's"
    return Made.of(
        links, f"{counted(links.settled.persons.count, 'person')}, with {whose} answers", place
    )


LINKED_STAGE = Stage(LINKED, _linked_settings, _apply, files=_linked_files, earlier=_linked_earlier)
