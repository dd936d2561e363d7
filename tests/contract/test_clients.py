"""Every route has a method in each client, or a reason why not, and each method sends a request to its route."""

import inspect
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import requests

from account_gateway_client import Gateway, GatewayError, ProductServer
from account_gateway_client.keys import ProductKey
from tests.contract.clients import ROUTES
from tests.contract.routes import mapped_routes
from tests.support.concurrency import PATIENCE_SECONDS

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js"
PYTHON = {route: methods.python for route, methods in ROUTES.items() if not methods.python.startswith("(")}
MAPPED = {(route.method, route.path) for route in mapped_routes()}  # before any request: a GET adds a HEAD to its view
JAVASCRIPT = {route: methods.javascript for route, methods in ROUTES.items() if not methods.javascript.startswith("(")}
CALLS = """
import { Account } from "./src/account.js";
const sent = {};
const caller = (name) => ({
  json: async (path, init) => ((sent[name] ??= []).push([init?.method ?? "GET", path]), { data: [], content: "" }),
  fetch: async (path, init) => (caller(name).json(path, init), Response.json({})),
  transport: { baseUrl: "http://127.0.0.1:1" },
  tokens: { token: async () => { (sent[name] ??= []).push(["GET", "/v1/realtime"]); throw new Error("enough"); } },
});
for (const name of JSON.parse(process.argv[1])) {
  const account = new Account(caller(name));
  const [method, ...group] = name.split(".").reverse();
  const owner = group.length ? account[group[0]] : account;
  const body = { maxCostMicrousd: 1, inputs: [], content: "", retries: 0, orgId: "x", WebSocket: class {} };
  await Promise.resolve().then(() => owner[method]("x", body, body)).catch(() => undefined);
  await Promise.resolve().then(() => owner[method](body, body)).catch(() => undefined);
}
console.log(JSON.stringify(sent));
"""


def test_every_route_is_in_the_table() -> None:
    assert set(ROUTES) == MAPPED


def matches(route: tuple[str, str], method: str, path: str) -> bool:
    pattern = re.sub(r"<\w+>", "[^/]+", route[1])
    return method == route[0] and re.fullmatch(pattern, path.partition("?")[0]) is not None


@pytest.fixture(scope="module")
def javascript() -> dict[str, list[list[str]]]:
    """Call each method of the browser client with made-up arguments; return what it sent, by its name."""
    names = json.dumps(sorted(JAVASCRIPT.values()))
    command = ["node", "--input-type=module", "--eval", CALLS, names]
    completed = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert completed.returncode == 0, completed.stderr
    sent: dict[str, list[list[str]]] = json.loads(completed.stdout)
    return sent


@pytest.mark.parametrize("route", JAVASCRIPT, ids=" ".join)
def test_the_browser_clients_method(javascript: dict[str, list[list[str]]], route: tuple[str, str]) -> None:
    sent = javascript[JAVASCRIPT[route]]
    assert any(matches(route, *one) for one in sent), sent


@pytest.mark.parametrize("route", PYTHON, ids=" ".join)
def test_the_python_clients_method(route: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[tuple[str, str]] = []

    def answer(method: str, url: str, **options: Any) -> requests.Response:
        sent.append((method, url.removeprefix("http://127.0.0.1:1")))
        response = requests.Response()
        response.status_code, response._content = 400, b"{}"
        return response

    monkeypatch.setattr(requests, "request", answer)
    product = ProductServer("http://127.0.0.1:1", issuer="x", product="x", key=ProductKey.generate())
    method: Any = Gateway("http://127.0.0.1:1", product.tokens_for("did:x", []))
    for name in PYTHON[route].split("."):
        method = getattr(method, name)
    needed = [one for one in inspect.signature(method).parameters.values() if one.default is one.empty]
    named = {one.name: _made_up(one) for one in needed}
    with pytest.raises(GatewayError):
        method(**named)
    assert len(sent) == 1
    assert matches(route, *sent[0]), sent


def _made_up(parameter: inspect.Parameter) -> Any:
    """Return an argument of a parameter's kind."""
    kind = str(parameter.annotation)
    return 1 if "int" in kind else {} if "Mapping" in kind or "Config" in kind else "x"
