"""The pages of accounts: one's own, others', signing in and out."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from cryptography.exceptions import InvalidTag
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, logout, update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sfumato.core.errors import InputError
from sfumato.server.accounts import backend, forms, sessions
from sfumato.server.audit_log import append
from sfumato.server.config import Role
from sfumato.server.error_pages import Stop, problem
from sfumato.server.permissions import EXPORTS, Action, decide
from sfumato.server.proofs import check_project, check_proved, check_stated, proofs
from sfumato.server.stated_rows import gone, stated
from sfumato.server.store.models import Account, Link, Project, ProjectState


@require_GET
@login_required
def start(request: HttpRequest) -> HttpResponse:
    """Go to the page that somebody begins on."""
    return redirect(_page_of(request.user))


def _page_of(account: Account) -> str:
    roles = set(account.roles)
    if roles & {Role.CUSTODIAN, Role.MANAGER}:
        return "/projects"
    if Role.WORKER in roles:
        open_ones = Project.objects.filter(members__account=account, state=ProjectState.OPEN)
        ids = list(open_ones.values_list("pk", flat=True)[:2])
        return f"/projects/{ids[0]}/pairs" if len(ids) == 1 else "/projects"
    return "/audit" if Role.AUDITOR in roles else "/account"


PENDING = "pending"
"""In a session: who came as far as the code, when, and by what, while it is still asked for."""
PENDING_SECONDS = 300
WRONG = gettext_lazy("The name or the password is wrong.")
WRONG_CODE = gettext_lazy("The code is wrong, was used, or is too old. Wait for the next one.")
CLEAR = '"cache", "storage"'
"""What a browser forgets when somebody logs out. Of the cookies it keeps the one by which it is
known (`know_browser`): without it a stranger's failures would keep its owner out."""


@require_http_methods(["GET", "POST"])
def log_in(request: HttpRequest) -> HttpResponse:
    """The page on which people log in."""
    goal = next_page(request)
    if request.user.is_authenticated:
        return redirect(goal)
    form = forms.LoginForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name = form.cleaned_data["name"]
        attempt, wait = backend.begin_attempt(request, name)
        if wait:
            return backend.too_many(request, wait)
        account = authenticate(request, name=name, password=form.cleaned_data["password"])
        if account is None:
            # The same words for unknown names: they must not tell which exist.
            note_failure(request, Account.objects.filter(name=name).first(), "password")
            form.add_error(None, WRONG)
        elif account.totp:
            # The attempt was right so far: only the code is counted from here on.
            attempt.delete()
            # Another id before the second step: one that was planted must not become logged in.
            request.session.cycle_key()
            request.session[PENDING] = [account.pk, time.time(), "password"]
            return redirect("/login/code?" + urlencode({"next": goal}))
        else:
            backend.forget_attempts(attempt)
            sessions.begin_session(request, account, "password")
            return backend.know_browser(redirect(goal), name)
    return render(request, "accounts/login.html", {"form": form, "next": goal})


@require_http_methods(["GET", "POST"])
def log_in_code(request: HttpRequest) -> HttpResponse:
    """The page that asks for the second factor, once the password was right."""
    account, goal = _pending(request), next_page(request)
    if account is None:
        return redirect("/login?" + urlencode({"next": goal}))
    form = forms.CodeForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        attempt, wait = backend.begin_attempt(request, account.name)
        if wait:
            return backend.too_many(request, wait)
        if backend.use_code(account, form.cleaned_data["code"]):
            backend.forget_attempts(attempt)
            *_, by = request.session.pop(PENDING)
            sessions.begin_session(request, account, f"{by} and code")
            return backend.know_browser(redirect(goal), account.name)
        note_failure(request, account, "code")
        form.add_error("code", WRONG_CODE)
    return render(request, "accounts/login_code.html", {"form": form, "next": goal})


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """End the session, and have the browser forget everything of it but that it is known.

    The answer is a page, not a way to another one: behind a single sign-on the next page would
    log in again.
    """
    if request.user.is_authenticated:
        with transaction.atomic():
            append(request.user, "log out", sessions.resource_of(request.user))
            logout(request)
    else:
        request.session.flush()
    answer = render(request, "accounts/logged_out.html")
    answer["Clear-Site-Data"] = CLEAR
    answer.delete_cookie(settings.CSRF_COOKIE_NAME, samesite="Strict")
    return answer


