"""The graph in the package is what the script writes."""

import importlib.resources
import subprocess
import sys
from pathlib import Path

import onnx
import pytest
from safetensors import safe_open

from crscore.encoders import minilm_files as files
from crscore.encoders.minilm import GRAPHS

pytestmark = pytest.mark.models  # onnx

SCRIPT = Path(__file__).parents[2] / "scripts" / "export_minilm_graph.py"


def packaged_graph(name: str = GRAPHS[False]) -> onnx.ModelProto:
    content = (importlib.resources.files("crscore.encoders") / name).read_bytes()
    return onnx.load_model_from_string(content)


@pytest.mark.parametrize("int8", [False, True])
def test_script_run_again_writes_the_graph_that_is_shipped(tmp_path: Path, int8: bool) -> None:
    path, weights = tmp_path / "graph.onnx", files.default_folder() / files.WEIGHTS
    options = ["--int8"] if int8 else []
    subprocess.run([sys.executable, str(SCRIPT), str(weights), str(path), *options], check=True)
    written = onnx.load(path, load_external_data=False)
    shipped = packaged_graph(GRAPHS[int8])
    # A later onnx may stamp another producer or order fields in another way.
    assert written.graph == shipped.graph
    assert list(written.opset_import) == list(shipped.opset_import)


def test_graph_asks_for_the_tensors_that_the_weights_file_has() -> None:
    asked = {
        tensor.name: list(tensor.dims)
        for tensor in packaged_graph().graph.initializer
        if tensor.external_data
    }
    folder = files.default_folder()
    with safe_open(folder / files.WEIGHTS, "np") as weights:
        there = {name: weights.get_slice(name).get_shape() for name in weights.keys()}  # noqa: SIM118
    unused = {"embeddings.position_ids", "pooler.dense.bias", "pooler.dense.weight"}
    assert asked == {name: shape for name, shape in there.items() if name not in unused}
