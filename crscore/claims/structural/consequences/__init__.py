"""Consequences of a change that a reviewer should ask about, each proven by both versions."""
