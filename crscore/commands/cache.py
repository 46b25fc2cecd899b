"""`crscore cache`: show and clear the cache that runs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from crscore.commands._options import option
from crscore.commands._settings import load_settings, setting_options
from crscore.commands._terminal import GroupedCommand
from crscore.text import count_noun

if TYPE_CHECKING:
    from pathlib import Path

_KIB = 1024


@click.command(name="cache", cls=GroupedCommand)
@option("--clear", "Clear the cache.")
@setting_options("cache_dir", "config")
def command(*, clear: bool, config_file: Path | None, **flags: Any) -> int:
    """Show what is cached from run to run.

    It holds findings, a model's claims, ratings and verdicts, whole files and responses of a code
    host.

    Examples:
        crscore cache
        crscore cache --clear
    """
    from crscore import scorer  # noqa: PLC0415  (after --help and wrong options)

    store = scorer.make_store(load_settings(config_file, flags))
    if clear:
        store.clear()
        click.echo(f"{store.file}: cleared")
        return 0
    click.echo(f"{store.file}, at most {store.max_bytes // _KIB**2} MiB")
    for kind, entries, size in store.summary():
        click.echo(f"  {kind:<12}{count_noun(entries, 'entry')}, {size / _KIB:,.0f} KiB")
    store.close()
    return 0
