import io
import json
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from crscore import arrays
from crscore.errors import InputError
from crscore.matchers import features
from crscore.matchers.calibrated import SHIPPED, Calibrated, read_weights, to_bytes
from crscore.matchers.features import TextStatistics
from crscore.matchers.trees import Trees

D, K = 4, 2


def make_weights(**changes) -> Calibrated:
    whole = Calibrated(
        encoder="hashing:4",
        data_sha256="ab" * 32,
        seed=7,
        start=-0.5,
        discount=0.1,
        decision=0.35,
        trees=Trees(
            roots=np.array([0], dtype=np.int32),
            feature=np.array([3, 0, 0], dtype=np.int32),
            threshold=np.array([0.25, 0, 0], dtype=np.float32),
            left=np.array([1, 1, 2], dtype=np.int32),
            right=np.array([2, 1, 2], dtype=np.int32),
            value=np.array([0, -1, 1], dtype=np.float32),
            depth=1,
        ),
        statistics=TextStatistics(
            frequency={"limit": 4, "été": 9, "table": 5},
            documents=20,
            claim=np.array([1, 0, 0, 0], dtype=np.float32),
            remark=np.array([0, 1, 0, 0], dtype=np.float32),
            axes=np.eye(K, D, dtype=np.float32),
            centre=np.full(D, 0.1, dtype=np.float32),
        ),
    )
    return replace(whole, **changes)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def rewritten(path: Path, entry: str, content: bytes | None) -> Path:
    """The same archive with one entry replaced, or left out."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(to_bytes(make_weights()))) as old,
        zipfile.ZipFile(target, "w") as new,
    ):
        for name in old.namelist():
            kept = old.read(name) if name != entry else content
            if kept is not None:
                new.writestr(name, kept)
    return written(path, target.getvalue())


def array(values: np.ndarray) -> bytes:
    part = io.BytesIO()
    np.save(part, values, allow_pickle=True)
    return part.getvalue()


def facts(**changes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(to_bytes(make_weights()))) as archive:
        stored = np.load(io.BytesIO(archive.read("facts.npy")))
    whole = json.loads(stored.tobytes()) | changes
    return array(np.frombuffer(json.dumps(whole).encode(), dtype=np.uint8))


def test_written_weights_are_read_back(tmp_path: Path) -> None:
    before = make_weights()
    after = read_weights(written(tmp_path / "w.npz", to_bytes(before)))
    for name in ("encoder", "data_sha256", "seed", "start", "discount", "decision"):
        assert getattr(after, name) == getattr(before, name)
    assert after.statistics.frequency == before.statistics.frequency
    assert (after.statistics.documents, after.trees.depth) == (20, 1)
    for name in ("roots", "feature", "threshold", "left", "right", "value"):
        array, other = getattr(after.trees, name), getattr(before.trees, name)
        assert array.dtype == other.dtype
        np.testing.assert_array_equal(array, other)
    for name in ("claim", "remark", "axes", "centre"):
        array, other = getattr(after.statistics, name), getattr(before.statistics, name)
        assert array.dtype == other.dtype == np.float32
        np.testing.assert_array_equal(array, other)


def test_equal_weights_give_equal_bytes_whatever_the_order_of_the_stems() -> None:
    turned = dict(reversed(make_weights().statistics.frequency.items()))
    other = make_weights(statistics=replace(make_weights().statistics, frequency=turned))
    assert to_bytes(make_weights()) == to_bytes(other)


@pytest.mark.parametrize("change", [{"seed": 8}, {"discount": 0.2}, {"encoder": "hashing:5"}])
def test_other_weights_give_other_bytes(change: dict) -> None:
    assert to_bytes(make_weights()) != to_bytes(make_weights(**change))


def test_reading_and_writing_again_gives_the_same_file(tmp_path: Path) -> None:
    content = to_bytes(make_weights())
    assert to_bytes(read_weights(written(tmp_path / "w.npz", content))) == content


def test_shipped_file_equals_its_weights_written_again() -> None:
    assert to_bytes(read_weights(SHIPPED)) == SHIPPED.read_bytes()


def test_shipped_file_is_small_and_holds_no_pickle() -> None:
    assert SHIPPED.stat().st_size <= 2_000_000
    with np.load(SHIPPED, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "fiu" for name in arrays.files)


def test_shipped_trees_are_connected() -> None:
    learned = read_weights(SHIPPED)
    trees = learned.trees
    nodes = np.arange(len(trees.value))
    is_leaf = trees.left == nodes
    assert (is_leaf == (trees.right == nodes)).all()
    assert (trees.left[~is_leaf] > nodes[~is_leaf]).all()
    assert (trees.right[~is_leaf] > trees.left[~is_leaf]).all()
    assert trees.right.max() < len(nodes)
    assert trees.feature.min() >= 0
    assert trees.feature.max() < len(features.feature_names(len(learned.statistics.axes)))
    assert np.isfinite(trees.threshold).all()
    assert np.isfinite(trees.value).all()
    # Every node but the roots has one parent.
    children = np.concatenate([trees.left[~is_leaf], trees.right[~is_leaf], trees.roots])
    assert sorted(children.tolist()) == nodes.tolist()
    # After `depth` steps every path has reached its leaf.
    at = trees.roots.copy()
    for _ in range(trees.depth):
        at = np.maximum(trees.left[at], trees.right[at])
    assert is_leaf[at].all()


def test_missing_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.npz cannot be read"):
        read_weights(tmp_path / "none.npz")


def test_folder_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_weights(tmp_path)


@pytest.mark.parametrize("keep", [0, 1, 4, 60, 500, -1, -40])
def test_cut_off_file_is_an_input_error(keep: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_weights(written(tmp_path / "w.npz", to_bytes(make_weights())[:keep]))


@pytest.mark.parametrize(
    "content", [b"not weights", b"\x80\x04N.", array(np.arange(3)), b"PK\x03\x04" + b"\0" * 60]
)
def test_file_of_another_kind_is_an_input_error(content: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_weights(written(tmp_path / "w.npz", content))


def test_flipped_bytes_raise_only_an_input_error(tmp_path: Path) -> None:
    content = bytearray(to_bytes(make_weights()))
    before = to_bytes(make_weights())
    rng = np.random.default_rng(3)
    for _ in range(200):
        broken = bytearray(content)
        for at in rng.integers(0, len(content), 3):
            broken[at] = int(rng.integers(0, 256))
        path = written(tmp_path / "w.npz", bytes(broken))
        try:
            result = read_weights(path)
        except InputError:
            continue
        # What can be read has lost nothing: the checksums of the archive saw to that.
        assert to_bytes(result) == before


@pytest.mark.parametrize("entry", ["facts", "stems", "value", "axes", "frequency"])
def test_missing_array_is_an_input_error(entry: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_weights(rewritten(tmp_path / "w.npz", f"{entry}.npy", None))


def test_pickled_array_is_refused_and_never_run(tmp_path: Path) -> None:
    mark = tmp_path / "ran"

    class Evil:
        def __reduce__(self):
            return (Path.touch, (mark,))

    content = array(np.array([Evil()], dtype=object))
    with pytest.raises(InputError, match="cannot be read"):
        read_weights(rewritten(tmp_path / "w.npz", "value.npy", content))
    assert not mark.exists()


@pytest.mark.parametrize(
    "change", [{"format": 2}, {"format": "1"}, {"features": []}, {"features": ["cell.cosine"]}]
)
def test_file_of_another_version_says_to_train_again(change: dict, tmp_path: Path) -> None:
    path = rewritten(tmp_path / "w.npz", "facts.npy", facts(**change))
    with pytest.raises(InputError, match="another version of crscore; train it again"):
        read_weights(path)


def test_facts_that_are_no_json_are_an_input_error(tmp_path: Path) -> None:
    content = array(np.frombuffer(b"{oops", dtype=np.uint8))
    with pytest.raises(InputError, match="cannot be read"):
        read_weights(rewritten(tmp_path / "w.npz", "facts.npy", content))


def test_more_stems_than_counts_are_an_input_error(tmp_path: Path) -> None:
    content = array(np.array([4, 5], dtype=np.int32))
    with pytest.raises(InputError, match="cannot be read"):
        read_weights(rewritten(tmp_path / "w.npz", "frequency.npy", content))


@pytest.mark.parametrize(
    ("entry", "values"),
    [
        ("left", [1, 1, 3]),
        ("right", [2, 1, -1]),
        ("roots", [3]),
        ("feature", [10_000, 0, 0]),
        ("value", [0, -1]),
        ("threshold", [0.5]),
    ],
)
def test_trees_that_point_nowhere_are_an_input_error(
    entry: str, values: list[float], tmp_path: Path
) -> None:
    kind = np.float32 if entry in ("value", "threshold") else np.int32
    content = array(np.array(values, dtype=kind))
    with pytest.raises(InputError, match="cannot be read"):
        read_weights(rewritten(tmp_path / "w.npz", f"{entry}.npy", content))


def test_weights_without_stems_have_no_empty_stem(tmp_path: Path) -> None:
    bare = make_weights(statistics=replace(make_weights().statistics, frequency={}))
    path = written(tmp_path / "w.npz", to_bytes(bare))
    assert read_weights(path).statistics.frequency == {}


@pytest.mark.parametrize(
    "change",
    [
        {"depth": 10**9}, {"depth": 1.5}, {"depth": True}, {"decision": 2}, {"start": 1e300},
        {"documents": -1}, {"discount": "0.1"}, {"encoder": None}, {"seed": []},
    ],
)  # fmt: skip
def test_facts_that_no_run_can_use_are_an_input_error(change: dict, tmp_path: Path) -> None:
    path = rewritten(tmp_path / "w.npz", "facts.npy", facts(**change))
    with pytest.raises(InputError, match="cannot be read as weights"):
        read_weights(path)


@pytest.mark.parametrize(
    ("entry", "content"),
    [
        ("value", np.array([0, np.nan, 1], dtype=np.float32)),
        ("threshold", np.array(["a", "b", "c"])),
        ("threshold", np.array([0, np.inf, 0], dtype=np.float32)),
        ("centre", np.zeros(3, dtype=np.float32)),
        ("claim", np.zeros((D, D), dtype=np.float32)),
        ("axes", np.zeros((K, D + 1), dtype=np.float32)),
        ("roots", np.zeros((1, 1), dtype=np.int32)),
        ("frequency", np.array([4, -9, 5], dtype=np.int32)),
        ("frequency", np.array([4, 9, 5], dtype=np.float64)),
    ],
)
def test_arrays_that_no_run_can_use_are_an_input_error(
    entry: str, content: np.ndarray, tmp_path: Path
) -> None:
    path = rewritten(tmp_path / "w.npz", f"{entry}.npy", array(content))
    with pytest.raises(InputError, match="cannot be read as weights"):
        read_weights(path)


def test_archive_that_unpacks_beyond_the_limit_is_rejected_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrays, "MAX_BYTES", 2**25)
    path = tmp_path / "w.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("facts.npy", "w", force_zip64=True) as part,
    ):
        for _ in range(arrays.MAX_BYTES // 2**20 + 1):
            part.write(bytes(2**20))
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="its arrays are larger than"):
            read_weights(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_header_that_announces_terabytes_is_an_input_error(tmp_path: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f4", "fortran_order": False, "shape": (2**50,)}
    )
    with pytest.raises(InputError, match="cannot be read as weights"):
        read_weights(rewritten(tmp_path / "w.npz", "value.npy", header.getvalue()))
