"""Artifacts by content, evidence about them, and the active revision by compare-and-set."""

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from accounts.rules.principal import Principal
from gateway.core.contract import limits
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import RevisionConflict
from integrations.models import EvolutionRevision, IntegrationSwitch
from integrations.operations import evolution
from organizations.rules.roles import Role
from tests.factories.accounts import Caller, make_account, make_caller
from tests.factories.organizations import Team, account
from tests.factories.proofs import Signer, mint_token
from tests.integrations.conftest import NOTHING, Api

pytestmark = pytest.mark.django_db

SCOPES = (Capability.EVOLUTION_READ, Capability.EVOLUTION_WRITE)
ARTIFACTS, EVIDENCE, ACTIVE = (f"/v1/evolution/{name}" for name in ("artifacts", "evidence", "active-revision"))
PROMPT = {"kind": "prompt", "content": "Be brief. 😀"}


@pytest.fixture(autouse=True)
def _enabled() -> None:
    IntegrationSwitch.objects.create(name="evolution", enabled=True)


@pytest.fixture
def alice() -> Caller:
    return make_caller(*SCOPES)


def artifact_of(api: Api, who: Caller, content: str = "Be brief. 😀") -> str:
    status, body = api(who, "POST", ARTIFACTS, {"kind": "prompt", "content": content})
    assert status in (200, 201)
    return str(body["artifactId"])


def test_an_artifact_is_its_content(api: Api, alice: Caller) -> None:
    status, made = api(alice, "POST", ARTIFACTS, {**PROMPT, "metadata": {"score": 0.5}})
    content = PROMPT["content"].encode()
    assert status == 201
    assert made == {
        "artifactId": made["artifactId"],
        "kind": "prompt",
        "contentSha256": hashlib.sha256(content).hexdigest(),
        "size": len(content),
        "metadata": {"score": 0.5},
        "createdAt": made["createdAt"],
    }
    assert made["artifactId"].startswith("art_")
    assert api(alice, "POST", ARTIFACTS, PROMPT) == (200, made)
    assert api(alice, "POST", ARTIFACTS, {**PROMPT, "kind": "other"})[0] == 201
    whole = {**made, "content": PROMPT["content"], "encoding": "utf-8"}
    assert api(alice, "GET", f"{ARTIFACTS}/{made['artifactId']}") == (200, whole)
    assert [one["kind"] for one in api(alice, "GET", ARTIFACTS)[1]["data"]] == ["other", "prompt"]


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"nul\0", b"text"])
def test_bytes_come_back_as_they_were(api: Api, alice: Caller, content: bytes) -> None:
    encoded = base64.b64encode(content).decode()
    made = api(alice, "POST", ARTIFACTS, {"kind": "weights", "content": encoded, "encoding": "base64"})[1]
    read = api(alice, "GET", f"{ARTIFACTS}/{made['artifactId']}")[1]
    back = read["content"].encode() if read["encoding"] == "utf-8" else base64.b64decode(read["content"])
    assert (back, read["size"]) == (content, len(content))


def test_a_content_has_one_mebibyte_at_most(api: Api, alice: Caller) -> None:
    most = {"kind": "prompt", "content": "x" * limits.ARTIFACT_MAX_BYTES}
    assert api(alice, "POST", ARTIFACTS, most)[0] == 201
    status, body = api(alice, "POST", ARTIFACTS, {**most, "content": most["content"] + "x"})
    assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "content")
    status, body = api(alice, "POST", ARTIFACTS, {**most, "content": "x" * limits.EVOLUTION_BODY_MAX_BYTES})
    assert (status, body["error"]["code"]) == (413, "request_too_large")


