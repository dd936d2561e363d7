"""The groups of routes of the integrations, against a real gateway that executes programs in its sandbox."""

import hashlib
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from account_gateway_client import Gateway, GatewayError, Output, Page
from gateway.core.contract.capabilities import Capability
from tests.integrations.test_ci_runs import generic, signature_of
from tests.support.demo_gateway import DemoGateway
from tests.support.integrations import SECRETS

POLL_SECONDS = 0.2


@pytest.fixture(scope="module")
def alice(integrations_gateway: DemoGateway) -> Gateway:
    return integrations_gateway.sign_in(*Capability)


@pytest.fixture(scope="module")
def project_id(alice: Gateway) -> str:
    return next(project["projectId"] for project in alice.projects.list() if project["name"] == "Docs")


def test_a_configuration_is_compared_and_set(alice: Gateway, project_id: str) -> None:
    before = alice.projects.execution_config(project_id)
    after = alice.projects.configure(project_id, {"command": ["true"]}, version=before["version"])
    assert (after["version"], after["command"], after["timeoutSeconds"]) == (before["version"] + 1, ["true"], 30)
    with pytest.raises(GatewayError, match="409 revision_conflict") as refused:
        alice.projects.configure(project_id, {}, version=before["version"])
    assert refused.value.details == {"version": after["version"]}
    assert alice.projects.configure(project_id, {})["command"] == []


def test_output_is_read_while_a_run_writes_it_and_cancelling_ends_it(alice: Gateway, project_id: str) -> None:
    script = "echo begun; echo worried >&2; while true; do sleep 1; done"
    run = alice.sandbox.create(project_id, ["sh", "-c", script], timeout_seconds=60)
    pieces = alice.sandbox.output(run["runId"], poll_seconds=POLL_SECONDS)
    received = read_until(pieces, {"begun\n", "worried\n"})
    assert alice.sandbox.get(run["runId"])["status"] == "running"
    assert alice.sandbox.cancel(run["runId"])["status"] == "cancelling"
    assert list(pieces) == []
    assert received == {Output("stdout", "begun\n"), Output("stderr", "worried\n")}
    assert alice.sandbox.wait(run["runId"])["status"] == "cancelled"
    assert alice.sandbox.cancel(run["runId"])["status"] == "cancelled"


def read_until(pieces: Iterator[Output], texts: set[str]) -> set[Output]:
    received: set[Output] = set()
    for piece in pieces:
        received.add(piece)
        if {one.text for one in received} >= texts:
            break
    return received


def test_a_run_gets_files_and_input_and_one_key_is_one_run(alice: Gateway, project_id: str) -> None:
    key = uuid.uuid4().hex
    first, again = (
        alice.sandbox.create(
            project_id, ["python3", "main.py"], files={"main.py": "print(input() * 2)"}, stdin="hé", idempotency_key=key
        )
        for _ in range(2)
    )
    assert first["runId"] == again["runId"]
    ended = alice.sandbox.wait(first["runId"], poll_seconds=POLL_SECONDS)
    assert (ended["status"], ended["exitCode"], ended["stdout"], ended["error"]) == ("succeeded", 0, "héhé\n", None)
    assert alice.sandbox.list(limit=1) == [ended]
    assert [piece.text for piece in alice.sandbox.output(first["runId"])] == ["héhé\n"]


def test_what_a_provider_reports(integrations_gateway: DemoGateway, alice: Gateway, project_id: str) -> None:
    step = {"name": "build", "status": "running", "startedAt": "2026-11-20T10:00:00Z", "finishedAt": None}
    body = json.dumps(generic(1, externalId=f"build-{uuid.uuid4()}", steps=[step])).encode()
    signature = {"X-Hub-Signature-256": signature_of(body, SECRETS["CI_WEBHOOK_SECRET"])}
    response = requests.post(f"{integrations_gateway.base_url}/webhooks/ci/builds", body, headers=signature, timeout=30)
    assert (response.status_code, response.json()) == (200, {"received": True})
    [run] = alice.ci.list(limit=1)
    assert (run["projectId"], run["provider"], run["steps"]) == (project_id, "builds", [step])
    assert alice.ci.get(run["runId"]) == run


