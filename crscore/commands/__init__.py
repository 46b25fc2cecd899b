"""Subcommands, one file each."""
