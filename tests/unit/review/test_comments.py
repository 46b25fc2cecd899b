from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crscore.diff.parse import parse_diff
from crscore.errors import InputError, LimitError
from crscore.records import Comment, Side
from crscore.review import comments
from crscore.review.comments import parse_review, resolve_absolute_paths

# The shape of GitHub's REST answer for a review comment; the values are ours.
REVIEW_COMMENT: dict[str, Any] = {
    "url": "https://api.example/comments/10",
    "pull_request_review_id": 42,
    "id": 10,
    "node_id": "MDI0",
    "diff_hunk": "@@ -1,2 +1,3 @@\n a\n+b",
    "path": "src/a.py",
    "position": 2,
    "user": {"login": "octo[bot]", "id": 1, "type": "Bot"},
    "body": "This leaks.",
    "start_line": 1,
    "start_side": "RIGHT",
    "line": 2,
    "original_line": 7,
    "original_start_line": 6,
    "side": "RIGHT",
    "subject_type": "line",
    "reactions": {"+1": 0},
}


def item(**changes: Any) -> Comment:
    (comment,) = parse_review(json.dumps([{**REVIEW_COMMENT, **changes}]))
    return comment


def message(text: str | bytes, source: str = "<review>") -> str:
    with pytest.raises(InputError) as caught:
        parse_review(text, source=source)
    return str(caught.value)


def wrong(**changes: Any) -> str:
    return message(json.dumps([{"body": "fine"}, {**REVIEW_COMMENT, **changes}]))


def test_review_comment_of_github_has_its_path_and_lines() -> None:
    assert item() == Comment(
        body="This leaks.",
        path="src/a.py",
        line=2,
        start_line=1,
        side=Side.NEW,
        diff_hunk="@@ -1,2 +1,3 @@\n a\n+b",
        author="octo[bot]",
        id="10",
    )


def test_outdated_comment_has_its_original_lines() -> None:
    comment = item(line=None, start_line=None)
    assert (comment.start_line, comment.line) == (6, 7)


def test_comment_on_a_file_has_no_line() -> None:
    comment = item(subject_type="file", line=1)
    assert (comment.line, comment.start_line) == (None, None)


def test_left_side_is_the_old_file() -> None:
    assert item(side="left", start_side="LEFT").side is Side.OLD


def test_missing_side_is_the_new_file() -> None:
    assert item(side=None).side is Side.NEW


def test_range_across_sides_has_no_start() -> None:
    assert item(start_side="LEFT").start_line is None


def test_start_after_the_line_is_dropped() -> None:
    assert item(start_line=3).start_line is None


def test_deleted_user_is_unknown() -> None:
    assert item(user=None).author is None


def test_plain_author_wins_over_user() -> None:
    assert item(author="dana").author == "dana"


def test_author_object_gives_its_login() -> None:
    assert item(author={"login": "dana"}).author == "dana"


def test_text_id_is_kept() -> None:
    assert item(id="C_1").id == "C_1"


def test_missing_id_is_none() -> None:
    assert item(id=None).id is None


def test_issue_comment_is_unattached() -> None:
    (comment,) = parse_review('{"body": "Nice", "id": 3, "user": {"login": "eve"}}')
    assert comment == Comment(body="Nice", id="3", author="eve")


@pytest.mark.parametrize("body", [None, "", " \n"])
def test_review_without_text_is_dropped(body: str | None) -> None:
    assert parse_review(json.dumps([{"body": body, "state": "APPROVED"}, {"body": "a"}])) == (
        Comment(body="a"),
    )


def test_wrapped_list_is_read() -> None:
    assert parse_review('{"comments": [{"body": "a"}, {"body": "b"}]}') == (
        Comment(body="a"),
        Comment(body="b"),
    )


def test_pages_of_lists_are_joined() -> None:
    assert [c.body for c in parse_review('[[{"body": "a"}], [{"body": "b"}]]')] == ["a", "b"]


def test_json_lines_are_read() -> None:
    assert [c.body for c in parse_review('{"body": "a"}\n\n{"body": "b"}\n')] == ["a", "b"]


@pytest.mark.parametrize("text", ["[]", '{"comments": []}'])
def test_empty_list_has_no_comments(text: str) -> None:
    assert parse_review(text) == ()


