"""Estimates pass@k without bias."""

from collections.abc import Mapping, Sequence

import numpy as np


def estimate_pass_at_k(samples: int, passed: int, k: int) -> float:
    """Estimate the chance that at least one of k samples of a problem passes.

    Args:
        samples: Number n of judged samples, at least `k`.
        passed: Number c of samples that passed.
        k: Number of samples that are drawn, at least 1.

    Returns:
        1 - C(n - c, k) / C(n, k), in [0, 1].

    Source:
        Chen et al. 2021, arXiv:2107.03374, equation 1 and figure 3.

    Example:
        >>> estimate_pass_at_k(2, 1, 1), estimate_pass_at_k(2, 1, 2)
        (0.5, 1.0)
    """
    # Any k samples contain one that passes; the product would have a factor of 0 or less.
    if samples - passed < k:
        return 1.0
    # This is the form of figure 3, because the binomials of many samples overflow.
    return float(1.0 - np.prod(1.0 - k / np.arange(samples - passed + 1, samples + 1)))


def pass_at_k(counts: Sequence[tuple[int, int]], ks: Sequence[int]) -> Mapping[str, float]:
    """Average the estimates over problems.

    Args:
        counts: Numbers of judged and of passed samples of each problem; a problem without samples
            counts as failed.
        ks: Values of k.

    Returns:
        The mean estimate under the key `pass@k`, for each k such that every problem with samples
        has at least k samples. Other values of k are left out.

    Example:
        >>> pass_at_k([(2, 1)], [1, 2, 10])
        {'pass@1': 0.5, 'pass@2': 1.0}
    """
    attempted = [pair for pair in counts if pair[0] > 0]
    fewest = min((samples for samples, _ in attempted), default=0)
    # `code_eval` leaves out these values of k, too:
    # https://github.com/huggingface/evaluate/blob/main/metrics/code_eval/code_eval.py
    return {
        f"pass@{k}": sum(estimate_pass_at_k(*pair, k) for pair in attempted) / len(counts)
        for k in ks
        if k <= fewest
    }
