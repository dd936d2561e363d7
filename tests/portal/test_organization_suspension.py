"""What members of a suspended organization see in the portal, and what they still do there."""

import pytest

from organizations.operations import suspension
from tests.factories.organizations import account
from tests.portal.organization_browser import OrganizationPages, signed_in

pytestmark = pytest.mark.django_db

OPERATOR = "did:web:localhost:operator"


@pytest.fixture
def pages(organization_pages: OrganizationPages) -> OrganizationPages:
    """Suspend the organization."""
    account("operator")
    text = "Paid with a stolen card.\n<script>Ask us</script>"
    assert suspension.suspend(org_id=organization_pages.team.id, text=text, actor_did=OPERATOR)
    return organization_pages


@pytest.mark.parametrize("role", ["owner", "admin", "billing", "member"])
def test_every_member_sees_why(pages: OrganizationPages, role: str) -> None:
    page = pages.get(role)
    assert "is suspended</strong> since" in page
    assert "Paid with a stolen card.<br>&lt;script&gt;Ask us&lt;/script&gt;" in page
    home = signed_in(account(role)).get("/").content.decode()
    assert "is suspended. Apps cannot make calls for it." in home
    assert f'href="{pages.path()}"' in home


def test_the_page_of_products_says_that_none_can_be_used(pages: OrganizationPages) -> None:
    pages.seat()
    page = pages.get("member", "access")
    assert "This organization is suspended." in page
    assert "You can use it." not in page


@pytest.mark.parametrize(
    "part", ["wallet", "payments", "auto-top-up", "invoices", "budgets", "usage", "alerts", "members", "log"]
)
def test_its_owner_reads_everything(pages: OrganizationPages, part: str) -> None:
    assert "is suspended</strong> since" in pages.get("owner", part)


def test_the_log_names_no_operator(pages: OrganizationPages) -> None:
    page = pages.get("admin", "log")
    assert "suspended the organization" in page
    assert "The operator" in page
    assert OPERATOR not in page


def test_nothing_is_said_any_more_once_it_is_lifted(pages: OrganizationPages) -> None:
    suspension.lift(org_id=pages.team.id, actor_did=OPERATOR)
    assert "is suspended" not in pages.get("owner")
    assert "lifted the organization" in pages.get("admin", "log")
