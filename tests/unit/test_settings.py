from pathlib import Path

import pytest

from crscore import settings
from crscore.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    file = folder / "pyproject.toml"
    file.write_text(text, encoding="utf-8")
    return file


def resolve(flags: dict | None = None, env: dict | None = None, file: Path | None = None):
    return settings.resolve_settings(flags or {}, environment=env or {}, file=file)


def test_settings_have_defaults() -> None:
    assert resolve() == settings.Config()


def test_default_preset_is_the_default() -> None:
    assert resolve({"preset": "default"}) == settings.Config()


def test_flag_overrides_environment_overrides_file_overrides_default(tmp_path: Path) -> None:
    file = write(tmp_path, '[tool.crscore]\nsplitter = "paper"\nmax-claims = 3\nsignature = true\n')
    env = {"CRSCORE_MAX_CLAIMS": "4", "CRSCORE_ENCODER": "hashing"}
    found = resolve({"encoder": "minilm", "threshold": None}, env, file)
    assert (found.splitter, found.max_claims, found.encoder) == ("paper", 4, "minilm")
    assert (found.signature, found.claims) == (True, "auto")


def test_preset_flag_overrides_settings_of_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, '[tool.crscore]\nencoder = "hashing"\n')
    found = resolve({"preset": "paper"}, file=file)
    assert found.encoder == "st:mixedbread-ai/mxbai-embed-large-v1"
    assert (found.threshold, found.splitter) == (0.7314, "paper")


def test_flag_overrides_the_preset_flag() -> None:
    found = resolve({"preset": "paper", "encoder": "hashing"})
    assert (found.encoder, found.splitter) == ("hashing", "paper")


def test_environment_overrides_the_preset_of_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, '[tool.crscore]\npreset = "paper"\n')
    assert resolve(env={"CRSCORE_SPLITTER": "markdown"}, file=file).splitter == "markdown"


@pytest.mark.parametrize(
    ("flags", "env", "message"),
    [
        ({"treshold": 1}, {}, "--treshold is not a setting; did you mean: threshold"),
        ({}, {"CRSCORE_TRESHOLD": "1"}, "environment: CRSCORE_TRESHOLD: is not a setting"),
        (
            {},
            {"CRSCORE_MAX_CLAIMS": "many"},
            "must be a whole number from 1 to .*, not 'many'",
        ),
        ({}, {"CRSCORE_OFFLINE": "perhaps"}, "must be true or false"),
        ({}, {"CRSCORE_THRESHOLD": "high"}, "must be a number"),
        ({"threshold": 1.0}, {}, "must be a number above -1 and below 1"),
        ({"threshold": float("nan")}, {}, "must be a number above -1 and below 1"),
        ({"fail_under": 101}, {}, "must be a number from 0 to 100"),
        ({"fail_under": 0.2}, {}, "0.2 looks like a relevance, .* --fail-under-relevance"),
        ({"fail_under": 1}, {}, "--fail-under-relevance"),
        ({}, {"CRSCORE_FAIL_UNDER": "0.5"}, "CRSCORE_FAIL_UNDER: .* --fail-under-relevance"),
        ({"fail_under_relevance": 30}, {}, "must be a number from 0 to 1$|, not"),
        ({"max_files": 0}, {}, "must be a whole number from 1 to"),
        ({"concurrency": 1001}, {}, "must be a whole number from 1 to 1,000"),
        ({"max_files": 10**22}, {}, "must be a whole number from 1 to 1,099"),
        ({"preset": "fast"}, {}, "must be one of default, paper"),
        ({"encoder": ""}, {}, "must be a string"),
    ],
)
def test_message_about_a_wrong_setting_says_what_is_expected(
    flags: dict, env: dict, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        resolve(flags, env)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("max-claims = true", "must be a whole number"),
        ("threshold = true", "must be a number"),
        ("encoder = 3", "must be a string"),
        ("offline = 3", "must be true or false"),
        ("max_claim = 3", "max_claim: is not a setting"),
        ("max_claims = 3\nmax-claims = 4", "sets a key twice"),
    ],
)
def test_message_about_a_wrong_value_in_the_file_names_the_file(
    tmp_path: Path, line: str, message: str
) -> None:
    file = write(tmp_path, f"[tool.crscore]\n{line}\n")
    with pytest.raises(ConfigError, match=message) as caught:
        resolve(file=file)
    assert str(file) in str(caught.value)


def test_table_that_is_no_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must be a table"):
        resolve(file=write(tmp_path, "[tool]\ncrscore = 3\n"))


def test_unreadable_toml_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "[tool")
    with pytest.raises(ConfigError, match="cannot be read"):
        settings.find_settings_file(tmp_path)


