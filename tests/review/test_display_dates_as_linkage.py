"""A date that linkage reads is displayed as the date that linkage took it for."""

from __future__ import annotations

from datetime import date, timedelta

import duckdb
import pytest
from review.display_pairs import DAY_FIRST, MONTH_FIRST

from sfumato.linkage.standardisation import date_sql
from sfumato.review.pair_rendering import shown, text_of

DAYS = [date(1905, 1, 1) + timedelta(days=577 * n) for n in range(75)]
SPELLINGS = [
    *("%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%y", "%m-%d-%y", "%d%m%Y"),
    *("%d %b %Y", "%d%b%Y", "%b %d, %Y", "%B %d %Y", "%dth %B, %Y", "%d-%b-%y"),
    *("%Y-%m-%dT%H:%M:%S", "%d/%m/%Y %H:%M"),
]


@pytest.mark.parametrize("attribute", [DAY_FIRST, MONTH_FIRST])
def test_dates_are_read_as_linkage_reads_them(attribute):
    texts = [day.strftime(spelling) for spelling in SPELLINGS for day in DAYS]
    sql = date_sql("text", day_first=attribute is DAY_FIRST)
    with duckdb.connect() as connection:
        query = f"SELECT {sql} FROM (SELECT unnest(?) AS text)"
        read = [iso for (iso,) in connection.execute(query, [texts]).fetchall()]
    both = [(text, iso) for text, iso in zip(texts, read, strict=True) if iso is not None]
    assert len(both) > 0.99 * len(texts)
    for text, iso in both:
        assert text_of(shown(attribute, text)) == text_of(shown(attribute, iso))
