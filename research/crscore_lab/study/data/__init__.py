"""Input of a study: rated reviews, comments and saved runs; splits of the reviews into folds."""
