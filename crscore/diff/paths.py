"""Paths of changed files: from the root of the repository, and in messages."""

import re
from collections.abc import Sequence
from typing import Final

MAX_SHOWN: Final = 3
"""Maximum number of paths that a message names."""
# Folders in which CI systems check a repository out, as they document them; for example
# https://docs.github.com/en/actions/reference/workflows-and-actions/variables and
# https://docs.gitlab.com/ci/variables/predefined_variables/. One level deeper would be a folder of
# the repository: nothing is guessed from the end of a path.
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


def strip_workspace(path: str) -> str:
    """Return a path from the root of its repository if it is in the workspace of a known CI.

    Args:
        path: With forward slashes; returned unchanged if its root is unknown.

    Example:
        >>> strip_workspace("/home/runner/work/shop/shop/src/a.py"), strip_workspace("/tmp/a.py")
        ('src/a.py', '/tmp/a.py')
    """
    workspace = _WORKSPACE.match(path)
    return path[workspace.end() :] if workspace else path


def format_paths(paths: Sequence[str]) -> str:
    """Format the first few of many paths; an empty path stands for a bare hunk.

    Example:
        >>> format_paths(["a", "b", "c", "d"])
        "'a', 'b', 'c' and 1 more"
    """
    remainder = f" and {len(paths) - MAX_SHOWN} more" if len(paths) > MAX_SHOWN else ""
    return (
        ", ".join(repr(path or "a hunk without --path") for path in paths[:MAX_SHOWN]) + remainder
    )