def next_page(request: HttpRequest) -> str:
    """Where somebody goes after logging in: a page of this server."""
    # Only paths of this server: a login must not be a way to another site.
    asked = request.POST.get("next") or request.GET.get("next") or "/"
    own = url_has_allowed_host_and_scheme(asked, allowed_hosts=None) and asked.startswith("/")
    return str(asked) if own else "/"


FAILED = "failed login"
"""What the log calls it where somebody could not prove who they are."""


def note_failure(request: HttpRequest, account: Account | None, what: str) -> None:
    """Say in the audit log that somebody could not prove who they are.

    Parameters
    ----------
    account
        Whom they named; a name that nobody has is not noted, as it may be a password.
    """
    where = sessions.resource_of(account) if account else "no account"
    append(None, FAILED, where, {"wrong": what, "from": backend.address_digest(request)})


def _pending(request: HttpRequest) -> Account | None:
    key, since, _ = request.session.get(PENDING, (None, 0.0, ""))
    if key is None or time.time() - since > PENDING_SECONDS:
        return None
    # Without a second factor there is no second step to go on with.
    account = Account.objects.filter(pk=key, is_active=True).exclude(totp=b"").first()
    if account is not None:
        # It may have been edited between the two steps.
        proofs().follow()
        check_proved(account)
    return account


View = Callable[..., HttpResponse]
MINUTES = 5
"""Minutes for which a proof is fresh."""


def is_fresh(request: HttpRequest) -> bool:
    """Whether somebody proved a moment ago who they are."""
    # A clock that was set back makes proofs of the future: they are none.
    return 0 <= time.time() - request.session.get(sessions.FRESH, 0.0) <= MINUTES * 60


