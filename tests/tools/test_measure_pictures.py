"""The pictures of the page on measures are what their tool draws, and the page reads them out."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "measure_pictures.py"
FOLDER = ROOT / "docs" / "images" / "measures"
NAMES = sorted(path.stem for path in FOLDER.glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measure_pictures", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_no_picture_is_missing_or_left_over(tool: ModuleType) -> None:
    assert sorted(tool.PICTURES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_what_the_tool_draws(tool: ModuleType, name: str) -> None:
    drawn = tool.PICTURES[name]().svg()
    kept = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert drawn == kept, "run tools/measure_pictures.py"


def test_the_page_shows_each_once_and_says_what_it_shows() -> None:
    page = (ROOT / "docs" / "reference" / "measures.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[([^\]]+)\]\(\.\./images/measures/(\w+)\.svg\)", page)
    assert sorted(name for _, name in shown) == NAMES
    for said, name in shown:
        root = ET.parse(FOLDER / f"{name}.svg").getroot()
        assert root.findtext(f"{SVG}desc") == said


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_small_and_has_text_inside_its_card(name: str) -> None:
    root = ET.parse(FOLDER / f"{name}.svg").getroot()
    width, height = int(root.attrib["width"]), int(root.attrib["height"])
    assert (width, height) == (320, 120)
    assert root.findtext(f"{SVG}title")
    for text in root.iter(f"{SVG}text"):
        assert text.text
        assert 0 < float(text.attrib["y"]) < height
        share = {"start": 1.0, "middle": 0.5, "end": 0.0}[text.attrib["text-anchor"]]
        letter = 5.0 if text.attrib.get("class") == "quiet" else 6.0
        right = float(text.attrib["x"]) + letter * len(text.text) * share
        assert right <= width, text.text
