import subprocess
import sys

import numpy as np
import pytest

from crscore.encoders import hashing
from crscore.errors import ConfigError


def test_encode_of_texts_that_share_more_words_is_more_similar() -> None:
    encoder = hashing.create({})
    rows = encoder.encode(["rename the variable", "rename this variable", "add a test"])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_encode_of_an_inflected_word_is_similar_but_not_equal() -> None:
    rows = hashing.create({}).encode(["renaming", "renamed", "lock"])
    assert 0 < rows[0] @ rows[1] < 1
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_encode_of_punctuation_is_the_zero_vector() -> None:
    assert not hashing.create({}).encode(["?!"]).any()


def test_encode_in_another_process_gives_the_same_bytes() -> None:
    code = (
        "import sys; from crscore.encoders import hashing; "
        "sys.stdout.buffer.write(hashing.create({}).encode(['Check the null.']).tobytes())"
    )
    command = [sys.executable, "-c", code]
    other = subprocess.run(command, capture_output=True, check=True, env={"PYTHONHASHSEED": "7"})
    assert other.stdout == hashing.create({}).encode(["Check the null."]).tobytes()


@pytest.mark.parametrize("options", [{"dim": "64"}, {"model": "64"}])
def test_create_with_a_width_gives_it(options: dict[str, str]) -> None:
    encoder = hashing.create(options)
    assert encoder.encode(["a"]).shape == (1, 64)
    assert encoder.identity == "hashing:64"


def test_encode_at_width_one_stays_defined() -> None:
    np.testing.assert_array_equal(hashing.create({"dim": "1"}).encode(["a", "."]), [[1], [0]])


@pytest.mark.parametrize("dim", ["0", "-1", "65537", "1e3", "", "٣", "9" * 5000])
def test_create_with_a_wrong_width_names_it(dim: str) -> None:
    with pytest.raises(ConfigError, match="from 1 to 65536"):
        hashing.create({"dim": dim})


def test_create_with_an_unknown_option_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="dim, model, offline"):
        hashing.create({"width": "3"})


def test_create_with_offline_neither_true_nor_false_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="expected true or false, got 'yes'"):
        hashing.create({"offline": "yes"})
