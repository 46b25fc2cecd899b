"""Use of reviews by programs: an action for each remark, an MCP server, and scorers."""