@pytest.mark.parametrize("text", ["", " \n\t", b"", b"\xef\xbb\xbf", "\ufeff\n"])
def test_empty_text_has_no_comments(text: str | bytes) -> None:
    assert parse_review(text) == ()


def test_text_that_starts_like_json_is_text() -> None:
    for text in [
        "[nit] rename this",
        "{} is never closed",
        "[x] done\n[ ] open",
        "[1, 2]",
        "[NaN] is not handled",
        "{a}\n{b}",
        '{"key": 1} is never read',
        '{"key": value} is not JSON, so the parser fails',
        "[{",
    ]:
        assert parse_review(text) == (Comment(body=text),)


@pytest.mark.parametrize("source", ["<review>", "r.txt", "r.json"])
def test_strings_alone_are_comments(source: str) -> None:
    comments = parse_review('"Leaks.\\nAlways."\n"Why?"\n', source=source)
    assert comments == (Comment(body="Leaks.\nAlways."), Comment(body="Why?"))
    assert parse_review('"x" is never read') == (Comment(body='"x" is never read'),)


def test_description_of_a_pull_request_without_comments_yet_is_no_error() -> None:
    assert parse_review('{"title": "a", "body": "b", "comments": [], "reviews": []}') == ()


@pytest.mark.parametrize("page", ["<!DOCTYPE html>\n<p>Sign in</p>", "\n<HTML lang='en'>x</HTML>"])
def test_web_page_is_refused(page: str) -> None:
    assert message(page, "r.md") == ("r.md: this is a web page; save the comments as text or JSON")
    assert parse_review("<p>Leaks.</p>") == (Comment(body="<p>Leaks.</p>"),)


def test_report_in_xml_is_refused() -> None:
    report = "<?xml version='1.0'?>\n<checkstyle><file name='a'><error message='Leaks'/></file>"
    assert message(report, "r.xml") == "r.xml: this is XML; save the comments as text or JSON"


@pytest.mark.parametrize(
    "around", ["Here is my review:\n\n```json\n{}\n```\nDone.", "<think>\na</think>\n{}"]
)
def test_comments_in_json_below_other_text_are_refused(around: str) -> None:
    comments = json.dumps({"comments": [{"path": "a.py", "line": 3, "body": "`f` leaks."}]})
    expected = "r.md: this is JSON below other text; save the comments as text or JSON"
    assert message(around.replace("{}", comments), "r.md") == expected


@pytest.mark.parametrize(
    "code", ['{"line": 3}', '{"body": "a"}', "[x] done", '{"line": 3, "body": "a"}']
)
def test_other_json_below_text_is_text(code: str) -> None:
    body = f"Consider this:\n```json\n{code}\n```\nOr this:\n{code}"
    assert parse_review(body) == (Comment(body=body),)


def test_text_is_one_unchanged_comment() -> None:
    assert parse_review("# A\n\n- b\n") == (Comment(body="# A\n\n- b\n"),)


def test_other_line_ends_become_newlines() -> None:
    assert parse_review(b"a\r\nb\rc")[0].body == "a\nb\nc"


def test_other_line_ends_in_json_become_newlines() -> None:
    assert parse_review('{"body": "a\\r\\nb"}')[0].body == "a\nb"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marked_encodings_are_decoded(encoding: str) -> None:
    assert parse_review("né 日".encode(encoding))[0].body == "né 日"


def test_big_endian_mark_is_decoded() -> None:
    assert parse_review(b"\xfe\xff" + "né".encode("utf-16-be"))[0].body == "né"


def test_bytes_that_are_no_text_are_refused() -> None:
    with pytest.raises(InputError, match=r"^a\.pdf: this is not text; save the review as UTF-8$"):
        parse_review(b"%PDF-1.7\0\1", source="a.pdf")


def test_byte_order_mark_of_text_is_removed() -> None:
    assert parse_review('\ufeff{"body": "a"}')[0].body == "a"


def test_bytes_of_western_windows_are_read() -> None:
    assert parse_review("naïve isn’t".encode("cp1252"))[0].body == "naïve isn’t"


def test_undecodable_bytes_of_utf_8_are_replaced() -> None:
    assert parse_review("é".encode() + b"a\xffb")[0].body == "éa\ufffdb"
    assert parse_review("café".encode()[:-1])[0].body == "caf\ufffd"


def test_damaged_utf_16_is_not_taken_for_western_text() -> None:
    assert parse_review("Leaks.".encode("utf-16") + b"x")[0].body == "Leaks.\ufffd"


