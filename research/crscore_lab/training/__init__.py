"""Training on human judgements: study -> samples -> boosted trees -> weights."""
