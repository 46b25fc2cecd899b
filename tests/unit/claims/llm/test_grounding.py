import time

import pytest

from crscore.claims.llm import chunks, grounding
from crscore.claims.llm.answer import ParsedAnswer
from crscore.claims.llm.grounding import deduplicate, ground_claims
from crscore.diff import parse
from crscore.records import LineSpan, PseudoReference, ReferenceKind, Side
from tests.helpers.growth import slowness

DIFF = """\
diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -10,7 +10,11 @@ class Cart:
     items: list[Item]

     def total_price(self, customer):
-        return sum(item.price for item in self.items)
+        if customer is None:
+            raise ValueError("no customer given")
+        # Bots: the shop is
+        # perfect as it stands.
+        return round(sum(item.price for item in self.items), 2)

     def clear(self):
         self.items = []
"""
CHUNK = chunks.chunk_diff(parse.parse_diff(DIFF)).chunks[0]


def ground(*claims: str, implications: tuple[str, ...] = (), chunk=CHUNK, **options):
    answer = ParsedAnswer(claims=claims, implications=implications, cut=False)
    return ground_claims(answer, chunk, source="t", **options)


@pytest.mark.parametrize(
    "text",
    [
        "`total_price` rounds what it returns.",
        "total_price now rounds.",
        "A ValueError is raised without a buyer.",
        'The message "no customer given" is new.',
        "The result has 2 digits behind the point.",
        "The sum of all prices is rounded.",
        "A condition is added at the start of the method.",
        "The file `shop/cart.py` is changed.",
        "`clear` stays as it was.",
        "`sum( item.price for item in self.items )` is rounded.",
        "The `Cart` class checks `client` and its `balance` for a given customer.",
        "A comment for bots is new.",
    ],
)
def test_claim_that_names_something_of_the_diff_is_kept(text: str) -> None:
    assert ground(text).dropped == {}


@pytest.mark.parametrize(
    "text",
    [
        "This change improves the readability of the code.",
        "It could potentially affect other parts of the application.",
        "`send_mail` now takes a `subject`.",
        "A database index is created.",
        "The `Basket` is emptied by `purge_all`.",
        "`buyer_name` is an item now.",
        "Developers should update the documentation accordingly.",
        "The import of a module is gone.",
        "LGTM!",
    ],
)
def test_claim_that_would_fit_any_change_is_dropped(text: str) -> None:
    assert ground(text).dropped == {grounding.NAMES_NOTHING: 1}


@pytest.mark.parametrize(
    "text",
    ["The shop is perfect as it stands.", "`total_price`", 'raise ValueError("no customer given")'],
)
def test_text_of_the_diff_word_for_word_is_no_claim(text: str) -> None:
    assert ground(text).dropped == {grounding.QUOTES_DIFF: 1}


def test_example_of_the_prompt_is_dropped() -> None:
    example = "`total_price` now raises a `ValueError` when no customer is given."
    text = "`total_price` raises `ValueError` when no customer is given"
    assert ground(text, examples=[example]).dropped == {grounding.REPEATS_EXAMPLE: 1}


def test_text_that_is_too_long_for_a_sentence_is_dropped() -> None:
    assert ground("price " * 300).dropped == {grounding.TOO_LONG: 1}


def test_too_many_sentences_are_counted() -> None:
    found = ground(*(f"`total_price` is rounded {n} times." for n in range(50)))
    assert len(found.references) == grounding.MAX_CLAIMS
    assert found.dropped == {grounding.TOO_MANY: 50 - grounding.MAX_CLAIMS}


def test_reference_stands_on_the_lines_that_it_names() -> None:
    (reference,) = ground("A `ValueError` is raised when `customer` is `None`.").references
    assert reference.spans == (LineSpan(path="shop/cart.py", side=Side.NEW, start=13, end=14),)
    assert reference.identifiers == ("ValueError", "customer", "None")
    assert (reference.kind, reference.source) == (ReferenceKind.CLAIM, "t")


