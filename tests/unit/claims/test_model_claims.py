"""Claims of a model on a real server on the loopback interface, through the real client."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from crscore import Scorer, plugins
from crscore.claims import model
from crscore.claims.model import ModelClaims
from crscore.claims.model_options import ModelOptions
from crscore.claims.prompt import load_prompt
from crscore.diff import parse
from crscore.errors import ConfigError, GenerationError
from crscore.llm import openai
from crscore.llm.base import Answer, Message, Sampling
from crscore.records import Claims, Diff, ReferenceKind
from crscore.settings import resolve_settings
from tests.helpers import scripted_llm
from tests.helpers.scripted_llm import Asked, Say, well

PATCH = """\
diff --git a/shop/cart.py b/shop/cart.py
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -1,3 +1,3 @@
 import money
-LIMIT = 10
+LIMIT = 20
 RATE = 3
diff --git a/shop/mail.py b/shop/mail.py
--- a/shop/mail.py
+++ b/shop/mail.py
@@ -4,2 +4,2 @@
-send(address)
+send(address, retries=3)
 done()
"""
CHANGE = parse.parse_diff(PATCH)
CART = "`LIMIT` is raised from 10 to 20."
MAIL = "`send` is now called with `retries=3`."
RISK = "Mails may be sent twice when `send` is retried."


def said(*claims: str, implications: tuple[str, ...] = ()) -> str:
    return json.dumps({"claims": claims, "implications": implications})


def by_file(asked: Asked) -> Say:
    """Return the answer of a good model."""
    if "LIMIT" in asked.text.rsplit("Diff:", 1)[-1]:
        return well(said(CART))
    return well(said(MAIL, implications=(RISK,)))


def make(server, tmp_path: Path | None = None, **options: object) -> ModelClaims:
    context = options.pop("max_model_len", None)
    engine = {"base_url": server.url, "max_model_len": context}
    arguments = {"argument": "tiny", "engine": engine, **options}
    if tmp_path is not None:
        arguments["cache_dir"] = str(tmp_path)
    generator = plugins.create("claims", "openai", arguments)
    assert isinstance(generator, ModelClaims)
    return generator


def texts(claims: Claims) -> list[str]:
    return [message.text for message in claims.references]


def ask(script, *changes: Diff, **options: object) -> tuple[Claims, ...]:
    with scripted_llm.serve(script) as server:
        return make(server, **options).generate(changes or (CHANGE,))


def test_every_file_is_requested_and_the_claims_are_on_their_lines() -> None:
    (claims,) = ask(by_file)
    assert texts(claims) == [CART, MAIL, RISK]
    assert [text.kind for text in claims.references][-1] is ReferenceKind.IMPLICATION
    assert {span.path for span in claims.references[0].spans} == {"shop/cart.py"}
    assert {text.source for text in claims.references} == {"openai"}


def test_all_diffs_of_a_run_are_one_batch_and_equal_ones_are_asked_once() -> None:
    with scripted_llm.serve(by_file) as server:
        found = make(server).generate((CHANGE, CHANGE))
        assert found[0] == found[1]
        assert len(server.chats()) in {2, 4}


def test_answer_in_the_published_form_is_read() -> None:
    text = f"Summary of changes:\n1. {CART}\n\nImplications:\n1. {RISK}\n"
    (claims,) = ask(lambda asked: well(text))
    assert CART in texts(claims)


def test_published_form_is_asked_for_without_a_schema() -> None:
    with scripted_llm.serve(well(f"1. {CART}")) as server:
        make(server, form="sections", few_shots=False).generate((CHANGE,))
        assert "response_format" not in server.chats()[0].body
        assert len(server.chats()[0].body["messages"]) == 1


@pytest.mark.parametrize("where", ["lora", "argument"])
def test_trained_model_is_asked_as_it_was_trained(tmp_path: Path, where: str) -> None:
    card = {"prompt": {"name": "claims.v1", "form": "sections", "few_shots": False}, "more": 1}
    (tmp_path / "training.json").write_text(json.dumps(card))
    arguments = {"argument": "base/model", "engine": {"lora": str(tmp_path)}}
    if where == "argument":
        arguments = {"argument": str(tmp_path)}
    made = model.make_generator("vllm", ModelOptions(**arguments))
    assert (made.form, made.few_shots, made.sampling.schema) == ("sections", 0, None)
    told = model.make_generator("vllm", ModelOptions(form="json", few_shots=True, **arguments))
    assert (told.form, told.few_shots) == ("json", None)


def test_model_trained_with_another_version_of_the_prompt_is_refused(tmp_path: Path) -> None:
    card = {"prompt": {"name": "claims.v1", "sha256": "0" * 64}}
    (tmp_path / "training.json").write_text(json.dumps(card))
    with pytest.raises(ConfigError, match="train the model again"):
        model.make_generator(
            "vllm", ModelOptions(argument="base/model", engine={"lora": str(tmp_path)})
        )


def test_folder_with_the_name_of_a_model_is_ignored(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "training.json").write_text("{ no JSON")
    assert model.make_generator("vllm", ModelOptions(argument="tiny")).form == "json"


def test_answer_with_a_lone_surrogate_is_cached(tmp_path: Path) -> None:
    with scripted_llm.serve(well(f"{said(CART)} \ud800")) as server:
        first = make(server, tmp_path).generate((CHANGE,))
        asked = len(server.chats())
        assert make(server, tmp_path).generate((CHANGE,)) == first
        assert len(server.chats()) == asked > 0
    assert texts(first[0]) == [CART]


def test_raw_answer_is_kept() -> None:
    (claims,) = ask(by_file)
    assert MAIL in (claims.raw or "")


def test_claim_cut_off_by_the_token_limit_is_dropped() -> None:
    text = said(CART, "The retry of `send` may be done twice.")
    half = text[: text.index(" be done")]
    (claims,) = ask(lambda asked: well(half, finish_reason="length"))
    assert "may" not in " ".join(texts(claims))
    assert CART in texts(claims)


def test_repeated_claim_counts_once() -> None:
    (claims,) = ask(lambda asked: well(said(CART, "LIMIT is raised from 10 to 20.")))
    assert sum("raised" in text for text in texts(claims)) == 1


def test_part_without_an_answer_is_noted_and_the_rest_stays() -> None:
    def script(asked: Asked) -> Say:
        return by_file(asked) if "LIMIT" in asked.text.rsplit("Diff:", 1)[-1] else well(None)

    (claims,) = ask(script)
    assert texts(claims) == [CART]
    assert any("1 of 2 parts" in note for note in claims.notes)


def test_server_that_refuses_everybody_is_one_error() -> None:
    with pytest.raises(GenerationError):
        ask(scripted_llm.error(401, "wrong key"))


# Cache


def test_second_run_asks_nothing(tmp_path: Path) -> None:
    with scripted_llm.serve(by_file) as server:
        first = make(server, tmp_path).generate((CHANGE,))
        asked = len(server.chats())
        assert make(server, tmp_path).generate((CHANGE,)) == first
        assert len(server.chats()) == asked


@pytest.mark.parametrize(
    "other",
    [
        {"argument": "large"},
        {"temperature": 0.5},
        {"max_new_tokens": 100},
        {"few_shots": False},
        {"form": "sections"},
    ],
)
def test_other_settings_ask_again(tmp_path: Path, other: dict[str, object]) -> None:
    with scripted_llm.serve(by_file) as server:
        make(server, tmp_path).generate((CHANGE,))
        asked = len(server.chats())
        make(server, tmp_path, **other).generate((CHANGE,))
        assert len(server.chats()) > asked


def test_another_server_with_a_model_of_this_name_is_asked(tmp_path: Path) -> None:
    with scripted_llm.serve(by_file) as server, scripted_llm.serve(by_file) as other:
        make(server, tmp_path).generate((CHANGE,))
        make(other, tmp_path).generate((CHANGE,))
        assert other.chats()


def test_failed_answer_is_not_cached(tmp_path: Path) -> None:
    times: Counter[str] = Counter()

    def script(asked: Asked) -> Say:
        times["asked"] += 1
        return well(None) if times["asked"] == 1 else by_file(asked)

    with scripted_llm.serve(script) as server:
        make(server, tmp_path).generate((CHANGE,))
        (claims,) = make(server, tmp_path).generate((CHANGE,))
    assert len(texts(claims)) == 3


def test_unreadable_cache_entry_is_written_again(tmp_path: Path) -> None:
    with scripted_llm.serve(by_file) as server:
        made = make(server, tmp_path)
        made.generate((CHANGE,))
        assert made.cache is not None
        key = next(iter(_keys(tmp_path)))
        made.cache.put(key, b"\xc1 no message")
        (claims,) = make(server, tmp_path).generate((CHANGE,))
    assert len(texts(claims)) == 3


def _keys(folder: Path) -> list[str]:
    with sqlite3.connect(folder / "store.sqlite3") as base:
        return [row[0] for row in base.execute("SELECT key FROM entries")]


# As a user asks for it


def test_scorer_uses_a_model_and_names_it_in_the_signature(monkeypatch, tmp_path: Path) -> None:
    with scripted_llm.serve(by_file) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        scorer = Scorer(
            claims="openai:tiny", encoder="hashing", analyzers="none", cache_dir=str(tmp_path)
        )
        result = scorer.score(PATCH, "The limit of 20 is too high.")
    assert "claims:openai:tiny" in result.signature
    assert [message.text for message in result.references] == [CART, MAIL, RISK]


def test_configured_model_is_asked_by_default(monkeypatch, tmp_path: Path) -> None:
    with scripted_llm.serve(by_file) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        settings = resolve_settings({"model": "tiny", "cache_dir": str(tmp_path)}, file=None)
        scorer = Scorer(settings, encoder="hashing", analyzers="none")
        result = scorer.score(PATCH, "Fine.")
    assert "claims:openai:tiny" in result.signature


def test_unreachable_model_is_reported_in_the_result(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setattr(openai, "MAX_RETRIES", 0)
    settings = resolve_settings({"model": "tiny", "cache_dir": str(tmp_path)}, file=None)
    result = Scorer(settings, encoder="hashing", analyzers="none").score(PATCH, "Fine.")
    assert "claims:structural@" in result.signature
    assert any("the configured model wrote none" in note for note in result.notes)


def test_generator_decides_the_threshold(monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")

    def tau(claims: str) -> float | None:
        return Scorer(claims=claims, matcher="published", analyzers="none").parts.threshold

    assert (tau("openai:m"), tau("structural")) == (0.4941, 0.31)


def test_published_matcher_needs_one_generator(monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError, match="thresholds differ"):
        Scorer(model="m", matcher="published", analyzers="none")
    assert Scorer(model="m", matcher="published", threshold=0.4, analyzers="none")


def test_claims_of_a_smaller_window_are_not_taken_for_those_of_a_larger(tmp_path: Path) -> None:
    with scripted_llm.serve(by_file) as server:
        make(server, tmp_path, max_model_len=4000).generate((CHANGE,))
        asked = len(server.chats())
        make(server, tmp_path).generate((CHANGE,))
        assert len(server.chats()) > asked


class Recorder:
    """Engine that records its chats."""

    identity = "recorder"
    origin = ""
    context_tokens = 3_000
    special_tokens: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.chats: list[Sequence[Message]] = []

    def complete(
        self, chats: Sequence[Sequence[Message]], sampling: Sampling
    ) -> tuple[Answer, ...]:
        self.chats += chats
        return tuple(Answer(text=said(CART), whole=True) for _ in chats)


def test_chats_fit_the_context_of_the_engine() -> None:
    added = "".join(f"+LIMIT = {n}\n" for n in range(2_000))
    change = parse.parse_diff(f"@@ -0,0 +1,2000 @@\n{added}", path="a.py")
    prompt = load_prompt("claims.v1")
    sampling = Sampling(max_tokens=100)
    engine = Recorder()
    made = ModelClaims(source="t", engine=engine, prompt=prompt, sampling=sampling)
    (claims,) = made.generate((change,))
    sizes = [sum(len(message.text) for message in chat) for chat in engine.chats]
    assert texts(claims) == [CART]
    assert len(sizes) > 1
    assert max(sizes) < 2.5 * (engine.context_tokens - sampling.max_tokens) + 200


def test_generator_of_vllm_is_made_without_loading_its_model() -> None:
    generator = plugins.create("claims", "vllm", {"argument": "owner/name"})
    assert (generator.source, generator.engine.model) == ("vllm", "owner/name")


@pytest.mark.parametrize("name", ["openai", "vllm"])
def test_package_that_is_missing_is_named(monkeypatch, name: str) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert plugins.load("claims", name).missing() == f"{name}; pip install 'crscore[{name}]'"


def test_card_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "training.json").write_text("{ no JSON")
    with pytest.raises(ConfigError, match=r"training\.json: model: cannot be read"):
        model.make_generator("vllm", ModelOptions(argument=str(tmp_path)))
