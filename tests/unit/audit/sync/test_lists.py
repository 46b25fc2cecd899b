from pathlib import Path
from typing import Any

from crscore.audit.store.database import Store
from crscore.audit.store.queries import get_position, start_lists
from crscore.audit.store.rows import Repository
from crscore.audit.sync.lists import read_lists
from crscore.audit.sync.repositories import Messages

START = "2026-01-01T00:00:00Z"


class EmptyHost:
    """Every list has one page without an item."""

    def pages(self, *_arguments: Any, **_options: Any) -> list[tuple[()]]:
        return [()]


def test_empty_list_leaves_the_position_where_it_was(tmp_path: Path) -> None:
    repository = Repository(id=1, name="acme/shop", state="ok")
    with Store(tmp_path / "audit.sqlite3") as store:
        with store.transaction():
            store.append([repository])
            start_lists(store, 1, ["pulls", "line", "conversation"], START)
        read_lists(store, EmptyHost(), repository, {}, Messages(), "2026-01-02T00:00:00Z")
        assert get_position(store, 1, "pulls") == START
