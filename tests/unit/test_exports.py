import inspect

import crscore


def test_all_lists_exactly_the_public_names() -> None:
    public = {
        name
        for name, value in vars(crscore).items()
        if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert set(crscore.__all__) - {"__version__"} == public
