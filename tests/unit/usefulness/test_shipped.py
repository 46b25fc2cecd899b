"""The shipped weights on sentences and changes of our own, with the packaged encoder.

No sentence here is in the training data. The floors are at least five points below what was
reached when they were written, so that newly trained weights pass unless they are worse.
"""

import numpy as np
import pytest

from crscore import Scorer
from crscore.encoders import minilm
from crscore.records import ACTIONABLE_FROM, Comment, Flag, Stance, Usefulness
from crscore.usefulness import evidence, model, reader
from crscore.usefulness.model import Weights
from crscore.usefulness.reader import SHIPPED, logit, read_text
from crscore.usefulness.reading import OUTPUTS, PHRASED, TextReading
from tests.helpers import useful as useful_weights

REQUESTS = (
    "Please extract this into a helper.",
    "Can you add a unit test for the empty list?",
    "Rename `tmp` to something that tells what it holds.",
    "This should be a constant.",
    "Use a context manager here so the file gets closed.",
    "Could we move this check before the loop?",
    "Consider returning early to avoid the nesting.",
    "Remove the leftover print statement.",
    "I would prefer an enum over these strings.",
    "Let's keep the old name for backwards compatibility.",
    "nit: missing blank line before the return.",
    "You can drop the `else` after the return.",
    "Maybe log the exception instead of ignoring it?",
    "Please document the new parameter.",
    "It would be better to inject the clock.",
    "Don't hardcode the port, read it from the settings.",
    "Needs a test that covers the timeout.",
    "Shouldn't this be `>=` instead of `>`?",
    "Why not use `setdefault` here?",
    "Please revert the formatting changes in this file.",
    "We should validate the input before saving it.",
    "Make this method private.",
    "Can this be simplified to a single expression?",
    "I think the docstring needs an update as well.",
    "Add a comment that explains the magic number.",
    "Replace the loop with a comprehension.",
    "How about splitting this function in two?",
    "This import belongs at the top of the file.",
    "Prefer `final` for fields that never change.",
    "Do not catch the base exception, catch the specific one.",
)
PROBLEMS = (
    "This fails with a NullPointerException when the user has no address.",
    "The connection is never returned to the pool.",
    "If the list is empty, `max` raises a ValueError.",
    "There is a race between the check and the write.",
    "`parse` returns None for malformed input and the next line dereferences it.",
    "The loop never terminates when `step` is 0.",
    "This leaks the file descriptor on the error path.",
    "The password ends up in the log in plain text.",
    "Comparing floats with `==` gives wrong results here.",
    "The default argument is mutable, so all calls share one list.",
    "When the request times out the spinner stays on the screen forever.",
    "`offset` is added twice, so the second page skips a row.",
    "This breaks on Python 3.8, where the method does not exist.",
    "An attacker can pass `../` and read any file.",
    "The exception is lost because `finally` returns.",
    "`count` overflows a 32-bit integer after two billion events.",
    "The migration drops the column before the data is copied.",
    "Two requests at the same time create two accounts.",
    "The sort is not stable, so the order changes between runs.",
    "The transaction is not rolled back if the second insert fails.",
    "Without the lock another thread can see the half-built object.",
    "The date is parsed in local time but compared in UTC.",
    "Clients that send no header now get a 500.",
    "This deadlocks when both queues are full.",
    "The condition is inverted, it deletes the active sessions.",
    "`items.remove` inside the loop skips every other element.",
    "The slice is off by one and cuts the last character.",
    "The listener is never removed, so memory grows with every visit.",
    "A negative index silently reads from the end of the array.",
    "The regular expression does not match names with an apostrophe.",
)
QUESTIONS = (
    "Why would anyone want this flag?",
    "What happens if the token has expired?",
    "Is this still used anywhere?",
    "How does this behave for an empty string?",
    "What is the reason for the sleep here?",
    "Did you mean to leave this enabled?",
    "Why did the timeout change from 10 to 30?",
    "Is it intentional that the error is ignored?",
    "Where does this value come from?",
    "Does this work on Windows?",
    "Can `user` ever be null at this point?",
    "What does the second argument stand for?",
    "Why do we need both of these flags?",
    "Are there callers that rely on the old order?",
    "Who calls this method?",
    "How was the limit of 500 chosen?",
    "Is there a benchmark for this?",
    "Why the cast?",
    "What's the purpose of this variable?",
    "Isn't this already handled by the base class?",
    "When would this branch be taken?",
    "Is this thread-safe?",
    "Does the cache ever get invalidated?",
    "Why are we swallowing the exception?",
    "Any reason for not using the existing helper?",
    "Which versions are affected by this?",
    "How do we know that the file exists here?",
    "What if two users save at the same time?",
    "Do we need to handle the other status codes too?",
    "Was this tested with a large file?",
)
PRAISES = (
    "Nice work!",
    "Looks good to me.",
    "Great cleanup, this is much easier to read.",
    "Love this refactoring.",
    "Good catch on the off-by-one.",
    "Thank you for fixing this so quickly.",
    "The new tests are really thorough.",
    "This is a clean and elegant solution.",
    "LGTM!",
    "Excellent error messages.",
    "I like that the helper is pure now.",
    "Well done, the naming is very clear.",
    "Really happy with how this turned out.",
    "Very nice simplification.",
    "+1, great idea.",
    "The documentation is superb.",
    "What a great improvement over the old version!",
    "Smart use of a generator here.",
    "Thanks a lot for the detailed description.",
    "This reads beautifully.",
    "Awesome job with the migration.",
    "Fantastic, exactly what we were missing.",
    "Kudos for the test coverage.",
    "Good choice of data structure.",
    "The code is well structured and follows our conventions.",
    "Neat trick with the sentinel.",
    "Solid change overall.",
    "Looks great, approving.",
    "I appreciate the small commits.",
    "Lovely, so much simpler than before.",
)
DESCRIPTIONS = (
    "This change adds a `timeout` parameter to `fetch`.",
    "The constructor now takes a logger.",
    "The method `close` was renamed to `shutdown`.",
    "The PR replaces the hand-written parser with a library.",
    "The default value is changed from 10 to 30.",
    "A new class `RetryPolicy` is introduced.",
    "The import of `os` was removed.",
    "This commit moves the validation into a separate module.",
    "The function returns a list instead of a generator.",
    "The condition now also checks whether the user is active.",
    "Tests were added for the new endpoint.",
    "The code uses a dictionary to count the words.",
    "The variable `result` is assigned the value of `compute()`.",
    "The dependency is updated to version 2.4.",
    "The `else` branch has been removed.",
    "The configuration file gets a new section for the cache.",
    "This pull request refactors the login flow to use tokens.",
    "The loop iterates over all users and sends each of them a mail.",
    "An early return is added when the list is empty.",
    "The patch introduces a lock around the counter.",
    "The old endpoint is kept for compatibility and forwards to the new one.",
    "The type of `id` changes from int to str.",
    "The method signature is extended by an optional callback.",
    "The log level was lowered from info to debug.",
    "The changes add error handling around the database call.",
    "The button is now disabled while the form is being sent.",
    "The file defines three new constants.",
    "This diff deletes the deprecated helper and its tests.",
    "The query now joins the orders table.",
    "It updates the copyright year in the header.",
)
OTHERS = (
    "I will have a look after lunch.",
    "See the discussion in the other thread.",
    "Sorry, I was out of office yesterday.",
    "Let me ask the team.",
    "cc @maria",
    "Closing in favour of the newer pull request.",
    "The weekend was great.",
    "Happy new year everyone!",
    "Same as above.",
    "I am still reading through the rest.",
    "Rebased.",
    "CI is red again because of the flaky runner.",
    "I can take care of it next sprint.",
    "As we said in the call.",
    "My cat walked over the keyboard.",
    "Merging this once the release is out.",
    "Thanks, done in the last commit.",
    "Okay.",
    "Hmm, let me think about it.",
    "Please see my earlier reply.",
    "Back from vacation, catching up.",
    "This is an automated message.",
    "Ping.",
    "I have no strong opinion.",
    "The train is late today.",
    "Talk to you tomorrow.",
    "Reviewed the first half only.",
    "Fixed.",
    "We can talk about it on Monday.",
    "Bump.",
)
GROUPS = {
    Stance.REQUEST: (REQUESTS, 0.8),
    Stance.PROBLEM: (PROBLEMS, 0.8),
    Stance.QUESTION: (QUESTIONS, 0.85),
    Stance.PRAISE: (PRAISES, 0.8),
    Stance.DESCRIPTION: (DESCRIPTIONS, 0.8),
    Stance.OTHER: (OTHERS, 0.55),
}
"""What a sentence does -> sentences that do it, and the least share that is read so."""
EMPTY = (Stance.PRAISE, Stance.DESCRIPTION, Stance.OTHER)
"""Stances that give nothing to answer."""

