import pytest

from crscore.errors import ConfigError
from crscore.reports import _options


@pytest.mark.parametrize(("options", "value"), [({}, False), ({"color": "true"}, True)])
def test_flag_is_read(options: dict[str, str], value: bool) -> None:
    assert _options.flag(options, "color") is value


def test_wrong_flag_is_refused_by_name() -> None:
    with pytest.raises(ConfigError, match="color: true or false, not 'yes'"):
        _options.flag({"color": "yes"}, "color")


@pytest.mark.parametrize(("given", "used"), [("100", 100), ("5", 60), ("9999", 160), ("80", 80)])
def test_width_is_kept_in_range(given: str, used: int) -> None:
    assert _options.columns({"width": given}, 80, 60, 160) == used


@pytest.mark.parametrize("given", ["0", "-3", "wide", "", "²"])
def test_wrong_width_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="width"):
        _options.columns({"width": given}, 80, 60, 160)
