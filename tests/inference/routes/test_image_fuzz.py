"""Whatever a request for images, or an answer to one, holds: it is valid, or refused in a known way, and never costs more."""

import contextlib
import json
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from billing.rules.prices import PriceList
from billing.rules.worst_case import WorstCase
from gateway.core.contract.errors import ApiError
from gateway.core.json.pieces import canonical
from gateway.core.json.strict import strict_loads
from inference.adapters.exchange import NotJSONError
from inference.interface.answer import Answer
from inference.interface.model import PriceVersion, ServedModel, UpstreamTarget
from inference.interface.upstream import Attempt, CallContext
from inference.routes.images.bound import BoundedImages, bound_images
from inference.routes.images.members import IMAGE_MEMBERS, VENDOR
from inference.routes.images.request import IMAGES_MAX, read_request
from inference.rules.json_body import JsonBody
from inference.rules.members import Treatment
from inference.rules.verdicts import Review, Settle, judge
from inference.vendors.openai.images.endpoint import OpenAIImages
from tests.inference.routes.test_chat_fuzz import PRICE as CHAT_PRICE

MODEL = ServedModel("image", enabled=True, max_output_tokens=100)
KINDS = {"1024x1024/low": "100", "1024x1024/standard": "300", "1536x1024/high": "900"}
PRICE_LISTS = [
    PriceList.parse(price) for price in ({"image": KINDS}, {"image": "40"}, {"image": KINDS, "output_token": "2"})
]
TARGET = UpstreamTarget("u", "openai", "http://u", "k")

WORDS = st.sampled_from(["auto", "1024x1024", "1536x1024", "512x512", "low", "high", "standard", "png", "svg", "url"])
LEAVES = (
    st.none() | st.booleans() | st.integers(-2, 12) | st.just(10**18) | st.floats(0, 9) | st.text(max_size=3) | WORDS
)
VALUES = LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.sampled_from(["model", "type"]), LEAVES, max_size=2)
BODIES = st.builds(
    lambda members, prompt: {"model": "image", "prompt": prompt, **members},
    st.dictionaries(st.sampled_from(sorted(IMAGE_MEMBERS)), VALUES, max_size=4),
    st.text(max_size=20) | LEAVES,
)
USAGE = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("input_tokens", "output_tokens", "input_tokens_details"), LEAVES)
)
IMAGE = st.fixed_dictionaries(
    {}, optional={"b64_json": LEAVES | st.just("aGVsbG8="), "url": LEAVES, "revised_prompt": LEAVES}
)
ANSWERS = st.fixed_dictionaries(
    {"data": st.lists(st.just({"b64_json": "aGVsbG8="}) | IMAGE | LEAVES, max_size=4) | VALUES},
    optional={"size": LEAVES, "quality": LEAVES, "created": LEAVES, "background": VALUES, "usage": USAGE | st.none()},
)


def price_of(prices: PriceList) -> PriceVersion:
    return PriceVersion(1, CHAT_PRICE.effective_at, prices, WorstCase.of(prices), {})


def bounded_of(body: dict[str, Any], prices: PriceList) -> BoundedImages:
    members = strict_loads(json.dumps(body).encode())
    request = read_request(JsonBody(members, len(canonical(members)), b"", b"", is_large=False), MODEL)
    return bound_images(request, MODEL, price_of(prices), 10**9)


@given(BODIES, st.sampled_from(PRICE_LISTS))
def test_a_request_is_held_for_or_refused(body: dict[str, Any], prices: PriceList) -> None:
    with contextlib.suppress(ApiError):
        bounded = bounded_of(body, prices)
        assert bounded.hold_microusd >= 40
        assert 1 <= bounded.params.images <= IMAGES_MAX
        for name in body.keys() & VENDOR.keys():
            assert VENDOR[name].treatment is not Treatment.REFUSED or body[name] is None


@given(ANSWERS, st.sampled_from(PRICE_LISTS), st.integers(1, 3), st.sampled_from([None, "1024x1024"]))
def test_an_answer_is_charged_or_reviewed(body: dict[str, Any], prices: PriceList, n: int, size: str | None) -> None:
    bounded = bounded_of({"model": "image", "prompt": "x", "n": n, "size": size}, prices)
    attempt = Attempt(TARGET, "m", bounded, CallContext("use_1", "image", "img_1"))
    try:
        OpenAIImages().convert_answer(attempt, body)
    except NotJSONError:
        return
    assert 1 <= len(body["data"]) <= n
    assert set(body) <= {"created", "model", "data", "background", "output_format", "quality", "size", "usage"}
    verdict = judge(Answer(body, body.get("usage")), bounded, prices, bills_errors=False)
    assert isinstance(verdict, Settle | Review)
    if isinstance(verdict, Settle):
        assert verdict.cost_microusd >= 40 * len(body["data"])
        assert orjson.loads(bounded.content(verdict.answer).body)["model"] == "image"


def test_more_images_than_were_requested_are_never_counted() -> None:
    bounded = bounded_of({"model": "image", "prompt": "x", "n": 2}, PRICE_LISTS[1])
    assert bounded.quantities(5, {}, {}).images == 2
