"""What a release is asked for, and what it is made with."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.metadata import version
from importlib.util import find_spec
from typing import Annotated, Any

from sfumato.core import declaration
from sfumato.core.declaration import Count, Engine, Parameter, Share
from sfumato.core.errors import InputError, typed
from sfumato.release.techniques import Technique, Techniques
from sfumato.schema.roles import Unclassified

USUAL_EFFORT = (3, 48)
"""Passes where none are stated: of large files, and of small ones, which take little time."""
USUAL_PERSONS = 1 << 19
"""Persons that all passes look at, between these."""


class Cut(StrEnum):
    """Where a quasi-identifier is cut."""

    SEARCH = "search"
    """Where least is lost, found by a search; never worse than the median's."""
    MEDIAN = "median"
    """At the median record, as the paper does."""


class Split(StrEnum):
    """The criterion that orders the candidate cuts of a node."""

    BALANCE = "balance"
    """Least balance-variance ratio Δg/v (paper 003, Definition 4)."""
    VARIANCE = "variance"
    """Largest normalised variance: the kd-tree of Friedman et al. 1977."""
    RANGE = "range"
    """Widest normalised range: Mondrian of LeFevre et al. 2006."""


class Recoding(StrEnum):
    """Whether a quasi-identifier is recoded class by class or everywhere alike."""

    LOCAL = "local"
    """Each class its own values, as the tree divides the persons."""
    FULL_DOMAIN = "full-domain"
    """One level of the hierarchy for all records."""


class Form(StrEnum):
    """The form in which quasi-identifiers are released."""

    RANGE = "range"
    """Ranges for numeric and ordered, the lowest common ancestor or ``*`` for categorical."""
    BOUNDS = "bounds"
    """As range, with the two ends in two columns ``age_low``, ``age_high``."""
    MEAN = "mean"
    """The class mean for numeric, else as range."""
    SET = "set"
    """A set that holds all that occurs; where ends are on a grid, numbers and dates as range."""
    HIERARCHY = "hierarchy"
    """The lowest common ancestor wherever there is a hierarchy, else as range."""


WITH_ENDS = (Form.RANGE, Form.BOUNDS, Form.SET)
"""The forms that show between which values numbers and dates lie."""


class Ends(StrEnum):
    """What the ends of released ranges are, and the members of sets."""

    TIGHT = "tight"
    """The lowest and the highest value of the class; the values that occur."""
    SNAPPED = "snapped"
    """Points of a public grid just outside them: multiples of 1, 2 or 5 times a power of ten; of a
    public order, blocks of neighbours."""


class Loss(StrEnum):
    """What is to be lost least."""

    ANE = "ane"
    """The average normalised error."""
    NCP = "ncp"
    """The normalised certainty penalty."""
    QUERIES = "queries"
    """The error of counts over ranges and sets of two columns."""
    TABLES = "tables"
    """The distance between tables of two columns before and after."""
    MODELS = "models"
    """How much worse a model foretells that is trained on the release."""


ANALYSTS = (Loss.QUERIES, Loss.TABLES, Loss.MODELS)
"""What is measured by doing with the release what analysts do."""


class Coarsening(StrEnum):
    """How each number of records in a class comes to be shared by enough persons."""

    DROP = "drop"
    """Persons lose records, down to a number that enough persons of the class keep."""
    SPLIT = "split"
    """Persons get several pseudonyms, of sizes that enough persons of the class show."""


class KnownCounts(StrEnum):
    """What may be known of how many records a person has."""

    BANDS = "bands"
    """About how many, as somebody does who did not count."""


class Series(StrEnum):
    """What the files of a series hold."""

    SNAPSHOT = "snapshot"
    """How everybody stands, under the same pseudonyms."""


class Pseudonyms(StrEnum):
    """The pseudonyms of the people of a series."""

    SAME = "same"
    """The same ones in all files."""
    NEW = "new"
    """Other ones in each file."""


class Leavers(StrEnum):
    """What later files of a series show of people who left."""

    KEEP = "keep"
    """Their last records, with their classes."""
    RETIRE = "retire"
    """No person of their classes."""


class Exits(StrEnum):
    """Who is taken to know when people left a series."""

    EXIT = "exit"
    """An acquaintance, who knows when they came, too."""
    ENTRY = "entry"
    """The recipient alone: others know when people came."""


