"""Schema files that are none, or that break a rule."""

from __future__ import annotations

from pathlib import Path

from cli.malformed.case import CANARY, NUMBER, Case, Content, schema

FILE = "schema file schema.toml must be"
NO_TOML = f"{FILE} TOML; found an error"
RULE = "schema breaks a rule; found"
GOOD = schema()


def file(what: str, said: str, content: Content) -> Case:
    return Case(f"schema: {what}", said, {"schema.toml": content})


def roles(what: str, said: str, **changed: str | None) -> Case:
    return file(what, f"{RULE} .*{said}", schema(roles=changed))


def quasi(what: str, said: str, fields: str, name: str = "age") -> Case:
    return file(what, f"{RULE} .*{said}", schema(**{name: fields}))


def alone(what: str, said: str, quasi_identifiers: str) -> Case:
    """A schema whose quasi-identifiers are written in another way."""
    none = dict.fromkeys(("age", "sex", "edu", "zip"))
    text = f"quasi_identifiers = {quasi_identifiers}\n" + schema(**none)
    return file(what, f"{RULE} .*{said}", text)


TEXTS = [
    file("no file", "schema file schema.toml is not there", None),
    file("a folder", f"{FILE} a file that can be read; found a folder", Path.mkdir),
    file("empty", f"{RULE} quasi_identifiers: is missing", b""),
    file("a comment alone", f"{RULE} quasi_identifiers: is missing", f"# {CANARY}\n"),
    file("CSV", f"{NO_TOML} at line 1", f"patient,{CANARY}\n{CANARY},{NUMBER}\n"),
    file("JSON", f"{NO_TOML} at line 1", f'{{"person": "{CANARY}"}}'),
    file("YAML", f"{NO_TOML} at line 1", f"person: {CANARY}\n"),
    file("no value", f"{NO_TOML} at line 1, column 10", "person = \n"),
    file("no quotes", f"{NO_TOML} at line 1", f"person = {CANARY}\n"),
    file("an open string", f"{NO_TOML} at", f'person = "{CANARY}\n'),
    file("an open list", f"{NO_TOML} at", f'sensitive = ["{CANARY}"\n'),
    file("an open table", f"{NO_TOML} at", f"[quasi_identifiers.{CANARY}\n"),
    file("a key twice", f"{NO_TOML} at line 2", f'person = "{CANARY}"\nperson = "{CANARY}"\n'),
    file("a table twice", NO_TOML, f"{GOOD}[quasi_identifiers.age]\n"),
    file("a wrong escape", NO_TOML, f'person = "\\q{CANARY}"\n'),
    file("a day that is none", NO_TOML, "person = 2023-02-30\n"),
    file("UTF-16", f"{FILE} text in UTF-8", GOOD.encode("utf-16")),
    file("Latin-1", f"{FILE} text in UTF-8", GOOD.encode() + b"# \xe4\n"),
    file("a zero byte", NO_TOML, GOOD.encode() + b"\0"),
    file("a picture", f"{FILE} text in UTF-8", b"\x89PNG\r\n\x1a\n\xff\xff"),
    file("a list in a list in a list", f"{FILE} TOML", "person = " + "[" * 5000),
    file("a table in a table in a table", f"{FILE} TOML|{RULE}", "person = " + "{a=" * 5000),
    file("a very long number", f"{FILE} TOML|{RULE}", "person = " + "9" * 5000 + "\n"),
]

KEYS = [
    roles("an unknown key", "sensible: is no known field", sensible='["icd9"]'),
    roles("a key in capitals", "Sensitive: is no known field", Sensitive='["icd9"]'),
    roles("a key of Python", "self: is no known field", self=f'"{CANARY}"'),
    roles("a key of pydantic", "model_config: is no known field", model_config=f'"{CANARY}"'),
    quasi("an unknown field", "age.width: is no known field", 'kind = "numeric"\nwidth = 5'),
    quasi("a field in capitals", "age.Kind: is no known field", 'Kind = "numeric"'),
]

