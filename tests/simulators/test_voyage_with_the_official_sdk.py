"""The fake Voyage answers as the vendor's SDK expects it."""

from collections.abc import Iterator

import numpy as np
import pytest
import voyageai
from PIL import Image
from voyageai.video_utils import Video

from tests.support.vector_upstreams import VoyageUpstream
from tests.support.vector_upstreams.server import vector
from tests.support.vector_upstreams.voyage import DIMENSIONS, PIXELS


@pytest.fixture(scope="module")
def upstream() -> Iterator[VoyageUpstream]:
    with VoyageUpstream() as running:
        yield running


@pytest.fixture
def sdk(upstream: VoyageUpstream) -> voyageai.Client:
    upstream.requests.clear()
    return voyageai.Client(api_key="pa-test", base_url=upstream.base_url)


def test_texts(sdk: voyageai.Client, upstream: VoyageUpstream) -> None:
    found = sdk.embed(["one badger", "two"], model="voyage-3.5", input_type="document", truncation=False)
    assert found.total_tokens == 3
    assert found.embeddings[1] == pytest.approx(vector("two", DIMENSIONS))
    [call] = upstream.requests
    assert call.path == "/embeddings"
    assert call.body == {
        "input": ["one badger", "two"],
        "model": "voyage-3.5",
        "input_type": "document",
        "truncation": False,
        "output_dtype": None,
        "output_dimension": None,
        "encoding_format": "base64",
    }


def test_int8(sdk: voyageai.Client) -> None:
    found = sdk.embed(["one"], model="voyage-3.5", output_dtype="int8", output_dimension=4)
    assert np.array(found.embeddings[0]).tolist() == [round(value * 127) for value in vector("one", 4)]


def test_chunks_in_their_documents(sdk: voyageai.Client, upstream: VoyageUpstream) -> None:
    found = sdk.contextualized_embed(
        [["a", "b"], ["c"]], model="voyage-context-3", input_type="document", output_dimension=1024
    )
    assert [len(result.embeddings) for result in found.results] == [2, 1]
    assert found.results[0].embeddings[1] == pytest.approx(vector("bab", 1024))
    assert found.total_tokens == 3
    assert upstream.requests[0].path == "/contextualizedembeddings"
    assert upstream.requests[0].body["inputs"] == [["a", "b"], ["c"]]


def test_images(sdk: voyageai.Client, upstream: VoyageUpstream) -> None:
    sent: list[list[str | Image.Image | Video]] = [["a badger", Image.new("RGB", (2, 2))]]
    found = sdk.multimodal_embed(sent, model="voyage-multimodal-3")
    assert len(found.embeddings[0]) == DIMENSIONS
    assert (found.text_tokens, found.image_pixels, found.total_tokens) == (2, PIXELS, 3)
    text, image = upstream.requests[0].body["inputs"][0]["content"]
    assert text == {"type": "text", "text": "a badger"}
    assert (image["type"], image["image_base64"][:23]) == ("image_base64", "data:image/webp;base64,")
