"""What one node did, repeated and read at the other: the same key gets the same answer from both versions, in either order."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import orjson
import requests

from bench.identity import fresh_key
from tests.support.fronts import HOST
from tests.upgrade.client import EXCHANGE
from tests.upgrade.journal import Journal
from tests.upgrade.load import CHAT, WALLET, chat
from tests.upgrade.people import QUICK, Person
from tests.upgrade.site import Node
from tests.upgrade.verdicts import CROSSED, REPEATED

RESPONSES, MESSAGES, USAGE = "/v1/responses", "/v1/messages", "/v1/usage"
TIMEOUT_SECONDS = 120
SAME = ("content-type", "x-service-usage-id", "x-service-charge-microusd", "idempotent-replayed")


def ask(text: str, **members: Any) -> dict[str, Any]:
    """Build the body of a response."""
    return {"model": QUICK, "input": text, "max_output_tokens": 40, **members}


def message(**members: Any) -> dict[str, Any]:
    """Build the body of a message."""
    return {"model": QUICK, "max_tokens": 40, "messages": [{"role": "user", "content": "Hello."}], **members}


CALLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "a chat": (CHAT, chat(QUICK)),
    "a chat's stream": (CHAT, chat(QUICK, stream=True)),
    "a chat with tools": (
        CHAT,
        {
            **chat(QUICK),
            "tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
        },
    ),
    "a response": (RESPONSES, ask("Hello.")),
    "a response's stream": (RESPONSES, ask("Hello.", stream=True)),
    "a message": (MESSAGES, message()),
    "a message's stream": (MESSAGES, message(stream=True)),
}


@dataclass(frozen=True, slots=True)
class Crossing:
    """A person's requests to two nodes directly: what begins at `first` goes on at `second`."""

    first: Node
    second: Node
    person: Person
    journal: Journal

    def run(self) -> int:
        """Try everything; return how many things were compared. The first node gives the token that both take."""
        signed_in = self._send(self.first, "POST", EXCHANGE, self.person.assertion(), {})
        signed_in.raise_for_status()
        self.person.take(signed_in.content)
        for name, (path, body) in CALLS.items():
            self._repeat(name, path, body)
        for step in (self._change_a_body, self._ask_at_once, self._go_on, self._prove_twice, self._read):
            step()
        return len(CALLS) + 5

    def send(self, node: Node, method: str, path: str, body: Any = None, key: str = "") -> requests.Response:
        """Send a request as the proxy passes it on."""
        headers = self.person.headers(method, path, key)
        return self._send(node, method, path, body, headers)

    def _send(self, node: Node, method: str, path: str, body: Any, headers: Mapping[str, str]) -> requests.Response:
        forwarded = {"Host": HOST, "X-Forwarded-For": "192.0.2.7", "X-Forwarded-Proto": "https"}
        data = body if body is None or isinstance(body, bytes) else orjson.dumps(body)
        sent = {**headers, **forwarded, "Content-Type": "application/json"}
        return requests.request(method, node.origin + path, data=data, headers=sent, timeout=TIMEOUT_SECONDS)

    def _repeat(self, name: str, path: str, body: Mapping[str, Any]) -> None:
        """Repeat a call at home and at the other node: both give the same stored answer."""
        key = fresh_key("cross")
        begun = self.send(self.first, "POST", path, body, key)
        home, away = (self.send(node, "POST", path, body, key) for node in (self.first, self.second))
        self._expect(f"{name} succeeds", begun.status_code, 200, begun.text)
        if away.status_code == 422:
            self.journal.cases.append((REPEATED, self._line(name, away.text)))
        self._expect(f"{name}, repeated", _seen(away), _seen(home))

    def _change_a_body(self) -> None:
        key = fresh_key("cross")
        self.send(self.first, "POST", CHAT, chat(QUICK), key)
        other = self.send(self.second, "POST", CHAT, {**chat(QUICK), "max_tokens": 41}, key)
        self._expect(
            "another body with a key is refused", (other.status_code, _code(other)), (422, "idempotency_key_reused")
        )

    def _ask_at_once(self) -> None:
        """Of two requests with one key at once, one runs: the other waits for its answer, or is asked to come back."""
        key = fresh_key("cross")
        asked: list[Callable[[], requests.Response]] = [
            partial(self.send, node, "POST", CHAT, chat(QUICK), key) for node in (self.first, self.second)
        ]
        with ThreadPoolExecutor(2) as threads:
            answers = [each.result() for each in [threads.submit(one) for one in asked]]
        found = [each for each in answers if each.status_code == 200]
        others = {_code(each) for each in answers if each.status_code != 200}
        self._expect(
            "two at once", (len({each.content for each in found}), others - {"idempotency_in_progress"}), (1, set())
        )

    def _go_on(self) -> None:
        """Read and continue a stored response at the other node."""
        begun = self.send(self.first, "POST", RESPONSES, ask("Hello."), fresh_key("cross"))
        if begun.status_code != 200:
            self._expect("a response to go on with", begun.status_code, 200, begun.text)
            return
        path = f"{RESPONSES}/{begun.json()['id']}"
        found = [self.send(node, "GET", path) for node in (self.first, self.second)]
        self._expect("a stored response", found[1].json(), found[0].json())
        after = ask("And then?", previous_response_id=begun.json()["id"])
        gone_on = self.send(self.second, "POST", RESPONSES, after, fresh_key("cross"))
        self._expect("a response after it", gone_on.status_code, 200, gone_on.text)
        removed = self.send(self.second, "DELETE", path)
        self._expect("its removal", removed.status_code, 200, removed.text)
        self._expect("a removed response", self.send(self.first, "GET", path).status_code, 404)

    def _prove_twice(self) -> None:
        """A proof that one node has seen is refused by the other."""
        headers = self.person.headers("GET", WALLET)
        statuses = [self._send(node, "GET", WALLET, None, headers).status_code for node in (self.first, self.second)]
        self._expect("a proof, used again", statuses, [200, 401])

    def _read(self) -> None:
        """What both versions show of the same money is the same. What only the newer one shows is left out."""
        for path in (WALLET, USAGE):
            one, other = (self.send(node, "GET", path).json() for node in (self.first, self.second))
            known = set(one) & set(other)
            self._expect(
                f"GET {path}",
                {k: _common(other[k], one[k]) for k in known},
                {k: _common(one[k], other[k]) for k in known},
            )

    def _expect(self, name: str, found: object, expected: object, text: str = "") -> None:
        if found != expected:
            self.journal.cases.append((CROSSED, self._line(name, f"{found} instead of {expected} {text[:200]}")))

    def _line(self, name: str, found: str) -> str:
        return f"{name}, from {self.first.version} to {self.second.version}: {found}"


def _seen(answer: requests.Response) -> tuple[int, bytes, dict[str, str | None]]:
    return answer.status_code, answer.content, {name: answer.headers.get(name) for name in SAME}


def _code(answer: requests.Response) -> str:
    error = answer.json().get("error", {})
    return str(error["code"] if isinstance(error, dict) else error)


def _common(one: Any, other: Any) -> Any:
    """Return of `one` what `other` has, too."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {name: _common(value, other[name]) for name, value in one.items() if name in other}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [_common(*pair) for pair in zip(one, other, strict=True)]
    return one
