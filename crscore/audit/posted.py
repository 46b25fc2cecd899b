"""Reads the comments of review bots from the store of an audit, as findings for `crscore bench`."""

from pathlib import Path

from crscore.audit.store.database import Store
from crscore.audit.store.queries import all_repositories
from crscore.audit.store.rows import Comment
from crscore.bench.records import Finding
from crscore.records import Side


def read_posted(path: Path) -> list[Finding]:
    """Read the comments of bots, without notices that nothing was reviewed.

    Hidden and deleted comments are included. The text of a comment is the first version that was
    read, so a bot cannot take back what it posted.

    Args:
        path: Store of `crscore audit`.

    Returns:
        One finding for each comment; its change is named `owner/repository#number`.

    Raises:
        StoreError: The file does not exist, is not a store, or is damaged.
    """
    with Store(path, must_exist=True) as store:
        names = {row.id: row.name for row in all_repositories(store)}
        sql = "SELECT comment, body, MIN(night) FROM comment_observations GROUP BY comment"
        first_texts = {comment: body for comment, body, _ in store.query(sql)}
        return [
            Finding(
                change=f"{names[row.repository]}#{row.number}",
                bot=row.reviewer,
                text=store.text(first_texts.get(row.key) or row.body),
                path=row.path,
                # Golden sets only have lines of the new version.
                line=None if row.side == Side.OLD.value else row.line,
                raw=True,
            )
            for row in store.find(Comment, "key", is_bot=1, is_review=1)
            if row.skip is None and row.repository in names
        ]
