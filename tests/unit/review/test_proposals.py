"""Code in comments is read as a proposal; all comments and code here are made up."""

import pytest

from crscore.diff.parse import parse_diff
from crscore.records import Comment, ParsedComment, Position, Side
from crscore.review.read import MAX_DESCRIPTION_CHARS, MAX_SHOWN, describe_change, read_proposals
from crscore.review.sentences import split_comment
from crscore.text import find_code_spans
from tests.helpers.growth import growth

HUNK = """@@ -10,4 +10,8 @@ def open_store(path):
     log.info("open")
-    return Store(path)
+    if path is None:
+        path = DEFAULT_PATH
+    store = Store(path, retries=3)
+    store.load()
+    return store
     # end
     # of it
"""
FILE = parse_diff(HUNK, path="store.py").files[0]
# As GitHub stores it: down to the commented line.
CUT = HUNK.rstrip("\n").split("    # end", maxsplit=1)[0].rstrip()


def suggest(*lines: str) -> str:
    return "\n".join(["```suggestion", *lines, "```"])


def units(body: str, *, file=FILE, **place) -> tuple[str, ...]:
    return read_proposals(split_comment(body), Comment(body=body, **place), file).proposals


def read(body: str) -> ParsedComment:
    return read_proposals(split_comment(body), Comment(body=body), None)


# A suggestion and the lines that it replaces


def test_suggestion_is_compared_with_the_commented_line() -> None:
    assert units(suggest("    if not path:"), line=11) == (
        "change `if path is None:` to `if not path:`",
    )


def test_suggestion_is_compared_with_the_commented_lines() -> None:
    body = suggest("    path = path or DEFAULT_PATH")
    assert units(body, start_line=11, line=12) == (
        "change `if path is None: path = DEFAULT_PATH` to `path = path or DEFAULT_PATH`",
    )


def test_side_decides_which_lines_are_meant() -> None:
    body = suggest("    return Store(str(path))")
    assert units(body, line=11, side=Side.OLD) == (
        "change `return Store(path)` to `return Store(str(path))`",
    )


def test_suggestion_equal_to_the_code_proposes_nothing() -> None:
    assert units(suggest("    if path is None:"), line=11) == ()


def test_empty_suggestion_removes_the_line() -> None:
    assert units("```suggestion\n```", line=14) == ("remove `store.load()`",)


def test_added_lines_are_described_alone() -> None:
    body = suggest("    store.load()", "    store.check()")
    assert units(body, line=14) == ("add `store.check()`",)


def test_change_of_only_white_space_is_described() -> None:
    assert units(suggest("  if path is None:"), line=11) == (
        "change the white space of `if path is None:`",
    )


def test_empty_line_is_described_only_if_nothing_else_is() -> None:
    assert describe_change(["a"], ["a", ""]) == "add an empty line"
    assert describe_change(["a", "", "b"], ["a", "b"]) == "remove an empty line"
    assert describe_change(["a", "b"], ["", "a", "c"]) == "change `b` to `c`"


def test_joined_line_is_a_change_of_white_space() -> None:
    assert describe_change(["f(a,", "  b)"], ["f(a, b)"]) == "change the white space of `f(a, b)`"


def test_line_outside_the_diff_leaves_what_is_replaced_unknown() -> None:
    assert units(suggest("    limit = 20"), line=90) == ("use `limit = 20`",)
    assert units(suggest("    limit = 20"), file=None, line=11) == ("use `limit = 20`",)


# With a hunk alone


def test_line_at_the_end_of_the_stored_hunk_is_replaced() -> None:
    place = {"file": None, "diff_hunk": CUT}
    assert units(suggest("    return store.open()"), **place) == (
        "change `return store` to `return store.open()`",
    )
    # Nothing in common, but it is the line that GitHub stored the hunk for.
    assert units(suggest("    raise NotImplementedError"), **place) == (
        "change `return store` to `raise NotImplementedError`",
    )


def test_number_of_replaced_lines_is_taken_from_the_comment() -> None:
    body = suggest("    return store.loaded()")
    place = {"diff_hunk": CUT, "start_line": 33, "line": 34, "outdated": True}
    assert units(body, **place) == (
        "change `store.load() return store` to `return store.loaded()`",
    )


def test_outdated_line_does_not_count() -> None:
    place = {"diff_hunk": CUT, "line": 11, "outdated": True}
    assert units(suggest("    return None"), **place) == ("change `return store` to `return None`",)


