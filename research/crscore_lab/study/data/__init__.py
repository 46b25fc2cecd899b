"""Input of a study: rated reviews, comments, saved runs, and their splits."""
