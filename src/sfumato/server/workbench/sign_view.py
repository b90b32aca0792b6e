"""Sign: what leaves and to whom, what is met, and the signature of who answers for it."""

from __future__ import annotations

import contextlib
import os
import re
from datetime import date
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from sfumato.core import signatures
from sfumato.core.errors import HandOverRefusedError, InputError
from sfumato.core.number_text import share_text
from sfumato.ledger.ledger_options import default_ledger_keys
from sfumato.pipeline.acceptances import accepting
from sfumato.pipeline.project_folder import RELEASE, REPORT
from sfumato.pipeline.release_stages import ledger_of
from sfumato.pipeline.report_stage import RELEASED
from sfumato.pipeline.run import Status, status_of
from sfumato.pipeline.signing import check_shown, records_sha, requirements, signature_file
from sfumato.pipeline.signing import sign as signed
from sfumato.risk.verdict import GROWS
from sfumato.server.workbench.attack_view import intruders
from sfumato.server.workbench.bench import DESK, Bench
from sfumato.server.workbench.frame import a_year_on, edited, may_edit, page, place_in, project_view

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def key_folder() -> Path:
    """Where the keys are that the workbench makes: of the user, beside the ledger's."""
    return default_ledger_keys().with_name("signing-keys")


def keys() -> dict[str, Path]:
    """The keys that can be chosen, by fingerprint: their public halves beside them, no links."""
    found: dict[str, Path] = {}
    for folder in (key_folder(), *DESK.folders):
        publics = sorted(folder.glob(f"*{signatures.PUBLIC_SUFFIX}")) if folder.is_dir() else []
        for public in publics:
            key = public.with_name(public.name.removesuffix(signatures.PUBLIC_SUFFIX))
            if key.is_file() and not key.is_symlink():
                with contextlib.suppress(InputError):
                    print_ = signatures.fingerprint(signatures.load_public_key(public))
                    found.setdefault(print_, key)
    return found


def _chosen_key(print_: str) -> Ed25519PrivateKey:
    """The key of a fingerprint, whatever others were made or removed meanwhile."""
    file = keys().get(print_)
    if file is None:
        raise InputError("the key", "must be chosen", found="none", advice="make one below")
    key = signatures.load_key(file)
    if signatures.fingerprint(key.public_key()) != print_:
        raise InputError("the key", "must be that of its .pub file", found="another one")
    return key


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


def required(bench: Bench, status: Status, record: str) -> dict[str, Any]:
    """What must be so before a release leaves, and what a form needs by which a person answers."""
    asked, signed_ = requirements(status), signature(bench)
    key = None if signed_ is None else keys().get(signed_.signer)
    return {
        "record": record,
        "signature": signed_,
        "public_key": "" if key is None else f"{key}{signatures.PUBLIC_SUFFIX}",
        "requirements": asked,
        "ready": all(each.met for each in asked),
        "a_year_on": a_year_on(),
        "grows": GROWS,
    }


@require_GET
@project_view("sign")
def sign(request: HttpRequest, bench: Bench) -> HttpResponse:
    """What leaves, what is met, and the form; after the signature what was signed."""
    # An acceptance ends by the day alone: nothing that was kept before is shown.
    record = records_sha(bench.place)  # first: what changes while the page is made is refused then
    status = status_of(bench.place)
    verdict = status.verdict
    section = bench.place.project.ledger
    return page(
        request,
        bench,
        "sign",
        "workbench/sign.html",
        status_now=status,
        **required(bench, status, record),
        done=status.is_done,
        rows=[] if verdict is None else intruders(verdict),
        headline="" if verdict is None else verdict.headline,
        said="".join(
            each.record.said for each in status.stages if each.name == RELEASE and each.record
        ),
        folder=bench.place.of_stage(REPORT) / RELEASED,
        leaving=leaving(bench) if status.is_done else [],
        earlier=earlier(bench),
        to=section.to if section is not None and section.to else "",
        keys=[(print_, each.name) for print_, each in keys().items()],
        user=os.environ.get("SFUMATO_CUSTODIAN", ""),
    )


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
def accept(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Answer for a row of the verdict, by name, with a reason and until a day."""
    by, because = _said(request, "by", "because")
    try:
        until = date.fromisoformat(request.POST.get("until", ""))
    except ValueError:
        raise InputError("the field 'until'", "must be a day", accepted="YYYY-MM-DD") from None
    place, row = bench.place, request.POST.get("row", "")
    verdict = status_of(place).verdict
    # After the verdict: it is that of what was shown, whatever a run makes from now on.
    check_shown(place, request.POST.get("record", ""))
    change = accepting(place, verdict, row, by, because, until)
    words = _("%s is accepted. Run reports it.") % row
    return edited(request, bench, change, words, to=place_in(request.POST, "sign"))


def _said(request: HttpRequest, *names: str) -> list[str]:
    """What fields say, none of which may be empty."""
    for name in names:
        if not request.POST.get(name, "").strip():
            raise InputError(f"the field '{name}'", "must say something", found="nothing")
    return [request.POST[name].strip() for name in names]


@require_POST
@project_view("sign")
def decide(request: HttpRequest, bench: Bench) -> HttpResponse:
    """Sign that the release is handed over, or refused."""
    if not may_edit(request, bench):
        return HttpResponseRedirect(reverse("sign"))
    refused = request.POST.get("decision") == "refuse"
    decision = signatures.Decision.REFUSED if refused else signatures.Decision.RELEASED
    key = _chosen_key(request.POST.get("key", ""))
    by, because = _said(request, "by", "because")
    try:
        signed(
            bench.place,
            decision,
            key,
            by=by,
            because=because,
            to=request.POST.get("to", ""),
            expected=request.POST.get("record", ""),
        )
    except HandOverRefusedError as error:
        bench.tell(" ".join([_("Not signed."), *error.failures, *error.options]), bad=True)
        return HttpResponseRedirect(reverse("sign"))
    words = _("Signed: refused") if refused else _("Signed: released")
    bench.edits.sign(words)
    bench.tell(words)
    return HttpResponseRedirect(reverse("sign"))
