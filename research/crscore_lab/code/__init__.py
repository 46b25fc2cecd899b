"""Studies of code metrics: correlation with human grades, and agreement with tests."""
