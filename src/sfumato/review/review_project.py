"""The records and pairs of a review, and the folder that they are kept in."""

from __future__ import annotations

import os
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import tomlkit
from pydantic import ValidationError

from sfumato.core.atomic import atomic_folder, check_target_folder, write_text
from sfumato.core.cluster_questions import ClusterQuestions
from sfumato.core.declaration import Progress
from sfumato.core.errors import InputError
from sfumato.review.anonymity_database import Database
from sfumato.review.anonymity_index import Index
from sfumato.review.disclosure_account import Review
from sfumato.review.review_settings import NO_LIMIT, Attribute, Settings
from sfumato.table.table_files import write_table

SOURCE, ID = "source", "id"
"""The first two columns of the records."""
PAIR, LEFT, RIGHT = "pair", "left", "right"
"""The columns of the pairs."""
ADDED = "g"
"""What the id of a pair begins with that the linkage does not know.

Ids of pairs are for managers and files: a worker who saw one could tell some gold pairs.
"""


@dataclass(frozen=True, slots=True)
class Weight:
    """What a level of a comparison says, by the linkage's model.

    Attributes
    ----------
    comparison
        What is compared: an attribute, or a part of one.
    level
        Number of the level: the highest for equal, 0 for entirely different.
    m, u
        Probability of the level among pairs of one person, and of different persons.
    """

    comparison: str
    level: int
    label: str
    m: float
    u: float


@dataclass(frozen=True, eq=False)
class Project:
    """What a review is about; it holds data and never leaves the server.

    Parameters
    ----------
    attributes
        What a worker may see.
    records
        All records of all tables: source, id, and one column of text per attribute. A record's
        number is its row, from 0.
    pairs
        The pairs in the order in which they are dealt: the pair's id, and the numbers of the
        left and the right record.
    gold
        By id, whether the two records of a pair of known truth are one person's.
    weights
        What the levels of each comparison say, where a linkage's model is known.
    prior
        Probability that two records taken at random are one person's, where it is known.
    fingerprints
        By source, the SHA-256 of its file; ``""`` where it is none.
    """

    attributes: tuple[Attribute, ...]
    settings: Settings
    records: pa.Table = field(repr=False)
    pairs: pa.Table = field(repr=False)
    gold: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    weights: tuple[Weight, ...] = field(default=(), repr=False)
    prior: float | None = None
    fingerprints: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    clusters: ClusterQuestions = field(default_factory=ClusterQuestions)

    def __post_init__(self) -> None:
        _check_attributes(self.attributes, self.records)
        check_ids(self.records)
        _check_pairs(self.pairs, len(self.records))
        if not set(self.gold) <= set(self.pair_ids):
            raise InputError("the gold pairs", "must be pairs of the project", found="another")

    @property
    def columns(self) -> tuple[pa.ChunkedArray, ...]:
        """The records' values: one column of text per attribute."""
        return tuple(self.records[attribute.name] for attribute in self.attributes)

    @cached_property
    def pair_ids(self) -> tuple[str, ...]:
        """Ids of the pairs in their order."""
        return tuple(self.pairs[PAIR].to_pylist())

    @cached_property
    def others(self) -> tuple[str, ...]:
        """Ids of the pairs whose truth is not known."""
        return tuple(pair for pair in self.pair_ids if pair not in self.gold)

    @cached_property
    def of_linkage(self) -> frozenset[str]:
        """Ids of the pairs that go back to where the pairs came from."""
        return frozenset(pair for pair in self.pair_ids if not pair.startswith(ADDED))

    def weights_of(self, attribute: Attribute) -> Mapping[str, tuple[Weight, ...]]:
        """By comparison, the weights that are about an attribute.

        A full name has two comparisons, its given names and its surname.
        """
        names = {attribute.name, f"{attribute.name}_given", f"{attribute.name}_surname"}
        weights: dict[str, tuple[Weight, ...]] = {}
        for weight in self.weights:
            if weight.comparison in names:
                weights[weight.comparison] = (*weights.get(weight.comparison, ()), weight)
        return weights


def check_ids(records: pa.Table) -> None:
    """Refuse records without id, or two of one source that have the same one."""
    for source in pc.unique(records[SOURCE]).to_pylist():
        ids = records[ID].filter(pc.equal(records[SOURCE], source)).combine_chunks()
        if ids.null_count:
            row = int(pc.index(pc.is_null(ids), True).as_py()) + 1
            raise _ids_error(source, f"none in row {row}")
        if pc.count_distinct(ids).as_py() < len(ids):
            codes = np.asarray(ids.dictionary_encode().indices)
            raise _ids_error(
                source, f"the id of an earlier row in row {int(np.argmax(_again(codes))) + 1}"
            )


def _ids_error(source: str, found: str) -> InputError:
    return InputError(f"source {source}", "must have an id of its own for each record", found=found)


