"""What an operator sees of the folders of journals."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE
from django.test import Client
from django.utils import timezone

from gateway.metrics import figures
from inference.models import JournalFolder
from tests.gateway.console import make_journal_folder
from tests.gateway.operators import address, clerk, logged

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_others() -> None:
    """Forget the folder of a gateway that an earlier test file started."""
    JournalFolder.objects.all().delete()


LINE = "Journals on node-7 are read by nobody"


def ago(minutes: int) -> Any:
    return timezone.now() - timedelta(minutes=minutes)


def lines(client: Client) -> dict[str, str]:
    """Return the lines of what needs a person, and where each leads."""
    return {line.text: line.link for line in client.get("/admin/").context["waiting"]}


def alarming() -> int:
    return figures.read(now=timezone.now()).journal_folders


def forget(client: Client, row: JournalFolder, reason: str = "Its disk is lost") -> Any:
    path = f"{address('inference_journalfolder_changelist')}{row.pk}/forget/"
    return client.post(path, {"_form_submitted": "on", "reason": reason})


def test_one_that_nobody_reads_is_named_until_it_is_read_or_forgotten(operator: Client) -> None:
    row, idle = make_journal_folder(read_at=ago(2)), make_journal_folder(read_at=ago(2), files=0)
    page = address("inference_journalfolder_change", row.pk)
    assert lines(operator)[LINE] == page
    assert "/srv/gateway/journal, 2 files" in operator.get("/admin/").content.decode()
    assert alarming() == 1
    shown = operator.get(page).content.decode()
    assert "Read by nobody" in shown
    assert "Start the gateway on this machine again." in shown
    assert "Not in use" in operator.get(address("inference_journalfolder_change", idle.pk)).content.decode()
    assert "HX-Redirect" not in forget(operator, row, reason="")
    assert forget(operator, row)["HX-Redirect"] == page
    assert logged() == [(CHANGE, "Forgotten: Its disk is lost")]
    assert (LINE in lines(operator), alarming()) == (False, 0)
    assert "Not in use" in operator.get(page).content.decode()


def test_one_that_is_read_needs_nobody_unless_a_journal_cannot_be_closed(operator: Client) -> None:
    row = make_journal_folder(read_at=ago(0), waiting_since=ago(9))
    assert ([text for text in lines(operator) if "node-7" in text], alarming()) == ([], 0)
    assert forget(operator, row).status_code == 403
    JournalFolder.objects.filter(pk=row.pk).update(waiting_since=ago(11))
    assert "Journals on node-7 cannot be closed" in lines(operator)
    assert alarming() == 1
    page = operator.get(address("inference_journalfolder_change", row.pk)).content.decode()
    assert "Cannot be closed" in page
    assert "The log of inference.recovery on this machine says why" in page


def test_only_who_has_the_right_may_forget_one() -> None:
    row = make_journal_folder(read_at=ago(2))
    looks = clerk("view_journalfolder")
    assert LINE in lines(looks)
    assert forget(looks, row).status_code == 403
    assert lines(clerk("view_wallet", name="other")) == {}
    assert JournalFolder.objects.get(pk=row.pk).files == 2
