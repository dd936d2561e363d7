"""The tables of docs/compatibility.md are true: every method of both SDKs is in one, and answers as it says."""

from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx2
import openai
import pytest
from django.test import Client
from websockets.exceptions import InvalidStatus

from account_gateway_client import Gateway
from tests.clients.sdk_methods.page import refused_arguments, tables_of
from tests.clients.sdk_methods.served import ASK, CHAT, SEND, anthropic_calls, openai_calls
from tests.clients.sdk_methods.walking import made_up_call, methods_of
from tests.support.demo_gateway import ALICE, DemoGateway

SCOPES = ("infer:*", "responses:read", "responses:delete", "realtime:connect")
REFUSALS = {(404, "not_found"), (405, "method_not_allowed")}
# These send nothing themselves.
LOCAL = {
    "beta.agents.environments.files.prepare",
    "beta.agents.environments.files.prepare_directory",
    "beta.agents.environments.files.upload",
    "beta.agents.sessions.artifacts.for_result",
    "beta.messages.thread",
}


def through_django(request: httpx2.Request) -> httpx2.Response:
    """Answer as the gateway would, in the test's own process."""
    answer = Client().generic(request.method, request.url.raw_path.decode(), b"{}", "application/json")
    return httpx2.Response(answer.status_code, content=answer.content, headers=dict(answer.headers))


def sdk_of(vendor: str, **options: Any) -> Any:
    """Return a client that does not repeat calls."""
    if vendor == "Anthropic":
        return anthropic.Anthropic(api_key="unused", max_retries=0, **options)
    base_url = f"{options.pop('base_url')}/v1"
    options["websocket_base_url"] = base_url.replace("http", "ws", 1)
    return openai.OpenAI(api_key="unused", admin_api_key="unused", max_retries=0, base_url=base_url, **options)


@pytest.fixture(scope="module")
def alice(demo_gateway: DemoGateway) -> Gateway:
    tokens = demo_gateway.product().tokens_for(ALICE, SCOPES, consents=["realtime"])
    return Gateway(demo_gateway.base_url, tokens)


@pytest.fixture(scope="module")
def served(alice: Gateway) -> Iterator[Callable[[str], Any]]:
    """Make a client of a vendor's SDK whose calls the wallet of Alice pays."""
    with alice.http_client(max_cost_microusd=100_000) as http:
        yield lambda vendor: sdk_of(vendor, base_url=alice.base_url, http_client=http)


@pytest.mark.parametrize("vendor", ["OpenAI", "Anthropic"])
def test_every_method_is_listed_and_every_name_is_a_method(vendor: str) -> None:
    tables = tables_of(vendor)
    methods = methods_of(sdk_of(vendor, base_url="http://gateway.example"))
    named = {method: tables.name_for(method) for method in methods}
    assert [method for method, name in named.items() if name is None] == []
    assert tables.served | tables.refused == set(named.values())


@pytest.mark.parametrize("vendor", ["OpenAI", "Anthropic"])
def test_what_is_served_works(vendor: str, alice: Gateway, served: Callable[[str], Any]) -> None:
    calls = anthropic_calls() if vendor == "Anthropic" else openai_calls(alice)
    methods = methods_of(served(vendor))
    tables = tables_of(vendor)
    remote = {name for name in methods if tables.name_for(name) in tables.served and "webhooks." not in name}
    assert calls.keys() == remote
    for name, call in calls.items():
        assert call(methods[name]), name


@pytest.mark.django_db
@pytest.mark.parametrize("vendor", ["OpenAI", "Anthropic"])
def test_what_is_not_served_is_refused(vendor: str) -> None:
    with httpx2.Client(transport=httpx2.MockTransport(through_django)) as http:
        methods = methods_of(sdk_of(vendor, base_url="http://testserver", http_client=http))
        tables = tables_of(vendor)
        refused = [name for name in methods if tables.name_for(name) in tables.refused and name not in LOCAL]
        answers = {name: answer_of(name, methods[name]) for name in refused if not name.endswith(".connect")}
    assert len(answers) > 300
    odd = {name: answer for name, answer in answers.items() if answer not in REFUSALS}
    # Under `/v1/organizations` are the gateway's own routes, which these names are only organizations for.
    assert {name: answer for name, answer in odd.items() if not is_of_our_organizations(name, answer)} == {}


def is_of_our_organizations(name: str, answer: tuple[int, Any]) -> bool:
    """Return whether a method of the vendor's organizations reached one of the gateway's, which it gave no proof for."""
    return name.removeprefix("beta.").startswith("organization.") and answer == (401, "invalid_dpop_proof")


def answer_of(name: str, method: Any) -> tuple[int, Any]:
    """Return the status and the code that a method raises."""
    try:
        made_up_call(name, method)
    except (openai.APIStatusError, anthropic.APIStatusError) as error:
        body: Any = error.body
        return error.status_code, body.get("code") or body["error"]["code"]
    return 200, None


def test_sockets_that_are_not_served_are_refused(served: Callable[[str], Any]) -> None:
    methods = methods_of(served("OpenAI"))
    tables = tables_of("OpenAI")
    sockets = [name for name in methods if name.endswith(".connect") and tables.name_for(name) in tables.refused]
    assert len(sockets) > 3
    for name in sockets:
        with pytest.raises(InvalidStatus) as refused:
            made_up_call(name, methods[name])
        assert refused.value.response.status_code in (404, 405), name


@pytest.mark.parametrize(
    ("method", "arguments", "param"), refused_arguments(), ids=[param for *_, param in refused_arguments()]
)
def test_an_argument_is_refused(served: Callable[[str], Any], method: str, arguments: str, param: str) -> None:
    vendor = "Anthropic" if "messages" in method else "OpenAI"
    needed = {"chat.completions.create": CHAT, "responses.create": ASK}.get(method, SEND)
    call = methods_of(served(vendor))[method]
    with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)) as refused:
        call(**needed, **eval(f"dict({arguments})"))
    error: Any = refused.value
    error = error.body.get("error", error.body)
    assert (error["code"], error["param"]) == ("invalid_request", param)
