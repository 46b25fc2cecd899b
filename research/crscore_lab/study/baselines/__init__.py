"""Published baselines: similarity of a review to the human comment of its change."""
