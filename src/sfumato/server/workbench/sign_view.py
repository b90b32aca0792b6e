"""Sign: what leaves and to whom, what is met, and the signature of who answers for it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from sfumato.core import signatures
from sfumato.core.errors import HandOverRefusedError, InputError
from sfumato.ledger.ledger_options import default_ledger_keys
from sfumato.pipeline.project_folder import REPORT
from sfumato.pipeline.release_stages import ledger_of
from sfumato.pipeline.report_stage import RELEASED
from sfumato.pipeline.signing import sign as signed
from sfumato.pipeline.signing import signature_file
from sfumato.risk.verdict import State, Verdict, share_text
from sfumato.server.workbench.attack_view import intruders
from sfumato.server.workbench.bench import DESK, Bench
from sfumato.server.workbench.frame import may_edit, page, project_view

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


@dataclass(frozen=True)
class Requirement:
    """What must be so before a release leaves."""

    words: str
    met: bool
    more: str = ""


def key_folder() -> Path:
    """Where the keys are that the workbench makes: of the user, beside the ledger's."""
    return default_ledger_keys().with_name("signing-keys")


def keys() -> list[Path]:
    """The keys that can be chosen: each with its public half beside it, no links."""
    found = []
    for folder in (key_folder(), *DESK.folders):
        publics = sorted(folder.glob(f"*{signatures.PUBLIC_SUFFIX}")) if folder.is_dir() else []
        found += [
            public.with_name(public.name.removesuffix(signatures.PUBLIC_SUFFIX))
            for public in publics
        ]
    return [each for each in dict.fromkeys(found) if each.is_file() and not each.is_symlink()]


def requirements(bench: Bench, verdict: Verdict | None) -> list[Requirement]:
    """What must be so, and whether it is."""
    done = bench.status().is_done
    found = [
        Requirement(
            _("Release and reports are made of what is there now."), done, _("Run makes them.")
        )
    ]
    if verdict is None:
        return [*found, Requirement(_("What intruders find is measured."), met=False)]
    for row in verdict.rows:
        words = _("The %s is below the limits, or accepted.") % row.intruder
        found.append(Requirement(words, not row.stops, f"{row.state.value}: {row.why}"))
    if verdict.linkage is not None:
        state = verdict.linkage.state
        found.append(
            Requirement(
                _("The quality of the linkage is measured, or accepted."),
                state is not State.NOT_MEASURED,
                str(verdict.linkage),
            )
        )
    beaten = [each for each in verdict.evidence if each.beaten and each.own]
    found.append(Requirement(_("No attack found more than was predicted."), not beaten))
    return found


def leaving(bench: Bench) -> list[tuple[str, str]]:
    """The files that leave, and their sizes."""
    folder = bench.place.of_stage(REPORT) / RELEASED
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(path.relative_to(folder).as_posix(), f"{path.stat().st_size:,} B") for path in files]


def earlier(bench: Bench) -> list[tuple[str, str, str]]:
    """What left before: the release, to whom, and the people of it who are found by all."""
    with ledger_of(bench.place) as memory:
        if memory is None:
            return []
        return [
            (each.name, ", ".join(each.to), "–" if each.found is None else share_text(each.found))
            for each in memory.remembered()
            if each.to
        ]


def signature(bench: Bench) -> signatures.Checked | None:
    """The signature of the release as it is; ``None`` where it is not signed."""
    file = signature_file(bench.place)
    if not file.is_file():
        return None
    checked = signatures.check_signature(file)
    return None if checked.fault else checked


@require_GET
@project_view("sign")
def sign(request: HttpRequest, bench: Bench) -> HttpResponse:
    """What leaves, what is met, and the form; after the signature what was signed."""
    status = bench.status()
    verdict = status.verdict if status.is_done else None
    asked = requirements(bench, verdict)
    section = bench.place.project.ledger
    return page(
        request,
        bench,
        "sign",
        "workbench/sign.html",
        status_now=status,
        signature=signature(bench),
        requirements=asked,
        ready=all(each.met for each in asked),
        done=status.is_done,
        rows=[] if verdict is None else intruders(verdict),
        headline="" if verdict is None else verdict.headline,
        leaving=leaving(bench) if status.is_done else [],
        earlier=earlier(bench),
        to=section.to if section is not None and section.to else "",
        keys=[(at, each.name, _fingerprint(each)) for at, each in enumerate(keys())],
        user=os.environ.get("SFUMATO_CUSTODIAN", ""),
    )


def _fingerprint(key: Path) -> str:
    try:
        return signatures.fingerprint(
            signatures.load_public_key(key.with_name(key.name + signatures.PUBLIC_SUFFIX))
        )
    except InputError:
        return "–"


@require_POST
@project_view("sign")
def make_key(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Make a key for the person who signs."""
    if may_edit(request, bench):
        name = request.POST.get("name", "").strip()
        if _NAME.fullmatch(name) is None:
            raise InputError(
                "the name of a key", "must be letters, digits, - and _", accepted="anna-2026"
            )
        made = signatures.new_key(key_folder() / name)
        bench.tell(_("Made. Its fingerprint: %s") % made)
    return HttpResponseRedirect(reverse("sign"))


@require_POST
@project_view("sign")
def decide(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Sign that the release is handed over, or refused."""
    if not may_edit(request, bench):
        return HttpResponseRedirect(reverse("sign"))
    refused = request.POST.get("decision") == "refuse"
    decision = signatures.Decision.REFUSED if refused else signatures.Decision.RELEASED
    known, chosen = keys(), request.POST.get("key", "")
    if not (chosen.isascii() and chosen.isdigit() and int(chosen) < len(known)):
        raise InputError("the key", "must be chosen", found="none", advice="make one below")
    for name in ("by", "because"):
        if not request.POST.get(name, "").strip():
            raise InputError(f"the field '{name}'", "must say something", found="nothing")
    try:
        signed(
            bench.place,
            decision,
            signatures.load_key(known[int(chosen)]),
            by=request.POST["by"],
            because=request.POST["because"],
            to=request.POST.get("to", ""),
        )
    except HandOverRefusedError as error:
        bench.tell(" ".join([_("Not signed."), *error.failures, *error.options]), bad=True)
        return HttpResponseRedirect(reverse("sign"))
    words = _("Signed: refused") if refused else _("Signed: released")
    bench.edits.sign(words)
    bench.tell(words)
    return HttpResponseRedirect(reverse("sign"))
