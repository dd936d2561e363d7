"""An upstream with Voyage's API; the vendor's SDK verifies it (`test_voyage_with_the_official_sdk.py`)."""

import base64
from typing import Any

import numpy as np

from tests.support.vector_upstreams.server import Json, VectorUpstream, count, vector

DIMENSIONS = 16
PIXELS = 560


class VoyageUpstream(VectorUpstream):
    """Embeds texts, chunks in their documents, and images."""

    routes = ("/embeddings", "/contextualizedembeddings", "/multimodalembeddings")

    def honest(self, path: str, body: Json) -> Json:
        """Respond to a call."""
        answers = {
            "/embeddings": _embeddings,
            "/contextualizedembeddings": _contextualized,
            "/multimodalembeddings": _multimodal,
        }
        return {"object": "list", "model": body["model"], **answers[path](body)}


def _embeddings(body: Json) -> Json:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    return {"data": _items(body, texts), "usage": {"total_tokens": count(texts)}}


def _contextualized(body: Json) -> Json:
    documents = body["inputs"]
    data = [
        {"object": "list", "data": _items(body, chunks, "".join(chunks)), "index": index}
        for index, chunks in enumerate(documents)
    ]
    return {"data": data, "usage": {"total_tokens": sum(map(count, documents))}}


def _multimodal(body: Json) -> Json:
    parts = [part for sent in body["inputs"] for part in sent["content"]]
    texts = ["".join(part.get("text") or part["image_base64"] for part in sent["content"]) for sent in body["inputs"]]
    text_tokens = count([part["text"] for part in parts if part["type"] == "text"])
    images = sum(part["type"] == "image_base64" for part in parts)
    usage = {
        "text_tokens": text_tokens,
        "image_pixels": images * PIXELS,
        "video_pixels": 0,
        "total_tokens": text_tokens + images,
    }
    return {"data": _items(body, texts), "usage": usage}


def _items(body: Json, texts: list[str], context: str = "") -> list[Json]:
    dimensions = body.get("output_dimension") or DIMENSIONS
    found = [_written(body, vector(text + context, dimensions)) for text in texts]
    return [{"object": "embedding", "embedding": made, "index": index} for index, made in enumerate(found)]


def _written(body: Json, made: list[float]) -> Any:
    is_int8 = body.get("output_dtype") == "int8"
    values = [round(value * 127) for value in made] if is_int8 else made
    if body.get("encoding_format") != "base64":
        return values
    return base64.b64encode(np.array(values, dtype=np.int8 if is_int8 else "<f4").tobytes()).decode()