FETCH = """--- a/client.py
+++ b/client.py
@@ -1,4 +1,7 @@
 import requests
-def fetch(url):
-    return requests.get(url).json()
+def fetch(url, timeout=None, retries=3):
+    for attempt in range(retries):
+        reply = requests.get(url, timeout=timeout)
+        if reply.ok:
+            return reply.json()

"""
CART = """--- a/src/cart.js
+++ b/src/cart.js
@@ -10,7 +10,11 @@ class Cart {
   total() {
-    return this.items.reduce((sum, item) => sum + item.price, 0);
+    let total = 0;
+    for (const item of this.items) {
+      total += item.price * item.quantity;
+    }
+    return total.toFixed(2);
   }

   clear() {
"""
CACHE = """--- a/src/main/java/Cache.java
+++ b/src/main/java/Cache.java
@@ -20,9 +20,18 @@ public class Cache {
-    public Value get(String key) {
-        return map.get(key);
-    }
+    public Value get(String key) {
+        Value value = map.get(key);
+        if (value == null) {
+            value = loader.load(key);
+            map.put(key, value);
+        }
+        hits++;
+        return value;
+    }
+
+    public int getHits() {
+        return hits;
+    }
 }
"""
REVIEWS = {
    "fetch": (
        FETCH,
        "If every attempt fails, `fetch` falls out of the loop and returns None, so callers crash "
        "later on. Please raise the last error once `retries` are used up.\n\nA `timeout` of None "
        "waits for ever; should the default be some seconds?",
        "The function `fetch` now takes the parameters `timeout` and `retries`.\n\nThe request is "
        "sent in a loop until the reply is ok. The `timeout` is passed to `requests.get`.",
        "Great work on `fetch`, the retries look really good!\n\nThank you for this nice change.",
    ),
    "cart": (
        CART,
        "`toFixed` returns a string, so `total()` no longer gives a number and adding shipping to "
        "it concatenates. Please round in the view instead.\n\nCan you add a test for an item "
        "without a `quantity`?",
        "The method `total` now multiplies the price of each item by its quantity.\n\nThe "
        "`reduce` call is replaced by a loop, and the result is formatted with `toFixed`.",
        "Lovely, the new loop in `total` is much easier to read.\n\nNice work, looks good to me!",
    ),
    "cache": (
        CACHE,
        "`get` is not thread-safe: two threads may both call `loader.load` for the same key. "
        "Please use `map.computeIfAbsent(key, loader::load)`.\n\n`hits` is also incremented on a "
        "miss, move `hits++` into an else branch.",
        "This change makes `get` load missing values with the `loader` and store them in the "
        "`map`.\n\nA counter `hits` was added, which is returned by the new method `getHits`.",
        "Really elegant solution with the `loader`, I like it a lot.\n\nThe name `getHits` is "
        "great. Well done!",
    ),
}
"""Change -> a useful review of it, a summary and praise."""

