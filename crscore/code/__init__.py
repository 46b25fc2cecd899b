"""Judgement of suggested code: metrics against references, execution against tests."""
