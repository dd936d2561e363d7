"""Whatever is sent, a route answers with a success that it describes or an error of the catalogue, never with a 500.

Schemathesis makes the requests from the OpenAPI document: valid ones, ones with one fault, and the edges of each rule.
"""

import copy
import time
from functools import cache
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode

from account_gateway_client import Gateway
from gateway.core.contract.errors import CATALOGUE
from tests.contract.document import document, error_codes, operations, validate
from tests.support.demo_gateway import DemoGateway

# With 12 requests at most, a route takes a few tenths of a second; a slow machine makes fewer, of every route.
SECONDS_EACH = 0.4
SCOPES = ("wallet:read", "usage:read", "infer:fast", "infer:embedding", "infer:persona", "orgs:read", "orgs:manage")
# What stands behind the gateway may be missing; that is told as such.
HONEST_5XX = {"model_unavailable", "integration_unavailable"}
BOUNDED = settings(
    max_examples=12,
    deadline=None,
    database=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


def named_models() -> dict[str, Any]:
    """Return the document with models that exist, so that made-up calls come as far as being paid."""
    copied: dict[str, Any] = copy.deepcopy(document())
    for route in ("chat/completions", "embeddings", "messages", "messages/count_tokens"):
        body = copied["paths"][f"/v1/{route}"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        body["properties"]["model"] = {"type": "string", "enum": ["fast", "embedding", "persona"]}
        body.pop("example")
    return copied


SCHEMA: Any = schemathesis.openapi.from_dict(named_models())
OPERATIONS = sorted((method, path) for method, path in operations())
# What takes nothing can be asked for in one way only, and it is a valid one.
FAULTLESS = {("GET", f"/{check}") for check in ("healthz", "readyz", "livez")} | {
    key for key in OPERATIONS if key[1].startswith("/.well-known/")
}
MADE_UP = [
    pytest.param(*key, mode, id=f"{key[0]} {key[1]} {mode.value}")
    for key in OPERATIONS
    for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
    if mode is GenerationMode.POSITIVE or key not in FAULTLESS
]


@cache
def made_up(method: str, path: str, mode: GenerationMode) -> list[schemathesis.Case]:
    """Make requests up, the same ones for a stranger as for a caller."""
    cases = []

    @BOUNDED
    @given(SCHEMA[path][method].as_strategy(generation_mode=mode))
    def make(case: schemathesis.Case) -> None:
        cases.append(case)

    make()
    return cases


@pytest.fixture(scope="module")
def gateway(demo_gateway: DemoGateway) -> Gateway:
    return demo_gateway.sign_in(*SCOPES)


@pytest.mark.parametrize("signed", [False, True], ids=["stranger", "caller"])
@pytest.mark.parametrize(("method", "path", "mode"), MADE_UP)
def test_made_up_requests(
    method: str,
    path: str,
    mode: GenerationMode,
    signed: bool,
    demo_gateway: DemoGateway,
    gateway: Gateway,
) -> None:
    deadline = time.monotonic() + SECONDS_EACH
    for case in made_up(method, path, mode):
        if time.monotonic() < deadline:
            check(case, send(case, demo_gateway.base_url, gateway if signed else None))


def test_nothing_of_it_left_a_hold_or_a_wrong_sum(demo_gateway: DemoGateway, gateway: Gateway) -> None:
    completed = demo_gateway.run("manage.py", "audit_ledger")
    assert completed.returncode == 0, completed.stderr
    assert gateway.wallet()["heldMicrousd"] == 0
    assert "Traceback" not in demo_gateway.log


def send(case: schemathesis.Case, base_url: str, gateway: Gateway | None) -> requests.Response:
    """Send a made-up request as it is; with a gateway, under its token and with a proof for just this request."""
    arguments = case.as_transport_kwargs(base_url=base_url)
    for name in ("Authorization", "DPoP"):
        arguments["headers"].pop(name, None)
    return requests.request(auth=gateway.requests_auth if gateway else None, timeout=60, **arguments)


def check(case: schemathesis.Case, response: requests.Response) -> None:
    """Check an answer against its description; an undescribed error must still be of the catalogue."""
    description = (
        f"{case.method} {response.request.url} {response.request.body!r}: {response.status_code} {response.text}"
    )
    assert response.headers.get("X-Request-Id"), description
    operation = operations().get((case.method.upper(), case.path), {})
    if response.status_code < 400:
        described = operation["responses"][str(response.status_code)].get("content", {})
        media = response.headers.get("Content-Type", "").partition(";")[0]
        assert media in described or not response.content, description
        if media == "application/json":
            validate(response.json(), described[media]["schema"])
        return
    body = response.json()
    oauth = isinstance(body.get("error"), str)
    name = "OAuthError" if oauth else "MessagesError" if case.path.startswith("/v1/messages") else "Error"
    validate(body, {"$ref": f"#/components/schemas/{name}"})
    code = body["error"] if oauth else body["error"]["code"]
    assert code in CATALOGUE, description
    assert response.status_code < 500 or code in HONEST_5XX, description
    if response.status_code != 405 and case.path.startswith("/v1/"):
        assert code in codes_of(operation, response.status_code), description


def codes_of(operation: dict[str, Any], status: int) -> set[str]:
    """Return the codes that the document gives for this status of a route."""
    answer = operation.get("responses", {}).get(str(status))
    return error_codes(answer) if answer else set()
