"""Try `crscore pr` without GitHub: a local stand-in serves a pull request, which is scored twice.

    python scripts/demo_pr.py

The pull request is invented: it adds discount codes to a web shop, and two people and two bots
review it. The first run writes the comment that a team would see; the second run leaves the comment
as it is.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers.github import scenes
from tests.helpers.github.server import serve

TOKEN = "demo-token"  # noqa: S105  (of a local server that ends with this script)


def main() -> int:
    """Run the demonstration; the exit code is that of the command."""
    with tempfile.TemporaryDirectory() as cache, serve(scenes.shop(), token=TOKEN) as server:
        environment = {**os.environ, "GITHUB_TOKEN": TOKEN, "CRSCORE_CACHE_DIR": cache}
        command = [sys.executable, "-m", "crscore", "pr", "acme/shop#7", "--api-url", server.url]
        for extra in (["--comment"], ["--comment", "--format", "markdown", "--quiet"]):
            shown = " ".join(["crscore", *command[3:], *extra])
            print(f"$ {shown}", flush=True)
            code = subprocess.run([*command, *extra], env=environment, check=False).returncode  # noqa: S603
            print(flush=True)
            if code:
                return code
        (note,) = [
            note
            for note in server.world.repositories[0].pulls[7].notes
            if note.body.startswith("<!-- crscore")
        ]
        print("The comment on the pull request:\n")
        print(note.body)
        return 0


if __name__ == "__main__":
    sys.exit(main())
