"""A release made for a request: enforced by the rules, measured, remembered."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import tomlkit

from sfumato.core.arrays import Bools, Ints, Levels
from sfumato.core.atomic import all_or_none, check_path, check_target
from sfumato.core.declaration import drawn_seed
from sfumato.core.errors import InputError
from sfumato.core.number_text import counted
from sfumato.core.secret_keys import Secret, Secrets
from sfumato.engines.embedded.counts import group
from sfumato.hierarchies.hierarchy import ROOT
from sfumato.release.codebook import codebook_name, codebook_text
from sfumato.release.lost_columns import nothing_left
from sfumato.release.release_manifest import HEADER
from sfumato.release.release_options import Options, versions
from sfumato.release.release_result import MANIFEST_FILE, ReleasedTable, check_beside
from sfumato.risk import intruders
from sfumato.risk.intruders import SEED, Findings, Found
from sfumato.risk.learned_values import Share
from sfumato.risk.shown_file import FurtherColumn, ShownFile
from sfumato.risk.verdict import PUBLIC, Acceptance, Limits, Linkage, Verdict, judge
from sfumato.schema import Schema, schema_sha256
from sfumato.semantics import release_request
from sfumato.semantics.associations import Association, Shown
from sfumato.semantics.linkage_anonymity import mean_risk, measured, released_table, secrets_of
from sfumato.semantics.local_data import Linked
from sfumato.semantics.policy_terms import Policy, Treatment
from sfumato.semantics.request_ledger import RequestLedger
from sfumato.semantics.requested_content import Members, NotedAssociation, ReleaseEntry
from sfumato.semantics.rules.derivation import Requirements, derive
from sfumato.semantics.sla import MANY, Change, by_rules, disclosure_risks, semantic_levels
from sfumato.table.dataframes import to_frame_like as like
from sfumato.table.dependence import codes_of
from sfumato.table.labelled_files import left_out, shown
from sfumato.table.sources import Labels
from sfumato.table.table_files import check_output_path, data_sha256


@dataclass(frozen=True, eq=False)
class Enforced:
    """What rules 5 to 7 and semantic linkage anonymity made of the tuples.

    Attributes
    ----------
    levels
        Level of each value, shape (tuples, QIs).
    changes
        The tuples that were changed; rows are those of the release.
    exposed
        Which tuples earlier releases alone leave below k; shape (tuples,).
    requirements
        What the rules derived about the tuples that were changed, in the order of ``changes``,
        as linkage anonymity shows them.
    """

    levels: Levels = field(repr=False)
    changes: tuple[Change, ...] = field(repr=False)
    exposed: Bools = field(repr=False)
    requirements: Requirements = field(repr=False)


def enforce(
    asked: release_request.Asked, known: release_request.Known, linked: Linked, start: Levels
) -> Enforced:
    """Raise what the rules say, until k individuals are left whatever a reader infers.

    It starts from the levels of linkage anonymity, shape (tuples, QIs). A tuple at which a reader
    gets below k is put to the rules as it is shown; what they enforce on it is all that may be
    raised in it, and what comes of that is put to them again. Where it is only together with
    earlier releases that a reader gets below k, whatever is shown in more detail than there may be
    raised.
    """
    # A reader without associations and earlier releases knows nothing beyond linkage anonymity.
    if not (known.accepted or known.earlier):
        nobody = np.zeros(len(start), dtype=np.bool_)
        return Enforced(start, (), nobody, asked.requirements)
    levels = semantic_levels(
        linked.codes,
        start,
        linked.locals_,
        linked.hierarchy_of,
        known.accepted,
        asked.k,
        linked.weights,
        earlier=known.earlier,
        enforce=by_rules(
            lambda shown, only: (
                _derived(asked, known.accepted if only is None else only, shown).enforcements
            ),
            linked.hierarchy_of,
        ),
    )
    rows = [change.row for change in levels.changes]
    requirements = asked.requirements
    # These requirements only explain;
    # among very many associations that takes longer than the release.
    if rows and len(known.accepted) <= MANY:
        counts = np.ones(len(rows), dtype=np.int64)
        # At the levels before, since at the new ones the rules have nothing left to enforce.
        shown = Shown(linked.hierarchy_of, linked.codes[rows], start[rows], counts)
        requirements = _derived(asked, known.accepted, shown)
    return Enforced(levels.levels, levels.changes, levels.exposed, requirements)


def _derived(
    asked: release_request.Asked, associations: Sequence[Association], shown: Shown
) -> Requirements:
    """What the rules require of some tuples."""
    requirements = derive(
        asked.policy,
        asked.request,
        shown=shown,
        # For a condition on a root there is no value to raise:
        # `semantic_levels` lets any be raised then.
        associations=[
            association
            for association in associations
            if not release_request.is_always(association, shown.hierarchies)
        ],
        rules=asked.rules,
    )
    # The levels were searched for one k, so one that hangs on the tuples would come too late.
    if requirements.require_allowed() != asked.k:
        raise InputError(
            "the rules",
            "must give a linkage its k whatever its tuples are",
            advice="use rules on 'enforce' for what hangs on tuples",
        )
    return requirements


@dataclass(frozen=True)
class Figures:
    """Risk and loss of the linked tuples at some levels.

    Attributes
    ----------
    risk
        Mean over the linked individuals of 1 / matching individuals, with the accepted
        associations applied (paper 002, Eq. 2-3).
    risk_unaware
        The same without associations.
    sse_sst
        SSE / SST (Eq. 4), in [0, 1], over the linkage quasi-identifiers and the attributes that
        accepted associations speak about.
    ncp
        Weighted certainty penalty over the same, mean over individuals.
    smallest_match
        Individuals of a local data set who match a tuple as it is shown, at least.
    """

    risk: float
    risk_unaware: float
    sse_sst: float
    ncp: float
    smallest_match: int

    def to_json(self) -> dict[str, float]:
        """Plain values."""
        return asdict(self)


def figures_of(linked: Linked, levels: Levels, known: release_request.Known) -> Figures:
    """Measure the linked tuples at the levels of their values, shape (tuples, QIs)."""
    risks = disclosure_risks(
        linked.codes, levels, linked.locals_, linked.hierarchy_of, known.accepted
    )
    plain = measured(linked, levels)
    return Figures(
        mean_risk(linked, risks),
        float(plain.risk),
        *linked.losses(levels, columns_counted(linked, known)),
        min(int(counts.min()) for counts in plain.matches.values()),
    )


def columns_counted(linked: Linked, known: release_request.Known) -> Sequence[int]:
    """The columns of linkage quasi-identifiers, and of what accepted associations speak about."""
    spoken = {
        item.attribute
        for association in known.accepted
        for item in (*association.antecedent, association.consequent)
    }
    linkage = set(linked.linkage_columns)
    return [
        place
        for place, name in enumerate(linked.quasi_identifiers)
        if place in linkage or name in spoken
    ]


# A choice, for reports that people can read.
EXPLAINED = 10
"""Of so many associations, those that changed most, the derivation is given."""
LINES = 60
"""Lines of a derivation at most: rule 5 holds for every tuple that shows the value."""
INTERSECTION = "what earlier releases showed of the same people"


@dataclass(frozen=True)
class AssociationChange:
    """What one association, or the intersection with earlier releases, changed.

    Attributes
    ----------
    association
        The association's id in the ledger; ``""`` for the intersection.
    tuples, individuals
        How many distinct tuples were changed because of it, and how many linked individuals
        have them.
    loss
        Mean growth of their weighted NCP; of a tuple changed for several reasons the whole.
    explained
        Why something is done, by the rules, for the first of these tuples; for the associations
        that changed most.
    """

    association: str
    says: str
    measure: str
    tuples: int
    individuals: int
    loss: float
    explained: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self) | {"explained": list(self.explained)}


def by_association(
    enforced: Enforced, known: release_request.Known, linked: Linked, usual: Treatment
) -> tuple[AssociationChange, ...]:
    """The changes of a release by their reasons, one line for each accepted association.

    Where the rules do not say it of each association, it is what the policy usually does.
    """
    because: dict[tuple[Any, Any], list[int]] = {}
    for place, change in enumerate(enforced.changes):
        for each in change.associations:
            because.setdefault(each.key, []).append(place)
    places = [because.get(association.key, []) for association in known.accepted]
    many = len(known.accepted) > MANY
    most = sorted(range(len(places)), key=lambda number: -len(places[number]))[:EXPLAINED]
    lines = []
    for number, association in enumerate(known.accepted):
        own = places[number]
        measure = usual.value if own else ""
        if not many:
            measure = _measure(enforced, own, number + 1)
        explained = _explained(enforced, own, number + 1) if number in most and not many else ()
        changes = [enforced.changes[place] for place in own]
        says = association.text(linked.hierarchy_of)
        lines.append(_line(known.ids[number], says, measure, changes, linked, explained))
    if known.earlier:
        between = [change for change in enforced.changes if change.between]
        measure = Treatment.GENERALISE.value if between else ""
        lines.append(_line("", INTERSECTION, measure, between, linked, ()))
    return tuple(lines)


def _measure(enforced: Enforced, places: list[int], number: int) -> str:
    """What the rules enforce on these tuples because of an association, the strictest."""
    measures = {
        each.measure
        for place in places
        for each in enforced.requirements.enforcements.of(place)
        if each.association == number
    }
    if Treatment.SUPPRESS in measures:
        return Treatment.SUPPRESS.value
    return Treatment.GENERALISE.value if places else ""


def _line(
    id_: str,
    says: str,
    measure: str,
    changes: list[Change],
    linked: Linked,
    explained: tuple[str, ...],
) -> AssociationChange:
    individuals = individuals_of(linked, [change.row for change in changes])
    loss = sum(change.loss for change in changes) / max(len(changes), 1)
    return AssociationChange(id_, says, measure, len(changes), individuals, loss, explained)


def individuals_of(linked: Linked, tuples: Sequence[int] | Ints) -> int:
    """Linked individuals who have one of some tuples; one with several of them counts once."""
    if not len(tuples):
        return 0
    chosen = np.zeros(len(linked.codes), dtype=np.bool_)
    chosen[tuples] = True
    return len(np.unique(linked.table.person[chosen[linked.tuple_of]]))


def _explained(enforced: Enforced, places: list[int], number: int) -> tuple[str, ...]:
    """The derivation of what is enforced on the first of the tuples that the rules name."""
    named = enforced.requirements.enforcements.alike
    for place in places:
        # A tuple may have changed only because of earlier releases, of which rules say nothing.
        if named[place] < 0:
            continue
        for why in enforced.requirements.explain_tuple(place):
            if why.atom.startswith("enforce(") and why.atom.endswith(f"association({number}))"):
                lines = tuple(islice(why.lines(), LINES + 1))
                return (*lines[:LINES], "...") if len(lines) > LINES else lines
    return ()


def explained_rules(requirements: Requirements) -> tuple[str, ...]:
    """The rules on a request that were applied, by title and place."""
    applied = (rule for why in requirements.explain() for rule in why.rules())
    return tuple(
        dict.fromkeys(
            f"{title or 'a rule without a title'} ({file}, line {line})"
            for file, line, title in applied
        )
    )


def manifest_of(
    asked: release_request.Asked,
    known: release_request.Known,
    seed: int,
    *,
    keyed: bool,
    keep_order: bool,
) -> dict[str, Any]:
    """What a release depends on, its seed among it, as plain values."""
    return {
        "release": {
            "seed": seed,
            "keyed_pseudonyms": keyed,
            "keep_order": keep_order,
            "schema_sha256": schema_sha256(asked.schema),
            "input_sha256": data_sha256(asked.data),
            # Not known before the file is written; `_written` fills it in.
            "output_sha256": "",
        },
        "request": asked.facts(),
        "policy": {
            "policy_sha256": release_request.policy_sha256(asked.policy),
            "rules_sha256": release_request.rules_sha256((*asked.policy.rules, *asked.rules)),
            "k": asked.k,
            **({"informed": True} if asked.linked.locals_[0].informed else {}),
        },
        "databases": {
            local.name: {
                "quasi_identifiers": list(local.quasi_identifiers),
                "input_sha256": asked.local_hashes[local.name],
            }
            for local in asked.linked.locals_
        },
        "known": {"associations": list(known.ids), "releases": list(known.releases)},
        **({} if known.head is None else {"ledger": {"head": str(known.head)}}),
        **_recipe_of(asked),
        "versions": versions(),
    }


def _recipe_of(asked: release_request.Asked) -> dict[str, Any]:
    """What the recipe did to the linked data, in counts; nothing without one."""
    steps = [step.to_json() for step in asked.linked.table.preparation]
    return {"recipe": steps} if steps else {}


def manifest_text(manifest: dict[str, Any]) -> str:
    """What `manifest_of` gave as TOML."""
    document = tomlkit.document()
    for line in HEADER.splitlines():
        document.add(tomlkit.comment(line))
    # tomlkit takes a list value by value, in a time that grows with the square of their number.
    ids = tomlkit.array(json.dumps(list(manifest["known"]["associations"])))
    document.update({**manifest, "known": {**manifest["known"], "associations": ids}})
    return tomlkit.dumps(document)


def text_sha256(text: str) -> str:
    """Hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


