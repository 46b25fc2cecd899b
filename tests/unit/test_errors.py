import inspect
import pickle

import pytest

from crscore import errors

EXAMPLES = {
    "CRScoreError": errors.CRScoreError("text"),
    "InputError": errors.InputError("no file"),
    "DiffParseError": errors.DiffParseError("a.diff", 3, "no hunk"),
    "LimitError": errors.LimitError("max_files", 10, 11, "a.diff"),
    "OutputError": errors.OutputError("out.html", "it is a folder"),
    "ConfigError": errors.ConfigError("treshold", "environment", "is no setting"),
    "DependencyError": errors.DependencyError("scipy", "pip install scipy"),
    "ToolNotFoundError": errors.ToolNotFoundError("pmd", "crscore analyzers install pmd"),
    "ToolFailedError": errors.ToolFailedError("pmd", "took longer than 20 s"),
    "ToolOutputError": errors.ToolOutputError("pmd", "no JSON"),
    "UnknownPluginError": errors.UnknownPluginError("encoders", "x", ("a", "b")),
    "GenerationError": errors.GenerationError("no recording"),
    "EngineError": errors.EngineError("no server"),
    "MalformedAnswerError": errors.MalformedAnswerError("the answer has no JSON", "No."),
    "EncodingError": errors.EncodingError("NaN"),
    "StoreError": errors.StoreError("store.sqlite3", "it cannot be read"),
    "ModelNotFoundError": errors.ModelNotFoundError("m", "pip install m"),
    "HostError": errors.HostError("pull request 7", "cannot be read"),
    "BadTokenError": errors.BadTokenError("GitHub", "bad credentials"),
    "PermissionDeniedError": errors.PermissionDeniedError("the comment", "read-only token"),
    "NotFoundError": errors.NotFoundError("a/b#7", "there is none"),
    "RateLimitedError": errors.RateLimitedError("a/b#7", "primary limit", 60.0),
    "UnavailableError": errors.UnavailableError("a/b#7", "status 502"),
    "UncertainWriteError": errors.UncertainWriteError("the comment", "no answer"),
}


def test_examples_cover_every_error_class() -> None:
    classes = inspect.getmembers(errors, inspect.isclass)
    assert set(EXAMPLES) == {name for name, one in classes if issubclass(one, Exception)}


NAMED = errors.ToolFailedError(tool="pmd", reason="died")


@pytest.mark.parametrize("error", [*EXAMPLES.values(), NAMED])
def test_pickled_error_keeps_its_text_and_fields(error: errors.CRScoreError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (type(error), str(error))
    assert vars(copy) == vars(error)


def test_every_class_is_named_in_the_tree_of_the_docstring() -> None:
    assert all(name in (errors.__doc__ or "") for name in EXAMPLES)


def test_diff_error_with_a_line_names_the_line() -> None:
    assert str(EXAMPLES["DiffParseError"]) == "a.diff:3: no hunk"


def test_diff_error_without_a_line_names_the_source() -> None:
    assert str(errors.DiffParseError("a.diff", None, "empty")) == "a.diff: empty"


def test_limit_error_names_the_limit_and_both_numbers() -> None:
    text = str(errors.LimitError("max_files", 3000, 20000, "big.diff"))
    assert text.endswith("score a smaller part of the change or raise max_files")
    assert "max_files is 3,000" in text
    assert "20,000" in text


@pytest.mark.parametrize("limit", ["the maximum size in bytes", "max_comments"])
def test_message_does_not_suggest_raising_a_limit_that_is_no_setting(limit: str) -> None:
    text = str(errors.LimitError(limit, 3000, 20000, "big"))
    assert text.startswith(f"big: {limit} is 3,000, and this input has 20,000; score a smaller ")
    assert "raise" not in text
