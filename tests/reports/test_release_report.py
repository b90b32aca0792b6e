"""The page as HTML: whole, offline, escaped, readable without eyes, and with every number."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from datetime import date
from html import unescape
from html.parser import HTMLParser

import pytest
from reports.told_numbers import told_of_measures

import sfumato as sf
from sfumato.core import number_text
from sfumato.core.number_text import share_text
from sfumato.examples import generate_clinics
from sfumato.release.promises.g_balance import GBalance
from sfumato.release.promises.h_affiliation import HAffiliation
from sfumato.release.promises.k_anonymity import KAnonymity, PidKAnonymity
from sfumato.release.promises.l_diversity import LDiversity
from sfumato.release.promises.marketer_risk import MarketerRisk
from sfumato.release.release_result import Release
from sfumato.reports import printed_numbers
from sfumato.reports.promise_words import promise_lines
from sfumato.reports.release_report import draw_release
from sfumato.reports.release_summary import release_summary
from sfumato.risk.disclosure_risk import Risk

HEADING = ("Visits of two clinics", date(2026, 3, 2))
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """Elements with their attributes, and the text between them."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"[ \n]+", " ", "".join(self.pieces))


@pytest.fixture(scope="module")
def hostile_page(hostile: Release) -> str:
    """The page of the release whose names are code."""
    return draw_release(hostile, *HEADING)


@pytest.fixture(params=["release", "assessment", "hostile"])
def source(
    request: pytest.FixtureRequest, page: str, assessment_page: str, hostile_page: str
) -> str:
    """Each kind of page."""
    return {"release": page, "assessment": assessment_page, "hostile": hostile_page}[request.param]


def test_a_page_that_is_judged_elsewhere_says_where(release: Release) -> None:
    page = draw_release(
        replace(release, judged_in="the project's report"), "Release", date(2026, 11, 29)
    )
    assert release.verdict.headline not in page
    assert "(not ready)" not in page
    assert "the project&#39;s report" in page or "the project's report" in page
    # What the worst row found stands before where the verdict is.
    worst = min(release.verdict.rows, key=lambda each: each.rank)
    assert worst.findings is not None
    headline = unescape(page.partition('<h2 id="verdict">')[2].partition("</h2>")[0])
    share = share_text(worst.findings.found.value, release.verdict.limits.found)
    assert 0 < headline.index(share) < headline.index("the project's report")


def test_a_page_says_what_it_does_not_measure(release: Release) -> None:
    """Attacks, and the population where nothing is known of it; in a project others say it."""

    def said(each: Release) -> str:
        return " ".join(release_summary(each, ()).sentences)

    assert "sfumato attack" in said(release)
    assert "population" in said(release)
    assert "sfumato attack" not in said(replace(release, judged_in="report.html"))


def test_no_two_numbers_of_a_measure_differ(page: str, assessment_page: str) -> None:
    for source in (page, assessment_page):
        told = told_of_measures(source)
        several = {name: values for name, values in told.items() if len(values) > 1}
        assert {"marketer", "prosecutor"} <= {*several}
        for name, values in several.items():
            assert len({*values}) == 1, name


def test_elements_are_nested_and_closed(source: str) -> None:
    parsed = Page(source)
    assert parsed.open == []
    assert [tag for tag, _ in parsed.elements].count("h1") == 1


def test_nothing_is_loaded_from_elsewhere(source: str) -> None:
    rest = re.sub(r'xmlns(:xlink)?="http://www\.w3\.org/[0-9a-z/]+"', "", source)
    assert "http:" not in rest
    assert "https:" not in rest
    assert "@import" not in rest
    assert re.findall(r"url\((?!#)", rest) == []
    loading = {"script", "link", "img", "iframe", "object", "embed", "image"}
    for tag, attributes in Page(source).elements:
        assert tag not in loading
        assert not {"src", "srcset", "data", "onload"} & set(attributes)
        assert not attributes.get("href", "#") or (attributes.get("href") or "#").startswith("#")