REFUSED: list[tuple[str, str, Any]] = [
    (ARTIFACTS, "kind", {"content": ""}),
    (ARTIFACTS, "kind", {**PROMPT, "kind": "a b"}),
    (ARTIFACTS, "kind", {**PROMPT, "kind": "x" * 65}),
    (ARTIFACTS, "content", {"kind": "prompt"}),
    (ARTIFACTS, "content", {**PROMPT, "content": 7}),
    (ARTIFACTS, "content", {**PROMPT, "content": "=", "encoding": "base64"}),
    (ARTIFACTS, "encoding", {**PROMPT, "encoding": "utf-16"}),
    (ARTIFACTS, "metadata", {**PROMPT, "metadata": []}),
    (ARTIFACTS, "metadata", {**PROMPT, "metadata": {"a": "x" * 17_000}}),
    (ARTIFACTS, "metadata", {**PROMPT, "metadata": {"a": "nul\0"}}),
    (ARTIFACTS, "metadata", {**PROMPT, "metadata": {"a": {"nul\0": 1}}}),
    (ARTIFACTS, "metadata", {**PROMPT, "metadata": {"a": 2**64}}),
    (ARTIFACTS, "metdata", {**PROMPT, "metdata": {}}),
    (EVIDENCE, "payload", {"artifactId": "art_x", "kind": "score", "payload": 7}),
    (EVIDENCE, "payload", {"artifactId": "art_x", "kind": "score", "payload": {"a": [-(2**63) - 1]}}),
    (EVIDENCE, "kind", {"artifactId": "art_x", "payload": {}}),
    (ACTIVE, "expectedRevision", {"artifactId": "art_x"}),
    (ACTIVE, "expectedRevision", {"artifactId": "art_x", "expectedRevision": "0"}),
    (ACTIVE, "expectedRevision", {"artifactId": "art_x", "expectedRevision": -1}),
]


@pytest.mark.parametrize(("path", "param", "body"), REFUSED)
def test_errors_name_the_invalid_member(api: Api, alice: Caller, path: str, param: str, body: Any) -> None:
    status, answer = api(alice, "PUT" if path == ACTIVE else "POST", path, body)
    assert (status, answer["error"]["code"]) == (400, "invalid_request")
    assert answer["error"]["param"].partition(".")[0] == param


def test_evidence_is_about_an_artifact(api: Api, alice: Caller) -> None:
    artifact = artifact_of(api, alice)
    sent = {"artifactId": artifact, "kind": "score", "payload": {"accuracy": 0.9}}
    status, made = api(alice, "POST", EVIDENCE, sent)
    assert status == 201
    assert made == {**sent, "evidenceId": made["evidenceId"], "createdAt": made["createdAt"]}
    assert made["evidenceId"].startswith("evd_")
    assert api(alice, "GET", EVIDENCE)[1]["data"] == [made]


NUMBERS = [2**64 - 1, -(2**63), 1e19, 1e22, -1.7976931348623157e308, 5e-324, 0.1]


def test_contents_are_returned_unchanged(api: Api, alice: Caller) -> None:
    sent = {"numbers": NUMBERS, "text": "\\u0000 spelled out", "": None}
    artifact = api(alice, "POST", ARTIFACTS, {**PROMPT, "metadata": sent})[1]
    evidence = api(alice, "POST", EVIDENCE, {"artifactId": artifact["artifactId"], "kind": "score", "payload": sent})[1]
    assert api(alice, "GET", ARTIFACTS)[1]["data"] == [artifact]
    assert api(alice, "GET", EVIDENCE)[1]["data"] == [evidence]
    assert artifact["metadata"] == evidence["payload"] == sent


def test_a_strangers_artifact_is_an_unknown_one(api: Api, alice: Caller) -> None:
    artifact, bob = artifact_of(api, alice), make_caller(*SCOPES, name="bob")
    assert api(bob, "GET", f"{ARTIFACTS}/{artifact}")[0] == 404
    assert api(bob, "GET", ARTIFACTS)[1] == NOTHING
    for method, path, body in (
        ("POST", EVIDENCE, {"kind": "score", "payload": {}}),
        ("PUT", ACTIVE, {"expectedRevision": 0}),
    ):
        status, answer = api(bob, method, path, {"artifactId": artifact, **body})
        assert (status, answer["error"]["code"], answer["error"]["param"]) == (404, "not_found", "artifactId")
    assert artifact_of(api, bob) != artifact


