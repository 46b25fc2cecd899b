"""Parts that all code hosts share: records, the HTTP client, the one comment."""
