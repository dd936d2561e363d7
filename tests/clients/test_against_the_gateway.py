"""The client and the OpenAI SDK against a real gateway, over real sockets, with the demo model behind it."""

import base64
import uuid
from collections.abc import Iterator
from typing import Any

import cohere
import httpx
import httpx2
import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from account_gateway_client import Gateway, GatewayError, Receipt, call_headers, receipt_of
from tests.factories.images import PNG_URL
from tests.support.demo_gateway import DemoGateway

MESSAGES: Any = [{"role": "user", "content": "Say something short."}]
WEATHER: Any = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
MODELS = ("fast", "embedding", "image", "persona", "rerank")
SCOPES = ("wallet:read", "usage:read", *(f"infer:{model}" for model in MODELS))


@pytest.fixture
def gateway(demo_gateway: DemoGateway) -> Gateway:
    return demo_gateway.sign_in(*SCOPES)


@pytest.fixture
def receipts() -> list[Receipt]:
    return []


@pytest.fixture
def sdk(gateway: Gateway, receipts: list[Receipt]) -> Iterator[OpenAI]:
    http = gateway.http_client(max_cost_microusd=20_000, on_receipt=receipts.append)
    with OpenAI(base_url=gateway.api_url, api_key="unused", http_client=http) as sdk:
        yield sdk


def spent(gateway: Gateway, before: dict[str, Any]) -> int:
    after = gateway.wallet()
    assert after["heldMicrousd"] == 0
    difference: int = before["availableMicrousd"] - after["availableMicrousd"]
    return difference


def test_chat_costs_what_its_receipt_says(sdk: OpenAI, gateway: Gateway, receipts: list[Receipt]) -> None:
    before = gateway.wallet()
    answer = sdk.chat.completions.create(model="fast", messages=MESSAGES, max_tokens=50)
    assert (answer.model, answer.choices[0].message.role) == ("fast", "assistant")
    (receipt,) = receipts
    assert spent(gateway, before) == receipt.charge_microusd
    assert gateway.usage(limit=1)[0]["usageId"] == receipt.usage_id
    assert gateway.usage(limit=1)[0]["chargedMicrousd"] == receipt.charge_microusd


def test_a_stream_costs_what_its_closing_comment_says(sdk: OpenAI, gateway: Gateway, receipts: list[Receipt]) -> None:
    before = gateway.wallet()
    stream = sdk.chat.completions.create(model="fast", messages=MESSAGES, stream=True, max_tokens=50)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert "demo backend" in text
    assert receipts == [receipt_of(stream)]
    assert receipts[0].charge_microusd is not None
    assert spent(gateway, before) == receipts[0].charge_microusd


def test_tools(sdk: OpenAI) -> None:
    answer = sdk.chat.completions.create(model="fast", messages=MESSAGES, tools=[WEATHER], tool_choice="required")
    (call,) = answer.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert call.function.name == "weather"


def test_an_image_whole_and_streamed(sdk: OpenAI, gateway: Gateway, receipts: list[Receipt]) -> None:
    before = gateway.wallet()
    terms: Any = {"model": "image", "prompt": "A badger", "size": "1024x1024", "quality": "low"}
    (image,) = sdk.images.generate(**terms).data or []
    events = list(sdk.images.generate(**terms, stream=True, partial_images=1))
    assert base64.b64decode(image.b64_json or "").startswith(b"\x89PNG\r\n\x1a\n")
    assert [event.type for event in events] == ["image_generation.partial_image", "image_generation.completed"]
    assert events[-1].b64_json == image.b64_json
    assert [receipt.charge_microusd for receipt in receipts] == [11_000, 11_000]
    assert spent(gateway, before) == 22_000


def test_coheres_client_reranks_by_the_auth_for_httpx(gateway: Gateway) -> None:
    before = gateway.wallet()
    documents = ["Rain on Tuesday.", "Badgers eat earthworms."]
    options: Any = {"additional_headers": call_headers(max_cost_microusd=100, idempotency_key=uuid.uuid4().hex)}
    with httpx.Client(auth=gateway.httpx_auth, timeout=30) as http:
        client = cohere.Client(api_key="unused", base_url=gateway.base_url, httpx_client=http)
        found = client.rerank(
            model="rerank", query="What do badgers eat?", documents=documents, top_n=1, request_options=options
        )
    assert [result.index for result in found.results] == [1]
    assert spent(gateway, before) == 15


