"""How Sphinx builds the site: ``make docs``."""

import gc
import logging
import os
import sys
import tempfile
from pathlib import Path

import qed

HERE = Path(__file__).parent
EXTENSIONS = HERE / "_ext"
sys.path.insert(0, str(EXTENSIONS))
# Pages run the command ``qed`` of this environment, and import what they share from here.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [str(EXTENSIONS), str(HERE), os.environ.get("PYTHONPATH")])
)
os.environ["QED_ROOT"] = str(HERE.parent)
# Numbers of the pages come from the CPU, on every machine, and print without colours.
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["NO_COLOR"] = "1"
os.environ["COLUMNS"] = "80"
# Kernels know nothing of the user's own settings, and say only what is wrong.
SETTINGS = tempfile.TemporaryDirectory(prefix="qed-docs-")
PROFILE = Path(SETTINGS.name, "profile_default")
PROFILE.mkdir()
(PROFILE / "ipython_kernel_config.py").write_text("get_config().IPKernelApp.log_level = 40\n")
os.environ["IPYTHONDIR"] = SETTINGS.name
logging.getLogger("traitlets").setLevel(logging.WARNING)

# To look for garbage among all that is imported took a sixth of the time that pages are written in.
gc.freeze()
gc.set_threshold(10_000, 20, 20)

project = "QED"
author = "The QED founding engineers"
copyright = "the QED founding engineers, MIT license"  # noqa: A001 (Sphinx names it)
version = release = qed.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "command",
    "dealt",
    "names",
    "warm",
]
exclude_patterns = ["_build", "_ext", "_templates"]
templates_path = ["_templates"]
nitpicky = True
smartquotes_action = "qe"  # quotes and ellipses: "--" begins an option

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "fieldlist"]
myst_heading_anchors = 3

nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_render_markdown_format = "myst"
nb_code_prompt_show = "Show the code"
nb_code_prompt_hide = "Hide the code"

# Types are told in the docstrings; overloads would repeat a long signature for each of them.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": False}
autoclass_content = "class"
autosummary_generate = True
# Two names that differ in case alone would share a file on some file systems.
autosummary_filename_map = {"qed.Trace": "qed.Trace-class"}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = f"QED {release}"
html_static_path = ["_static"]
html_favicon = "../src/qed/explore/page/icon.svg"
html_css_files = ["site.css"]
html_show_sphinx = False
pygments_dark_style = "github-dark"
html_copy_source = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5f8a",
        "color-brand-content": "#0b5f8a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cb8e6",
        "color-brand-content": "#6cb8e6",
    },
}