def require_fresh(back: str = "") -> Callable[[View], View]:
    """A view for somebody who proved a moment ago who they are; others are asked first.

    What was sent is not kept: after the proof, the page with the form is asked for again.

    Parameters
    ----------
    back
        Name of the page with the form, whose address has the ``project_id`` of this one, if there
        is one; the view's own address where not given.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.is_authenticated:
                return redirect("/login?" + urlencode({"next": request.path}))
            if not is_fresh(request):
                of = {name: each for name, each in kwargs.items() if name == "project_id"}
                page = reverse(back, kwargs=of) if back else request.path
                return redirect("/fresh?" + urlencode({"next": page}))
            return view(request, *args, **kwargs)

        return guarded

    return decorator


def allowed(action: Action) -> Callable[[View], View]:
    """A view for somebody who may do something that is of no project."""

    def decorator(view: View) -> View:
        @wraps(view)
        @login_required
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            permission = decide(request.user, action)
            if not permission.allowed:
                return problem(request, 403, permission.reason)
            try:
                return view(request, *args, **kwargs)
            except InputError as error:
                return problem(request, 400, str(error))

        return guarded

    return decorator


def of_project(action: Action, *, fresh_from: str | None = None) -> Callable[[View], View]:
    """A view that gets the project, for somebody who may do something with it.

    Who does not take part in the project does not get to know that there is one.

    Parameters
    ----------
    fresh_from
        Where it is given, whoever asks must have proved a moment ago who they are: the ``back``
        of `require_fresh`.
    """

    def decorator(view: View) -> View:
        @wraps(view)
        def guarded(
            request: HttpRequest, project_id: UUID, *args: Any, **kwargs: Any
        ) -> HttpResponse:
            project = Project.objects.filter(pk=project_id).first()
            # The same answer for both: who does not take part learns nothing of what there is.
            if project is None or not decide(request.user, Action.SEE_PROJECT, project).allowed:
                return problem(request, 404)
            permission = decide(request.user, action, project)
            if not permission.allowed:
                return problem(request, 403, permission.reason)
            try:
                if action in EXPORTS:
                    sessions.check_not_reset(request.user, project)
                    check_project(project)
                return view(request, project, *args, **kwargs)
            except Stop as stop:
                return problem(request, stop.status, stop.reason)
            except InputError as error:
                return problem(request, 400, str(error))

        return login_required(guarded) if fresh_from is None else require_fresh(fresh_from)(guarded)

    return decorator


@login_required
@require_http_methods(["GET", "POST"])
def fresh(request: HttpRequest) -> HttpResponse:
    """The page that asks for the password, and for a code where there is a second factor."""
    account, goal = request.user, next_page(request)
    form = forms.FreshForm(account, request.POST or None)
    possible = account.has_usable_password() or bool(account.totp)
    if request.method == "POST" and possible and form.is_valid():
        attempt, wait = backend.begin_attempt(request, account.name)
        if wait:
            return backend.too_many(request, wait)
        if _proved(account, form.cleaned_data):
            backend.forget_attempts(attempt)
            request.session.cycle_key()
            request.session[sessions.FRESH] = time.time()
            append(account, "prove identity", sessions.resource_of(account))
            return redirect(goal)
        note_failure(request, account, "proof")
        form.add_error(
            None, gettext("That is not right. A code works once: wait for the next one.")
        )
    context = {"form": form, "next": goal, "possible": possible}
    return render(request, "accounts/fresh.html", context)


def _proved(account: Account, given: dict[str, str]) -> bool:
    password, code = given.get("password"), given.get("code")
    if password is not None and not account.check_password(password):
        return False
    # The code is tried last: it works once, and a wrong password must not use it up.
    return code is None or backend.use_code(account, code)


_GONE = gettext_lazy("This link was used already, has expired, or never was. Ask for a new one.")
_RESET = "reset"


@require_http_methods(["GET", "POST"])
def link(request: HttpRequest, token: str) -> HttpResponse:
    """Use a one-time link."""
    found = sessions.find_link(token)
    if found is None:
        return problem(request, 404, _GONE)
    if request.method == "POST" and "join" in request.POST:
        return _join(request, token)
    reset = found.purpose == _RESET
    form = (forms.NewPasswordForm if reset else forms.NewAccountForm)(request.POST or None)
    if request.method == "POST" and form.is_valid():
        done = _reset(request, token, form) if reset else _make(request, token, form)
        if done is not None:
            return done
    context = {"form": form, "link": found, "token": token}
    return render(request, f"accounts/link_{found.purpose}.html", context)


def _make(request: HttpRequest, token: str, form: forms.NewAccountForm) -> HttpResponse | None:
    try:
        with transaction.atomic():
            # Looked for again and locked: of two who open the link at once only one may use it.
            found = sessions.find_link(token, lock=True)
            if found is None or found.purpose == _RESET:
                return problem(request, 404, _GONE)
            given = form.cleaned_data
            # The roles come with the link, as it is used up.
            account = sessions.make_account(given["name"], given["new"], [])
            sessions.spend_link(found, account)
    # Somebody took the name between the check and the writing.
    except IntegrityError:
        form.add_error("name", gettext("Another account has this name; choose another."))
        return None
    return _begin(request, account, found)


def _reset(request: HttpRequest, token: str, form: forms.NewPasswordForm) -> HttpResponse | None:
    with transaction.atomic():
        found = sessions.find_link(token, lock=True)
        if found is None or found.account is None:
            return problem(request, 404, _GONE)
        account = found.account
        if account.check_password(form.cleaned_data["new"]):
            # Somebody else may have it: that is what the link was made for.
            form.add_error(
                "new", gettext("This is the password that is to be replaced; choose another.")
            )
            return None
        account.set_password(form.cleaned_data["new"])
        account.save(update_fields=["password"])
        sessions.spend_link(found, account)
        # Whoever has the old password may have a session, too.
        sessions.end_sessions(account)
        backend.forget_name(account.name)
    if request.user.is_authenticated:
        logout(request)
    messages.success(request, gettext("Your password is set. Log in with it."))
    return redirect("/login")


def _join(request: HttpRequest, token: str) -> HttpResponse:
    if not request.user.is_authenticated:
        return problem(request, 403, gettext("Log in first."))
    with transaction.atomic():
        found = sessions.find_link(token, lock=True)
        if found is None or found.purpose != "invitation":
            return problem(request, 404, _GONE)
        account = Account.objects.select_for_update().get(pk=request.user.pk)
        sessions.spend_link(found, account)
    messages.success(request, gettext("You take part."))
    return redirect("/")


def _begin(request: HttpRequest, account: Account, found: Link) -> HttpResponse:
    if request.user.is_authenticated:
        logout(request)
    sessions.begin_session(request, account, found.purpose)
    messages.success(request, gettext("Welcome, %(name)s.") % {"name": account.name})
    return backend.know_browser(redirect("/"), account.name)


_NEW = "new second factor"
"""In a session: the secret that its owner has not confirmed yet, encrypted."""


@require_GET
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Who one is here, and what one may change of it."""
    return render(request, "accounts/account.html")


