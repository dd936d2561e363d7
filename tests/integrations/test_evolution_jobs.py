"""Evolution jobs: an operator's program on artifacts and evidence, and its results."""

import json
from typing import Any

import pytest
from django.db import transaction

from gateway.celery import app
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import IntegrationUnavailable
from integrations import tasks
from integrations.models import EvolutionArtifact, EvolutionJob, EvolutionProgram, IntegrationSwitch
from integrations.operations import evolution, evolution_jobs
from integrations.queries import switches
from tests.factories.accounts import Caller, make_caller
from tests.integrations.conftest import NOTHING, Api
from tests.integrations.test_evolution import ARTIFACTS, EVIDENCE, artifact_of

pytestmark = pytest.mark.django_db

SCOPES = (Capability.EVOLUTION_READ, Capability.EVOLUTION_WRITE, Capability.EVOLUTION_EXECUTE)
JOBS = "/v1/evolution/jobs"
REFINE = """
import json, pathlib, sys
texts = [path.read_text() for path in sorted(pathlib.Path("inputs").iterdir())]
evidence = json.load(open("evidence.json"))
sys.stdout.write(" ".join(texts).upper() + f" {[one['payload']['score'] for one in evidence]}")
"""


@pytest.fixture(autouse=True)
def _enabled() -> None:
    IntegrationSwitch.objects.create(name="evolution", enabled=True)
    program("refine", "python3", "-c", REFINE)


@pytest.fixture
def alice() -> Caller:
    return make_caller(*SCOPES)


def program(name: str, *command: str, **values: Any) -> None:
    EvolutionProgram.objects.create(name=name, command=list(command), **values)


def scored(api: Api, who: Caller, artifact: str, score: int) -> str:
    body = {"artifactId": artifact, "kind": "score", "payload": {"score": score}}
    return str(api(who, "POST", EVIDENCE, body)[1]["evidenceId"])


def finished(api: Api, who: Caller, name: str, *inputs: str) -> dict[str, Any]:
    made = api(who, "POST", JOBS, {"program": name, "inputs": list(inputs)})[1]
    assert evolution_jobs.execute(made["jobId"])
    return dict(api(who, "GET", f"{JOBS}/{made['jobId']}")[1])


def test_a_job_whose_artifact_was_deleted_fails(api: Api, alice: Caller) -> None:
    made = api(alice, "POST", JOBS, {"program": "refine", "inputs": [artifact_of(api, alice)]})[1]
    EvolutionArtifact.objects.all().delete()
    assert evolution_jobs.execute(made["jobId"])
    job = api(alice, "GET", f"{JOBS}/{made['jobId']}")[1]
    assert job["error"] == {"code": "invalid_request", "message": "An artifact that the job reads was deleted."}


def test_a_job_makes_an_artifact_of_others(api: Api, alice: Caller) -> None:
    first, second = artifact_of(api, alice, "be brief"), artifact_of(api, alice, "be kind")
    evidence = [scored(api, alice, first, 2), scored(api, alice, second, 1)]
    status, made = api(
        alice, "POST", JOBS, {"program": "refine", "inputs": [first, second], "evidence": evidence[::-1]}
    )
    assert status == 202
    assert made == {
        "jobId": made["jobId"],
        "program": "refine",
        "status": "queued",
        "inputs": [first, second],
        "evidence": evidence[::-1],
        "resultArtifactId": None,
        "error": None,
        "createdAt": made["createdAt"],
        "finishedAt": None,
    }
    assert made["jobId"].startswith("job_")
    assert tasks.execute_job(made["jobId"])
    assert not tasks.execute_job(made["jobId"])
    read = api(alice, "GET", f"{JOBS}/{made['jobId']}")[1]
    assert (read["status"], read["error"]) == ("succeeded", None)
    assert api(alice, "GET", JOBS)[1]["data"] == [read]
    result = api(alice, "GET", f"{ARTIFACTS}/{read['resultArtifactId']}")[1]
    assert (result["content"], result["kind"]) == ("BE BRIEF BE KIND [1, 2]", "prompt")
    assert result["metadata"] == {"jobId": made["jobId"], "program": "refine"}


def test_the_result_has_the_programs_kind_and_may_be_known(api: Api, alice: Caller) -> None:
    program("summary", "echo", "-n", "short", result_kind="summary")
    first, second = (finished(api, alice, "summary", artifact_of(api, alice)) for _ in range(2))
    assert first["resultArtifactId"] == second["resultArtifactId"]
    assert EvolutionArtifact.objects.get(id=first["resultArtifactId"]).kind == "summary"


def test_a_job_is_queued_for_a_worker(api: Api, alice: Caller, django_capture_on_commit_callbacks: Any) -> None:
    assert app.conf.task_always_eager
    with django_capture_on_commit_callbacks(execute=True):
        made = api(alice, "POST", JOBS, {"program": "refine", "inputs": [artifact_of(api, alice)]})[1]
    assert api(alice, "GET", f"{JOBS}/{made['jobId']}")[1]["status"] == "succeeded"


FAILURES = [
    (["sh", "-c", "echo no luck >&2; exit 3"], "program_failed", "The program ended with exit code 3. no luck"),
    (["sleep", "600"], "timed_out", "The run took longer than 1 s."),
    (["head", "-c", str(2**20 + 1), "/dev/zero"], "result_too_large", "The result is larger than 1 MiB."),
]


