"""Our own sentences on two small changes; no wording of the attack set and no tuning on them."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crscore.diff import parse
from crscore.matchers.base import Cells
from crscore.matchers.calibrated.restating import (
    BIAS,
    WEIGHTS,
    find_restatements,
    measure_sentences,
)
from crscore.records import Diff, PseudoReference, ReferenceKind, Sentence

NAMES = tuple(WEIGHTS)

PYTHON = """@@ -1,8 +1,12 @@
 import logging
-import urllib2
+import requests

-TIMEOUT = 10
+TIMEOUT = 30
+MAX_RETRIES = 3

-def fetch(url):
-    # returns the raw body
-    return urllib2.urlopen(url, timeout=TIMEOUT).read()
+def fetch(url, session=None):
+    # returns the decoded body
+    session = session or requests.Session()
+    response = session.get(url, timeout=TIMEOUT)
+    response.raise_for_status()
+    return response.text
"""
JAVA = """@@ -20,6 +20,8 @@ public class OrderService {
-    private final List<Order> orders = new ArrayList<>();
+    private final Queue<Order> pending = new ArrayDeque<>();

     public void submit(Order order) {
-        orders.add(order);
-        log.debug("order added");
+        if (order.isPaid()) {
+            pending.offer(order);
+            log.info("order {} queued", order.getId());
+        }
     }
"""
CLAIMS = {
    "python": (
        "The module `urllib2` is replaced by `requests`.",
        "The function `fetch` takes a new optional parameter `session`.",
        "The value of `TIMEOUT` is raised from 10 to 30.",
        "The constant `MAX_RETRIES` is defined but never used.",
        "The change could break callers of `fetch` that expect bytes.",
    ),
    "java": (
        "The list `orders` has been replaced by the queue `pending`.",
        "Only orders that are paid are put into the queue.",
        "The log level changes from debug to info and the message tells the order's id.",
    ),
    "mood": (),
}
PATCHES = {
    "python": PYTHON,
    "java": JAVA,
    "mood": "@@ -1 +1 @@\n-mood = 'wrong'\n+mood = 'good'\n",
}

RESTATING = (
    ("python", "`urllib2` is swapped for `requests`."),
    ("python", "The constant `MAX_RETRIES` is created with the value 3."),
    ("python", "`TIMEOUT` goes up from 10 to 30."),
    ("python", "fetch() gains a `session` parameter whose default is None."),
    ("python", "A `requests.Session` gets built when none is handed over."),
    ("python", "After the request, `response.raise_for_status()` is called."),
    ("python", "The function used to return bytes, now it returns `response.text`."),
    ("python", "The comment speaks of the decoded body instead of the raw one."),
    ("python", "There is a `MAX_RETRIES` constant below `TIMEOUT`."),
    ("python", "Line 2 imports requests where it imported urllib2."),
    ("python", "In `fetch`, `urlopen` was exchanged for `session.get`."),
    ("python", "I see that the import of `urllib2` has been taken out."),
    ("python", "This commit moves the HTTP calls over to `requests`."),
    ("python", "The timeout is tripled."),
    ("python", "This PR introduces a session argument in the fetch function and a retry constant."),
    ("python", "The diff touches the imports, two constants and `fetch`."),
    ("python", "The signature of `fetch` changes from `fetch(url)` to `fetch(url, session=None)`."),
    ("python", "The body of the response comes back as text."),
    ("python", "The constant `MAX_RETRIES` is defined but never used."),
    ("python", "The change could break callers of `fetch` that expect bytes."),
    ("python", "the value of `timeout` is raised from 10 to 30"),
    ("java", "The field `orders` has become `pending`."),
    ("java", "An `ArrayDeque` takes the place of the `ArrayList`."),
    ("java", "`submit` wraps its body in a check of `order.isPaid()`."),
    ("java", "`pending.offer` is called in place of `orders.add`."),
    ("java", "The log statement is at info level and prints `order.getId()`."),
    ("java", "Unpaid orders are skipped."),
    ("java", "The type of the field goes from `List<Order>` to `Queue<Order>`."),
    ("java", "The author renames `orders` to `pending` and changes its type."),
    ("java", 'The message "order added" is now "order {} queued".'),
    ("java", "Only paid orders end up in the queue."),
    ("java", "`log.debug` turned into `log.info`."),
    ("java", "In this change a condition was put around the two statements of `submit`."),
    ("java", "The method `submit` in `OrderService` was edited."),
    ("java", "Orders are held in a queue instead of a list."),
    ("java", "A new if statement surrounds the call."),
    ("java", "What was a list of orders is a queue of pending orders."),
    ("java", "The list `orders` has been replaced by the queue `pending`."),
    ("java", "One field is retyped, one method gets a guard, one log line says more."),
    ("java", "The id of the order is part of the log message now."),
)
JUDGING = (
    ("python", "`MAX_RETRIES` is never read, so drop it or implement the retry."),
    ("python", "Why thirty seconds?"),
    ("python", "Callers that expect bytes will blow up on the `str` returned here."),
    ("python", "Could you close the `Session` when `fetch` created it?"),
    ("python", "A new session per call defeats connection pooling."),
    ("python", "Please mention `HTTPError` in the docstring, as `raise_for_status` now throws it."),
    ("python", "I would keep `timeout` a parameter of `fetch` instead of a constant."),
    ("python", "Nit: constants are sorted by name in this file."),
    ("python", "`response.text` guesses the encoding; use `response.content` for binary files."),
    ("python", "Nice to see `urllib2` go!"),
    ("python", "Looks good, but a test for the error path is missing."),
    ("python", "This leaks a socket when `get` throws."),
    ("python", "Is `requests` already in our requirements?"),
    ("python", "The name `session` shadows the module-level one."),
    ("python", "Let's pass `session` by keyword only."),
    ("python", "You might want to reuse `http.client` from the base class."),
    ("python", "This makes every fetch three times slower in the worst case."),
    ("python", "Use `with requests.Session() as session:` here."),
    ("python", "Shouldn't the comment say that it raises?"),
    ("python", "Not sure that thirty seconds is acceptable for a health check."),
    ("python", "The comment is outdated: decoding happens in the caller."),
    ("python", "Rename `url` to `address` for consistency with `post`."),
    ("python", "Without a retry loop the constant is dead code."),
    ("python", "We should not change the return type in a patch release."),
    ("java", "`ArrayDeque` is not thread-safe, and `submit` runs on several threads."),
    ("java", "What happens to an order that is not paid? It is lost silently."),
    ("java", "An unpaid order needs at least a warning in the log."),
    ("java", "Info is too noisy for this, please keep debug."),
    ("java", "Consider throwing an `IllegalStateException` for unpaid orders."),
    ("java", "`offer` returns false when the queue is full; check the result."),
    ("java", "Good idea to queue only what is paid."),
    ("java", "`pending` says less than `paidOrders` would."),
    ("java", "Nothing ever polls this queue."),
    ("java", "This belongs into the payment listener rather than here."),
    ("java", "If `order` is null, this throws."),
    ("java", "I don't think that the id may be logged under our privacy rules."),
    ("java", "Add a test with an unpaid order."),
    ("java", "The previous list allowed duplicates to be found by index; two callers rely on it."),
    ("java", "Can we return early instead of nesting?"),
    ("java", "Thanks, this fixes the memory leak that we saw last week."),
)


def change(name: str, claims: tuple[str, ...] | None = None) -> tuple[Diff, tuple]:
    texts = CLAIMS[name] if claims is None else claims
    references = tuple(
        PseudoReference(text=text, kind=ReferenceKind.CLAIM, source="test") for text in texts
    )
    return parse.parse_diff(PATCHES[name], source=name, language=name), references


def cells(
    name: str, *comments: tuple[str, ...] | str, claims: tuple[str, ...] | None = None
) -> Cells:
    """Of comments given as their sentences; a string is a comment of one sentence."""
    parsed, references = change(name, claims)
    sentences = tuple(
        Sentence(text=text, comment=index)
        for index, comment in enumerate(comments)
        for text in ((comment,) if isinstance(comment, str) else comment)
    )
    shape = (len(references), len(sentences))
    return Cells(
        diff=parsed,
        references=references,
        sentences=sentences,
        reference_vectors=np.zeros((shape[0], 2), dtype=np.float32),
        sentence_vectors=np.zeros((shape[1], 2), dtype=np.float32),
        similarity=np.zeros(shape, dtype=np.float32),
    )


def value(name: str, text: str, feature: str, **options: tuple[str, ...]) -> float:
    return float(measure_sentences(cells(name, text, **options)).table[0, NAMES.index(feature)])


def is_restating(name: str, *sentences: str, **options: tuple[str, ...]) -> tuple[bool, ...]:
    return find_restatements(cells(name, sentences, **options))


def share_of_comments(sentences: tuple[tuple[str, str], ...], size: int) -> float:
    """Share of comments of so many neighbouring sentences with the flag on half of them."""
    flagged = []
    for name in ("python", "java"):
        own = [text for change_name, text in sentences if change_name == name]
        for start in range(len(own) - size + 1):
            marks = is_restating(name, *own[start : start + size])
            flagged.append(sum(marks) >= size / 2)
    return float(np.mean(flagged))


def test_most_lone_restatements_are_found() -> None:
    # 28 of the 40 when they were written; what names no code and no change is left alone.
    found = [is_restating(name, text)[0] for name, text in RESTATING]
    assert len(RESTATING) == 40
    assert np.mean(found) >= 0.65


def test_few_lone_remarks_are_taken_for_restatements() -> None:
    # 3 of the 40 when they were written.
    found = [is_restating(name, text)[0] for name, text in JUDGING]
    assert len(JUDGING) == 40
    assert np.mean(found) <= 0.1


@pytest.mark.parametrize("size", [2, 3, 4])
def test_comments_of_several_sentences_are_told_apart(size: int) -> None:
    assert share_of_comments(RESTATING, size) >= 0.9
    assert share_of_comments(JUDGING, size) <= 0.05


def test_restatement_beside_an_objection_is_no_restatement() -> None:
    lead = "The list `orders` has been replaced by the queue `pending`."
    assert is_restating("java", lead, claims=()) == (True,)
    assert is_restating("java", lead, "Why? Nothing polls it.", claims=()) == (False, False)


def test_repeated_reference_beside_an_objection_is_a_restatement() -> None:
    echo = "The list `orders` has been replaced by the queue `pending`."
    assert is_restating("java", echo, "Why? Nothing polls it.") == (True, False)


def test_objection_in_another_comment_does_not_count() -> None:
    lead = "The list `orders` has been replaced by the queue `pending`."
    assert find_restatements(cells("java", lead, "Why? Nothing polls it.")) == (True, False)


def test_objection_among_many_restatements_is_not_flagged_itself() -> None:
    marks = is_restating("java", *[text for name, text in RESTATING if name == "java"], "Why?")
    assert sum(marks) > 15
    assert not marks[-1]


def test_no_sentence_gives_no_mark() -> None:
    assert find_restatements(cells("java")) == ()
    assert measure_sentences(cells("java")).table.shape == (0, len(NAMES))


def test_works_without_any_reference() -> None:
    assert is_restating("java", "`pending` replaces the list `orders`.", claims=()) == (True,)
    assert is_restating("java", "Why a queue?", claims=()) == (False,)


@pytest.mark.parametrize("text", ["`this.pending && this.ready`", "`a`", "`a` = `b`", "12."])
def test_code_without_words_is_no_restatement(text: str) -> None:
    assert is_restating("java", text) == (False,)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Add `MAX_RETRIES = 3`.", False),
        ("Add `MIN_RETRIES = 3`.", True),
        ("Remove `import urllib2`.", False),
        ("Remove `import requests`.", True),
        ("Remove `import logging`.", True),
        ("Change `TIMEOUT = 10` to `TIMEOUT = 30`.", False),
        ("Change `TIMEOUT = 30` to `TIMEOUT = 10`.", True),
        ("Rename `fetch` to `load`.", True),
        ("Remove it.", True),
        ("Adding `MIN_RETRIES = 3` is what it does.", False),
    ],
)
def test_order_counts_unless_the_change_has_done_it(text: str, wanted: bool) -> None:
    assert measure_sentences(cells("python", text, claims=())).excluded.tolist() == [wanted]


def test_echo_of_a_reference_is_not_the_reviewers_judgement() -> None:
    echo = "The constant `MAX_RETRIES` is defined but never used."
    assert is_restating("python", echo) == (True,)
    assert is_restating("python", echo, claims=()) == (False,)


def test_more_than_the_reference_is_the_reviewers_judgement() -> None:
    text = "The constant `MAX_RETRIES` is defined but never used, please remove it."
    assert is_restating("python", text) == (False,)


def test_words_of_the_changed_lines_are_no_judgement() -> None:
    text = "The mood was wrong and is now good."
    assert value("mood", text, "judging") == 0.0
    assert value("java", text, "judging") == 1.0


@pytest.mark.parametrize(
    "text",
    [
        "`please()` is renamed to `whyNot?`.",
        'The text is now "This is wrong, please fix".',
        "The text is now “Why should I?”.",
        "The text is now 'You must log in'.",
        "The call of should.be.wrong is gone.",
        "I see that `a` was added.",
        "We can see that `a` was added.",
    ],
)
def test_words_in_code_and_in_reports_are_no_judgement(text: str) -> None:
    assert value("java", text, "judging") == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "Is this on purpose?",
        "It can safely be removed.",
        "You forgot the tests.",
        "This isn't needed.",
        "This isn’t needed.",
        "PLEASE FIX THIS",
        "I'd inline it.",
        "The users' names should stay.",
        "don't do this",
        "Looks fine.",
    ],
)
def test_judgement_is_heard(text: str) -> None:
    assert value("java", text, "judging") > 0.0


def test_share_of_code_is_of_the_words_that_tell_something() -> None:
    # TIMEOUT is code; goes, 10 and 30 are words; up, from and to are stop words.
    assert value("python", "`TIMEOUT` goes up from 10 to 30.", "coded") == 0.25


def test_identifiers_of_the_change_are_code_in_any_case() -> None:
    assert value("python", "Then max_retries exists.", "coded") == value(
        "python", "Then `max_retries` exists.", "coded"
    )
    assert value("java", "Then ispaid exists.", "coded") == pytest.approx(0.0)
    assert value("java", "Then getid exists.", "coded") == pytest.approx(0.0)


def test_covered_is_the_share_in_repeated_references() -> None:
    text = "Only orders that are paid are put into the queue, on Sundays."
    assert value("java", "Only orders that are paid are put into the queue.", "covered") == 1.0
    # orders, paid, put and queue of orders, paid, put, queue and Sundays.
    assert value("java", text, "covered") == pytest.approx(4 / 5)
    assert value("java", "Orders are kept on Sundays.", "covered") == 0.0


def test_cues_are_counted_a_clause() -> None:
    assert value("java", "The queue is new.", "reports") == 1.0
    # One distinct cue in 28 words, which are two clauses.
    assert value("java", "new " + "queue " * 27, "reports") == pytest.approx(0.5)
    assert value("java", "It could lead to loss.", "infers") == 1.0


def test_comment_features_are_shared_by_its_sentences() -> None:
    table = measure_sentences(cells("java", ("Why?", "A queue is new.", "And `a`."), "Good.")).table
    assert table[:3, NAMES.index("judging")] == pytest.approx(1 / 3)
    assert table[:3, NAMES.index("sentences")] == pytest.approx(math.log(3))
    assert table[3, NAMES.index("judging")] == 1.0
    assert table[3, NAMES.index("sentences")] == 0.0


def test_judgement_speaks_against_and_everything_else_for_a_restatement() -> None:
    assert [name for name, weight in WEIGHTS.items() if weight < 0] == ["judging"]
    assert BIAS < 0


def test_vectors_do_not_matter() -> None:
    made = cells("java", *[text for name, text in RESTATING if name == "java"])
    other = replace(
        made,
        similarity=np.ones_like(made.similarity),
        sentence_vectors=np.ones_like(made.sentence_vectors),
    )
    assert find_restatements(made) == find_restatements(other)


@pytest.mark.parametrize("part", ["`", "“", "'", '"', "a.", "_", "aA", "can be ", "not ", "$@"])
def test_hostile_text_takes_no_time(part: str) -> None:
    start = time.perf_counter()
    find_restatements(cells("java", part * 100_000))
    assert time.perf_counter() - start < 1.0


@given(st.lists(st.text(max_size=60), max_size=5), st.lists(st.text(max_size=60), max_size=3))
def test_any_text_gets_one_mark_a_sentence(texts: list[str], claims: list[str]) -> None:
    made = cells("java", tuple(texts), claims=tuple(claims))
    table, excluded = measure_sentences(made)
    assert len(find_restatements(made)) == len(texts)
    assert np.isfinite(table).all()
    assert ((table[:, :-1] >= 0) & (table[:, :-1] <= 1)).all()
    assert not any(
        mark and out for mark, out in zip(find_restatements(made), excluded.tolist(), strict=True)
    )
