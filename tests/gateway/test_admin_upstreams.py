"""Upstreams in the console: checked as in the file, and their credentials shown nowhere."""

import json
import re
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.test import Client

from inference.admin.upstream_form import UpstreamForm
from inference.models import Upstream
from tests.gateway.operators import address, clerk, errors, logged

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def upstream_form(**members: str) -> dict[str, str]:
    return {
        "name": "primary",
        "adapter": "openai",
        "base_url": "https://models.example/v1",
        "api_key": "",
        "timeout_seconds": "60",
        "enabled": "on",
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
        ({"known_routes": "chat"}, "known_routes"),
        ({"auth": "host"}, "auth"),
        ({"auth": "api key"}, "auth"),
        ({"query": "api-version"}, "query"),
        ({"query": "a=1\na=2"}, "query"),
        ({"query": "a b=1"}, "query"),
        ({"query": "a=\u00e9"}, "query"),
        ({"query": "\n".join(f"a{number}=1" for number in range(9))}, "query"),
        ({"output_limit_field": "tokens"}, "output_limit_field"),
        ({"organization": "two words"}, "organization"),
        ({"project": "p\x00"}, "project"),
        ({"organization": "o" * 201}, "organization"),
    ],
)
def test_an_upstream_is_checked_as_in_the_file(operator: Client, members: dict[str, str], field: str) -> None:
    response = operator.post(address("inference_upstream_add"), upstream_form(name="other", **members))
    assert list(errors(response)) == [field]
    assert not Upstream.objects.filter(name="other").exists()


