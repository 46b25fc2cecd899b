"""Similarity thresholds by encoder and kind of claims.

Cosines are not comparable across encoders or kinds of claims.

For claims of a language model, the threshold is computed as in the paper. For each sentence of the
best review system (`gpt3.5`), the highest similarity to a pseudo-reference is taken; the threshold
is their mean (Naik et al., NAACL 2025, section 4). `crscore validate DATA --splitter paper` prints
this value.

For structural claims, the threshold was chosen on the human study, in ten folds grouped by change,
for the highest agreement with people (`benchmarks/tune_threshold.py`). The paper's procedure would
give a higher threshold, with which scores agree less with people (`benchmarks/README.md`).
"""

from crscore.errors import ConfigError

THRESHOLDS = {
    # The published value, from 9,869 changes without annotations.
    ("st:mixedbread-ai/mxbai-embed-large-v1", ""): 0.7314,
    # Computed by the paper's procedure on the human study.
    ("minilm:all-MiniLM-L6-v2", ""): 0.4941,
    # With this value, the correlation with people is 0.466 for the matcher `published`; it is 0.625
    # for `calibrated`.
    ("minilm:all-MiniLM-L6-v2", "structural"): 0.31,
    # The value is arbitrary, because the encoder for tests cannot be calibrated.
    ("hashing:256", ""): 0.5,
}
"""(name and model of the encoder, claim generator or "" for any other) -> threshold."""


def threshold_for(encoder: str, claims: str) -> float:
    """Return the threshold for an encoder and a claim generator.

    Args:
        encoder: Identity of the encoder: name, model and revision (`minilm:NAME@REVISION`).
        claims: Identity of the claim generator: name and version (`structural@1`).

    Returns:
        The threshold of the cosine, in (-1, 1).

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
    # The threshold of another encoder cannot be used, because cosines are not comparable across
    # encoders (docs/design/002-scores.md).
    expected = (
        f"none is known for {model}; give --threshold, or find one on rated reviews with "
        f"`crscore validate DATA --encoder {model}`"
    )
    raise ConfigError("threshold", "settings", expected)
