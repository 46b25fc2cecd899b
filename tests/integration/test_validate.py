"""`crscore validate` on a small study, through the command line."""

import json
from pathlib import Path

import pytest
import scipy.stats

from crscore import cli
from tests.helpers import study as helper

FIELDS = ["metric", "dimension", "slice", "n"]
FIELDS += ["spearman", "kendall", "pearson", "low", "high", "p", "primary"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return helper.write(tmp_path / "study.jsonl.gz")


def validate(capsys: pytest.CaptureFixture[str], data: Path, *options: str) -> dict:
    arguments = ["validate", str(data), "--encoder", "hashing", "--resamples", "20"]
    assert cli.run([*arguments, "--format", "json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_correlations_are_a_flat_list(data: Path, capsys) -> None:
    found = validate(capsys, data)["correlations"]
    assert all(list(row) == FIELDS for row in found)
    assert {row["slice"] for row in found} >= {"pooled", "without-junk", "within-system"}
    assert {row["metric"] for row in found if row["primary"]} == {"published/hashing/recorded"}
    assert {row["metric"] for row in found if not row["primary"]} >= {"words", "repeated tokens"}


def test_ground_truth_is_left_out_and_blank_reviews_are_counted(data: Path, capsys) -> None:
    found = validate(capsys, data)["data"]
    assert (found["reviews"], found["blank_reviews"]) == (15, 3)


def test_words_baseline_is_what_scipy_says(data: Path, capsys) -> None:
    rows = [
        (len(review["text"].split()), review["relevance"])
        for change in helper.rows()
        for review in change["reviews"]
        if review["system"] != "ground_truth"
    ]
    known = scipy.stats.spearmanr(*zip(*rows, strict=True)).statistic
    (found,) = [
        row["spearman"]
        for row in validate(capsys, data)["correlations"]
        if (row["metric"], row["dimension"], row["slice"]) == ("words", "relevance", "pooled")
    ]
    assert found == pytest.approx(known)


def test_same_seed_gives_the_same_document(data: Path, capsys) -> None:
    assert validate(capsys, data) == validate(capsys, data)


def test_structural_claims_use_nothing_recorded(data: Path, capsys, tmp_path: Path) -> None:
    bare = helper.rows()
    for row in bare:
        del row["llm_claims"], row["pseudo_references"]
    other = helper.write(tmp_path / "bare.jsonl", bare)
    with_claims = validate(capsys, data, "--claims", "structural")["correlations"]
    assert with_claims == validate(capsys, other, "--claims", "structural")["correlations"]


def test_text_says_what_was_measured(data: Path, capsys) -> None:
    arguments = ["validate", str(data), "--encoder", "hashing", "--resamples", "5"]
    assert cli.run(arguments) == 0
    text = capsys.readouterr().out
    assert "15 reviews of 3 changes" in text
    assert "3 reviews have no sentence and count as 0" in text
    assert "tau by the paper's procedure on this data" in text


def test_change_without_claims_is_left_out_and_named(data: Path, capsys, tmp_path: Path) -> None:
    rows = helper.rows()
    rows[1] |= {"llm_claims": [], "pseudo_references": []}
    found = validate(capsys, helper.write(tmp_path / "s.jsonl", rows))["data"]
    assert (found["reviews"], found["excluded_changes"]) == (10, ["py:2"])


@pytest.mark.parametrize("systems", [["lstm", "knn"], ["ground_truth"], []])
def test_study_of_few_systems_is_no_bug(data: Path, capsys, tmp_path: Path, systems) -> None:
    rows = helper.rows()
    for row in rows:
        row["reviews"] = [one for one in row["reviews"] if one["system"] in systems]
    path = helper.write(tmp_path / "s.jsonl", rows)
    code = cli.run(["validate", str(path), "--encoder", "hashing", "--resamples", "5"])
    captured = capsys.readouterr()
    if systems == ["lstm", "knn"]:
        assert (code, "without-junk" in captured.out) == (0, False)
    else:
        assert code == 3
        assert "no review of this study can be scored" in captured.err


def test_study_without_any_claim_is_no_bug(data: Path, capsys, tmp_path: Path) -> None:
    rows = [row | {"llm_claims": [], "pseudo_references": []} for row in helper.rows()]
    path = helper.write(tmp_path / "s.jsonl", rows)
    assert cli.run(["validate", str(path), "--encoder", "hashing"]) == 3
    assert "no review of this study can be scored" in capsys.readouterr().err


def test_encoder_nobody_calibrated_gets_its_threshold_by_the_papers_procedure(
    data: Path, capsys
) -> None:
    found = validate(capsys, data, "--encoder", "hashing:64")
    assert found["threshold"] == pytest.approx(found["tau_by_procedure"], abs=1e-4)
    assert found["threshold"] > 0


def saved(tmp_path: Path, data: Path, name: str, *options: str) -> Path:
    target = tmp_path / name
    arguments = ["validate", str(data), "--encoder", "hashing", "--resamples", "5"]
    assert cli.run([*arguments, "--format", "json", "-o", str(target), *options]) == 0
    return target


def test_two_results_are_compared(data: Path, capsys, tmp_path: Path) -> None:
    first = saved(tmp_path, data, "a.json", "--threshold", "0.1")
    second = saved(tmp_path, data, "b.json", "--threshold", "0.4")
    assert cli.run(["validate", str(first), str(second), "--resamples", "20"]) == 0
    text = capsys.readouterr().out
    assert "better with people on relevance" in text
    assert "compared on 15 reviews of 3 changes that both have; left out: 0 of A, 0 of B" in text
    assert cli.run(["validate", str(first), str(second), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"]["name"], found["second"]["name"]) == ("a.json", "b.json")
    values = [
        next(
            row["spearman"]
            for row in json.loads(path.read_text())["correlations"]
            if (row["dimension"], row["slice"], row["primary"]) == ("relevance", "pooled", True)
        )
        for path in (first, second)
    ]
    row = found["differences"][0]
    assert [row["first"], row["second"]] == pytest.approx(values)
    assert row["difference"] == pytest.approx(values[1] - values[0])


@pytest.mark.parametrize(
    ("files", "code", "message"),
    [
        ([], 2, "give one study or two results of validate, not 0 files"),
        (["study", "a", "a"], 2, "give one study or two results of validate, not 3 files"),
        (["a"], 3, "is a result of validate, no study; give two to compare them"),
        (["a", "study"], 3, "study.jsonl.gz is no result of validate"),
        (["study", "a"], 3, "study.jsonl.gz is no result of validate"),
        (["a", "missing"], 3, "missing.json is no result of validate"),
        (["missing"], 3, "missing.json cannot be read as a study"),
    ],
)
def test_wrong_files_are_told_apart(
    data: Path, capsys, tmp_path: Path, files, code, message
) -> None:
    paths = {"study": data, "a": saved(tmp_path, data, "a.json"), "missing": "missing.json"}
    assert cli.run(["validate", *(str(paths[name]) for name in files)]) == code
    assert message in capsys.readouterr().err


def test_target_that_cannot_be_written_is_found_before_the_work(data: Path, capsys) -> None:
    assert cli.run(["validate", str(data), "-o", "no/such/folder.txt"]) == 3
    assert "cannot write no/such/folder.txt" in capsys.readouterr().err


def test_unknown_claims_are_named(data: Path, capsys) -> None:
    assert cli.run(["validate", str(data), "--encoder", "hashing", "--claims", "psychic"]) == 2
    assert "psychic" in capsys.readouterr().err
