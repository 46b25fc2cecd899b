"""Code that all hosts share: records, the HTTP client and the writer of crscore's comment."""
