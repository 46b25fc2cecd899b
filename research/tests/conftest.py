"""The isolation of crscore's own tests."""

from tests.conftest import _no_outside_settings, pytest_ignore_collect

__all__ = ["_no_outside_settings", "pytest_ignore_collect"]
