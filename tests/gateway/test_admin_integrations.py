"""The console's pages of an integration: keys that are uploaded, assertions that are tested, and what was refused."""

import json
import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.models import Account, ConsumedAssertion, Integration, RefusedAssertion
from accounts.operations import refusals
from tests.accounts.test_key_files import EDWARDS, P256, of, pem, private
from tests.factories.accounts import make_account, make_integration
from tests.factories.proofs import ProductServer, Signer
from tests.gateway.operators import address, clerk, logged

pytestmark = pytest.mark.django_db

EXCHANGE = "/v1/auth/token/exchange"


@pytest.fixture
def server(db: None) -> ProductServer:
    server = ProductServer()
    make_integration(server)
    return server


@pytest.fixture
def integration(server: ProductServer) -> Integration:
    return Integration.objects.get()


def report_of(client: Client, integration: Integration, token: str) -> Any:
    return client.post(address("accounts_integration_test_assertion", integration.pk), {"assertion": token})


def upload(client: Client, integration: Integration, **form: Any) -> Any:
    path = address("accounts_integration_upload_keys", integration.pk)
    return client.post(path, {"reason": "yearly", **form})


def words(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def exchanged(token: str, **body: Any) -> int:
    sent = json.dumps({"assertion": token, "dpop_jwk": Signer().jwk, **body})
    return Client().post(EXCHANGE, sent, content_type="application/json").status_code


class TestATest:
    def test_of_a_good_assertion_leaves_it_unused(
        self, operator: Client, server: ProductServer, integration: Integration, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG)
        token = server.assertion(jti="one-of-a-kind")
        for _ in range(2):
            page = report_of(operator, integration, token)
            assert page.status_code == 200
            assert "It would be exchanged. It has not been used up." in words(page)
            assert "none yet; the exchange creates it" in words(page)
            assert token not in page.content.decode()
            assert token.rpartition(".")[2] not in page.content.decode()
        assert not ConsumedAssertion.objects.exists()
        assert Account.objects.count() == 1
        assert not RefusedAssertion.objects.exists()
        assert "one-of-a-kind" not in caplog.text
        assert logged() == []
        assert exchanged(token) == 200

    def test_says_that_it_was_used(self, operator: Client, server: ProductServer, integration: Integration) -> None:
        token = server.assertion()
        assert exchanged(token) == 200
        page = words(report_of(operator, integration, token))
        assert "It would be refused: used before." in page
        assert "exchanged before" in page

    def test_says_what_else_is_wrong(self, operator: Client, server: ProductServer, integration: Integration) -> None:
        make_account("did:web:studio.example:mallory", suspended_at=timezone.now())
        of_mallory = server.assertion(sub="did:web:studio.example:mallory", aud="https://other.example")
        page = words(report_of(operator, integration, of_mallory))
        assert f"It would be refused: aud is not the integration&#x27;s audience, {server.audience}." in page
        assert "suspended or deactivated" in page
        Integration.objects.update(enabled=False)
        assert "It would be refused: the integration is disabled." in words(
            report_of(operator, integration, of_mallory)
        )

    def test_looks_nothing_up_for_what_the_integration_did_not_sign(
        self, operator: Client, server: ProductServer, integration: Integration
    ) -> None:
        make_account("did:web:studio.example:mallory", suspended_at=timezone.now())
        page = words(report_of(operator, integration, ProductServer().assertion(sub="did:web:studio.example:mallory")))
        assert "It would be refused: the signature does not verify" in page
        assert "suspended or deactivated" not in page
        assert page.count("Not checked") == 2

    @pytest.mark.parametrize("token", ["x", "a.b.c", "<script>alert(1)</script>", "\x00", "é" * 100, "x" * 17_000])
    def test_of_anything_is_answered(self, operator: Client, integration: Integration, token: str) -> None:
        page = report_of(operator, integration, token)
        assert page.status_code == 200
        assert b"<script>alert" not in page.content
        assert "It would be exchanged" not in words(page)

    def test_is_for_whoever_sees_integrations(self, server: ProductServer, integration: Integration) -> None:
        assert report_of(clerk("view_integration"), integration, server.assertion()).status_code == 200
        assert report_of(clerk("view_account", name="other"), integration, server.assertion()).status_code == 403


class TestKeys:
    @pytest.mark.parametrize("way", ["file", "text"])
    def test_are_added_beside_the_others(self, operator: Client, integration: Integration, way: str) -> None:
        Integration.objects.update(jwks={"keys": [of(P256, kid="a")]})
        given = SimpleUploadedFile("key.pem", pem(EDWARDS).encode()) if way == "file" else pem(EDWARDS)
        answer = upload(operator, integration, kid="b", **{way: given})
        assert answer["Location"] == address("accounts_integration_change", integration.pk)
        integration.refresh_from_db()
        assert integration.jwks == {"keys": [of(P256, kid="a"), of(EDWARDS, kid="b")]}
        assert [entry[1] for entry in logged()] == ["Added b: yearly"]

    def test_replace_the_others(self, operator: Client, server: ProductServer, integration: Integration) -> None:
        token = server.assertion()
        upload(operator, integration, text=json.dumps({"keys": [of(EDWARDS, kid="b")]}), replaces="on")
        integration.refresh_from_db()
        assert integration.jwks == {"keys": [of(EDWARDS, kid="b")]}
        assert exchanged(token) == 400
        assert [entry[1] for entry in logged()] == ["Replaced the keys by b: yearly"]

    @pytest.mark.parametrize(
        ("form", "said"),
        [
            ({}, "Choose a file, or paste the keys."),
            ({"text": private(P256)}, "This is a private key."),
            ({"text": json.dumps(of(P256, d="c2VjcmV0"))}, "Key 1 of 1 is private."),
            ({"text": pem(EDWARDS)}, "each needs a key ID"),
            ({"text": pem(EDWARDS), "kid": "a"}, "another key with the key ID"),
            ({"text": pem(P256), "kid": "b"}, "The integration has this key already."),
            ({"text": pem(EDWARDS), "kid": "b", "reason": ""}, "This field is required."),
        ],
    )
    def test_what_is_wrong_is_said_and_nothing_stored(
        self, operator: Client, integration: Integration, form: dict[str, str], said: str
    ) -> None:
        Integration.objects.update(jwks={"keys": [of(P256, kid="a")]})
        page = upload(operator, integration, **form)
        assert page.status_code == 200
        assert said in words(page)
        assert Integration.objects.get().jwks == {"keys": [of(P256, kid="a")]}
        assert logged() == []

    def test_a_private_key_is_not_shown_again(self, operator: Client, integration: Integration) -> None:
        page = upload(operator, integration, text=private(P256)).content.decode()
        assert "BEGIN PRIVATE KEY" not in page

    def test_are_uploaded_by_whoever_changes_integrations(self, integration: Integration) -> None:
        before = Integration.objects.get().jwks
        assert upload(clerk("view_integration"), integration, text=pem(EDWARDS), kid="b").status_code == 403
        assert Integration.objects.get().jwks == before


def kept() -> dict[str, int]:
    return dict(RefusedAssertion.objects.values_list("cause", "count"))


class TestRefusals:
    def test_are_counted_by_cause(self, server: ProductServer, integration: Integration) -> None:
        used = server.assertion()
        assert exchanged(used) == 200
        make_account("did:web:studio.example:mallory", suspended_at=timezone.now())
        for token in (
            *(used, used),
            server.assertion(aud="x"),
            server.assertion(cnf={"jkt": "x"}),
            server.assertion(sub="did:web:studio.example:mallory"),
            ProductServer().assertion(),
        ):
            assert exchanged(token) == 400
        assert exchanged(server.assertion(capabilities=["wallet:read"]), scope="orgs:manage") == 400
        Integration.objects.update(enabled=False)
        assert exchanged(server.assertion()) == 400
        assert kept() == {
            "replayed": 2,
            "audience": 1,
            "client_key": 1,
            "account": 1,
            "signature": 1,
            "scope": 1,
            "disabled": 1,
        }

    def test_of_nobody_we_know_are_not_kept(self, integration: Integration) -> None:
        for token in (ProductServer(issuer="https://stranger.example").assertion(), "x", "a.b.c"):
            assert exchanged(token) == 400
        assert kept() == {}

    def test_keep_the_latest_few_and_push_out_none_of_another_cause(
        self, server: ProductServer, integration: Integration
    ) -> None:
        assert exchanged(server.assertion(aud="x")) == 400
        for _ in range(12):
            assert exchanged(ProductServer().assertion(aud="hostile text")) == 400
        assert kept() == {"audience": 1, "signature": 12}
        row = RefusedAssertion.objects.get(cause="signature")
        assert len(row.latest) == refusals.LATEST_MAX
        assert {tuple(sorted(one)) for one in row.latest} == {("at", "reason", "requestId")}
        assert [one["at"] for one in row.latest] == sorted((one["at"] for one in row.latest), reverse=True)
        assert all(one["requestId"].startswith("req_") for one in row.latest)
        assert "hostile text" not in json.dumps(row.latest)

    def test_are_shown_on_the_page_of_the_integration(
        self, operator: Client, server: ProductServer, integration: Integration
    ) -> None:
        exchanged(server.assertion(aud="x"))
        page = words(operator.get(address("accounts_integration_change", integration.pk)))
        assert "Audience (aud)" in page
        assert f"aud is not the integration&#x27;s audience, {server.audience}" in page

    def test_are_deleted_after_14_days(self, server: ProductServer, integration: Integration) -> None:
        exchanged(server.assertion(aud="x"))
        assert refusals.purge(now=timezone.now() + timedelta(days=13)) == 0
        assert refusals.purge(now=timezone.now() + timedelta(days=15)) == 1
        assert kept() == {}

    def test_an_integration_that_is_deleted_takes_them_along(
        self, operator: Client, server: ProductServer, integration: Integration
    ) -> None:
        exchanged(server.assertion(aud="x"))
        answer = operator.post(address("accounts_integration_delete", integration.pk), {"post": "yes"})
        assert answer.status_code == 303
        assert kept() == {}
