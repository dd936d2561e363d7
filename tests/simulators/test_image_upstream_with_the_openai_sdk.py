"""The vendor's own SDK finds nothing odd about the fake upstream's images, whole and streamed."""

import base64
from collections.abc import Iterator
from typing import Any, TypeAlias

import openai
import pytest

from tests.support.plain_http import NO_AUTHORITIES
from tests.support.upstream import Behaviour, FakeUpstream
from tests.support.upstream.images import data_of

Sdk: TypeAlias = Any


@pytest.fixture
def sdk(upstream: FakeUpstream) -> Iterator[Sdk]:
    http = openai.DefaultHttpxClient(verify=NO_AUTHORITIES)
    with openai.OpenAI(
        base_url=upstream.base_url, api_key="unused", max_retries=0, timeout=60, http_client=http
    ) as client:
        yield client


def test_images_come_with_what_they_are(upstream: FakeUpstream, sdk: Sdk) -> None:
    made = sdk.images.generate(model="small-1", prompt="a badger", n=2, size="1536x1024", quality="low")
    [entry] = upstream.ledger
    assert (made.size, made.quality, made.output_format) == ("1536x1024", "low", "png")
    assert [base64.b64decode(image.b64_json)[:4] for image in made.data] == [b"\x89PNG"] * 2
    assert made.usage.output_tokens == entry.completion_tokens == 544
    assert made.usage.input_tokens == entry.prompt_tokens == 2


def test_a_stream_brings_partial_images_and_then_the_image(upstream: FakeUpstream, sdk: Sdk) -> None:
    events = list(sdk.images.generate(model="small-1", prompt="a badger", stream=True, partial_images=2))
    kinds = ["image_generation.partial_image"] * 2 + ["image_generation.unknown", "image_generation.completed"]
    assert [event.type for event in events] == kinds
    assert [event.partial_image_index for event in events[:2]] == [0, 1]
    assert (events[-1].size, events[-1].quality) == ("1024x1024", "medium")
    assert events[-1].usage.output_tokens == 1056 + 200
    assert base64.b64decode(events[-1].b64_json) == data_of(Behaviour())


def test_an_error_in_a_stream_is_raised(upstream: FakeUpstream, sdk: Sdk) -> None:
    upstream.script(error_event=True)
    with pytest.raises(openai.APIError, match="had an error"):
        list(sdk.images.generate(model="small-1", prompt="a badger", stream=True, partial_images=1))


def test_a_refusal_is_the_vendors(upstream: FakeUpstream, sdk: Sdk) -> None:
    upstream.script("reject-content-policy")
    with pytest.raises(openai.BadRequestError) as refused:
        sdk.images.generate(model="small-1", prompt="a badger")
    assert refused.value.code == "content_policy_violation"
