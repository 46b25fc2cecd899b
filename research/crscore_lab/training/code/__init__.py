"""Training of the encoder that compares suggested code."""
