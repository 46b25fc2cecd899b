import numpy as np

from crscore.encoders._pooling import ignored_ids, kept_tokens, pool, unit_rows

VOCABULARY = {"[PAD]": 0, "[CLS]": 1, "[SEP]": 2, "The": 3, "##t": 4, "t": 5, "loop": 6, ",": 7}
IGNORED = ignored_ids(VOCABULARY)


def keep(*texts: list[int]) -> list[list[int]]:
    """The kept tokens of padded texts, each given between its markers."""
    rows = [[1, *text, 2] for text in texts]
    ids = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    kept = kept_tokens(ids, ids != 0, (ids == 1) | (ids == 2), IGNORED)
    return [[int(token) for token in row[mask]] for row, mask in zip(ids, kept, strict=True)]


def test_ignored_ids_of_a_capitalised_stop_word_marks_it() -> None:
    assert IGNORED[3]


def test_ignored_ids_of_a_word_tail_spelled_like_a_stop_word_leaves_it() -> None:
    assert not IGNORED[4]
    assert IGNORED[5]


def test_ignored_ids_of_an_empty_vocabulary_is_empty() -> None:
    assert ignored_ids({}).shape == (0,)


def test_kept_tokens_of_two_texts_uses_each_texts_own_words() -> None:
    assert keep([3, 6], [6, 7, 5, 6]) == [[1, 6, 2], [1, 6, 6, 2]]


def test_kept_tokens_of_stop_words_only_are_all_tokens() -> None:
    assert keep([3, 7], [6, 6, 6]) == [[1, 3, 7, 2], [1, 6, 6, 6, 2]]


def test_kept_tokens_of_an_empty_text_are_its_markers() -> None:
    assert keep([]) == [[1, 2]]


def test_pooled_row_has_the_direction_of_the_mean() -> None:
    hidden = np.array([[[2, 0], [0, 2], [50, 0]]], dtype=np.float32)
    kept = np.array([[True, True, False]])
    np.testing.assert_allclose(pool(hidden, kept), [[0.5**0.5, 0.5**0.5]], rtol=1e-6)


def test_pooled_row_without_tokens_is_zero() -> None:
    hidden = np.ones((1, 2, 3), dtype=np.float32)
    assert pool(hidden, np.zeros((1, 2), dtype=bool)).tolist() == [[0, 0, 0]]


def test_unit_rows_leaves_a_zero_row_and_scales_the_rest() -> None:
    rows = np.array([[0, 0], [3, 4]], dtype=np.float32)
    np.testing.assert_allclose(unit_rows(rows), [[0, 0], [0.6, 0.8]], rtol=1e-6)
