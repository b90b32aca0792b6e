"""Configuration of Sphinx. Nothing is loaded from elsewhere, at build or in the browser."""

from __future__ import annotations

import tomllib
from pathlib import Path

_project = tomllib.loads(
    (Path(__file__).resolve().parent.parent / "pyproject.toml").read_text(encoding="utf-8")
)["project"]

project = _project["name"]
author = "The sfumato maintainers"
version = release = _project["version"]
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
default_role = "py:obj"
suppress_warnings = ["ref.python"]  # `name` in a docstring may mean one of several

html_theme = "furo"
html_title = f"sfumato {release}"
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "monokai"

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_default_options = {"members": True, "exclude-members": "model_config"}

napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_ivar = True
napoleon_use_rtype = False