@require_http_methods(["GET", "POST"])
@login_required
def password(request: HttpRequest) -> HttpResponse:
    """Change one's own password; all other sessions end."""
    owner = request.user
    if not owner.has_usable_password():
        return problem(
            request, 403, gettext("Your organisation logs you in; there is no password here.")
        )
    form = forms.ChangePasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        attempt, wait = backend.begin_attempt(request, owner.name)
        if wait:
            return backend.too_many(request, wait)
        if owner.check_password(form.cleaned_data["present"]):
            backend.forget_attempts(attempt)
            with transaction.atomic():
                owner.set_password(form.cleaned_data["new"])
                owner.save(update_fields=["password"])
                # The session's own hash is of the password: without this it would end with the
                # others.
                update_session_auth_hash(request, owner)
                sessions.end_sessions(owner, keep=request.session.session_key)
                rows = [stated(owner, "password")]
                append(owner, "change password", sessions.resource_of(owner), rows=rows)
            messages.success(
                request, gettext("Your password is changed; your other sessions have ended.")
            )
            return redirect("/account")
        note_failure(request, owner, "password")
        form.add_error("present", gettext("This is not your present password."))
    return render(request, "accounts/password.html", {"form": form})


@require_http_methods(["GET", "POST"])
@require_fresh()
def second_factor(request: HttpRequest) -> HttpResponse:
    """Turn the second factor on: a secret for an app, confirmed by a code of it."""
    owner = request.user
    if owner.totp:
        return redirect("/account")
    form = forms.CodeForm(request.POST or None)
    form.fields["code"].help_text = gettext("Six digits.")  # there are no recovery codes yet
    secret = _unconfirmed(request)
    if secret is None:
        secret = backend.new_secret()
        # Sealed: the session stands in the database, which is to tell no secret of a second
        # factor.
        request.session[_NEW] = base64.b64encode(backend.seal_secret(secret, owner)).decode()
    elif request.method == "POST" and form.is_valid():
        step = backend.step_of(secret, form.cleaned_data["code"])
        if step:
            del request.session[_NEW]
            with transaction.atomic():
                owner.totp, owner.totp_used = backend.seal_secret(secret, owner), step
                codes = backend.new_recovery(owner)
                owner.save(update_fields=["totp", "totp_used", "recovery"])
                # Sessions that began without a second factor end.
                sessions.end_sessions(owner, keep=request.session.session_key)
                rows = [stated(owner, "totp", "recovery")]
                append(owner, "turn second factor on", sessions.resource_of(owner), rows=rows)
            return render(request, "accounts/recovery.html", {"codes": codes})
        form.add_error("code", WRONG_CODE)
    needed = settings.SFUMATO.roles_with_second_factor & set(owner.roles)
    context = {"form": form, "secret": backend.secret_text(secret), "needed": needed}
    return render(request, "accounts/second_factor.html", context)


@require_GET
@require_fresh()
def second_factor_image(request: HttpRequest) -> HttpResponse:
    """The secret that is not confirmed yet, as an image to be scanned."""
    secret = _unconfirmed(request)
    if secret is None:
        return problem(request, 404)
    return HttpResponse(backend.qr_code(secret, request.user), content_type="image/svg+xml")


@require_http_methods(["GET", "POST"])
@require_fresh()
def second_factor_off(request: HttpRequest) -> HttpResponse:
    """Turn the second factor off."""
    owner = request.user
    if not owner.totp:
        return redirect("/account")
    if request.method == "POST":
        sessions.remove_second_factor(owner, owner, keep=request.session.session_key)
        messages.success(request, gettext("No code is asked for any more."))
        return redirect("/account")
    return render(request, "accounts/second_factor_off.html")


