"""An upstream with Cohere's API; the vendor's SDK verifies it (`test_cohere_embeddings_with_the_official_sdk.py`)."""

from aiohttp import web

from tests.support.vector_upstreams.server import Json, VectorUpstream, count, vector

DIMENSIONS = 16
IMAGE_TOKENS = 9
INPUTS_MAX = 96
INPUT_TYPES = ("search_document", "search_query", "classification", "clustering", "image")


class CohereUpstream(VectorUpstream):
    """Embeds texts, also mixed with images."""

    routes = ("/v2/embed",)
    version = ""

    def honest(self, path: str, body: Json) -> Json:
        """Respond to a call, or refuse what the vendor refuses."""
        contents = _contents(body)
        if body.get("input_type") not in INPUT_TYPES or not 1 <= len(contents) <= INPUTS_MAX:
            raise web.HTTPBadRequest(text='{"id": "e1", "message": "invalid request"}', content_type="application/json")
        texts = [part["text"] for part in contents if part["type"] == "text"]
        images = [part["image_url"]["url"] for part in contents if part["type"] == "image_url"]
        dimensions = body.get("output_dimension") or DIMENSIONS
        embedded = [vector(part.get("text") or part["image_url"]["url"], dimensions) for part in contents]
        billed = {"input_tokens": count(texts)}
        if images:
            billed |= {"images": len(images), "image_tokens": IMAGE_TOKENS * len(images)}
        return {
            "id": "5f0c",
            "embeddings": {"float": embedded},
            "texts": texts,
            "images": [{"format": "png", "bit_depth": 8, "height": 1, "width": 1} for _ in images],
            "response_type": "embeddings_by_type",
            "meta": {"api_version": {"version": "2"}, "billed_units": billed},
        }


def _contents(body: Json) -> list[Json]:
    if "texts" in body:
        return [{"type": "text", "text": text} for text in body["texts"]]
    return [part for sent in body["inputs"] for part in sent["content"]]
