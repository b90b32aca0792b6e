"""What settings of a series find, lose and make people wait, tried on files of past months."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from typing import Any

from sfumato.core.declaration import Progress, silent
from sfumato.core.errors import ConstraintsNotMetError, InputError
from sfumato.release.anonymize import anonymize
from sfumato.release.cures import detail_lost
from sfumato.release.lasting_classes import ids_in
from sfumato.release.promises.k_anonymity import PidKAnonymity
from sfumato.schema import Schema

_FEWEST_FILES = 2


@dataclass(frozen=True)
class Planned:
    """What a series gives away and loses under a setting.

    Attributes
    ----------
    newcomers_k
        People that a class of newcomers has at least; ``None`` for K.
    found
        By intruder who was measured, the largest share of people found in any of them: the
        stranger knows when people came, the acquaintance who left, too, the insider a value in
        each of two files.
    fewest
        People of the smallest class; ``None`` where no file could be released.
    shown
        Of the people in the last file that was released, the share that it shows.
    soon
        Of the newcomers who are in the next file as well, the share that it shows; ``None`` where
        there were none.
    lost
        The share of the detail that is lost in the first and in the last file.
    refused
        What the file after these breaks; empty where all could be released.
    """

    k: int
    admit_every: int
    newcomers_k: int | None
    files: int
    found: Mapping[str, float]
    fewest: int | None
    shown: float | None
    soon: float | None
    lost: tuple[float, ...]
    refused: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def plan_series(
    files: Sequence[Any],
    schema: Schema,
    promises: Sequence[Any],
    ks: Collection[int] = (),
    admit_every: Collection[int] = (),
    newcomers_k: Collection[int] = (),
    progress: Progress = silent,
    **options: Any,
) -> list[Planned]:
    """Release past files as a series under several settings, and measure each; nothing is kept.

    Parameters
    ----------
    files
        The files of the past, the first one first.
    promises
        What every class keeps, `PidKAnonymity` among it.
    admit_every
        In every which of the files newcomers get classes; 1 to 3 where empty.
    newcomers_k
        Fewer people in classes of newcomers, tried beside K for all.
    options
        Other keywords of `anonymize` for the first file.

    Returns
    -------
    list
        Settings that some file refused first, then the one under which most people are found.
    """
    own = [promise.k for promise in promises if isinstance(promise, PidKAnonymity)]
    if len(files) < _FEWEST_FILES or not own or schema.person is None:
        raise InputError(
            "a plan of a series",
            "needs two files or more, a column that names the person, and K people in a class",
            found=f"{len(files)}",
            advice="name the files in their order, and --pid-k",
        )
    others = [promise for promise in promises if not isinstance(promise, PidKAnonymity)]
    people = [ids_in(file, schema.person) for file in files]
    every = sorted({*admit_every}) or [1, 2, 3]
    settings = [
        (k, number, fewer)
        for k in sorted({*own, *ks})
        for number in every
        for fewer in (None, *sorted({*newcomers_k}))
        if fewer is None or fewer < k
    ]
    made = []
    for place, (k, number, fewer) in enumerate(settings):
        progress(f"k {k}, newcomers {fewer or k}, every {number}", place / len(settings))
        asked = (*others, PidKAnonymity(k))
        setting = {**options, "admit_every": number, "newcomers_k": fewer}
        made.append(_planned(k, people, files, schema, asked, setting))
    return sorted(made, key=lambda each: (each.files, *(-share for share in each.found.values())))


def _planned(
    k: int,
    people: Sequence[set[str]],
    files: Sequence[Any],
    schema: Schema,
    promises: Sequence[Any],
    options: Mapping[str, Any],
) -> Planned:
    """What the releases of the files show, each by itself and with those before it."""
    found = dict[str, float]()
    fewest, lost, shown = list[int](), list[float](), list[Set[str]]()
    refused: tuple[str, ...] = ()
    made = None
    try:
        for file in files:
            if made is None:
                made = anonymize(file, schema, *promises, series="snapshot", **options)
            else:
                made = anonymize(file, schema, continues=made, seed=options.get("seed"))
            assert made.disclosed is not None
            assert made.lasting is not None
            for name in ("acquaintance", "insider", "stranger"):
                findings = made.verdict.row(name).findings
                if findings is not None:
                    found[name] = max(found.get(name, 0.0), findings.found.value)
            fewest.append(made.disclosed.found.fewest)
            lost.append(detail_lost(made))
            shown.append(made.lasting.class_of.keys())
    except ConstraintsNotMetError as error:
        refused = error.failures
    came, soon = set(people[0]), []
    for number in range(1, len(shown) - 1):
        stay = (people[number] - came) & people[number + 1]
        came |= people[number]
        soon += [name in shown[number + 1] for name in stay]
    return Planned(
        k,
        options["admit_every"],
        options["newcomers_k"],
        len(shown),
        found,
        min(fewest, default=None),
        len(people[len(shown) - 1] & shown[-1]) / len(people[len(shown) - 1]) if shown else None,
        sum(soon) / len(soon) if soon else None,
        (*lost[:1], *lost[-1:]),
        refused,
    )
