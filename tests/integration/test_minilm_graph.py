"""The graphs in the package are what the script writes."""

import importlib.resources
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from safetensors import safe_open

from crscore.encoders import minilm_files as files
from crscore.encoders.minilm import UPPER_LAYERS

pytestmark = pytest.mark.models  # onnx

SCRIPT = Path(__file__).parents[2] / "scripts" / "export_minilm_graph.py"


def packaged_graph(name: str) -> onnx.ModelProto:
    content = (importlib.resources.files("crscore.encoders") / name).read_bytes()
    return onnx.load_model_from_string(content)


def test_script_run_again_writes_the_graphs_that_are_shipped(tmp_path: Path) -> None:
    weights = files.default_folder() / files.WEIGHTS
    subprocess.run([sys.executable, str(SCRIPT), str(weights), str(tmp_path)], check=True)
    packaged = importlib.resources.files("crscore.encoders").iterdir()
    names = sorted(entry.name for entry in packaged if entry.name.endswith(".onnx"))
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for name in names:
        written = onnx.load(tmp_path / name, load_external_data=False)
        shipped = packaged_graph(name)
        # A later onnx may stamp another producer or order fields in another way.
        assert written.graph == shipped.graph
        assert list(written.opset_import) == list(shipped.opset_import)


def test_graphs_ask_for_the_tensors_that_the_weights_file_has() -> None:
    lower, upper = (
        {
            tensor.name: list(tensor.dims)
            for tensor in packaged_graph(f"all-minilm-l6-v2-{half}.onnx").graph.initializer
            if tensor.external_data
        }
        for half in ("lower", "upper")
    )
    assert all(name.startswith(UPPER_LAYERS) for name in upper)
    assert not any(name.startswith(UPPER_LAYERS) for name in lower)
    folder = files.default_folder()
    with safe_open(folder / files.WEIGHTS, "np") as weights:
        there = {name: weights.get_slice(name).get_shape() for name in weights.keys()}  # noqa: SIM118
    unused = {"embeddings.position_ids", "pooler.dense.bias", "pooler.dense.weight"}
    assert lower | upper == {name: shape for name, shape in there.items() if name not in unused}
