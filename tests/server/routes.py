"""Which answer every address gives to everybody: one line per address and method.

The columns are the people of `PEOPLE`. A person who has not logged in is led to the login (302)
or, by the worker's script, told so (401); an address of a project is 404 for whoever takes no part
in it, and 403 where they do but may not. Whoever adds an address adds its line.
"""

from __future__ import annotations

PEOPLE = (
    "nobody",
    "custodian",
    "other custodian",
    "manager",
    "other manager",
    "worker",
    "other worker",
    "auditor",
)

_ALL = "302 200 200 200 200 200 200 200"
_GO = "302 302 302 302 302 302 302 302"
_CUSTODIANS = "302 200 200 403 403 403 403 403"
_CHANGE = "302 302 302 403 403 403 403 403"
_OWN_CUSTODIAN = "302 200 404 403 404 403 404 404"
_WORKER = "302 403 404 403 404 200 404 404"
_MANAGERS = "302 403 403 200 200 403 403 403"
_MANAGERS_GO = "302 403 403 302 302 403 403 403"
_OWN_MANAGER = "302 403 404 200 404 403 404 404"
_OWN_MANAGER_NONE = "302 403 404 404 404 403 404 404"
_OWN_MANAGER_NOT_ASKED = "302 403 404 400 404 403 404 404"
_OWN_MANAGER_NOT_YET = "302 403 404 403 404 403 404 404"
_AUDITOR = "302 403 403 403 403 403 403 200"
_NONE = "404 404 404 404 404 404 404 404"
_NO_GET = "405 405 405 405 405 405 405 405"

