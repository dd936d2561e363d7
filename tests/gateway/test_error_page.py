"""Each error is explained, on a page of the gateway's and in the documentation."""

import ast
import re

import pytest
from django.test import Client

from gateway.core.contract.error_help import HELP
from gateway.core.contract.errors import CATALOGUE, ApiError, InsufficientFunds
from gateway.error_reference import FOR_TOKEN_ROUTES
from gateway.run.options import PROJECT_DIR
from tests.architecture.test_requirements import SERVICE
from tests.gateway.error_page import PAGE, written


def test_every_code_has_help_in_sentences() -> None:
    assert set(HELP) == set(CATALOGUE.values())
    for kind, help_ in HELP.items():
        for text in (help_.cause, help_.remedy, str(help_.retry)):
            assert (text[-1], text.count("`") % 2) == (".", 0), kind


def test_no_error_of_the_code_is_missing_in_the_catalogue() -> None:
    """Only the catalogue defines codes, and nobody else writes an error's body by hand."""
    known = {PROJECT_DIR / "gateway/core" / file for file in ("contract/errors.py", "api/schema_errors.py")}
    for path in {file for app in SERVICE for file in (PROJECT_DIR / app).rglob("*.py")} - known:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and any(_name(base) in NAMES for base in node.bases):
                assert "code" not in {_name(target) for each in node.body for target in getattr(each, "targets", ())}, (
                    path
                )
            if isinstance(node, ast.Dict):
                assert not {"code", "message", "request_id"} <= {getattr(key, "value", None) for key in node.keys}, path


NAMES = {ApiError.__name__, *(kind.__name__ for kind in CATALOGUE.values())}


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def test_the_page_of_the_documentation_is_what_the_catalogue_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == written()


@pytest.fixture(scope="module")
def page() -> str:
    response = Client().get("/docs/errors")
    assert (response.status_code, response["Cache-Control"]) == (200, "public, max-age=3600")
    assert "unsafe" not in response["Content-Security-Policy"]
    return response.content.decode()


def test_the_page_has_an_anchor_for_each_code(page: str) -> None:
    assert re.findall(r'<section id="([a-z_]+)"', page) == [
        kind.code for kind in sorted(CATALOGUE.values(), key=lambda kind: kind.default_status)
    ]
    assert "<code>details.budgetId</code>" in page


def test_a_body_leads_to_its_section(page: str) -> None:
    for kind in CATALOGUE.values():
        bodies = kind().body("r")["error"]["docs_url"], kind().messages_body("r")["error"]["docs_url"]
        assert {*bodies, kind().oauth_body("r")["error_uri"]} == {f"https://gateway.example/docs/errors#{kind.code}"}


def test_the_address_follows_the_setting(settings: object) -> None:
    settings.GATEWAY_BASE_URL = "https://ai.example/base"  # type: ignore[attr-defined]
    assert InsufficientFunds().docs_url == "https://ai.example/base/docs/errors#insufficient_funds"
    assert "https://ai.example/base/docs/errors#insufficient_funds" in Client().get("/docs/errors").content.decode()


def test_examples_of_token_routes_have_their_form(page: str) -> None:
    for kind in FOR_TOKEN_ROUTES:
        assert f"&quot;error&quot;: &quot;{kind.code}&quot;" in page
