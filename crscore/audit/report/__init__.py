"""Report of an audit: a static folder, and short texts."""