POINTS = {
    "fetch": (
        "If every attempt fails, `fetch` returns None, so callers crash later on.",
        "A `timeout` of None waits for ever; please set a default of some seconds.",
        "The loop retries at once: sleep between the attempts of `range(retries)`.",
    ),
    "cart": (
        "`toFixed` returns a string, so adding shipping to `total()` concatenates.",
        "An item without a `quantity` makes the `total` NaN.",
        "Please add a test for an empty cart.",
    ),
    "cache": (
        "`get` is not thread-safe: two threads may both call `loader.load` for a key.",
        "`hits` is also incremented on a miss, so `getHits` is wrong.",
        "Please use `map.computeIfAbsent` instead of `map.put`.",
    ),
}
"""Change -> three points of a review of it."""


@pytest.fixture(scope="module")
def weights() -> Weights:
    return model.read_weights(SHIPPED)


@pytest.fixture(scope="module")
def scorer() -> Scorer:
    return Scorer(analyzers="none", offline=True)


@pytest.fixture(scope="module")
def read() -> dict[Stance, list[TextReading]]:
    shipped = reader.reader_for(minilm.MiniLM(offline=True))
    network = shipped.weights.network
    return {
        stance: [
            read_text(text, row)
            for text, row in zip(texts, network.read(texts, shipped.encoder), strict=True)
        ]
        for stance, (texts, _) in GROUPS.items()
    }


