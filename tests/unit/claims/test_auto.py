"""The configured model, or `structural` without one."""

from collections.abc import Sequence

import pytest

from crscore import Scorer, plugins
from crscore.claims.auto import Auto
from crscore.diff import parse
from crscore.errors import DependencyError, GenerationError, ModelNotFoundError
from crscore.records import Claims, Diff
from crscore.settings import Config

STRUCTURAL = plugins.create("claims", "structural")
DIFFS = [parse.parse_diff("@@ -1 +1 @@\n-x = 1\n+x = 2\n", path="a.py")]


class Fails:
    identity = "model@1"

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)

    def generate(self, diffs: Sequence[Diff]) -> tuple[Claims, ...]:
        if self.errors:
            raise self.errors.pop(0)
        return tuple(Claims(references=()) for _ in diffs)


def test_without_a_model_it_is_structural_and_nothing_else() -> None:
    generator = plugins.create("claims", "auto")
    assert generator.identity == STRUCTURAL.identity


@pytest.mark.parametrize(
    "error", [GenerationError("no server"), DependencyError("vllm", "pip install vllm")]
)
def test_model_that_fails_is_replaced_and_reported(error: Exception) -> None:
    generator = Auto(model=Fails(error), fallback=STRUCTURAL)
    (claims,) = generator.generate(DIFFS)
    assert claims.references
    assert str(error) in claims.notes[0]
    assert generator.identity.startswith("structural@")


class Nameless(Fails):
    """Model that does not exist, so that it has no identity."""

    @property
    def identity(self) -> str:  # type: ignore[override]
        raise ModelNotFoundError("nosuch", "hf download nosuch")


def test_model_that_cannot_be_named_is_replaced_before_it_is_asked() -> None:
    generator = Auto(model=Nameless(), fallback=STRUCTURAL)
    assert generator.identity.startswith("structural@")
    assert "nosuch" in (generator.failure or "")


def test_model_that_is_not_there_is_replaced_in_a_whole_run(tmp_path) -> None:
    settings = Config(
        model="./nosuch", offline=True, encoder="hashing", analyzers="none", cache=False
    )
    result = Scorer(settings).score("@@ -1 +1 @@\n-x = 1\n+x = 2\n", "Why 2?", path="a.py")
    assert "claims:structural@" in result.signature
    assert any("nosuch" in note for note in result.notes)


def test_model_that_works_again_writes_again() -> None:
    generator = Auto(model=Fails(GenerationError("once")), fallback=STRUCTURAL)
    generator.generate(DIFFS)
    (claims,) = generator.generate(DIFFS)
    assert (claims.references, generator.identity) == ((), "model@1")


def test_server_is_chosen_by_its_address() -> None:
    made = plugins.create(
        "claims", "auto", {"engine": {"model": "m", "base_url": "http://127.0.0.1:9/v1"}}
    )
    assert made.identity.startswith("openai:m")


def test_key_alone_means_the_server_of_openai() -> None:
    made = plugins.create("claims", "auto", {"engine": {"model": "m", "api_key": "k"}})
    assert made.identity.startswith("openai:m")
