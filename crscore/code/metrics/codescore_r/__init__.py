"""CodeScore-R: similarity of sketches under a contrastively trained encoder."""
