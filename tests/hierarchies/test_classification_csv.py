"""Standard classifications: code, narrow group, broad group."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sfumato.core.errors import InputError
from sfumato.hierarchies import build_hierarchy, read_classification, read_hierarchy
from sfumato.hierarchies.classification_csv import HEADER
from sfumato.hierarchies.steps import distances, steps_raised


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
