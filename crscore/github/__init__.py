"""Client for GitHub's API: reads pull requests and writes one comment."""
