import math
from pathlib import Path

import pytest

from crscore.errors import InputError
from crscore.records import Stance
from crscore_lab.training.data import corpus, judgements
from crscore_lab.training.data.corpus import FILES, Corpus, Post
from tests.helpers import corpora, study

COUNT = len(corpora.NAMES)
POOLS = [
    "rated", "acted", "categories", "accepted", "golden", "written", "commits", "study", "claims",
    "own", "wordings", "templates", "attacks",
]  # fmt: skip


@pytest.fixture(autouse=True)
def own_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judgements, "read_texts", corpora.own_texts)


def read_all(folder: Path, **parts: list[dict]) -> Corpus:
    # Attacks on three changes suffice.
    rows = corpora.rows() | {"study": study.full_rows()} | parts
    return corpus.read_corpus(corpora.write(folder, rows))


def read(folder: Path, pool: str, **parts: list[dict]) -> list[Post]:
    posts = read_all(folder, **parts).posts
    return [post for post in posts if post.pool.startswith(pool)]


def is_unknown(post: Post, name: str) -> bool:
    return math.isnan(post.ratings.get(name, math.nan))


def test_posts_are_in_the_order_of_the_files(tmp_path: Path) -> None:
    pools = list(dict.fromkeys(post.pool.split()[0] for post in read_all(tmp_path).posts))
    assert pools == POOLS


def test_ratings_and_weights_are_probabilities_of_known_names(tmp_path: Path) -> None:
    for post in read_all(tmp_path).posts:
        assert post.ratings.keys() <= {
            "actionable", "importance", "worth", "informative", "relevant", "clear", "acted_on",
            "functional", "accepted",
        }  # fmt: skip
        assert all(0 <= value <= 1 or math.isnan(value) for value in post.ratings.values())
        assert 0 < post.weight <= 1


def test_rated_comment_of_a_person_has_three_ratings(tmp_path: Path) -> None:
    post = read(tmp_path, "rated")[0]
    assert post.ratings == {"relevant": 1, "informative": 1, "clear": 0}
    assert (post.is_person, post.is_tied, post.pool) == (True, True, "rated python")


def test_acted_comment_of_a_bot_has_the_judgement_of_readers(tmp_path: Path) -> None:
    posts = read(tmp_path, "acted")
    assert [post.ratings["acted_on"] for post in posts[:4]] == [0, 1, 0, 1]
    assert [post.is_person for post in posts[:4]] == [False, True, True, False]
    assert posts[0].diff.files[0].path == "src/limit.py"
    # The judgement of the first is of a comment without a hunk.
    assert [post.stance for post in posts[:3]] == [None, Stance.REQUEST, Stance.PRAISE]
    assert posts[1].ratings == {"actionable": 1, "importance": 0.75, "worth": 0.25, "acted_on": 1}


def test_outcome_in_the_data_replaces_the_judgement_of_readers(tmp_path: Path, monkeypatch) -> None:
    judged = {
        judgements.text_key(row["comment"], row["diff_hunk"]): judgements.Judgement(
            Stance.OTHER, {"acted_on": 0.5, "worth": 0.5}
        )
        for row in corpora.rows()["acted"]
    }
    monkeypatch.setattr(judgements, "read_comment_judgements", lambda: judged)
    post = read(tmp_path, "acted", worth=[])[1]
    assert (post.stance, post.ratings) == (Stance.OTHER, {"acted_on": 1, "worth": 0.5})


def test_judgement_in_the_data_replaces_a_shipped_one(tmp_path: Path, monkeypatch) -> None:
    row = corpora.rows()["worth"][1]
    key = judgements.text_key(row["comment"], row["diff_hunk"])
    shipped = {key: judgements.make_judgement("praise", 0, 1)}
    monkeypatch.setattr(judgements, "read_comment_judgements", lambda: shipped)
    assert read(tmp_path, "acted")[1].stance is Stance.REQUEST
    assert read(tmp_path, "acted", worth=[])[1].stance is Stance.PRAISE


