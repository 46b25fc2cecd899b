"""`crscore audit` from sync to gate, on a month of a loopback GitHub."""

from __future__ import annotations