def test_it_can_be_read_without_eyes(source: str) -> None:
    elements = Page(source).elements
    assert ("html", {"lang": "en"}) in elements
    for tag, attributes in elements:
        if tag == "th":
            assert attributes.get("scope") in ("col", "row", "rowgroup")
        if tag == "svg":
            named = attributes.get("role") == "img" and attributes.get("aria-label")
            assert named or attributes.get("aria-hidden") == "true"
    levels = [int(tag[1]) for tag, _ in elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in itertools.pairwise(levels))
    tables = [tag for tag, _ in elements if tag in ("table", "caption")]
    assert tables[::2] == ["table"] * (len(tables) // 2)
    assert tables[1::2] == ["caption"] * (len(tables) // 2)


def test_ids_are_unique(source: str) -> None:
    ids = [attributes["id"] for _, attributes in Page(source).elements if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_words_that_promise_too_much_are_not_there(source: str) -> None:
    words = re.findall(r"[a-z]+", Page(source).text.lower())
    assert {"safe", "safely", "anonymous", "anonymised", "anonymized"} & set(words) == set()


def test_it_says_that_it_is_internal(source: str) -> None:
    assert "Internal version." in Page(source).text
    assert "Do not publish" in Page(source).text


def test_names_and_categories_that_are_code_stay_text(hostile: Release) -> None:
    source = draw_release(hostile, "<script>alert('title')</script>", date(2026, 3, 2))
    parsed = Page(source)
    assert "script" not in [tag for tag, _ in parsed.elements]
    assert "<script" not in source
    for name in hostile.schema.quasi_identifiers:
        assert name in parsed.text
    assert "7 * 7" in parsed.text
    assert "49" not in re.findall(r"\d+", parsed.text.split("Every column")[1][:400])


def test_a_category_called_missing_is_not_the_missing_values(
    hostile: Release, hostile_page: str
) -> None:
    column = hostile.utility.distributions[2]
    assert column.labels == ("missing", "missing")
    figure = Page(hostile_page).text.split("“{{ 7 * 7 }}” before and after")[1]
    assert figure.split("Figure")[0].count("missing") >= 2


def _printed(risk: Risk) -> list[str]:
    """Every number of an assessment, as people read it."""
    counts = [risk.records, risk.persons, risk.classes, risk.k, risk.pid_k]
    counts += [risk.sample_uniques, risk.sample_unique_records]
    shares = [risk.max_gidr, risk.avg_gidr, risk.prosecutor, risk.journalist, risk.marketer]
    shares += [risk.average_risk, risk.records_at_risk]
    shares += [getattr(risk.by_records, name) for name in risk.by_records.__dataclass_fields__]
    others = [risk.g_balance]
    for own in risk.sensitive.values():
        shares += [own.h_affiliation, own.max_gsar, own.avg_gsar]
        others += [own.l_entropy, *own.recursive.values()]
        counts.append(own.l_distinct)
    return [
        *map(number_text.count, counts),
        *(number_text.percent(each.value) for each in shares),
        *(number_text.number(each.value) for each in others),
        *(
            printed_numbers.position(each.where)
            for each in [*shares, *others]
            if each.where is not None
        ),
    ]


def test_every_number_of_a_release_is_on_the_page(release: Release, page: str) -> None:
    text = Page(page).text
    for shown in [*_printed(release.risk), *_printed(release.risk_before)]:
        assert shown in text
    utility = release.utility
    shares = [utility.ane, utility.ane_persons, utility.ncp, utility.sse_sst]
    shares += [utility.queries.mean, utility.queries.median]
    for column in utility.columns:
        shares += [column.ane, column.ane_persons, column.ncp, column.sse_sst]
        shares.append(column.total_variation)
    for share in shares:
        assert number_text.percent(share) in text
    assert f"{utility.discernibility:,}" in text
    assert number_text.number(utility.average_class_records) in text
    assert number_text.number(utility.correlations.max_change) in text
    assert str(release.manifest.seed) in text
    assert release.manifest.schema_sha256 in text
    for warning in (*release.warnings, *release.risk.warnings, *release.risk_before.warnings):
        assert warning in text


def test_every_number_of_an_assessment_is_on_the_page(
    risk: Risk, page: str, assessment_page: str
) -> None:
    text = Page(assessment_page).text
    for shown in _printed(risk):
        assert shown in text
    assert "<h2>Promises</h2>" in page
    assert "<h2>Promises</h2>" not in assessment_page


def test_no_person_and_no_pseudonym_is_on_the_page(release: Release, page: str) -> None:
    text = unescape(page)
    visits = generate_clinics(400, rng=7).visits
    for column in ("patient", "name", "phone"):
        assert not any(str(value) in text for value in set(visits[column].to_pylist()))
    pseudonyms = set(release.table["patient"].to_pylist())
    assert min(map(len, pseudonyms)) >= 12
    assert not any(each in text for each in pseudonyms)


@pytest.mark.usefixtures("no_plots")
def test_what_is_left_out_is_not_called_unchanged(release: Release) -> None:
    names = (*release.schema.sensitive, "pages > 3")
    options = replace(release.manifest.options, withhold=names)
    made = replace(release, manifest=replace(release.manifest, options=options))
    text = Page(draw_release(made, *HEADING)).text
    assert f"Left out: {', '.join(f'“{name}”' for name in names)}. The other columns" in text
    plain = Page(draw_release(release, *HEADING)).text
    assert f"Left out: “{names[0]}”" not in plain
    assert "“”" not in text
    assert "“”" not in plain


def kept_of(release: Release, text: str) -> tuple[int, int]:
    """How many promises are kept, of how many, as the page says."""
    said = release_summary(release, promise_lines(release)).sentences
    [kept] = (each for each in said if {*getattr(each, "filled", ())} == {"kept", "all"})
    assert kept in text
    return kept.filled["kept"], kept.filled["all"]  # type: ignore[attr-defined]


@pytest.mark.usefixtures("no_plots")
def test_each_constraint_has_its_line(release: Release) -> None:
    asked = (
        GBalance(0.8),
        HAffiliation(0.5, attribute="icd9"),
        KAnonymity(2),
        PidKAnonymity(3),
        LDiversity(2),
        MarketerRisk(0.9),
    )
    text = Page(draw_release(replace(release, constraints=asked), *HEADING)).text
    assert kept_of(replace(release, constraints=asked), text) == (6, 6)
    assert release.verdict.headline in text
    for words in (
        "is at least 0.8 in every class. Every class then has at least 5 people.",
        "at most 50 % of the people of a class".replace(" %", f"{number_text.NARROW}%"),
        "Every class has at least 2 records.",
        "Every class has at least 3 people.",
        "Every class shows at least 2 different values of “icd9”.",
    ):
        assert words in text


@pytest.mark.usefixtures("no_plots")
def test_what_is_not_met_is_said(release: Release) -> None:
    source = draw_release(replace(release, constraints=(GBalance(0.99), KAnonymity(2))), *HEADING)
    text = Page(source).text
    assert kept_of(replace(release, constraints=(GBalance(0.99), KAnonymity(2))), text) == (1, 2)
    assert f"0 of {release.risk.classes}" in text
    assert source.count('class="mark no"') >= 2
    assert 'class="verdict failed"' in source


@pytest.mark.usefixtures("no_plots")
def test_a_constraint_of_somebody_else_is_reported(release: Release) -> None:
    class Own:
        """A constraint by its protocol alone."""

        name = "own"
        met = staticmethod(KAnonymity(2).met)

        def parameters(self) -> dict[str, int]:
            return {"k": 2}

    source = draw_release(replace(release, constraints=(Own(),)), *HEADING)
    assert kept_of(replace(release, constraints=(Own(),)), Page(source).text) == (1, 1)
    assert "<code>own</code>" in source


@pytest.mark.usefixtures("no_plots")
def test_capped_and_keyed_releases_say_so(release: Release) -> None:
    options = replace(release.manifest.options, cap_records=3, keep_order=True)
    manifest = replace(release.manifest, keyed=True, options=options)
    text = Page(draw_release(replace(release, manifest=manifest), *HEADING)).text
    plain = Page(draw_release(release, *HEADING)).text
    assert re.search(r"At most 3 records", text)
    assert "At most 3 records" not in plain
    for words in ("keyed pseudonyms", "links such releases"):
        assert words in text
        assert words not in plain


@pytest.mark.usefixtures("no_plots")
def test_what_is_left_out_and_what_is_accepted_is_said() -> None:
    clinics = generate_clinics(60, rng=4)
    left = clinics.schema.model_copy(
        update={
            "insensitive": clinics.schema.insensitive[1:],
            "accepted": {clinics.schema.insensitive[1]: "published <by> the ward"},
        }
    )
    release = sf.anonymize(clinics.visits, left, GBalance(0.5), seed=1, unclassified="drop")
    text = Page(draw_release(release, *HEADING)).text
    assert f"{clinics.schema.insensitive[0]}undecidedremoved" in text
    assert "accepted: published <by>" in text
