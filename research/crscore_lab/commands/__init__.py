"""Subcommands of crscore, which finds them by the entry points of crscore-lab."""
