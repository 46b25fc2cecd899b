"""The shipped weights on our own small changes, with the packaged encoder."""

import itertools
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from crscore import Scorer
from crscore.diff import parse
from crscore.encoders import hashing, minilm
from crscore.encoders.base import Encoder
from crscore.errors import ConfigError, InputError
from crscore.matchers import calibrated, features
from crscore.matchers.base import Cells
from crscore.matchers.calibrated import SHIPPED, Calibrated
from crscore.matchers.trees import Trees
from crscore.records import Comment, Flag, PseudoReference, ReferenceKind, Sentence
from crscore.scoring.cells import cosine

PATCH = """--- a/client.py
+++ b/client.py
@@ -1,4 +1,6 @@
 import requests
-def fetch(url):
-    return requests.get(url).json()
+def fetch(url, timeout=None):
+    reply = requests.get(url, timeout=timeout)
+    reply.raise_for_status()
+    return reply.json()

"""
CLAIMS = (
    "The function `fetch` takes a new optional parameter `timeout`.",
    "`raise_for_status` is called, so that a failed request raises an exception.",
    "The response is kept in the variable `reply`.",
    "Callers of `fetch` may now see an HTTPError.",
)
REVIEW = (
    "Should `timeout` default to None, so that a request may hang for ever?",
    "Callers do not expect `raise_for_status` to throw, please document the exception.",
    "Why the name `reply`, when `requests` calls it a response?",
)
PADDING = (
    "Thanks for the work.",
    "Have a nice weekend!",
    "Please rebase on main.",
    "The sky over the harbour was grey that morning.",
    "ok",
)


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return minilm.MiniLM(offline=True)


@pytest.fixture(scope="module")
def matcher() -> Calibrated:
    return calibrated.read_weights(SHIPPED)


@pytest.fixture(scope="module")
def cells(encoder: Encoder):
    cache: dict[str, np.ndarray] = {}

    def vectors(texts: list[str]) -> np.ndarray:
        for text in texts:
            if text not in cache:
                cache[text] = encoder.encode([text])[0]
        rows = [cache[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, 384), dtype=np.float32)

    def make(
        sentences: Sequence[str | Sentence], claims: Sequence[str] = CLAIMS, **others
    ) -> Cells:
        units = [
            text if isinstance(text, Sentence) else Sentence(text=text, comment=0)
            for text in sentences
        ]
        refs = [
            PseudoReference(text=text, kind=ReferenceKind.CLAIM, source="test") for text in claims
        ]
        rows, columns = vectors([ref.text for ref in refs]), vectors([unit.text for unit in units])
        return Cells(
            diff=others.get("change", parse.parse_diff(PATCH)),
            references=tuple(refs),
            sentences=tuple(units),
            reference_vectors=rows,
            sentence_vectors=columns,
            similarity=cosine(rows, columns),
            about=others.get("about", np.full(len(units), 0.5, dtype=np.float32)),
        )

    return make


# What a judgement is


def test_degrees_are_float32_between_0_and_1_one_a_cell(matcher, cells) -> None:
    judgement = matcher.match(cells([*REVIEW, *PADDING]))
    assert judgement.degrees.dtype == np.float32
    assert judgement.degrees.shape == (len(CLAIMS), len(REVIEW) + len(PADDING))
    assert (judgement.degrees >= 0).all()
    assert (judgement.degrees <= 1).all()
    assert len(judgement.flags) == len(judgement.in_review) == len(REVIEW) + len(PADDING)


