"""Runs linters, which manifests describe, on untrusted code."""
