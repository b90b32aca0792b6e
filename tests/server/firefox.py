"""Debian's Firefox, driven by WebDriver BiDi alone: it needs no driver beside it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conftest import missing
from patience import PATIENCE, wait_until

LISTENS = re.compile(r"WebDriver BiDi listening on (ws://\S+)")
IN_ROLE = """(role, name) => [...document.querySelectorAll(
    {button: "button", link: "a", summary: "summary"}[role])].find(
    (each) => each.checkVisibility() && each.textContent.replace(/\\s+/g, " ").trim() === name)"""


@dataclass
class Tab:
    """A page of Firefox: real keys and clicks, and what a script says of it.

    Attributes
    ----------
    socket
        Where commands go.
    faults
        What the console of any page called an error.
    """

    socket: Any
    context: str = ""
    faults: list[str] = field(default_factory=list)
    _sent: int = 0

    def command(self, method: str, **given: Any) -> Any:
        """Send a command, and wait for its answer."""
        self._sent += 1
        self.socket.send(json.dumps({"id": self._sent, "method": method, "params": given}))
        while True:
            answer = json.loads(self.socket.recv())
            wrong = (
                answer.get("method") == "log.entryAdded" and answer["params"]["level"] == "error"
            )
            # A page without an icon is asked for one by the browser itself.
            if wrong and "/favicon.ico" not in answer["params"]["text"]:
                self.faults.append(answer["params"]["text"])
            if answer.get("id") == self._sent:
                assert answer["type"] == "success", answer
                return answer["result"]

    def goto(self, address: str) -> None:
        """Open an address, and wait until it is there."""
        self.command("browsingContext.navigate", context=self.context, url=address, wait="complete")

    def reload(self) -> None:
        """Load the page again."""
        self.command("browsingContext.reload", context=self.context, wait="complete")

    def says(self, expression: str) -> Any:
        """The value of an expression on the page: a number, text, truth value or nothing."""
        found = self.command(
            "script.evaluate", expression=expression, awaitPromise=True,
            target={"context": self.context},
        )  # fmt: skip
        assert found["type"] == "success", found
        return found["result"].get("value")

    def until(self, expression: str) -> None:
        """Wait until an expression is true, over pages that come and go."""

        def holds() -> bool:
            try:
                return bool(self.says(expression))
            except AssertionError:  # the page went while it was asked
                return False

        wait_until(holds, expression)

    def text(self, words: str) -> None:
        """Wait until the page says something."""
        self.until(f"document.body?.innerText.includes({json.dumps(words)})")

    def click(self, role: str, name: str) -> None:
        """Click a button or link by its whole text, as a mouse does."""
        self.click_at(f"({IN_ROLE})({json.dumps(role)}, {json.dumps(name)})")

    def click_at(self, expression: str) -> None:
        """Click the element that an expression is, as a mouse does."""
        self.until(f"document.readyState === 'complete' && Boolean({expression})")
        self.says(f"{expression}.scrollIntoView({{block: 'center'}})")
        x, y = (
            round(
                self.says(f"(b => b.{side} + b.{size} / 2)({expression}.getBoundingClientRect())")
            )
            for side, size in (("left", "width"), ("top", "height"))
        )
        move = {"type": "pointerMove", "x": x, "y": y}
        press, let_go = {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}
        mouse = {"type": "pointer", "id": "mouse", "actions": [move, press, let_go]}
        self.command("input.performActions", context=self.context, actions=[mouse])

    def fill(self, label: str, text: str) -> None:
        """Type into the field of a label."""
        found = f"[...document.querySelectorAll('label')].find(l => l.textContent === {label!r})"
        self.until(f"Boolean({found}?.control)")
        self.says(f"{found}.control.focus(), {found}.control.select?.()")
        keys = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        typing = {"type": "key", "id": "keys", "actions": keys}
        self.command("input.performActions", context=self.context, actions=[typing])


@contextmanager
def firefox(program: Path, profile: Path) -> Iterator[Tab]:
    """A Firefox with a profile of its own, and its first page."""
    try:
        import websocket
    except ImportError:
        missing("no websocket-client; install the dependency group 'test'")
    profile.mkdir()
    words = [
        program,
        "--headless",
        "--no-remote",
        "--profile",
        profile,
        "--remote-debugging-port=0",
    ]
    with subprocess.Popen(
        list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={"HOME": str(profile), "PATH": "/usr/bin:/bin"},
    ) as process:  # fmt: skip
        assert process.stderr is not None
        try:
            listens = next(found for line in process.stderr if (found := LISTENS.search(line)))
            socket = websocket.create_connection(
                f"{listens[1]}/session", suppress_origin=True, timeout=PATIENCE
            )
            tab = Tab(socket)
            tab.command("session.new", capabilities={})
            tab.command("session.subscribe", events=["log.entryAdded"])
            tab.context = tab.command("browsingContext.getTree")["contexts"][0]["context"]
            try:
                yield tab
            finally:
                socket.close()
        finally:
            process.kill()
