"""An upstream with the gateway's own protocol."""

import base64
from typing import Any

import numpy as np

from tests.support.vector_upstreams.server import Json, VectorUpstream, count, vector, words

IMAGE_TOKENS = 7


class RepresentationUpstream(VectorUpstream):
    """Embeds in `dimensions` unless others are requested, at `revision` whatever is requested."""

    routes = ("/embed", "/embed/contextual", "/multivector")
    revision = "r1"
    dimensions = 8

    def honest(self, path: str, body: Json) -> Json:
        """Respond to a call."""
        answer = {"/embed": self._embed, "/embed/contextual": self._contextual, "/multivector": self._multivector}[path]
        return {"revision": self.revision, **answer(body)}

    def _embed(self, body: Json) -> Json:
        dimensions = body.get("dimensions", self.dimensions)
        texts = [part["text"] if part["type"] == "text" else part["data"] for part in body["input"]]
        tokens = [count([part["text"]]) if part["type"] == "text" else IMAGE_TOKENS for part in body["input"]]
        found = [vector(text, dimensions) for text in texts]
        return _answer(dimensions, found, sum(tokens))

    def _contextual(self, body: Json) -> Json:
        dimensions = body["dimensions"]

        def embedded(text: str, context: str = "") -> list[Any]:
            made = vector(text + context, dimensions)
            return [round(value * 127) for value in made] if body["quantization"] == "int8" else made

        if body["input_type"] == "query":
            return _answer(dimensions, [embedded(text) for text in body["queries"]], count(body["queries"]))
        found = [[embedded(chunk, "".join(document)) for chunk in document] for document in body["documents"]]
        return _answer(dimensions, found, sum(map(count, body["documents"])))

    def _multivector(self, body: Json) -> Json:
        items = [self._item(text) for text in body["input"]]
        return {"dimensions": self.dimensions, "items": items, "usage": {"input_tokens": count(body["input"])}}

    def _item(self, text: str) -> Json:
        offsets = words(text)
        matrix = self.matrix(text)
        return {"vectors": base64.b64encode(matrix.tobytes()).decode(), "offsets": [list(pair) for pair in offsets]}

    def matrix(self, text: str) -> "np.ndarray[Any, np.dtype[np.float32]]":
        """Build the matrix of a text: a row for each word, the same for the same word."""
        rows = [vector(text[start:end].casefold(), self.dimensions) for start, end in words(text)]
        return np.array(rows, dtype="<f4").reshape(len(rows), self.dimensions)


def _answer(dimensions: int, embeddings: Any, tokens: int) -> Json:
    return {
        "dimensions": dimensions,
        "normalized": True,
        "embeddings": embeddings,
        "usage": {"input_tokens": tokens},
    }
