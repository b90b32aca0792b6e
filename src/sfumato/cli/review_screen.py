"""A review at the terminal: keys to actions, actions to screens, one pair at a time."""

from __future__ import annotations

import os
import re
import select
import signal
import termios
import tty
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from types import FrameType, TracebackType
from typing import Self

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from sfumato.review import terminal_screen
from sfumato.review.review_decisions import Answer, FlagReason
from sfumato.review.review_settings import MODES, Mode
from sfumato.review.terminal_session import Message, Session, Tone, View
from sfumato.review.terminal_text import Line, Look, Style
from sfumato.review.worker_state import REFUSED, Cost, Refusal, kapr_text

LEAVE = frozenset({"q", "end"})
"""The keys that leave."""
_ARROWS = {each.value: each for each in terminal_screen.Direction}
_ANSWERS = {str(number): answer for number, answer in enumerate(sorted(Answer), 1)}
_REASONS = {str(number): reason for number, reason in enumerate(FlagReason, 1)}
NAMES = {
    "\x1b[A": "up", "\x1bOA": "up", "\x1b[B": "down", "\x1bOB": "down",
    "\x1b[C": "right", "\x1bOC": "right", "\x1b[D": "left", "\x1bOD": "left",
    "\x1b[Z": "backtab", "\t": "tab", "\r": "enter", "\n": "enter", "\x1b": "escape",
    "\x03": "q", "\x04": "q",
}  # fmt: skip
"""What keys are called that send something else than their character; Ctrl-C leaves like q."""
END = "end"
"""In place of a key, when the terminal is gone."""
_ONE = re.compile(r"\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Za-z]|.", re.DOTALL)
_PASTE, _PASTED = "\x1b[200~", "\x1b[201~"
_WAIT = 0.05
"""Seconds after an escape in which the rest of its sequence comes."""
STYLES: Mapping[Style, str] = {
    Style.PLAIN: "",
    Style.QUIET: "dim",
    Style.STRONG: "bold",
    Style.TITLE: "bold reverse",
    Style.RULE: "dim",
    Style.HEADING: "underline",
    Style.SELECTED: "bold reverse",
    Style.MASKED: "dim",
    Style.DIFFERING: "bold magenta",
    Style.DISCLOSED: "bold",
    Style.DISCLOSED_DIFFERING: "bold underline magenta",
    Style.MARK: "cyan",
    Style.RARITY: "yellow",
    Style.KEY: "bold cyan",
    Style.CHOSEN: "bold reverse green",
    Style.REFUSED: "red",
    Style.HINT: "bold yellow",
    Style.SPENT: "blue",
    Style.NEXT: "yellow",
    Style.LEFT: "dim",
}
"""How each style looks; by the terminal's own colours."""
_PASTE_ON, _PASTE_OFF = "\x1b[?2004h", "\x1b[?2004l"
_ENDS = ("SIGTERM", "SIGHUP")


class Page(Enum):
    """What the screen shows."""

    PAIR = "a pair"
    FLAG = "a pair, asking why it is flagged"
    HELP = "the help"


