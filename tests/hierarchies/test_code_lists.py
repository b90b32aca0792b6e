"""Standard classifications and one-row-per-leaf files, good and bad."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from sfumato.core.errors import InputError
from sfumato.hierarchies import (
    build_hierarchy,
    read_classification,
    read_hierarchy,
    read_leaves_csv,
)
from sfumato.hierarchies.code_lists import HEADER
from sfumato.hierarchies.hierarchy import distances, steps_raised


def test_mandarin_lies_below_chinese_and_eastern_asian_languages(shared_data: Path) -> None:
    found = read_classification(shared_data / "classifications" / "ascl.csv")
    tree = found.hierarchy
    assert (len(tree.leaves), tree.height) == (504, 3)
    mandarin = tree.positions["7104"]
    assert [tree.label(level, tree.ancestors[level, mandarin]) for level in range(4)] == [
        "7104",
        "71",
        "7",
        "*",
    ]
    assert found.named("7104") == "7104 Mandarin"
    assert found.names["71"] == "Chinese, nfd"
    assert sum(tree.is_below(leaf, "71") for leaf in tree.leaves) == 7


def test_chinese_lies_below_chinese_asian_and_north_east_asian(shared_data: Path) -> None:
    tree = read_classification(shared_data / "classifications" / "ascceg.csv").hierarchy
    assert (len(tree.leaves), tree.height) == (321, 3)
    assert tree.is_below("6101", "61")
    assert tree.is_below("6101", "6")
    assert not tree.is_below("6101", "7")


def test_supplementary_codes_are_one_step_from_the_root(shared_data: Path) -> None:
    tree = read_classification(shared_data / "classifications" / "ascl.csv").hierarchy
    not_stated, mandarin, cantonese = (tree.positions[code] for code in ("0002", "7104", "7101"))
    assert tree.is_below("0002", "0002")
    steps = steps_raised(tree)
    assert steps[:, not_stated].tolist() == [0, 0, 0, 1]
    assert steps[:, mandarin].tolist() == [0, 1, 2, 3]
    one = np.array([mandarin, mandarin, mandarin], dtype=np.int32)
    other = np.array([mandarin, cantonese, not_stated], dtype=np.int32)
    assert distances(tree, one, other).tolist() == [0, 2, 4]


def test_a_schema_may_name_a_classification(shared_data: Path) -> None:
    path = shared_data / "classifications" / "ascl.csv"
    tree = build_hierarchy(path, ["7104", "1201", "0002"], "language")
    assert tree.leaves == ("7104", "1201", "0002")
    assert tree.labels[2] == ("7", "1", "0002")
    assert read_hierarchy(path).leaves[0] == "0000"
    with pytest.raises(InputError, match="1 of 2 distinct values without a leaf"):
        build_hierarchy(path, ["7104", "9999x"], "language")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["1101,A,11,X,1,Y,code", "1101,A,12,Z,1,Y,code"], "same code in lines 2 and 3"),
        (["1101,A,11,X,1,Y,code", "1102,B,11,X,2,Z,code"], "lines 2 and 3"),
        (["1101,,11,X,1,Y,code"], "no 'label' in line 2"),
        (["1101,A,,X,1,Y,code"], "no 'narrow_group' in line 2"),
        ([",A,11,X,1,Y,code"], "no 'code' in line 2"),
        (["1101,A,11,X,1,Y"], "6 in line 2"),
        (["1101,A,11,X,1,Y,code", "1102,B,11,W,1,Y,code"], "'narrow_label' in line 3"),
        ([], "no row"),
        (['1101,"A,11,X,1,Y,code'], "an error in line"),
    ],
)
def test_files_that_break_a_rule(tmp_path: Path, rows: list[str], said: str) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("\n".join([",".join(HEADER), *rows]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_classification(path)


def test_another_header_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("code;label\n1;a\n", encoding="utf-8")
    with pytest.raises(InputError, match="header of a classification"):
        read_classification(path)


def _leaves_file(folder: Path, content: str | bytes) -> Path:
    path = folder / "codes.csv"
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def _leaves_refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_leaves_csv(path)
    message = str(caught.value)
    assert "codes.csv" in message
    assert "canary" not in message
    return message


def test_adult_education(shared_data: Path) -> None:
    tree = read_leaves_csv(shared_data / "adult" / "adult_hierarchy_education.csv")
    assert len(tree.leaves) == 16
    assert tree.height == 3
    assert tree.leaves[:3] == ("Bachelors", "Some-college", "11th")
    assert tree.is_below("Bachelors", "Undergraduate")
    assert tree.is_below("Bachelors", "Higher education")
    assert not tree.is_below("11th", "Higher education")


def test_all_adult_hierarchies(shared_data: Path) -> None:
    sizes = {
        path.stem.rpartition("_")[2]: len(read_leaves_csv(path).leaves)
        for path in (shared_data / "adult").glob("adult_hierarchy_*.csv")
    }
    assert sizes == {
        "age": 100,
        "education": 16,
        "marital-status": 7,
        "native-country": 41,
        "occupation": 14,
        "race": 5,
        "salary-class": 2,
        "sex": 2,
        "workclass": 8,
    }


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_and_line_ends(tmp_path: Path, delimiter: str, end: str) -> None:
    rows = [["a", "x y", "*"], ["b", "x y", "*"]]
    text = end.join(delimiter.join(row) for row in rows) + end
    tree = read_leaves_csv(_leaves_file(tmp_path, text))
    assert tree.labels == (("a", "b"), ("x y",), ("*",))


def test_quoted_cells_a_mark_at_the_start_and_blank_lines(tmp_path: Path) -> None:
    text = '\ufeff"a;1";"say ""x""";*\n\nb,2;"say ""x""";*\n\n'
    assert read_leaves_csv(_leaves_file(tmp_path, text)).labels == (
        ("a;1", "b,2"),
        ('say "x"',),
        ("*",),
    )


