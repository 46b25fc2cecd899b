"""The published baselines: how alike a review and the human comment of its change are."""
