from crscore.claims.model import read_card
from crscore.claims.model_options import ModelOptions


def test_folder_that_does_not_exist_has_no_card() -> None:
    for option in ("model", "lora"):
        options = ModelOptions(engine={option: "~no-such-user-here/model"})
        assert read_card(options) == read_card(ModelOptions())