def test_the_active_revision_is_set_by_compare_and_set(api: Api, alice: Caller) -> None:
    nothing = {"revision": 0, "artifactId": None, "activatedAt": None}
    assert api(alice, "GET", ACTIVE) == (200, {**nothing, "history": [], "hasMore": False})
    first, second = artifact_of(api, alice), artifact_of(api, alice, "Be long.")
    status, one = api(alice, "PUT", ACTIVE, {"artifactId": first, "expectedRevision": 0})
    assert (status, one["revision"], one["artifactId"]) == (200, 1, first)
    status, body = api(alice, "PUT", ACTIVE, {"artifactId": second, "expectedRevision": 0})
    assert (status, body["error"]["code"], body["error"]["details"]) == (409, "revision_conflict", {"revision": 1})
    two = api(alice, "PUT", ACTIVE, {"artifactId": second, "expectedRevision": 1})[1]
    three = api(alice, "PUT", ACTIVE, {"artifactId": first, "expectedRevision": 2})[1]  # a rollback
    assert api(alice, "GET", ACTIVE) == (200, {**three, "history": [two, one], "hasMore": False})
    assert api(alice, "GET", f"{ACTIVE}?limit=1") == (200, {**three, "history": [two], "hasMore": True})
    assert api(alice, "GET", f"{ACTIVE}?limit=1&after=2") == (200, {**three, "history": [one], "hasMore": False})
    for after in ("0", "4", "x", "-1", "9" * 400, "1&after=2", "٢"):
        status, body = api(alice, "GET", f"{ACTIVE}?after={after}")
        assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "after")


def test_only_the_latest_revisions_are_stored(api: Api, alice: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evolution, "REVISIONS_MAX", 2)
    artifact = artifact_of(api, alice)
    for revision in range(4):
        assert api(alice, "PUT", ACTIVE, {"artifactId": artifact, "expectedRevision": revision})[0] == 200
    active = api(alice, "GET", ACTIVE)[1]
    assert (active["revision"], [one["revision"] for one in active["history"]]) == (4, [3])


@pytest.mark.django_db(transaction=True)
def test_of_activations_at_once_one_wins() -> None:
    who = principal_of(make_account().did)
    made, _ = evolution.keep_artifact(who, kind="prompt", content=b"x", metadata={})

    def activate(_: int) -> bool:
        try:
            evolution.activate(who, artifact_id=made.id, expected_revision=0)
        except RevisionConflict:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(activate, range(8))) == 1
    assert EvolutionRevision.objects.count() == 1


def principal_of(did: str) -> Principal:
    return Principal(did, "client", frozenset(), "jkt", "jti", None, None, None, None, 0, 0)


def test_an_organizations_artifacts_are_its_own(api: Api, alice: Caller) -> None:
    team = Team()
    team.join("mia", Role.MEMBER)

    def of(name: str) -> Caller:
        signer, who = Signer(), account(name)
        token = mint_token(who.did, SCOPES, signer, org_id=team.id, membership_id=team[name].id)
        return Caller(who, SCOPES, signer, token)

    artifact = artifact_of(api, of("mia"))
    assert api(of("olivia"), "GET", f"{ARTIFACTS}/{artifact}")[0] == 200
    assert api(of("mia"), "PUT", ACTIVE, {"artifactId": artifact, "expectedRevision": 0})[0] == 403
    assert api(of("olivia"), "PUT", ACTIVE, {"artifactId": artifact, "expectedRevision": 0})[0] == 200
    assert api(alice, "GET", f"{ARTIFACTS}/{artifact}")[0] == 404


def test_it_is_unavailable_until_it_is_configured(api: Api, alice: Caller) -> None:
    IntegrationSwitch.objects.all().delete()
    requests: list[tuple[str, str, Any]] = [
        ("GET", ARTIFACTS, None),
        ("GET", f"{ARTIFACTS}/art_x", None),
        ("POST", ARTIFACTS, PROMPT),
        ("GET", EVIDENCE, None),
        ("POST", EVIDENCE, {}),
        ("GET", ACTIVE, None),
        ("PUT", ACTIVE, {}),
    ]
    for method, path, body in requests:
        status, answer = api(alice, method, path, body)
        assert (status, answer["error"]["code"]) == (503, "integration_unavailable"), path
