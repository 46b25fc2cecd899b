"""A small GitHub on this machine: state, REST, GraphQL, limits and faults over real HTTP.

    from tests.helpers.github import scenes, serve

    with serve(scenes.shop(), token="secret") as server:
        ...  # any GitHub client, with server.url as its API address

`server.log` lists the requests, `server.writes` what was changed, `server.rules` the limits and
`server.faults` what goes wrong. By hand: `python -m tests.helpers.github`.
"""

from __future__ import annotations

from tests.helpers.github.server import Server, serve
from tests.helpers.github.state import World

__all__ = ["Server", "World", "serve"]
