"""Texts made to fool the score, and how often the reviews they compete with win."""
