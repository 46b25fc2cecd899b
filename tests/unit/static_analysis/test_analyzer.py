"""Reading the folders of analyzers; errors name the key."""

import pytest

from crscore.errors import ConfigError
from crscore.static_analysis import analyzer
from tests.helpers.toys import toy

WRONG = {
    "no TOML": (("about", "about = ="), "file", "cannot be read"),
    "unknown key": (('about = "', 'abuot = 1\nabout = "'), "file", "unknown field `abuot`"),
    "wrong type": (("seconds = 10", 'seconds = "10"'), "limits.seconds", "got `str`"),
    "no time": (("seconds = 10", "seconds = 0"), "limits.seconds", ""),
    "endless time": (("seconds = 10", "seconds = inf"), "limits.seconds", ""),
    "suffix": (("'.txt'", "'.TXT'"), "suffixes[1]", "matching regex"),
    "pattern": (("'toy (\\S+)'", "'toy ('"), "tool.pattern", "not a regular expression"),
    "pattern of no text": (("'toy (\\S+)'", "7"), "tool.pattern", "got `int`"),
    "two versions": (("[run]", "version_path = 'x'\n[run]"), "tool", "one of version and"),
    "no group": (("'toy (\\S+)'", "'toy'"), "tool.pattern", "has no group"),
    "placeholder": (("{files}", "{filez}"), "run", "arguments: {filez} is not one of"),
    "no files": (("{files}", "x"), "run", "arguments must name {files}"),
    "no rules": (("{files}", "{files}{rules}"), "run", "rules must name the file"),
    "rules elsewhere": (
        ("[exit_codes]", "rules = '../../x'\n[exit_codes]"),
        "run.rules",
        "is not a file of this folder",
    ),
    "rules missing": (
        ("[exit_codes]", "rules = 'x.toml'\n[exit_codes]"),
        "run.rules",
        "is not a file of this folder",
    ),
    "format": (('format = "json"', 'format = "xml"'), "output.format", "Invalid enum"),
    "sarif with json": (('format = "json"', 'format = "sarif"'), "output", "has a table json"),
    "csv without table": (('format = "json"', 'format = "csv"'), "output", "has a table"),
    "stderr": (
        ("[output.json]", "unparsed_stderr = 'x'\n[output.json]"),
        "output.unparsed_stderr",
        "has no group",
    ),
    "stderr pattern": (
        ("[output.json]", "unparsed_stderr = '('\n[output.json]"),
        "output.unparsed_stderr",
        "not a regular expression",
    ),
    "severity": (('1 = "error"', '1 = "fatal"'), "severity", "Invalid enum"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_manifest_is_an_error_that_names_the_key(tmp_path, case) -> None:
    replaced, key, words = WRONG[case]
    with pytest.raises(ConfigError) as caught:
        toy(tmp_path, replaced=replaced)
    assert caught.value.origin == str(tmp_path / "toy" / "analyzer.toml")
    assert caught.value.key.startswith(key)
    assert words in str(caught.value)


MORE = {
    "csv column": (
        "[output.csv]\npath = -1\nline = 0\nend_line = 0\nname = 0\nmeasures = { a = [1, 2] }",
        "output.csv.path",
    ),
    "rule": ("[[sentences]]\nrule = '('\ntext = 'x'", "sentences[0].rule"),
    "message": ("[[sentences]]\nrule = 'a'\nmessage = '['\ntext = 'x'", "sentences[0].message"),
    "slot": ("[[sentences]]\nrule = 'a'\nmessage = '(b)'\ntext = '{name}'", "sentences[0]"),
    "slot without message": ("[[sentences]]\nrule = 'a'\ntext = '{name}'", "sentences[0]"),
    "suppressions": ("[suppressions]\npatterns = ['*']", "suppressions.patterns[0]"),
    "severity of rules": ("[severity_of_rules]\nnote = ['(']", "severity_of_rules[...][0]"),
    "ignored": ("[[ignored]]\nrule = 'a'\nmessage = '('", "ignored[0].message"),
    "fragments": ("[fragments]\nrules = ['(']", "fragments.rules[0]"),
}


@pytest.mark.parametrize("case", MORE)
def test_wrong_part_is_an_error_that_names_the_key(tmp_path, case) -> None:
    text, key = MORE[case]
    with pytest.raises(ConfigError) as caught:
        toy(tmp_path, text)
    assert caught.value.key == key


@pytest.mark.parametrize("name", ["Upper", "1st", "a b", "x" * 41])
def test_folder_of_another_name_is_no_analyzer(tmp_path, name) -> None:
    with pytest.raises(ConfigError, match="lower-case"):
        toy(tmp_path, name=name)


def test_missing_file_is_an_error(tmp_path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        analyzer.read_analyzer(tmp_path / "none", shipped=False)


def test_manifest_that_is_not_utf8_is_an_error(tmp_path) -> None:
    analyzer_folder = toy(tmp_path)
    (analyzer_folder.folder / "analyzer.toml").write_bytes(b"about = '\xff'")
    with pytest.raises(ConfigError, match="cannot be read"):
        analyzer.read_analyzer(analyzer_folder.folder, shipped=False)


def test_names_are_sorted_and_folders_without_manifest_left_out(tmp_path) -> None:
    toy(tmp_path, name="zed")
    toy(tmp_path, name="abc")
    (tmp_path / "other").mkdir()
    assert analyzer.analyzer_names(tmp_path) == ("abc", "zed")


def test_names_of_no_folder_is_an_error(tmp_path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        analyzer.analyzer_names(tmp_path / "none")


def test_builtin_folder_holds_the_shipped_analyzers() -> None:
    assert {"pyscent", "ruff", "bandit", "lizard"} <= set(
        analyzer.analyzer_names(analyzer.builtin_folder())
    )


def test_builtin_folder_of_a_wheel_lies_in_the_package(monkeypatch, tmp_path) -> None:
    carried = tmp_path / "crscore" / "_data" / "analyzers"
    carried.mkdir(parents=True)
    monkeypatch.setattr(analyzer, "__file__", str(tmp_path / "crscore" / "analysis" / "x.py"))
    assert analyzer.builtin_folder() == carried


@pytest.mark.parametrize("name", ["tool.py", "rules.json", "analyzer.toml"])
def test_hash_changes_with_each_file_that_determines_findings(tmp_path, name) -> None:
    def made(old: str) -> str:
        folder = tmp_path / "toy"
        folder.mkdir(exist_ok=True)
        (folder / "rules.json").write_text("{}")
        one = toy(tmp_path, replaced=("[run]", "[run]\nrules = 'rules.json'"))
        path = one.folder / name
        path.write_text(path.read_text() + old)
        return analyzer.read_analyzer(one.folder, shipped=False).sha256

    assert made("") == made("")
    assert made("\n# changed") != made("")


def test_hash_is_the_same_wherever_the_folder_lies(tmp_path) -> None:
    assert toy(tmp_path / "a").sha256 == toy(tmp_path / "b").sha256
