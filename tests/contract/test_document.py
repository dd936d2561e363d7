"""The OpenAPI document describes exactly the routes that exist, and each as its action declares it."""

import gzip
import io
import json
import re
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.html import escape
from drf_spectacular.generators import SchemaGenerator

from gateway import reference
from gateway.core.contract.errors import CATALOGUE, InvalidGrant, InvalidRequest
from tests.contract.document import document, error_codes, operations
from tests.contract.routes import mapped_routes
from tests.support.concurrency import at_once

DESCRIBED = operations()
MAPPED = {(route.method, route.path.replace("<", "{").replace(">", "}")): route for route in mapped_routes()}


def test_it_has_every_route_with_its_methods_and_no_other() -> None:
    assert {key for key in DESCRIBED if key[1].startswith("/v1/")} == set(MAPPED)


def test_requests_at_once_before_it_is_made_get_the_same_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The generator loads what it extends on first use, which fails where two threads do so at once."""
    made: list[Any] = []
    get_schema = SchemaGenerator.get_schema

    def counted(*args: Any, **options: Any) -> Any:
        made.append(args)
        return get_schema(*args, **options)

    monkeypatch.setattr(SchemaGenerator, "get_schema", counted)
    reference._rendered.cache_clear()
    answers = at_once(*[lambda: Client().get("/openapi.json").content] * 8)
    assert (len(made), [json.loads(answer) for answer in answers]) == (1, [document()] * 8)


def test_it_is_valid_and_made_without_a_warning() -> None:
    written = io.StringIO()
    call_command("spectacular", "--validate", "--fail-on-warn", stdout=written)
    assert "openapi: 3" in written.getvalue()


def test_what_a_route_asks_of_its_caller_is_in_it() -> None:
    for key, route in MAPPED.items():
        operation = DESCRIBED[key]
        protected: list[dict[str, list[str]]] = [] if route.access.public else [{"accessToken": [], "proof": []}]
        assert operation["security"] == protected, key
        if route.access.capability:
            assert f"`{route.access.capability}`" in operation["description"]


def test_metered_routes_describe_their_headers() -> None:
    metered = {key for key, route in MAPPED.items() if route.access.is_metered}
    without_key = {key for key, route in MAPPED.items() if route.access.metered}
    assert {("POST", "/v1/chat/completions"), ("POST", "/v1/judgement")} <= metered
    for key, operation in DESCRIBED.items():
        named = {parameter.get("$ref", "").rpartition("/")[2] for parameter in operation.get("parameters", ())}
        name = "OptionalIdempotencyKey" if key in without_key else "IdempotencyKey"
        assert ({name, "MaxCost"} <= named) == (key in metered), key
        success = next(answer for status, answer in operation["responses"].items() if status.startswith(("1", "2")))
        assert ("x-service-usage-id" in success.get("headers", {})) == (key in metered), key


def test_every_error_is_of_the_catalogue_and_every_route_describes_its_refusals() -> None:
    for key in MAPPED:
        for status, answer in DESCRIBED[key]["responses"].items():
            if int(status) >= 400:
                codes = error_codes(answer)
                assert codes, key
                assert codes <= set(CATALOGUE), key
        assert {"500", "503"} <= set(DESCRIBED[key]["responses"]), key


def test_an_error_body_of_each_code_is_described_whole() -> None:
    schemas = document()["components"]["schemas"]
    for name in ("InvalidRequestError", "NotMemberError", "InsufficientFundsError"):
        error = schemas[name]["properties"]["error"]
        assert set(error["required"]) == set(error["properties"]) == set(InvalidRequest().body("req_1")["error"])
    assert set(schemas["OAuthInvalidGrantError"]["required"]) == set(InvalidGrant().oauth_body("req_1"))


def test_members_that_answers_always_have_are_required_and_have_no_default() -> None:
    for name, schema in document()["components"]["schemas"].items():
        if name.endswith("Response"):
            optional = set(schema["properties"]) - set(schema["required"])
            assert optional <= {"refresh_token", "device_session", "y"}, name
            assert not [member for member, described in schema["properties"].items() if "default" in described], name


def test_no_answer_is_an_object_without_members() -> None:
    for key, operation in DESCRIBED.items():
        for status, answer in operation["responses"].items():
            for content in answer.get("content", {}).values():
                assert content["schema"] not in ({"type": "object"}, {"type": "object", "additionalProperties": {}}), (
                    key,
                    status,
                )


REQUIRED = {"required": True}


def test_it_says_nothing_twice_and_names_everything() -> None:
    ids = [operation["operationId"] for operation in DESCRIBED.values()]
    assert len(set(ids)) == len(ids)
    chapters = [tag["name"] for tag in document()["tags"]]
    for key, operation in DESCRIBED.items():
        assert operation["tags"][0] in chapters, key
        assert 0 < len(operation.get("summary", "")) <= 60, key
    assert len({operation["summary"] for operation in DESCRIBED.values()}) == len(DESCRIBED)


def test_it_names_the_address_of_this_gateway() -> None:
    assert document()["servers"] == [{"url": "https://gateway.example"}]


def test_every_answer_but_an_empty_one_has_its_shape() -> None:
    for key, operation in DESCRIBED.items():
        for status, answer in operation["responses"].items():
            assert ("content" in answer) == (status not in ("101", "204")), key


def test_a_body_that_a_route_reads_is_required() -> None:
    left_out = {key for key, operation in DESCRIBED.items() if not operation.get("requestBody", REQUIRED)["required"]}
    assert left_out == {("POST", "/v1/sync/account-key")}


def test_the_page_and_the_document_are_public_and_load_nothing_from_elsewhere() -> None:
    page = Client().get("/docs")
    text = page.content.decode()
    assert page.status_code == 200
    assert "http://" not in text
    assert "https://" not in text
    policy = page["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy


@pytest.mark.django_db  # any query may name a product, whose looks are asked for
def test_the_document_never_changes_under_the_address_that_the_page_has_for_it() -> None:
    (address,) = re.findall(r'data-document="([^"]+)"', Client().get("/docs").content.decode())
    named = Client().get(f"/{address}")
    assert named["Cache-Control"] == "public, max-age=31536000, immutable"
    plain = Client().get("/openapi.json", headers={"Accept-Encoding": "gzip"})
    assert (plain["Cache-Control"], plain["Content-Encoding"]) == ("no-cache", "gzip")
    assert gzip.decompress(plain.content) == named.content
    again = Client().get("/openapi.json", headers={"If-None-Match": f"W/{plain['ETag']}"})
    assert (again.status_code, again.content) == (304, b"")
    assert Client().get("/openapi.json?v=other")["Cache-Control"] == "no-cache"


def test_the_page_lists_every_operation_before_its_script_runs() -> None:
    page = Client().get("/docs").content.decode()
    for (method, path), operation in DESCRIBED.items():
        assert f"<li>{escape(operation['summary'])} <code>{method} {path}</code></li>" in page


def test_chapters_are_in_the_order_in_which_a_reader_needs_them() -> None:
    names = [tag["name"] for tag in document()["tags"]]
    used = [operation["tags"][0] for operation in DESCRIBED.values()]
    assert list(dict.fromkeys(used)) == names
    assert names[0] == "Chat"


def test_summaries_are_phrases_that_begin_with_a_verb() -> None:
    summaries = [operation["summary"] for operation in DESCRIBED.values()]
    assert len(set(summaries)) == len(summaries)
    for summary in summaries:
        first, *rest = summary.split()
        assert re.fullmatch(r"[A-Z][a-z]+[^s]", first), summary
        assert rest, summary
        assert not summary.endswith("."), summary
        assert {word.strip(",'s") for word in rest if not word.islower()} <= {"JSON", "CI", "MaxSim", "English"}, (
            summary
        )
