"""Matchers, one file each: does this sentence address this pseudo-reference?"""
