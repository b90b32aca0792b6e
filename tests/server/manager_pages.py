"""What the tests of a manager's pages share."""

from __future__ import annotations

import re
import time
from typing import Any

from server.clinic import consented, review_project


def client_of(who: Any, *, fresh: bool = False, checks: bool = False) -> Any:
    """A browser in which an account has logged in, a moment ago or not."""
    from django.test import Client

    from sfumato.server.accounts.sessions import FRESH

    client = Client(SERVER_NAME="localhost", enforce_csrf_checks=checks)
    client.force_login(who, backend="sfumato.server.accounts.backend.AccountBackend")
    if fresh:
        session = client.session
        session[FRESH] = time.time()
        session.save()
    return client


def made_project(custodian: Any, manager: Any, project: Any = None, **fields: Any) -> Any:
    """A project in the database of which nothing is dealt."""
    from sfumato.server.live.new_projects import make_project

    made = make_project(
        project or review_project(),
        title="Clinics",
        custodian=custodian,
        manager=manager,
        **fields,
    )
    return consented(made)


def filled(page: bytes, **changes: str) -> dict[str, str]:
    """What the page of settings would send as it is, with changes."""
    text, data = page.decode(), {}
    kinds = "text|number|hidden"
    for name, rest in re.findall(rf'<input type="(?:{kinds})" name="([^"]+)"([^>]*)>', text):
        value = re.search(r'value="([^"]*)"', rest)
        data[name] = value[1] if value else ""
    for name, rest in re.findall(r'<input type="checkbox" name="([^"]+)"([^>]*)>', text):
        if "checked" in rest:
            data[name] = "on"
    for name, body in re.findall(r'<select name="([^"]+)"[^>]*>(.*?)</select>', text, re.DOTALL):
        found = re.search(r'<option value="([^"]*)" selected', body)
        first = re.search(r'<option value="([^"]*)"', body)
        data[name] = (found or first)[1] if (found or first) else ""
    return {**data, "title": "Two clinics", **changes}
