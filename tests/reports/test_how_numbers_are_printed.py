"""How numbers are printed, and from where on."""

from __future__ import annotations

import pytest

from sfumato.cli.project_commands import _size
from sfumato.reports.disclosure_report import _plain
from sfumato.reports.printed_numbers import COUNT, _on_scale


@pytest.mark.parametrize(("value", "said"), [(9.94, "9.9"), (10.44, "10")])
def test_estimated_counts_are_whole_from_ten_on(value, said):
    assert _on_scale(value, COUNT) == said


def test_numbers_of_a_disclosure_have_the_decimals_of_a_unit_of_kapr():
    assert _plain(1 / 3) == 0.333333333


@pytest.mark.parametrize(
    ("count", "said"), [(999, "999 B"), (1_000, "1.0 kB"), (1_500_000, "1.5 MB")]
)
def test_a_kilobyte_is_a_thousand_bytes(count, said):
    assert _size(count) == said
