"""Studies of the metrics against human judgements, and training of their weights."""