@require_GET
@require_fresh()
def connect(_request: HttpRequest) -> HttpResponse:
    """Go to the organisation's login, to have it open one's account."""
    return redirect("/oidc/login?for=connect")


@require_POST
@require_fresh("account")
def recovery(request: HttpRequest) -> HttpResponse:
    """New recovery codes in place of the earlier ones; they are shown once, in the answer."""
    owner = request.user
    if not owner.totp:
        return redirect("/account")
    with transaction.atomic():
        codes = backend.new_recovery(owner)
        owner.save(update_fields=["recovery"])
        rows = [stated(owner, "recovery")]
        append(owner, "make recovery codes", sessions.resource_of(owner), rows=rows)
    return render(request, "accounts/recovery.html", {"codes": codes})


@require_POST
@login_required
def other_sessions(request: HttpRequest) -> HttpResponse:
    """End one's other sessions."""
    with transaction.atomic():
        count = sessions.end_sessions(request.user, keep=request.session.session_key)
        append(request.user, "end sessions", sessions.resource_of(request.user), {"count": count})
    messages.success(request, gettext("Ended: %(count)s.") % {"count": count})
    return redirect("/account")


def _unconfirmed(request: HttpRequest) -> bytes | None:
    try:
        sealed = base64.b64decode(request.session.get(_NEW, ""))
        return backend.unseal_secret(sealed, request.user) if sealed else None
    except (binascii.Error, InvalidTag):
        return None


@require_GET
@allowed(Action.MANAGE_ACCOUNTS)
def accounts(request: HttpRequest) -> HttpResponse:
    """Everybody who may log in, and the invitations that are still open."""
    everybody = Account.objects.order_by("-is_active", "name")
    waiting = Link.objects.filter(used=None, expires__gt=timezone.now(), purpose="invitation")
    context = {
        "everybody": everybody,
        "waiting": waiting.select_related("project", "made_by").order_by("expires"),
        "by_header": bool(settings.SFUMATO.trusted_header),
    }
    return render(request, "accounts/accounts.html", context)


