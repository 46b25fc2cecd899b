"""Write the network of all-MiniLM-L6-v2 as ONNX graphs without its weights.

    python scripts/export_minilm_graph.py WEIGHTS crscore/encoders

WEIGHTS is the file of weights, `model.safetensors`. Each half of the network is a graph, because a
task may have different upper layers: `lower` computes the states after three layers from token ids,
and `upper` computes vectors from these states.

The graphs are written node by node instead of being traced from another framework. So the script
needs only `onnx`, and each run writes the same 14 KB. A graph refers to the position of each tensor
in the file of weights, so that onnxruntime can map the file into memory without copying. Dense
layers run on the tokens of all texts at once, shape (N * T, 384); only attention separates the
texts. In graphs `-int8`, the weights of dense layers are 8-bit integers of shape (inputs, outputs)
with a scale for each output.

Source:
    Devlin et al., NAACL 2019, arXiv:1810.04805 (the encoder); the sizes are those of the
    model's configuration. `MultiHeadAttention` is onnxruntime's own operator (domain
    com.microsoft, version 1); all others are of the ONNX standard, version 20.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper

LAYERS = 6
LOWER = 3  # number of layers of the lower half
HEADS = 12
WIDTH = 384
INNER = 1536
VOCABULARY = 30522
POSITIONS = 512
EPSILON = 1e-12
OPSET = 20
CONTRIB = "com.microsoft"
IR_VERSION = 9  # the oldest version that this opset allows, for old runtimes


class Graph:
    """Nodes and tensors of a graph, collected in the order of computation."""

    def __init__(self, weights: Path, *, int8: bool) -> None:
        self.int8 = int8
        # A safetensors file has the length of its header (8 bytes), the header in JSON, and the
        # numbers.
        content = weights.read_bytes()
        start = 8 + int.from_bytes(content[:8], "little")
        self.places = {
            name: (start + entry["data_offsets"][0], start + entry["data_offsets"][1])
            for name, entry in json.loads(content[8:start]).items()
            if "data_offsets" in entry
        }
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def weight(self, name: str, *shape: int, data_type: int = TensorProto.FLOAT) -> str:
        """Declare a tensor of the file of weights; integers are passed at run time instead."""
        tensor = TensorProto(
            name=name,
            data_type=data_type,
            dims=shape,
            data_location=TensorProto.EXTERNAL,
        )
        tensor.external_data.add(key="location", value="model.safetensors")
        if data_type == TensorProto.FLOAT and name in self.places:
            first, end = self.places[name]
            tensor.external_data.add(key="offset", value=str(first))
            tensor.external_data.add(key="length", value=str(end - first))
        self.tensors.append(tensor)
        return name

    def constant(self, name: str, *values: int) -> str:
        """Add a short list of integers."""
        self.tensors.append(helper.make_tensor(name, TensorProto.INT64, [len(values)], values))
        return name

    def add(self, op: str, inputs: list[str], output: str, **attributes: float) -> str:
        """Add a node of a standard operator with one output; return the output's name."""
        self.nodes.append(helper.make_node(op, inputs, [output], **attributes))
        return output

    def attention(self, query: str, key: str, value: str, output: str) -> str:
        """Add attention of every token to the tokens of its own text."""
        inputs = [query, key, value, "", "attention_mask"]
        self.nodes.append(
            helper.make_node(
                "MultiHeadAttention", inputs, [output], domain=CONTRIB, num_heads=HEADS
            )
        )
        return output

    def dense(self, name: str, given: str, size: tuple[int, int], output: str) -> str:
        """Add a dense layer; its weights have the shape (outputs, inputs)."""
        inner, outer = size
        if self.int8:  # An operator of onnxruntime that quantizes activations at run time.
            inputs = [
                given,
                self.weight(f"{name}.weight", inner, outer, data_type=TensorProto.INT8),
                self.weight(f"{name}.weight.scale", outer),
                "",
                self.weight(f"{name}.bias", outer),
            ]
            node = helper.make_node("DynamicQuantizeMatMul", inputs, [output], domain=CONTRIB)
            self.nodes.append(node)
            return output
        weight = self.weight(f"{name}.weight", outer, inner)
        bias = self.weight(f"{name}.bias", outer)
        return self.add("Gemm", [given, weight, bias], output, transB=1)

    def norm(self, name: str, given: str, output: str) -> str:
        """Add a layer normalisation."""
        inputs = [
            given,
            self.weight(f"{name}.weight", WIDTH),
            self.weight(f"{name}.bias", WIDTH),
        ]
        return self.add("LayerNormalization", inputs, output, axis=-1, epsilon=EPSILON)


