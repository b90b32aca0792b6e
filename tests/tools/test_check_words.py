"""What of a module is a text that people may read."""

import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_words.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("check_words", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ('said = "of the persons"', 1),
        ('said = f"{number} persons"', 1),
        ('said = "Persons"', 1),
        ('said = "persons are in class_of records"', 1),
        ('name = "persons"', 0),
        ('keys = "file_sha256 persons records"', 0),
        ('keys = fields_of(self, "records persons")', 0),
        ('"""A docstring is for those who read the code."""', 0),
    ],
)
def test_names_are_not_read_and_short_texts_are(tool, tmp_path, code, read):
    module = tmp_path / "module.py"
    module.write_text(code)
    assert len(list(tool.literals(module))) == read