def test_half_a_surrogate_pair_is_replaced() -> None:
    assert parse_review('{"body": "a\\ud800b \\ud83d\\ude00"}')[0].body == "a\ufffdb 😀"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"body": 3}, "comment 2: body is 3; expected a string or null"),
        ({"path": ["a"]}, 'comment 2: path is ["a"]; expected a string or null'),
        ({"line": "4"}, 'comment 2: line is "4"; expected a line number from 1 or null'),
        ({"line": True}, "comment 2: line is true; expected a line number from 1 or null"),
        ({"line": 0}, "comment 2: line is 0; expected a line number from 1 or null"),
        ({"side": "UP"}, 'comment 2: side is "UP"; expected RIGHT or LEFT'),
        ({"id": 1.5}, "comment 2: id is 1.5; expected a string or null"),
        ({"id": True}, "comment 2: id is true; expected a string or null"),
        ({"user": "eve", "author": 4}, "comment 2: author is 4; expected a string or null"),
        ({"user": {"login": 1}}, "comment 2: author: login is 1; expected a string or null"),
        ({"diff_hunk": {}}, "comment 2: diff_hunk is {}; expected a string or null"),
    ],
)
def test_wrong_field_is_named(changes: dict[str, Any], said: str) -> None:
    assert wrong(**changes) == f"<review>: {said}"


def test_long_wrong_value_is_cut() -> None:
    assert len(wrong(line="9" * 500)) < 150


def test_entry_without_body_is_named() -> None:
    assert message('[{"body": "a"}, {}]') == "<review>: comment 2 has no body; its keys are none"
    assert (
        message('[{"body": "a"}, {"text": "b", "at": 3}]')
        == '<review>: comment 2 has no body; its keys are "text", "at"'
    )


def test_entry_that_is_no_object_is_named_in_a_json_file() -> None:
    assert message('["a"]', "r.json") == 'r.json: comment 1 is "a"; expected an object with a body'


def test_text_in_a_json_file_is_refused_with_its_position() -> None:
    assert message("a\nb", "r.JSON").startswith("r.JSON: not JSON at line 1, column 1 (")


def test_bad_line_of_json_lines_is_named() -> None:
    message_text = message('{"body": "a"}\n{"body": }\n', "r.jsonl")
    assert message_text.startswith("r.jsonl: not JSON at line 2, column ")


def test_broken_json_is_refused_with_its_position() -> None:
    message_text = message('[{"body": "a"},\n{"body": "b"}\n{"body": "c"}]', "r.json")
    assert message_text.startswith("r.json: not JSON at line 3, column 1 (")


def test_single_json_line_file_is_read() -> None:
    assert parse_review('{"body": "a"}', source="r.jsonl") == (Comment(body="a"),)


def test_twice_the_same_key_is_refused() -> None:
    message_text = message('[{"line": 1, "body": "a", "body": "b"}]')
    assert "a key occurs twice in one object" in message_text


def test_prose_that_starts_with_a_repeated_key_is_prose() -> None:
    text = '{"a": 1, "a": 2} should be refused.'
    assert parse_review(text) == (Comment(body=text),)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_constant_outside_json_is_refused(name: str) -> None:
    message_text = message(f'[{{"body": "a", "line": {name}}}]')
    assert f"line is {name}; expected a line number" in message_text


def test_huge_number_is_refused() -> None:
    message_text = message(f'[{{"body": "a", "id": {"9" * 5000}}}]')
    assert message_text.startswith("<review>: the JSON cannot be read (Exceeds the limit")


def test_deep_nesting_is_refused() -> None:
    assert "cannot be read (maximum recursion depth" in message("[" * 200_000, "comments.json")


def test_text_of_many_brackets_is_text() -> None:
    text = "[" * 200_000
    assert [comment.body for comment in parse_review(text, source="review.md")] == [text]


def test_too_many_bytes_name_the_limit() -> None:
    with pytest.raises(LimitError) as caught:
        parse_review("né!", source="r.md", max_bytes=3)
    assert caught.value.args == ("max_review_bytes", 3, 4, "r.md")


def test_as_many_bytes_as_the_limit_pass() -> None:
    assert parse_review(b"abc", max_bytes=3) == (Comment(body="abc"),)


