# pylint: skip-file
# ruff: noqa
# flake8: noqa
# ruff: file-ignore[F401]
"""Every comment that asks a tool of Python to look away, each beside something to see."""

import json  # noqa
import os  # noqa: F401
import pickle  # ruff: ignore[F401]
import subprocess  # nosec


def load(data, seen=[]):  # noqa: B006
    # pylint: disable=all
    seen.append(data)
    return pickle.loads(data)  # nosec


def run(command):
    # nosec: B602
    return subprocess.call(command, shell=True)  # nosec B602  # noqa: S602


# ruff: disable[E722, F841]
def close(handle):  # pylint: disable=bare-except
    try:
        handle.close()
    except:  # noqa: E722  # pylint: disable=W0702
        pass  # nosec
    unused = 1  # noqa


# ruff: enable[E722, F841]


# pylint: disable=too-many-arguments,R0913
def draw(x, y, width, height, colour, style):  # pylint: disable=too-many-arguments
    return x, y, width, height, colour, style  # lizard forgives
