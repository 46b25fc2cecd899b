"""The similarity threshold that belongs to each encoder.

A cosine means nothing across encoders, so the threshold is a property of the
encoder, the splitter and the kind of claims. The procedure is the paper's: the
mean, over the sentences of the best review system (`gpt3.5`), of their highest
similarity to a pseudo-reference (Naik et al., NAACL 2025, section 4).
"""

from __future__ import annotations

from crscore.errors import ConfigError

PUBLISHED = {
    # Published: over 9,869 changes that nobody annotated.
    ("st:mixedbread-ai/mxbai-embed-large-v1", ""): 0.7314,
    # `crscore validate DATA --claims recorded` prints it as "tau by the paper's procedure".
    ("minilm:all-MiniLM-L6-v2", ""): 0.4941,
    # The test encoder has no meaning to calibrate; half the range is as good as any.
    ("hashing:256", ""): 0.5,
}
"""(encoder's name and model, claim generator or "" for any) -> tau."""


def threshold_for(encoder: str, claims: str) -> float:
    """Look up the threshold of an encoder.

    Args:
        encoder: The encoder's identity: name, model and revision (`minilm:NAME@REVISION`).
        claims: The claim generator's name.

    Returns:
        Tau, in (-1, 1).

    Raises:
        ConfigError: None is known for this encoder.

    Example:
        >>> threshold_for("st:mixedbread-ai/mxbai-embed-large-v1@main", "structural")
        0.7314
    """
    model = encoder.split("@", maxsplit=1)[0]
    for key in ((model, claims), (model, "")):
        if key in PUBLISHED:
            return PUBLISHED[key]
    raise ConfigError(
        "threshold",
        "encoder",
        f"none is known for {model}; give --threshold, or find one with "
        f"`crscore validate DATA --encoder {model}`",
    )