ROLES = [
    roles(
        "a column in two roles",
        "column 'icd9' is named as sensitive and as insensitive",
        insensitive='["note", "icd9"]',
    ),
    roles(
        "the person as sensitive",
        "column 'patient' is named as person and as sensitive",
        sensitive='["patient"]',
    ),
    roles(
        "a quasi-identifier as sensitive",
        "'age' is named as quasi-identifier and as sensitive",
        sensitive='["age"]',
    ),
    roles(
        "a name as quasi-identifier",
        "'sex' is named as quasi-identifier and as direct",
        direct_identifiers='["sex"]',
    ),
    roles(
        "a column twice in a role",
        "column 'icd9' is named as sensitive and as sensitive",
        sensitive='["icd9", "icd9"]',
    ),
    roles("persons as a list", "person: must be text", person='["patient"]'),
    roles("the person as a number", "person: must be text", person=str(NUMBER)),
    roles("the person as a table", "person: must be text", person=f'{{ {CANARY} = "{CANARY}" }}'),
    roles("the person as true", "person: must be text", person="true"),
    roles("the person as a day", "person: must be text", person="2020-01-01"),
    roles("sensitive as a number", "sensitive: must be a list", sensitive=str(NUMBER)),
    roles(
        "sensitive as a table", "sensitive: must be a list", sensitive=f'{{ icd9 = "{CANARY}" }}'
    ),
    roles("sensitive as lists", "sensitive.0: must be text", sensitive=f'[["{CANARY}"]]'),
    roles("sensitive as numbers", "sensitive.1: must be text", sensitive=f'["icd9", {NUMBER}]'),
    roles(
        "direct identifiers as true",
        "direct_identifiers: must be a list",
        direct_identifiers="true",
    ),
    roles("insensitive as a number", "insensitive: must be a list", insensitive="0"),
    roles("missing as a number", "missing: must be a list", missing="-9"),
    roles("missing as numbers", "missing.0: must be text", missing="[-9]"),
]

QUASI_IDENTIFIERS = [
    alone("quasi-identifiers: an empty list", "there must be at least one quasi-identifier", "[]"),
    alone("quasi-identifiers: an empty table", "at least one quasi-identifier", "{}"),
    alone("quasi-identifiers: a number", "quasi_identifiers: must be a table", str(NUMBER)),
    alone("quasi-identifiers: true", "quasi_identifiers: must be a table", "true"),
    alone("quasi-identifiers: numbers", "quasi_identifiers: a list must hold names", "[1, 2]"),
    alone(
        "quasi-identifiers: lists",
        "quasi_identifiers: a list must hold names of columns",
        f'[["{CANARY}"]]',
    ),
    alone(
        "quasi-identifiers: tables",
        "quasi_identifiers: a list must hold names of columns",
        '[{ name = "age" }]',
    ),
    alone(
        "quasi-identifiers: a column twice",
        "quasi_identifiers: each column must be named once",
        '["age", "age"]',
    ),
    alone(
        "quasi-identifiers: a list of kinds",
        "quasi_identifiers.age: must be a table",
        '{ age = ["numeric"] }',
    ),
    alone(
        "quasi-identifiers: a number as fields",
        "quasi_identifiers.age: must be a table",
        f"{{ age = {NUMBER} }}",
    ),
    alone(
        "quasi-identifiers: an unknown kind as word",
        "age.kind: Input should be 'numeric', 'ordered' or",
        f'{{ age = "{CANARY}" }}',
    ),
    file(
        "quasi-identifiers: an array of tables",
        f"{RULE} quasi_identifiers: a list must hold names of columns",
        '[[quasi_identifiers]]\nname = "age"\n[[quasi_identifiers]]\nname = "sex"\n',
    ),
    file(
        "no quasi-identifiers",
        f"{RULE} quasi_identifiers: is missing",
        schema(**dict.fromkeys(("age", "sex", "edu", "zip"))),
    ),
    file(
        "quasi-identifiers misspelt",
        f"{RULE} quasi_identifier: is no known field",
        GOOD.replace("quasi_identifiers", "quasi_identifier"),
    ),
]

ORDERED = 'kind = "ordered"\n'
HIERARCHY = "age.hierarchy: must be a file's path, a table with"

