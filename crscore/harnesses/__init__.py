"""Evaluation harnesses in which a review is scored: inspect_ai, promptfoo, OpenTelemetry."""
