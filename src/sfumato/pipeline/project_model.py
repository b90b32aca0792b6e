"""What a project file says, as one value: its sections, each made of what the rooms declare.

A section of the file is a frozen model. Its keys, types, ranges and words come from the
declarations of the verbs that it configures (`declared_fields`); what a section adds by itself and
what must fit together stand here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeVar, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    StrictInt,
    StringConstraints,
    Tag,
    create_model,
    model_validator,
)

from sfumato.core import declaration
from sfumato.core.errors import InputError, LeavesWarning
from sfumato.core.phrases import ENGLISH, Language
from sfumato.intruder.attack_options import Holding, Judging
from sfumato.linkage.link_engine import Engine
from sfumato.linkage.link_options import Comparing, Deduping, ForPeople, Limits, LinkedFile
from sfumato.linkage.link_spec import LinkSpec
from sfumato.release.promises import PROMISES, AddedPromises, all_asked
from sfumato.release.promises.promise import Budget, Constraint
from sfumato.release.release_options import (
    Circumstances,
    Exits,
    Limited,
    Options,
    Pseudonyms,
    Series,
)
from sfumato.release.series_files import following
from sfumato.reports.project_results import STATED
from sfumato.review.review_settings import CHOSEN, Settings
from sfumato.risk import verdict
from sfumato.risk.assess_options import HeldAgainst, KnownPopulation, Measuring
from sfumato.risk.population.estimator_protocol import check_estimator
from sfumato.risk.risk_thresholds import thresholds
from sfumato.risk.threshold_checks import check_numbers
from sfumato.schema import Schema
from sfumato.semantics.request_options import RequestOptions


class Frozen(BaseModel):
    """A part of a project file: frozen, without unknown keys, silent about values."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True
    )


class Section(Frozen):
    """A section of a project file whose further keys come from declarations."""

    # Type checkers do not see the fields that `with_fields` adds.
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


_Own = TypeVar("_Own", bound=Section)


def with_fields(**fields: Any) -> Callable[[type[_Own]], type[_Own]]:
    """The same section with further fields, as `declared_fields` makes them."""

    def added(own: type[_Own]) -> type[_Own]:
        name, words, module = own.__name__, own.__doc__, own.__module__
        return create_model(name, __base__=own, __doc__=words, __module__=module, **fields)

    return added


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Several = BeforeValidator(_several)
"""Takes one alone as a list of one."""


TablePlace = Annotated[
    Path | str, BeforeValidator(declaration.place_of, json_schema_input_type=str)
]
"""Where a table is: a file, or the URL of a table in a database."""


class InFile(Frozen):
    """Something that stands in a file of its own."""

    file: Path


IN_FILE, INLINE = "in a file", "inline"
"""How a schema or a specification is given."""


def _form(value: object) -> str:
    if isinstance(value, InFile):
        return IN_FILE
    return IN_FILE if isinstance(value, Mapping) and "file" in value else INLINE


SchemaPart = Annotated[
    Annotated[InFile, Tag(IN_FILE)] | Annotated[Schema, Tag(INLINE)], Discriminator(_form)
]
"""A schema: its file, or its fields as in schema.toml."""
SpecificationPart = Annotated[
    Annotated[InFile, Tag(IN_FILE)] | Annotated[LinkSpec, Tag(INLINE)], Discriminator(_form)
]
"""A specification of a linkage: its file, or its fields as in link.toml."""