def test_replaced_lines_without_a_range_are_the_most_similar() -> None:
    body = suggest("    store = Store(path, retries=5)", "    store.load()", "    return store")
    assert units(body, diff_hunk=CUT) == (
        "change `store = Store(path, retries=3)` to `store = Store(path, retries=5)`",
    )


def test_line_with_few_common_words_is_not_replaced() -> None:
    hunk = "@@ -1 +1,2 @@\n+count = int(0)\n+wait_for(clock, channel, nodes, height, count)"
    body = suggest("# Wait for count 0", "wait_for(clock, channel, nodes, height, count)")
    assert units(body, file=None, diff_hunk=hunk) == ("add `# Wait for count 0`",)


def test_end_of_the_only_hunk_is_replaced_if_no_line_is_known() -> None:
    assert units(suggest("    # of everything")) == ("change `# of it` to `# of everything`",)
    assert units(suggest("    sleep(1)")) == ("use `sleep(1)`",)
    body = suggest("    # that nobody should touch for now, as it is all in use", "    # of it")
    assert units(body) == ("add `# that nobody should touch for now, as it is all in use`",)


def test_removed_lines_are_not_at_the_end() -> None:
    hunk = "@@ -1,2 +1 @@\n a = 1\n-b = 2\n\\ No newline at end of file"
    assert units(suggest("a = 2"), file=None, diff_hunk=hunk) == ("change `a = 1` to `a = 2`",)


# Wording


def test_long_line_is_described_by_its_difference() -> None:
    old = 'raise ValueError(f"the limit {limit} of the conection is above {most}, see the manual")'
    assert describe_change([old], [old.replace("conection", "connection")]) == (
        "change `of the conection is above` to `of the connection is above`"
    )


def test_several_changes_are_one_text() -> None:
    old = ["a = 1", *["keep(everything_else)"] * 3, "c = 3"]
    assert describe_change(old, ["a = 4", *old[1:-1]]) == (
        "change `a = 1` to `a = 4`, remove `c = 3`"
    )


def test_short_code_is_described_as_one_change() -> None:
    assert describe_change(["return x", "}", "return y"], ["return y", "}", "return x"]) == (
        "change `return x } return y` to `return y } return x`"
    )


def test_long_code_is_cut() -> None:
    unit = describe_change([], [f"value_{n} = {n}" for n in range(90)])
    assert len(unit) < MAX_SHOWN + 10
    assert unit.startswith("add `value_0 = 0 value_1")
    assert unit.endswith("…`")


def test_text_of_many_changes_is_short() -> None:
    lines = [f"{'word ' * 20}{n}" for n in range(90)]
    old = [line for pair in zip(lines, map(str, range(90)), strict=True) for line in pair]
    assert len(describe_change(old, list(map(str, range(90))))) < MAX_DESCRIPTION_CHARS + 250


def test_code_with_backticks_is_one_span() -> None:
    assert describe_change(["# a"], ["# `a`"]) == "change `# a` to `` # `a` ``"
    for code in ("``", "```a```", "` ``", "a `` b ``` c"):
        assert len(find_code_spans(describe_change([], [code]))) == 1, code


# Diff blocks and other code


def test_diff_block_is_compared_with_itself() -> None:
    body = "Count from one.\n```diff\n@@ -3 +3 @@\n for x in y:\n-    n = 0\n+    n = 1\n```"
    assert read(body).proposals == ("change `n = 0` to `n = 1`",)
    assert read("```diff\n for x in y:\n     n = 0\n```").proposals == ()


def test_code_is_a_proposal_only_without_other_text() -> None:
    body = "```py\n\n{\nreturn store or None\n```"
    assert read(body).proposals == ("use `return store or None`",)
    assert read(f"Why not so?\n\n{body}").proposals == ()
    assert read(f"{body}\n{suggest('x = 1')}").proposals == ("use `x = 1`",)
    assert read("```py\n...\n```").proposals == ()


def test_equal_proposals_are_one() -> None:
    assert read(suggest("x = 1") + "\n" + suggest("x = 1")).proposals == ("use `x = 1`",)


def test_sentences_next_to_a_suggestion_are_kept() -> None:
    actual = read(f"Too low.\n{suggest('limit = 20')}")
    assert (actual.sentences, actual.proposals) == (("Too low.",), ("use `limit = 20`",))


# In a sentence