def _check_attributes(attributes: tuple[Attribute, ...], records: pa.Table) -> None:
    names = [attribute.name for attribute in attributes]
    if not names:
        raise InputError("a project", "must have an attribute to show", found="none")
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"attribute '{twice[0]}'", "must be there once")
    for name in names:
        if name in {SOURCE, ID}:
            raise InputError(f"attribute '{name}'", "must have another name than the record's own")
        if name not in records.column_names:
            raise InputError(f"attribute '{name}'", "must be a column of the records", found="none")
        if not pa.types.is_large_string(records.schema.field(name).type):
            raise InputError(f"column '{name}'", "must hold text")


def _check_pairs(pairs: pa.Table, records: int) -> None:
    if not len(pairs):
        raise InputError(
            "a project",
            "must have pairs to review",
            found="none",
            advice="lower the threshold of possible matches, or draw pairs for checks",
        )
    left, right = (np.asarray(pairs[name]) for name in (LEFT, RIGHT))
    outside = (np.minimum(left, right) < 0) | (np.maximum(left, right) >= records)
    # One number for a pair in either order, so that turned pairs count as the same.
    keys = np.minimum(left, right) * (records + 1) + np.maximum(left, right)
    for wrong, found in (
        (outside, "another record"),
        (left == right, "a record with itself"),
        (_again(keys), "an earlier pair again"),
        (_again(pairs[PAIR].to_numpy()), "an earlier pair's id again"),
    ):
        if np.any(wrong):
            row = int(np.argmax(wrong)) + 1
            raise InputError(
                "the pairs", "must each be of two records, once", found=f"{found} in row {row}"
            )


def _again(values: np.ndarray) -> np.ndarray:
    """Which values have stood before."""
    again = np.ones(len(values), dtype=np.bool_)
    # `np.unique` gives the first place of each value: all others have stood before.
    again[np.unique(values, return_index=True)[1]] = False
    return again


MANIFEST = "manifest.toml"
SPEC = "link.toml"
LINKAGE_PAIRS = "pairs.parquet"
IDENTIFYING = "identifying.parquet"


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a linkage of clear tables."""
    subject = f"folder {folder.name or folder}"
    path = folder / MANIFEST
    if not path.is_file():
        raise InputError(
            subject,
            "must be one that sfumato link wrote",
            found=f"no {MANIFEST} in it" if folder.is_dir() else "no such folder",
        )
    manifest = _toml(path)
    model = manifest.get("model")
    if not isinstance(manifest.get("linkage"), dict) or not isinstance(model, dict):
        raise InputError(subject, "must be one that sfumato link wrote", found="another manifest")
    # Bit vectors show nothing that a person could compare.
    if "encodings" in model:
        raise InputError(
            subject,
            "must hold a linkage of clear tables",
            found="one of encodings, which no person can review",
        )
    return manifest


def weights_in(manifest: dict[str, Any]) -> tuple[Weight, ...]:
    """What each level of a comparison says."""
    try:
        return tuple(
            Weight(
                str(each["comparison"]),
                int(each["level"]),
                str(each["label"]),
                float(each["m"]),
                float(each["u"]),
            )
            for each in manifest["model"]["weights"]
        )
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"manifest {MANIFEST}", "must be one that sfumato link wrote", found="other weights"
        ) from None


def kinds_in(folder: Path, names: Sequence[str]) -> tuple[dict[str, str], dict[str, bool]]:
    """Of the compared columns, the kind of each and, of dates, whether the day stands first."""
    columns = _toml(folder / SPEC).get("columns", {})
    given_columns = columns.items() if isinstance(columns, dict) else ()
    by_name = {_plain(name): each for name, each in given_columns}
    kinds: dict[str, str] = {}
    day_first: dict[str, bool] = {}
    for name in names:
        given = by_name.get(_plain(name))
        fields = {"kind": given} if isinstance(given, str) else given
        if isinstance(fields, dict) and isinstance(fields.get("kind"), str):
            kinds[name] = fields["kind"]
            if isinstance(fields.get("day_first"), bool):
                day_first[name] = fields["day_first"]
    return kinds, day_first


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """A file of a linkage.

    Parameters
    ----------
    columns
        The columns wanted; all where not given.
    """
    try:
        with pq.ParquetFile(path) as file:
            if set(columns or ()) <= set(file.schema_arrow.names):
                return file.read(columns=columns)
    except (pa.ArrowException, OSError, ValueError):
        pass
    raise InputError(
        f"file {path.name}",
        "must be there and whole",
        found="none, or another or a cut one",
        advice="the files of a linkage belong together; link again",
    )


def named_pairs(folder: Path, ids: pa.ChunkedArray) -> pa.Table:
    """Some pairs of the linkage with the names of their records."""
    # Without the scores, which workers must not be able to learn.
    table = read_parquet(folder / LINKAGE_PAIRS, ["pair", "source_l", "id_l", "source_r", "id_r"])
    place = pc.index_in(ids.cast(table["pair"].type), table["pair"].combine_chunks())
    if place.null_count:
        raise InputError(
            "the pairs to review",
            f"must be among those in {LINKAGE_PAIRS}",
            found="an unknown pair",
            advice="the files of a linkage belong together; link again",
        )
    return table.take(place)


def _plain(name: str) -> str:
    """A name as the linkage calls it: lower-case ASCII letters, digits and underscores."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        raise InputError(
            f"file {path.name}", "must be one that sfumato link wrote", found="none, or another"
        ) from None


