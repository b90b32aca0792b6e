"""What `anonymize` takes and Spark does not, refused before the file is looked at."""

from __future__ import annotations

from typing import Any

from sfumato.core.errors import InputError
from sfumato.release.promises.delta_presence import DeltaPresence
from sfumato.release.promises.promise import Budget, Promise, asked_of_households
from sfumato.release.release_manifest import Manifest
from sfumato.release.release_options import Ends, Recoding
from sfumato.schema import Schema

ADVICE = "leave it out, or take engine='embedded'"


def refuse_before_work(schema: Schema, manifest: Manifest, register: object) -> None:
    """Refuse what a release on Spark cannot do, before any work."""
    if schema.events:
        raise InputError(
            "schema: its events",
            "must be left out on Spark",
            found="columns of which an intruder may know something, which is not measured there",
            advice=ADVICE,
        )
    if register is not None:
        raise InputError("parameter register", "must be left out on Spark", advice=ADVICE)
    refuse_options(manifest)
    if manifest.options.keep_order:
        raise InputError(
            "parameter keep_order",
            "must be left out on Spark",
            found="records that have no order there",
            advice=ADVICE,
        )


def refuse_options(manifest: Manifest) -> None:
    """Refuse what only the embedded engine does, the order of the records aside."""
    options = manifest.options
    if options.recoding is not Recoding.LOCAL:
        raise InputError(
            "parameter recoding",
            "must be local on Spark",
            found=options.recoding.value,
            advice=ADVICE,
        )
    for name, is_set in (
        ("effort", bool(options.effort)),
        ("ends", options.ends is Ends.SNAPPED),
        ("lower_bound", options.lower_bound),
        ("suppress", options.suppress > 0),
        ("cap_records", options.cap_records is not None),
        ("coarsen_counts", options.coarsen_counts is not None),
        ("known_counts", options.known_counts is not None),
        ("withhold", bool(options.withhold)),
        ("known_columns", bool(options.known_columns)),
        ("population", manifest.population is not None),
        ("register", bool(manifest.register_sha256)),
    ):
        if is_set:
            raise InputError(f"parameter {name}", "must be left out on Spark", advice=ADVICE)
    if asked_of_households(manifest.constraints):
        raise InputError("parameter household_k", "must be left out on Spark", advice=ADVICE)
    promises: tuple[Any, ...] = manifest.constraints
    for promise in promises:
        # Nobody knows how a custodian's own promise is to be counted by a query.
        if not isinstance(promise, Promise):
            raise InputError(
                f"promise {promise.name}",
                "must be one that Spark measures",
                found="one of the custodian's own",
                advice=ADVICE,
            )
        if isinstance(promise, Budget | DeltaPresence):
            raise InputError(
                f"parameter {promise.name}",
                "must be a promise about every class on Spark, from the file alone",
                found="a budget" if isinstance(promise, Budget) else "one about a population",
                advice=ADVICE,
            )