def test_too_many_comments_name_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "MAX_COMMENTS", 1)
    with pytest.raises(LimitError) as caught:
        parse_review('[{"body": "a"}, {"body": "b"}]')
    assert caught.value.args == ("max_comments", 1, 2, "<review>")
    assert str(caught.value).endswith("this input has 2; score a smaller part of the review")


@pytest.mark.parametrize("text", ["four", '{"body": "four"}'])
def test_too_long_comment_names_the_limit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comments, "MAX_COMMENT_CHARS", 3)
    with pytest.raises(LimitError) as caught:
        parse_review(text)
    assert caught.value.args == ("max_comment_chars", 3, 4, "<review>")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["body", "line", "user", "author", "side", "comments", "id"]), inner
        )
    ),
)


@settings(deadline=None)  # the cores may be busy
@given(json_values, st.sampled_from(["r.json", "<review>"]))
def test_any_json_is_read_or_refused(value: Any, source: str) -> None:
    try:
        actual = parse_review(json.dumps(value), source=source)
    except InputError:
        return
    assert all(isinstance(comment, Comment) and comment.body.strip() for comment in actual)


@settings(deadline=None)  # the cores may be busy
@given(st.binary() | st.text(st.characters(exclude_categories=())))
def test_any_input_is_at_most_one_text(data: str | bytes) -> None:
    try:
        assert len(parse_review(data)) <= 1
    except InputError:
        assert isinstance(data, bytes)
        assert b"\0" in data


def test_only_a_comment_without_a_current_line_is_outdated() -> None:
    rows = [
        {"body": "a", "path": "a.py", "line": None, "original_line": 3},
        {"body": "b", "path": "a.py", "line": 3, "original_line": 2},
        {"body": "c", "path": "a.py"},
    ]
    assert [c.outdated for c in parse_review(json.dumps(rows))] == [True, False, False]


def bodies(*values: Any, separator: str = "") -> list[str]:
    text = separator.join(map(json.dumps, values))
    return [comment.body for comment in parse_review(text)]


@pytest.mark.parametrize("separator", ["", "\n", " \r\n\r\n"])
def test_pages_one_after_another_are_read(separator: str) -> None:
    first, second = [{"body": "a"}, {"body": "b"}], [{"body": "c"}]
    assert bodies(first, second, separator=separator) == ["a", "b", "c"]
    assert bodies({"comments": first}, {"comments": second}, separator=separator) == ["a", "b", "c"]


def test_review_is_read_with_its_comments() -> None:
    payload = {
        "body": "Overall fine.",
        "event": "COMMENT",
        "comments": [{"path": "a.py", "start_line": 2, "line": 3, "body": "Leaks."}],
    }
    review, comment = parse_review(json.dumps(payload))
    assert review == Comment(body="Overall fine.")
    assert comment == Comment(body="Leaks.", path="a.py", start_line=2, line=3)


def test_objects_of_gh_are_comments_and_the_description_is_none() -> None:
    view = {
        "body": "Adds a cache.",
        "comments": [{"author": {"login": "ann"}, "authorAssociation": "MEMBER", "body": "a"}],
        "latestReviews": [{"id": "R1", "author": {"login": "bob"}, "body": "b"}],
        "reviews": [
            {"id": "R1", "author": {"login": "bob"}, "body": "b"},
            {"id": "R2", "author": {"login": "bob"}, "body": ""},
        ],
    }
    comments = parse_review(json.dumps(view))
    assert [(comment.author, comment.body) for comment in comments] == [("ann", "a"), ("bob", "b")]
    del view["reviews"], view["latestReviews"]
    assert bodies(view) == ["a"]
    assert bodies({"title": "Cache", "body": "Adds a cache.", "comments": []}) == []


def test_event_is_read_for_its_comment() -> None:
    event = {
        "action": "edited",
        "changes": {"body": {"from": "old"}},
        "comment": {"body": "new", "path": "a.py", "line": 3},
        "pull_request": {"title": "Cache", "body": "Adds a cache.", "labels": [{"name": "x"}]},
    }
    assert bodies(event) == ["new"]


