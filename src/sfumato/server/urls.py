"""The addresses of all pages."""

from django.urls import path

from sfumato.server import auditor_views as auditor
from sfumato.server.accounts import organisation
from sfumato.server.accounts import views as accounts
from sfumato.server.custodian import consent
from sfumato.server.custodian import views as custodian
from sfumato.server.error_pages import health
from sfumato.server.manager import views as manager
from sfumato.server.manager import views_new as new_projects
from sfumato.server.watch import watch
from sfumato.server.worker import views as worker

_ONE = "accounts/<str:pseudonym>"
_PROJECT = "projects/<uuid:project_id>"

urlpatterns = [
    path("health", health),
    path("", accounts.start, name="start"),
    path("login", accounts.log_in, name="login"),
    path("login/code", accounts.log_in_code, name="login_code"),
    path("logout", accounts.log_out, name="logout"),
    path("fresh", accounts.fresh, name="fresh"),
    path("oidc/login", organisation.leave, name="oidc_login"),
    path("oidc/callback", organisation.come_back, name="oidc_callback"),
    path("oidc/finish", organisation.finish, name="oidc_finish"),
    path("link/<str:token>", accounts.link, name="link"),
    path("account", accounts.account, name="account"),
    path("account/password", accounts.password, name="password"),
    path("account/sessions", accounts.other_sessions, name="other_sessions"),
    path("account/second-factor", accounts.second_factor, name="second_factor"),
    path("account/second-factor/image", accounts.second_factor_image, name="second_factor_image"),
    path("account/connect", accounts.connect, name="connect"),
    path("account/recovery", accounts.recovery, name="recovery"),
    path("account/second-factor/off", accounts.second_factor_off, name="second_factor_off"),
    path("accounts", accounts.accounts, name="accounts"),
    path("accounts/invite", accounts.invite_page, name="invite"),
    path("accounts/named", accounts.named_account, name="named_account"),
    path(
        "accounts/invitations/<int:number>/take-back",
        accounts.take_back_invitation,
        name="take_back_invitation",
    ),
    path(_ONE, accounts.one_account, name="one_account"),
    *(
        path(f"{_ONE}/{end}", view, name=f"account_{end.replace('-', '_')}")
        for end, view in accounts.CHANGES.items()
    ),
    path(f"{_PROJECT}/pairs", worker.work, name="work"),
    path(f"{_PROJECT}/pairs/next", worker.next_pair, name="work_next"),
    path(f"{_PROJECT}/pairs/<str:token>", worker.pair, name="work_pair"),
    path(f"{_PROJECT}/pairs/<str:token>/<str:verb>", worker.change, name="work_change"),
    path("projects", manager.projects, name="projects"),
    path("projects/new", new_projects.new, name="new"),
    path("projects/new/settings", new_projects.settings_page, name="new_settings"),
    path("projects/new/cancel", new_projects.cancel, name="new_cancel"),
    path(f"{_PROJECT}/", manager.manage, name="manage"),
    path(f"{_PROJECT}/progress", manager.progress_fragment, name="progress"),
    path(f"{_PROJECT}/queue", manager.queue_page, name="queue"),
    path(f"{_PROJECT}/invite", manager.invite_page, name="invite_worker"),
    path(f"{_PROJECT}/close", manager.close, name="close"),
    path(f"{_PROJECT}/conflicts", manager.conflicts, name="conflicts"),
    path(f"{_PROJECT}/conflicts/<int:number>", manager.conflict, name="conflict"),
    path(f"{_PROJECT}/conflicts/<int:number>/open", manager.conflict_open, name="conflict_open"),
    path(
        f"{_PROJECT}/conflicts/<int:number>/resolve",
        manager.conflict_resolve,
        name="conflict_resolve",
    ),
    path(f"{_PROJECT}/export/decisions", manager.export_decisions, name="export_decisions"),
    path(f"{_PROJECT}/export/report", manager.export_report, name="export_report"),
    path(f"{_PROJECT}/export/linked", manager.export_linked, name="export_linked"),
    path(f"{_PROJECT}/export/identities", manager.export_identities, name="export_identities"),
    path(f"{_PROJECT}/rules", consent.rules_page, name="rules"),
    path(f"{_PROJECT}/consent", consent.consent_page, name="consent"),
    path(f"{_PROJECT}/grants", custodian.grants_page, name="grants"),
    path(f"{_PROJECT}/grants/<int:number>/revoke", custodian.revoke_page, name="revoke"),
    path(f"{_PROJECT}/purge", custodian.purge_page, name="purge"),
    path("watch", watch, name="watch"),
    path("audit", auditor.audit, name="audit"),
    path("audit/check", auditor.check, name="audit_check"),
    path("audit/download", auditor.download, name="audit_download"),
]

handler400 = "sfumato.server.error_pages.bad_request"
handler403 = "sfumato.server.error_pages.forbidden"
handler404 = "sfumato.server.error_pages.not_found"
handler500 = "sfumato.server.error_pages.server_error"
