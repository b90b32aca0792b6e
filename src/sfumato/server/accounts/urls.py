"""The addresses of these pages."""

from __future__ import annotations

from django.urls import URLPattern, path

from sfumato.server.accounts import views

_ONE = "accounts/<str:pseudonym>"

urlpatterns: list[URLPattern] = [
    path("", views.start, name="start"),
    path("login", views.log_in, name="login"),
    path("login/code", views.log_in_code, name="login_code"),
    path("logout", views.log_out, name="logout"),
    path("fresh", views.fresh, name="fresh"),
    path("link/<str:token>", views.link, name="link"),
    path("account", views.account, name="account"),
    path("account/password", views.password, name="password"),
    path("account/sessions", views.other_sessions, name="other_sessions"),
    path("account/second-factor", views.second_factor, name="second_factor"),
    path("account/second-factor/image", views.second_factor_image, name="second_factor_image"),
    path("account/second-factor/off", views.second_factor_off, name="second_factor_off"),
    path("accounts", views.accounts, name="accounts"),
    path("accounts/invite", views.invite_page, name="invite"),
    path("accounts/named", views.named_account, name="named_account"),
    path(
        "accounts/invitations/<int:number>/take-back",
        views.take_back_invitation,
        name="take_back_invitation",
    ),
    path(_ONE, views.one_account, name="one_account"),
    *(
        path(f"{_ONE}/{end}", view, name=f"account_{end.replace('-', '_')}")
        for end, view in views.CHANGES.items()
    ),
]
