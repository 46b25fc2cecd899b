"""Report formats, one file each: results to text."""
