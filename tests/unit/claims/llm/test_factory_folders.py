from crscore.claims.llm.factory import _trained_prompt


def test_home_of_nobody_has_no_prompt_and_is_no_bug() -> None:
    untrained = _trained_prompt({})

    for name in ("model", "lora"):
        assert _trained_prompt({name: "~no-such-user-here/model"}) == untrained
