"""The console's page that shows and downloads the configuration as a file."""

from pathlib import Path

import pytest
from django.apps import apps
from django.contrib.admin.models import CHANGE, LogEntry
from django.test import Client
from pytest_django import Settings

from accounts.models import Product
from gateway.config.file import SECTIONS
from tests.gateway.config_files import apply_text
from tests.gateway.every_key import EVERY_KEY, SECRETS
from tests.gateway.operators import clerk, logged
from tests.gateway.test_export import exported

pytestmark = pytest.mark.django_db

PAGE = "/admin/configuration/"
RIGHTS = sorted({f"view_{table._meta.model_name}" for kind in SECTIONS.values() for table in kind.tables})


@pytest.fixture(autouse=True)
def _configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    apply_text(tmp_path, EVERY_KEY)


def test_an_operator_who_may_view_every_table_downloads_what_the_command_prints() -> None:
    operator = clerk(*RIGHTS)
    shown = operator.get(PAGE)
    assert shown.status_code == 200
    assert shown.context["export"].text == exported()
    assert "What a file cannot state" not in shown.content.decode()
    assert logged() == []

    answer = operator.post(PAGE)
    assert answer.content.decode() == exported()
    assert answer["Content-Type"] == "application/yaml; charset=utf-8"
    assert "no-store" in answer["Cache-Control"]
    assert answer["Content-Disposition"].startswith('attachment; filename="gateway-20')
    for secret in SECRETS.values():
        assert secret.encode() not in shown.content + answer.content
    assert logged() == [(CHANGE, "Downloaded the configuration")]
    entry = LogEntry.objects.latest("id")
    assert (entry.user.did, entry.object_repr) == ("did:web:localhost:clerk", "https://gateway.example")


@pytest.mark.usefixtures("untracked", "remembered_refusals")
@pytest.mark.parametrize("missing", RIGHTS)
def test_a_table_that_an_operator_may_not_view_keeps_the_file_from_them(missing: str) -> None:
    operator = clerk(*(right for right in RIGHTS if right != missing))
    assert (operator.get(PAGE).status_code, operator.post(PAGE).status_code) == (403, 403)
    assert logged() == []


def test_only_those_who_may_download_it_are_led_to_it() -> None:
    assert PAGE.encode() in clerk(*RIGHTS).get("/admin/").content
    assert PAGE.encode() not in clerk(*RIGHTS[1:], name="other").get("/admin/").content
    assert Client().get(PAGE).status_code == 302


def test_it_opens_only_after_the_second_factor(settings: Settings) -> None:
    settings.STAFF_SECOND_FACTOR = True
    operator = clerk(*RIGHTS)
    for answer in (operator.get(PAGE), operator.post(PAGE)):
        assert (answer.status_code, answer.content) in ((302, b""), (303, b""))
        assert answer["Location"].startswith("/account/2fa/console/?next=")
    assert logged() == []


def test_what_a_file_cannot_state_is_shown(operator: Client) -> None:
    Product.objects.create(slug="Studio", name="Studio")
    text = operator.get(PAGE).content.decode()
    assert "What a file cannot state" in text
    assert "products[0].slug: must be a slug" in text


def test_every_section_names_the_tables_that_it_shows() -> None:
    assert all(kind.tables for kind in SECTIONS.values())
    assert {table for kind in SECTIONS.values() for table in kind.tables} <= set(apps.get_models())
