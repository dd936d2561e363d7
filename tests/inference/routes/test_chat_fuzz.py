"""Whatever a chat request holds, it is valid or refused with an error of the catalogue."""

import contextlib
import json
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from billing.rules.prices import PriceList
from billing.rules.worst_case import WorstCase
from gateway.core.contract.errors import ApiError
from gateway.core.json.pieces import canonical
from gateway.core.json.strict import strict_loads
from inference.interface.model import DeploymentTarget, PriceVersion, ServedModel, UpstreamTarget
from inference.routes.chat.bound import bound_chat
from inference.routes.chat.members import CHAT_MEMBERS, VENDOR
from inference.routes.chat.request import read_request
from inference.rules.json_body import JsonBody
from inference.rules.members import Treatment
from tests.factories.images import PNG_URL

DEPLOYMENT = DeploymentTarget("1", UpstreamTarget("u", "openai", "http://u", "k"), "m")
MODEL = ServedModel("fast", enabled=True, max_output_tokens=100, context_tokens=5000, deployments=(DEPLOYMENT,))
PRICES = PriceList.parse({"input_token": "1", "output_token": "2", "output_audio_token": "9"})
PRICE = PriceVersion(1, datetime(2026, 1, 1, tzinfo=UTC), PRICES, WorstCase.of(PRICES), {})

URLS = st.sampled_from(
    [
        PNG_URL,
        "data:,",
        "https://images.example/a",
        "https://[",
        "https://0x7f.1",
        "//a",
        "",
    ]
)
WORDS = st.sampled_from(["text", "audio", "image_url", "input_audio", "file", "refusal", "content", "function", "user"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | WORDS
    | URLS
)
NAMES = st.sampled_from(
    [
        "type",
        "text",
        "url",
        "image_url",
        "file",
        "file_data",
        "content",
        "voice",
        "audio",
        "role",
        "tool_calls",
        "input_audio",
    ]
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=8
)
PARTS = st.fixed_dictionaries({"type": WORDS}, optional={"text": VALUES, "image_url": VALUES, "file": VALUES})
MESSAGES = st.fixed_dictionaries({"role": WORDS, "content": st.lists(PARTS | VALUES, max_size=3) | VALUES})
BODIES = st.builds(
    lambda messages, members: {"model": "fast", **members, "messages": messages},
    st.lists(MESSAGES | VALUES, max_size=3) | VALUES,
    st.dictionaries(st.sampled_from(sorted(CHAT_MEMBERS)), VALUES, max_size=4),
)


@given(BODIES)
def test_a_request_is_valid_or_refused(body: dict[str, Any]) -> None:
    members = strict_loads(json.dumps(body).encode())
    size_bytes = len(canonical(members))
    with contextlib.suppress(ApiError):
        request = read_request(JsonBody(members, size_bytes, b"", b"", is_large=False), MODEL)
        bounded = bound_chat(request, MODEL, PRICE, 10**9)
        assert bounded.hold_microusd > 0
        for name in members.keys() & VENDOR.keys():
            row = VENDOR[name]
            assert row.treatment is not Treatment.REFUSED or members[name] in (None, *row.allowed)