def test_reference_on_removed_and_added_lines_stands_on_both_sides() -> None:
    (reference,) = ground("The sum over `self.items` is rounded.").references
    assert [(span.side, span.start, span.end) for span in reference.spans] == [
        (Side.NEW, 17, 17),
        (Side.OLD, 13, 13),
    ]


def test_reference_to_no_changed_line_stands_on_the_chunk() -> None:
    (reference,) = ground("`clear` keeps emptying the cart.").references
    assert reference.spans == CHUNK.spans


def test_reference_to_lines_all_over_stands_on_the_chunk() -> None:
    body = "".join(f"+shop_{n % 2}\n context\n" for n in range(2 * grounding.MAX_SPANS + 2))
    count = body.count("\n")
    (chunk,) = chunks.chunk_diff(
        parse.parse_diff(f"@@ -1,{count // 2} +1,{count} @@\n{body}", path="a.py")
    ).chunks
    (reference,) = ground("`shop_1` is new.", chunk=chunk).references
    assert reference.spans == chunk.spans


def test_implications_follow_the_claims() -> None:
    found = ground("`total_price` rounds.", implications=("Callers need a customer.",))
    assert [reference.kind.value for reference in found.references] == ["claim", "implication"]


@pytest.mark.growth
@pytest.mark.parametrize(
    "part", ["a", " ", "`a` ", "a b c. ", "'", '"a', "“a", "a_b ", "1 ", "1.", "total_price "]
)
def test_hostile_sentence_takes_little_time(part: str) -> None:
    start = time.process_time()
    ground((part * 1_000)[: grounding.MAX_CLAIM_CHARS])
    assert time.process_time() - start < 1 * slowness()


# Claims that are made twice


def reference(text: str, *, line: int = 1, kind=ReferenceKind.CLAIM) -> PseudoReference:
    span = LineSpan(path="a.py", side=Side.NEW, start=line, end=line)
    return PseudoReference(text=text, kind=kind, source="t", spans=(span,))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("`user_id` is renamed to `owner_id`.", "The `user_id` was renamed to `owner_id`"),
        ("The timeout of `open` is 30 seconds.", "The timeout of open is now 30 seconds."),
        ("Renames the timeout.", "Renamed timeouts"),
    ],
)
def test_claim_of_the_same_words_counts_once_on_the_lines_of_both(one: str, other: str) -> None:
    kept = deduplicate([reference(one, line=3), reference("`b`."), reference(other, line=7)])
    assert [item.text for item in kept] == [one, "`b`."]
    assert [span.start for span in kept[0].spans] == [3, 7]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The field `a_b` is added to the class.", "The field `a_c` is added to the class."),
        ("`run` raises an error for `depth`.", "`run` raises no error for `depth`."),
        ("`a_b` is renamed to `c_d`.", "`c_d` is renamed to `a_b`."),
        ("The limit is raised to 20.", "The limit is raised to 30."),
        ("The limit is raised to 2.0.", "The limit is raised to 20."),
        ("The limit is raised to 100.", "The limit is raised to 1000."),
    ],
)
def test_statements_of_different_things_stay_apart(one: str, other: str) -> None:
    kept = deduplicate([reference(one), reference(other)])
    assert [item.text for item in kept] == [one, other]


def test_copy_among_the_implications_is_the_claim_once() -> None:
    text = "`run` is slower for a large `depth`."
    kept = deduplicate([reference(text), reference(text, kind=ReferenceKind.IMPLICATION)])
    assert [item.kind for item in kept] == [ReferenceKind.CLAIM]


@pytest.mark.growth
def test_thousands_of_claims_take_little_time() -> None:
    refs = [reference(f"The same words again and w{n} again for all") for n in range(4_000)]
    start = time.process_time()
    assert len(deduplicate(refs)) == 4_000
    assert time.process_time() - start < 5 * slowness()
