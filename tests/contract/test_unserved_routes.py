"""The vendor's routes that the API page lists as not served are not served."""

import re
from pathlib import Path

import pytest
from django.test import Client

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api.md"
SECTION = PAGE.read_text().partition("## Routes of the vendor's API that are not served")[2].partition("\n## ")[0]
PATHS = [
    path
    for row in SECTION.splitlines()
    for path in re.findall(r"`(/v1/[^` ]+)`", row.split("|")[1] if "|" in row else "")
]


def test_some_are_listed() -> None:
    assert len(PATHS) > 15


@pytest.mark.parametrize("path", PATHS)
def test_is_refused(client: Client, path: str) -> None:
    response = client.post(path.replace("<response_id>", "resp_1"))
    refusals = [(404, "not_found"), (405, "method_not_allowed")]
    assert (response.status_code, response.json()["error"]["code"]) in refusals
