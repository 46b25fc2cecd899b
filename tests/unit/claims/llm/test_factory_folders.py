from crscore.claims.llm.factory import _trained_prompt


def test_folder_that_does_not_exist_has_no_prompt() -> None:
    untrained = _trained_prompt({})

    for name in ("model", "lora"):
        assert _trained_prompt({name: "~no-such-user-here/model"}) == untrained
