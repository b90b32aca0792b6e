"""Draw the pictures of docs/reference/measures.md, each of a tiny example that sfumato measures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pyarrow as pa

import sfumato as sf
from sfumato.risk.class_measures import g_balance, gidr

TARGET = Path(__file__).parents[1] / "docs" / "images" / "measures"
WIDTH, HEIGHT = 320, 120
STYLE = """
    text { font: 12px Arial, Helvetica, sans-serif; fill: #222 }
    .card { fill: #fbfaf7; stroke: #d8d4ca }
    .quiet { fill: #5c5c5c; font-size: 11px }
    .says { font-weight: bold }
    .mark { fill: #1b4965; stroke: #1b4965 }
    .plain { fill: #e3eaf0; stroke: #5d7183 }
    .empty { fill: none; stroke: #5d7183 }
    .on { fill: #fff; font-size: 11px }
    line { stroke: #5d7183 }
    .dashed { fill: none; stroke: #222; stroke-dasharray: 4 2 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6e6e6 }
      .card { fill: #1a1c1e; stroke: #3d4043 }
      .quiet { fill: #b0b0b0 }
      .mark { fill: #8cc2e3; stroke: #8cc2e3 }
      .plain { fill: #2d3942; stroke: #93a7b8 }
      .empty, line { stroke: #93a7b8 }
      .on { fill: #111 }
      .dashed { stroke: #e6e6e6 }
    }
"""


class Drawing:
    """A card of 320 x 120 with a title; what is said about it is read out with the title."""

    def __init__(self, title: str, description: str, note: str) -> None:
        self.title, self.description = title, description
        self.shapes: list[str] = []
        self.text(12, 18, note, "quiet")

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """Words that begin (or are centred, or end) at x."""
        at = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
        self.shapes.append(f'<text {at} class="{kind}">{escape(words)}</text>')

    def says(self, words: str) -> None:
        """The line with what sfumato measured."""
        self.text(12, 109, words, "says")

    def box(self, x: float, y: float, width: float, height: float, kind: str = "empty") -> None:
        """A bar, or a frame."""
        self.shapes.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" class="{kind}"/>'
        )

    def dot(self, x: float, y: float, letter: str = "", kind: str = "plain") -> None:
        """A record or a person, with a letter for the person."""
        self.shapes.append(f'<circle cx="{x:g}" cy="{y:g}" r="8" class="{kind}"/>')
        if letter:
            self.text(x, y + 4, letter, "on" if kind == "mark" else "", "middle")

    def line(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """A thin line."""
        self.shapes.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>')

    def svg(self) -> str:
        """The picture as a file."""
        card = f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="4"'
        inside = "\n  ".join([f'{card} class="card"/>', *self.shapes])
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="t d">\n'
            f'  <title id="t">{escape(self.title)}</title>\n'
            f'  <desc id="d">{escape(self.description)}</desc>\n'
            f"  <style>{STYLE}  </style>\n  {inside}\n</svg>\n"
        ).replace(' class=""', "")


def percent(share: Any) -> str:
    """A share in whole percent."""
    return f"{100 * float(share):.0f} %"


def measured(persons: Sequence[Any], values: Sequence[Any], **more: Any) -> sf.Risk:
    """The risks of records of persons with one quasi-identifier, `age`.

    A column beside these is a sensitive one, unless it is called `household`; `register` and
    `ordered_distance` are those of `assess`.
    """
    asked = {key: more.pop(key) for key in ("register", "ordered_distance") if key in more}
    household = "household" if "household" in more else None
    schema = sf.Schema(
        person="person",
        household=household,
        quasi_identifiers={"age": "numeric"},
        sensitive=tuple(name for name in more if name != household),
    )
    table = pa.table({"person": list(persons), "age": list(values), **more})
    return sf.assess(table, schema, **asked)


def two_ages(first: str, second: str) -> sf.Risk:
    """The risks of two classes, given by the person of each record."""
    return measured(first + second, [30] * len(first) + [40] * len(second))


def records_of_class() -> Drawing:
    """The fewest records and the fewest persons of a class."""
    classes = ("AAABC", "DEFG")
    risk = two_ages(*classes)
    drawing = Drawing(
        "k and PID-based k",
        f"One class has 5 records of 3 people, another 4 records of 4 people: k is {risk.k} and "
        f"pid_k is {risk.pid_k}, from different classes.",
        "two classes; a dot is a record, a letter a person",
    )
    for row, (members, records, persons) in enumerate(
        zip(classes, risk.own_classes().records, risk.own_classes().persons, strict=True)
    ):
        y = 41 + 31 * row
        drawing.box(12, y - 12, 120, 24)
        for place, letter in enumerate(members):
            drawing.dot(28 + 22 * place, y, letter)
        drawing.text(144, y + 4, f"{records} records, {persons} people")
    drawing.says(f"k = {risk.k} · pid_k = {risk.pid_k}")
    return drawing


def balance() -> Drawing:
    """The largest share of one person in the records of a class, and the balance of all."""
    classes = ("AAABC", "DEF")
    risk = two_ages(*classes)
    drawing = Drawing(
        "GIDR and g-balance",
        f"Person A has 3 of the 5 records of a class: its GIDR is {percent(risk.max_gidr)} and its "
        f"g-balance {float(risk.g_balance):.2f}. In the other class three people have a record "
        "each.",
        "two classes; a bar is a person, its height their records",
    )
    each = zip(classes, gidr(risk.own_classes()), g_balance(risk.own_classes()), strict=True)
    for column, (members, largest, balanced) in enumerate(each):
        left = 12 + 156 * column
        counts = Counter(members)
        for place, (letter, count) in enumerate(counts.items()):
            worst = count / len(members) == risk.max_gidr.value
            drawing.box(
                left + 18 * place, 74 - 15 * count, 14, 15 * count, "mark" if worst else "plain"
            )
            drawing.text(left + 18 * place + 7, 87, letter, "quiet", "middle")
        drawing.text(left + 64, 52, f"GIDR {percent(largest)}")
        drawing.text(left + 64, 70, f"g = {balanced:.2f}")
    drawing.says(
        f"max_gidr {percent(risk.max_gidr)} · avg {percent(risk.avg_gidr)} · "
        f"g_balance {float(risk.g_balance):.2f}"
    )
    return drawing


def affiliation() -> Drawing:
    """The persons of a class by their diagnoses."""
    persons, found = "AABCCD", ["flu", "gout", "flu", "flu", "acne", "acne"]
    risk = measured(persons, [30] * 6, icd=found)
    sensitive = risk.sensitive["icd"]
    drawing = Drawing(
        "h-affiliation and GSAR",
        f"Three of the four people of a class have flu: h is {percent(sensitive.h_affiliation)}.",
        "one class; a row is a diagnosis, a dot a person who has it",
    )
    holders = {value: sorted({p for p, v in zip(persons, found, strict=True) if v == value})
               for value in ("flu", "acne", "gout")}  # fmt: skip
    most = risk.own_classes().affiliation["icd"][0]
    for row, (value, letters) in enumerate(holders.items()):
        y = 36 + 21 * row
        worst = len(letters) == most
        drawing.text(12, y + 4, value)
        for place, letter in enumerate("ABCD"):
            if letter in letters:
                drawing.dot(60 + 26 * place, y, letter, "mark" if worst else "plain")
        drawing.text(170, y + 4, f"{len(letters)} of {risk.own_classes().persons[0]} people")
    drawing.says(f"h_affiliation = {percent(sensitive.h_affiliation)} = max_gsar")
    return drawing


def diversity() -> Drawing:
    """A class with many values of which everybody has one."""
    found = ["flu", "acne", "flu", "gout", "flu", "mumps"]
    risk = measured("AABBCC", [30] * 6, icd=found)
    sensitive = risk.sensitive["icd"]
    drawing = Drawing(
        "l-diversity",
        f"A class of three people shows {sensitive.l_distinct} diagnoses in its records, and yet "
        f"all three people have flu: h is {percent(sensitive.h_affiliation)}.",
        "one class; a bar is a diagnosis, its length its records",
    )
    for row, (value, count) in enumerate(Counter(found).most_common()):
        y = 25 + 18 * row
        letters = [p for p, v in zip("AABBCC", found, strict=True) if v == value]
        drawing.text(12, y + 11, value)
        drawing.box(60, y, 40 * count, 14, "mark" if len(letters) == 3 else "plain")
        drawing.text(68 + 40 * count, y + 11, " ".join(letters), "quiet")
    drawing.says(
        f"distinct l = {sensitive.l_distinct} · entropy l = {float(sensitive.l_entropy):.2f} · "
        f"h = {percent(sensitive.h_affiliation)}"
    )
    return drawing


def closeness() -> Drawing:
    """Shares of the values in a class, and in the file."""
    days = [1, 1, 1, 2, 2, 2, 3, 3]
    risk = measured(range(8), [30] * 4 + [40] * 4, days=days, ordered_distance=["days"])
    sensitive = risk.sensitive["days"]
    ordered = sensitive.t_closeness_ordered
    assert ordered is not None
    drawing = Drawing(
        "t-closeness",
        "Three of four records of a class show 1 day and one 2 days; of the file's eight, three "
        f"show 1, three 2 and two 3 days. The distance is {float(sensitive.t_closeness):.3f}, the "
        f"ordered one {float(ordered):.4f}.",
        "days in hospital: shares of 1, 2 and 3 days",
    )
    for row, (name, values) in enumerate({"class": days[:4], "file": days}.items()):
        y, left = 28 + 32 * row, 60.0
        drawing.text(12, y + 16, name)
        for day, count in sorted(Counter(values).items()):
            width = 248 * count / len(values)
            drawing.box(left, y, width - 3, 24, "plain" if row else "mark")
            label = f"{day} d: {count / len(values):.3g}"
            drawing.text(left + width / 2, y + 16, label, "" if row else "on", "middle")
            left += width
    drawing.says(
        f"t_closeness = {float(sensitive.t_closeness):.3f} · ordered = {float(ordered):.4f}"
    )
    return drawing


def in_population(drawing: Drawing, known: dict[int, tuple[int, int]]) -> None:
    """A row of dots for each age: how many of the population's persons are in the file."""
    for row, (age, (inside, outside)) in enumerate(known.items()):
        y = 41 + 30 * row
        drawing.text(12, y + 4, f"age {age}")
        for place in range(outside):
            drawing.dot(68 + 22 * place, y, "", "mark" if place < inside else "empty")
        drawing.text(184, y + 4, f"f = {inside}, F = {outside}")


def sampled(known: dict[int, tuple[int, int]]) -> sf.Risk:
    """The risks of a file beside a register, by age the persons in both."""
    inside = [age for age, (few, _) in known.items() for _ in range(few)]
    outside = [age for age, (_, many) in known.items() for _ in range(many)]
    register = pa.table({"person": list(range(len(outside))), "age": outside})
    return measured(range(len(inside)), inside, register=register)


def reidentification() -> Drawing:
    """Classes of a sample beside those of the population."""
    known = {30: (2, 5), 40: (1, 4)}
    risk = sampled(known)
    drawing = Drawing(
        "Prosecutor, journalist, marketer",
        "Two of five people of age 30 and one of four of age 40 are in the file: prosecutor "
        f"{percent(risk.prosecutor)}, journalist {percent(risk.journalist)}, marketer "
        f"{percent(risk.marketer)}.",
        "full: in the file (f); ring: in the population only (F: both)",
    )
    in_population(drawing, known)
    drawing.says(
        f"prosecutor {percent(risk.prosecutor)} · journalist {percent(risk.journalist)} · "
        f"marketer {percent(risk.marketer)}"
    )
    return drawing


def presence() -> Drawing:
    """Shares of those who look the same that are in the file."""
    known = {30: (1, 4), 40: (4, 5)}
    risk = sampled(known)
    assert risk.presence is not None
    low, high = percent(risk.presence.presence_low), percent(risk.presence.presence_high)
    drawing = Drawing(
        "δ-presence",
        f"One of four people of age 30 and four of five of age 40 are in the file: presence lies "
        f"between {low} and {high}.",
        "full: in the file (f); ring: in the population only (F: both)",
    )
    in_population(drawing, known)
    drawing.says(f"presence_low = {low} · presence_high = {high}")
    return drawing


def known_counts() -> Drawing:
    """A class whose persons differ by their number of records."""
    members = "AAABC"
    risk = measured(members, [30] * 5)
    drawing = Drawing(
        "An intruder who counts",
        "Person A is alone with 3 records, B and C have 1 each: to an intruder who knows the "
        f"number, count_k is {risk.count_k} and the mean risk {percent(risk.avg_count_risk)}; "
        f"without the number it is {percent(risk.marketer)}.",
        "one class; a row is a person, a dot one of their records",
    )
    counts = Counter(members)
    for row, (letter, count) in enumerate(counts.items()):
        y = 36 + 21 * row
        alike = Counter(counts.values())[count]
        for place in range(count):
            drawing.dot(22 + 22 * place, y, letter, "mark" if alike == 1 else "plain")
        drawing.text(100, y + 4, f"s = {alike}: chance {percent(1 / alike)}")
    drawing.says(
        f"count_k = {risk.count_k} · avg {percent(risk.avg_count_risk)} · "
        f"without the number {percent(risk.marketer)}"
    )
    return drawing


def household() -> Drawing:
    """Three persons who live together, each in a class of their own size."""
    ages = [30] * 4 + [60] * 4 + [10] * 2
    homes = ["h", None, None, None, "h", None, None, None, "h", None]
    risk = measured(range(10), ages, household=homes)
    assert risk.household is not None
    together = percent(risk.household.max_household_risk)
    sizes = dict(zip("ABC", risk.own_classes().persons.tolist(), strict=True))
    drawing = Drawing(
        "Household risk",
        "Three people of a household are in classes of 4, 4 and 2 people; that at least one of "
        f"them is found has the chance {together}.",
        "people of one household, and those who look like them",
    )
    drawing.box(12, 27, 24, 66, "dashed")
    for row, (letter, size) in enumerate(sizes.items()):
        y = 38 + 22 * row
        drawing.dot(24, y, letter, "mark")
        for place in range(1, size):
            drawing.dot(30 + 22 * place, y, "", "empty")
        drawing.text(130, y + 4, f"r = 1/{size}")
    missed = " · ".join(f"{size - 1}/{size}" for size in sizes.values())
    drawing.says(f"max_household_risk = 1 − {missed} = {together}")
    return drawing


def special_uniques() -> Drawing:
    """A person who stands out by one value, and by two others together."""
    rows = [("A", 30, "f", "north"), ("B", 30, "f", "north"), ("C", 30, "m", "south"),
            ("D", 30, "m", "south"), ("E", 70, "f", "south")]  # fmt: skip
    names = ("person", "age", "sex", "region")
    schema = sf.Schema(
        person="person",
        quasi_identifiers={"age": "numeric", "sex": "categorical", "region": "categorical"},
    )
    table = pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    found = sf.assess(table, schema, special_uniques=True).special_uniques
    assert found is not None
    drawing = Drawing(
        "Special uniques",
        "Of five people only E is 70, and only E is both f and south: E is a special "
        f"unique, with SUDA score {found.highest_suda_score}.",
        "five people; full: alone unique, dashed: as a pair",
    )
    for row, cells in enumerate(rows):
        y = 38 + 16 * row
        if cells[0] == "E":
            drawing.box(35, y - 12, 22, 16, "mark")
            drawing.box(61, y - 12, 59, 16, "dashed")
        for x, cell in zip((12, 39, 66, 84), cells, strict=True):
            drawing.text(x, y, str(cell), "on" if cell == 70 else "")
    said = [f"special_uniques = {found.special_uniques}"]
    said += [
        f"minimal_uniques_{size} = {count}"
        for size, count in found.minimal_uniques.items()
        if count
    ]
    said += [f"highest_suda_score = {found.highest_suda_score}"]
    for row, words in enumerate(said):
        drawing.text(140, 42 + 20 * row, words, "says")
    return drawing


AGES = (20, 27, 30, 60, 63, 70)


def released() -> sf.Release:
    """Six ages in two classes."""
    schema = sf.Schema(person="person", quasi_identifiers={"age": "numeric"})
    table = pa.table({"person": list(range(6)), "age": AGES})
    return sf.anonymize(table, schema, sf.KAnonymity(3), ends="tight", seed=2020)


def on_axis(age: float) -> float:
    """Where an age is drawn."""
    return 40 + (age - AGES[0]) * 240 / (AGES[-1] - AGES[0])


def class_means() -> Drawing:
    """Distances of values from the mean of their class."""
    utility = released().utility
    drawing = Drawing(
        "ANE",
        "Six ages in two classes of three; the mean distance from the mean of the class is "
        f"{utility.ane:.3f} of the whole span.",
        "dots: ages; upright: mean of the class; bar: distance",
    )
    for ages in (AGES[:3], AGES[3:]):
        mean = sum(ages) / len(ages)
        drawing.line(on_axis(mean), 26, on_axis(mean), 92)
        for row, age in enumerate(ages):
            y = 38 + 21 * row
            low, high = sorted((on_axis(age), on_axis(mean)))
            drawing.box(low, y - 2, high - low, 4, "mark")
            drawing.dot(on_axis(age), y)
            side, anchor = (12, "start") if age > mean else (-12, "end")
            drawing.text(on_axis(age) + side, y + 4, str(age), "quiet", anchor)
    drawing.says(f"ane = {utility.ane:.3f} · sse_sst = {utility.sse_sst:.3f}")
    return drawing


def certainty() -> Drawing:
    """Widths of the released ranges in the whole domain."""
    release = released()
    drawing = Drawing(
        "NCP",
        "Ages from 20 to 70 are released as two ranges, each 10 of the 50 years wide: the penalty "
        f"is {release.utility.ncp:.2f}.",
        "the ages of the file, and the ranges that stand for them",
    )
    drawing.line(on_axis(AGES[0]), 48, on_axis(AGES[-1]), 48)
    for age in AGES:
        drawing.dot(on_axis(age), 36)
    for cell in sorted(set(release.table["age"].to_pylist())):
        low, high = map(int, cell.split("-"))
        width = high - low
        drawing.box(on_axis(low), 62, on_axis(high) - on_axis(low), 12, "mark")
        drawing.text((on_axis(low) + on_axis(high)) / 2, 88, cell, "", "middle")
    drawing.text(160, 88, "domain 20-70", "quiet", "middle")
    drawing.says(f"ncp = {width}/{AGES[-1] - AGES[0]} = {release.utility.ncp:.2f}")
    return drawing


def queries() -> Drawing:
    """Counts of the original, and as they are read from a release."""
    counts = {20: 30, 21: 10, 22: 20}
    ages = [age for age, count in counts.items() for _ in range(count)]
    schema = sf.Schema(person="person", quasi_identifiers={"age": "numeric"})
    table = pa.table({"person": list(range(60)), "age": ages})
    utility = sf.anonymize(table, schema, sf.KAnonymity(60), seed=2020).utility
    shown = utility.distributions[0]
    before, after = ([round(60 * share) for share in each] for each in (shown.before, shown.after))
    error = abs(after[0] - before[0]) / before[0]
    drawing = Drawing(
        "Query error",
        f"How many are 20? The original has {before[0]}, the release 20-22 says {after[0]}: an "
        f"error of {percent(error)}. The mean over 1,000 random queries is "
        f"{percent(utility.queries.mean)}.",
        "full: records of each age; dashed: as read from 20-22",
    )
    for place, (age, own, read) in enumerate(zip(counts, before, after, strict=True)):
        x = 20 + 50 * place
        drawing.box(x, 78 - 1.6 * own, 30, 1.6 * own, "plain" if place else "mark")
        drawing.box(x - 3, 78 - 1.6 * read, 36, 1.6 * read, "dashed")
        drawing.text(x + 15, 91, str(age), "quiet", "middle")
    drawing.text(180, 46, "How many are 20?")
    drawing.text(180, 64, f"{before[0]}; read: {after[0]}")
    drawing.says(f"error {percent(error)} · mean of 1,000: {percent(utility.queries.mean)}")
    return drawing


PICTURES: dict[str, Callable[[], Drawing]] = {
    "k": records_of_class,
    "g_balance": balance,
    "h_affiliation": affiliation,
    "l_diversity": diversity,
    "t_closeness": closeness,
    "reidentification": reidentification,
    "count_risk": known_counts,
    "household": household,
    "special_uniques": special_uniques,
    "presence": presence,
    "ane": class_means,
    "ncp": certainty,
    "query_error": queries,
}


def main() -> None:
    """Draw all of them."""
    TARGET.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        (TARGET / f"{name}.svg").write_text(draw().svg(), encoding="utf-8")


if __name__ == "__main__":
    main()
