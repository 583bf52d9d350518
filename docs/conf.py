"""The manual. One command builds it, from the top of the checkout:  python -m sphinx -W docs docs/_build/html ."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

import drfopt  # noqa: E402

project = "drfopt"
author = copyright = "The drfopt developers"
version = release = drfopt.__version__

extensions = [
    "generated",
    "mathml",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".ipynb": "myst-nb"}
exclude_patterns = ["_build", "generated/parts"]

templates_path = ["_templates"]
smartquotes = False  # it makes one dash of the two before an option

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"drfopt {release}"

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # notebooks are kept with their outputs, and tests run them
nb_output_stderr = "remove"

autodoc_typehints = "none"  # numpydoc's sections say the types
autosummary_generate = True
numpydoc_show_class_members = False
