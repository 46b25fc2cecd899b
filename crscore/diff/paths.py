"""Paths of changed files: the role of a file, the root of its repository, lists in messages."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

MAX_SHOWN: Final = 3
"""Maximum number of paths that a message names."""
# Folders in which CI systems put the checkout of a repository, as they document them; for example
# https://docs.github.com/en/actions/reference/workflows-and-actions/variables and
# https://docs.gitlab.com/ci/variables/predefined_variables/. In any other path, folders above the
# checkout cannot be distinguished from folders in it.
_WORKSPACE: Final = re.compile(
    r"""(?:
    (?:/(?:home|Users)/runner/work|/home/vsts/work|/__w|[A-Za-z]:/a|(?:[A-Za-z]:)?/[\w./-]{0,100}_work)
        /(?:([^/]+)/\1|\d+/s)  # GitHub Actions, Azure Pipelines
    |[A-Za-z]:/a/(?!_work/|\d+/)[^/]+
    |/github/workspace|/workspaces/[^/]+  # GitHub's containers, Codespaces
    |(?:/home/gitlab-runner)?/builds(?:/[\w-]+/\d+)?/[^/]+/[^/]+  # GitLab, outside nested groups
    |(?:/var/jenkins_home|/var/lib/jenkins|/home/jenkins(?:/agent)?)/workspace/[^/]+  # Jenkins
    |/home/circleci/project|/opt/atlassian/pipelines/agent/build|/home/travis/build/[^/]+/[^/]+
    |/workspace  # Google Cloud Build, and the containers of agents
    )/""",
    re.VERBOSE,
)
LOCK, SNAPSHOT, GENERATED, MINIFIED = MACHINE_MADE = (
    "lock file", "snapshot", "generated or vendored file", "minified or data file"
)  # fmt: skip
"""Kinds of files that programs write."""
_FILE: Final = tomllib.loads(Path(__file__).with_name("roles.toml").read_text("utf-8"))
_TABLES: Final = {
    table: {name: re.compile(pattern) for name, pattern in rows.items()}
    for table, rows in _FILE.items()
}


def machine_kind_of(path: str) -> str:
    """Return the kind of a file that programs write, by its path; "" for any other file."""
    if _TABLES["machine"]["lock"].search(path):
        return LOCK
    if _TABLES["machine"]["generated"].search(path):
        return SNAPSHOT if "snap" in path else GENERATED
    return ""


def role_of(path: str) -> str:
    """Return the role of a file by its path: a name in `roles.toml`, `machine` or `code`."""
    if machine_kind_of(path):
        return "machine"
    return next((role for role, form in _TABLES["roles"].items() if form.search(path)), "code")


def strip_workspace(path: str) -> str:
    """Return a path relative to its repository, if it is in the workspace of a known CI system.

    Args:
        path: Path with forward slashes; returned unchanged if it is in no known workspace.

    Example:
        >>> strip_workspace("/home/runner/work/shop/shop/src/a.py"), strip_workspace("/tmp/a.py")
        ('src/a.py', '/tmp/a.py')
    """
    workspace = _WORKSPACE.match(path)
    return path[workspace.end() :] if workspace else path


def format_paths(paths: Sequence[str]) -> str:
    """Format paths for a message, up to `MAX_SHOWN`; an empty path stands for a bare hunk.

    Example:
        >>> format_paths(["a", "b", "c", "d"])
        "'a', 'b', 'c' and 1 more"
    """
    remainder = f" and {len(paths) - MAX_SHOWN} more" if len(paths) > MAX_SHOWN else ""
    return (
        ", ".join(repr(path or "a hunk without --path") for path in paths[:MAX_SHOWN]) + remainder
    )
