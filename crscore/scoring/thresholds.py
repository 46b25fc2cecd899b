"""Similarity thresholds by encoder and kind of claims.

Cosines are not comparable across encoders or kinds of claims.

For claims of a language model the procedure is the paper's: the mean, over the sentences of
the best review system (`gpt3.5`), of their highest similarity to a pseudo-reference (Naik et
al., NAACL 2025, section 4). `crscore validate DATA --splitter paper` prints that value.

For structural claims the value was chosen on the human study in ten folds grouped by change, for
the highest agreement with people (`benchmarks/tune_threshold.py`). For these claims, the paper's
procedure gives a higher value, which agrees less with people (`benchmarks/README.md`).
"""

from crscore.errors import ConfigError

THRESHOLDS = {
    # Published, from 9,869 changes without annotations.
    ("st:mixedbread-ai/mxbai-embed-large-v1", ""): 0.7314,
    # The paper's procedure on the human study.
    ("minilm:all-MiniLM-L6-v2", ""): 0.4941,
    # With this value, the published rule's agreement with people is 0.466; the calibrated matcher's
    # is 0.625.
    ("minilm:all-MiniLM-L6-v2", "structural"): 0.31,
    # The test encoder cannot be calibrated, so the value is arbitrary.
    ("hashing:256", ""): 0.5,
}
"""(encoder's name and model, claim generator or "" for any other) -> tau."""


def threshold_for(encoder: str, claims: str) -> float:
    """Look up the threshold of an encoder.

    Args:
        encoder: Identity of the encoder: name, model and revision (`minilm:NAME@REVISION`).
        claims: Identity of the claim generator: name and version (`structural@1`).

    Returns:
        Tau, in (-1, 1).

    Raises:
        ConfigError: No threshold is known for this encoder.

    Example:
        >>> threshold_for("st:mixedbread-ai/mxbai-embed-large-v1@main", "structural@1")
        0.7314
    """
    model = encoder.partition("@")[0]
    for key in ((model, claims.partition("@")[0]), (model, "")):
        if key in THRESHOLDS:
            return THRESHOLDS[key]
    # Another encoder's threshold cannot be used: cosines are not comparable across encoders
    # (docs/design/002-scores.md).
    expected = (
        f"none is known for {model}; give --threshold, or find one on rated reviews with "
        f"`crscore validate DATA --encoder {model}`"
    )
    raise ConfigError("threshold", "settings", expected)
