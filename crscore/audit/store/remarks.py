"""Stored comments as the remarks that the rest of crscore reads."""

from crscore.audit.store.database import Store
from crscore.audit.store.rows import Comment, host_id_of, kind_of
from crscore.hosts.records import Remark
from crscore.records import Side


def to_remark(store: Store, row: Comment) -> Remark:
    """Return a comment as a remark, without what is observed of it.

    Raises:
        StoreError: Its text is missing.
    """
    return Remark(
        id=host_id_of(row.key),
        kind=kind_of(row.key),
        body=store.text(row.body),
        login=row.author,
        is_bot=bool(row.is_app),
        created=row.created,
        state=row.state,
        path=row.path,
        line=row.line,
        start_line=row.start_line,
        side=Side(row.side) if row.side else None,
        commit=row.commit_id,
        hunk=store.text(row.hunk) if row.hunk else None,
        thread=host_id_of(row.thread) if row.thread is not None else None,
    )