def _embeddings(graph: Graph) -> str:
    words = graph.weight("embeddings.word_embeddings.weight", VOCABULARY, WIDTH)
    places = graph.weight("embeddings.position_embeddings.weight", POSITIONS, WIDTH)
    kinds = graph.weight("embeddings.token_type_embeddings.weight", 2, WIDTH)
    zero = graph.constant("zero", 0)
    one = graph.constant("one", 1)
    graph.add("Gather", [words, "input_ids"], "words")
    graph.add("Shape", ["input_ids"], "length", start=1)
    graph.add("Slice", [places, zero, "length"], "places")
    # Every text is a single segment, so only the first of the two segment types is used.
    graph.add("Slice", [kinds, zero, one], "kind")
    graph.add("Add", ["places", "kind"], "offset")
    graph.add("Add", ["words", "offset"], "embedded")
    return graph.norm("embeddings.LayerNorm", "embedded", "embeddings")


def _layer(graph: Graph, number: int, given: str, *, wanted: str = "") -> str:
    """Add one layer; with `wanted`, only these tokens are computed after its attention."""
    name = f"encoder.layer.{number}"
    apart = []
    for role in ("query", "key", "value"):
        flat = graph.dense(f"{name}.attention.self.{role}", given, (WIDTH, WIDTH), f"{name}.{role}")
        apart.append(graph.add("Reshape", [flat, "by_text"], f"{name}.{role}.by_text"))
    query, key, value = apart
    graph.attention(query, key, value, f"{name}.context.by_text")
    graph.add("Reshape", [f"{name}.context.by_text", "by_token"], f"{name}.context")
    context = f"{name}.context"
    if wanted:
        context = graph.add("Gather", [context, wanted], f"{name}.context.wanted")
        given = graph.add("Gather", [given, wanted], f"{name}.given.wanted")
    output = f"{name}.attention.output"
    graph.dense(f"{output}.dense", context, (WIDTH, WIDTH), f"{output}.mixed")
    graph.add("Add", [f"{output}.mixed", given], f"{output}.sum")
    attended = graph.norm(f"{output}.LayerNorm", f"{output}.sum", output)
    wide = graph.dense(
        f"{name}.intermediate.dense", attended, (WIDTH, INNER), f"{name}.intermediate"
    )
    graph.add("Gelu", [wide], f"{name}.gelu")
    graph.dense(f"{name}.output.dense", f"{name}.gelu", (INNER, WIDTH), f"{name}.narrow")
    graph.add("Add", [f"{name}.narrow", attended], f"{name}.sum")
    return graph.norm(f"{name}.output.LayerNorm", f"{name}.sum", name)


def build(weights: Path, half: str, *, int8: bool = False) -> onnx.ModelProto:
    """Build half of the model for N texts of T tokens.

    `lower` has the inputs token ids and mask, shape (N, T), and the output states, shape
    (N * T, 384). `upper` has the inputs states, mask and `wanted`, and the output vectors, shape
    (K, 384). `wanted` has the indices of K tokens, where token t of text n has the index n * T + t;
    the last layer skips the others, which the mean leaves out.
    """
    graph = Graph(weights, int8=int8)
    graph.constant("by_token", -1, WIDTH)
    graph.add("Shape", ["attention_mask"], "texts_and_tokens")
    width = graph.constant("width", WIDTH)
    graph.add("Concat", ["texts_and_tokens", width], "by_text", axis=0)
    ids = helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["texts", "tokens"])
    mask = helper.make_tensor_value_info("attention_mask", TensorProto.INT32, ["texts", "tokens"])
    wanted = helper.make_tensor_value_info("wanted", TensorProto.INT64, ["wanted"])
    states = helper.make_tensor_value_info("states", TensorProto.FLOAT, ["all", WIDTH])
    if half == "lower":
        hidden = graph.add("Reshape", [_embeddings(graph), "by_token"], "hidden")
        for number in range(LOWER):
            hidden = _layer(graph, number, hidden)
        graph.add("Identity", [hidden], "states")
        inputs, output = [ids, mask], states
    else:
        hidden = "states"
        for number in range(LOWER, LAYERS - 1):
            hidden = _layer(graph, number, hidden)
        last = _layer(graph, LAYERS - 1, hidden, wanted="wanted")
        inputs = [states, mask, wanted]
        output = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["wanted", WIDTH])
    name = f"all-MiniLM-L6-v2-{half}"
    proto = helper.make_graph(graph.nodes, name, inputs, [output], graph.tensors)
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
    return helper.make_model(proto, opset_imports=opsets, ir_version=IR_VERSION)


def main(weights: Path, folder: Path) -> None:
    """Write the graphs into a folder."""
    for half, int8 in itertools.product(("lower", "upper"), (False, True)):
        graph = build(weights, half, int8=int8)
        path = folder / f"all-minilm-l6-v2-{half}{'-int8' if int8 else ''}.onnx"
        path.write_bytes(graph.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
