"""The JavaScript client in other runtimes than Node.js: the server and the worker of its quickstart, as they stand."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from gateway.run.ports import free_port
from tests.interop.conftest import Follow, install_packages
from tests.interop.generated_clients import NODE_MODULES, run
from tests.interop.quickstarts import ANSWER, NODE, RECEIPT
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.pages import Reader

RUNTIMES = Path(__file__).parent / "runtimes"
PROGRAMS = {"bun": "@oven/bun-*/bin/bun", "deno": "@deno/*/deno", "workerd": "@cloudflare/workerd-*/bin/workerd"}
SERVING = {"bun": "{program} server.mjs", "deno": "{program} run --allow-all server.mjs"}
WORKER = """
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["private"]))],
  sockets = [(name = "http", address = "127.0.0.1:3000", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "bundle.js")],
  bindings = [(name = "GATEWAY_URL", fromEnvironment = "GATEWAY_URL"), (name = "PRODUCT_KEY", fromEnvironment = "PRODUCT_KEY")],
  compatibilityDate = "2025-01-01",
);
"""


@pytest.fixture(scope="module", autouse=True)
def runtimes() -> None:
    """Install the runtimes, which are large, only for these tests."""
    install_packages(RUNTIMES)


@contextmanager
def serving(reader: Reader, command: str, port: int) -> Iterator[str]:
    """Run the reader's server in a runtime, and return its address."""
    with reader.serving(f"exec {command}", port):
        yield f"http://127.0.0.1:{port}/"


def program(runtime: str) -> Path:
    """Return the runtime for this machine."""
    return next((RUNTIMES / "node_modules").glob(PROGRAMS[runtime]))


@pytest.mark.parametrize("runtime", ["bun", "deno"])
def test_the_server_of_the_node_page(follow: Follow, runtime: str) -> None:
    port = free_port()
    reader = follow(NODE, **{"3000": str(port)})
    with serving(reader, SERVING[runtime].format(program=program(runtime)), port) as address:
        assert ANSWER in httpx.post(address, content="Hello", timeout=PATIENCE_SECONDS).text
        eventually(lambda: RECEIPT.search((reader.folder / "server.log").read_text()))


def test_the_worker_of_the_node_page_in_cloudflares_runtime(follow: Follow) -> None:
    port = free_port()
    reader = follow(NODE, **{"3000": str(port)})
    bundle = ["worker.js", "--bundle", "--format=esm", "--outfile=bundle.js", "--log-level=warning"]
    assert run([str(NODE_MODULES / ".bin" / "esbuild"), *bundle], reader.folder) == ""
    (reader.folder / "worker.capnp").write_text(reader.as_here(WORKER))
    with serving(reader, f"{program('workerd')} serve worker.capnp", port) as address:
        answers = [httpx.post(address, content="Hello", timeout=PATIENCE_SECONDS).text for _ in range(2)]
    for answer in map(json.loads, answers):
        assert ANSWER in answer["answer"]
        assert answer["receipt"]["chargeMicrousd"] > 0