@pytest.mark.parametrize(("word", "value"), [("1", True), ("YES", True), ("no", False)])
def test_words_for_true_and_false(word: str, value: bool) -> None:
    assert resolve(env={"CRSCORE_SIGNATURE": word}).signature is value


def test_nearest_file_with_the_table_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    write(inner, "[tool.other]\nx = 1\n")
    wanted = write(tmp_path / "a", "[tool.crscore]\n")
    write(tmp_path, "[tool.crscore]\n")
    assert settings.find_settings_file(inner) == wanted


def test_override_changes_single_settings() -> None:
    found = settings.override_settings(settings.Config(), {"max_claims": 3, "threshold": None})
    assert found == settings.Config(max_claims=3)


def test_override_with_a_preset_keeps_other_overrides() -> None:
    found = settings.override_settings(settings.Config(), {"preset": "paper", "threshold": 0.5})
    assert (found.threshold, found.splitter) == (0.5, "paper")


def test_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRSCORE_MAX_CLAIMS", "7")
    assert settings.resolve_settings({}, file=None).max_claims == 7


@pytest.mark.parametrize("text", ["tool = 3\n", "[tool.other]\nx = 1\n"])
def test_search_skips_a_file_without_the_table(tmp_path: Path, text: str) -> None:
    write(tmp_path, text)
    assert settings.find_settings_file(tmp_path) is None


def test_file_without_the_table_is_refused_when_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="must be a table in this file"):
        resolve(file=write(tmp_path, "[tool.other]\nx = 1\n"))


@pytest.mark.parametrize(
    ("variables", "on_terminal", "elsewhere"),
    [
        ({}, True, False),
        ({"NO_COLOR": ""}, True, False),  # an empty value does not count, no-color.org
        ({"NO_COLOR": "1"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
    ],
)
def test_colors_follow_the_environment(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], on_terminal: bool, elsewhere: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert settings.color_choice(is_terminal=True) is on_terminal
    assert settings.color_choice(is_terminal=False) is elsewhere


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ('analyzers = "none,./evil"', "analyzers"),
        ('analyzers = ".evil"', "analyzers"),
        ("analyzers = ['ruff']", "analyzers"),
        ('tools-dir = "tools"', "tools_dir"),
        ('cache_dir = "cache"', "cache_dir"),
        ('claims = "vllm:/any/folder"', "claims"),
        ('claims = "structural+vllm:./folder"', "claims"),
        ('claims = "vllm:a/b/c"', "claims"),
        ('claims = "vllm:~"', "claims"),
        ('claims = "replay:claims.jsonl"', "claims"),
        ('claims = "replay:claims"', "claims"),
        ('claims = "structural+replay:/claims.jsonl"', "claims"),
        ('encoder = "st:./folder"', "encoder"),
        ('encoder = "st:/folder"', "encoder"),
        ('matcher = "calibrated:weights.npz"', "matcher"),
    ],
)
def test_file_may_not_choose_programs(tmp_path: Path, line: str, key: str) -> None:
    # The nearest file may be part of the change that is scored.
    file = write(tmp_path, f"[tool.crscore]\n{line}\n")
    with pytest.raises(ConfigError) as caught:
        resolve(file=file)
    assert caught.value.key == key
    assert f"CRSCORE_{key.upper()}" in str(caught.value)
    assert resolve(env={f"CRSCORE_{key.upper()}": "./mine"}) != settings.Config()


def test_file_cannot_set_trust(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be set in a file"):
        resolve(file=write(tmp_path, "[tool.crscore]\ntrust = true\n"))
    assert resolve(env={"CRSCORE_TRUST": "true"}).trust


@pytest.mark.parametrize(
    "claims", ["structural", "auto", "vllm:owner/name", "openai:qwen3:8b", "openai"]
)
def test_file_may_name_models_that_write_claims(tmp_path: Path, claims: str) -> None:
    file = write(tmp_path, f'[tool.crscore]\nclaims = "{claims}"\n')
    assert resolve(file=file).claims == claims


@pytest.mark.parametrize(
    ("key", "value"),
    [("encoder", "st:{}"), ("model", "{}"), ("claims", "vllm:{}")],
)
def test_file_may_not_name_a_model_that_is_also_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str, value: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "owner" / "name").mkdir(parents=True)
    file = write(tmp_path, f'[tool.crscore]\n{key} = "{value.format("owner/name")}"\n')
    with pytest.raises(ConfigError, match="owner/name is a folder here"):
        resolve(file=file)


def test_flag_may_name_folders_and_recordings() -> None:
    for claims in ("vllm:/any/folder", "replay:claims.jsonl"):
        assert resolve({"claims": claims}).claims == claims


def test_file_may_name_shipped_analyzers(tmp_path: Path) -> None:
    file = write(tmp_path, '[tool.crscore]\nanalyzers = "ruff, bandit"\n')
    assert resolve(file=file).analyzers == "ruff, bandit"
