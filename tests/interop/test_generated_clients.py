"""Clients that public generators make of the OpenAPI document call a running gateway, and read its errors by their types."""

import uuid
from http import HTTPStatus
from pathlib import Path
from typing import Any

import httpx
import pytest

from account_gateway_client.httpx_auth import DPoPAuth
from account_gateway_client.signing import RequestSigner
from tests.interop.conftest import signed_assertion
from tests.interop.generated_clients import document_of, part, python_client, typescript_client
from tests.interop.node_script import run_script
from tests.support.demo_gateway import ALICE, DemoGateway

SCOPES = ("orgs:read", "orgs:manage", "members:manage", "budgets:manage", "infer:fast")


@pytest.fixture(scope="module")
def document(demo: DemoGateway, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return document_of(demo.base_url, tmp_path_factory.mktemp("document"))


@pytest.fixture(scope="module")
def package(document: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_client(document, tmp_path_factory.mktemp("package"))


@pytest.fixture
def client(demo: DemoGateway, package: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The client that openapi-python-client generates, signing with our own httpx authentication."""
    monkeypatch.syspath_prepend(package)
    signer = RequestSigner(demo.base_url, demo.product().tokens_for(ALICE, SCOPES))
    with httpx.Client(base_url=demo.base_url, auth=DPoPAuth(signer), timeout=60) as http:
        yield part("client").Client(base_url=demo.base_url).set_httpx_client(http)


@pytest.mark.usefixtures("npm_packages")
def test_typescript(demo: DemoGateway, document: Path, tmp_path: Path) -> None:
    client = typescript_client(document, tmp_path)
    found = run_script(client, demo.base_url, signed_assertion(demo, *SCOPES))  # an assertion lives for a minute
    created, invitation = found["created"], found["invitation"]
    assert (created["name"], created["role"]) == ("Acme", "owner")
    assert created["orgId"] in found["listed"]
    assert found["removed"]["status"] == 200
    assert found["removed"]["body"]["invitationId"] == invitation["invitationId"]
    assert (found["ended"]["status"], found["ended"]["body"]["status"]) == (200, "disabled")
    assert found["refusals"] == {"lonely": "last_owner", "nameless": "name", "dear": "max_cost_exceeded"}
    assert found["model"] == "fast"


def test_python_reads_answers_into_their_types(client: Any) -> None:
    models, organizations = part("models"), "api.organizations"
    created = part(f"{organizations}.create_organization").sync(
        client=client, body=models.OrganizationRequest(name="Acme")
    )
    assert isinstance(created, models.OrganizationResponse)
    listed = part(f"{organizations}.list_organizations").sync(client=client)
    assert created.org_id in [organization.org_id for organization in listed.data]
    invited = part(f"{organizations}.create_invitation").sync(
        created.org_id, client=client, body=models.InvitationRequest(role=models.MemberRole.BILLING)
    )
    assert isinstance(invited, models.NewInvitationResponse)
    revoked = part(f"{organizations}.revoke_invitation").sync_detailed(
        created.org_id, invited.invitation_id, client=client
    )
    assert revoked.status_code == HTTPStatus.OK
    assert isinstance(revoked.parsed, models.InvitationResponse)
    assert (revoked.parsed.invitation_id, revoked.parsed.role) == (invited.invitation_id, "billing")
    left = part(f"{organizations}.list_invitations").sync(created.org_id, client=client)
    assert left.data == []


def test_python_reads_errors_into_their_types(client: Any) -> None:
    models, organizations = part("models"), "api.organizations"
    create = part(f"{organizations}.create_organization")
    nameless = create.sync(client=client, body=models.OrganizationRequest(name=""))
    assert isinstance(nameless, models.InvalidRequestError)
    assert (nameless.error.code, nameless.error.param) == ("invalid_request", "name")
    assert nameless.error.message
    created = create.sync(client=client, body=models.OrganizationRequest(name="Acme"))
    lonely = part(f"{organizations}.remove_member").sync(created.org_id, created.membership_id, client=client)
    assert isinstance(lonely, models.LastOwnerError)
    assert (lonely.error.code, lonely.error.type_) == ("last_owner", "conflict_error")


def test_python_pays_for_a_call(client: Any) -> None:
    models, chat = part("models"), part("api.chat.create_chat_completion")
    body = models.CreateChatCompletionBody.from_dict(
        {"model": "fast", "messages": [{"role": "user", "content": "Hello"}]}
    )
    paid = chat.sync_detailed(
        client=client, body=body, idempotency_key=uuid.uuid4().hex, x_service_max_cost_microusd=20_000
    )
    assert (paid.status_code, paid.parsed.model) == (HTTPStatus.OK, "fast")
    assert int(paid.headers["x-service-charge-microusd"]) > 0
    refused_call = chat.sync(client=client, body=body, idempotency_key=uuid.uuid4().hex, x_service_max_cost_microusd=1)
    assert isinstance(refused_call, models.MaxCostExceededError)