def test_threads_of_graphql_give_path_and_line() -> None:
    comment = {"author": {"login": "mira"}, "body": "Shared.", "line": None, "originalLine": None}
    thread = {
        "isResolved": False, "path": "a.py", "line": 11, "startLine": 9, "diffSide": "LEFT",
        "comments": {"nodes": [comment, {**comment, "body": "Yes."}]},
    }  # fmt: skip
    threads = {"reviewThreads": {"nodes": [thread]}}
    answer = {"data": {"repository": {"pullRequest": threads}}}
    assert parse_review(json.dumps(answer)) == tuple(
        Comment(body=body, path="a.py", line=11, start_line=9, side=Side.OLD, author="mira")
        for body in ("Shared.", "Yes.")
    )
    edges = {"data": {"comments": {"edges": [{"node": {"body": "a"}}, {"node": {"body": "b"}}]}}}
    assert bodies(edges) == ["a", "b"]


def test_explanation_above_findings_of_codex_is_a_comment() -> None:
    verdict = {"overall_correctness": "patch is incorrect", "overall_explanation": "It leaks."}
    assert bodies({**json.loads(FINDINGS), **verdict}) == ["It leaks.", "**Bound it**\n\nIt grows."]
    assert bodies({"findings": [], **verdict}) == ["It leaks."]
    assert bodies({"body": "Or else.", **verdict}) == ["It leaks.", "Or else."]
    (finding,) = json.loads(FINDINGS)["findings"]
    assert bodies({"findings": finding, **verdict}) == ["It leaks.", "**Bound it**\n\nIt grows."]
    assert 'findings is "none"; expected a list' in message(
        json.dumps({"findings": "none", **verdict})
    )
    assert bodies({"findings": [], "overall_explanation": None}) == []


def test_notes_of_gitlab_give_path_and_line() -> None:
    note = {"id": 7, "system": False, "author": {"username": "ann"}}
    removed = {"old_path": "a.py", "new_path": "a.py", "old_line": 4, "new_line": None}
    discussion = {
        "id": "abc",
        "notes": [
            {
                **note,
                "body": "Leaks.",
                "position": {
                    **removed,
                    "new_line": 5,
                    "line_range": {
                        "start": {"type": "new", "old_line": None, "new_line": 3},
                        "end": {"new_line": 5},
                    },
                },
            },
            {**note, "body": "Why?", "position": removed},
            {**note, "body": "changed the description", "system": True},
        ],
    }
    assert parse_review(json.dumps([discussion])) == (
        Comment(body="Leaks.", path="a.py", line=5, start_line=3, author="ann", id="7"),
        Comment(body="Why?", path="a.py", line=4, side=Side.OLD, author="ann", id="7"),
    )


def test_pages_of_empty_lists_have_no_comments() -> None:
    for value in [[], [[], []], {"reviews": [], "comments": []}, {"data": {"nodes": []}}]:
        assert bodies(value) == []
    assert bodies([], [], separator="\n") == []


@pytest.mark.parametrize("source", ["<review>", "review.md", "r.json"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"message": "Not Found", "status": "404"}', 'its keys are "message", "status"'),
        ('{"findings": [{"text": "Leaks."}]}', 'comment 1 has no body; its keys are "text"'),
        ("[{'body': 'Leaks.', 'path': 'a.py'}]", "not JSON at line 1, column 3"),
        ('```json\n{"body": "Leaks."\n```', "not JSON at line 2, column 1"),
        ("[3, {}]", "comment 1 is 3"),
        ('{"key": 1}\n{"key": 2}', 'its keys are "key"'),
        ("{}", "it is {}"),
        ('{"data": {"repository": null}}', 'its keys are "data"'),
        ('{"data": null, "errors": [{"message": "Bad"}]}', 'an API\'s error: {"message": "Bad"}'),
        ('{"message": "404 Project Not Found"}', 'an API\'s error: "404 Project Not Found"'),
        ('{"error": "invalid_token", "error_description": "Revoked"}', 'error: "invalid_token"'),
        ('[{"message": "Not Found", "documentation_url": "https://x"}]', 'error: "Not Found"'),
        ('[{"body": "a"}]\n{"message": "Rate limit", "status": "403"}', 'error: "Rate limit"'),
        ('[{"number": 1, "title": "A", "body": "b"}]', "it has only descriptions of pull"),
        (
            '[{"body": "a", "system": true}, {"body": "b", "system": true}]',
            "only system notes",
        ),
        ('[{"notes": [{"body": "a", "system": true}]}]', "only system notes"),
        ('[{"body": "a", "path": "a.py"}, {"path": "b', "not JSON at line 1, column 42"),
        ('[{"body": "a"}][{"body":', "not JSON at line 1, column 25"),
        ('{"body": "a"}\nand more text', "not JSON at line 2, column 1"),
        ('[{"body": "a",}]', "not JSON at line 1, column 15"),
    ],
)
def test_json_without_comments_is_refused_under_any_name(text: str, said: str, source: str) -> None:
    assert said in message(text, source)


