"""Prepare the files of a release: `python scripts/prepare_release.py OWNER/NAME vX.Y.Z COMMIT`.

In the working tree, the script replaces `OWNER/crscore` by the repository, and relative links in
the README by addresses at the tag, because the package index has no files to link to.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

_LINK = re.compile(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?!\w+:|#)(?P<target>[^)]+)\)")
PLACEHOLDER = "OWNER/crscore"


def absolute(text: str, repository: str, tag: str) -> str:
    """Return Markdown with addresses on GitHub in place of relative links and pictures."""

    def address(found: re.Match[str]) -> str:
        host = "raw.githubusercontent.com" if found["image"] else "github.com"
        kind = "" if found["image"] else "blob/"
        target = f"https://{host}/{repository}/{kind}{tag}/{found['target']}"
        return f"{found['image']}[{found['text']}]({target})"

    return _LINK.sub(address, text)


def prepare(root: Path, repository: str, tag: str, commit: str) -> None:
    """Rewrite README.md and pyproject.toml.

    Args:
        root: The checkout.
        repository: OWNER/NAME on GitHub.
        tag: Tag of the release, `v` and the version.
        commit: The commit of the tag, 40 hex digits.

    Raises:
        SystemExit: The tag is not the version of both packages.
    """
    for file in ("crscore/version.py", "research/crscore_lab/__init__.py"):
        version = runpy.run_path(str(root / file))["__version__"]
        if tag != f"v{version}":
            sys.exit(f"the tag is {tag}, but {file} says {version}")
    for name in ("README.md", "pyproject.toml"):
        path = root / name
        text = path.read_text("utf-8")
        # The comment behind it says what to write there, and is removed.
        text = re.sub(rf"{PLACEHOLDER}@COMMIT( +#.*)?", f"{repository}@{commit}", text)
        text = text.replace(PLACEHOLDER, repository)
        path.write_text(
            absolute(text, repository, tag) if name == "README.md" else text, encoding="utf-8"
        )


if __name__ == "__main__":
    prepare(Path(), *sys.argv[1:])
