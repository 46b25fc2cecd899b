from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click
import pytest

from crscore import cli, settings

if TYPE_CHECKING:
    from collections.abc import Iterator


def every_command(command: click.Command, *path: str) -> Iterator[tuple[str, click.Command]]:
    yield " ".join(path), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from every_command(found, *path, name)


# As in a whole run: click keeps the option of the first help that is asked for.
HELP = cli.cli.context_settings["help_option_names"]
COMMANDS = dict(every_command(cli.cli, "crscore"))


def help_of(name: str) -> str:
    command = COMMANDS[name]
    context = click.Context(command, info_name=name, terminal_width=80, help_option_names=HELP)
    return command.get_help(context)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples_that_can_be_parsed_and_fits_80_columns(name: str) -> None:
    text = help_of(name)
    examples = [line.strip() for line in text.partition("Examples:\n")[2].splitlines()]
    assert examples
    for example in examples:
        words = shlex.split(example.rpartition("| ")[2], comments=True)
        assert words.pop(0) == "crscore", example
        command, path = cli.cli, ["crscore"]
        while isinstance(command, click.Group) and words:
            context = command.make_context(
                path[-1], list(words), resilient_parsing=True, help_option_names=HELP
            )
            step, command, words = command.resolve_command(
                context, [*context._protected_args, *context.args]
            )
            path.append(str(step))
        assert command is not None
        if "--help" not in words:
            # an unknown option is an error
            command.make_context(path[-1], list(words), help_option_names=HELP)
    assert max(map(len, text.splitlines())) <= 100


def test_options_of_models_are_a_group_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run(["score", "--help-all"]) == 0
    text = capsys.readouterr().out
    headings = [line for line in text.splitlines() if line.endswith(":") and line[0] != " "]
    assert headings == [
        "Options:", "Code:", "Report:", "Gate:", "Parts of the run:", "Static analysis:",
        "Language model:", "Cache and network:", "Examples:",
    ]  # fmt: skip
    models = text.partition("Language model:")[2].partition("Cache, limits")[0]
    for name in settings.ModelSettings.__struct_fields__:
        assert f"--{name.replace('_', '-')}" in models
    assert "--claims" not in models
    # A report's form is not that of a model's answer.
    assert "Language model" not in help_of("crscore audit gate")


def test_help_of_score_lists_common_options_and_help_all_all_options(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.run(["score", "--help"]) == 0
    short = capsys.readouterr().out
    assert cli.run(["score", "--help-all"]) == 0
    full = capsys.readouterr().out
    common = ("--format", "--fail-under", "--fail-under-low", "--reader", "--source-root")
    for flag in (*common, "--offline", "--help-all"):
        assert flag in short
    for flag in ("--lora", "--splitter", "--tensor-parallel"):
        assert flag not in short
        assert flag in full
    assert sum(line.lstrip().startswith("-") for line in short.splitlines()) <= 13


def test_help_is_shown_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == 2
    captured = capsys.readouterr()
    assert "Commands:" in captured.out + captured.err


def test_summaries_of_commands_are_not_cut() -> None:
    assert "..." not in help_of("crscore").replace("[ARGS]...", "")