FINDINGS = json.dumps({"findings": [{"title": "Bound it", "body": "It grows.", "priority": 1}]})


@pytest.mark.parametrize(
    "text",
    [
        FINDINGS,
        f"```json\n{FINDINGS}\n```\n",
        f"\n~~~\n{FINDINGS}~~~",
        FINDINGS.replace('"priority"', '"line": 3, "path"').replace(": 1}", ': "a.py"}'),
        json.dumps([{"title": "Bound it", "body": "It grows."}]),
        json.dumps({"title": "Bound it", "body": "It grows.", "severity": "high"}),
    ],
)
def test_finding_is_its_body_under_its_title(text: str) -> None:
    """The findings of Codex; only pull requests and issues have titles on GitHub."""
    assert [comment.body for comment in parse_review(text)] == ["**Bound it**\n\nIt grows."]


CHANGED = parse_diff(
    "".join(
        f"diff --git a/{old} b/{new}\n--- a/{old}\n+++ b/{new}\n@@ -1 +1 @@\n-a\n+b\n"
        for old, new in [
            *((name, name) for name in ("src/a.py", "packages/web/src/a.py", "a.py", "x/lib/c.py")),
            ("lib/c.py", "lib/c.py"),
            ("lib/old.py", "lib/new.py"),
        ]
    )
)


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("/workspace/src/a.py", "src/a.py"),
        ("/home/runner/work/shop/shop/src/a.py", "src/a.py"),
        ("C:\\a\\shop\\src\\a.py", "src/a.py"),
        ("src/a.py", "src/a.py"),
        ("/workspace/packages/web/src/a.py", "packages/web/src/a.py"),
        # The root is unknown: the changed file at its end is meant.
        ("/Users/mira/shop/src/a.py", "src/a.py"),
        ("C:\\Users\\mira\\shop\\src\\a.py", "src/a.py"),
        ("/Users/mira/shop/x/lib/c.py", "x/lib/c.py"),
        ("/Users/mira/shop/lib/old.py", "lib/old.py"),
        ("/Users/mira/shop/src/b.py", None),
        ("/Users/mira/shop/a.py", None),
    ],
)
def test_location_of_codex_is_read_from_the_root_of_the_repository(
    path: str, read: str | None
) -> None:
    location = {"absolute_file_path": path, "line_range": {"start": 3, "end": 5}}
    finding = {"title": "Bound it", "body": "It grows.", "code_location": location}
    parsed = parse_review(json.dumps({"findings": [finding]}))
    (comment,) = resolve_absolute_paths(parsed, CHANGED)
    lines = (3, 5) if read else (None, None)
    assert (comment.path, comment.start_line, comment.line) == (read, *lines)


def test_findings_of_codex_have_a_common_root() -> None:
    ends = ("a.py", "src/a.py", "packages/web/src/a.py", "lib/c.py", "other/src/a.py")
    comments = [Comment(body="Leaks.", path=f"/repo/{end}", line=1) for end in ends]
    located = resolve_absolute_paths([*comments, Comment(body="Why?", path="/tmp/x.py")], CHANGED)
    assert [comment.path for comment in located] == [*ends, None]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"position": {"line_range": [3, 5]}}, "line_range is [3, 5]"),
        ({"position": {"line_range": {"start": "3"}}}, 'start is "3"'),
        ({"code_location": "a.py:3"}, 'code_location is "a.py:3"'),
        ({"code_location": {"absolute_file_path": "a.py", "line_range": 3}}, "line_range is 3"),
        ({"overall_explanation": ["Leaks."]}, 'overall_explanation is ["Leaks."]'),
    ],
)
def test_place_or_explanation_of_another_type_is_refused(fields: dict, words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_review(json.dumps([{"body": "Leaks.", **fields}]))
    assert words in str(caught.value)


def test_keys_of_a_place_can_be_in_camel_case() -> None:
    gitlab = {"position": {"newPath": "a.py", "newLine": 5}}
    codex = {
        "codeLocation": {"absoluteFilePath": "a.py", "lineRange": {"start": 3, "end": 5}},
    }
    for fields in (gitlab, codex):
        (comment,) = parse_review(json.dumps([{"body": "Leaks.", **fields}]))
        assert (comment.path, comment.line) == ("a.py", 5)


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("/src/a.py", "src/a.py"),
        ("./src/a.py", "src/a.py"),
        ("src\\lib\\a.py", "src/lib/a.py"),
        ("/home/runner/work/shop/shop/src/a.py", "src/a.py"),
        ("C:\\a\\shop\\src\\a.py", "src/a.py"),
        ("src/a\\b.py", "src/a\\b.py"),
    ],
)
def test_path_is_that_from_the_root(path: str, read: str) -> None:
    assert item(path=path).path == read
    assert item(path=None, file=path).path == read


