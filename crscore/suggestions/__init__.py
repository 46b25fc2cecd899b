"""Effects of suggestion blocks on the commented code, judged by syntax trees alone."""
