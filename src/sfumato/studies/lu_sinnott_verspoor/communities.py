"""A small invented mix of communities: ethnicities, and the languages spoken at home.

Codes and names follow ASCCEG and ASCL 2016; shares are invented.
"""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.hierarchies import Hierarchy

COMMUNITIES: tuple[tuple[str, int, dict[str, int]], ...] = (
    ("1101 Australian", 330, {"1201 English": 100}),
    ("1202 New Zealander", 22, {"1201 English": 97, "9308 Samoan": 3}),
    ("2101 English", 120, {"1201 English": 100}),
    ("2102 Scottish", 30, {"1201 English": 100}),
    ("2201 Irish", 45, {"1201 English": 98, "1102 Irish": 2}),
    ("2303 Dutch", 12, {"1201 English": 70, "1401 Dutch": 30}),
    ("2306 German", 18, {"1201 English": 65, "1301 German": 35}),
    ("3103 Italian", 60, {"2401 Italian": 62, "1201 English": 38}),
    ("3104 Maltese", 15, {"1201 English": 60, "2501 Maltese": 40}),
    ("3106 Spanish", 10, {"2303 Spanish": 75, "1201 English": 25}),
    ("3204 Croatian", 12, {"3503 Croatian": 70, "1201 English": 30}),
    ("3205 Greek", 50, {"2201 Greek": 75, "1201 English": 25}),
    ("3206 Macedonian", 15, {"3504 Macedonian": 80, "1201 English": 20}),
    ("3307 Polish", 12, {"3602 Polish": 65, "1201 English": 35}),
    ("4103 Iraqi", 12, {"4202 Arabic": 92, "1201 English": 8}),
    ("4106 Lebanese", 28, {"4202 Arabic": 80, "1201 English": 20}),
    ("4907 Turkish", 18, {"4301 Turkish": 85, "1201 English": 15}),
    ("5104 Khmer", 8, {"6301 Khmer": 88, "7104 Mandarin": 4, "1201 English": 8}),
    ("5107 Vietnamese", 42, {"6302 Vietnamese": 88, "7101 Cantonese": 4, "1201 English": 8}),
    ("5201 Filipino", 20, {"6512 Filipino": 60, "1201 English": 40}),
    ("5205 Malay", 10, {"6505 Malay": 60, "7104 Mandarin": 12, "1201 English": 28}),
    ("6101 Chinese", 75, {"7104 Mandarin": 55, "7101 Cantonese": 35, "1201 English": 10}),
    ("6901 Japanese", 6, {"7201 Japanese": 85, "1201 English": 15}),
    ("6902 Korean", 8, {"7301 Korean": 90, "1201 English": 10}),
    ("7106 Indian", 60, {"5203 Hindi": 45, "5103 Tamil": 10, "1201 English": 45}),
    ("7112 Pakistani", 10, {"5212 Urdu": 80, "1201 English": 20}),
    ("7113 Punjabi", 18, {"5207 Punjabi": 85, "5203 Hindi": 10, "1201 English": 5}),
    ("7126 Sri Lankan", 22, {"5211 Sinhalese": 50, "5103 Tamil": 30, "1201 English": 20}),
    ("7201 Afghan", 10, {"4105 Dari": 90, "1201 English": 10}),
    ("9204 Ethiopian", 8, {"9214 Amharic": 80, "1201 English": 20}),
    ("9214 Somali", 8, {"9208 Somali": 92, "4202 Arabic": 5, "1201 English": 3}),
)
"""Ethnicity, its share per mille (about), and its languages in percent."""

_ETHNIC_GROUPS = (
    "1 Oceanian", "11 Australian Peoples", "12 New Zealand Peoples", "2 North-West European",
    "21 British", "22 Irish", "23 Western European", "3 Southern and Eastern European",
    "31 Southern European", "32 South Eastern European", "33 Eastern European",
    "4 North African and Middle Eastern", "41 Arab", "49 Other North African and Middle Eastern",
    "5 South-East Asian", "51 Mainland South-East Asian", "52 Maritime South-East Asian",
    "6 North-East Asian", "61 Chinese Asian", "69 Other North-East Asian",
    "7 Southern and Central Asian", "71 Southern Asian", "72 Central Asian",
    "9 Sub-Saharan African", "92 Southern and East African",
)  # fmt: skip
_LANGUAGE_GROUPS = (
    "1 Northern European", "11 Celtic", "12 English", "13 German and Related",
    "14 Dutch and Related", "2 Southern European", "22 Greek", "23 Iberian Romance",
    "24 Italian", "25 Maltese", "3 Eastern European", "35 South Slavic", "36 West Slavic",
    "4 Southwest and Central Asian", "41 Iranic", "42 Middle Eastern Semitic", "43 Turkic",
    "5 Southern Asian", "51 Dravidian", "52 Indo-Aryan", "6 Southeast Asian", "63 Mon-Khmer",
    "65 Southeast Asian Austronesian", "7 Eastern Asian", "71 Chinese", "72 Japanese",
    "73 Korean", "9 Other", "92 African", "93 Pacific Austronesian",
)  # fmt: skip


def ethnicities() -> Hierarchy:
    """The hierarchy of the ethnicities: code, narrow group, broad group, root."""
    leaves = [name for name, _, _ in COMMUNITIES]
    return _by_code(leaves, _ETHNIC_GROUPS, "ethnicity")


def languages() -> Hierarchy:
    """The hierarchy of the languages: code, narrow group, broad group, root."""
    leaves = sorted({language for _, _, spoken in COMMUNITIES for language in spoken})
    return _by_code(leaves, _LANGUAGE_GROUPS, "language")


def _by_code(leaves: Sequence[str], groups: Sequence[str], subject: str) -> Hierarchy:
    names = {group.partition(" ")[0]: group for group in groups}
    return Hierarchy.from_columns(
        [leaves, [names[leaf[:2]] for leaf in leaves], [names[leaf[:1]] for leaf in leaves]],
        f"hierarchy of {subject}",
    )