def useful(scorer: Scorer, patch: str, text: str) -> Usefulness:
    usefulness = scorer.score(patch, text).usefulness
    assert usefulness is not None
    return usefulness


# The sentences themselves


@pytest.mark.parametrize("stance", GROUPS)
def test_stance_of_a_sentence_is_read(read, stance: Stance) -> None:
    stances = [item.stance for item in read[stance]]
    share = np.mean([predicted is stance for predicted in stances])
    assert share >= GROUPS[stance][1], [
        (text, predicted.value)
        for text, predicted in zip(GROUPS[stance][0], stances, strict=True)
        if predicted is not stance
    ]


@pytest.mark.parametrize(
    ("stance", "floor"), [(Stance.REQUEST, 0.9), (Stance.QUESTION, 0.9), (Stance.PROBLEM, 0.75)]
)
def test_sentences_that_need_an_answer_are_actionable(read, stance: Stance, floor: float) -> None:
    assert np.mean([item.actionable >= ACTIONABLE_FROM for item in read[stance]]) >= floor


@pytest.mark.parametrize("stance", EMPTY)
def test_other_sentences_are_not_actionable(read, stance: Stance) -> None:
    assert np.mean([item.actionable < ACTIONABLE_FROM for item in read[stance]]) >= 0.85
    assert np.median([item.actionable for item in read[stance]]) < 0.15


@pytest.mark.parametrize("stance", EMPTY)
def test_median_problem_is_more_actionable_than_nearly_every_other_sentence(read, stance) -> None:
    middle = np.median([item.actionable for item in read[Stance.PROBLEM]])
    assert np.mean([item.actionable < middle for item in read[stance]]) >= 0.9


def test_problems_are_more_important_than_what_is_not_actionable(read) -> None:
    def middle(stance: Stance) -> float:
        return float(np.median([item.importance for item in read[stance]]))

    assert middle(Stance.PROBLEM) > middle(Stance.REQUEST) > max(map(middle, EMPTY))


# Whole reviews


@pytest.mark.parametrize("name", REVIEWS)
def test_useful_review_beats_a_summary_and_a_summary_beats_praise(scorer, name: str) -> None:
    patch, *texts = REVIEWS[name]
    review, summary, praise = (useful(scorer, patch, text) for text in texts)
    assert review.value > summary.value > praise.value
    assert review.standing > summary.standing >= praise.standing


