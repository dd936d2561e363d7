"""The vendor's official SDK for Python on images: whole, streamed, refused."""

import base64

import openai
import pytest

from tests.inference.routes.sdk import async_sdk, sdk
from tests.support.stage import Caller, Stage
from tests.support.upstream import Behaviour
from tests.support.upstream.images import data_of

PRICE = {"image": {"1024x1024/low": "100", "1024x1024/medium": "400"}}


@pytest.fixture
def caller(stage: Stage) -> Caller:
    return stage.caller()


@pytest.fixture
def alias(stage: Stage) -> str:
    return stage.model(price=PRICE, options={"routes": ["images.generations"]})


def test_images_are_made(caller: Caller, alias: str) -> None:
    with sdk(caller) as client:
        made = client.images.generate(model=alias, prompt="a badger", n=2, size="1024x1024", quality="low")
    assert [base64.b64decode(image.b64_json) for image in made.data] == [data_of(Behaviour(), at) for at in (0, 1)]
    assert (made.size, made.quality, made.usage.output_tokens) == ("1024x1024", "low", 544)
    assert caller.wallet["balance"] == 1_000_000 - 200


def test_an_image_is_streamed(caller: Caller, alias: str) -> None:
    with sdk(caller) as client:
        events = list(client.images.generate(model=alias, prompt="a badger", stream=True, partial_images=2))
    assert [event.type for event in events] == ["image_generation.partial_image"] * 2 + ["image_generation.completed"]
    assert base64.b64decode(events[-1].b64_json) == data_of(Behaviour())
    assert events[-1].usage.output_tokens == 1256
    assert caller.wallet["balance"] == 1_000_000 - 400


async def test_an_image_is_streamed_to_a_task(caller: Caller, alias: str) -> None:
    async with async_sdk(caller) as client:
        stream = await client.images.generate(model=alias, prompt="a badger", stream=True)
        events = [event async for event in stream]
    assert [event.type for event in events] == ["image_generation.completed"]


def test_a_stream_that_breaks_is_raised(stage: Stage, caller: Caller, alias: str) -> None:
    stage.upstream.script(error_event=True)
    with sdk(caller) as client, pytest.raises(openai.APIError) as broken:
        list(client.images.generate(model=alias, prompt="a badger", stream=True, partial_images=1))
    assert broken.value.code == "upstream_error"


def test_refusals_are_the_sdks_own(caller: Caller, alias: str) -> None:
    with sdk(caller) as client:
        with pytest.raises(openai.BadRequestError) as refused:
            client.images.generate(model=alias, prompt="a badger", output_format="svg")
        assert refused.value.param == "output_format"
        with pytest.raises(openai.InternalServerError) as unpriced:
            client.images.generate(model=alias, prompt="a badger", quality="high")
        assert (unpriced.value.code, unpriced.value.param) == ("model_unavailable", "quality")
    assert caller.calls == []
