from crscore.scoring import signature


def test_parts_keep_their_order() -> None:
    assert signature.render_signature({"b": "1", "a": "2"}) == "crscore|b:1|a:2"


def test_blanks_and_bars_in_values_cannot_split_the_line() -> None:
    assert signature.render_signature({"model": "a|b c\nd"}) == "crscore|model:a_b_c_d"