def test_embeddings_as_numbers_and_as_the_sdks_own_base64(sdk: OpenAI) -> None:
    plain = sdk.embeddings.create(model="embedding", input=["one", "two"], encoding_format="float")
    packed = sdk.embeddings.create(model="embedding", input=["one", "two"])
    assert len(plain.data) == len(packed.data) == 2
    assert packed.data[0].embedding == pytest.approx(plain.data[0].embedding, abs=1e-6)


def test_models_and_account(sdk: OpenAI, gateway: Gateway) -> None:
    listed = {model.id for model in sdk.models.list()}
    assert {"fast", "embedding"} <= listed
    assert {model["id"] for model in gateway.models()} == listed
    assert gateway.account()["scopes"] == sorted(SCOPES)


async def test_the_async_sdk(gateway: Gateway, receipts: list[Receipt]) -> None:
    http = gateway.async_http_client(max_cost_microusd=20_000, on_receipt=receipts.append)
    async with AsyncOpenAI(base_url=gateway.api_url, api_key="unused", http_client=http) as sdk:
        stream = await sdk.chat.completions.create(model="fast", messages=MESSAGES, stream=True)
        assert "".join([chunk.choices[0].delta.content or "" async for chunk in stream if chunk.choices])
    assert receipts[0].charge_microusd is not None


class LosingTransport(httpx2.HTTPTransport):
    """Loses the first answers to metered requests after the gateway has sent them: the work is done and charged."""

    def __init__(self, losses: int) -> None:
        super().__init__()
        self.losses = losses
        self.keys: list[str] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = super().handle_request(request)
        self.keys.append(request.headers["Idempotency-Key"])
        if self.losses:
            self.losses -= 1
            response.read()
            raise httpx2.RemoteProtocolError("the connection was lost", request=request)
        return response


@pytest.mark.parametrize("stream", [False, True])
def test_a_lost_answer_is_replayed_and_paid_once(gateway: Gateway, receipts: list[Receipt], stream: bool) -> None:
    transport, before = LosingTransport(losses=2), gateway.wallet()
    http = gateway.http_client(max_cost_microusd=20_000, on_receipt=receipts.append, transport=transport)
    with OpenAI(base_url=gateway.api_url, api_key="unused", http_client=http) as sdk:
        answer: Any = sdk.chat.completions.create(model="fast", messages=MESSAGES, stream=stream, max_tokens=50)
        if stream:
            list(answer)
    assert len(transport.keys) == 3
    assert len(set(transport.keys)) == 1
    (receipt,) = receipts
    assert receipt.replayed
    assert receipt.charge_microusd
    assert spent(gateway, before) == receipt.charge_microusd


def test_the_same_key_with_another_body_is_unprocessable(sdk: OpenAI, gateway: Gateway) -> None:
    mine = call_headers(max_cost_microusd=20_000, idempotency_key=str(uuid.uuid4()))
    sdk.chat.completions.create(model="fast", messages=MESSAGES, extra_headers=mine)
    before = gateway.wallet()
    with pytest.raises(openai.UnprocessableEntityError) as refused:
        sdk.chat.completions.create(model="fast", messages=[*MESSAGES, *MESSAGES], extra_headers=mine)
    assert refused.value.code == "idempotency_key_reused"
    assert spent(gateway, before) == 0