PROJECT, RECORDS, PAIRS = "project.toml", "records.parquet", "pairs.parquet"
"""The rules and attributes, without a value of the data; the records; the pairs."""
_GOLD = "gold"
_HEADER = "What a review shows and allows. It holds no value of the data."


def write_project(project: Project, folder: str | os.PathLike[str]) -> Path:
    """Write a project to a new or empty folder, whole or not at all.

    The files can be read by their owner only.
    """
    check_target_folder(folder)
    place = Path(folder)
    if place.is_dir() and any(place.iterdir()):
        raise InputError(
            f"output {place.name or place}",
            "must be a new or empty folder",
            found="a folder with files",
            advice="choose another one",
        )
    gold = [project.gold.get(pair) for pair in project.pair_ids]
    with atomic_folder(folder) as making:
        write_table(project.records, making / RECORDS)
        write_table(project.pairs.append_column(_GOLD, pa.array(gold, pa.bool_())), making / PAIRS)
        write_text(making / PROJECT, _text(project))
    return place


def load_project(folder: str | os.PathLike[str]) -> Project:
    """Read a project that `write_project` wrote."""
    place = Path(folder)
    subject = f"folder {place.name or place}"
    if not (place / PROJECT).is_file():
        raise InputError(
            subject,
            "must be that of a review's project",
            found=f"no {PROJECT} in it" if place.is_dir() else "no such folder",
        )
    try:
        fields = tomllib.loads((place / PROJECT).read_text(encoding="utf-8"))
        attributes = tuple(Attribute(**each) for each in fields["attributes"])
        settings = Settings(**fields["settings"])
        weights = tuple(Weight(**each) for each in fields.get("weights", ()))
        fingerprints = dict(fields.get("fingerprints", {}))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"file {PROJECT}", "must be that of a review's project", found=_found(error)
        ) from None
    records = _table(place / RECORDS, [SOURCE, ID, *(attribute.name for attribute in attributes)])
    pairs = _table(place / PAIRS, [PAIR, LEFT, RIGHT, _GOLD])
    gold = zip(pairs[PAIR].to_pylist(), pairs[_GOLD].to_pylist(), strict=True)
    return Project(
        attributes=attributes,
        settings=settings,
        records=records,
        pairs=pairs.drop_columns([_GOLD]),
        gold={pair: same for pair, same in gold if same is not None},
        weights=weights,
        prior=fields.get("prior"),
        fingerprints=fingerprints,
    )


def _found(error: Exception) -> str:
    """Where a rule is broken; what stands there is not said."""
    if isinstance(error, ValidationError):
        # Pydantic would quote the input, which may be a value of the data.
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the settings"
        return f"{place}: {first['msg'].lower()}"
    return "another file, or a damaged one"


def _text(project: Project) -> str:
    attributes = [
        attribute.model_dump(mode="json", exclude_none=True) for attribute in project.attributes
    ]
    fields = {
        "prior": project.prior,
        "settings": {
            # TOML has no null, and a field that is left out would mean the default.
            name: NO_LIMIT if value is None else value
            for name, value in project.settings.model_dump(mode="json").items()
        },
        "attributes": attributes,
        "fingerprints": dict(project.fingerprints) or None,
        "weights": [asdict(weight) for weight in project.weights] or None,
    }
    document = tomlkit.document()
    document.add(tomlkit.comment(_HEADER))
    document.update({name: each for name, each in fields.items() if each is not None})
    return tomlkit.dumps(document)


def _table(path: Path, names: list[str]) -> pa.Table:
    try:
        with pq.ParquetFile(path) as file:
            if file.schema_arrow.names == names:
                return file.read()
    except (pa.ArrowException, OSError, ValueError):
        pass
    raise InputError(
        f"file {path.name}",
        "must be there and belong to the project",
        found="none, or another or a cut one",
    )


def index_of(project: Project, settings: Settings, progress: Progress) -> Index:
    """The database of a project, indexed."""
    database = Database.of(
        project.attributes,
        project.columns,
        rare_below=settings.rare_below,
        common_from=settings.common_from,
    )
    return Index.build(database, progress)


def review_of(project: Project, settings: Settings, index: Index) -> Review:
    """What workers look at."""
    left, right = (np.asarray(project.pairs[side]) for side in (LEFT, RIGHT))
    return Review(project.attributes, settings, index, left, right)