def test_alarms_come_first_and_only_where_there_were_any(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    page = address("inference_upstream_change", upstream.pk)
    assert [title for title, _ in operator.get(page).context["adminform"].fieldsets] == [
        *(None, "Credential", "Calls", "What it does differently", "Models")
    ]
    assert "Alarms" not in operator.get(address("inference_upstream_add")).content.decode()
    alarm = "the upstream refuses the gateway's credential (401)"
    Upstream.objects.update(alarms=3, last_alarm=alarm, last_alarm_at=datetime(2026, 11, 1, 12, tzinfo=UTC))
    shown = operator.get(page)
    assert shown.context["adminform"].fieldsets[0][0] == "Alarms"
    text = unescape(shown.content.decode())
    assert (
        text.index(alarm) < text.index("2026-11-01 12:00:00") < text.index("Number of alarms") < text.index("Base URL")
    )


OPTIONS = {
    "known_routes": ["chat.completions", "embeddings"],
    "auth": "api-key",
    "query": "api-version=preview\n\n region = eu ",
    "output_limit_field": "max_tokens",
    "refuses_service_tiers": "on",
    "keeps_records": "on",
    "organization": "org-1",
    "project": "proj_1",
}
STORED = {
    "routes": ["chat.completions", "embeddings"],
    "auth": "api-key",
    "query": {"api-version": "preview", "region": "eu"},
    "output_limit_field": "max_tokens",
    "service_tiers": False,
    "looks_up": "generations",
    "organization": "org-1",
    "project": "proj_1",
}


def test_options_are_fields_and_those_without_a_field_stay(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    Upstream.objects.filter(pk=upstream.pk).update(options={"token_seconds": 0, "service_tiers": True})
    page = address("inference_upstream_change", upstream.pk)
    assert operator.post(page, {**upstream_form(), **OPTIONS}).status_code == 303
    upstream.refresh_from_db()
    assert upstream.options == {"token_seconds": 0, **STORED}

    form = operator.get(page).context["adminform"].form
    assert {name: form[name].value() for name in OPTIONS} == {
        **OPTIONS,
        "query": "api-version=preview\nregion=eu",
        "refuses_service_tiers": True,
        "keeps_records": True,
    }
    before = len(logged())
    assert operator.post(page, {**upstream_form(), **OPTIONS}).status_code == 303
    assert logged()[before:] == [(2, "[]")]  # nothing was changed

    assert operator.post(page, upstream_form()).status_code == 303
    upstream.refresh_from_db()
    assert upstream.options == {"token_seconds": 0}


def test_whoever_may_only_look_sees_the_options() -> None:
    upstream = Upstream.objects.get(name="primary")
    Upstream.objects.filter(pk=upstream.pk).update(options=STORED)
    shown = unescape(clerk("view_upstream").get(address("inference_upstream_change", upstream.pk)).content.decode())
    assert "auth: api-key" in shown
    assert "looks_up: generations" in shown


def keys() -> tuple[str, str, str]:
    row = Upstream.objects.get(name="primary")
    return row.api_key, row.next_api_key, row.previous_api_key


def test_a_key_is_rotated_with_reasons_and_shown_nowhere(operator: Client) -> None:
    pk, old, new = Upstream.objects.get(name="primary").pk, "sk-primary-secret", "sk-next-secret"
    steps = [
        ("add_key", {"next_key": new}, "Added the next key", (old, new, "")),
        ("switch_key", {}, "Switched to the next key", (new, "", old)),
        ("switch_back", {}, "Switched back to the old key", (old, new, "")),
        ("switch_key", {}, "Switched to the next key", (new, "", old)),
        ("remove_key", {"seen": "old"}, "Removed the old key", (new, "", "")),
    ]
    for name, members, words, expected in steps:
        page, before = address(f"inference_upstream_{name}", pk), len(logged())
        without_reason = operator.post(page, {"_form_submitted": "on", **members})
        assert b"This field is required" in without_reason.content
        assert keys() != expected
        assert new.encode() not in without_reason.content
        answer = operator.post(page, {"_form_submitted": "on", "reason": "yearly", **members})
        assert answer.headers["HX-Redirect"] == address("inference_upstream_change", pk)
        assert keys() == expected
        assert logged()[before:] == [(2, f"{words}: yearly")]
    shown = operator.get(address("inference_upstream_change", pk)).content.decode()
    assert not [secret for secret in (old, new, "gAAAA") if secret in shown + json.dumps(logged())]


@pytest.mark.parametrize("key", ["", "   ", "two words", "k\x00", "\u00e9", "k" * 4097])
def test_a_next_key_that_cannot_be_sent_is_refused(operator: Client, key: str) -> None:
    page = address("inference_upstream_add_key", Upstream.objects.get(name="primary").pk)
    answer = operator.post(page, {"_form_submitted": "on", "reason": "yearly", "next_key": key})
    assert "HX-Redirect" not in answer.headers
    assert keys() == ("sk-primary-secret", "", "")


def test_a_next_key_that_is_there_is_replaced_only_if_that_is_confirmed(operator: Client) -> None:
    pk = Upstream.objects.get(name="primary").pk
    page = address("inference_upstream_add_key", pk)
    assert b"Replace the next key" not in operator.get(page).content
    Upstream.objects.filter(pk=pk).update(next_api_key="sk-theirs")
    assert b"Replace the next key" in operator.get(page).content
    sent = {"_form_submitted": "on", "reason": "yearly", "next_key": "sk-mine"}

    answer = operator.post(page, sent, follow=True)
    assert (keys(), logged()) == (("sk-primary-secret", "sk-theirs", ""), [])
    shown = operator.get(answer.headers["HX-Redirect"]).content.decode()
    assert "There is a next key already. Switch to it, remove it, or confirm that this one replaces it." in shown

    operator.post(page, {**sent, "replaces": "on"})
    assert keys() == ("sk-primary-secret", "sk-mine", "")
    assert logged() == [(2, "Replaced the next key, which was not switched to: yearly")]
    operator.post(page, {**sent, "reason": "sent twice"})
    assert keys() == ("sk-primary-secret", "sk-mine", "")


def test_of_two_operators_who_switch_the_second_is_told(operator: Client) -> None:
    pk = Upstream.objects.get(name="primary").pk
    Upstream.objects.update(next_api_key="sk-next-secret")
    page = address("inference_upstream_switch_key", pk)
    for _ in range(2):
        answer = operator.post(page, {"_form_submitted": "on", "reason": "yearly"})
    assert answer.status_code == 403  # there is no such step any more
    assert keys() == ("sk-next-secret", "", "sk-primary-secret")


def test_only_the_key_that_an_operator_saw_is_removed(operator: Client) -> None:
    """Somebody else switched back after the dialog was opened: what is not current now is the new key."""
    pk = Upstream.objects.get(name="primary").pk
    Upstream.objects.update(api_key="sk-next-secret", previous_api_key="sk-primary-secret")
    page = address("inference_upstream_remove_key", pk)
    opened = operator.get(page).content.decode()
    [seen] = re.findall(r'name="seen" value="(\w+)"', opened)
    assert seen == "old"
    operator.post(address("inference_upstream_switch_back", pk), {"_form_submitted": "on", "reason": "refused"})
    operator.post(page, {"_form_submitted": "on", "reason": "yearly", "seen": seen})
    assert keys() == ("sk-primary-secret", "sk-next-secret", "")
    assert logged()[-1] == (2, "Switched back to the old key: refused")


def test_saving_an_upstream_does_not_undo_a_switch_of_somebody_else(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    pk = Upstream.objects.get(name="primary").pk
    clean = UpstreamForm.clean

    def switched_meanwhile(form: UpstreamForm) -> Any:
        Upstream.objects.filter(pk=pk).update(api_key="sk-next-secret", previous_api_key="sk-primary-secret")
        return clean(form)

    monkeypatch.setattr(UpstreamForm, "clean", switched_meanwhile)
    page = address("inference_upstream_change", pk)
    assert operator.post(page, upstream_form(timeout_seconds="30")).status_code == 303
    assert keys() == ("sk-next-secret", "", "sk-primary-secret")
    assert Upstream.objects.get(pk=pk).timeout_seconds == 30


@pytest.mark.parametrize(
    "members",
    [{"base_url": "https://other.example/v1", "api_key": "sk-typed-secret"}, {"remove_api_key": "on"}],
)
def test_the_other_key_goes_to_no_new_address_and_stays_with_no_removed_one(
    operator: Client, members: dict[str, str]
) -> None:
    Upstream.objects.update(previous_api_key="sk-old-secret")
    page = address("inference_upstream_change", Upstream.objects.get(name="primary").pk)
    assert operator.post(page, upstream_form(**members)).status_code == 303
    assert keys() == (members.get("api_key", ""), "", "")
