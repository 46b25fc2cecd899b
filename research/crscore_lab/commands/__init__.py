"""Commands that crscore finds by their entry points."""
