"""Serve a scene until interrupted: `python -m tests.helpers.github --scene shop`."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tests.helpers.github import scenes, serve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.helpers.github.server import Server

TOKEN = "loopback-token"


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.helpers.github", description=__doc__)
    parser.add_argument("--scene", choices=sorted(scenes.SCENES), default="shop")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--port-file", type=Path, help="write the port here once it answers")
    parser.add_argument("--permissions", choices=("write", "read"))
    parser.add_argument("--log", action="store_true", help="print each request at the end")
    options = parser.parse_args(arguments)
    # A plain `kill` ends it like Ctrl-C, so that the folder of the scene is removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    world = scenes.SCENES[options.scene]()
    with serve(world, token=TOKEN, permissions=options.permissions, port=options.port) as server:
        _say(server)
        if options.port_file:
            options.port_file.write_text(f"{server.url.rpartition(':')[2]}\n")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            _report(server, log=options.log)


def _say(server: Server) -> None:
    lines = [f"A GitHub answers at {server.url} until you press Ctrl-C. Try:", ""]
    for repository in server.world.repositories:
        for number in repository.pulls:
            target = f"{repository.full_name}#{number}"
            lines.append(f"  GITHUB_TOKEN={TOKEN} crscore pr '{target}' --api-url {server.url}")
    sys.stdout.write("\n".join([*lines, "", ""]))
    sys.stdout.flush()


def _report(server: Server, *, log: bool) -> None:
    for entry in server.log if log else ():
        sys.stdout.write(f"{entry.status} {entry.method} {entry.path}?{entry.query}\n")
    for write in server.writes:
        sys.stdout.write(f"{write.kind} comment {write.id} on #{write.pull}\n{write.body or ''}\n")


if __name__ == "__main__":
    main()
