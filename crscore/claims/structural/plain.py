"""Topics of files without a grammar."""

from __future__ import annotations
from crscore.claims.structural.topics import Change
from crscore.claims.structural.sides import Part
from crscore.claims.structural.sentences import Told, plain_line
from crscore.syntax.outline import Kind

def of_file(file):
    return ()

def is_machine_made(file):
    return False

def of_lines(file, old, new):
    change = Change(file=file, name="", kind=Kind.FILE, noun="file", state="changed", old=Part(), new=Part(), added=new.changed, removed=old.changed)
    if change.size:
        yield change, [Told(plain_line(change))]
