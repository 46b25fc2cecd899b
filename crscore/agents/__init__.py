"""Interfaces for programs that use reviews: triage of remarks, an MCP server, scores for harnesses."""
