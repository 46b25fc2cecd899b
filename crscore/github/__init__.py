"""GitHub, asked over its web interface: pull requests read, and one comment written."""
