"""`crscore validate` on a small study, through the command line."""

import importlib.resources
import json
import sys
from pathlib import Path

import jsonschema
import pytest
import scipy.stats

from crscore import cli
from tests.helpers import study as helper

# Most tests ask for the score alone.
ALONE = ("--no-baselines", "--no-attacks")

FIELDS = ["metric", "dimension", "slice", "n"]
FIELDS += ["spearman", "kendall", "pearson", "low", "high", "p"]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return helper.write(tmp_path / "study.jsonl.gz")


def validate(capsys: pytest.CaptureFixture[str], data: Path, *options: str) -> dict:
    return everything(capsys, data, *ALONE, *options)


def everything(capsys: pytest.CaptureFixture[str], data: Path, *options: str) -> dict:
    arguments = ["validate", str(data), "--encoder", "hashing", "--resamples", "20"]
    assert cli.run([*arguments, "--format", "json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_correlations_are_a_flat_list(data: Path, capsys) -> None:
    document = validate(capsys, data)
    found = document["correlations"]
    assert all(list(row) == FIELDS for row in found)
    assert {row["slice"] for row in found} >= {"pooled", "without-junk", "within-system"}
    assert document["metric"] == "published/hashing/recorded"
    metrics = {row["metric"] for row in found}
    assert metrics >= {document["metric"], "words", "repeated tokens"}


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
    arguments = ["validate", str(data), "--encoder", "hashing", "--resamples", "5", *ALONE]
    assert cli.run(arguments) == 0
    text = capsys.readouterr().out
    assert "15 reviews of 3 changes" in text
    assert "Reviews without a sentence, whose score is 0: 3." in text
    assert "the paper's procedure finds" in text


def test_change_without_claims_is_left_out_and_named(data: Path, capsys, tmp_path: Path) -> None:
    rows = helper.rows()
    rows[1] |= {"llm_claims": [], "pseudo_references": []}
    found = validate(capsys, helper.write(tmp_path / "s.jsonl", rows))["data"]
    assert (found["reviews"], found["excluded_changes"]) == (10, ["py:2"])


@pytest.mark.parametrize("systems", [["lstm", "knn"], ["ground_truth"], []])
def test_study_of_few_systems_is_not_a_bug(data: Path, capsys, tmp_path: Path, systems) -> None:
    rows = helper.rows()
    for row in rows:
        row["reviews"] = [one for one in row["reviews"] if one["system"] in systems]
    path = helper.write(tmp_path / "s.jsonl", rows)
    code = cli.run(["validate", str(path), "--encoder", "hashing", "--resamples", "5", *ALONE])
    captured = capsys.readouterr()
    if systems == ["lstm", "knn"]:
        assert (code, "without-junk" in captured.out) == (0, False)
    else:
        assert code == 3
        assert "no review of this study can be scored" in captured.err


def test_study_without_any_claim_is_not_a_bug(data: Path, capsys, tmp_path: Path) -> None:
    rows = [row | {"llm_claims": [], "pseudo_references": []} for row in helper.rows()]
    path = helper.write(tmp_path / "s.jsonl", rows)
    assert cli.run(["validate", str(path), "--encoder", "hashing"]) == 3
    assert "no review of this study can be scored" in capsys.readouterr().err


def test_uncalibrated_encoder_gets_its_threshold_by_the_papers_procedure(
    data: Path, capsys
) -> None:
    found = validate(capsys, data, "--encoder", "hashing:64")
    assert found["threshold"] == pytest.approx(found["tau_by_procedure"], abs=1e-4)
    assert found["threshold"] > 0


def saved(tmp_path: Path, data: Path, name: str, *options: str) -> Path:
    target = tmp_path / name
    arguments = ["validate", str(data), "--encoder", "hashing", "--resamples", "5", *ALONE]
    assert cli.run([*arguments, "--format", "json", "-o", str(target), *options]) == 0
    return target


def test_two_results_are_compared(data: Path, capsys, tmp_path: Path) -> None:
    first = saved(tmp_path, data, "a.json", "--threshold", "0.1")
    second = saved(tmp_path, data, "b.json", "--threshold", "0.4")
    assert cli.run(["validate", str(first), str(second), "--resamples", "20"]) == 0
    text = capsys.readouterr().out
    assert "better with people on relevance" in text
    assert "Compared on 15 reviews of 3 changes in both runs." in text
    assert cli.run(["validate", str(first), str(second), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["first"]["name"], found["second"]["name"]) == ("a.json", "b.json")
    values = [
        next(
            row["spearman"]
            for row in json.loads(path.read_text())["correlations"]
            # The score's rows are the first.
            if (row["dimension"], row["slice"]) == ("relevance", "pooled")
        )
        for path in (first, second)
    ]
    row = found["differences"][0]
    assert [row["first"], row["second"]] == pytest.approx(values)
    assert row["difference"] == pytest.approx(values[1] - values[0])


@pytest.mark.parametrize(
    ("files", "code", "message"),
    [
        ([], 2, "expected one study or two results of crscore validate, got 0 files"),
        (
            ["study", "a", "a"],
            2,
            "expected one study or two results of crscore validate, got 3 files",
        ),
        (["a"], 3, "is a result, not a study; give two results to compare them"),
        (["a", "study"], 3, "study.jsonl.gz is not a result of crscore validate"),
        (["study", "a"], 3, "study.jsonl.gz is not a result of crscore validate"),
        (["a", "missing"], 3, "missing.json does not exist"),
        (["missing"], 3, "missing.json cannot be read as a study"),
    ],
)
def test_wrong_files_have_different_errors(
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


def test_published_baselines_are_beside_the_score(data: Path, capsys) -> None:
    found = everything(capsys, data, "--no-attacks")
    variants = {metric["name"]: metric["variant"] for metric in found["metrics"]}
    assert list(variants)[-8:] == [
        *("BLEU", "BLEU without stop words", "chrF", "chrF++", "ROUGE-L", "edit similarity"),
        *("METEOR", "BERTScore"),
    ]
    # The run's encoder shows no tokens.
    assert "minilm:all-MiniLM-L6-v2" in variants["BERTScore"]
    assert {row["metric"] for row in found["correlations"]} == set(variants)


def test_change_without_a_human_comment_is_noted(data: Path, capsys, tmp_path: Path) -> None:
    rows = helper.rows()
    rows[2]["reviews"] = [one for one in rows[2]["reviews"] if one["system"] != "ground_truth"]
    found = everything(capsys, helper.write(tmp_path / "s.jsonl", rows), "--no-attacks")
    assert "changes without a human comment" in found["notes"][0]
    assert "js:1" in found["notes"][0]


def test_missing_library_of_a_baseline_is_an_error_before_the_work(
    data: Path, capsys, monkeypatch
) -> None:
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    monkeypatch.setattr("importlib.metadata.version", _not_found)
    assert cli.run(["validate", str(data), "--encoder", "hashing"]) == 3
    assert "pip install 'crscore[validate]'" in capsys.readouterr().err


def _not_found(package: str) -> str:
    raise importlib.metadata.PackageNotFoundError(package)


def check(document: dict) -> None:
    schema = importlib.resources.files("crscore_lab") / "schemas" / "validation.schema.json"
    jsonschema.Draft202012Validator(json.loads(schema.read_text("utf-8"))).validate(document)


def test_score_is_attacked(data: Path, capsys) -> None:
    found = everything(capsys, data, "--no-baselines")["attacks"]
    # Of each change gpt3.5 and llama3 (4 each) and the human comment (5).
    assert found["honest"] == 9
    assert {row["kind"] for row in found["kinds"]} >= {"keyword-stuffing", "echo", "hidden"}
    assert validate(capsys, data)["attacks"] is None


def test_study_without_good_reviews_is_not_attacked(data: Path, capsys, tmp_path: Path) -> None:
    rows = helper.rows()
    for row in rows:
        row["reviews"] = [one for one in row["reviews"] if one["relevance"] < 4]
    path = helper.write(tmp_path / "s.jsonl", rows)
    found = everything(capsys, path, "--no-baselines")
    assert found["attacks"] is None
    assert found["notes"] == ["no attack was made: no review is rated 4 or 5"]


def test_whole_document_keeps_to_its_schema(capsys, tmp_path: Path) -> None:
    data = helper.write(tmp_path / "full.jsonl", helper.full_rows())
    found = everything(capsys, data)
    check(found)
    assert [row["language"] for row in found["claims"]] == ["python", "javascript", "all"]
    assert {row["measure"] for row in found["agreement"] if row["value"] is not None} >= {
        "Krippendorff's alpha (ordinal)",
        "Cohen's kappa",
    }


def test_matcher_is_trained_for_each_fold(capsys, tmp_path: Path) -> None:
    data = helper.write(tmp_path / "full.jsonl", helper.full_rows())
    arguments = ["validate", str(data), "--encoder", "hashing", "--resamples", "0", *ALONE]
    assert cli.run([*arguments, "--split", "grouped-cv", "3", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    check(found)
    assert found["split"] == "grouped-cv:3"
    assert found["metric"] == "calibrated/hashing/recorded"
    assert "matcher:calibrated@grouped-cv:3.0" in found["signature"]
    assert (found["threshold"], found["data"]["reviews"]) == (None, 15)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--split", "by-moon"], "--split: by-moon is not one of grouped-cv, leave-one-system-out"),
        (["--split", "grouped-cv", "1"], "--split: grouped-cv needs at least 2 groups, not 1"),
        (["--split", "leave-one-language-out", "5"], "and takes no number"),
        (
            ["--split", "grouped-cv", "--matcher", "published"],
            "the matcher published cannot be trained",
        ),
        (
            ["--split", "grouped-cv", "--threshold", "0.5"],
            "the matcher published cannot be trained",
        ),
        (["--split", "grouped-cv", "--preset", "paper"], "the matcher published cannot be trained"),
    ],
)
def test_split_that_means_nothing_is_a_usage_error(data: Path, capsys, words, message) -> None:
    assert cli.run(["validate", str(data), "--encoder", "hashing", *words]) == 2
    assert message in capsys.readouterr().err


def test_split_of_too_few_changes_is_refused(data: Path, capsys) -> None:
    arguments = ["validate", str(data), "--encoder", "hashing", *ALONE, "--split", "grouped-cv"]
    assert cli.run(arguments) == 3
    assert "3 changes cannot be split into 10 groups" in capsys.readouterr().err


def test_missing_trainer_is_reported_before_the_work(data: Path, capsys, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    arguments = ["validate", str(data), "--encoder", "hashing", *ALONE, "--split", "grouped-cv:2"]
    assert cli.run(arguments) == 3
    assert "pip install 'crscore[validate]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--split", "grouped-cv"], ["--claims", "structural"], ["--no-attacks"]]
)
def test_option_that_says_nothing_about_a_comparison_is_refused(data: Path, capsys, words) -> None:
    # The files need not be there: what was asked for is wrong whatever they hold.
    assert cli.run(["validate", "a.json", "b.json", "--offline", *words]) == 2
    message = f"{words[0].replace('--no-', '--')} has no effect on a comparison of two results"
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["train", "code", "audit", "gate", "encoder"])
def test_group_without_a_command_shows_its_help(name: str, capsys) -> None:
    assert cli.run([name]) == 2
    shown = "".join(capsys.readouterr())
    assert shown.startswith(f"Usage: crscore {name} ")
    assert "Commands:" in shown


def test_help_names_the_extra_that_it_needs(capsys) -> None:
    assert cli.run(["validate", "--help"]) == 0
    assert "pip install 'crscore[validate]'" in capsys.readouterr().out


def test_tools_look_when_the_command_line_says_so(
    tmp_path: Path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = helper.write(tmp_path / "analysed.jsonl", helper.analysed_rows())
    # Neither environment nor file decides here: published numbers must not change with them.
    monkeypatch.setenv("CRSCORE_ANALYZERS", "ruff")
    assert validate(capsys, data)["issues"] is None
    found = validate(capsys, data, "--analyzers", "ruff", "--cache-dir", str(tmp_path))
    assert found["issues"]["analyzers"] == "ruff"
    assert {row["tool"] for row in found["issues"]["tools"]} == {"ruff", "all"}
    assert "recorded-claims@" in found["signature"]


def test_text_has_the_findings_of_the_tools(tmp_path: Path, capsys) -> None:
    data = helper.write(tmp_path / "analysed.jsonl", helper.analysed_rows())
    arguments = ["validate", str(data), "--encoder", "hashing", "--resamples", "0", *ALONE]
    assert cli.run([*arguments, "--analyzers", "ruff", "--cache-dir", str(tmp_path)]) == 0
    assert "Findings of the tools: ruff" in capsys.readouterr().out


def test_unknown_analyzer_is_refused(data: Path, capsys) -> None:
    assert cli.run(["validate", str(data), "--analyzers", "psychic"]) == 2
    assert "psychic" in capsys.readouterr().err
