"""The operators' log of what `manage.py apply` changed."""

from pathlib import Path

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.test import Client

from accounts.models import Account, AppearanceProduct
from accounts.operations.operator_log import CONFIGURATION_DID
from billing.models import CreditLot
from inference.models import Alias, Upstream
from tests.gateway.config_files import WHOLE, Applied, apply_text
from tests.gateway.operators import address

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

Entry = tuple[str | None, str | None, str, int, str]


def entries() -> list[Entry]:
    found = LogEntry.objects.order_by("id").values_list(
        "content_type__model", "object_id", "object_repr", "action_flag", "change_message"
    )
    return list(found)


def changed(folder: Path, text: str) -> tuple[Applied, list[Entry]]:
    before = len(entries())
    applied = apply_text(folder, text)
    return applied, entries()[before:]


def test_each_created_row_has_an_entry_of_the_configuration() -> None:
    found = entries()
    assert {flag for *_, flag, _ in found} == {ADDITION}
    assert len(found) == 33
    primary, lot = Upstream.objects.get(name="primary"), CreditLot.objects.get(source_key="welcome-alice")
    assert ("upstream", str(primary.pk), "primary", ADDITION, "Created by gateway.yaml: upstream primary") in found
    [credit] = [entry for entry in found if entry[:2] == ("creditlot", lot.pk)]
    assert credit[3:] == (
        ADDITION,
        "Created by gateway.yaml: credit welcome-alice: 5000000 micro-USD for did:web:studio.example:alice",
    )
    [user] = Account.objects.filter(logentry__isnull=False).distinct()
    assert (user.did, user.is_active, user.is_staff, user.has_usable_password()) == (
        CONFIGURATION_DID,
        False,
        False,
        False,
    )


def test_an_updated_row_has_an_entry_and_unchanged_rows_have_none(tmp_path: Path) -> None:
    primary, fast = Upstream.objects.get(name="primary"), Alias.objects.get(name="fast")
    text = WHOLE.replace("timeout_seconds: 60", "timeout_seconds: 61").replace("[service, studio, courier]", "[studio]")
    text = text.replace("      - {upstream: primary, model: small-2, priority: 1, weight: 3}\n", "")
    words = "Updated by gateway.yaml:"
    table = str(AppearanceProduct._meta.verbose_name_plural)

    _, found = changed(tmp_path, text)

    assert found == [
        ("appearanceproduct", None, table, CHANGE, f"{words} appearance products: studio"),
        ("upstream", str(primary.pk), "primary", CHANGE, f"{words} upstream primary: timeout_seconds 60.0 -> 61.0"),
        ("alias", str(fast.pk), "fast", CHANGE, f"{words} alias fast: no longer served by primary/small-2"),
    ]
    assert changed(tmp_path, text)[1] == []


def test_a_changed_secret_is_not_in_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-next-secret")
    _, found = changed(tmp_path, WHOLE.replace("secret: sk-literal-secret", "secret: sk-rotated-secret"))
    assert sorted(words for *_, words in found) == [
        "Updated by gateway.yaml: CI provider forge: secret replaced",
        "Updated by gateway.yaml: sandbox settings: secret replaced",
        "Updated by gateway.yaml: upstream primary: api_key replaced",
    ]
    assert not LogEntry.objects.filter(change_message__regex="sk-|secret [^r]").exists()


@pytest.mark.parametrize(
    ("text", "arguments"),
    [(WHOLE.replace("timeout_seconds: 60", "timeout_seconds: 61"), ["--check"]), (WHOLE + "unknown: {}\n", [])],
    ids=["a check", "a refused file"],
)
def test_what_changes_nothing_leaves_no_entry(tmp_path: Path, text: str, arguments: list[str]) -> None:
    before = entries()
    apply_text(tmp_path, text, *arguments)
    assert entries() == before


def test_a_row_that_the_database_refuses_leaves_no_entry_of_the_others(tmp_path: Path) -> None:
    before = entries()
    text = WHOLE.replace("timeout_seconds: 60", "timeout_seconds: 61").replace(
        "amount_microusd: 500000\n", "amount_microusd: 7\n"
    )
    assert apply_text(tmp_path, text).code == 1
    assert entries() == before


def test_an_entry_is_in_the_console_and_in_the_history_of_its_row(operator: Client) -> None:
    primary = Upstream.objects.get(name="primary")
    for page in (address("admin_logentry_changelist"), address("inference_upstream_history", primary.pk)):
        shown = operator.get(page).content.decode()
        assert "Created by gateway.yaml: " in shown
        assert "Configuration" in shown