@pytest.mark.parametrize("key", ["file", "filePath", "filename", "fileName"])
def test_path_has_several_names(key: str) -> None:
    (comment,) = parse_review(json.dumps([{"body": "Leaks.", key: "src/a.py", "line": 3}]))
    assert (comment.path, comment.line) == ("src/a.py", 3)


@pytest.mark.parametrize("key", ["end_line", "endLine"])
def test_range_may_end_with_an_end_line(key: str) -> None:
    comment = item(line=None, start_line=3, **{"original_line": None, key: 5})
    assert (comment.start_line, comment.line, comment.outdated) == (3, 5, False)
    assert item(line=7, **{key: 9}).line == 7


def test_comments_of_gerrit_are_named_by_their_keys() -> None:
    text = ")]}'\n" + json.dumps({"src/a.py": [{"line": 3, "message": "Leaks."}]})
    assert message(text, "r.txt") == 'r.txt: JSON without comments; its keys are "src/a.py"'


def test_diagnostic_of_reviewdog_is_no_error_of_an_api() -> None:
    text = json.dumps({"message": "Leaks.", "location": {"path": "a.py"}})
    assert 'its keys are "message", "location"' in message(text, "r.jsonl")
    assert "API" not in message(text, "r.jsonl")


def test_text_about_a_rule_is_no_comment() -> None:
    issue = {"description": "`f` is too long", "content": {"body": "Long functions are hard."}}
    assert message(json.dumps([issue])).endswith('its keys are "description", "content"')


def test_comment_that_a_reply_answers_is_not_read_again() -> None:
    reply = {"id": "2", "body": "It does.", "replyTo": {"id": "1", "body": "Does it?"}}
    assert [comment.body for comment in parse_review(json.dumps([reply]))] == ["It does."]


def test_descriptions_are_no_comments_with_or_without_a_number() -> None:
    description = {"title": "Add a cache", "body": "It is faster."}
    for value in [description, [{**description, "number": 7}], {"pullRequest": description}]:
        assert bodies({"comments": [{"body": "Leaks."}], "event": value}) == ["Leaks."]


def test_no_findings_are_an_empty_review() -> None:
    assert parse_review('{"findings": [], "summary": "Fine."}') == ()


def test_block_of_other_json_is_text() -> None:
    block = '```json\n{"key": 1}\n```'
    assert parse_review(block) == (Comment(body=block),)


def test_null_in_a_list_is_nothing() -> None:
    assert bodies([None, {"body": "a"}], {"nodes": [None]}, separator="\n") == ["a"]


def test_raw_line_feed_in_a_string_is_read() -> None:
    assert parse_review('[{"body": "a\nb"}]') == (Comment(body="a\nb"),)


def test_quoted_texts_are_comments() -> None:
    assert [comment.body for comment in parse_review('"a\\nb"\n"c"\n""')] == ["a\nb", "c"]
    quoted = '"x" is unused'
    assert parse_review(quoted) == (Comment(body=quoted),)


@pytest.mark.parametrize("wrap", [str, lambda text: json.dumps([{"body": text}])])
def test_codes_of_a_terminal_are_removed(wrap: Callable[[str], str]) -> None:
    """https://github.com/openai/codex-plugin-cc/issues/23, and colors."""
    text = "\x1b[?2004h\x1b[1;31mIt leaks.\x1b[0m See \x1b]8;;https://x\x07this\x1b]8;;\x1b\\."
    assert [comment.body for comment in parse_review(wrap(text))] == ["It leaks. See this."]
