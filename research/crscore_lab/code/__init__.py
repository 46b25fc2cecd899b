"""Studies of code metrics: correlation with people and with tests, paired comparisons."""
