"""Learning from human judgements: study -> samples -> boosted trees -> weights."""
