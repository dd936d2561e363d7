"""Upstreams in the console: checked as in the file, and their credentials shown nowhere."""

import json
from datetime import UTC, datetime
from html import unescape

import pytest
from django.test import Client

from inference.models import Upstream
from tests.gateway.operators import address, errors, logged

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def upstream_form(**members: str) -> dict[str, str]:
    return {
        "name": "primary",
        "adapter": "openai",
        "base_url": "https://models.example/v1",
        "api_key": "",
        "timeout_seconds": "60",
        "enabled": "on",
        "options": "{}",
    } | members


def test_adapters_are_named_as_their_vendors_write_them(operator: Client) -> None:
    form = operator.get(address("inference_upstream_add")).content.decode()
    assert ">OpenAI<" in " ".join(form.split()).replace("> ", ">").replace(" <", "<")
    assert "Openai" not in form


def test_a_blank_credential_remains_and_a_typed_one_replaces_it(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    page = address("inference_upstream_change", upstream.pk)
    assert b"sk-primary-secret" not in operator.get(page).content

    assert operator.post(page, upstream_form(timeout_seconds="30", fetches_images="on")).status_code == 303
    upstream.refresh_from_db()
    assert (upstream.api_key, upstream.timeout_seconds, upstream.fetches_images) == ("sk-primary-secret", 30, True)

    operator.post(page, upstream_form(api_key="sk-typed-secret"))
    upstream.refresh_from_db()
    assert upstream.api_key == "sk-typed-secret"

    operator.post(page, upstream_form(remove_api_key="on"))
    upstream.refresh_from_db()
    assert upstream.api_key == ""
    assert "sk-" not in json.dumps(logged())


def test_a_stored_credential_is_sent_to_no_other_address(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    page = address("inference_upstream_change", upstream.pk)

    refused = operator.post(page, upstream_form(base_url="https://evil.example/v1"))
    assert list(errors(refused)) == ["api_key"]
    upstream.refresh_from_db()
    assert upstream.base_url == "https://models.example/v1"

    assert operator.post(page, upstream_form(base_url="https://models.example/v2")).status_code == 303
    moved = upstream_form(base_url="https://other.example/v1", api_key="sk-typed-secret")
    assert operator.post(page, moved).status_code == 303
    upstream.refresh_from_db()
    assert (upstream.base_url, upstream.api_key) == ("https://other.example/v1", "sk-typed-secret")


def test_a_refused_form_shows_no_credential(operator: Client) -> None:
    page = address("inference_upstream_change", Upstream.objects.get(name="primary").pk)
    response = operator.post(page, upstream_form(api_key="sk-typed-secret", base_url="http://evil.example"))
    assert list(errors(response)) == ["base_url"]
    assert b"sk-" not in response.content


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"base_url": "ftp://models.example"}, "base_url"),
        ({"base_url": ""}, "base_url"),
        ({"api_key": "two words"}, "api_key"),
        ({"timeout_seconds": "0"}, "timeout_seconds"),
        ({"timeout_seconds": "3600.1"}, "timeout_seconds"),
        ({"timeout_seconds": "inf"}, "timeout_seconds"),
        ({"timeout_seconds": "nan"}, "timeout_seconds"),
        ({"options": "[1]"}, "options"),
        ({"options": "{"}, "options"),
        ({"options": '{"routes": ["chat"]}'}, "options"),
        ({"options": '{"routes": "responses"}'}, "options"),
        ({"options": '{"looks_up": "responses"}'}, "options"),
        ({"options": '{"service_tiers": "no"}'}, "options"),
        ({"options": '{"auth": "host"}'}, "options"),
        ({"options": '{"query": {"api-version": 1}}'}, "options"),
        ({"options": "[" * 30_000}, "options"),
        ({"options": '{"a": ' + "9" * 5_000 + "}"}, "options"),
    ],
)
def test_an_upstream_is_checked_as_in_the_file(operator: Client, members: dict[str, str], field: str) -> None:
    response = operator.post(address("inference_upstream_add"), upstream_form(name="other", **members))
    assert list(errors(response)) == [field]
    assert not Upstream.objects.filter(name="other").exists()


def test_alarms_come_first_and_only_where_there_were_any(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    page = address("inference_upstream_change", upstream.pk)
    assert [title for title, _ in operator.get(page).context["adminform"].fieldsets] == [None, "Credential", "Calls"]
    assert "Alarms" not in operator.get(address("inference_upstream_add")).content.decode()
    alarm = "the upstream refuses the gateway's credential (401)"
    Upstream.objects.update(alarms=3, last_alarm=alarm, last_alarm_at=datetime(2026, 11, 1, 12, tzinfo=UTC))
    shown = operator.get(page)
    assert shown.context["adminform"].fieldsets[0][0] == "Alarms"
    text = unescape(shown.content.decode())
    assert (
        text.index(alarm) < text.index("2026-11-01 12:00:00") < text.index("Number of alarms") < text.index("Base URL")
    )
