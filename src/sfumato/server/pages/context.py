"""What every page knows."""

from __future__ import annotations

from django.http import HttpRequest


def common(request: HttpRequest) -> dict[str, object]:
    """The account that has logged in, and its roles.

    Parameters
    ----------
    request
        The request.
    """
    account = getattr(request, "user", None)
    if account is None or not account.is_authenticated:
        return {"account": None, "roles": []}
    return {"account": account, "roles": account.roles}
