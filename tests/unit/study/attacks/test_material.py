import dataclasses

import numpy as np
import pytest

from crscore.diff import parse
from crscore.records import Claims, LineKind, PseudoReference, ReferenceKind
from crscore.study.attacks import (
    contrary,
    echo,
    injection,
    material,
    paraphrase,
    phrases,
    restating,
    stuffing,
)
from crscore.study.attacks.material import Bank, Wording
from crscore.study.study import JudgedClaim, StudyChange
from tests.unit.study.attacks.materials import PATCH


def banks() -> dict[str, Bank]:
    found = {}
    for module in (contrary, echo, injection, paraphrase, phrases, restating, stuffing):
        for name, value in vars(module).items():
            if isinstance(value, Bank):
                found[f"{module.__name__}.{name}"] = value
            if isinstance(value, dict):
                inner = {k: v for k, v in value.items() if isinstance(v, Bank)}
                found |= {f"{module.__name__}.{name}.{k}": v for k, v in inner.items()}
    return found


def change(claims: list[str], judged: list[tuple[str, str | None]]) -> StudyChange:
    return StudyChange(
        id="py:1",
        language="python",
        patch=PATCH,
        old_source=None,
        new_source=None,
        recorded=Claims(
            references=tuple(
                PseudoReference(text=text, kind=ReferenceKind.CLAIM, source="recorded")
                for text in claims
            )
        ),
        edited=(),
        judged=tuple(
            JudgedClaim(text=text, correctness=correctness, annotator="a")
            for text, correctness in judged
        ),
        added=(),
        reviews=(),
    )


def made(one: StudyChange, structural: tuple[PseudoReference, ...] = ()) -> material.Material:
    return material.make_material(one, parse.parse_diff(PATCH, language="python"), structural)


@pytest.mark.parametrize("name", banks())
def test_halves_of_a_bank_share_nothing(name: str) -> None:
    bank = banks()[name]
    assert bank.training
    assert bank.test
    training, test = ({text.casefold() for text in half} for half in bank)
    assert not training & test
    assert len(training | test) == len(bank.training) + len(bank.test)


@pytest.mark.parametrize(
    ("bank", "least"),
    [
        (phrases.PRAISE, 12),
        (phrases.BOILERPLATE, 20),
        (injection.INJECTIONS, 12),
        (restating._FRAMES, 8),
    ],
)
def test_templates_are_many(bank: Bank, least: int) -> None:
    assert min(map(len, bank)) >= least


def test_names_are_those_of_the_changed_lines() -> None:
    found = made(change([], [])).names
    # `import` and `socket` stand on context lines, `def` is a keyword, `is`, `the` stop words.
    assert found == (
        *("TIMEOUT", "open_line", "host", "print", "opened", "open_socket"),
        *("Retry", "slow"),
    )


def test_claims_that_people_judged_wrong_are_not_restated() -> None:
    texts = ["The timeout is 20.", "The timeout is 30.", "A line is gone."]
    judged = [(texts[0], "correct"), (texts[1], "incorrect"), (texts[2], None)]
    assert made(change(texts, judged)).summaries == (texts[0],)


def test_claims_that_nobody_judged_are_restated() -> None:
    assert made(change(["The timeout is 20."], [])).summaries == ("The timeout is 20.",)


@pytest.mark.parametrize(
    "text",
    [
        "This implies that the start is slower.",
        "It could break older clients.",
        "The change suggests a new policy.",
    ],
)
def test_consequence_is_no_summary(text: str) -> None:
    found = made(change([text], [(text, "correct")]))
    assert (found.summaries, found.recorded) == ((), (text,))


def test_scraps_and_repeats_are_no_references() -> None:
    found = made(change(["3.", "The timeout is 20.", "The timeout is 20."], []))
    assert found.recorded == ("The timeout is 20.",)


def test_only_counted_structural_claims_are_used() -> None:
    many = tuple(
        PseudoReference(text=f"Claim number {i}.", kind=ReferenceKind.CLAIM, source="structural")
        for i in range(15)
    )
    found = made(change([], []), many)
    assert len(found.structural) == material.MAX_CLAIMS


def test_structural_implications_are_echoed_and_not_restated() -> None:
    claim = PseudoReference(text="It adds a.", kind=ReferenceKind.CLAIM, source="structural")
    both = (claim, dataclasses.replace(claim, text="Test a.", kind=ReferenceKind.IMPLICATION))
    found = made(change([], []), both)
    assert found.structural == ("It adds a.", "Test a.")
    assert found.structural_summaries == ("It adds a.",)


def test_changed_lines_are_of_one_side() -> None:
    parsed = parse.parse_diff(PATCH, language="python")
    removed = material.changed_lines(parsed, LineKind.REMOVED)
    assert removed == ("TIMEOUT = 10", "def open_line(host):", 'print("opened")')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The timeout", "the timeout"),
        ("A timeout", "a timeout"),
        ("Now, it", "now, it"),
        ("I think", "I think"),
        ("TIMEOUT is", "TIMEOUT is"),
        ("`Foo` is", "`Foo` is"),
        ("parseHeader is", "parseHeader is"),
        ("", ""),
    ],
)
def test_only_a_plain_first_word_gets_a_small_letter(text: str, expected: str) -> None:
    assert material.lowered(text) == expected


def test_some_takes_as_many_as_there_are() -> None:
    rng = np.random.default_rng(0)
    assert sorted(material.some(["a", "b"], 5, 9, rng)) == ["a", "b"]
    sizes = {len(material.some(list("abcdef"), 2, 4, rng)) for _ in range(60)}
    assert sizes == {2, 3, 4}


def test_seen_leaves_out_unseen_forms_in_training_alone() -> None:
    variants = (material.Variant("old", "x"), material.Variant("new", "y"))
    assert material.seen(variants, {"new"}, Wording.TRAINING) == variants[:1]
    assert material.seen(variants, {"new"}, Wording.TEST) == variants
