"""Checks of statements: each reads one relation from a sentence and looks it up in the code.

A check answers only where both are sure: the words leave no other reading, and the text that
decides is known as a whole.
"""
