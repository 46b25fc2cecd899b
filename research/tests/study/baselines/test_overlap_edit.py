import pytest

from crscore_lab.study.baselines import overlap


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        ("kitten", "sitting", 3 / 7),  # two letters replaced, one added
        ("ab", "ba", 1.0),  # a swap is two edits
        ("Loop", "loop", 1 / 4),
        ("loop ", "loop", 1 / 5),
        ("same", "same", 0.0),
        ("", "abc", 1.0),
        ("abc", "", 1.0),
        ("", "", 0.0),
        ("日本", "日本語", 1 / 3),  # characters, not bytes
    ],
)
def test_score_is_edits_over_the_longer_length(
    hypothesis: str, reference: str, expected: float
) -> None:
    [found] = overlap.edit_distance([hypothesis], [reference])
    assert found == pytest.approx(expected)
