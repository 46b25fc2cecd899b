from pathlib import Path

import pytest

from crscore.errors import ConfigError
from crscore.github.actions import environment

RUNNER = {
    "GITHUB_REPOSITORY": "fruit/shop",
    "GITHUB_EVENT_NAME": "pull_request",
    "GITHUB_EVENT_PATH": "/e.json",
    "GITHUB_API_URL": "https://git.example/api/v3",
    "RUNNER_TEMP": "/t",
}


def inputs(**values: str) -> environment.Inputs:
    names = {f"INPUT_{name.upper()}": value for name, value in values.items()}
    return environment.read_environment(RUNNER | names).inputs


def test_environment_of_a_step_is_read() -> None:
    runner = environment.read_environment(RUNNER)

    assert (runner.repository, runner.event) == ("fruit/shop", "pull_request")
    assert runner.event_path == Path("/e.json")
    assert runner.api_url == "https://git.example/api/v3"
    assert runner.output_dir == Path("/t/crscore")


def test_files_of_the_runner_are_found_without_other_variables() -> None:
    variables = {"GITHUB_OUTPUT": "/o", "GITHUB_STEP_SUMMARY": "/s"}

    assert environment.runner_files(variables) == (Path("/o"), Path("/s"))
    assert environment.runner_files({"GITHUB_OUTPUT": ""}) == (None, None)


def test_no_input_gives_the_defaults() -> None:
    assert inputs() == environment.Inputs()


@pytest.mark.parametrize("name", ["INPUT_FAIL-UNDER", "INPUT_FAIL_UNDER"])
def test_input_name_may_have_a_hyphen(name: str) -> None:
    assert environment.read_environment(RUNNER | {name: " 40\n"}).inputs.fail_under == 40


def test_inputs_are_read() -> None:
    parsed = inputs(
        token="t0ken",
        pull_request="12",
        comment="True",
        annotations="false",
        fail_on="alice, *bot\ncarol",
        bot_markers="tidy=<!-- tidy:\n\nother = a=b ",
        sarif="a.sarif, out/**/*.sarif\nb c.sarif",
        post_from="x.zip",
        review_wait="2.5",
    )

    assert (parsed.token, parsed.pull_request, parsed.comment) == ("t0ken", 12, True)
    assert parsed.annotations is False
    assert parsed.fail_on == ("alice", "*bot", "carol")
    assert parsed.bot_markers == (("tidy", "<!-- tidy:"), ("other", "a=b"))
    assert parsed.sarif == ("a.sarif", "out/**/*.sarif", "b c.sarif")
    assert (parsed.post_from, parsed.review_wait) == (Path("x.zip"), 2.5)


def test_token_is_in_no_repr() -> None:
    assert "t0ken" not in repr(environment.read_environment(RUNNER | {"INPUT_TOKEN": "t0ken"}))


def test_given_folder_for_reports_stays_relative() -> None:
    runner = environment.read_environment(RUNNER, output_dir=Path("reports"))

    assert runner.output_dir == Path("reports")


def test_wrong_input_is_named() -> None:
    for name, value in [
        ("pull_request", "0"),
        ("pull_request", "-1"),
        ("pull_request", "1.5"),
        ("pull_request", "٣"),
        ("pull_request", "9" * 5000),
        ("comment", "yes"),
        ("fail_under", "100.5"),
        ("fail_under", "nan"),
        ("fail_under", "half"),
        ("fail_on", ","),
        ("bot_markers", "tidy"),
        ("bot_markers", "=text"),
        ("review_wait", "-1"),
        ("review_wait", "inf"),
    ]:
        with pytest.raises(ConfigError, match=name.replace("_", "-")) as caught:
            inputs(**{name: value})
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("name", ["GITHUB_REPOSITORY", "GITHUB_EVENT_NAME"])
def test_outside_of_a_runner_the_message_names_crscore_pr(name: str) -> None:
    variables = {key: value for key, value in RUNNER.items() if key != name}

    with pytest.raises(ConfigError, match="crscore pr"):
        environment.read_environment(variables)


@pytest.mark.parametrize("value", ["shop", "a/b/c", "a b/c", "a/b\n"])
def test_repository_must_have_an_owner_and_a_name(value: str) -> None:
    with pytest.raises(ConfigError, match="OWNER/NAME"):
        environment.read_environment(RUNNER | {"GITHUB_REPOSITORY": value})
