"""Limits on an owner's artifacts and evidence, including concurrent requests."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.db.models import Model

from accounts.rules.principal import Principal
from gateway.core.contract.capabilities import Capability
from integrations.models import EvolutionArtifact, EvolutionEvidence, EvolutionJob, EvolutionProgram, IntegrationSwitch
from integrations.operations import evolution, evolution_jobs, executions
from tests.factories.accounts import make_account, make_caller
from tests.integrations.conftest import Api
from tests.integrations.test_evolution import ARTIFACTS, EVIDENCE, PROMPT, artifact_of, principal_of
from tests.support.concurrency import at_once, count, eventually
from tests.support.database import connect

AT_ONCE, MOST = 16, 3

racing = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARTIFACTS_MAX", "EVIDENCE_MAX"):
        monkeypatch.setattr(evolution, name, MOST)
    monkeypatch.setattr(executions, "ACTIVE_EXECUTIONS_MAX", MOST)


@pytest.fixture
def who(transactional_db: None) -> Principal:
    IntegrationSwitch.objects.create(name="evolution", enabled=True)
    return principal_of(make_account().did)


def one_too_many_before_any_inserts(model: type[Model], *calls: Callable[[], Any]) -> list[Any]:
    """Return the results of concurrent calls. None can insert a row before more calls wait than rows are allowed, so
    calls that only counted beforehand would exceed the limit.
    """
    waiting = f"SELECT WHERE {MOST} < (SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted)"
    with connect(autocommit=True) as watcher, connect() as holder, ThreadPoolExecutor(1) as thread:
        holder.execute(f"LOCK TABLE {model._meta.db_table} IN SHARE MODE".encode())
        results = thread.submit(at_once, *calls)
        try:
            eventually(lambda: watcher.execute(waiting.encode()).fetchone() is not None)
        finally:
            holder.rollback()
        return results.result()


@pytest.mark.django_db
def test_an_owner_has_so_much(api: Api) -> None:
    IntegrationSwitch.objects.create(name="evolution", enabled=True)
    alice = make_caller(Capability.EVOLUTION_READ, Capability.EVOLUTION_WRITE)
    one, *_ = (artifact_of(api, alice, str(number)) for number in range(MOST))
    for _ in range(MOST):
        assert api(alice, "POST", EVIDENCE, {"artifactId": one, "kind": "score", "payload": {}})[0] == 201
    for path, body in ((ARTIFACTS, PROMPT), (EVIDENCE, {"artifactId": one, "kind": "score", "payload": {}})):
        status, answer = api(alice, "POST", path, body)
        assert (status, answer["error"]["code"]) == (400, "invalid_request")
        assert "The operator of the gateway can delete artifacts" in answer["error"]["message"]
    assert artifact_of(api, alice, "0") == one
    assert (EvolutionArtifact.objects.count(), EvolutionEvidence.objects.count()) == (MOST, MOST)


@racing
def test_artifacts_at_once_stay_within_the_limit(who: Principal) -> None:
    keep = partial(evolution.keep_artifact, who, kind="prompt", metadata={})
    results = one_too_many_before_any_inserts(
        EvolutionArtifact, *(partial(keep, content=bytes([number])) for number in range(AT_ONCE))
    )
    assert count(results, "invalid_request") == AT_ONCE - MOST
    assert EvolutionArtifact.objects.count() == MOST


@racing
def test_the_same_artifact_at_once_takes_one_place(who: Principal) -> None:
    for number in range(MOST - 1):
        evolution.keep_artifact(who, kind="prompt", content=bytes([number]), metadata={})
    keep = partial(evolution.keep_artifact, who, kind="prompt", content=b"x", metadata={})
    results = one_too_many_before_any_inserts(EvolutionArtifact, *[keep] * AT_ONCE)
    assert (len({artifact.id for artifact, _ in results}), sum(is_new for _, is_new in results)) == (1, 1)


@racing
def test_concurrent_evidence_stays_within_the_limit(who: Principal) -> None:
    artifact, _ = evolution.keep_artifact(who, kind="prompt", content=b"x", metadata={})
    keep = partial(evolution.keep_evidence, who, artifact_id=artifact.id, kind="score", payload={})
    results = one_too_many_before_any_inserts(EvolutionEvidence, *[keep] * AT_ONCE)
    assert count(results, "invalid_request") == AT_ONCE - MOST
    assert EvolutionEvidence.objects.count() == MOST


@racing
def test_jobs_at_once_stay_within_the_limit(who: Principal) -> None:
    EvolutionProgram.objects.create(name="refine", command=["true"])
    artifact, _ = evolution.keep_artifact(who, kind="prompt", content=b"x", metadata={})
    body = {"program": "refine", "inputs": [artifact.id], "evidence": []}
    results = one_too_many_before_any_inserts(EvolutionJob, *[partial(evolution_jobs.create, who, body)] * AT_ONCE)
    assert count(results, "rate_limited") == AT_ONCE - MOST
    assert EvolutionJob.objects.count() == MOST


@racing
def test_each_owner_has_places_of_its_own(who: Principal) -> None:
    others = [principal_of(f"{who.did}:{number}") for number in range(4)]
    keep = partial(evolution.keep_artifact, kind="prompt", metadata={})
    calls = [partial(keep, one, content=bytes([number])) for one in others for number in range(4)]
    assert count(one_too_many_before_any_inserts(EvolutionArtifact, *calls), "invalid_request") == len(others)
    assert EvolutionArtifact.objects.count() == len(others) * MOST
