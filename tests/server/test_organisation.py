"""Logging in at an organisation's provider, in a browser; the provider is another site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE
from server import browsers
from server.provider import CLIENT, SECRET
from server.servers import Server, free_port

pytestmark = pytest.mark.slow

PASSWORD = "a sentence to keep in mind"
TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a provider of people."""
    folder = tmp_path_factory.mktemp("organisation")
    port, own = free_port(), free_port()
    issuer = f"http://localhost:{port}/o"
    line = [sys.executable, "-m", "server.provider", str(folder), str(port)]
    line.append(f"http://127.0.0.1:{own}/oidc/callback")
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    provider = subprocess.Popen(line, env={**os.environ, "PYTHONPATH": path})
    words = ("--oidc", issuer, "--oidc-client", CLIENT, "--second-factor", "auditor")
    made = Server(folder / "server", port=own, words=words)
    try:
        _wait(f"{issuer}/.well-known/openid-configuration", provider)
        made.keys.mkdir(parents=True)
        (made.keys / "oidc.secret").write_text(SECRET + "\n")
        made.make({
            "accounts": [
                {"name": "carol", "roles": ["custodian", "manager"], "password": PASSWORD},
                {"name": "boris here", "roles": ["worker"], "password": PASSWORD},
                {"name": "audrey", "roles": ["auditor"], "password": PASSWORD},
            ]
        })  # fmt: skip
        yield made.start()
    finally:
        made.kill()
        provider.kill()
        provider.wait()


def _wait(address: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, "the provider has ended"
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("the provider does not answer")


@pytest.fixture(scope="module")
def chrome(chromium: Path) -> Iterator[Any]:
    """A browser; each test has contexts of its own."""
    with browsers.launched(chromium) as launched:
        yield launched


@pytest.fixture
def page(chrome: Any) -> Iterator[Any]:
    """A page of somebody who has logged in nowhere."""
    context = chrome.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    yield context.new_page()
    context.close()


def _at_provider(page: Any, name: str) -> None:
    """Log in at the provider, where one is by now."""
    page.wait_for_url("**/login?next=**")
    page.wait_for_load_state()
    page.fill("input[name=username]", name)
    page.fill("input[name=password]", name)
    page.click("button")


def _arrived(page: Any, end: str) -> str:
    page.wait_for_url(re.compile(end))
    page.wait_for_load_state()
    return str(page.inner_text("main"))


def _go(page: Any, house: Server, path: str, name: str = "") -> None:
    page.goto(f"{house.address}{path}")
    if name:
        _at_provider(page, name)


def _invitation(page: Any, house: Server, role: str) -> str:
    browsers.log_in(page, house.address, "carol", PASSWORD)
    page.goto(f"{house.address}/accounts/invite")
    page.check(f"input[value={role}]")
    page.click("main button")
    page.wait_for_load_state()
    found = re.search(r"/link/[\w-]+", page.content())
    assert found
    return found.group()


def test_a_person_joins_by_a_link_and_is_known_from_then_on(
    house: Server, chrome: Any, page: Any
) -> None:
    _go(page, house, "/oidc/login", "anna")
    assert "No account here" in _arrived(page, "/oidc/finish")
    admin = chrome.new_context().new_page()
    path = _invitation(admin, house, "worker")
    page.goto(f"{house.address}{path}")
    page.click("main a.button")
    _arrived(page, "/projects$|/account$")
    page.goto(f"{house.address}/account")
    text = page.inner_text("main")
    assert "worker" in text
    assert "custodian" not in text
    page.click(".who button")
    page.wait_for_load_state()
    # The link is used up, the person is known.
    assert page.goto(f"{house.address}{path}").status == 404
    page.goto(f"{house.address}/login")
    page.click("main a.button")
    _arrived(page, "/projects$|/account$")
    # At the provider they are still somebody: that is no proof of now.
    page.goto(f"{house.address}/account/second-factor")
    assert "again" in _arrived(page, "/fresh")
    page.click("main a.button")
    _at_provider(page, "anna")
    assert "Scan" in _arrived(page, "/account/second-factor$")
    books = house.books()
    assert books["fault"] == ""
    admin.context.close()


def test_an_account_is_connected_and_opens_for_one_person_only(house: Server, page: Any) -> None:
    browsers.log_in(page, house.address, "boris here", PASSWORD)
    _go(page, house, "/account/connect", "boris")
    assert "connected" in _arrived(page, "/account$")
    page.context.clear_cookies()
    _go(page, house, "/oidc/login", "boris")
    _arrived(page, "/projects$|/account$")
    assert page.inner_text(".who a") == "boris here"
    page.context.clear_cookies()
    browsers.log_in(page, house.address, "carol", PASSWORD)
    _go(page, house, "/account/connect", "boris")
    assert "another account" in _arrived(page, "/oidc/finish")


def test_a_role_that_needs_a_second_factor_needs_it_after_this_login(
    house: Server, chrome: Any, page: Any
) -> None:
    admin = chrome.new_context().new_page()
    path = _invitation(admin, house, "auditor")
    browsers.log_in(page, house.address, "boris here", PASSWORD)
    page.goto(f"{house.address}{path}")
    page.click("main button[name=join]")
    page.wait_for_load_state()
    page.goto(f"{house.address}/audit")
    assert page.url.endswith("/account/second-factor")
    admin.context.close()


@pytest.mark.parametrize(
    "edit",
    [
        lambda code, _state: f"code={code}&state=other",
        lambda code, _state: f"code={code}",
        lambda _code, state: f"code=other&state={state}",
        lambda _code, state: f"state={state}",
    ],
)
def test_a_code_or_a_state_of_somebody_else_lets_nobody_in(
    house: Server, page: Any, edit: Any
) -> None:
    """What comes back from the provider is changed on its way."""

    def changed(route: Any) -> None:
        query = re.search(r"code=([^&]*)&state=([^&]*)", route.request.url)
        assert query
        route.continue_(url=f"{house.address}/oidc/finish?{edit(*query.groups())}")

    page.route("**/oidc/finish?*", changed)
    _go(page, house, "/oidc/login", "anna")
    _arrived(page, "/oidc/finish")
    page.unroute_all()
    page.goto(f"{house.address}/account")
    assert "/login" in page.url


def test_a_code_counts_once_and_in_its_own_browser_only(
    house: Server, chrome: Any, page: Any
) -> None:
    addresses: list[str] = []
    page.on("request", lambda asked: "/oidc/finish" in asked.url and addresses.append(asked.url))
    _go(page, house, "/oidc/login", "anna")
    _arrived(page, "/oidc/finish|/projects$|/account$")
    [address] = addresses
    other = chrome.new_context().new_page()
    assert other.goto(address).status == 400
    page.goto(address)
    assert "not finished" in page.inner_text("main")
    other.context.close()
