"""Engines that run a language model, one file each; the file name is the engine's name."""
