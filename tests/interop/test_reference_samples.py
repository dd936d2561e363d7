"""The samples of the API reference, run as they stand against a whole gateway: those of `agw` and in Python here, those in
TypeScript in one Node.js process."""

import contextlib
import io
import json
import shlex
from pathlib import Path
from string import Template
from typing import Any

import pytest
import requests

from account_gateway_client import Gateway, ProofKey
from account_gateway_client.cli.main import run
from gateway.core.contract.capabilities import Capability
from tests.factories.audio import wav
from tests.interop.conftest import signed_assertion
from tests.interop.node_script import run_script
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.demo_gateway import ALICE, DemoGateway

# Refusals of what the samples name without there being any, of a provider that is not configured, of an owner who would leave, and
# of a seat for a product that the sample before disables.
EXPECTED = {
    "external_mapping_unverified",
    "integration_unavailable",
    "invalid_grant",
    "invitation_unavailable",
    "last_owner",
    "not_found",
    "not_member",
    "product_disabled",
}
NAMES = {
    "artifact_id": "art_1",
    "budget_id": "bud_1",
    "invitation_id": "inv_1",
    "job_id": "job_1",
    "membership_id": "mem_1",
    "model": "realtime",
    "org_id": "org_1",
    "product": "studio",
    "project_id": "prj_1",
    "response_id": "resp_1",
    "run_id": "run_1",
    "usage_id": "use_1",
}
MODELS = ("fast", "embedding", "embedding-contextual", "late-interaction", "rerank", "audio", "image", "realtime")
SCOPES = (*Capability, *(f"infer:{model}" for model in MODELS))


@pytest.fixture(scope="module")
def operations(integrations_gateway: DemoGateway) -> list[tuple[str, dict[str, Any]]]:
    document = requests.get(f"{integrations_gateway.base_url}/openapi.json", timeout=PATIENCE_SECONDS).json()
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def sample(operation: dict[str, Any], language: str) -> str:
    (source,) = [each["source"] for each in operation["x-codeSamples"] if each["lang"] == language]
    return str(source)


def code_of(body: dict[str, Any]) -> str:
    error = body["error"]
    return str(error["code"] if isinstance(error, dict) else error)


class PythonSamples:
    """Runs one sample after the other; what one creates is what the next ones name."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._names = dict(NAMES)

    def run(self, source: str) -> str | None:
        """Return the code of an error, or None."""
        names: dict[str, Any] = {"gateway": self._gateway, "key": ProofKey.generate(), **self._names}
        with contextlib.redirect_stdout(io.StringIO()) as shown:
            exec(compile(source, "sample", "exec"), names)
        assert shown.getvalue() or "write_bytes" in source
        if "answer" not in names:
            assert json.loads(shown.getvalue())["type"] == "session.created"
            return None
        if not names["answer"].ok:
            return code_of(names["answer"].json())
        if names["answer"].headers.get("Content-Type") == "application/json":
            self._learn(names["answer"].json())
        return None

    def _learn(self, body: dict[str, Any]) -> None:
        created = {
            "org_id": "orgId",
            "membership_id": "membershipId",
            "budget_id": "budgetId",
            "invitation_id": "invitationId",
        }
        self._names |= {name: body[member] for name, member in created.items() if body.get(member)}


def test_python(
    integrations_gateway: DemoGateway,
    operations: list[tuple[str, dict[str, Any]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "speech.wav").write_bytes(wav(1))
    product = integrations_gateway.product()
    tokens = product.tokens_for(ALICE, SCOPES, consents=["realtime"])
    samples = PythonSamples(Gateway(integrations_gateway.base_url, tokens))
    refused = {name: samples.run(sample(operation, "Python")) for name, operation in operations}
    assert {name: code for name, code in refused.items() if code and code not in EXPECTED} == {}


def test_shell(
    integrations_gateway: DemoGateway,
    operations: list[tuple[str, dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """`agw` reads its samples, and sends what they say. Those of curl are read by `tests/contract/test_code_samples.py`."""
    signed_in = integrations_gateway.sign_in(*SCOPES)
    monkeypatch.setattr("account_gateway_client.cli.session.open_gateway", lambda settings: signed_in)
    monkeypatch.setenv("AGW_GATEWAY", integrations_gateway.base_url)
    refused = {}
    for name, operation in operations:
        source = Template(sample(operation, "Shell").replace("\\\n", ""))
        program, *words = shlex.split(source.safe_substitute({name.upper(): value for name, value in NAMES.items()}))
        if program == "agw":
            status = run(words)
            shown = capfdbinary.readouterr().out
            refused[name] = code_of(json.loads(shown)) if status else None
    assert {name: code for name, code in refused.items() if code and code not in EXPECTED} == {}


def test_typescript(
    integrations_gateway: DemoGateway, operations: list[tuple[str, dict[str, Any]]], tmp_path: Path
) -> None:
    (tmp_path / "speech.wav").write_bytes(wav(1))
    sources = {name: sample(operation, "TypeScript") for name, operation in operations}
    task = {"sources": sources, "names": NAMES, "file": str(tmp_path / "speech.wav")}
    (tmp_path / "task.json").write_text(json.dumps(task))
    assertion = signed_assertion(integrations_gateway, *SCOPES)
    refused = run_script("reference_samples.js", integrations_gateway.base_url, assertion, str(tmp_path / "task.json"))
    assert refused.keys() == sources.keys()
    assert {name: code for name, code in refused.items() if code and code not in EXPECTED} == {}
