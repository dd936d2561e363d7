"""The quickstarts of the JavaScript client do what they say: their files and commands as they stand."""

import json
import re

import httpx

from gateway.run.ports import free_port
from tests.interop.conftest import Follow
from tests.interop.quickstarts import AI_SDK, ANSWER, EVENTS, NEXT, NODE, RECEIPT
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.delivered_events import sent_test_event
from tests.support.pages import Page
from tests.support.signed_events import OTHER_SECRET, SECRET, answers_of, assert_verified

DELIVERED = "test.ping { endpoint: 'studio' }"
README = Page("clients/js/README.md")
ASKING = """
import { POST } from "./app/api/chat/route.js";

const messages = [{ id: "1", role: "user", parts: [{ type: "text", text: "Hello" }] }];
const request = new Request("http://localhost:3000/api/chat", { method: "POST", body: JSON.stringify({ messages }) });
console.log(await (await POST(request)).text());
"""
IN_NODE = """
import worker from "./worker.js";

const request = new Request("http://localhost/", { method: "POST", body: "Hello" });
console.log(await (await worker.fetch(request, process.env)).text());
"""


def test_the_server_of_the_node_page_streams_and_tells_what_it_cost(follow: Follow) -> None:
    port = free_port()
    reader = follow(NODE, **{"3000": str(port)})
    with reader.serving(NODE.code("sh", after="Start it"), port):
        assert ANSWER in reader.run(NODE.code("sh", after="In another terminal"))
        eventually(lambda: RECEIPT.search((reader.folder / "server.log").read_text()))


def test_the_server_of_the_node_page_tells_a_refusal(follow: Follow) -> None:
    port = free_port()
    reader = follow(NODE, **{"3000": str(port), "example:alice": "example:newcomer"})
    with reader.serving(NODE.code("sh", after="Start it"), port):
        refused = httpx.post(f"http://127.0.0.1:{port}/", content="Hello", timeout=PATIENCE_SECONDS)
    assert (refused.status_code, refused.json()) == (402, {"error": "insufficient_funds"})


def test_the_key_of_the_node_page_is_made_and_shown(follow: Follow) -> None:
    reader = follow(NODE)
    [jwk] = json.loads(reader.run(NODE.code("sh", after="Make a key")))["keys"]
    assert (jwk["kty"], jwk["alg"], set(jwk)) == ("OKP", "EdDSA", {"kty", "crv", "x", "kid", "use", "alg"})


def test_the_worker_of_the_node_page_answers(follow: Follow) -> None:
    reader = follow(NODE)
    (reader.folder / "ask.mjs").write_text(IN_NODE)
    answer = json.loads(reader.run("node ask.mjs"))
    assert ANSWER in answer["answer"]
    assert answer["receipt"]["chargeMicrousd"] > 0


def test_the_server_of_the_clients_page(follow: Follow) -> None:
    reader = follow(NODE)
    script = reader.as_here(README.code("js", after="## On a server"))
    (reader.folder / "server.mjs").write_text(script)
    printed = reader.run("node server.mjs")
    assert ANSWER in printed
    assert RECEIPT.search(printed)
    assert re.search(r"^\d{6,}$", printed, re.MULTILINE), "what is left in the wallet"


def test_the_script_of_the_ai_sdk_page(follow: Follow) -> None:
    printed = follow(AI_SDK).run(AI_SDK.code("sh", after="so a tool costs two"))
    assert printed.count(ANSWER) == 2
    assert 'The tool answered “{"city":"demo","degrees":21}”' in printed
    assert "{ name: 'demo', age:" in printed
    assert len(re.findall(r"\n\[[1-9]\d* millionths of a dollar\]\n", printed)) == 5


def test_the_route_handler_of_the_next_page_streams(follow: Follow) -> None:
    reader = follow(NEXT)
    (reader.folder / "ask.mjs").write_text(ASKING)
    printed = reader.run("node ask.mjs")
    parts = [json.loads(line) for line in re.findall(r"^data: (\{.*\})$", printed, re.MULTILINE)]
    assert ANSWER in "".join(part["delta"] for part in parts if part["type"] == "text-delta")
    assert RECEIPT.search(printed)


def test_the_server_of_the_events_page_verifies_them(follow: Follow) -> None:
    port = free_port()
    reader = follow(EVENTS, **{"3000": str(port)})
    serve = f'export STUDIO_EVENTS_SECRET="{SECRET} {OTHER_SECRET}"\n' + EVENTS.code("sh", after="Start it")
    with reader.serving(serve, port):
        for given in (SECRET, OTHER_SECRET):
            reader.run(EVENTS.code("sh", after="## Try it"), STUDIO_EVENTS_SECRET=given)  # the second time it is known
        answers = answers_of(f"http://127.0.0.1:{port}/")
        with sent_test_event(reader):
            eventually(lambda: DELIVERED in reader.log)
    *printed, delivered = reader.log.splitlines()
    assert_verified(answers, printed)
    assert delivered == DELIVERED
