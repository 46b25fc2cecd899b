import pytest

from crscore.errors import ConfigError
from crscore.scoring import thresholds


def test_published_model_has_the_published_threshold() -> None:
    # Naik et al., NAACL 2025, section 4: tau_best = 0.7314.
    name = "st:mixedbread-ai/mxbai-embed-large-v1@abc"
    assert thresholds.threshold_for(name, "recorded@12345678") == 0.7314


def test_unknown_model_says_how_to_find_one() -> None:
    with pytest.raises(ConfigError, match="crscore validate DATA --encoder st:mine"):
        thresholds.threshold_for("st:mine@1", "structural")


def test_structural_claims_have_another_threshold() -> None:
    name = "minilm:all-MiniLM-L6-v2@53aa5117"
    structural = thresholds.threshold_for(name, "structural@1")
    assert structural != thresholds.threshold_for(name, "recorded@12345678")
    assert thresholds.threshold_for(name, "structural@2") == structural