def test_commas_inside_labels_do_not_win_over_semicolons(tmp_path: Path) -> None:
    tree = read_leaves_csv(_leaves_file(tmp_path, "married, away;married\nmarried, here;married\n"))
    assert tree.leaves == ("married, away", "married, here")


def test_quotes_that_only_the_right_delimiter_explains(tmp_path: Path) -> None:
    tree = read_leaves_csv(_leaves_file(tmp_path, '"a;b",x\n"c;d",y\n'))
    assert tree.leaves == ("a;b", "c;d")


def test_leaves_alone_get_a_root(tmp_path: Path) -> None:
    assert read_leaves_csv(_leaves_file(tmp_path, "a\nb\n")).labels == (("a", "b"), ("*",))


def test_a_last_column_of_several_labels_gets_a_root(tmp_path: Path) -> None:
    tree = read_leaves_csv(_leaves_file(tmp_path, "a;x\nb;y\n"))
    assert tree.labels == (("a", "b"), ("x", "y"), ("*",))


@pytest.mark.parametrize("content", ["", "\n\n", "\ufeff"])
def test_empty_file(tmp_path: Path, content: str) -> None:
    assert "found no row" in _leaves_refusal(_leaves_file(tmp_path, content))


def test_not_utf8_names_the_line(tmp_path: Path) -> None:
    message = _leaves_refusal(_leaves_file(tmp_path, b"a;x\ncanary-\xe9;x\n"))
    assert "UTF-8" in message
    assert "line 2" in message


def test_no_such_file_and_a_folder(tmp_path: Path) -> None:
    assert "codes.csv" in _leaves_refusal(tmp_path / "codes.csv")
    (tmp_path / "codes.csv").mkdir()
    assert "can be read" in _leaves_refusal(tmp_path / "codes.csv")


def test_rows_of_different_lengths_name_the_line(tmp_path: Path) -> None:
    message = _leaves_refusal(_leaves_file(tmp_path, "a;x;*\nb;y;*\n\ncanary;*\n"))
    assert re.findall(r"\d+ in line \d+", message) == ["2 in line 4", "3 in line 1"]


def test_a_leaf_twice_with_different_ancestors(tmp_path: Path) -> None:
    message = _leaves_refusal(_leaves_file(tmp_path, "canary;x;*\nb;y;*\ncanary;y;*\n"))
    assert "lines 1 and 3" in message
    assert "same leaf" in message


def test_labels_that_do_not_nest(tmp_path: Path) -> None:
    message = _leaves_refusal(_leaves_file(tmp_path, "a;canary;u\nb;y;u\nc;canary;v\n"))
    assert re.findall(r"\d+", message.partition("lines ")[2])[:4] == ["1", "3", "2", "3"]


def test_lines_are_counted_over_cells_of_several_lines(tmp_path: Path) -> None:
    message = _leaves_refusal(_leaves_file(tmp_path, '"a\nb";x;*\nc;x;*\nc;y;*\n'))
    assert "lines 3 and 4" in message


def test_an_empty_cell(tmp_path: Path) -> None:
    assert "line 2, column 2" in _leaves_refusal(_leaves_file(tmp_path, "a;x;*\ncanary;;*\n"))


def test_a_quote_that_is_not_closed(tmp_path: Path) -> None:
    assert "row that starts in line 2" in _leaves_refusal(
        _leaves_file(tmp_path, 'a;x\n"canary;x\nb;x\n')
    )


def test_a_cell_that_is_too_long(tmp_path: Path) -> None:
    assert "line 1" in _leaves_refusal(_leaves_file(tmp_path, "canary" * 30_000 + ";x\n"))
