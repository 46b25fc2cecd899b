"""Reports of an audit: a folder of static pages, and short texts."""
