"""Words that say what a column holds in many languages: common names, sexes, streets, units.

All are folded as `folded` does: small letters without accents. Names are the most frequent ones of
their countries' registers; a column of names holds many of them whatever its country, one of places
or trades few.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Unicode decomposes none of these letters (NFKD), so that no accent can be taken off them.
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "ı": "i", "đ": "d", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d"}
)


def folded(text: str) -> str:
    """A text in small letters without accents, blanks around it off.

    Examples
    --------
    >>> folded(" Jürgen "), folded("WEIß"), folded("Łukasz")
    ('jurgen', 'weiss', 'lukasz')
    """
    parts = unicodedata.normalize("NFKD", text.strip().casefold())
    plain = "".join(part for part in parts if not unicodedata.combining(part))
    return plain.translate(_UNDECOMPOSED)


def _words(section: str, *keys: str) -> frozenset[str]:
    return frozenset(word for key in keys or LISTS[section] for word in LISTS[section][key].split())


LISTS: Mapping[str, Any] = tomllib.loads(
    Path(__file__).with_name("words.toml").read_text(encoding="utf-8")
)
"""All words, by section and key."""

GIVEN_NAMES = _words("given_names")
"""Common given names."""

SURNAMES = _words("surnames", "common")
"""Common surnames."""

ORDINARY = _words("surnames", "ordinary")
"""Names that are also words of other columns: colours, months, virtues, places."""

SURNAME_ENDING = (
    r"(?i)^(?:.*(?:s+on|sen|ez|ski|ska|cki|cka|dottir|nen|i[cć]|ov[aá]?|ev[aá]?|enko|[ck]zyk"
    r"|opoulos|idis|akis|escu|o[gğ]lu|mann|stra|yan|ian)"
    r"|(?:van|von|de|den|der|di|da|dos|del|ben) .*|(?:mc|o'|d'|al-).+)$"
)
"""How surnames end or begin in many languages."""

SEXES: dict[str, str] = {word: sex for sex in ("f", "m") for word in _words("sexes", sex)}
"""Words for a sex; some letters mean one or the other by what stands beside them."""
OTHER_SEXES = _words("sexes", "other")

STREET = (
    r"(?i)(?:\b(?:street|st\.?|road|rd\.?|avenue|ave?\.?|lane|ln\.?|drive|dr\.?|close|court|ct\.?"
    r"|place|crescent|terrace|circuit|boulevard|blvd\.?|highway|parade|way|square|rue|impasse"
    r"|chemin|all[ée]e|quai|route|via|viale|corso|piazza|vicolo|largo|calle|c/|avda\.?|avenida"
    r"|plaza|paseo|ronda|camino|carrer|rua|travessa|alameda|pra[cç]a|estrada|ul\.?|ulica|al\."
    r"|pl\.|os\.|aleja|osiedle|sok(?:ak)?|cad(?:desi)?|mah(?:allesi)?|bulvar[ıi]|utca|[uú]t|t[eé]r"
    r"|n[aá]m[eě]st[ií]|strada|str\.?|ulitsa|bd\.?|p\.?o\.? ?box|jalan|jl\.?)(?:\W|$)"
    r"|stra[sß]+e\b|str\.?(?:\W|$)|weg\b|gasse\b|platz\b|allee\b|ring\b|damm\b|ufer\b"
    r"|straat\b|laan\b|plein\b|kade\b|steeg\b|singel\b|gracht\b|gatan\b|gata\b|v[äa]gen\b"
    r"|veien\b|vej\b|gade\b|vei\b|katu\b|tie\b|kuja\b|polku\b"
    r"|[路街巷弄道]\S*\d+ ?[号號]?|[로길] ?\d|\d+[号號]|丁目)"
)
"""What streets are called."""

UNITS = _words("values", "units")
"""Units of measurement and currencies."""

CURRENCIES = _words("values", "currencies")
"""What may stand before an amount."""

DATE_WORDS: str = LISTS["headers"]["date"]
"""Words of headers that say date, as `header_words.named` takes them."""
BIRTH_WORDS: str = LISTS["headers"]["birth"]
"""Words of headers that say birth, likewise."""
MISSING_WORDS = _words("values", "missing") | set(LISTS["values"]["missing_phrases"])
"""What stands for a missing value."""

YES_NO = _words("values", "yes_no")
"""Answers."""

COUNTRIES = _words("values", "countries")
"""Countries, by name and by code."""
