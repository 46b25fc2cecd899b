import importlib.resources
import json as standard
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from crscore.records import Comment, Flag, Result, Stance, Subject
from crscore.reports import json
from tests.helpers import results

SCHEMA = standard.loads(
    (importlib.resources.files("crscore") / "schemas" / "result.schema.json").read_text("utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)


def render(*inputs: Result) -> Any:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    document = standard.loads(json.create()(inputs), parse_constant=refuse)
    VALIDATOR.validate(document)
    return document


def schema_objects(node: object) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [actual for item in node for actual in schema_objects(item)]
    if not isinstance(node, dict):
        return []
    own = [node] if node.get("type") == "object" else []
    return own + [actual for item in node.values() for actual in schema_objects(item)]


def test_schema_is_itself_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_schema_is_named_as_the_documents_say() -> None:
    assert SCHEMA["$id"] == json.SCHEMA


def test_schema_describes_every_field_and_takes_no_other() -> None:
    for item in schema_objects(SCHEMA):
        assert item["additionalProperties"] is False
        assert sorted(item["required"]) == sorted(item["properties"])
        for name, field in item["properties"].items():
            assert field.get("description"), name


@pytest.mark.parametrize(
    "make",
    [
        results.small,
        results.review,
        results.topics,
        results.abstained,
        results.hostile,
        results.large,
        results.flagged,
        lambda: results.learned(results.abstained()),
        lambda: results.learned(results.hostile()),
        results.hostile_useful,
        results.decided,
    ],
)
def test_result_keeps_to_the_schema(make) -> None:
    assert render(make())["schema"] == "urn:crscore:result:8"


def test_several_results_are_a_list_under_one_key() -> None:
    document = render(results.review(), results.abstained())
    assert [item["scores"]["reason"] is None for item in document["results"]] == [True, False]


def test_scores_come_with_their_counts() -> None:
    # By hand: 4 of 6 and 4 of 7.
    assert render(results.review())["scores"] == {
        "conciseness": pytest.approx(2 / 3),
        "comprehensiveness": pytest.approx(4 / 7),
        "relevance": pytest.approx(8 / 13),
        "matched_sentences": 4,
        "sentences": 6,
        "matched_references": 4,
        "references": 7,
        "reason": None,
    }


def test_abstention_is_null_with_a_reason() -> None:
    scores = render(results.abstained())["scores"]
    assert (scores["relevance"], scores["conciseness"], scores["comprehensiveness"]) == (None,) * 3
    assert scores["reason"] == "there are no sentences to compare with"


def test_schema_refuses_a_null_score_without_a_reason() -> None:
    document = render(results.abstained())
    document["scores"]["reason"] = None
    assert not VALIDATOR.is_valid(document)


def test_schema_refuses_an_unknown_field() -> None:
    document = render(results.small()) | {"extra": 1}
    assert not VALIDATOR.is_valid(document)


def test_reference_is_listed_completely() -> None:
    assert render(results.review())["references"][3] == {
        "index": 3,
        "text": "The check that `body` is not empty was removed from `parse`.",
        "kind": "claim",
        "source": "structural",
        "spans": [{"path": "src/shop/client.py", "side": "old", "start": 41, "end": 41}],
        "identifiers": ["parse", "body"],
        "reading": "The check that `body` is not empty was removed from `parse`.",
        "weight": 0.8,
        "counted": True,
        "topic": None,
        "best_sentence": 3,
        "similarity": 0.8644,
        "degree": 1.0,
        "matched": True,
    }


def test_every_reference_of_a_topic_is_given_with_it() -> None:
    document = render(results.topics())
    removed = {
        "name": "old_fetch",
        "noun": "function",
        "state": "removed",
        "lines": 2,
        "place": {"path": "src/shop/legacy.py", "side": "old", "start": 1, "end": 2},
    }
    assert [item["topic"] for item in document["references"][4:]] == [removed, removed, None]


def test_sentence_is_listed_completely() -> None:
    assert render(results.review())["sentences"][4] == {
        "index": 4,
        "text": "Looks great overall!",
        "comment": 2,
        "hidden": False,
        "proposal": False,
        "flag": None,
        "reading": None,
        "best_reference": 6,
        "similarity": 0.2011,
        "degree": 0.0,
        "matched": False,
    }


def test_usefulness_and_readings_are_given_with_their_probabilities() -> None:
    reading = results.make_reading(Stance.PROBLEM, 0.61, subject=Subject.CLAIM, reference=1)
    document = render(results.useful(results.review(), reading))
    assert document["sentences"][0]["reading"] == {
        "stance": "names a problem",
        "actionable": 0.61,
        "about": 0.9,
        "subject": "a claim",
        "reference": 1,
    }
    assert document["remarks"][0] == {
        "comment": 0,
        "sentences": [0],
        "stance": "names a problem",
        "actionable": 0.61,
        "importance": pytest.approx(3.6),
        "level": "critical",
        "about": 0.9,
        "worth": pytest.approx(3.44),
        "specific": 0.6,
        "acts": 0.4,
        "receipt": None,
        "labelled": None,
        "reading": None,
    }
    whole = document["usefulness"]
    assert whole["shares"][1] == {"remark": 1, "value": 0.2}
    assert (whole["standing"], whole["about"], whole["against"]) == (83, 0.91, results.AGAINST)
    assert whole["aspects"]["relevant"] == 0.88
    assert [item["usefulness"]["standing"] for item in document["comments"]] == [61] * 4
    assert [item["usefulness"]["word"] for item in document["reviews"]] == ["little use"] * 3


def test_remark_with_a_verdict_has_its_proof() -> None:
    confirmed, refuted, *others = render(results.decided())["remarks"]
    assert confirmed["receipt"]["verdict"] == "confirmed"
    assert {str(item["receipt"]) for item in others} == {"None"}
    assert refuted["receipt"] == {
        "verdict": "refuted",
        "says": "`fetch` tries three times",
        "fact": "`fetch` tries `retries` times in line 13.",
        "lines": [{"path": "src/shop/client.py", "side": "new", "start": 13, "end": 13}],
    }


def test_result_without_weights_has_nulls() -> None:
    document = render(results.review())
    assert (document["usefulness"], document["remarks"]) == (None, [])
    assert {item["usefulness"] for item in document["comments"] + document["reviews"]} == {None}


def test_flagged_sentence_is_listed_with_its_flag() -> None:
    actual = render(results.flagged())["sentences"]
    assert [(item["flag"], item["hidden"]) for item in actual] == [
        (None, False),
        ("is no sentence", False),
        ("restates the change", False),
        (None, False),
        ("repeats an earlier sentence", False),
        ("is hidden from readers", True),
    ]


def test_schema_knows_every_flag() -> None:
    assert set(SCHEMA["$defs"]["Flag"]["enum"]) == set(Flag)


def test_degrees_are_listed_like_the_similarities() -> None:
    document = render(results.learned(results.small()))
    assert document["threshold"] is None
    # Half of each cosine, with six decimals.
    assert document["degrees"] == [[0.41075, 0.1], [0.155, 0.0502], [0.33, 0.025]]
    assert document["similarity"] == [[0.8215, 0.2], [0.31, 0.1004], [0.66, 0.05]]
    first = document["sentences"][0]
    assert (first["degree"], first["similarity"], first["matched"]) == (0.41075, 0.8215, True)


def test_schema_refuses_a_degree_above_one() -> None:
    document = render(results.small())
    document["degrees"][0][0] = 1.01
    assert not VALIDATOR.is_valid(document)


def test_comment_is_listed_with_scope_and_suggestions() -> None:
    actual = render(results.review())["comments"][0]
    comment = actual["comment"]
    assert actual["scope"] == {"kind": "hunk", "path": "src/shop/client.py", "hunk": 0}
    assert (comment["start_line"], comment["line"], comment["side"]) == (13, 15, "new")
    assert actual["suggestions"] == [
        {
            "code": "            except requests.RequestException:\n",
            "applies": True,
            "parses": True,
            "effect": "behaviour",
            "reason": None,
        }
    ]


def test_similarity_is_rounded_to_six_decimals() -> None:
    document = render(results.small())
    assert document["similarity"] == [[0.8215, 0.2], [0.31, 0.1004], [0.66, 0.05]]


def test_changed_files_are_counted() -> None:
    files = render(results.review())["diff"]["files"]
    assert [(item["path"], item["added"], item["removed"]) for item in files] == [
        ("src/shop/client.py", 7, 3),
        ("config/settings.toml", 2, 1),
        ("src/shop/legacy.py", 0, 2),
    ]


def without_surrogates(text: str) -> str:
    """Return a text as JSON carries it, without half a surrogate pair."""
    return re.sub("[\ud800-\udfff]", "\N{REPLACEMENT CHARACTER}", text)


def test_hostile_text_comes_back_unchanged() -> None:
    result = results.hostile()
    document = render(result)
    texts = [*(item.text for item in result.sentences), result.signature]
    texts = [without_surrogates(text) for text in texts]
    assert [*(item["text"] for item in document["sentences"]), document["signature"]] == texts


def test_document_as_written_cannot_command_terminal_or_runner() -> None:
    written = json.create()([results.hostile()])
    assert not set(written) & set("\x1b\x9b\x07\u202e\u200b\u2028\ud800")
    assert "##[" not in written
    assert not any(line.lstrip().startswith("::") for line in written.split("\n"))


def test_text_that_is_not_english_stays_readable() -> None:
    comments = (results.Said(Comment(body="b", author="Zoë"), ("変更は良い。",)),)
    result = results.make(results.diff_of(), results.REFERENCES[:1], comments, [[0.5]])
    written = json.create()([result])
    assert "変更は良い。" in written
    assert "Zoë" in written


def test_same_result_gives_the_same_bytes() -> None:
    report = json.create()
    assert report([results.review()]) == report([results.review()])


def test_rows_of_numbers_are_on_one_line() -> None:
    assert "\n    [0.31, 0.1004],\n" in json.create()([results.small()])


def test_text_that_looks_like_a_list_of_numbers_is_unchanged() -> None:
    comments = (results.Said(Comment(body="b"), ("[\n  1,\n  2\n]",)),)
    result = results.make(results.diff_of(), results.REFERENCES[:1], comments, [[0.5]])
    assert render(result)["sentences"][0]["text"] == "[\n  1,\n  2\n]"


TEXT = st.text(st.characters(codec=None), max_size=30)


@st.composite
def any_result(draw: st.DrawFn) -> Result:
    texts = draw(st.lists(TEXT, max_size=4))
    message_text = draw(st.lists(st.lists(TEXT, max_size=3), min_size=1, max_size=3))
    columns = sum(map(len, message_text))
    values = st.floats(-1, 1, width=32)
    matrix = draw(
        st.lists(
            st.lists(values, min_size=columns, max_size=columns),
            min_size=len(texts),
            max_size=len(texts),
        )
    )
    return results.make(
        results.diff_of(results.CLIENT),
        [
            results.reference(text, ("src/shop/client.py", 1, 2), counted=draw(st.booleans()))
            for text in texts
        ],
        [
            results.Said(Comment(body="b", author=draw(st.none() | TEXT)), tuple(sentences))
            for sentences in message_text
        ],
        np.asarray(matrix, dtype=np.float32),
        notes=tuple(draw(st.lists(TEXT, max_size=2))),
    )


@given(any_result())
def test_any_result_keeps_to_the_schema_and_its_texts(result: Result) -> None:
    document = render(result)
    texts = [without_surrogates(item.text) for item in result.sentences]
    assert [item["text"] for item in document["sentences"]] == texts
    shape = result.similarity.shape
    assert np.allclose(np.reshape(document["similarity"], shape), result.similarity, atol=1e-6)


def test_text_for_the_encoder_is_listed_where_it_differs() -> None:
    small = results.small()
    first = replace(small.references[0], reading="retry is one more than before")
    actual = render(replace(small, references=(first, *small.references[1:])))["references"]
    assert actual[0]["reading"] == "retry is one more than before"
    assert actual[0]["text"] == small.references[0].text