def test_sentence_that_is_only_an_edit_is_a_proposal() -> None:
    for body, unit in [
        ("`max_size`?", "use `max_size`?"),
        ("`return None`", "use `return None`"),
        ("s/recieve/receive/", "change `recieve` to `receive`"),
        ("s/recieve/receive/g", "change `recieve` to `receive`"),
        ("`s/old name/new name` ?", "change `old name` to `new name`"),
        ("`userId` -> `user_id`", "change `userId` to `user_id`"),
        ("nit: `userId` → `user_id`.", "change `userId` to `user_id`"),
        ("adress --> address", "change `adress` to `address`"),
    ]:
        actual = read(body)
        assert (actual.sentences, actual.proposals) == ((), (unit,))


@pytest.mark.parametrize(
    "text",
    [
        "Is `max_size` read?",
        "`a` -> `b` breaks callers.",
        "s/old/new - and I will not repeat this below",
        "Rename `a` to `b`.",
        "x => y",
        "and/or",
    ],
)
def test_other_sentence_stays(text: str) -> None:
    actual = read(text)
    assert (actual.sentences, actual.proposals) == ((text,), ())


def test_name_among_other_sentences_is_kept() -> None:
    actual = read("`max_size`\n\nThis is read nowhere.")
    assert (actual.sentences, actual.proposals) == (("`max_size`", "This is read nowhere."), ())


# Hostile


@pytest.mark.parametrize(
    "text", ["", "```suggestion", "```diff\n```", "`` ``?", "\x00`a`?", "s///"]
)
def test_any_comment_is_read_without_an_error(text: str) -> None:
    read(text)


@pytest.mark.growth
@pytest.mark.parametrize(
    "piece", ["```suggestion\nx\n```\n", "```diff\n-x\n+y\n```\n", "s/a b", "`a` -> ", "x -> "]
)
def test_time_is_linear_in_the_comment(piece: str) -> None:
    def prepare(size: int):
        body = piece * (size // len(piece))
        parsed, comment = split_comment(body), Comment(body=body, diff_hunk=CUT)
        return lambda: read_proposals(parsed, comment, FILE)

    assert growth(prepare, 20_000) < 12


@pytest.mark.growth
def test_time_is_linear_in_a_block() -> None:
    def prepare(size: int):
        lines = [f"}} {n % 7}" for n in range(size)]
        return lambda: describe_change(lines, lines[::-1])

    assert growth(prepare, 2_000) < 12


# Where a proposal and a sentence stand


def test_proposal_has_the_position_of_the_text_before_it() -> None:
    parsed = read(f"One.\n\nTwo.\n{suggest('a = 1')}\n\nThree.\n```diff\n-b\n+c\n```\n")
    assert parsed.positions == (Position(0), Position(1), Position(2))
    assert parsed.proposal_positions == (Position(1), Position(2))


def test_proposal_at_the_start_has_the_first_position() -> None:
    assert read(f"{suggest('a = 1')}\n\nOne.\n\nTwo.").proposal_positions == (Position(0),)


def test_sentence_that_is_a_proposal_keeps_its_position() -> None:
    parsed = read("One.\n\n- `a` -> `b`\n- `c` -> `d`\n- Two.")
    assert parsed.sentences == ("One.", "Two.")
    assert parsed.positions == (Position(0), Position(3))
    assert parsed.proposal_positions == (Position(1), Position(2))


def test_equal_sentences_keep_their_own_positions() -> None:
    assert read("# Same.\n\nSame.\n\nOther.\n\nSame.").positions == (
        Position(0, is_heading=True),
        Position(1),
        Position(2),
        Position(3),
    )


@pytest.mark.parametrize(
    "body", ["", "One. Two.", "`a` -> `b`", "`a`", "```\na\n```", "# T\n\nOne."]
)
@pytest.mark.parametrize("splitter", ["markdown", "paper"])
def test_each_sentence_and_proposal_has_a_position(body: str, splitter: str) -> None:
    parsed = read_proposals(split_comment(body, splitter=splitter), Comment(body=body), None)
    assert len(parsed.positions) == len(parsed.sentences)
    assert len(parsed.proposal_positions) == len(parsed.proposals)


def test_two_suggestions_of_one_comment_replace_their_own_lines() -> None:
    body = (
        "~~~suggestion:-1+0\n    if path:\n        path = OTHER\n~~~\n"
        "```suggestion:-0+1\n        path = OTHER\n    store = Store(path)\n```"
    )
    comment = Comment(body=body, path="store.py", line=12)
    assert read_proposals(split_comment(body), comment, FILE).proposals == (
        "change `if path is None: path = DEFAULT_PATH` to `if path: path = OTHER`",
        "change `path = DEFAULT_PATH store = Store(path, retries=3)` to "
        "`path = OTHER store = Store(path)`",
    )