@pytest.mark.parametrize(("command", "code", "message"), FAILURES)
def test_a_failure_has_a_code_and_a_message(
    api: Api, alice: Caller, command: list[str], code: str, message: str
) -> None:
    program("bad", *command, timeout_seconds=1 if command[0] == "sleep" else 30)
    read = finished(api, alice, "bad", artifact_of(api, alice))
    assert (read["status"], read["resultArtifactId"]) == ("failed", None)
    assert read["error"] == {"code": code, "message": message}
    assert read["finishedAt"] is not None


def test_a_result_beyond_the_number_of_artifacts_fails(
    api: Api, alice: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = artifact_of(api, alice)
    monkeypatch.setattr(evolution, "ARTIFACTS_MAX", 1)
    read = finished(api, alice, "refine", artifact)
    assert (read["status"], read["error"]["code"]) == ("failed", "invalid_request")


def test_bytes_are_stored_unchanged(api: Api, alice: Caller) -> None:
    program("bytes", "printf", "\\377\\000x")
    read = finished(api, alice, "bytes", artifact_of(api, alice))
    assert bytes(EvolutionArtifact.objects.get(id=read["resultArtifactId"]).content) == b"\xff\0x"


def test_the_same_key_is_the_same_job(api: Api, alice: Caller) -> None:
    body = {"program": "refine", "inputs": [artifact_of(api, alice)], "idempotencyKey": "k1"}
    made = api(alice, "POST", JOBS, body)
    assert api(alice, "POST", JOBS, body) == made
    status, refused = api(alice, "POST", JOBS, {**body, "inputs": [artifact_of(api, alice, "other")]})
    assert (status, refused["error"]["code"]) == (422, "idempotency_key_reused")
    assert EvolutionJob.objects.count() == 1


REFUSED: list[tuple[int, str, dict[str, Any]]] = [
    (400, "program", {"program": None}),
    (404, "program", {"program": "unknown"}),
    (404, "inputs", {"inputs": ["art_unknown"]}),
    (404, "evidence", {"evidence": ["evd_unknown"]}),
    (400, "inputs", {"inputs": []}),
    (400, "inputs", {"inputs": "art_x"}),
    (400, "inputs", {"inputs": ["art_x", "art_x"]}),
    (400, "inputs", {"inputs": [f"art_{number}" for number in range(21)]}),
    (400, "evidence", {"evidence": [7]}),
    (400, "input", {"input": []}),
]


@pytest.mark.parametrize(("status", "param", "members"), REFUSED)
def test_errors_name_the_invalid_member(
    api: Api, alice: Caller, status: int, param: str, members: dict[str, Any]
) -> None:
    body = {"program": "refine", "inputs": [artifact_of(api, alice)], **members}
    answered, answer = api(alice, "POST", JOBS, body)
    assert (answered, answer["error"]["param"].partition(".")[0]) == (status, param), json.dumps(answer)
    assert not EvolutionJob.objects.exists()


def test_an_owners_concurrent_jobs_are_limited(api: Api, alice: Caller) -> None:
    body = {"program": "refine", "inputs": [artifact_of(api, alice)]}
    for _ in range(20):
        assert api(alice, "POST", JOBS, body)[0] == 202
    refused = api(alice, "POST", JOBS, body)[1]["error"]
    limit = {"scope": "account", "limit": "active_executions", "remaining": 0, "retryAfterSeconds": 5}
    assert (refused["code"], refused["details"]) == ("rate_limited", limit)


def test_a_strangers_job_and_artifact_are_unknown(api: Api, alice: Caller) -> None:
    artifact, bob = artifact_of(api, alice), make_caller(*SCOPES, name="bob")
    made = api(alice, "POST", JOBS, {"program": "refine", "inputs": [artifact]})[1]
    assert api(bob, "GET", f"{JOBS}/{made['jobId']}")[0] == 404
    assert api(bob, "GET", JOBS) == (200, NOTHING)
    status, body = api(bob, "POST", JOBS, {"program": "refine", "inputs": [artifact]})
    assert (status, body["error"]["param"]) == (404, "inputs")


def test_reading_and_executing_need_their_scopes(api: Api, alice: Caller) -> None:
    reader = make_caller(Capability.EVOLUTION_READ, Capability.EVOLUTION_WRITE, name="reader")
    assert api(reader, "POST", JOBS, {})[1]["error"]["code"] == "insufficient_scope"
    assert api(reader, "GET", JOBS)[0] == 200


def test_switched_off_meanwhile_a_job_is_not_executed(api: Api, alice: Caller) -> None:
    made = api(alice, "POST", JOBS, {"program": "refine", "inputs": [artifact_of(api, alice)]})[1]
    IntegrationSwitch.objects.update(enabled=False)
    assert evolution_jobs.execute(made["jobId"])
    job = EvolutionJob.objects.get()
    assert (job.status, job.error_code, job.result_artifact) == ("failed", "integration_unavailable", None)


def test_a_switch_that_is_gone_while_a_job_is_requested_is_off() -> None:
    IntegrationSwitch.objects.all().delete()
    with transaction.atomic(), pytest.raises(IntegrationUnavailable):
        switches.require(IntegrationSwitch.Name.EVOLUTION, locked=True)


def test_without_its_section_evolution_is_unavailable(api: Api, alice: Caller) -> None:
    IntegrationSwitch.objects.all().delete()
    for method, path in (("GET", JOBS), ("POST", JOBS), ("GET", f"{JOBS}/job_x")):
        assert (
            api(alice, method, path, {} if method == "POST" else None)[1]["error"]["code"] == "integration_unavailable"
        )