def test_most_useful_reviews_have_a_higher_standing_than_praise(scorer) -> None:
    rows = [
        [useful(scorer, patch, text).standing for text in texts]
        for patch, *texts in REVIEWS.values()
    ]
    reviews, summaries, praises = zip(*rows, strict=True)
    # The network reads a race as minor: that review stands at 20.
    assert sorted(reviews)[1] >= 40
    assert min(reviews) > max(summaries)
    assert max(praises) < 25


@pytest.mark.parametrize("name", POINTS)
def test_same_points_have_similar_standings_as_text_list_and_comments(scorer, name: str) -> None:
    patch, points = REVIEWS[name][0], POINTS[name]
    comments = [Comment(body=point) for point in points]
    shapes = ("\n\n".join(points), "".join(f"- {point}\n" for point in points), comments)
    results = [scorer.score(patch, shape) for shape in shapes]
    standings = [result.usefulness.standing for result in results]
    assert max(standings) - min(standings) <= 3, standings


@pytest.mark.parametrize("name", REVIEWS)
def test_review_is_about_its_own_change(scorer, name: str) -> None:
    own = useful(scorer, *REVIEWS[name][:2])
    for patch, other, *_ in (review for key, review in REVIEWS.items() if key != name):
        assert useful(scorer, REVIEWS[name][0], other).about < own.about
        assert useful(scorer, patch, REVIEWS[name][1]).about < own.about


def test_comment_on_a_line_of_the_change_is_likelier_to_be_about_it(scorer) -> None:
    patch = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-limit = 10\n+limit = 20\n"
    text = "Why is the limit twice as high now?"
    places = ({}, {"path": "a.py"}, {"path": "a.py", "line": 9}, {"path": "a.py", "line": 1})
    loose, in_file, beside, placed = (
        scorer.score(patch, [Comment(body=text, **place)]).remarks[0].about for place in places
    )
    assert loose == in_file == beside
    assert logit(placed) - logit(loose) == pytest.approx(reader.PLACED_SHIFT, abs=1e-3)


@pytest.mark.parametrize("name", REVIEWS)
def test_summary_is_flagged_and_a_useful_review_is_not(scorer, name: str) -> None:
    patch, review, summary, _ = REVIEWS[name]
    flags = scorer.score(patch, summary).sentence_flags
    assert Flag.RESTATES in flags
    # A question may repeat what the change does before it asks.
    assert set(scorer.score(patch, review).sentence_flags) == {None}


# The file


def test_file_has_the_bytes_of_its_weights(weights: Weights) -> None:
    assert model.to_bytes(weights) == SHIPPED.read_bytes()


def test_file_is_small_and_has_no_pickle() -> None:
    assert SHIPPED.stat().st_size <= 12_000_000
    with np.load(SHIPPED, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "fiu" for name in arrays.files)


def test_shapes_fit_the_features(weights: Weights) -> None:
    assert weights.network.head.shape == (minilm.DIMENSIONS + 1, len(OUTPUTS))
    assert weights.about.shape == (len(evidence.FEATURES) + 1,)
    assert weights.network.worth.shape == (len(OUTPUTS) + len(PHRASED) + 1,)
    network = weights.network
    for part in (network.head, weights.about, network.worth, *network.layers.tensors.values()):
        assert np.isfinite(part).all()


def test_layers_are_those_of_the_encoder(weights: Weights) -> None:
    model_weights = minilm.MiniLM(offline=True).tensors()
    assert weights.network.layers.tensors
    for name, tensor in weights.network.layers.tensors.items():
        assert list(tensor.shape) == list(model_weights[name].shape), name


def test_every_kind_of_real_texts_has_values(weights: Weights) -> None:
    scale = weights.scale
    assert list(scale.values) == useful_weights.SETS
    for values in scale.values.values():
        assert len(values) >= 100
        assert (np.diff(values) >= 0).all()
        assert values[0] >= 0
        assert values[-1] <= 1


def test_spread_rises_with_the_standing(weights: Weights) -> None:
    for table in weights.scale.spread.values():
        assert (np.diff(table, axis=0) >= 0).all()
        assert (np.diff(table[:, 1:], axis=1) > 0).all()
