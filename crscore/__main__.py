"""Entry point of `python -m crscore`."""

from crscore.cli import main

main()
