"""Interface of GitHub's runners: variables, event, files and lines of the log."""
