"""The guides for operators: each piece of a configuration file that they show can be applied, in the order of a reader."""

import json
import re
from pathlib import Path

import pytest

from account_gateway_client import ProductKey
from tests.gateway.config_files import apply_text
from tests.support.pages import Page

pytestmark = pytest.mark.django_db

GUIDES = ("model", "integrations", "prices", "budgets", "invoices")


def test_what_the_guides_show_is_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-primary")
    jwks = json.dumps(ProductKey.generate().public_jwks())
    shown = [block.code for guide in GUIDES for block in Page(f"docs/guides/{guide}.md").blocks("yaml")]
    assert len(shown) == 6
    for text in shown:
        applied = apply_text(tmp_path, re.sub(r"jwks: .*", f"jwks: {jwks}", text))
        assert (applied.code, applied.err) == (0, ""), text
        again = apply_text(tmp_path, re.sub(r"jwks: .*", f"jwks: {jwks}", text))
        assert "created" not in again.summary
        assert "updated" not in again.summary
