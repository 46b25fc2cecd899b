"""Try `crscore audit` without GitHub: audit the review bots of an invented company.

    python scripts/demo_audit.py [FOLDER]

A local stand-in for GitHub has 40 pull requests of two repositories over 30 days, which four bots
and two people reviewed. The pull requests are read and scored, and a report is written into FOLDER,
by default a new temporary folder.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.helpers.github import audit_demo
from tests.helpers.github.server import serve

TOKEN = "demo-token"  # noqa: S105  (of a local server that ends with this script)


def main() -> int:
    """Run the demonstration; the exit code is that of the first command that fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "folder", nargs="?", metavar="FOLDER", help="default: a new temporary folder"
    )
    folder = Path(parser.parse_args().folder or tempfile.mkdtemp(prefix="crscore-audit-"))
    folder.mkdir(parents=True, exist_ok=True)
    world = audit_demo.audit()
    with serve(world, token=TOKEN) as server:
        environment = {
            **os.environ,
            "GITHUB_TOKEN": TOKEN,
            "GITHUB_API_URL": server.url,
            "CRSCORE_AUDIT_STORE": str(folder / "audit.db"),
            "CRSCORE_CACHE_DIR": str(folder / "cache"),
        }
        has_affinity = hasattr(os, "sched_getaffinity")
        cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
        names = [one.full_name for one in world.repositories]
        period = ["--since", audit_demo.FIRST_DAY, "--until", audit_demo.LAST_DAY]
        for words in (
            ["sync", *names, "--since", audit_demo.FIRST_DAY],
            ["score", "--workers", str(cores)],
            ["report", *period, "--price", "coderabbit=24EUR/month", "-o", str(folder / "site")],
            ["compare", *period],
        ):
            print(f"$ crscore audit {' '.join(words)}", flush=True)
            command = [sys.executable, "-m", "crscore", "audit", *words]
            code = subprocess.run(command, env=environment, check=False).returncode  # noqa: S603
            print(flush=True)
            if code:
                return code
    print(f"Open {folder / 'site' / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
