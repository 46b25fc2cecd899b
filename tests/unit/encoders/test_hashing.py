import subprocess
import sys

import numpy as np
import pytest

from crscore import plugins
from crscore.encoders import hashing
from crscore.errors import ConfigError


def test_vectors_of_texts_that_share_more_words_are_more_similar() -> None:
    encoder = hashing.Hashing()
    rows = encoder.encode(["rename the variable", "rename this variable", "add a test"])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_vector_of_an_inflected_word_is_similar_but_not_equal() -> None:
    rows = hashing.Hashing().encode(["renaming", "renamed", "lock"])
    assert 0 < rows[0] @ rows[1] < 1
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


def test_vector_of_punctuation_is_zero() -> None:
    assert not hashing.Hashing().encode(["?!"]).any()


def test_vectors_of_another_process_are_the_same_bytes() -> None:
    code = (
        "import sys; from crscore.encoders import hashing; "
        "encoder = hashing.Hashing(); "
        "sys.stdout.buffer.write(encoder.encode(['Check the null.']).tobytes())"
    )
    command = [sys.executable, "-c", code]
    other = subprocess.run(command, capture_output=True, check=True, env={"PYTHONHASHSEED": "7"})
    assert other.stdout == hashing.Hashing().encode(["Check the null."]).tobytes()


def test_created_encoder_has_the_requested_width() -> None:
    encoder = plugins.create("encoders", "hashing", {"model": "64"})
    assert encoder.encode(["a"]).shape == (1, 64)
    assert encoder.identity == "hashing:64"


def test_encoder_of_width_one_gives_finite_vectors() -> None:
    encoder = hashing.Hashing(dim=1)
    np.testing.assert_array_equal(encoder.encode(["a", "."]), [[1], [0]])


@pytest.mark.parametrize("width", ["0", "-1", "65537", "1.5", "", "٣", "9" * 5000])
def test_create_with_a_wrong_width_names_the_option(width: str) -> None:
    with pytest.raises(ConfigError, match=r"^encoder hashing: model: .*(`int`|range)"):
        plugins.create("encoders", "hashing", {"model": width})


def test_create_with_a_wrong_option_names_it() -> None:
    with pytest.raises(ConfigError, match=r"^encoder hashing: width: "):
        plugins.create("encoders", "hashing", {"width": "3"})
