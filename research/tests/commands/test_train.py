"""`crscore train matcher` and `crscore train usefulness`, through the command line."""

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from crscore import Scorer, cli
from crscore.matchers import calibrated
from crscore.usefulness import model
from crscore_lab.training import network, usefulness
from crscore_lab.training.data import corpus, judgements
from tests.helpers import corpora, useful
from tests.helpers import study as helper

NAMES = ("limit", "window", "buffer", "queue", "socket", "cursor")
HASHING = ("--encoder", "hashing")
RUN = (sys.executable, "-m", "crscore", "train", "matcher")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = []
    for name in NAMES:
        for row in helper.full_rows():
            text = json.dumps(row).replace("limit", name).replace('"py:', f'"py:{name}')
            rows.append(json.loads(text.replace('"js:', f'"js:{name}')))
    return helper.write(tmp_path / "study.jsonl.gz", rows)


def fails(capsys, code: int, *arguments: object) -> str:
    assert cli.run(["train", "matcher", *map(str, arguments)]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("crscore: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_file_is_written_and_reported(data: Path, capsys, tmp_path: Path) -> None:
    target = tmp_path / "own.npz"
    assert cli.run(["train", "matcher", str(data), "-o", str(target), *HASHING]) == 0
    output = capsys.readouterr().out
    assert output.startswith(f"{target}: {target.stat().st_size:,} bytes, sha256 ")
    assert "learned from 18 changes (sha256 " in output
    assert "encoder hashing:256, seed 0" in output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["own.npz", "study.jsonl.gz"]


def test_same_seed_gives_the_same_file_in_another_process(data: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.npz" for number in range(3)]
    for file, seed, hash_seed in zip(files, "001", "123", strict=True):
        subprocess.run(
            [*RUN, str(data), "-o", str(file), *HASHING, "--seed", seed],
            check=True,
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
        )
    contents = [file.read_bytes() for file in files]
    assert contents[0] == contents[1] != contents[2]


def test_what_was_learned_scores(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "own.npz"
    assert cli.run(["train", "matcher", str(data), "-o", str(target), *HASHING]) == 0
    own = calibrated.create(encoder="hashing:256", weights=str(target))
    row = helper.full_rows()[0]
    scorer = Scorer(encoder="hashing", matcher=f"calibrated:{target}", analyzers="none")
    result = scorer.score(row["patch"], "Why is the limit 20?")
    assert 0 <= result.relevance <= 1
    assert own.identity in result.signature


def test_existing_file_is_replaced_and_a_link_kept(data: Path, tmp_path: Path) -> None:
    real, link = tmp_path / "real.npz", tmp_path / "link.npz"
    real.write_bytes(b"old")
    link.symlink_to(real)
    assert cli.run(["train", "matcher", str(data), "-o", str(link), *HASHING]) == 0
    assert link.is_symlink()
    assert real.read_bytes()[:2] == b"PK"


@pytest.mark.parametrize(
    ("target", "word"), [("no/such/w.npz", "folder does not exist"), (".", "it is a folder")]
)
def test_unwritable_output_fails_before_the_work(data: Path, capsys, target, word) -> None:
    assert word in fails(capsys, 3, data, "-o", target, *HASHING)


def test_missing_lightgbm_fails_before_the_data_are_read(
    capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    err = fails(capsys, 3, tmp_path / "none.jsonl", "-o", tmp_path / "w.npz", *HASHING)
    assert "pip install 'crscore[validate]'" in err
    assert not (tmp_path / "w.npz").exists()


@pytest.mark.parametrize("content", [b"", b"{not json\n", b"[]\n", b'{"id": 1}\n', b"\xff\xfe\x00"])
def test_broken_data_leave_no_file(capsys, tmp_path: Path, content: bytes) -> None:
    path, target = tmp_path / "study.jsonl", tmp_path / "w.npz"
    path.write_bytes(content)
    fails(capsys, 3, path, "-o", target, *HASHING)
    assert not target.exists()


def test_missing_data_are_named(capsys, tmp_path: Path) -> None:
    assert "none.jsonl" in fails(capsys, 3, tmp_path / "none.jsonl", "-o", tmp_path / "w", *HASHING)


def test_study_without_a_sentence_leaves_the_old_file(capsys, tmp_path: Path) -> None:
    rows = helper.full_rows()
    for row in rows:
        for review in row["reviews"]:
            review["text"] = ""
    target = tmp_path / "w.npz"
    target.write_bytes(b"old")
    data = helper.write(tmp_path / "study.jsonl", rows)
    assert "no review that has a sentence" in fails(capsys, 3, data, "-o", target, *HASHING)
    assert target.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "-o"),
        (["-o", "w.npz", "--seed", "-1"], "--seed"),
        (["-o", "w.npz", "--seed", "x"], "--seed"),
        (["-o", "w.npz", "--moon"], "--moon"),
        (["-o", "w.npz", "--encoder", "moon"], "moon"),
    ],
)
def test_wrong_options_are_code_2(data: Path, capsys, arguments: list[str], word: str) -> None:
    assert word in fails(capsys, 2, data, *arguments)


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from crscore import cli\n"
        "cli.run(['train', 'matcher', '--help'])\n"
        "assert not {'lightgbm', 'torch', 'scipy', 'onnxruntime'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


def train_usefulness(folder: Path) -> tuple[int, list[Path]]:
    files = [folder / "headline.npz", folder / "matcher.npz"]
    rows = corpora.rows()
    data = corpora.write(folder / "data", rows | {"study": rows["study"][:12]})
    line = ["train", "usefulness", str(data), "-o", str(files[0]), "--matcher", str(files[1])]
    return cli.run([*line, *HASHING]), files


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of our own, and a network that has learned nothing."""
    network_of = useful.scripted(lambda text: useful.outputs(worth=0.9 if "lease" in text else 0.1))
    monkeypatch.setattr(judgements, "read_texts", corpora.own_texts)
    monkeypatch.setattr(network, "require_packages", lambda: None)
    train = partial(usefulness.train, tune=lambda *_: network_of)
    monkeypatch.setattr(usefulness, "train", train)
    monkeypatch.setattr(usefulness, "TEMPLATES_PER_CHANGE", 2)


@pytest.mark.usefixtures("scripted")
def test_headline_and_matcher_are_written_and_reported(capsys, tmp_path: Path) -> None:
    code, files = train_usefulness(tmp_path)
    assert code == 0
    output = capsys.readouterr().out.splitlines()
    for file, row in zip(files, output, strict=False):
        assert row.startswith(f"{file}: {file.stat().st_size:,} bytes, sha256 ")
    assert output[2].endswith("encoder hashing:256")
    assert model.read_weights(files[0]).encoder == calibrated.read_weights(files[1]).encoder


@pytest.mark.parametrize("package", ["scipy.optimize", "lightgbm", "torch", "transformers"])
def test_missing_package_fails_before_the_texts_are_read(
    capsys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    for other in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, other, ModuleType(other))
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(corpus, "read_corpus", pytest.fail)
    code, files = train_usefulness(tmp_path)
    assert code == 3
    assert "pip install 'crscore" in capsys.readouterr().err
    assert not any(file.exists() for file in files)


@pytest.mark.usefixtures("scripted")
def test_folder_without_the_data_is_named(capsys, tmp_path: Path) -> None:
    target = str(tmp_path / "own.npz")
    line = ["train", "usefulness", str(tmp_path), "-o", target, "--matcher", f"{target}.m"]
    assert cli.run([*line, *HASHING]) == 3
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1
    assert "real-comments/worth-dev.jsonl.gz" in captured.err
