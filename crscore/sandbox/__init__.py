"""Runs untrusted programs without a network, within limits and with confined writes."""