def test_category_decides_whether_a_comment_is_functional(tmp_path: Path) -> None:
    posts = read(tmp_path, "categories")
    assert [post.ratings["functional"] for post in posts[:3:2]] == [1, 1]
    assert is_unknown(posts[1], "functional")
    # The category says nothing, the subcategory does.
    assert posts[3].ratings["functional"] == 0
    # The second has no hunk, the third a truncated one.
    assert [post.diff is not None for post in posts[:3]] == [True, False, False]
    assert [post.is_tied for post in posts[:3]] == [True, False, False]


def test_accepted_finding_has_its_category_and_repository(tmp_path: Path) -> None:
    posts = read(tmp_path, "accepted")
    assert [post.ratings["accepted"] for post in posts[:4]] == [0, 1, 0, 1]
    assert posts[0].ratings["functional"] == 1
    assert is_unknown(posts[1], "functional")
    assert [post.group for post in posts[:2]] == ["me/limit", "me/window"]
    assert [post.is_person for post in posts[:2]] == [False, True]


def test_golden_findings_are_important_and_other_findings_only_if_judged(tmp_path: Path) -> None:
    posts = read(tmp_path, "golden")
    assert posts[0].ratings["importance"] == corpus.SEVERITIES["High"]
    assert (posts[0].ratings["actionable"], posts[0].ratings["functional"]) == (1, 1)
    judged = [post for post in posts if "accepted" in post.ratings]
    assert [post.comment.body for post in judged] == [corpora.FINDING.format("limit")]
    assert (judged[0].stance, judged[0].ratings["accepted"]) == (Stance.PROBLEM, 1)
    assert len(posts) == COUNT + 1
    assert not any(post.is_tied or post.is_person for post in posts)


def test_every_fifth_title_and_every_body_is_used(tmp_path: Path) -> None:
    commit = corpora.rows()["commits"][0]
    many = [commit | {"commit": str(at), "body": commit["body"] * (at != 3)} for at in range(6)]
    posts = read(tmp_path, "commits", commits=many)
    titles = [post for post in posts if post.comment.body == commit["subject"]]
    assert (len(titles), len(posts)) == (2, 7)
    assert all(post.is_tied for post in posts)
    assert {post.stance for post in titles} == {Stance.DESCRIPTION}
    assert {post.stance for post in posts if post not in titles} == {None}


def test_commit_without_lines_is_left_out(tmp_path: Path) -> None:
    rename = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
    commit = corpora.rows()["commits"][0] | {"diff": rename}
    assert not read(tmp_path, "commits", commits=[commit])


def test_texts_written_on_a_commit_are_posts(tmp_path: Path) -> None:
    posts = read(tmp_path, "written ")
    assert [post.pool for post in posts] == ["written review", "written summary", "written praise"]
    assert posts[0].comment.body == "Why 20?\n\nAdd a test."
    assert all(post.is_tied and not post.ratings and not post.is_person for post in posts)


def test_claims_only_describe(tmp_path: Path) -> None:
    posts = read(tmp_path, "claims")
    assert {post.stance for post in posts} == {Stance.DESCRIPTION}
    assert all(post.by_sentence and post.ratings["actionable"] == 0 for post in posts)
    assert posts[-1].comment.body == "The window was 10.\n\nIt is 20 now."


def test_comments_written_for_training_have_their_judgement(tmp_path: Path) -> None:
    posts = read(tmp_path, "own")[:4]
    assert [post.stance for post in posts] == [Stance.REQUEST] * 4
    assert posts[0].ratings == {"actionable": 1, "importance": 0.75, "worth": 0.75}
    assert all(post.is_tied for post in posts)


def test_wordings_of_a_problem_are_equally_important(tmp_path: Path) -> None:
    posts = read(tmp_path, "wordings")
    assert len(posts) == 4 * len(corpora.WORDINGS)
    asking = [post for post in posts if post.ratings["actionable"]]
    assert len(asking) == 4 * 10
    assert {post.ratings["importance"] for post in asking} == {0.75}
    empty = [post for post in posts if not post.ratings["actionable"]]
    assert {post.stance for post in empty} == {Stance.PRAISE, Stance.DESCRIPTION, Stance.OTHER}
    assert {post.ratings["importance"] for post in empty} == {0}


