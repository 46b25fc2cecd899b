"""Learning of what judges suggested code."""
