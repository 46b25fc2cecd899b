"""Interface of GitHub's runners: variables, event, files and log commands."""