class Loop:
    """A session as its worker sees it.

    Parameters
    ----------
    look
        Tells what the terminal is like.
    """

    def __init__(self, session: Session, look: Callable[[], Look]) -> None:
        self.session, self.look = session, look
        self.page, self.place, self.selected = Page.PAIR, 0, 0
        self.view: View
        self.message = Message()
        self._answered: int | None = None
        self._do: dict[str, Callable[[], None]] = {
            "tab": lambda: self._step(1),
            "backtab": lambda: self._step(-1),
            "enter": lambda: self._open(terminal_screen.next_of_cell(self.view, self.selected)),
            "p": self._partly,
            "o": lambda: self._open(terminal_screen.of_cell(self.view, self.selected, Mode.FULL)),
            "N": lambda: self._open(terminal_screen.of_names(self.view)),
            "a": lambda: self._open(terminal_screen.of_everything(self.view, Mode.PARTIAL)),
            "A": lambda: self._open(terminal_screen.of_everything(self.view, Mode.FULL)),
            "s": self._skip,
            "f": self._flag,
            "u": self._undo,
            "n": lambda: self._go((self.place + 1) % len(session.tasks)),
            "b": lambda: self._go((self.place - 1) % len(session.tasks)),
            "g": self._next_undecided,
            "h": self._hint,
            "?": lambda: self._turn(Page.HELP),
        }
        first = session.undecided(-1)
        self._go(0 if first is None else first)
        if first is None:
            self._say("All pairs are decided. q leaves.", Tone.GOOD)

    def run(self, read: Callable[[], str | None], draw: Callable[[tuple[Line, ...]], None]) -> None:
        """Draw, take a key, and so on until the worker leaves.

        Parameters
        ----------
        read
            Gives the next key; ``None`` for none so far.

        Raises
        ------
        InputError
            If the journal cannot be written; then nothing more is drawn.
        """
        drawn, key = None, None
        while True:
            look = self.look()
            # Only what changed is drawn: over a slow line the screen would flicker.
            if key is not None or look != drawn:
                draw(self.lines(look))
                drawn = look
            key = read()
            if key in LEAVE and self.page is Page.PAIR:
                return
            # The terminal is gone, whatever it showed.
            if key == "end":
                return
            if key is not None:
                self.press(key)

    def press(self, key: str) -> None:
        """Do what a key asks for.

        Raises
        ------
        InputError
            If the journal cannot be written.
        """
        self.message = Message()
        # Any key leaves the help; in a window too small nobody sees what a key would do.
        if self.page is Page.HELP or not self.look().large_enough:
            self.page = Page.PAIR
        elif self.page is Page.FLAG:
            self._flag_for(key)
        elif key in _ARROWS:
            self._arrow(_ARROWS[key])
        elif key in _ANSWERS:
            self._decide(_ANSWERS[key])
        elif key in self._do:
            self._do[key]()
        self.view = self.session.view(self.place)

    def lines(self, look: Look) -> tuple[Line, ...]:
        """The screen."""
        if self.page is Page.HELP:
            return terminal_screen.draw_legend(look)
        flagging = self.page is Page.FLAG
        return terminal_screen.draw_screen(
            self.view, look, self.selected, self.message, flagging=flagging
        )

    def _say(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        self.message = Message(text, tone)

    def _turn(self, page: Page) -> None:
        self.page = page

    def _go(self, place: int) -> None:
        # Shown before it is looked at: the starting state is charged, or refused, first.
        self.session.show(place)
        self.place, self.selected = place, 0
        self.view = self.session.view(place)

    def _step(self, by: int) -> None:
        if self.view.rendered is not None:
            self.selected = (self.selected + by) % len(self.view.rendered)

    def _arrow(self, direction: terminal_screen.Direction) -> None:
        if self.view.rendered is not None:
            placed = terminal_screen.place_blocks(
                self.view.rendered, self.look(), self.selected, None
            )
            self.selected = terminal_screen.neighbour(placed, self.selected, direction)

    def _partly(self) -> None:
        cost = terminal_screen.of_cell(self.view, self.selected, Mode.PARTIAL)
        if (
            cost is None
            and terminal_screen.of_cell(self.view, self.selected, Mode.FULL) is not None
        ):
            self._say("It can be opened in full only: o.")
            return
        self._open(cost)

    def _open(self, cost: Cost | None) -> None:
        if self.view.rendered is None:
            self._say("This pair may not be shown. Skip or flag it.", Tone.BAD)
            return
        if cost is None:
            self._say("There is nothing more to open.")
            return
        cells = self.view.standing.cells
        answer = self.session.open(self.place, cost.opening)
        if isinstance(answer, Refusal):
            most = kapr_text(answer.cost, cells, up=True)
            self._say(f"Refused: {REFUSED[answer.reason]} ({most}).", Tone.BAD)
            return
        said = f"Opened {MODES[cost.opening.mode]}: KAPR + {kapr_text(answer.cost, cells, up=True)}"
        below = " An anonymity set is below k now." if answer.below_k else ""
        self._say(f"{said}.{below}")

    def _decide(self, answer: Answer) -> None:
        if self.view.rendered is None:
            self._say("A pair that is not shown cannot be decided; skip or flag it.", Tone.BAD)
            return
        self.session.decide(self.place, answer)
        self._answered = self.place
        self._next_undecided(f"Pair {self.place + 1}: {answer.words.lower()}. ")

    def _skip(self) -> None:
        self.session.skip(self.place)
        self._next_undecided(f"Pair {self.place + 1}: skipped. ")

    def _flag(self) -> None:
        if self.view.flag is None:
            self.page = Page.FLAG
            return
        self.session.remove_flag(self.place)
        self._say("The flag is off.")

    def _flag_for(self, key: str) -> None:
        self.page = Page.PAIR
        if key in _REASONS:
            self.session.flag(self.place, _REASONS[key])
            self._say(f"Flagged: {_REASONS[key].value}.")

    def _undo(self) -> None:
        """Take back what holds of this pair; else the last answer, going back to its pair."""
        if self.session.withdraw(self.place):
            self._say("Taken back. What was opened stays open.")
            return
        last, self._answered = self._answered, None
        if last is not None and self.session.history(last).present.answer is not None:
            self.session.withdraw(last)
            self._go(last)
            self._say("Taken back. What was opened stays open.")
            return
        self._say("There is nothing to take back.")

    def _next_undecided(self, said: str = "") -> None:
        following = self.session.undecided(self.place)
        if following is None:
            self._say(f"{said}All pairs are decided. q leaves.", Tone.GOOD)
            return
        self._go(following)
        self._say(said)

    def _hint(self) -> None:
        if not self.session.hinted:
            self._say("There are no hints here.")
            return
        hint = self.session.hint(self.place)
        if hint is None:
            self._say("Nothing is worth opening.")
            return
        self.selected = hint.opening.attributes[0]
        self._say(f"Hint: open this one {MODES[hint.opening.mode]}.")


class Keys:
    """The keys of a terminal; pasted text is no key.

    Parameters
    ----------
    file
        The number of the terminal's file.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self._waiting: deque[str] = deque()
        self._pasting = False
        self._before = termios.tcgetattr(file)

    def __enter__(self) -> Self:
        """Take each key at once, Ctrl-C and Ctrl-Z too."""
        tty.setcbreak(self._file, termios.TCSAFLUSH)
        mode = termios.tcgetattr(self._file)
        # Ctrl-C is a key here, and leaves as q does, with everything written.
        mode[3] &= ~termios.ISIG
        termios.tcsetattr(self._file, termios.TCSANOW, mode)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the terminal back as it was."""
        try:
            # What was typed and not read must not reach the shell.
            termios.tcsetattr(self._file, termios.TCSAFLUSH, self._before)
        except termios.error:
            return

    def read(self, seconds: float) -> str | None:
        """The next key, by its name or character; ``None`` where none comes in time.

        Parameters
        ----------
        seconds
            How long to wait.
        """
        if not self._waiting:
            self._fill(seconds)
        return self._waiting.popleft() if self._waiting else None

    def _fill(self, seconds: float) -> None:
        data = self._bytes(seconds)
        if data is None:
            return
        # An escape may begin the sequence of an arrow key, whose rest is still to come.
        if data.endswith(b"\x1b"):
            data += self._bytes(_WAIT) or b""
        if not data:
            self._waiting.append(END)
            return
        for one in _ONE.findall(data.decode("ascii", errors="ignore")):
            # A pasted text could decide dozens of pairs.
            if one in {_PASTE, _PASTED}:
                self._pasting = one == _PASTE
            elif not self._pasting:
                self._waiting.append(NAMES.get(one, one))

    def _bytes(self, seconds: float) -> bytes | None:
        """What has come; nothing where the terminal is gone, ``None`` where nothing came."""
        ready, _, _ = select.select([self._file], [], [], seconds)
        if not ready:
            return None
        try:
            return os.read(self._file, 1024)
        except OSError:
            return b""


def text_of(line: Line) -> Text:
    """A line as rich prints it."""
    text = Text(no_wrap=True, overflow="crop", end="")
    for piece, style in line:
        text.append(piece, STYLES[style])
    return text


def look_of(console: Console) -> Look:
    """What a terminal is like now."""
    return Look(console.width, console.height, console.encoding)


def draw(console: Console, lines: Sequence[Line]) -> None:
    """Draw a screen over the one before.

    Parameters
    ----------
    lines
        The lines, no more than it has.
    """
    parts: list[Control | Text] = []
    # Line by line over what is there: an empty screen in between would flicker.
    for number, line in enumerate(lines):
        parts += [
            Control.move_to(0, number),
            Control((ControlType.ERASE_IN_LINE, 2)),
            text_of(line),
        ]
    console.print(*parts, sep="", end="", soft_wrap=True)


@contextmanager
def own_screen(console: Console) -> Iterator[None]:
    """The alternate screen while the block runs, cleared before it is left, also by a signal."""
    before = {name: signal.getsignal(getattr(signal, name)) for name in _ENDS}
    for name in _ENDS:
        signal.signal(getattr(signal, name), _leave)
    try:
        console.set_alt_screen(True)
        console.show_cursor(False)
        console.file.write(_PASTE_ON)
        console.clear()
        yield
    finally:
        # What was shown must not stay on the terminal, even if it is going away.
        with suppress(OSError):
            console.clear()
            console.file.write(_PASTE_OFF)
            console.show_cursor(True)
            console.set_alt_screen(False)
            console.file.flush()
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
