"""What the screens of a clerical review showed, against the identified tables."""

from sfumato.intruder.attacks.screen.attack import FromScreen, from_screen
from sfumato.intruder.attacks.screen.shown import ShownRows, rows_of

__all__ = ["FromScreen", "ShownRows", "from_screen", "rows_of"]