GENERALISED = "generalised: a value, or a label of its hierarchy that stands for several"
COVERED = (
    "readers of these local data sets as they are today, and of all releases that are followed",
    "the associations that the custodian accepted, applied in any order, in whole or in part",
)
NOT_COVERED = (
    "readers who know the method and leave out people who would have been shown otherwise",
    "associations that are not accepted, and what one tells of people who are exceptions to it",
    "older states of the local data, and columns that are no quasi-identifier of it",
    "several records of one person put together under one pseudonym",
    "releases that are not in the ledger, or in it without digests of people",
    "what people with the same tuple have in common",
)


@dataclass(frozen=True, eq=False, repr=False)
class RequestedRelease:
    """A released linked file, as the rules of a policy require it.

    Attributes
    ----------
    table
        The released file as Arrow.
    asked
        The request, what the rules require, the data; not to be released.
    known
        What readers know from the ledger.
    linked
        The linked tuples; not to be released.
    levels
        Level of each value of each distinct tuple, shape (tuples, QIs).
    figures
        Risk and loss by scheme: ``"LA"`` and ``"SLA"``.
    changes
        What each accepted association changed.
    exposed
        Linked individuals whom earlier releases alone leave below k.
    rules
        The rules on requests that were applied, by title and place.
    explained
        Why the k and the quasi-identifiers are what they are, line by line.
    proposed
        Associations found in this release that nobody decided on.
    manifest
        What repeats the release; no value of the data.
    number
        The release's number in the ledger; ``None`` without one.
    source_rows
        Row of the linked data of each released record, shape (records,); not to be released.
    secret
        What order and pseudonyms come from, as that of a `Release`.
    limits, accepted, linkage
        As those of a `Release`.
    recipient
        What is found with all that was handed over; ``None`` without a ledger.
    """

    table: pa.Table
    asked: release_request.Asked
    known: release_request.Known
    linked: Linked
    levels: Levels = field(repr=False)
    figures: Mapping[str, Figures]
    changes: tuple[AssociationChange, ...]
    exposed: int
    rules: tuple[str, ...]
    explained: tuple[str, ...]
    proposed: tuple[NotedAssociation, ...]
    manifest: Mapping[str, Any]
    number: int | None = None
    source_rows: Ints | None = field(default=None, repr=False)
    secret: Secret | None = field(default=None, repr=False)
    limits: Limits = PUBLIC
    accepted: tuple[Acceptance, ...] = ()
    linkage: Linkage | None = None
    recipient: Findings | None = None

    @cached_property
    def found(self) -> Found:
        """What intruders find in it who know of everybody what the local data sets hold.

        Quasi-identifiers that none of them has are columns like others.
        """
        table, order = self.linked.table, self.source_rows
        if order is None:
            order = np.arange(table.records)
        places = self.linked.linkage_columns
        names = [name for name in self.table.column_names if name != table.schema.person]
        cells = {name: codes_of(self.table[name]).astype(np.int32) for name in names}
        known = [cells.pop(self.linked.quasi_identifiers[place]) for place in places]
        tuple_of, many = group(known, [int(each.max(initial=0)) + 1 for each in known])
        marks = np.random.default_rng(SEED).integers(1, 1 << 62, many)
        person = table.person[order]
        file = ShownFile(
            person,
            release_request.classes_of_people(person, tuple_of, marks).astype(np.int32),
            {name: FurtherColumn(cell) for name, cell in cells.items()},
            tuple(name for name in table.schema.sensitive if name in cells),
            tuple(name for name in table.schema.events if name in cells),
            tuple(table.quasi_identifiers[place].codes[order] for place in places),
        )
        return intruders.measured(file)

    @property
    def verdict(self) -> Verdict:
        """What four intruders find in it, held against its limits.

        Who does not know that somebody is in it looks among all of the local data.
        """
        figure = self.figures["SLA"]
        # Matches are counted without associations, after which k individuals at least are left.
        fewest = (
            min(figure.smallest_match, self.k) if self.known.accepted else figure.smallest_match
        )
        among_all = Share.of(figure.risk), Share.of(1 / max(fewest, 1))
        return judge(
            self.found,
            self.limits,
            self.accepted,
            population=among_all,
            # It is handed over as it is made: without a ledger nobody knows what went before.
            recipient=self.recipient or "no ledger says what was handed over before",
            linkage=self.linkage,
        )

    def judged(
        self,
        limits: str | Limits,
        accepted: Sequence[Acceptance] = (),
        linkage: Linkage | None = None,
    ) -> RequestedRelease:
        """The same release under other limits: the name of a preset, or `Limits`."""
        limits = Limits(limits) if isinstance(limits, str) else limits
        return replace(self, limits=limits, accepted=(*accepted,), linkage=linkage)

    @property
    def data(self) -> Any:
        """The released file as the kind of dataframe that was passed in; Arrow for a path."""
        path = isinstance(self.asked.data, (str, os.PathLike))
        return like(self.table, None if path else self.asked.data)

    @property
    def k(self) -> int:
        """How many individuals of each local data set match every record, at least."""
        return self.asked.k

    @property
    def warnings(self) -> tuple[str, ...]:
        """What its custodian should know, the columns that show nothing first."""
        names = set(self.table.column_names) & set(self.linked.table.schema.quasi_identifiers)
        cells = {name: pc.unique(self.table[name]).to_pylist() for name in sorted(names)}
        lost = nothing_left({name: float(cell == [ROOT]) for name, cell in cells.items()})
        found = [lost.strip()] if lost else []
        if self.number is None:
            found.append("without a ledger nothing is known of earlier releases, now or later")
        elif self.linked.table.schema.person is None:
            found.append(
                "without a person column nothing is claimed about the intersection of releases"
            )
        if self.known.unfollowed:
            found.append(
                "nothing is claimed about the intersection with releases "
                + ", ".join(map(str, self.known.unfollowed))
                + ", and their people cannot be followed"
            )
        if self.exposed:
            found.append(
                f"earlier releases alone leave {counted(self.exposed, 'linked person')} below k; "
                "this one does not make it worse"
            )
        return (*found, *left_out(self.linked.table.labels, self._untouched))

    @property
    def shown_labels(self) -> Labels:
        """Labels of its columns, and of those of their values that occur."""
        return shown(self.linked.table.labels, self.table, self._untouched)

    @property
    def _untouched(self) -> frozenset[str]:
        """The columns of which every cell is that of the linked data."""
        schema = self.linked.table.schema
        changed = {name for name, line in schema.recipe.items() if line.retells}
        changed |= {*schema.quasi_identifiers}
        return frozenset(self.table.column_names) - changed - {schema.person}

    def codebook(self, name: str = "the release") -> str:
        """What each column is, what was done to it and how its cells are read, as Markdown.

        Parameters
        ----------
        name
            What the released file is called.
        """
        source, about = self.linked.table, self.manifest["release"]
        return codebook_text(
            name,
            {field.name: field.type for field in self.table.schema},
            source.schema,
            Options(keep_order=about["keep_order"]),
            size=(self.table.num_rows, source.persons),
            keyed=about["keyed_pseudonyms"],
            levels=None,
            preparation=source.preparation,
            treatments=dict.fromkeys(source.schema.quasi_identifiers, GENERALISED),
            labels=self.shown_labels,
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values; of the data only the labels of associations, which are of code lists."""
        return {
            "request": self.asked.facts(),
            "k": self.k,
            "databases": {
                local.name: {
                    "quasi_identifiers": list(local.quasi_identifiers),
                    "individuals": local.individuals,
                }
                for local in self.linked.locals_
            },
            "rules": list(self.rules),
            "explained": list(self.explained),
            "records": self.table.num_rows,
            "individuals": self.linked.table.persons,
            "verdict": self.verdict.to_json(),
            "figures": {name: figure.to_json() for name, figure in self.figures.items()},
            "changes": [change.to_json() for change in self.changes],
            "exposed": self.exposed,
            "proposed": [
                {
                    "id": association.id,
                    "says": association.text,
                    "support": association.support,
                    "confidence": association.confidence,
                }
                for association in self.proposed
            ],
            "ledger": {
                "release": self.number,
                "earlier": list(self.known.releases),
                "not_followed": list(self.known.unfollowed),
            },
            "covered": list(COVERED),
            "not_covered": list(NOT_COVERED),
            "warnings": list(self.warnings),
            "manifest": dict(self.manifest),
        }

    def __repr__(self) -> str:
        """The figures."""
        return (
            f"RequestedRelease({self.table.num_rows} records, k={self.k}, "
            f"risk={self.figures['SLA'].risk:.4g}, sse_sst={self.figures['SLA'].sse_sst:.4g})"
        )


def anonymize_requested(  # noqa: PLR0913 - of a public verb
    data: Any,
    schema: Schema,
    *,
    policy: Policy | str | os.PathLike[str],
    request: str,
    local: Mapping[str, Any],
    ledger: RequestLedger | None = None,
    rules: Iterable[str | os.PathLike[str]] = (),
    output: str | os.PathLike[str] | None = None,
    mining: release_request.Mining | None = None,
    seed: int | None = None,
    keep_order: bool = False,
    pseudonym_key: bytes | None = None,
    secret: bytes | None = None,
) -> RequestedRelease:
    """Release linked data to whom a policy's rules allow it, as they require.

    The rules decide k, the linkage quasi-identifiers and what is done to which tuple (Lu,
    Sinnott and Verspoor 2017, Table 1). Each tuple is generalised as little as linkage
    k-anonymity allows, and then further where an accepted association of the ledger, or what
    earlier releases showed of the same persons, would leave a reader fewer than k individuals.
    The release is noted in the ledger before it is handed out.

    Parameters
    ----------
    data
        The linked records: a dataframe, or the path of a file.
    schema
        What each column of them is; hierarchies may come from the policy.
    policy
        The policy, its paths located, or its file.
    request
        The request's name.
    local
        The data of each database whose readers ask, by the database's name.
    ledger
        What was released before, and where this release is noted; without it neither.
    rules
        More files with a site's rules.
    output
        Where to write the release, ``release.toml`` beside it; not at all without it.
    mining
        From when on an association in this release is proposed to the custodian.
    seed
        Noted in the manifest; nothing is searched at random.
    keep_order
        Keep the order of the records instead of shuffling them.
    pseudonym_key
        A secret of at least 16 bytes for pseudonyms that are the same in every release.
    secret
        That of the release that is repeated; a fresh one when not given.

    Raises
    ------
    InputError
        As `ask`, or if a secret can be guessed or the ledger or the output cannot be written.
    """
    if output is not None:
        check_output(output)
    asked = release_request.ask(
        data, schema, policy=policy, request=request, local=local, rules=rules
    )
    return make_release(
        asked,
        ledger,
        output,
        mining=mining,
        seed=seed,
        keep_order=keep_order,
        pseudonym_key=pseudonym_key,
        secret=secret,
    )


def check_output(output: str | os.PathLike[str]) -> None:
    """Refuse a place that the release or its manifest cannot be written to."""
    check_path(output, "output")
    check_output_path(output)
    check_target(Path(output).with_name(MANIFEST_FILE))
    check_beside(output)


def make_release(
    asked: release_request.Asked,
    ledger: RequestLedger | None = None,
    output: str | os.PathLike[str] | None = None,
    *,
    mining: release_request.Mining | None = None,
    seed: int | None = None,
    keep_order: bool = False,
    pseudonym_key: bytes | None = None,
    secret: bytes | None = None,
    also: Callable[[RequestedRelease], None] | None = None,
) -> RequestedRelease:
    """Make the release of a request, note it in the ledger, and write it.

    All of it is done, or none. Keywords are as in `anonymize_requested`.
    """
    drawn, secrets = drawn_seed(seed), Secrets.of(secret, pseudonym_key)
    request = asked.details
    basis = release_request.Known(linked=asked.linked)
    if ledger is not None:
        basis = release_request.known_from(ledger, asked)
    linked = basis.linked or asked.linked
    start = linked.least_levels()
    enforced = enforce(asked, basis, linked, start)
    tuples, tuple_of = release_request.tuples_of(linked, enforced.levels)
    bound = secrets_of(linked, enforced.levels, secrets)
    table, order = released_table(linked, enforced.levels, bound, keep_order=keep_order)
    release = RequestedRelease(
        table,
        asked,
        basis,
        linked,
        enforced.levels,
        {"LA": figures_of(linked, start, basis), "SLA": figures_of(linked, enforced.levels, basis)},
        by_association(enforced, basis, linked, asked.policy.measure),
        individuals_of(linked, np.flatnonzero(enforced.exposed)),
        explained_rules(asked.requirements),
        tuple(line for why in asked.requirements.explain() for line in why.lines()),
        release_request.found_in(linked, tuples, basis, mining or release_request.Mining()),
        manifest_of(asked, basis, drawn, keyed=pseudonym_key is not None, keep_order=keep_order),
        source_rows=order,
        secret=secrets.own,
    )
    if ledger is not None:
        linkages = basis.linkages | {request.linkage}
        ledger.check_kept(linkages, asked.k, asked.local_hashes)
    members = None
    ids = release_request.person_ids(linked)
    if ids is not None:
        members = Members([ids[person] for person in linked.table.person.tolist()], tuple_of)
    # The files take their places after the entry is in the ledger: no release goes out unnoted.
    with all_or_none():
        if output is not None:
            release = _written(release, Path(output))
        with nullcontext() if ledger is None else ledger.changing():
            if ledger is not None:
                number = _noted(release, ledger, output, tuples, members)
                shows = release_request.disclosed(linked, tuple_of, bound)
                about = release.manifest["release"]
                together = ledger.remember_requested(
                    number,
                    shows,
                    asked.request if output is None else Path(output).name,
                    about["output_sha256"],
                    ordered=keep_order,
                    to=asked.requester,
                )
                release = replace(release, number=number, recipient=together)
            # Within the block, so that a report that fails leaves neither entry nor files.
            if also is not None:
                also(release)
    return release


def _written(release: RequestedRelease, output: Path) -> RequestedRelease:
    """Write the release, its codebook and its manifest."""
    content = ReleasedTable(release.table, shown_labels=release.shown_labels)
    about, sha256 = dict(release.manifest), content.write(output)
    content.write_beside(output, codebook_name(output.name), release.codebook(output.name))
    about["release"] = {**about["release"], "output_sha256": sha256}
    content.write_beside(output, MANIFEST_FILE, manifest_text(about))
    return replace(release, manifest=about)


def _noted(
    release: RequestedRelease,
    ledger: RequestLedger,
    output: str | os.PathLike[str] | None,
    tuples: Any,
    members: Members | None,
) -> int:
    """The number under which the ledger notes the release."""
    # Nobody else may append from here on, so what was read still holds when the entry is added.
    if ledger.head() != release.known.head:
        raise InputError(
            "the ledger",
            "must not have changed while the release was made",
            found="a new entry",
            advice="make the release again, so that it rests on what the ledger says now",
        )
    entry = _entry(release, tuples, "" if output is None else Path(output).name)
    number = ledger.append(entry, members=members).number
    if release.proposed:
        ledger.propose(release.proposed, f"release {number}")
    return number


def _entry(release: RequestedRelease, tuples: Any, name: str) -> ReleaseEntry:
    asked, about = release.asked, release.manifest
    request = asked.details
    policy = about["policy"]
    return ReleaseEntry(
        requester=asked.requester,
        role=request.role,
        request=asked.request,
        purpose=request.purpose or "",
        linkage=request.linkage,
        policy_hash=text_sha256(policy["policy_sha256"] + policy["rules_sha256"]),
        schema=release_request.plain_schema(asked.schema),
        k=asked.k,
        quasi_identifiers=tuple(
            asked.linked.quasi_identifiers[place] for place in asked.linked.linkage_columns
        ),
        individuals=asked.linked.table.persons,
        manifest_hash=text_sha256(manifest_text(dict(about))),
        file_hashes={name: about["release"]["output_sha256"]} if name else {},
        associations=release.known.noted,
        figures={scheme: figure.to_json() for scheme, figure in release.figures.items()},
        local_hashes=asked.local_hashes,
        tuples=tuples,
    )