def declared_fields(
    *declarations: Any,
    only: Collection[str] = (),
    required: Collection[str] = (),
    usual: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The keys of declared options, each with its default, as `pydantic.create_model` takes them.

    Parameters
    ----------
    only
        The keys that are meant; all of them where empty.
    required
        Those of them that must be there.
    usual
        The defaults of those for which a project has another one.
    """
    found = {}
    for each in declaration.declared(*declarations, only=only):
        default = (usual or {}).get(each.key, each.default)
        optional = each.optional or default is None or default is declaration.REQUIRED
        if each.key in required:
            default, optional = declaration.REQUIRED, False
        # A key such as `register` would hide an attribute of pydantic's own.
        own = each.key if not hasattr(BaseModel, each.key) else f"{each.key}_file"
        field = Field(
            default=...
            if each.key in required
            else None
            if default is declaration.REQUIRED
            else default,
            description=each.words,
            alias=None if own == each.key else each.key,
        )
        kind = _kind_of(each) | None if optional else _kind_of(each)
        found[own] = (Annotated[kind, each.said], field)
    return found


def _kind_of(each: declaration.Declared) -> Any:
    """Its type in a file: words of enumerations, tables by their places, one alone as a list."""
    # Enumerations of texts pydantic reads by itself; it knows no words of the others.
    if each.has_words and not issubclass(each.type, str):
        return Annotated[
            each.type,
            BeforeValidator(
                lambda word: each.values.get(str(word).lower(), word), json_schema_input_type=str
            ),
            PlainSerializer(declaration.word_of, return_type=str),
        ]
    if get_origin(each.type) in (tuple, Sequence):
        inner = TablePlace if each.said.path else get_args(each.type)[0]
        return Annotated[tuple[inner, ...], Several]  # type: ignore[valid-type]
    if each.said.path:
        # Keys are files: only tables can be in a database.
        return Path if each.type is bytes else TablePlace
    return each.type


@contextmanager
def as_value_errors(key: str) -> Iterator[None]:
    """Say what a room below refuses as an error of a key of the project file.

    Parameters
    ----------
    key
        The key; empty for the parameter that the room below names.

    Raises
    ------
    ValueError
        If it refuses something.
    """
    try:
        yield
    except InputError as error:
        name = key or error.subject.removeprefix("parameter ")
        raise ValueError(f"'{name}' {declaration.said_of_key(error)}") from None


@with_fields(
    **declared_fields(
        Comparing,
        Deduping,
        Limits,
        ForPeople,
        LinkedFile,
        only=(
            *("dedupe", "one_per_source", "false_match_rate", "missed_match_rate"),
            *("allow_pairs", "engine", "model", "previous", "quasi_identifiers"),
            *("check", "by_uncertainty", "key_file"),
        ),
        usual={"engine": Engine.DUCKDB},
    )
)
class Link(Section):
    """How the sources are linked.

    The other keys are those of the declarations in `sfumato.linkage.link_options`.

    Attributes
    ----------
    specification
        What is compared and how: ``file``, or the fields of link.toml. Without it one is proposed
        as the project runs.
    """

    specification: SpecificationPart | None = None

    @model_validator(mode="after")
    def _both_rates(self) -> Self:
        if (self.false_match_rate is None) != (self.missed_match_rate is None):
            raise ValueError("'false_match_rate' and 'missed_match_rate' must come together")
        return self


_TERMINAL = """by = "terminal" under [review] is read as by = "desk": write that, the next version
refuses it; pairs are reviewed in the workbench, with sfumato open"""


class Reviewers(StrEnum):
    """Where possible matches are reviewed."""

    NONE = "none"
    """Nowhere: records that nobody joined stay apart."""
    DESK = "desk"
    """At the desk of the workbench, with ``sfumato open``."""
    SIMULATED = "simulated"
    """By a simulated worker, to try a project out; nobody looks at them."""
    APPLICATION = "application"
    """In the web application, with ``sfumato review create`` and ``sfumato serve``."""

    @classmethod
    def _missing_(cls, value: object) -> Reviewers | None:
        """Read what projects of 0.1 say of screens that the desk has replaced."""
        if value != "terminal":
            return None
        warnings.warn(_TERMINAL, LeavesWarning, stacklevel=2)
        return cls.DESK


class Unanswered(StrEnum):
    """What becomes of possible matches that nobody answered."""

    WAIT = "wait"
    """The project waits for the answer."""
    APART = "apart"
    """Their records stay apart, and the project goes on."""


@with_fields(**declared_fields(Settings, only=CHOSEN))
class Review(Section):
    """Who looks at possible matches, and how much they may see.

    The other keys are those of `Settings`.

    Attributes
    ----------
    by
        Where they are reviewed.
    unanswered
        What becomes of those that nobody answered.
    folder
        Where people review at the desk; nothing in it is ever replaced.
    certainty
        A simulated worker opens cells until it is so sure of its answer.
    decisions
        The answers as a file: what ``sfumato review export`` writes of the web application.
    """

    by: Reviewers = Reviewers.NONE
    unanswered: Unanswered = Unanswered.WAIT
    folder: Path = Path("review")
    certainty: Annotated[float, Field(ge=0.5, le=1, allow_inf_nan=False)] = 0.9
    decisions: Path | None = None

    @property
    def settings(self) -> Settings:
        """The rules of the review."""
        return Settings(**{name: getattr(self, name) for name in CHOSEN})


class Undecided(StrEnum):
    """What becomes of a release while associations wait for a decision."""

    WAIT = "wait"
    """The project waits for the custodian."""
    GO_ON = "go on"
    """Only what was accepted counts as known."""


@with_fields(**declared_fields(RequestOptions, required=("file", "request")))
class OnRequest(Section):
    """Who may have what: the release is what a policy's rules allow for a request.

    The other keys are those of `RequestOptions`.

    Attributes
    ----------
    undecided
        What becomes of the release while associations of the ledger wait for a decision.
    """

    undecided: Undecided = Undecided.WAIT


_UNASKED = dict.fromkeys(each.key for each in declaration.declared(*PROMISES.values()))
"""No promise is made unless a key asks for it."""


@with_fields(**declared_fields(Measuring, KnownPopulation, HeldAgainst))
class Assess(Section):
    """What is measured of the data before anything is changed.

    The keys are those of `Measuring`, `KnownPopulation` and `HeldAgainst`.
    """

    @model_validator(mode="after")
    def _one_population(self) -> Self:
        with as_value_errors(""):
            self.known_population(self.register_file)
            check_estimator(Measuring(**self.measuring).estimator)
        _check_presets(self.presets)
        return self

    @property
    def measuring(self) -> dict[str, Any]:
        """What is measured, by the parameters of `sfumato.assess`."""
        return {each.name: getattr(self, each.name) for each in declaration.declared(Measuring)}

    def known_population(self, register: declaration.Place | None) -> KnownPopulation:
        """What is known of the population.

        Parameters
        ----------
        register
            Where the file of the register is.
        """
        named = None if register is None else str(register)
        return KnownPopulation(self.population, self.fraction, self.weights, named)


_OF_SERIES = ("admit_every", "newcomers_k", "leavers")
_OF_EACH = [
    each.key
    for each in declaration.declared(Options)
    if each.key not in ("series", "known_months", *_OF_SERIES)
]


@with_fields(**declared_fields(Options, only=_OF_SERIES))
class SeriesSection(Section):
    """How the releases of a project are a series, one of each period.

    The other keys are those of `Options`.

    Attributes
    ----------
    kind
        What its files hold.
    ids
        Whether people keep their pseudonyms.
    known
        What an acquaintance knows: when people came, or when they left, too.
    """

    kind: Series
    ids: Pseudonyms = Pseudonyms.SAME
    known: Exits

    @model_validator(mode="after")
    def _stay_the_same(self) -> Self:
        if self.ids is Pseudonyms.NEW:
            raise ValueError(
                "'ids' must be \"same\" for snapshots: under new pseudonyms two of them tell the "
                "values of newcomers by what differs"
            )
        return self


@with_fields(
    **declared_fields(*PROMISES.values(), AddedPromises, usual=_UNASKED),
    **declared_fields(Options, only=_OF_EACH),
    **declared_fields(Limited),
    **declared_fields(Circumstances, only=("register", "population", "pseudonym_key", "withdrawn")),
    **declared_fields(HeldAgainst),
)
class Release(Section):
    """What every class of the release keeps, and how the release is made.

    The other keys are those of the promises, of `Options`, `Limited`, `Circumstances` and
    `HeldAgainst`.

    Attributes
    ----------
    series
        ``[release.series]``: that there is one of each period.
    """

    series: SeriesSection | None = None

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        with as_value_errors(""):
            # Making them refuses numbers that are out of range.
            self.promises  # noqa: B018
            Options(**self.making)
        _check_presets(self.presets)
        return self

    @property
    def promises(self) -> tuple[Constraint | Budget, ...]:
        """The promises that are named one by one; those of presets are not among them."""
        return all_asked(self._keys)

    @property
    def making(self) -> dict[str, Any]:
        """How the release is made, by the parameters of `sfumato.anonymize`."""
        own = {
            each.name: getattr(self, each.name)
            for each in declaration.declared(Options, only=_OF_EACH)
        }
        if self.series is None:
            return own
        kept = {name: getattr(self.series, name) for name in _OF_SERIES}
        return {**own, **kept, "series": self.series.kind, "known_months": self.series.known}

    @property
    def _keys(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in type(self).model_fields}


class LedgerSection(Frozen):
    """Where the project's releases are remembered.

    Attributes
    ----------
    file
        The ledger, made by ``sfumato init`` or ``sfumato ledger create``; the user's own,
        ``sfumato/ledger.sqlite`` under ``~/.local/share``, when not given.
    keys
        The folder of its keys, outside its folder; ``sfumato/ledger-keys`` under ``~/.config`` when
        not given.
    head
        A file elsewhere that holds the ledger's head as well: an older or cut copy is refused. See
        ``sfumato ledger create --head``.
    to
        Who gets the release: ``sfumato run`` hands it over as soon as it is ready. Without it, it
        is a draft until ``sfumato ledger hand-over``.
    """

    remember: bool = True
    file: Path | None = None
    keys: Path | None = None
    head: Path | None = None
    to: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)] | None = None

    @model_validator(mode="after")
    def _handed_over(self) -> LedgerSection:
        if not self.remember and self.model_fields_set != {"remember"}:
            raise ValueError("'remember = false' stands alone: leave out the other keys")
        return self


Said = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
Portion = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]


class LimitsSection(Frozen):
    """What intruders may find in the release.

    Attributes
    ----------
    preset
        Whose limits these are; ``contract`` where controls are stated, else ``public``.
    found, person, learned
        Limits of your own in their places, each a share.
    """

    preset: Literal["public", "contract", "room", "public-strict", "cms"] | None = None
    found: Portion | None = None
    person: Portion | None = None
    learned: Portion | None = None


class AtMost(Frozen):
    """What an acceptance covers, each a share."""

    found: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    person: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    learned: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class Answered(Frozen):
    """That somebody answers for what nobody measured.

    Attributes
    ----------
    by
        Who decided; the report that may be published gives the role alone, what stands before a
        bracket.
    because
        Why; it stands in every report.
    until
        The last day on which it counts.
    """

    by: Said
    because: Said
    until: date


class Accepted(Answered):
    """That somebody answers for what an intruder finds above the limit.

    Attributes
    ----------
    at_most
        What it covers: written by the first run that measures it, 1.2 times what was found then.
        Nothing until then.
    """

    at_most: AtMost | None = None


class Accept(Frozen):
    """Who answers for which intruder, for the insider by column; and for the linkage."""

    stranger: Accepted | None = None
    acquaintance: Accepted | None = None
    recipient: Accepted | None = None
    linkage: Answered | None = None
    insider: dict[str, Accepted] = Field(default_factory=dict)

    @property
    def by_row(self) -> dict[tuple[str, str], Accepted]:
        """Those about intruders, by intruder and column."""
        rows = ("stranger", "acquaintance", "recipient")
        given = {(name, ""): getattr(self, name) for name in rows}
        given |= {("insider", column): each for column, each in self.insider.items()}
        return {row: each for row, each in given.items() if each is not None}


def _check_presets(names: tuple[str, ...]) -> None:
    if names:
        with as_value_errors("presets"):
            check_numbers(thresholds(*names))


class ReportForm(StrEnum):
    """In which form each stage reports."""

    HTML = "html"
    """A page, with the same as JSON beside it."""
    JSON = "json"


@with_fields(
    **declared_fields(Holding, only=("register", "knows", "counts", "noise", "missing")),
    **declared_fields(Judging, only=("attacks",)),
)
class Attack(Section):
    """What the simulated intruder holds, and which attacks are run.

    The keys are those of `Holding` and `Judging`. Without a register, the intruder looks for
    persons in the data before the release, which is what an acquaintance knows.
    """

    @model_validator(mode="after")
    def _known_attacks(self) -> Self:
        if self.attacks is not None:
            from sfumato.intruder.attacks import check_names  # costs a start's time

            with as_value_errors("attacks"):
                check_names(self.attacks)
        return self


ReleaseForm = Literal["csv", "parquet", "xlsx", "dta", "sav"]


class Outputs(Frozen):
    """Where the results go.

    Attributes
    ----------
    stages
        The folder of what the stages made; it holds personal data and stays inside.
    formats
        The formats of the release; the last three need the extra ``formats``.
    database
        The URL of a new table that the release goes into as well, with the extra ``databases``.
    language
        The language of the pages: ``de`` or ``fr``.
    """

    folder: Path = Path("output")
    stages: Path = Path("stages")
    formats: Annotated[tuple[ReleaseForm, ...], Several, Field(min_length=1)] = ("csv",)
    database: str | None = None
    report: ReportForm = ReportForm.HTML
    language: Language = ENGLISH

    @model_validator(mode="after")
    def _is_database(self) -> Outputs:
        if self.database is not None and not declaration.is_database(self.database):
            raise ValueError("'database' must be the URL of a table of PostgreSQL or SQLite")
        return self


# Integers of TOML have 64 bits, one of them for the sign.
SEED_BITS = 63
Seed = Annotated[StrictInt, Field(ge=0, lt=1 << SEED_BITS)]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,79}$")]


class About(Frozen):
    """What the project is called, where its random choices come from, and whom it is for.

    What is said of recipients, purpose, controls, context and reasons stands in both versions of
    the report, the one that may be published included.

    Attributes
    ----------
    name
        Letters, digits, spaces, dots, hyphens and underscores; it stands in reports.
    seed
        Seed of every search; what protects people comes from the secrets of the stages.
    controls
        What keeps them to that: contracts, rooms, deletion.
    reasons
        Why columns have their roles, and promises their numbers, by their names.
    """

    name: Name
    seed: Seed
    recipients: Said | None = None
    purpose: Said | None = None
    controls: Said | None = None
    context: Said | None = None
    review_date: date | None = None
    reasons: Annotated[dict[str, Said], Field(default_factory=dict)]


@with_fields(**{name: (str, Field(default="", description=says)) for name, says in STATED.items()})
class Dossier(Section):
    """What no measure tells of a recipient; what is left blank is named as a gap in the dossier.

    The other keys are those of `STATED`.

    Attributes
    ----------
    by
        Who says so: role (name).
    on
        The day on which it was so.
    """

    by: Said
    on: date


class TableFile(Frozen):
    """A table, and how its file is laid out.

    Attributes
    ----------
    file
        The table: CSV, Parquet; Excel, SPSS, Stata and SAS with the extra ``formats``; the URL of a
        table of PostgreSQL or SQLite with the extra ``databases``.
    delimiter
        The separator of a CSV file; found by itself when not given.
    header, names, encoding, skip_lines, sheet
        How the file is laid out, as far as that is not found by itself, as the options say it.
    """

    file: TablePlace
    delimiter: Annotated[str, StringConstraints(min_length=1, max_length=1)] | None = None
    header: declaration.Header = None
    names: declaration.Names = ()
    encoding: declaration.Encoding = None
    skip_lines: declaration.SkippedLines = None
    sheet: declaration.Sheet = None


def _of_file(given: object) -> object:
    """A place alone as the table there."""
    return {"file": given} if isinstance(given, (str, Path)) else given


class Source(TableFile):
    """A table that the project starts from.

    Attributes
    ----------
    id
        The column that names each record within the table.
    attach
        Further records of the table's persons by its ids, such as visits; they stand in the
        linked file instead of the table's own. A file, or one with its layout.
    """

    id: str | None = None
    attach: (
        Annotated[TableFile, BeforeValidator(_of_file, json_schema_input_type=str | TableFile)]
        | None
    ) = None


SourceName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$")]


class Project(Frozen):
    """A project: from raw tables to a release and its reports.

    Attributes
    ----------
    about
        ``[project]``: its name and its seed.
    sources
        ``[sources.NAME]``: the tables that it starts from. None where ``[schema.tables.NAME]``
        names those of one database.
    columns
        ``[schema]``: what each column is.
    link
        ``[link]``: how the sources are linked.
    review
        ``[review]``: who looks at possible matches.
    policy
        ``[policy]``: who may have what, where a policy decides about the release.
    assess
        ``[assess]``: what is measured first.
    release
        ``[release]``: promises, where no policy decides.
    limits
        ``[limits]``: what intruders may find in the release.
    accept
        ``[accept.INTRUDER]``, ``[accept.insider.COLUMN]``, ``[accept.linkage]``: who answers for
        what is above or not measured.
    ledger
        ``[ledger]``: where releases are remembered, and whether; without it in the user's own
        ledger, which is made where there is none.
    attack
        ``[attack]``: what the simulated intruder holds; without it there is no attack.
    dossier
        ``[dossier.RECIPIENT]``: what the custodian states of a recipient.
    outputs
        ``[outputs]``: where the results go.
    periods
        ``[periods]``: of a series, the file of each period, as ``sfumato run --period`` notes it.
    """

    about: Annotated[About, Field(alias="project")]
    sources: dict[SourceName, Source] = Field(default_factory=dict)
    columns: Annotated[SchemaPart | None, Field(alias="schema")] = None
    link: Link | None = None
    review: Review = Review()
    policy: OnRequest | None = None
    assess: Assess = Assess()
    release: Release = Release()
    limits: LimitsSection = LimitsSection()
    accept: Annotated[Accept, Field(default_factory=Accept)]
    ledger: LedgerSection | None = None
    attack: Attack | None = None
    dossier: dict[str, Dossier] = Field(default_factory=dict)
    outputs: Outputs = Outputs()
    periods: dict[str, TablePlace] = Field(default_factory=dict)

    @property
    def judged_by(self) -> verdict.Limits:
        """The limits of the release: those of a public one where no controls are stated."""
        usual = "public" if self.about.controls is None else "contract"
        given = self.limits.model_dump(exclude_none=True)
        return verdict.Limits(**{"preset": usual} | given)

    @property
    def acceptances(self) -> tuple[verdict.Acceptance, ...]:
        """Who answers for what, and for how much of it."""
        measured = self.accept.by_row.items()
        return self._answers({row: each for row, each in measured if each.at_most is not None})

    @property
    def answers(self) -> tuple[verdict.Acceptance, ...]:
        """The same; one that nothing was measured of covers everything until the next run."""
        whole = AtMost(found=1, person=1, learned=1)
        return self._answers(
            {
                row: each.model_copy(update={"at_most": each.at_most or whole})
                for row, each in self.accept.by_row.items()
            }
        )

    def _answers(
        self, by_row: Mapping[tuple[str, str], Accepted]
    ) -> tuple[verdict.Acceptance, ...]:
        made = [
            verdict.Acceptance(name, column=column, **each.model_dump())
            for (name, column), each in by_row.items()
        ]
        own = self.accept.linkage
        if own is not None:
            made.append(verdict.Acceptance(verdict.LINKAGE, **own.model_dump(), at_most={}))
        return tuple(made)

    def of_period(self, period: str) -> Project:
        """The project with the file of a period, whose results go into folders of their own."""
        ((name, source),) = self.sources.items()
        folder, stages = (path / period for path in (self.outputs.folder, self.outputs.stages))
        return self.model_copy(
            update={
                "sources": {name: source.model_copy(update={"file": self.periods[period]})},
                "outputs": self.outputs.model_copy(update={"folder": folder, "stages": stages}),
            }
        )

    @property
    def is_linked(self) -> bool:
        """Whether records are linked: of several sources, or within one."""
        return len(self.sources) > 1 or self.link is not None

    @property
    def is_database(self) -> bool:
        """Whether it starts from the tables of one database, which its schema names."""
        return not self.sources

    @property
    def columns_are_in_file(self) -> bool:
        """Whether the schema stands in a file of its own."""
        return isinstance(self.columns, InFile)

    @property
    def is_reviewed(self) -> bool:
        """Whether people look at possible matches."""
        return self.is_linked and self.review.by is not Reviewers.NONE

    @model_validator(mode="before")
    @classmethod
    def _ledger_in_its_place(cls, fields: Any) -> Any:
        policy = fields.get("policy") if isinstance(fields, dict) else None
        moved = {"ledger", "keys"} & set(policy) if isinstance(policy, dict) else ()
        if moved:
            raise ValueError(
                "policy: the ledger has a section of its own: write 'ledger' as 'file' and 'keys' "
                "as 'keys' under [ledger]"
            )
        return fields

    @model_validator(mode="after")
    def _controls_are_stated(self) -> Project:
        if self.limits.preset in ("contract", "room") and self.about.controls is None:
            raise ValueError(
                f"limits: preset '{self.limits.preset}' is for a release with controls: state them "
                "as 'controls' under [project], or take 'public'"
            )
        return self

    @model_validator(mode="after")
    def _starts_somewhere(self) -> Project:
        of_tables = isinstance(self.columns, Schema) and bool(self.columns.tables)
        if self.sources and of_tables:
            raise ValueError("sources: must be left out beside [schema.tables], which names files")
        if self.is_database:
            if not (of_tables or self.columns_are_in_file):
                raise ValueError("sources: must name a table, or [schema.tables] several")
            for name, given in (
                ("link", self.link is not None),
                ("policy", self.policy is not None),
                ("outputs.database", self.outputs.database is not None),
                ("release.promise_limits", self.release.promise_limits),
            ):
                if given:
                    raise ValueError(f"{name}: must be left out beside [schema.tables]")
        return self

    @model_validator(mode="after")
    def _is_of_a_series(self) -> Project:
        if self.release.series is None:
            if self.periods:
                raise ValueError("periods: need [release.series]")
            return self
        if self.is_database or self.is_linked or self.policy is not None:
            raise ValueError("release.series: is for one file that names people, by promises")
        if self.outputs.database is not None:
            raise ValueError("outputs.database: must be left out beside release.series")
        with as_value_errors("periods"):
            then = [following(each) for each in self.periods]
        for expected, each in zip(then, [*self.periods][1:], strict=False):
            if each != expected:
                raise ValueError(f"periods: {each} stands where {expected} follows")
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> Project:
        if not self.is_linked:
            if self.columns is None:
                raise ValueError("schema: must be given where nothing is linked")
            if self.review.by is not Reviewers.NONE:
                raise ValueError("review: is for sources that are linked")
            if any(source.attach is not None for source in self.sources.values()):
                raise ValueError("sources: 'attach' is for sources that are linked")
        named = self.release.promises or self.release.presets or self.release.thresholds
        promised = named or self.release.promise_limits
        if self.policy is None and not promised:
            raise ValueError(
                "release: must promise something, for example g_balance = 0.9, or a policy decides"
            )
        if self.policy is not None and self.release.model_fields_set - {
            "keep_order",
            "pseudonym_key",
        }:
            raise ValueError(
                "release: only 'keep_order' and 'pseudonym_key' can stand beside a policy; its "
                "rules decide all else"
            )
        if self.policy is not None and self.ledger is not None and self.ledger.to is not None:
            raise ValueError("ledger: 'to' is for a release by promises; a policy names who asks")
        if self.policy is not None and self.attack is not None:
            raise ValueError("attack: is for a release by promises; leave it out beside a policy")
        # Ids are one column of the linked file, which must name every record.
        named = [source.id is not None for source in self.sources.values()]
        if any(named) and not all(named):
            raise ValueError("sources: 'id' must be given for all of them, or for none")
        return self
