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


def test_the_help_of_a_command_is_read(tool, tmp_path):
    code = 'def {}():\n    """{}"""\n'
    module = tmp_path / "cli" / "some_command.py"
    module.parent.mkdir()
    module.write_text(
        code.format("link", "Find persons.")
        + code.format("_own", "Find persons.")
        + code.format("found", "Persons.\n\nReturns\n-------\nint\n")
    )
    assert [text for _, text in tool.literals(module)] == ["Find persons."]


def test_a_sign_is_seen_in_the_format_of_a_number(tool, tmp_path):
    module = tmp_path / "module.py"
    module.write_text('said = f"{share:.1%} of {count:,} people"')
    assert [text for _, text in tool.literals(module)] == ["x% of x people"]
    module.write_text('said = f"{100 * share:.1f} % of {count:,} people"')
    assert [text for _, text in tool.literals(module)] == ["100x % of x people"]


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
