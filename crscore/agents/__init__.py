"""Interfaces for other programs: triage of remarks, an MCP server, evaluations for harnesses."""
