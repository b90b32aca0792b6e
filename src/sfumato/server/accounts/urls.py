"""The addresses of these pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from sfumato.server.accounts import (
    fresh,
    views_account,
    views_accounts,
    views_link,
    views_login,
    views_one_account,
    views_start,
)

_ONE = "accounts/<str:pseudonym>"

urlpatterns: list[URLPattern] = [
    path("", views_start.start, name="start"),
    path("login", views_login.log_in, name="login"),
    path("login/code", views_login.log_in_code, name="login_code"),
    path("logout", views_login.log_out, name="logout"),
    path("fresh", fresh.fresh, name="fresh"),
    path("link/<str:token>", views_link.link, name="link"),
    path("account", views_account.account, name="account"),
    path("account/password", views_account.password, name="password"),
    path("account/sessions", views_account.other_sessions, name="other_sessions"),
    path("account/second-factor", views_account.second_factor, name="second_factor"),
    path(
        "account/second-factor/image", views_account.second_factor_image, name="second_factor_image"
    ),
    path("account/second-factor/off", views_account.second_factor_off, name="second_factor_off"),
    path("accounts", views_accounts.accounts, name="accounts"),
    path("accounts/invite", views_accounts.invite_page, name="invite"),
    path("accounts/named", views_accounts.named_account, name="named_account"),
    path(
        "accounts/invitations/<int:number>/take-back",
        views_accounts.take_back_invitation,
        name="take_back_invitation",
    ),
    path(_ONE, views_one_account.one_account, name="one_account"),
    *(
        path(f"{_ONE}/{end}", view, name=f"account_{end.replace('-', '_')}")
        for end, view in views_one_account.CHANGES.items()
    ),
]
