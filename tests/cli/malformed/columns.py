"""Columns that do not hold what their role and kind need."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from cli.malformed.case import (
    CANARY,
    GOOD,
    HIERARCHY,
    NUMBER,
    RECORDS,
    Case,
    Content,
    data,
    schema,
    text,
    with_cell,
)
from cli.malformed.files import all_rows, parquet

NO_NUMBER = "column 'age' must hold numbers or dates, as a numeric quasi-identifier; found"
IN_ROW_4 = "in row 4"
MISSING_ONLY = "column '{}' must hold values, as a {}; found missing values only"
LARGE = "column 'age' must hold numbers below 2\\*\\*53"
DATES = [f"19{70 + row}-01-31" for row in range(RECORDS)]


def cells(what: str, said: str, **columns: list[str] | None) -> Case:
    return Case(what, said, {"visits.csv": data(**columns)})


def age(what: str, said: str, value: str) -> Case:
    """One cell of a numeric quasi-identifier."""
    return cells(f"numeric: {what}", f"{said}.*{IN_ROW_4}", age=with_cell("age", value))


def typed(what: str, said: str, values: pa.Array) -> Case:
    """A numeric quasi-identifier with a type of its own."""
    files = {"visits.parquet": parquet(age=values)}
    return Case(f"numeric, Parquet: {what}", said, files, data="visits.parquet")


LACKING = [
    cells(
        f"no column {name}",
        f"must have the column '{name}', which the schema names as {role}",
        **{name: None},
    )
    for name, role in (
        ("patient", "person"),
        ("name", "direct identifier"),
        ("age", "quasi-identifier"),
        ("sex", "quasi-identifier"),
        ("icd9", "sensitive"),
        ("note", "insensitive"),
    )
]

NAMES = [
    cells("a name in capitals", "did you mean 'AGE'", age=None, AGE=GOOD["age"]),
    cells("a name with spaces", "did you mean ' age '", age=None, **{" age ": GOOD["age"]}),
    cells("a name misspelt", "did you mean 'patiemt'", patient=None, patiemt=GOOD["patient"]),
]

PERSONS = [
    cells(
        "a person without id",
        f"'patient' of .*no person id {IN_ROW_4}",
        patient=with_cell("patient", ""),
    ),
    cells("a person of spaces", f"no person id {IN_ROW_4}", patient=with_cell("patient", "   ")),
    cells("a tab as person", f"no person id {IN_ROW_4}", patient=with_cell("patient", "\t")),
    cells("nobody", "no person id in 12 records, the first in row 1", patient=[""] * RECORDS),
    Case(
        "a person that means missing",
        f"no person id {IN_ROW_4}",
        {
            "visits.csv": data(patient=with_cell("patient", "n/a")),
            "schema.toml": schema(roles={"missing": '["n/a"]'}),
        },
    ),
    Case(
        "a number that means nobody",
        "no person id in 12 records",
        {
            "visits.csv": data(patient=["0"] * RECORDS),
            "schema.toml": schema(roles={"missing": '["0"]'}),
        },
    ),
]

NUMBERS = [
    age("text", f"{NO_NUMBER} text", CANARY),
    age("text with a number", f"{NO_NUMBER} text", f"{CANARY} {NUMBER}"),
    age("a decimal comma", f"{NO_NUMBER} numbers with a decimal comma", f"{NUMBER},5"),
    age("thousands", f"{NO_NUMBER} numbers with a decimal comma or separators", "918 273 645"),
    age("a currency", f"{NO_NUMBER} numbers with a unit or sign", f"€{NUMBER}"),
    age("a unit", f"{NO_NUMBER} numbers with a unit or sign", f"{NUMBER} years"),
    age("a limit", f"{NO_NUMBER} numbers with a unit or sign", f">{NUMBER}"),
    age("hexadecimal", f"{NO_NUMBER} (text|numbers with a unit)", f"0x{NUMBER}"),
    age("underscores", f"{NO_NUMBER} (text|numbers with a unit)", "918_273_645"),
    age("a word for no number", f"{NO_NUMBER} text", "NaN"),
    age("a formula", f"{NO_NUMBER} text", f"={CANARY}({NUMBER})"),
    age("a range", f"{NO_NUMBER}", f"20-{NUMBER}"),
    age("other digits", f"{NO_NUMBER} text", "\u0664\u0661"),
    age("a minus sign of typography", f"{NO_NUMBER}", f"\u2212{NUMBER}"),
    age("a line break", NO_NUMBER, f"{NUMBER}\n{CANARY}"),
    age("yes", f"{NO_NUMBER} text", "true"),
    age("infinity", "'age' must hold finite numbers; found an infinite number", "inf"),
    age("minus infinity", "'age' must hold finite numbers", "-Infinity"),
    age("a date among numbers", "either numbers or dates; found both \\(dates", "1970-01-31"),
    age("a date in another form", f"{NO_NUMBER} dates in another form", "31.01.1970"),
    age("a huge integer", LARGE, str(10**30 + NUMBER)),
    age("2**53", LARGE, str(2**53)),
    age("minus 2**53", LARGE, str(-(2**53))),
    age("a huge exponent", LARGE, "1e400"),
    age("very many digits", LARGE, str(NUMBER) * 500),
    cells(
        "numeric: a number among dates",
        "both \\(numbers in row 4\\)",
        age=[*DATES[:3], str(NUMBER), *DATES[4:]],
    ),
    cells(
        "numeric: a day that is none",
        f"{NO_NUMBER} dates in another form in row 4",
        age=[*DATES[:3], "1971-02-29", *DATES[4:]],
    ),
    cells(
        "numeric: dates of the American kind",
        f"{NO_NUMBER} dates in another form in 12 records",
        age=["12/31/1970"] * RECORDS,
    ),
    cells(
        "numeric: dates and times mixed",
        f"{NO_NUMBER} .*{IN_ROW_4}",
        age=[*DATES[:3], f"1970-01-31 {CANARY}", *DATES[4:]],
    ),
    cells(
        "numeric: a far date beside times",
        "with a time of day, from 1685 to 2254",
        age=[*(f"{day}T10:00:00" for day in DATES[:-1]), "9999-12-31"],
    ),
    cells("numeric: text alone", f"{NO_NUMBER} text in 12 records", age=text(*range(RECORDS))),
    typed("booleans", f"{NO_NUMBER} true and false", all_rows(True, pa.bool_())),
    typed("times of day", f"{NO_NUMBER} times of day", all_rows(NUMBER // 9, pa.time64("us"))),
    typed(
        "infinite floats", "an infinite number in 12 records", all_rows(float("inf"), pa.float64())
    ),
    typed("huge integers", LARGE, all_rows(2**62 + NUMBER, pa.int64())),
    typed("huge unsigned integers", LARGE, all_rows(2**64 - NUMBER, pa.uint64())),
    typed("huge decimals", LARGE, all_rows(10**30 + NUMBER, pa.decimal128(38, 0))),
    typed("huge floats", LARGE, all_rows(1e300, pa.float64())),
    typed("an unknown zone", "a time zone that", all_rows(NUMBER, pa.timestamp("s", CANARY))),
    typed("days beyond the calendar", "year 1 to 9999", all_rows(NUMBER, pa.date32())),
]

NOTHING = [
    cells("numeric: nothing", MISSING_ONLY.format("age", "quasi-identifier"), age=[""] * RECORDS),
    cells(
        "categorical: nothing", MISSING_ONLY.format("sex", "quasi-identifier"), sex=[""] * RECORDS
    ),
    cells("ordered: nothing", MISSING_ONLY.format("edu", "quasi-identifier"), edu=[""] * RECORDS),
    cells("spaces only", MISSING_ONLY.format("sex", "quasi-identifier"), sex=["  "] * RECORDS),
    cells(
        "sensitive: nothing",
        MISSING_ONLY.format("icd9", "sensitive attribute"),
        icd9=[""] * RECORDS,
    ),
    typed("nulls", MISSING_ONLY.format("age", "quasi-identifier"), pa.nulls(RECORDS)),
    typed(
        "NaN", MISSING_ONLY.format("age", "quasi-identifier"), all_rows(float("nan"), pa.float64())
    ),
    Case(
        "sensitive: what means missing",
        MISSING_ONLY.format("icd9", "sensitive attribute"),
        {
            "visits.csv": data(icd9=["unknown"] * RECORDS),
            "schema.toml": schema(roles={"missing": '["unknown"]'}),
        },
    ),
    Case(
        "numeric: what means missing",
        MISSING_ONLY.format("age", "quasi-identifier"),
        {
            "visits.csv": data(age=["-9.0"] * RECORDS),
            "schema.toml": schema(roles={"missing": '["-9"]'}),
        },
    ),
]


def quasi(what: str, said: str, **fields: str) -> Case:
    """A quasi-identifier declared in another way."""
    return Case(what, said, {"schema.toml": schema(**fields)})


ORDER = 'kind = "ordered"\norder = [{}]'
OTHERS = "column 'edu' must hold only the categories of its 'order'; found others in"
LOW = f'"{CANARY}-low"'

ORDERS = [
    quasi(
        "an order without a category",
        f"{OTHERS} 5 records, the first in row 1",
        edu=ORDER.format(f'{LOW}, "{CANARY}-high"'),
    ),
    quasi("an order in capitals", OTHERS, edu=ORDER.format(f"{LOW}, {LOW.upper()}")),
    quasi("an order of nothing", f"{OTHERS} 12 records", edu=ORDER.format("")),
    quasi("an order of other words", OTHERS, edu=ORDER.format('"a", "b"')),
    quasi("an order of one word", f"{OTHERS} 8 records", edu=ORDER.format(LOW)),
]


def leaves(what: str, said: str, content: Content) -> Case:
    """A broken file of a hierarchy."""
    return Case(f"hierarchy: {what}", said, {"edu.csv": content})


FILE = "hierarchy file edu.csv must"
LEAVES = HIERARCHY.splitlines()
UTF8 = f"{FILE} be text in UTF-8; found other bytes in line 1"

HIERARCHIES = [
    leaves("no file", "hierarchy file edu.csv is not there", None),
    leaves("a folder", f"{FILE} be a file that can be read; found a folder", Path.mkdir),
    leaves("empty", f"{FILE} have one row per leaf; found no row", b""),
    leaves("empty lines", f"{FILE} have one row per leaf; found no row", "\n\n\n"),
    leaves(
        "a leaf missing",
        "hierarchy of column 'edu' .* 1 of 3 distinct values without a leaf",
        "\n".join(LEAVES[:2]),
    ),
    leaves("all leaves missing", "3 of 3 distinct values without a leaf", f"{CANARY};*\n"),
    leaves("leaves in capitals", "3 of 3 distinct values without a leaf", HIERARCHY.upper()),
    leaves("a header", "1 of 3 distinct|nested|cells", "\n".join(["a;b", *LEAVES])),
    leaves(
        "ragged",
        f"{FILE} have as many cells in every row; found 2 in line 2 and 3 in line 1",
        f"{LEAVES[0]}\n{CANARY};*\n{LEAVES[2]}",
    ),
    leaves(
        "a row too long",
        f"{FILE} have as many cells in every row; found 4 in line 3",
        f"{HIERARCHY};{CANARY}",
    ),
    leaves(
        "an empty cell",
        f"{FILE} have a label in every cell; found an empty cell in line 1, column 2",
        HIERARCHY.replace(f"{CANARY}-basic", "", 1),
    ),
    leaves(
        "a leaf under two parents",
        f"{FILE} be nested.*lines 1 and 4, which name the same leaf",
        f"{HIERARCHY}\n{CANARY}-low;{CANARY}-higher;*",
    ),
    leaves(
        "not nested",
        f"{FILE} be nested.*lines 1 and 2, which agree in column 2 and differ in column 3",
        "\n".join(f"{line[:-1]}{CANARY}-{i}" for i, line in enumerate(LEAVES)),
    ),
    leaves("Latin-1", UTF8, HIERARCHY.replace("-low", "-l\xf6w").encode("latin-1")),
    leaves("UTF-16", UTF8, HIERARCHY.encode("utf-16")),
    leaves(
        "an open quote",
        f"{FILE} be CSV; found an error in the row that starts in line 2",
        f'{LEAVES[0]}\n"{LEAVES[1]}\n{LEAVES[2]}',
    ),
    leaves("text behind a quote", f"{FILE} be CSV", f'"{CANARY}"{CANARY};*\n{HIERARCHY}'),
    leaves(
        "a zero byte",
        "be CSV|zero byte|distinct values without a leaf",
        HIERARCHY.replace("w", "\0"),
    ),
    leaves("a very long cell", "be CSV|distinct values without a leaf", f"{CANARY * 20_000};*\n"),
    leaves(
        "another delimiter", "3 of 3 distinct values without a leaf", HIERARCHY.replace(";", "|")
    ),
    quasi(
        "hierarchy: a path with a zero byte",
        "a path that no file can have",
        edu='kind = "ordered"\nhierarchy = "a\\u0000b.csv"',
    ),
    quasi(
        "hierarchy: no path",
        "hierarchy file .* must be a file that can be read; found a folder",
        edu='kind = "ordered"\nhierarchy = ""',
    ),
]

INTERVALS = 'kind = "numeric"\nhierarchy = {{ {} }}'
PREFIXES = 'kind = "categorical"\nhierarchy = {{ {} }}'
OF_AGE = "hierarchy of column 'age' must have"
OF_ZIP = "hierarchy of column 'zip' must have"
WIDTHS = f"{OF_AGE} widths above zero, narrowest first, each a multiple of the one before"
LENGTHS = f"{OF_ZIP} prefix lengths of at least one character, longest first, each once"
GROUPS = f"{OF_ZIP} groups that are ranges of codes; found something else in group"


def widths(what: str, said: str, fields: str) -> Case:
    return quasi(f"intervals: {what}", said, age=INTERVALS.format(fields))


def prefixes(what: str, said: str, fields: str) -> Case:
    return quasi(f"prefixes: {what}", said, zip=PREFIXES.format(fields))


MADE_HIERARCHIES = [
    widths("none", f"{OF_AGE} at least one width", "widths = []"),
    widths("not nested", WIDTHS, "widths = [5, 12]"),
    widths("descending", WIDTHS, "widths = [10, 5]"),
    widths("the same twice", WIDTHS, "widths = [5, 5]"),
    widths("zero", WIDTHS, "widths = [0, 5]"),
    widths("negative", WIDTHS, "widths = [-5]"),
    widths("not a number", f"{OF_AGE} finite widths", "widths = [nan]"),
    widths("infinite", f"{OF_AGE} finite widths", "widths = [5, inf]"),
    widths(
        "an infinite start",
        f"{OF_AGE} finite widths and start",
        "widths = [5]\nstart = inf".replace("\n", ", "),
    ),
    widths("words and numbers", f"{OF_AGE} widths of one kind", 'widths = [5, "year"]'),
    widths("an unknown word", f"{OF_AGE} widths of dates narrowest first", 'widths = ["week"]'),
    widths(
        "words descending",
        f"{OF_AGE} widths of dates narrowest first",
        'widths = ["year", "month"]',
    ),
    widths(
        "dates over numbers",
        "'age' with widths of dates must be over a column of dates",
        'widths = ["year"]',
    ),
    quasi(
        "intervals: numbers over text",
        "with widths of numbers must be over a column of numbers; found 2 of 2",
        sex='kind = "categorical"\nhierarchy = { widths = [5] }',
    ),
    prefixes("ascending", LENGTHS, "lengths = [3, 5]"),
    prefixes("the same twice", LENGTHS, "lengths = [3, 3]"),
    prefixes("zero", LENGTHS, "lengths = [3, 0]"),
    prefixes("negative", LENGTHS, "lengths = [-1]"),
    prefixes("a group of words", f"{GROUPS} 1", f'lengths = [3], groups = ["{CANARY} x"]'),
    prefixes("a group backwards", f"{GROUPS} 2", 'lengths = [3], groups = ["1-3", "9-4"]'),
    prefixes("a group of other letters", f"{GROUPS} 1", 'lengths = [3], groups = ["V01-E91"]'),
    prefixes(
        "groups that overlap",
        f"{OF_ZIP} groups that do not overlap; found .*group 1 .*group 2",
        'lengths = [3], groups = ["100-300", "200-400"]',
    ),
    Case(
        "intervals: numbers over dates",
        "with widths of numbers must be over a column of numbers",
        {
            "visits.csv": data(age=DATES),
            "schema.toml": schema(age=INTERVALS.format("widths = [5]")),
        },
    ),
]

CASES = [
    *LACKING,
    *NAMES,
    *PERSONS,
    *NUMBERS,
    *NOTHING,
    *ORDERS,
    *HIERARCHIES,
    *MADE_HIERARCHIES,
]