def test_refusals_are_the_sdks_own_errors_and_cost_nothing(
    sdk: OpenAI, gateway: Gateway, demo_gateway: DemoGateway
) -> None:
    before = gateway.wallet()
    cases: list[tuple[type[openai.APIStatusError], int, str, dict[str, Any]]] = [
        (openai.BadRequestError, 400, "invalid_request", {"model": "fast", "n": 0}),
        (openai.PermissionDeniedError, 403, "insufficient_scope", {"model": "reasoning"}),
        (openai.NotFoundError, 404, "model_not_found", {"model": "nothing-of-the-kind"}),
        (openai.InternalServerError, 503, "model_unavailable", {"model": "persona"}),
        (openai.APIStatusError, 402, "max_cost_exceeded", {"model": "fast", "extra_headers": _at_most(1)}),
    ]
    impatient = sdk.with_options(max_retries=0)
    for error, status, code, members in cases:
        with pytest.raises(error) as refused:
            impatient.chat.completions.create(messages=MESSAGES, **members)
        assert (refused.value.status_code, refused.value.code) == (status, code)
        assert refused.value.request_id is not None
    assert spent(gateway, before) == 0


def test_an_empty_wallet_pays_for_nothing(demo_gateway: DemoGateway) -> None:
    poor = demo_gateway.sign_in("wallet:read", "infer:fast", did="did:web:demo.studio.example:nobody")
    with (
        OpenAI(base_url=poor.api_url, api_key="unused", http_client=poor.http_client(max_cost_microusd=1000)) as sdk,
        pytest.raises(openai.APIStatusError) as refused,
    ):
        sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert (refused.value.status_code, refused.value.code) == (402, "insufficient_funds")


def test_a_judgement_has_its_identity_and_its_receipt(demo_gateway: DemoGateway) -> None:
    judge = demo_gateway.sign_in("wallet:read", "judgement:evaluate")
    before = judge.wallet()
    questions: dict[str, dict[str, Any]] = {
        "grounded": {"type": "noul", "instructions": "Does it open?"},
        "tone": {"type": "choice", "instructions": "Which tone?", "criteria": {"calm": "Quiet", "rude": "Loud"}},
    }
    first, again = (
        judge.judge({"answer": "It opens."}, questions, max_cost_microusd=1000, idempotency_key="same-judgement")
        for _ in range(2)
    )
    assert first.identity == "judgement-backend-a/demo-word-overlap-1"
    assert first.answers.keys() == questions.keys()
    assert first.probability("grounded") + first.probability("grounded", "false") == pytest.approx(1)
    assert first.probability("tone", "calm") == first.answers["tone"]["probabilities"]["calm"]
    assert first.receipt is not None
    assert again.receipt is not None
    assert (first.fallback, first.receipt.replayed, again.receipt.replayed, again.id) == (None, False, True, first.id)
    assert spent(judge, before) == first.receipt.charge_microusd


def test_a_judgement_of_images_and_with_leave_to_fall_back(demo_gateway: DemoGateway) -> None:
    judge = demo_gateway.sign_in("judgement:evaluate")
    image = PNG_URL
    questions = {"clear": {"type": "noul", "instructions": "Is it clear?"}}
    seen = judge.judge(
        "A photo.", questions, max_cost_microusd=2000, model="judgement-vision", images=[image], allow_fallback=True
    )
    assert seen.identity.startswith("judgement-backend-c/")
    with pytest.raises(GatewayError) as refused:
        judge.judge("A photo.", questions, max_cost_microusd=2000, images=[image])
    assert (refused.value.code, refused.value.param) == ("images_unsupported", "images")


def test_a_product_cannot_speak_for_a_stranger(demo_gateway: DemoGateway) -> None:
    stranger = demo_gateway.sign_in("wallet:read", did="did:web:elsewhere.example:eve")
    with pytest.raises(GatewayError, match="invalid_grant"):
        stranger.wallet()


def test_a_refused_assertion_tells_its_reason_in_development(demo_gateway: DemoGateway) -> None:
    stranger = demo_gateway.sign_in("wallet:read", did="did:web:elsewhere.example:eve")
    with pytest.raises(GatewayError) as refused:
        stranger.wallet()
    assert refused.value.reason is not None
    assert refused.value.reason.startswith("assertion of https://demo.studio.example: ")
    assert str(refused.value).endswith(f" Reason: {refused.value.reason}")


def _at_most(microusd: int) -> dict[str, str]:
    return call_headers(max_cost_microusd=microusd, idempotency_key=str(uuid.uuid4()))
