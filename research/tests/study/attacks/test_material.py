import numpy as np
import pytest
from msgspec.structs import replace

from crscore.diff import parse
from crscore.records import Claims, LineKind, PseudoReference, ReferenceKind
from crscore_lab.study.attacks import material
from crscore_lab.study.attacks.material import PHRASES, Wording
from crscore_lab.study.data.study import JudgedClaim, StudyChange
from research.tests.study.attacks.materials import PATCH


def change(*claims: str) -> StudyChange:
    return StudyChange(
        name="py:1",
        language="python",
        patch=PATCH,
        llm_claims=tuple(JudgedClaim(text=text) for text in claims),
        reviews=(),
    )


class Generator:
    def __init__(self, *structural: PseudoReference) -> None:
        self.structural = structural
        self.diffs = ()

    def generate(self, diffs) -> tuple[Claims, ...]:
        self.diffs = diffs
        return tuple(Claims(references=self.structural) for _ in diffs)


def made(one: StudyChange, *structural: PseudoReference) -> material.Material:
    return material.make_material(one, Generator(*structural))


def test_halves_of_a_bank_share_nothing() -> None:
    for name, bank in PHRASES.banks.items():
        training, test = ({text.casefold() for text in bank[half]} for half in Wording)
        assert training, name
        assert test, name
        assert not training & test, name
        assert len(training | test) == sum(map(len, bank.values())), name


@pytest.mark.parametrize(("name", "least"), [("praise", 12), ("advice", 20), ("instructions", 12)])
def test_templates_are_many(name: str, least: int) -> None:
    assert min(map(len, PHRASES.banks[name].values())) >= least


def test_names_are_those_of_the_changed_lines() -> None:
    found = made(change()).names
    # `import` and `socket` stand on context lines, `def` is a keyword, `is`, `the` stop words.
    assert found == (
        *("TIMEOUT", "open_line", "host", "print", "opened", "open_socket"),
        *("Retry", "slow"),
    )


def test_scraps_and_repeats_are_not_references() -> None:
    found = made(change("3.", "The timeout is 20.", "The timeout is 20."))
    assert found.claims["recorded"] == ("The timeout is 20.",)


def test_only_counted_structural_claims_are_used() -> None:
    many = tuple(
        PseudoReference(text=f"Claim number {i}.", kind=ReferenceKind.CLAIM, source="structural")
        for i in range(15)
    )
    found = made(change(), *many)
    assert len(found.claims["structural"]) == material.MAX_CLAIMS


def test_generator_gets_whole_files() -> None:
    patch, generator = "@@ -1 +1 @@\n-a = 1\n+a = 2\n", Generator()
    one = replace(change(), patch=patch, new_source="a = 2\n")
    material.make_material(one, generator)
    assert generator.diffs[0].files[0].old_source == "a = 1\n"


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
    assert material.lower_first(text) == expected


def test_sample_takes_as_many_as_there_are() -> None:
    rng = np.random.default_rng(0)
    assert sorted(material.sample(["a", "b"], 5, 9, rng)) == ["a", "b"]
    sizes = {len(material.sample(list("abcdef"), 2, 4, rng)) for _ in range(60)}
    assert sizes == {2, 3, 4}
