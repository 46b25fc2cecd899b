import pytest

from crscore_lab import formats


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (formats.number(None), "–"),
        (formats.number(-0.0001), "0.000"),
        (formats.number(2.917, 2), "2.92"),
        (formats.signed(None), "–"),
        (formats.signed(0.0), "+0.000"),
        (formats.signed(-0.0123), "-0.012"),
        (formats.ranged(0.5, None, None), "0.500"),
        (formats.ranged(0.5, 0.4, 0.6), "0.500 [0.400, 0.600]"),
        (formats.signed_interval(-0.1, 0.2), "[-0.100, +0.200]"),
        (formats.signed_interval(None, None), "–"),
        (formats.percent(0.7634), "76 %"),
        (formats.percent(0.0043), "0.4 %"),
        (formats.percent(0.0), "0 %"),
        (formats.percent(None), "–"),
        (formats.probability(0.00001), "< 0.001"),
        (formats.probability(0.0404), "0.040"),
        (formats.probability(None), "–"),
        (formats.p_value(0.0404), "p = 0.040"),
        (formats.p_value(0.00001), "p < 0.001"),
        (formats.whole(1234), "1,234"),
        (formats.whole(None), "–"),
        (formats.threshold(0.2), "0.20"),
        (formats.threshold(0.4941), "0.4941"),
        (formats.count(1, "pair"), "1 pair"),
        (formats.count(1234, "pair"), "1,234 pairs"),
    ],
)
def test_numbers_are_written_for_people(written: str, expected: str) -> None:
    assert written == expected