@dataclass(frozen=True)
class Options:
    """How a release is made; checked when made, and written to the manifest.

    ``cut`` is the search when not given, or the median where ``split`` asks for another order than
    the paper's; it stays ``None`` where full-domain recoding cuts nothing.
    """

    cut: Annotated[
        Cut | None,
        Parameter(
            "Where a column is cut: where least is lost, or at the median, as the paper does.",
            usual="search; median with another --split",
        ),
    ] = None
    split: Annotated[
        Split,
        Parameter(
            "Which cut at the median is tried first: least balance-variance ratio, largest "
            "variance, widest range."
        ),
    ] = Split.BALANCE
    effort: Annotated[
        int | None,
        Parameter(
            "Most passes that move people between classes; 0 leaves the classes as the tree "
            "cuts them.",
            "N",
            Count(0),
            usual=f"{USUAL_EFFORT[0]}, more of small files, up to {USUAL_EFFORT[1]}; 0 with --cut "
            "median, another --split, --register or --population, and on Spark",
        ),
    ] = None
    loss: Annotated[
        Loss | None,
        Parameter(
            "What that search makes least: average normalised error, certainty penalty, or the "
            "errors of counts, of tables of two columns, of models trained on the release.",
            usual="error and penalty together",
        ),
    ] = None
    recoding: Annotated[
        Recoding,
        Parameter(
            "Each class generalised by itself, or one level of each hierarchy for all records."
        ),
    ] = Recoding.LOCAL
    values: Annotated[Form, Parameter("Form of released quasi-identifiers.")] = Form.RANGE
    ends: Annotated[
        Ends | None,
        Parameter(
            "Ends of ranges: the lowest and highest value of the class, which "
            "single people out, or points of a public grid around them. Sets of categories: what "
            "occurs in the class, or blocks of neighbours around it.",
            usual="snapped; tight with --register or --population, on Spark, and where no "
            "ranges or sets are released",
        ),
    ] = None
    keep_order: Annotated[
        bool,
        Parameter("Do not shuffle the records; their order may give people away."),
    ] = False
    cap_records: Annotated[
        int | None,
        Parameter("Keep at most M records of a person, drawn at random.", "M", Count(1)),
    ] = None
    coarsen_counts: Annotated[
        Coarsening | None,
        Parameter(
            "How numbers of records come to keep --shared-counts: drop records, or split "
            "pseudonyms; without it, by larger classes."
        ),
    ] = None
    known_counts: Annotated[
        KnownCounts | None,
        Parameter(
            "What may be known of a person's number of records: its band (1, 2, 3-4, 5-9, 10-19, "
            "20-49, ...). Classes then hold people of one band, and known events are counted "
            "among them; bands of too few people are suppressed, as far as --suppress allows."
        ),
    ] = None
    known_columns: Annotated[
        tuple[str, ...],
        Parameter(
            "A column of which --known-events takes values as known, in place of those under "
            "[events] of the schema. Repeatable.",
            "COLUMN",
        ),
    ] = ()
    suppress: Annotated[
        float,
        Parameter(
            "Largest share of people to suppress: where nothing else meets the promises, and "
            "then those whose suppression gains most for the others.",
            "SHARE",
            Share(zero=True, one=False),
        ),
    ] = 0.0
    techniques: Annotated[
        str | None,
        Parameter(
            "By what --known-events may be kept, the others not: "
            f"{', '.join(Technique)}; roll-up=2 makes what a technique loses count twice.",
            "LIST",
            Techniques(),
            usual="all of them",
        ),
    ] = None
    lower_bound: Annotated[
        bool,
        Parameter(
            "Say below which NCP no release of labels can come with as many records in a class; "
            "takes up to a minute."
        ),
    ] = False
    threshold: declaration.Threshold = 0.2
    unclassified: Annotated[
        Unclassified,
        Parameter(
            "What becomes of columns that the schema does not name: they stop the release, or are "
            "left out."
        ),
    ] = Unclassified.REFUSE
    withhold: Annotated[
        tuple[str, ...],
        Parameter(
            "A column that is left out of the file; promises are kept as if it were there. It is "
            "sensitive, insensitive, or that of people: then records of one person are not seen "
            "together. Repeatable.",
            "COLUMN",
        ),
    ] = ()

    series: Annotated[
        Series | None,
        Parameter(
            "Open a series: files that say every month how the same people stand, under the same "
            "pseudonyms. Its classes last, and --continue makes the next file."
        ),
    ] = None
    admit_every: Annotated[
        int,
        Parameter(
            "In which files of a series newcomers get classes of their own, every Nth: the longer "
            "they wait, the smaller are their classes' cells.",
            "N",
            Count(1),
        ),
    ] = 2
    newcomers_k: Annotated[
        int | None,
        Parameter(
            "At least so many people in classes of newcomers to a series, fewer than --pid-k: less "
            "detail is lost, and more people are found.",
            "K",
            Count(2),
            usual="as --pid-k",
        ),
    ] = None
    leavers: Annotated[
        Leavers,
        Parameter(
            "Keep the last records of people who left a series, among which they are found, or "
            "retire their classes: their people are shown no more."
        ),
    ] = Leavers.KEEP
    known_months: Annotated[
        Exits,
        Parameter(
            "What an acquaintance knows of people in a series: when they came, or when they left, "
            "too. By entry alone, the recipient's row shows what a known exit finds."
        ),
    ] = Exits.EXIT

    def __post_init__(self) -> None:
        declaration.check_fields(self)
        self._check_series()
        if self.cut is None:
            # Settled here, so that the manifest says which cut was made even if the usual one
            # changes.
            object.__setattr__(self, "cut", self._usual_cut())
        if self.cut is Cut.SEARCH:
            self._check_search()
        if self.recoding is Recoding.FULL_DOMAIN:
            self._check_full_domain()
        if self.ends is Ends.SNAPPED and self.form not in WITH_ENDS:
            raise InputError(
                "parameter ends",
                "must be left out where no ranges are released",
                found=f"{self.form.value} as the form of released values",
                accepted="range, bounds, set",
            )
        if self.known_counts is not None:
            self._check_known_counts()
        if self.loss is not None and not self.passes():
            raise InputError(
                "parameter loss",
                "is what the search for classes makes least",
                found="a release without that search",
                advice="leave it out, or allow the search (effort=4, local recoding, no cut or "
                "split at the median)",
            )

    def _check_series(self) -> None:
        if self.series is None:
            for name, is_set in (
                ("newcomers_k", self.newcomers_k is not None),
                ("admit_every", self.admit_every != Options.admit_every),
                ("leavers", self.leavers is not Leavers.KEEP),
                ("known_months", self.known_months is not Exits.EXIT),
            ):
                if is_set:
                    raise InputError(
                        f"parameter {name}",
                        "is for a series",
                        found="none",
                        advice=typed("series='snapshot'", "--series snapshot") + " opens one",
                    )
            return
        for name, is_set, why in (
            ("recoding", self.recoding is not Recoding.LOCAL, "one level for all records"),
            ("values", self.values in (Form.BOUNDS, Form.MEAN), f"{self.values.value} as cells"),
            ("cap_records", self.cap_records is not None, "records that are drawn in each file"),
            ("coarsen_counts", self.coarsen_counts is not None, "numbers that are made coarser"),
            ("known_counts", self.known_counts is not None, "numbers that differ in each file"),
            ("keep_order", self.keep_order, "an order that shows who has left"),
        ):
            if is_set:
                raise InputError(
                    f"parameter {name}",
                    "must be left out where the classes of a series are to last",
                    found=why,
                )

    def _usual_cut(self) -> Cut | None:
        """Where is cut when nobody says it."""
        if self.recoding is Recoding.FULL_DOMAIN:
            return None
        return Cut.SEARCH if self.split is Split.BALANCE else Cut.MEDIAN

    def _check_search(self) -> None:
        for name, value, accepted in (
            ("split", self.split, Split.BALANCE),
            ("recoding", self.recoding, Recoding.LOCAL),
        ):
            if value is not accepted:
                raise InputError(
                    f"parameter {name}",
                    "must be left out where the search chooses the cuts",
                    found=f'{value.value} with cut = "search"',
                    accepted=accepted.value,
                )

    def _check_full_domain(self) -> None:
        if self.effort:
            raise InputError(
                "parameter effort",
                "is for local recoding, where classes can be any set of people",
                found="full-domain recoding",
                advice="leave it out",
            )
        if self.values not in (Form.RANGE, Form.HIERARCHY):
            raise InputError(
                "parameter values",
                "must be left out where all records show one level of a hierarchy",
                found=f"{self.values.value} with full-domain recoding",
                accepted="range, hierarchy",
            )
        if self.coarsen_counts is not None:
            raise InputError(
                "parameter coarsen_counts",
                "works on people who are in one class each",
                found="full-domain recoding, which may put a person into several",
                advice="leave it out, or use local recoding",
            )

    def _check_known_counts(self) -> None:
        for name, is_set, why in (
            ("recoding", self.recoding is not Recoding.LOCAL, "one level for all records"),
            ("cap_records", self.cap_records is not None, "numbers of records that are cut"),
            ("coarsen_counts", self.coarsen_counts is not None, "numbers that are made coarser"),
        ):
            if is_set:
                raise InputError(
                    f"parameter {name}",
                    "must be left out where numbers of records may be known in bands",
                    found=why,
                )

    def passes(self, persons: int = 1) -> int:
        """Passes over the classes of so many persons after the tree, where nothing forbids them."""
        if self.effort is not None:
            return self.effort
        least, most = USUAL_EFFORT if self.cut is Cut.SEARCH else (0, 0)
        # A pass costs as much as there are persons. So files between the two ends take about the
        # same time.
        return min(max(USUAL_PERSONS // persons, least), most)

    @property
    def form(self) -> Form:
        """The form in which quasi-identifiers are released."""
        return Form.HIERARCHY if self.recoding is Recoding.FULL_DOMAIN else self.values

    def with_ends(self, *, everybody: bool, engine: Engine = Engine.EMBEDDED) -> Options:
        """The same, with what ends of ranges are where nobody said it.

        Parameters
        ----------
        everybody
            Whether there is a register or a population: cells then reach up to the cuts, or hold
            what its people have.
        engine
            Where the release is computed.

        Raises
        ------
        InputError
            If sets on Spark, which tell what occurs, are not asked for by their ends.
        """
        if self.ends is not None:
            return self
        if engine is Engine.SPARK and self.form is Form.SET:
            raise InputError(
                "parameter values",
                "must say ends='tight' beside it on Spark",
                found="sets, which are of what occurs there, most of it one person's of the class",
                advice="say so, or take engine='embedded', where sets are public blocks",
            )
        on_grid = not everybody and engine is Engine.EMBEDDED and self.form in WITH_ENDS
        return replace(self, ends=Ends.SNAPPED if on_grid else Ends.TIGHT)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, without those that are not set."""
        return declaration.plain(self)


@dataclass(frozen=True)
class Limited:
    """What is done so that nothing is above its limit."""

    promise_limits: Annotated[
        bool,
        Parameter(
            "Promise the limits themselves: what keeps them is searched, and what loses least is "
            "taken. Other promises are kept, too. Takes as long as several releases."
        ),
    ] = False
    no_cures: Annotated[
        bool,
        Parameter(
            "Do not try what would lower a number that is above its limit, which takes up to a "
            "minute."
        ),
    ] = False


@dataclass(frozen=True)
class Circumstances(declaration.Layout):
    """What a release is made with and where; a manifest cannot bring it back."""

    register: Annotated[
        Any,
        Parameter(
            "The population that the people come from: a table with the same quasi-identifiers "
            "and exact values. Marketer risk and presence are counted in it.",
            "FILE",
            path=True,
        ),
    ] = None
    population: Annotated[
        int | None,
        Parameter(
            "People of the population, where there is no register: marketer risk is estimated.",
            "N",
            Count(1),
        ),
    ] = None
    pseudonym_key: declaration.PseudonymKey = None
    secret: declaration.OwnSecret = None
    continues: Annotated[
        Any,
        Parameter(
            "The release.toml of the last file of a series, which this file continues: its "
            "promises, options, secret and classes.",
            "FILE",
            option="--continue",
            path=True,
        ),
    ] = None
    period: Annotated[
        str | None,
        Parameter(
            "The year, quarter, month or week that a file of a series tells of, as 2026-01 or "
            "2026-Q1: each file is of the one that follows.",
            "PERIOD",
        ),
    ] = None
    withdrawn: Annotated[
        Any,
        Parameter(
            "Who withdraws from a series, a table with their ids: they and those of their classes "
            "are in no later file.",
            "FILE",
            path=True,
        ),
    ] = None
    seed: declaration.Seed = None
    engine: declaration.EngineName = None


class AnonymizeOptions(declaration.LayoutGiven, total=False):
    """The keywords of `sfumato.anonymize`, as a type checker and an editor know them.

    A test holds them to `Options` and `Circumstances`.
    """

    cut: str | None
    split: str
    effort: int | None
    loss: str | None
    recoding: str
    values: str
    ends: str | None
    keep_order: bool
    cap_records: int | None
    coarsen_counts: str | None
    known_counts: str | None
    suppress: float
    techniques: str | None
    lower_bound: bool
    threshold: float
    unclassified: str
    withhold: Sequence[str]
    known_columns: Sequence[str]
    series: str | None
    admit_every: int
    newcomers_k: int | None
    leavers: str
    known_months: str
    register: Any
    population: int | None
    pseudonym_key: bytes | None
    secret: bytes | None
    continues: Any
    period: str | None
    withdrawn: Any
    seed: int | None
    engine: str | None


def versions(engine: Engine = Engine.EMBEDDED) -> dict[str, str]:
    """Versions of Python, sfumato and the libraries that decide about a release by an engine."""
    names: Sequence[str] = ("sfumato", "numpy", "pyarrow")
    if engine is Engine.SPARK and find_spec("pyspark") is not None:
        names = (*names, "pyspark")
    return {"python": platform.python_version()} | {name: version(name) for name in names}
