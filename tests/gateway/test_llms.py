"""GET /llms.txt tells a program that reads where everything is."""

import re

import pytest
from django.conf import settings
from django.test import Client

pytestmark = pytest.mark.django_db


def test_every_link_leads_somewhere() -> None:
    response = Client().get("/llms.txt")
    text = response.content.decode()
    assert (response.status_code, response["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert text.startswith(f"# Account Gateway at {settings.GATEWAY_BASE_URL}\n\n> ")
    links = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): ", text, re.MULTILINE)
    assert len(links) == 7
    for link in links:
        answer = Client().get(link.removeprefix(settings.GATEWAY_BASE_URL))
        assert answer.status_code in (200, 302), link


def test_it_can_only_be_read() -> None:
    assert "&" not in Client().get("/llms.txt").content.decode(), "it is text, and nothing in it is escaped"
    assert Client().post("/llms.txt").status_code == 405