def test_same_cells_give_the_same_degrees(matcher, cells) -> None:
    first, second = (matcher.match(cells(REVIEW)).degrees for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(("sentences", "claims"), [((), CLAIMS), (REVIEW, ()), ((), ())])
def test_empty_side_gives_no_degree(matcher, cells, sentences, claims) -> None:
    judgement = matcher.match(cells(sentences, claims))
    assert judgement.degrees.shape == (len(claims), len(sentences))
    assert judgement.flags == (None,) * len(sentences)


def test_degrees_are_what_the_trees_and_the_discount_say(matcher, cells) -> None:
    change_cells, learned = cells(REVIEW), matcher
    rows = features.compute_features(change_cells, learned.statistics)
    words = np.exp(rows[0, 0, -1]) - 1
    logit = (
        learned.start
        + learned.trees.sum(rows.reshape(-1, rows.shape[2])).reshape(rows.shape[:2])
        - learned.discount * np.log1p(words)
    )
    judgement = matcher.match(change_cells)
    assert judgement.flags == (None,) * 3
    np.testing.assert_allclose(judgement.degrees, 1 / (1 + np.exp(-logit)), atol=1e-5)


def test_one_leaf_equals_a_hand_calculation(matcher, cells) -> None:
    leaf = Trees(
        roots=np.array([0], dtype=np.int32),
        feature=np.zeros(1, dtype=np.int32),
        threshold=np.zeros(1, dtype=np.float32),
        left=np.zeros(1, dtype=np.int32),
        right=np.zeros(1, dtype=np.int32),
        value=np.array([0.75], dtype=np.float32),
        depth=0,
    )
    bare = replace(matcher, trees=leaf, start=0.25, discount=0.5)
    # The comment has three words, so the logit is 0.25 + 0.75 - 0.5 log(4) = 0.3069.
    judgement = bare.match(cells(["Why None here?"], CLAIMS[:1]))
    assert judgement.degrees[0, 0] == pytest.approx(
        1 / (1 + np.exp(-(1 - 0.5 * np.log(4)))), abs=1e-6
    )


def test_sentence_about_a_claim_addresses_it_better_than_padding(matcher, cells) -> None:
    judgement = matcher.match(cells([REVIEW[0], PADDING[0]]))
    degrees = judgement.degrees
    assert degrees[0, 0] > judgement.decision
    assert degrees[0, 0] > degrees[:, 1].max()


def test_decision_and_identity_are_those_of_the_weights(matcher, cells) -> None:
    assert 0 < matcher.decision < 1
    assert matcher.match(cells([REVIEW[0]])).decision == matcher.decision
    assert matcher.identity.startswith(f"calibrated@5.{matcher.data_sha256[:8]}.{matcher.seed}")
    other = replace(matcher, seed=matcher.seed + 1)
    assert other.identity != matcher.identity


# What does not pay


@pytest.mark.parametrize("position", [0, 1, 3])
def test_padding_raises_no_other_sentence(matcher, cells, position: int) -> None:
    before = matcher.match(cells(REVIEW)).degrees
    for padding in PADDING:
        padded = [*REVIEW[:position], padding, *REVIEW[position:]]
        after = np.delete(matcher.match(cells(padded)).degrees, position, axis=1)
        assert (after <= before + 1e-6).all()


def test_more_padding_raises_no_sentence(matcher, cells) -> None:
    before = matcher.match(cells(REVIEW)).degrees
    for count in range(1, len(PADDING) + 1):
        after = matcher.match(cells([*REVIEW, *PADDING[:count]])).degrees[:, : len(REVIEW)]
        assert (after <= before + 1e-6).all()
        before = after


def test_repeated_sentence_has_degree_0_and_lowers_the_first(matcher, cells) -> None:
    alone = matcher.match(cells(REVIEW))
    judgement = matcher.match(cells([*REVIEW, REVIEW[0], REVIEW[1].upper()]))
    assert judgement.flags[3:] == (Flag.REPEATS, Flag.REPEATS)
    assert not judgement.degrees[:, 3:].any()
    assert (judgement.degrees[:, :3] <= alone.degrees + 1e-6).all()


@pytest.mark.parametrize(
    "text",
    [
        "reply = requests.get(url, timeout=timeout)",
        "fetch url timeout reply requests raise_for_status",
    ],
)
def test_flagged_sentence_has_degree_0(matcher, cells, text: str) -> None:
    judgement = matcher.match(cells([REVIEW[0], text]))
    assert judgement.flags == (None, Flag.NO_SENTENCE)
    assert not judgement.degrees[:, 1].any()
    assert judgement.degrees[:, 0].any()


@pytest.mark.parametrize(
    "text",
    [
        "reply = requests.get(url, timeout=timeout)",
        "reply.raise_for_status() return reply.json() fetch timeout None",
    ],
)
@pytest.mark.parametrize("weak", ["Have a look at this.", "Is `fetch` fine?", REVIEW[2]])
def test_flagged_sentence_raises_no_other_sentence(matcher, cells, text: str, weak: str) -> None:
    before = matcher.match(cells([weak])).degrees
    judgement = matcher.match(cells([weak, text]))
    assert judgement.flags[1] is Flag.NO_SENTENCE
    assert (judgement.degrees[:, :1] <= before).all()


def test_matcher_does_not_flag_restatements(matcher, cells) -> None:
    # The reader tells it: tests/unit/usefulness/test_reader.py.
    judgement = matcher.match(cells([CLAIMS[0], CLAIMS[0]]))
    assert judgement.flags == (None, Flag.REPEATS)
    assert judgement.degrees[:, 0].any()


def test_hidden_prose_has_degree_0_and_a_hidden_marker_is_left_out(matcher, cells) -> None:
    sentences = [
        Sentence(text=REVIEW[0], comment=0),
        Sentence(text=CLAIMS[1], comment=0, hidden=True),
        Sentence(text="fingerprint:12ab", comment=0, hidden=True),
    ]
    judgement = matcher.match(cells(sentences))
    assert judgement.flags == (None, Flag.HIDDEN, Flag.HIDDEN)
    assert judgement.in_review == (True, True, False)
    assert not judgement.degrees[:, 1:].any()
    np.testing.assert_array_equal(
        judgement.degrees[:, :1], matcher.match(cells(REVIEW[:1])).degrees
    )


def test_order_of_the_references_moves_only_their_rows(matcher, cells) -> None:
    # A reference's rank is among the features; the rest follows the reference.
    names = features.feature_names(len(matcher.statistics.axes))
    kept = [index for index, name in enumerate(names) if name != "reference.position"]
    usual = matcher.statistics
    forward = features.compute_features(cells(REVIEW), usual)
    backward = features.compute_features(cells(REVIEW, CLAIMS[::-1]), usual)[::-1]
    np.testing.assert_allclose(forward[..., kept], backward[..., kept], atol=2e-4)


def test_comments_are_judged_separately(matcher, cells) -> None:
    alone = [matcher.match(cells([text])).degrees for text in REVIEW]
    apart = [Sentence(text=text, comment=index) for index, text in enumerate(REVIEW)]
    np.testing.assert_array_equal(matcher.match(cells(apart)).degrees, np.hstack(alone))


@pytest.mark.parametrize(
    "text", ["", " ", "\U0001f44d", "the of and", "x" * 10_000, "word " * 2_000, "\x00", "名前"]
)
def test_hostile_text_gets_finite_degrees(matcher, cells, text: str) -> None:
    judgement = matcher.match(cells([text, REVIEW[0]], [*CLAIMS, text]))
    assert np.isfinite(judgement.degrees).all()


# Monotone in what speaks for a match: the shipped trees themselves


def directions() -> dict[str, int]:
    # `crscore_lab.training.matcher` asks for these when it grows the trees.
    falling = ("comment.words", "sentence.sentences", "sentence.position")
    rising = ("cell.cosine", "cell.shared_reference", "cell.shared_sum")
    return dict.fromkeys(falling, -1) | dict.fromkeys(rising, 1)


@pytest.mark.parametrize(("name", "direction"), directions().items())
def test_shipped_trees_are_monotonic_in_a_feature(matcher, name: str, direction: int) -> None:
    trees = matcher.trees
    names = features.feature_names(len(matcher.statistics.axes))
    column = names.index(name)
    rng = np.random.default_rng(5)
    # Every value at which some tree can branch, so that no region is left out.
    cuts = [np.unique(trees.threshold[trees.feature == index]) for index in range(len(names))]
    rows = np.column_stack(
        [rng.choice(np.append(cut, cut.max(initial=0) + 1), 200) for cut in cuts]
    ).astype(np.float32)
    steps = np.append(cuts[column], cuts[column].max(initial=0) + 1).astype(np.float32)
    sums = []
    for step in steps:
        rows[:, column] = step
        sums.append(trees.sum(rows))
    moves = np.diff(np.array(sums), axis=0)
    assert (direction * moves >= -1e-5).all()
    if len(steps) > 2:
        assert np.abs(moves).max() > 0


# Choosing it


def test_encoder_of_other_vectors_is_an_input_error() -> None:
    other = hashing.Hashing().identity
    with pytest.raises(InputError, match=r"needs the encoder minilm.*not hashing.*--matcher pub"):
        calibrated.create(encoder=other)


def test_revision_of_the_encoder_does_not_matter(encoder: Encoder) -> None:
    name = encoder.identity.partition("@")[0]
    assert calibrated.create(encoder=f"{name}@abc").identity
    assert calibrated.knows(f"{name}@abc")
    assert not calibrated.knows("hashing:256")
    assert not calibrated.knows(f"{name}-large")


def test_weights_file_of_the_user_is_used(tmp_path: Path, matcher) -> None:
    path = tmp_path / "own.npz"
    own = replace(matcher, encoder="hashing:256", seed=99)
    path.write_bytes(calibrated.to_bytes(own))
    created = calibrated.create(encoder="hashing:256", weights=str(path))
    assert ".99+" in created.identity


def test_other_weights_of_the_same_data_and_seed_have_another_identity(
    tmp_path: Path, matcher
) -> None:
    identities = set()
    for discount in (0.1, 0.2):
        path = tmp_path / f"{discount}.npz"
        path.write_bytes(calibrated.to_bytes(replace(matcher, discount=discount)))
        created = calibrated.create(encoder=matcher.encoder, weights=str(path))
        identities.add(created.identity)
    assert len(identities) == 2


def test_published_rule_takes_no_file() -> None:
    with pytest.raises(ConfigError, match="published takes no file"):
        Scorer(matcher="published:own.npz", analyzers="none")


def test_missing_weights_are_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        calibrated.create(encoder="hashing:256", weights=str(tmp_path / "none.npz"))


def test_auto_takes_the_published_rule_for_an_encoder_without_weights() -> None:
    assert Scorer(encoder="hashing", analyzers="none").parts.matcher.identity == "published"
    assert Scorer(analyzers="none").parts.matcher.identity.startswith("calibrated@5.")
    assert Scorer(threshold=0.5, analyzers="none").parts.matcher.identity == "published"


def test_named_matcher_with_another_encoder_is_an_input_error() -> None:
    with pytest.raises(InputError, match="use --matcher published"):
        Scorer(encoder="hashing", matcher="calibrated", analyzers="none")


# In a whole run


def test_signature_names_the_matcher_and_no_threshold(matcher) -> None:
    named = Scorer(matcher="calibrated", analyzers="none").parts.signature
    assert named["matcher"].startswith(matcher.identity)
    assert "tau" not in named


def test_scores_are_the_published_formulas_over_the_degrees() -> None:
    result = Scorer(matcher="calibrated", analyzers="none").score(PATCH, "\n\n".join(REVIEW))
    counted = [index for index, ref in enumerate(result.references) if ref.counted]
    degrees = result.degrees[counted].astype(float)
    con, comp = degrees.max(axis=0).mean(), degrees.max(axis=1).mean()
    assert result.conciseness == pytest.approx(con, abs=1e-6)
    assert result.comprehensiveness == pytest.approx(comp, abs=1e-6)
    assert result.relevance == pytest.approx(2 * con * comp / (con + comp), abs=1e-6)


def test_hidden_text_raises_no_score_in_a_whole_run() -> None:
    scorer = Scorer(matcher="calibrated", analyzers="none")
    honest = scorer.score(PATCH, REVIEW[0])
    stuffed = scorer.score(PATCH, f"{REVIEW[0]}\n\n<!-- {REVIEW[1]} {REVIEW[2]} -->")
    assert stuffed.relevance < honest.relevance
    marked = scorer.score(PATCH, f"{REVIEW[0]}\n\n<!-- fingerprint:12ab -->")
    assert marked.scores == honest.scores


def test_source_files_are_optional() -> None:
    scorer = Scorer(matcher="calibrated", analyzers="none")
    old = "import requests\ndef fetch(url):\n    return requests.get(url).json()\n\n"
    for sources in (None, {"client.py": (old, None)}):
        result = scorer.score(PATCH, "\n".join(REVIEW), sources=sources)
        assert 0 < result.relevance < 1


def test_issues_are_addressed_like_claims(matcher, cells) -> None:
    change_cells = cells(["`reply` is unused, please remove it."], ["Unused variable `reply`."])
    issue = replace(change_cells.references[0], kind=ReferenceKind.ISSUE)
    judgement = matcher.match(replace(change_cells, references=(issue,)))
    assert 0 < judgement.degrees[0, 0] < 1


def test_two_authors_are_judged_separately() -> None:
    scorer = Scorer(matcher="calibrated", analyzers="none")
    both = [Comment(body=REVIEW[0], author="ann"), Comment(body=REVIEW[1], author="bob")]
    alone = scorer.score(PATCH, both[:1])
    assert scorer.score(PATCH, both).reviews[0].scores == alone.scores


def test_run_imports_neither_torch_nor_lightgbm() -> None:
    code = (
        "import sys\n"
        "from crscore import Scorer\n"
        "scorer = Scorer(matcher='calibrated', analyzers='ruff', offline=True)\n"
        f"result = scorer.score({PATCH!r}, {REVIEW[0]!r})\n"
        "assert result.relevance is not None\n"
        "heavy = {'torch', 'lightgbm', 'sklearn', 'scipy', 'pandas', 'transformers'}\n"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_degrees_do_not_depend_on_the_order_of_sets() -> None:
    code = (
        "from crscore import Scorer\n"
        "scorer = Scorer(matcher='calibrated', analyzers='none')\n"
        f"result = scorer.score({PATCH!r}, {' '.join(REVIEW)!r})\n"
        "print(result.degrees.tobytes().hex())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONHASHSEED": "1"},
    )
    here = Scorer(matcher="calibrated", analyzers="none").score(PATCH, " ".join(REVIEW))
    assert bytes.fromhex(done.stdout.strip()) == here.degrees.tobytes()


def test_every_order_of_three_sentences_is_judged(matcher, cells) -> None:
    # Only the place in the comment may move a degree, and a later place never raises it.
    first = {
        order[0]: matcher.match(cells(order)).degrees[:, 0]
        for order in itertools.permutations(REVIEW)
    }
    for order in itertools.permutations(REVIEW):
        degrees = matcher.match(cells(order)).degrees
        for index, text in enumerate(order):
            assert (degrees[:, index] <= first[text] + 1e-6).all()
