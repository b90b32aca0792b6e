"""sfumato: link data about people, measure what it gives away, release what may be released.

What a notebook needs is here; every name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato.core.errors import ConstraintsNotMetError, InputError, SfumatoError
    from sfumato.core.measure import Measure
    from sfumato.intruder.attack import attack
    from sfumato.intruder.attack_result import Attack
    from sfumato.linkage.encoded_table import encode_table
    from sfumato.linkage.encoding_linkage import EncodedLinks, Matching
    from sfumato.linkage.link import link
    from sfumato.linkage.link_spec import LinkSpec
    from sfumato.linkage.linkage_result import Links
    from sfumato.linkage.spec_suggestion import suggest_links
    from sfumato.pipeline.tune import Tuned, tune
    from sfumato.release.anonymize import anonymize
    from sfumato.release.preset_promises import promises
    from sfumato.release.promises.delta_presence import DeltaPresence
    from sfumato.release.promises.g_balance import GBalance
    from sfumato.release.promises.h_affiliation import HAffiliation
    from sfumato.release.promises.household_k import HouseholdK
    from sfumato.release.promises.k_anonymity import KAnonymity, PidKAnonymity
    from sfumato.release.promises.k_map import KMap
    from sfumato.release.promises.l_diversity import LDiversity
    from sfumato.release.promises.marketer_risk import MarketerRisk
    from sfumato.release.promises.population_uniques import PopulationUniques
    from sfumato.release.promises.shared_counts import SharedCounts
    from sfumato.release.promises.shared_events import KnownEvents
    from sfumato.release.promises.t_closeness import TCloseness
    from sfumato.release.release_result import Release
    from sfumato.reports import report
    from sfumato.reports.project_results import ProjectResults
    from sfumato.risk.assessment import assess
    from sfumato.risk.disclosure_risk import Risk
    from sfumato.risk.risk_thresholds import Preset, Threshold, thresholds
    from sfumato.risk.threshold_checks import hold
    from sfumato.risk.verdict import Acceptance, Limits, Verdict
    from sfumato.schema import (
        Cleaning,
        Event,
        EventKind,
        IntervalHierarchy,
        Kind,
        PrefixHierarchy,
        QuasiIdentifier,
        Schema,
        TableSchema,
        dump_schema,
        load_schema,
    )
    from sfumato.semantics.linkage_anonymity import LinkageAnonymity, release_linked
    from sfumato.semantics.requested_release import RequestedRelease, anonymize_requested
    from sfumato.server.workbench.explore import explore
    from sfumato.table.file_profile import FileProfile, profile
    from sfumato.table.schema_guess import Guess, guess_schema
    from sfumato.table.stacked_tables import Tables

_HOMES = {
    "Acceptance": "risk.verdict",
    "Attack": "intruder.attack_result",
    "Cleaning": "schema",
    "ConstraintsNotMetError": "core.errors",
    "EncodedLinks": "linkage.encoding_linkage",
    "Event": "schema",
    "EventKind": "schema",
    "FileProfile": "table.file_profile",
    "Guess": "table.schema_guess",
    "InputError": "core.errors",
    "IntervalHierarchy": "schema",
    "Kind": "schema",
    "Limits": "risk.verdict",
    "LinkSpec": "linkage.link_spec",
    "LinkageAnonymity": "semantics.linkage_anonymity",
    "Links": "linkage.linkage_result",
    "Matching": "linkage.encoding_linkage",
    "Measure": "core.measure",
    "PrefixHierarchy": "schema",
    "Preset": "risk.risk_thresholds",
    "ProjectResults": "reports.project_results",
    "QuasiIdentifier": "schema",
    "Release": "release.release_result",
    "RequestedRelease": "semantics.requested_release",
    "Risk": "risk.disclosure_risk",
    "Schema": "schema",
    "SfumatoError": "core.errors",
    "Threshold": "risk.risk_thresholds",
    "Tuned": "pipeline.tune",
    "Verdict": "risk.verdict",
    "anonymize": "release.anonymize",
    "anonymize_requested": "semantics.requested_release",
    "assess": "risk.assessment",
    "attack": "intruder.attack",
    "TableSchema": "schema",
    "Tables": "table.stacked_tables",
    "dump_schema": "schema",
    "encode_table": "linkage.encoded_table",
    "explore": "server.workbench.explore",
    "guess_schema": "table.schema_guess",
    "hold": "risk.threshold_checks",
    "link": "linkage.link",
    "load_schema": "schema",
    "profile": "table.file_profile",
    "promises": "release.preset_promises",
    "release_linked": "semantics.linkage_anonymity",
    "report": "reports",
    "suggest_links": "linkage.spec_suggestion",
    "thresholds": "risk.risk_thresholds",
    "tune": "pipeline.tune",
}

__all__ = [
    "Acceptance",
    "Attack",
    "Cleaning",
    "ConstraintsNotMetError",
    "DeltaPresence",
    "EncodedLinks",
    "Event",
    "EventKind",
    "FileProfile",
    "GBalance",
    "Guess",
    "HAffiliation",
    "HouseholdK",
    "InputError",
    "IntervalHierarchy",
    "KAnonymity",
    "KMap",
    "Kind",
    "KnownEvents",
    "LDiversity",
    "Limits",
    "LinkSpec",
    "LinkageAnonymity",
    "Links",
    "MarketerRisk",
    "Matching",
    "Measure",
    "PidKAnonymity",
    "PopulationUniques",
    "PrefixHierarchy",
    "Preset",
    "ProjectResults",
    "QuasiIdentifier",
    "Release",
    "RequestedRelease",
    "Risk",
    "Schema",
    "SfumatoError",
    "SharedCounts",
    "TCloseness",
    "TableSchema",
    "Tables",
    "Threshold",
    "Tuned",
    "Verdict",
    "anonymize",
    "anonymize_requested",
    "assess",
    "attack",
    "dump_schema",
    "encode_table",
    "explore",
    "guess_schema",
    "hold",
    "link",
    "load_schema",
    "profile",
    "promises",
    "release_linked",
    "report",
    "suggest_links",
    "thresholds",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"module 'sfumato' has no attribute '{name}'")
    value = (
        getattr(import_module(f"sfumato.{_HOMES[name]}"), name)
        if name in _HOMES
        else _promise(name)
    )
    globals()[name] = value
    return value


def _promise(name: str) -> type:
    """The promise of that class name: modules of `sfumato.release.promises` declare them."""
    from sfumato.release.promises import PROMISES

    for promise in PROMISES.values():
        if promise.__name__ == name:
            return promise
    raise AttributeError(f"module 'sfumato' has no attribute '{name}'")


def __dir__() -> list[str]:
    return __all__
