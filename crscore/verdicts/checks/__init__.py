"""Checks of statements: each reads one relation from a sentence and looks it up in the code.

A check answers only where both are sure: the words leave no other reading, and the text that
decides is known as a whole.
"""

from itertools import chain
from typing import Final

from crscore.verdicts.checks import absence, changes, places, presence, proposals
from crscore.verdicts.checks.base import Check

CHECKS: Final[tuple[Check, ...]] = tuple(
    chain(
        places.CHECKS,
        absence.CHECKS,
        presence.CHECKS,
        changes.CHECKS,
        proposals.CHECKS,
    )
)
