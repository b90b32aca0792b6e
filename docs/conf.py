"""Configuration of Sphinx. Nothing is loaded from elsewhere, at build or in the browser."""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "sfumato"
author = "The sfumato maintainers"
version = release = version_of(project)
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "declared_tables"]
exclude_patterns = ["_build"]
default_role = "py:obj"
suppress_warnings = ["ref.python"]  # `name` in a docstring may mean one of several

html_theme = "furo"
html_title = f"sfumato {release}"
html_copy_source = False
html_css_files = ["print.css"]
html_show_copyright = False
html_show_sourcelink = False
html_static_path = ["_static"]
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
