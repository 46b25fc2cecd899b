import math
from pathlib import Path

import pytest

from crscore.errors import InputError
from crscore.lab.training.data import corpus
from crscore.lab.training.data.corpus import FILES, Post
from crscore.records import Kind
from tests.helpers import corpora

COUNT = len(corpora.NAMES)


def read(folder: Path, **parts) -> tuple[Post, ...]:
    return corpus.read_corpus(corpora.write(folder, corpora.rows() | parts)).posts


def test_posts_are_in_the_order_of_the_files(tmp_path: Path) -> None:
    posts = read(tmp_path)
    kinds = list(dict.fromkeys(post.pool.split()[0] for post in posts))
    assert kinds == ["rated", "acted", "commits", "study", "claims", "attacks"]


def test_rated_comment_of_a_person_lacks_one_label(tmp_path: Path) -> None:
    post = read(tmp_path)[0]
    assert post.labels[:3] == (1, 1, 0)
    assert math.isnan(post.labels[3])
    assert post.labels[4] == 1
    assert (post.is_person, post.is_tied, post.pool) == (True, True, "rated python")


def test_acted_comment_lacks_the_ratings_and_may_be_a_bots(tmp_path: Path) -> None:
    posts = read(tmp_path)[COUNT : 2 * COUNT]
    assert [post.labels[3] for post in posts[:4]] == [0, 1, 0, 1]
    assert all(map(math.isnan, posts[0].labels[:3]))
    assert [post.is_person for post in posts[:4]] == [False, True, True, False]
    assert posts[0].diff.files[0].path == "src/limit.py"


def test_titles_are_of_every_fifth_commit_and_bodies_of_each(tmp_path: Path) -> None:
    commit = corpora.rows()["commits"][0]
    many = [commit | {"commit": str(at), "body": commit["body"] * (at != 3)} for at in range(6)]
    texts = [post.comment.body for post in read(tmp_path, commits=many) if "commits" in post.pool]
    titles = [text for text in texts if text == commit["subject"]]
    assert (len(titles), len(texts)) == (2, 7)
    assert all(
        post.labels is None and post.is_tied for post in read(tmp_path) if "commits" in post.pool
    )


def test_commit_without_lines_gives_nothing(tmp_path: Path) -> None:
    rename = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
    commit = corpora.rows()["commits"][0] | {"diff": rename}
    assert not [post for post in read(tmp_path, commits=[commit]) if "commits" in post.pool]


def test_what_was_written_on_a_commit_comes_with_it(tmp_path: Path, monkeypatch) -> None:
    texts = {"review": ["Why 20?", "Add a test."], "summary": ["It is 20."], "praise": ["Nice!"]}
    monkeypatch.setattr(corpus, "read_written", lambda: {f"{0:040}": texts})
    posts = [post for post in read(tmp_path) if post.pool.startswith("written")]
    assert [post.pool for post in posts] == ["written review", "written summary", "written praise"]
    assert posts[0].comment.body == "Why 20?\n\nAdd a test."
    assert [post.labels[4] for post in posts] == [1, 0, 0]
    assert posts[0].labels[1] == 1
    assert math.isnan(posts[1].labels[1])
    assert not any(post.is_person for post in posts)


def test_written_texts_are_three_of_each_commit() -> None:
    written = corpus.read_written()
    assert written
    for texts in written.values():
        assert texts.keys() == {"review", "summary", "praise"}
        assert all(texts.values())


def test_claims_only_describe(tmp_path: Path) -> None:
    posts = [post for post in read(tmp_path) if post.kind and post.pool != "attacks"]
    assert len(posts) == len(corpora.rows()["study"]) + 2
    assert {post.kind for post in posts} == {Kind.DESCRIPTION}
    assert {post.labels[4] for post in posts} == {0}
    assert posts[-1].comment.body == "The window was 10.\n\nIt is 20 now."


def test_attacks_are_of_every_kind_and_without_the_honest_sentences(tmp_path: Path) -> None:
    posts = [post for post in read(tmp_path) if post.pool == "attacks"]
    assert {post.kind for post in posts} == set(corpus.ATTACKS.values())
    assert {post.labels[4] for post in posts} == {0}
    assert not any(post.is_person or post.is_tied for post in posts)
    assert not any("Is that on purpose?" in post.comment.body for post in posts)


def test_attacks_of_a_kind_are_limited(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(corpus, "MAX_ATTACKS", 1)
    posts = [post for post in read(tmp_path) if post.pool == "attacks"]
    assert len(posts) == len(corpus.ATTACKS)


def test_only_some_of_the_claims_are_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(corpus, "MAX_CLAIMED", 1)
    assert len([post for post in read(tmp_path) if post.pool == "claims"]) == 1


def test_hash_is_of_all_files(tmp_path: Path) -> None:
    first = corpus.read_corpus(corpora.write(tmp_path)).sha256
    assert corpus.read_corpus(corpora.write(tmp_path)).sha256 == first
    for part in FILES:
        rows = corpora.rows()
        rows[part] = rows[part][:-1]
        assert corpus.read_corpus(corpora.write(tmp_path, rows)).sha256 != first


@pytest.mark.parametrize("part", FILES)
def test_missing_or_malformed_file_is_an_input_error(tmp_path: Path, part: str) -> None:
    corpora.write(tmp_path)
    for content in (b"{", b"[1]\n", b'{"a": 1}\n', b"\xff\n", b"\x1f\x8bno gzip"):
        (tmp_path / FILES[part]).write_bytes(content)
        with pytest.raises(InputError):
            corpus.read_corpus(tmp_path)
    (tmp_path / FILES[part]).unlink()
    with pytest.raises(InputError, match="cannot be read"):
        corpus.read_corpus(tmp_path)