TABLE: dict[tuple[str, str], str] = {
    ("GET", "health"): "200 200 200 200 200 200 200 200",
    ("GET", ""): _GO,
    ("GET", "login"): "200 302 302 302 302 302 302 302",
    ("POST", "login"): "200 302 302 302 302 302 302 302",
    ("GET", "login/code"): _GO,
    ("POST", "login/code"): _GO,
    ("GET", "logout"): _NO_GET,
    ("POST", "logout"): "200 200 200 200 200 200 200 200",
    ("GET", "oidc/login"): "404 404 404 404 404 404 404 404",
    ("GET", "oidc/callback"): "200 200 200 200 200 200 200 200",
    ("GET", "oidc/finish"): "400 400 400 400 400 400 400 400",
    ("GET", "fresh"): _ALL,
    ("POST", "fresh"): _ALL,
    ("GET", "link/<str:token>"): _NONE,
    ("POST", "link/<str:token>"): _NONE,
    ("GET", "account"): _ALL,
    ("POST", "account"): _NO_GET,
    ("GET", "account/password"): _ALL,
    ("POST", "account/password"): _ALL,
    ("GET", "account/sessions"): _NO_GET,
    ("POST", "account/sessions"): _GO,
    ("GET", "account/second-factor"): _ALL,
    ("POST", "account/second-factor"): _ALL,
    ("GET", "account/second-factor/image"): "302 404 404 404 404 404 404 404",
    ("GET", "account/connect"): _GO,
    ("GET", "account/recovery"): _NO_GET,
    ("POST", "account/recovery"): _GO,
    ("GET", "account/second-factor/off"): _GO,
    ("POST", "account/second-factor/off"): _GO,
    ("GET", "accounts"): _CUSTODIANS,
    ("POST", "accounts"): _NO_GET,
    ("GET", "accounts/invite"): _CUSTODIANS,
    ("POST", "accounts/invite"): _CUSTODIANS,
    ("GET", "accounts/named"): "302 404 404 403 403 403 403 403",
    ("POST", "accounts/named"): "302 404 404 403 403 403 403 403",
    ("POST", "accounts/invitations/<int:number>/take-back"): _CHANGE,
    ("GET", "accounts/<str:pseudonym>"): _CUSTODIANS,
    ("POST", "accounts/<str:pseudonym>/roles"): _CHANGE,
    ("POST", "accounts/<str:pseudonym>/deactivate"): _CHANGE,
    ("POST", "accounts/<str:pseudonym>/reactivate"): _CHANGE,
    ("POST", "accounts/<str:pseudonym>/reset"): _CUSTODIANS,
    ("POST", "accounts/<str:pseudonym>/lost-second-factor"): _CHANGE,
    ("GET", "projects"): _ALL,
    ("GET", "projects/new"): _MANAGERS,
    ("POST", "projects/new"): _MANAGERS,
    ("GET", "projects/new/settings"): _MANAGERS_GO,
    ("POST", "projects/new/settings"): _MANAGERS_GO,
    ("GET", "projects/new/cancel"): _NO_GET,
    ("POST", "projects/new/cancel"): _MANAGERS_GO,
    ("GET", "projects/<uuid:project_id>/"): "302 302 404 200 404 302 404 404",
    ("GET", "projects/<uuid:project_id>/progress"): _OWN_MANAGER,
    ("GET", "projects/<uuid:project_id>/queue"): _OWN_MANAGER,
    ("POST", "projects/<uuid:project_id>/queue"): _OWN_MANAGER,
    ("GET", "projects/<uuid:project_id>/invite"): _OWN_MANAGER,
    ("POST", "projects/<uuid:project_id>/invite"): _OWN_MANAGER,
    ("GET", "projects/<uuid:project_id>/close"): _NO_GET,
    ("POST", "projects/<uuid:project_id>/close"): "302 403 404 302 404 403 404 404",
    ("GET", "projects/<uuid:project_id>/conflicts"): _OWN_MANAGER,
    ("GET", "projects/<uuid:project_id>/conflicts/<int:number>"): _OWN_MANAGER_NONE,
    ("POST", "projects/<uuid:project_id>/conflicts/<int:number>/open"): _OWN_MANAGER_NOT_ASKED,
    ("POST", "projects/<uuid:project_id>/conflicts/<int:number>/resolve"): _OWN_MANAGER_NOT_ASKED,
    ("POST", "projects/<uuid:project_id>/export/decisions"): _OWN_MANAGER_NOT_YET,
    ("POST", "projects/<uuid:project_id>/export/report"): _OWN_MANAGER_NOT_YET,
    ("POST", "projects/<uuid:project_id>/export/linked"): _OWN_MANAGER_NOT_YET,
    ("POST", "projects/<uuid:project_id>/export/identities"): _OWN_MANAGER_NOT_YET,
    ("GET", "projects/<uuid:project_id>/rules"): _OWN_MANAGER,
    ("POST", "projects/<uuid:project_id>/rules"): _OWN_MANAGER,
    ("GET", "projects/<uuid:project_id>/consent"): _OWN_CUSTODIAN,
    ("POST", "projects/<uuid:project_id>/consent"): "302 400 404 403 404 403 404 404",
    ("GET", "projects/<uuid:project_id>/grants"): _OWN_CUSTODIAN,
    ("POST", "projects/<uuid:project_id>/grants"): _OWN_CUSTODIAN,
    ("GET", "projects/<uuid:project_id>/grants/<int:number>/revoke"): _NO_GET,
    ("POST", "projects/<uuid:project_id>/grants/<int:number>/revoke"): (
        "302 404 404 403 404 403 404 404"
    ),
    ("GET", "projects/<uuid:project_id>/purge"): _OWN_CUSTODIAN,
    ("POST", "projects/<uuid:project_id>/purge"): _OWN_CUSTODIAN,
    ("GET", "projects/<uuid:project_id>/pairs"): _WORKER,
    ("GET", "projects/<uuid:project_id>/pairs/<str:token>"): _GO,
    ("GET", "projects/<uuid:project_id>/pairs/<str:token>/<str:verb>"): _NO_GET,
    ("POST", "projects/<uuid:project_id>/pairs/next"): _WORKER,
    ("POST", "projects/<uuid:project_id>/pairs/<str:token>/<str:verb>"): (
        "302 403 404 403 404 302 404 404"
    ),
    ("GET", "watch"): "302 200 200 403 403 403 403 200",
    ("POST", "watch"): _NO_GET,
    ("GET", "audit"): _AUDITOR,
    ("POST", "audit"): _NO_GET,
    ("GET", "audit/check"): _AUDITOR,
    ("POST", "audit/check"): _AUDITOR,
    ("GET", "audit/download"): _NO_GET,
    ("POST", "audit/download"): _AUDITOR,
}