def test_parts_of_written_reviews_have_their_ratings(tmp_path: Path) -> None:
    posts = read(tmp_path, "own")[4:]
    actionable = {post.comment.body: post.ratings.get("actionable") for post in posts[:5]}
    assert actionable == {
        "Please close `limit`.": 1, "The limit is 20 now.": 0, "Looks good!": 0,
        "Please rename `limit`.": None,
    }  # fmt: skip
    assert {post.comment.body for post in posts[:5] if not post.is_tied} == {"Looks good!"}


def test_templates_are_filled_from_several_commits(tmp_path: Path) -> None:
    posts = read(tmp_path, "templates")
    assert len(posts) == 9 * corpus.TEMPLATE_FILLINGS
    assert len({post.group for post in posts}) > 1
    assert all("{" not in post.comment.body for post in posts)
    assert {post.ratings["actionable"] for post in posts} == {0}


def test_data_may_have_only_some_commits(tmp_path: Path) -> None:
    commits = corpora.rows()["commits"]
    few = read_all(tmp_path, commits=commits[:1])
    assert [review.repository for review in few.written] == ["me/l"]
    other = read_all(tmp_path, commits=[commits[0] | {"repository": "you/x", "commit": "f"}])
    assert other.written == ()
    assert "templates" not in {post.pool for post in other.posts}


def test_written_reviews_are_of_every_kind_on_one_change(tmp_path: Path) -> None:
    review = read_all(tmp_path).written[0]
    assert {"senior", "terse", "nits", "summary", "generic", "invented"} <= review.texts.keys()
    assert review.patch == corpora.patch("limit")
    assert review.diff.files[0].path == "limit.py"


def test_all_comments_of_a_writer_on_a_pull_request_are_a_review(tmp_path: Path) -> None:
    rows = corpora.rows()["followed"]
    pull = [row | {"repository": "me/one", "pull": 1} for row in rows]
    pull[3]["writer"] = "bot"
    pull[1] |= {"diff_hunk": pull[0]["diff_hunk"], "path": pull[0]["path"]}
    lonely = rows[0] | {"pull": 99}
    reviews = read_all(tmp_path, followed=[*pull[:8], lonely]).reviews
    of_pull = [review for review in reviews if review.repository == "me/one"]
    people, bot = sorted(of_pull, key=lambda review: -len(review.comments))[:2]
    assert people.is_person
    assert len(people.comments) == 7
    # Two comments are on one hunk.
    assert people.diff is not None
    assert len(people.diff.files) == 6
    assert not bot.is_person
    assert [comment.body for comment in bot.comments] == [pull[3]["comment"]]
    assert sum(len(review.comments) for review in reviews) >= 9


def test_attacks_are_of_every_kind_and_without_the_honest_sentences(tmp_path: Path) -> None:
    posts = read(tmp_path, "attacks")
    assert {post.stance for post in posts} == set(corpus.ATTACKS.values())
    assert {post.ratings["actionable"] for post in posts} == {0}
    assert not any(post.is_person or post.is_tied for post in posts)
    assert not any("Is that on purpose?" in post.comment.body for post in posts)


def test_attacks_of_a_kind_are_limited(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(corpus, "MAX_ATTACKS", 1)
    assert len(read(tmp_path, "attacks")) == len(corpus.ATTACKS)


def test_only_some_of_the_claims_are_read(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(corpus, "MAX_CLAIM_CHANGES", 1)
    assert len(read(tmp_path, "claims")) == 1


def test_hash_is_of_all_files(tmp_path: Path) -> None:
    first = read_all(tmp_path).sha256
    assert read_all(tmp_path).sha256 == first
    for part in FILES:
        rows = study.full_rows() if part == "study" else corpora.rows()[part]
        assert read_all(tmp_path, **{part: rows[:-1]}).sha256 != first


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


@pytest.mark.parametrize(
    ("part", "field"), [("worth", "stance"), ("accepted", "pull"), ("commits", "body")]
)
def test_value_of_another_type_is_an_input_error(tmp_path: Path, part: str, field: str) -> None:
    rows = [row | {field: None} for row in corpora.rows()[part]]
    with pytest.raises(InputError):
        read_all(tmp_path, **{part: rows})
