"""The site of the documentation: `make docs` builds it. Nothing is fetched while it is built or read."""

import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import deciban

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "deciban"
author = "The deciban developers"
copyright = "the deciban developers"
release = version = deciban.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "mathml",
    "name_links",
    "repository_pages",
    "lecture_gallery",
    "block_output",
    "chooser_diagram",
]
exclude_patterns = ["_build", "_templates", "_extensions", "**/.*"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
default_role = "literal"
nitpicky = False
language = "en"
show_warning_types = True

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"
autodoc_member_order = "alphabetical"
autodoc_inherit_docstrings = True
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
numpydoc_use_plots = False

html_theme = "pydata_sphinx_theme"
html_title = "deciban"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_math_renderer = "mathml"
html_search_scorer = str(HERE / "_extensions" / "search_scorer.js")
html_sidebars = {"index": [], "choose": [], "reference/index": ["sidebar-nav-bs"]}
html_theme_options = {
    "logo": {"text": "deciban"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_depth": 3,
    "search_bar_text": "Search: forget, missing values, odds ratio …",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def copy_math_font(app, error) -> None:
    """Formulas are MathML; browsers draw them in a font with a table of mathematical sizes."""
    if error is None and app.builder.format == "html":
        fonts = Path(find_spec("ziamath").origin).parent / "fonts"
        shutil.copy(fonts / "STIXTwoMath-Regular.ttf", Path(app.outdir) / "_static" / "STIXTwoMath-Regular.ttf")


def drop_foreign_references(app, what, name, obj, options, lines) -> None:
    """Docstrings that are inherited from scikit-learn refer to pages of its site: keep the text of such references."""
    lines[:] = re.sub(r":ref:`([^`<]*?)\s*(?:<[^`]*>)?`", r"\1", "\n".join(lines)).split("\n")


def setup(app) -> None:
    app.connect("autodoc-process-docstring", drop_foreign_references, priority=900)
    app.connect("build-finished", copy_math_font)