def test_an_artifact_evolves_by_a_job(alice: Gateway) -> None:
    content = b"\xff\x00" + uuid.uuid4().bytes
    artifact = alice.evolution.keep_artifact("weights", content, metadata={"n": 1})
    assert artifact["contentSha256"] == hashlib.sha256(content).hexdigest()
    assert alice.evolution.content(artifact["artifactId"]) == content
    assert alice.evolution.artifacts(limit=1) == [artifact]
    prompt = alice.evolution.keep_artifact("prompt", f"Be brief. {uuid.uuid4()}")
    evidence = alice.evolution.keep_evidence(prompt["artifactId"], "score", {"accuracy": 0.9})
    assert alice.evolution.evidence(limit=1) == [evidence]
    begun = alice.evolution.start_job("refine", [prompt["artifactId"]], evidence=[evidence["evidenceId"]])
    job = alice.evolution.wait_for_job(begun["jobId"], poll_seconds=POLL_SECONDS)
    assert (job["status"], alice.evolution.jobs(limit=1), alice.evolution.job(job["jobId"])) == (
        "succeeded",
        [job],
        job,
    )
    assert job["resultArtifactId"] is not None
    assert alice.evolution.content(job["resultArtifactId"]).startswith(b"Be brief.")


def test_lists_are_read_page_by_page(alice: Gateway) -> None:
    ids = [alice.evolution.keep_artifact("note", uuid.uuid4().hex)["artifactId"] for _ in range(3)]
    first = alice.evolution.artifacts(limit=2)
    second = alice.evolution.artifacts(limit=1, after=first[-1]["artifactId"])
    assert [one["artifactId"] for one in (*first, *second)] == ids[::-1]
    assert first.has_more
    [docs] = alice.projects.list(limit=1)
    whole: list[Page[Any]] = [alice.evolution.evidence(100), alice.evolution.jobs(100), alice.ci.list(100)]
    whole += [alice.projects.list(after=docs["projectId"]), alice.sandbox.list(100)]
    assert not any(page.has_more for page in whole)


def test_a_revision_is_activated_and_rolled_back(alice: Gateway) -> None:
    first, second = (alice.evolution.keep_artifact("prompt", text)["artifactId"] for text in ("one", "two"))
    active = alice.evolution.active_revision()["revision"]
    for artifact_id in (first, second, first):
        active = alice.evolution.activate(artifact_id, expected_revision=active)["revision"]
    with pytest.raises(GatewayError, match="409 revision_conflict"):
        alice.evolution.activate(second, expected_revision=active - 1)
    now = alice.evolution.active_revision(limit=2)
    assert [revision["artifactId"] for revision in (now, *now["history"])] == [first, second, first]


def test_every_device_opens_the_same_account_key(integrations_gateway: DemoGateway, alice: Gateway) -> None:
    one, again = alice.account_key(), integrations_gateway.sign_in("sync:key:read").account_key()
    assert one == again
    assert (len(one.key), one.kid[:4]) == (32, "key_")
    assert str(one.key) not in repr(one)


def test_refusals_are_errors_with_their_member(alice: Gateway, project_id: str) -> None:
    with pytest.raises(GatewayError, match="404 not_found"):
        alice.sandbox.get("../../v1/wallet")
    with pytest.raises(GatewayError) as refused:
        alice.sandbox.create(project_id, ["sh"], files={"../x": ""})
    assert (refused.value.status, refused.value.param) == (400, "files")
    with pytest.raises(ValueError, match="id is missing"):
        alice.ci.get("")


def test_one_model(alice: Gateway) -> None:
    assert alice.model("fast") in alice.models()
