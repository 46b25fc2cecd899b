"""Engines: what runs a language model. One file each; the file name is the engine's name."""