@require_http_methods(["GET", "POST"])
@allowed(Action.MANAGE_ACCOUNTS)
def invite_page(request: HttpRequest) -> HttpResponse:
    """Invite somebody; the link is shown once, in the answer itself."""
    form = forms.InviteForm(request.user, request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        address = sessions.invite(request.user, given["roles"], given["project"], given["days"])
        context = {"address": address, "days": given["days"], "what": gettext("An invitation")}
        return render(request, "accounts/link_made.html", context)
    return render(request, "accounts/invite.html", {"form": form})


@require_POST
@allowed(Action.MANAGE_ACCOUNTS)
def take_back_invitation(request: HttpRequest, number: int) -> HttpResponse:
    """Make an invitation useless."""
    with transaction.atomic():
        open_ones = Link.objects.select_for_update().filter(purpose="invitation", used=None)
        found = list(open_ones.filter(pk=number))
        for each in found:
            check_stated(each)
            append(request.user, "take back invitation", f"invitation {number}", rows=gone(found))
            each.delete()
            messages.success(request, gettext("The invitation can no longer be used."))
    return redirect("/accounts")


@require_http_methods(["GET", "POST"])
@allowed(Action.MANAGE_ACCOUNTS)
def named_account(request: HttpRequest) -> HttpResponse:
    """Make an account for somebody whom the organisation's login names."""
    if not settings.SFUMATO.trusted_header:
        return problem(request, 404)
    form = forms.NamedAccountForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        roles, name = form.cleaned_data["roles"], form.cleaned_data["name"]
        account = sessions.make_account(name, None, roles, request.user)
        messages.success(request, gettext("%(name)s may log in.") % {"name": account.name})
        return redirect("/accounts")
    return render(request, "accounts/named_account.html", {"form": form})


Change = Callable[[HttpRequest, Account], HttpResponse]


@require_GET
@allowed(Action.MANAGE_ACCOUNTS)
def one_account(request: HttpRequest, pseudonym: str) -> HttpResponse:
    """One account, and what may be changed of it."""
    account = Account.objects.filter(pseudonym=pseudonym).first()
    if account is None:
        return problem(request, 404)
    context = {
        "other": account,
        "form": forms.RolesForm(initial={"roles": account.roles}),
        "permission": decide(request.user, Action.MANAGE_ACCOUNTS, account),
        "reset": decide(request.user, Action.RESET_ACCOUNT, account),
        "projects": account.memberships.select_related("project").order_by("project__title"),
    }
    return render(request, "accounts/one_account.html", context)


def _changes(view: Change, action: Action = Action.MANAGE_ACCOUNTS) -> View:
    """A change of an account, in a transaction that holds it."""

    @wraps(view)
    @require_POST
    @allowed(Action.MANAGE_ACCOUNTS)
    def guarded(request: HttpRequest, pseudonym: str) -> HttpResponse:
        with transaction.atomic():
            # Locked: what it may be changed to is decided by what it is now.
            found = Account.objects.select_for_update().filter(pseudonym=pseudonym)
            account = found.first()
            if account is None:
                return problem(request, 404)
            permission = decide(request.user, action, account)
            if not permission.allowed:
                return problem(request, 403, permission.reason)
            return view(request, account)

    return guarded


def _back(account: Account) -> HttpResponse:
    return redirect(f"/accounts/{account.pseudonym}")


def _set_roles(request: HttpRequest, account: Account) -> HttpResponse:
    """Set what somebody may be."""
    form = forms.RolesForm(request.POST)
    if not form.is_valid():
        messages.error(request, gettext("Tick one role at least."))
        return _back(account)
    check_stated(account, "roles")
    before, account.roles = account.roles, sorted(form.cleaned_data["roles"])
    if before != account.roles:
        account.save(update_fields=["roles"])
        detail = {"before": before, "roles": account.roles}
        rows = [stated(account, "roles")]
        append(request.user, "set roles", sessions.resource_of(account), detail, rows=rows)
    told = {"name": account.name, "roles": ", ".join(gettext(role) for role in account.roles)}
    messages.success(request, gettext("Roles of %(name)s: %(roles)s.") % told)
    return _back(account)


def _deactivate(request: HttpRequest, account: Account) -> HttpResponse:
    """Let somebody log in no more; their sessions end at once."""
    account.is_active = False
    account.save(update_fields=["is_active"])
    count = sessions.end_sessions(account)
    rows = [stated(account, "is_active")]
    told = {"sessions": count}
    append(request.user, "deactivate", sessions.resource_of(account), told, rows=rows)
    messages.success(request, gettext("%(name)s can no longer log in.") % {"name": account.name})
    return _back(account)


def _reactivate(request: HttpRequest, account: Account) -> HttpResponse:
    """Let somebody log in again."""
    account.is_active = True
    account.save(update_fields=["is_active"])
    rows = [stated(account, "is_active")]
    append(request.user, "reactivate", sessions.resource_of(account), rows=rows)
    messages.success(request, gettext("%(name)s can log in again.") % {"name": account.name})
    return _back(account)


def _reset_account(request: HttpRequest, account: Account) -> HttpResponse:
    """Make a link for a new password; it is shown once, in the answer itself."""
    if not account.is_active:
        return problem(request, 409, gettext("The account is deactivated. Reactivate it first."))
    address = sessions.reset_link(request.user, account)
    context = {
        "address": address,
        "days": sessions.RESET_DAYS,
        "what": gettext("A new password"),
        "other": account,
    }
    return render(request, "accounts/link_made.html", context)


def _lost_second_factor(request: HttpRequest, account: Account) -> HttpResponse:
    """Turn somebody's second factor off who has lost it; their sessions end."""
    sessions.remove_second_factor(request.user, account)
    messages.success(request, gettext("%(name)s logs in without a code.") % {"name": account.name})
    return _back(account)


CHANGES: dict[str, Callable[..., HttpResponse]] = {
    "roles": _changes(_set_roles),
    "deactivate": _changes(_deactivate),
    "reactivate": _changes(_reactivate),
    "reset": _changes(_reset_account, Action.RESET_ACCOUNT),
    "lost-second-factor": _changes(_lost_second_factor, Action.RESET_ACCOUNT),
}
"""What may be changed of an account, by the end of its address."""