FIELDS = [
    quasi(
        "an unknown kind",
        "age.kind: Input should be 'numeric', 'ordered' or 'categorical'",
        f'kind = "{CANARY}"',
    ),
    quasi("a kind in capitals", "age.kind: Input should be 'numeric'", 'kind = "Numeric"'),
    quasi("a kind as a number", "age.kind: Input should be 'numeric'", f"kind = {NUMBER}"),
    quasi("kinds as a list", "age.kind: Input should be 'numeric'", 'kind = ["numeric"]'),
    quasi(
        "an order of numbers",
        "age: 'order' is for kind = \"ordered\" only",
        'kind = "numeric"\norder = ["1"]',
    ),
    quasi(
        "an order without kind",
        "age: 'order' is for kind = \"ordered\" only",
        f'order = ["{CANARY}"]',
    ),
    quasi(
        "an order of categories",
        "sex: 'order' is for",
        f'kind = "categorical"\norder = ["{CANARY}"]',
        "sex",
    ),
    quasi(
        "a category twice",
        "edu: 'order' must name each category once",
        f'{ORDERED}order = ["{CANARY}", "{CANARY}"]',
        "edu",
    ),
    quasi("an order as text", "edu.order: must be a list", f'{ORDERED}order = "{CANARY}"', "edu"),
    quasi("an order as a number", "edu.order: must be a list", f"{ORDERED}order = {NUMBER}", "edu"),
    quasi(
        "numbers in an order", "edu.order.0: must be text", f"{ORDERED}order = [{NUMBER}, 2]", "edu"
    ),
    quasi(
        "lists in an order", "edu.order.0: must be text", f'{ORDERED}order = [["{CANARY}"]]', "edu"
    ),
    quasi("a weight of zero", "age.weight: Input should be greater than 0", "weight = 0"),
    quasi(
        "a weight below zero", "age.weight: Input should be greater than 0", f"weight = -{NUMBER}"
    ),
    quasi(
        "a weight that is text",
        "age.weight: Input should be a valid number",
        f'weight = "{CANARY}"',
    ),
    quasi(
        "a weight in quotes", "age.weight: Input should be a valid number", f'weight = "{NUMBER}"'
    ),
    quasi("a weight that is true", "age.weight: Input should be a valid number", "weight = true"),
    quasi("an infinite weight", "age.weight: Input should be a finite number", "weight = inf"),
    quasi("a weight that is no number", "age.weight: Input should be", "weight = nan"),
    quasi("weights as a list", "age.weight: Input should be a valid number", "weight = [1]"),
    quasi("a weight as a day", "age.weight: Input should be a valid number", "weight = 2020-01-01"),
    quasi("a hierarchy that is a number", HIERARCHY, f"hierarchy = {NUMBER}"),
    quasi("a hierarchy that is true", HIERARCHY, "hierarchy = true"),
    quasi("a hierarchy that is a list", HIERARCHY, f'hierarchy = ["{CANARY}"]'),
    quasi("a hierarchy without fields", HIERARCHY, "hierarchy = {}"),
    quasi("a hierarchy of an unknown field", HIERARCHY, f'hierarchy = {{ depth = "{CANARY}" }}'),
    quasi(
        "a hierarchy of both kinds",
        "age.hierarchy.*: is no known field",
        "hierarchy = { lengths = [3], widths = [5] }",
    ),
    quasi(
        "a length as text",
        "lengths.0: Input should be a valid integer",
        f'hierarchy = {{ lengths = ["{CANARY}"] }}',
    ),
    quasi(
        "a length with decimals",
        "lengths.0: Input should be a valid integer",
        "hierarchy = { lengths = [2.5] }",
    ),
    quasi(
        "lengths as a number", "lengths: must be a list", f"hierarchy = {{ lengths = {NUMBER} }}"
    ),
    quasi(
        "groups as text",
        "groups: must be a list",
        f'hierarchy = {{ lengths = [3], groups = "{CANARY}" }}',
    ),
    quasi("widths as a number", "widths: must be a list", f"hierarchy = {{ widths = {NUMBER} }}"),
    quasi("widths as lists", "widths.0", "hierarchy = { widths = [[5]] }"),
    quasi(
        "a start as text",
        "start: Input should be a valid number",
        f'hierarchy = {{ widths = [5], start = "{CANARY}" }}',
    ),
]

CASES = [*TEXTS, *KEYS, *ROLES, *QUASI_IDENTIFIERS, *FIELDS]
