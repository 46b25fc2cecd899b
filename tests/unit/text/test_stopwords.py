from crscore.text.stopwords import ENGLISH, IGNORED_PIECES


def test_english_has_the_179_entries_of_the_published_list() -> None:
    assert len(ENGLISH) == 179


def test_english_holds_pieces_of_contractions_but_no_content_word() -> None:
    assert {"the", "don", "ll", "t", "shouldn't"} <= ENGLISH
    assert not {"function", "null", "would", "could", "get"} & ENGLISH


def test_ignored_pieces_add_full_stop_and_comma_only() -> None:
    assert sorted(IGNORED_PIECES - ENGLISH) == [",", "."]
