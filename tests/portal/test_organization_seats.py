"""The pages for products and seats: permissions and prices."""

import re

import pytest

from organizations.models import Entitlement, Organization, Seat
from organizations.operations import products
from organizations.portal import texts
from organizations.rules.roles import Role
from tests.factories.organizations import Team, product
from tests.portal.organization_browser import OrganizationPages, message
from tests.portal.test_wallet import text_of

pytestmark = pytest.mark.django_db

ROLES = list(Role)
ABOUT = "/organizations/invitation/about"


class TestProducts:
    """Enable, limit, disable."""

    def test_enabling_limiting_and_disabling(self, organization_pages: OrganizationPages) -> None:
        assert "enabled" in message(organization_pages.post("billing", "products", "courier", "enable"))
        assert "The seat cap is now 3" in message(
            organization_pages.post("billing", "products", "courier", "limit", max_seats="3")
        )
        assert Entitlement.objects.get(product_id="courier").max_seats == 3
        assert "There is no seat cap now." in message(
            organization_pages.post("billing", "products", "courier", "limit", max_seats="")
        )
        assert Entitlement.objects.get(product_id="courier").max_seats is None
        assert "disabled" in message(organization_pages.post("billing", "products", "courier", "disable"))

    def test_enabling_asks_for_confirmation_and_says_the_cost(self, organization_pages: OrganizationPages) -> None:
        assert 'href="{}"'.format(organization_pages.path("products", "courier", "enable")) in organization_pages.get(
            "billing", "products"
        )
        words = text_of(organization_pages["billing"].get(organization_pages.path("products", "courier", "enable")))
        assert "Enable Courier? It costs $15.00 per seat per month , counted by the day" in words
        assert "At least one seat is counted per day, even if nobody has one: $15.00 for a whole month." in words
        assert not Entitlement.objects.filter(product_id="courier").exists()

    def test_a_free_product_says_so(self, organization_pages: OrganizationPages) -> None:
        product("freebie", 0)
        words = text_of(organization_pages["owner"].get(organization_pages.path("products", "freebie", "enable")))
        assert "Its seats are free." in words
        assert "$" not in words

    def test_enabling_an_unknown_product_is_not_offered(self, organization_pages: OrganizationPages) -> None:
        assert organization_pages["owner"].get(organization_pages.path("products", "no", "enable")).status_code == 404

    @pytest.mark.parametrize("cap", ["-1", "1.5", "many", "10000000"])
    def test_a_bad_limit_is_reported(self, organization_pages: OrganizationPages, cap: str) -> None:
        answer = organization_pages.post("owner", "products", "studio", "limit", max_seats=cap)
        assert answer.status_code == 400
        assert message(answer).startswith("error The seat cap must be a whole number")
        assert f'value="{cap}" aria-invalid="true"' in answer.content.decode()
        assert Entitlement.objects.get(product_id="studio").max_seats is None

    def test_disabling_asks_for_confirmation_and_lists_the_seats_that_end(
        self, organization_pages: OrganizationPages
    ) -> None:
        organization_pages.seat("admin")
        page = organization_pages.get("owner", "products", "studio", "disable")
        assert "Disable Studio?" in page
        assert "<li>Admin</li>" in page
        assert Entitlement.objects.get().is_enabled
        assert (
            organization_pages["owner"].get(organization_pages.path("products", "courier", "disable")).status_code
            == 404
        )

    def test_an_unknown_product_is_reported(self, organization_pages: OrganizationPages) -> None:
        assert (
            message(organization_pages.post("owner", "products", "no-such", "enable"))
            == f"error {texts.ERRORS['not_found']}"
        )


class TestSeats:
    """Assigning and removing seats, and refusals."""

    def test_giving_and_taking(self, organization_pages: OrganizationPages) -> None:
        member = organization_pages.member("member")
        answer = organization_pages.post("admin", "products", "studio", "seats", member, "assign", page="1")
        assert answer.redirect_chain == [(organization_pages.path("seats") + "?of=studio&page=1", 303)]
        assert "Assigned since" in answer.content.decode()
        assert "Studio" in organization_pages.get("member", "seats")
        assert "was removed" in message(
            organization_pages.post("admin", "products", "studio", "seats", member, "revoke")
        )
        assert "You have no seat yet." in organization_pages.get("member", "seats")

    def test_removing_needs_a_confirmation(self, organization_pages: OrganizationPages) -> None:
        organization_pages.seat()
        parts = ("products", "studio", "seats", organization_pages.member("member"), "revoke")
        page = organization_pages.get("admin", *parts)
        assert "Remove the seat of Member?" in page
        assert "will immediately lose access to Studio" in page
        assert Seat.objects.filter(assigned_at__isnull=False).count() == 1, "asking removes nothing"
        organization_pages.post("admin", *parts)
        assert not Seat.objects.filter(assigned_at__isnull=False).exists()

    def test_unknown_seats_have_no_confirmation_page(self, organization_pages: OrganizationPages) -> None:
        other = Team("oscar", "Other")
        for product_id, member in (("no-such", organization_pages.member("member")), ("studio", other["oscar"].pk)):
            path = organization_pages.path("products", product_id, "seats", member, "revoke")
            assert organization_pages["owner"].get(path).status_code == 404
            assert organization_pages["owner"].post(path).status_code == 404

    @pytest.mark.parametrize("why", ["seat_cap_reached", "billing_past_due"])
    def test_assigning_is_disabled_with_the_reason(self, organization_pages: OrganizationPages, why: str) -> None:
        assert "disabled" not in organization_pages.get("admin", "seats")
        if why == "seat_cap_reached":
            organization_pages.seat("admin")
            products.set_cap(
                org_id=organization_pages.team.id,
                product="studio",
                max_seats=1,
                actor_did=organization_pages.team.owner.did,
            )
        else:
            Organization.objects.update(is_past_due=True)
        page = organization_pages.get("admin", "seats")
        buttons = re.findall(r"<button[^>]*>Assign seat</button>", page)
        assert buttons
        assert all(' disabled aria-describedby="why-not"' in one for one in buttons)
        assert f'id="why-not">{texts.ERRORS[why]}' in page

    @pytest.mark.parametrize("code", ["seat_cap_reached", "billing_past_due", "product_disabled"])
    def test_refusals_are_in_plain_words(self, organization_pages: OrganizationPages, code: str) -> None:
        match code:
            case "seat_cap_reached":
                products.set_cap(
                    org_id=organization_pages.team.id,
                    product="studio",
                    max_seats=0,
                    actor_did=organization_pages.team.owner.did,
                )
            case "billing_past_due":
                Organization.objects.update(is_past_due=True)
            case "product_disabled":
                products.disable(
                    org_id=organization_pages.team.id, product="studio", actor_did=organization_pages.team.owner.did
                )
        answer = organization_pages.post(
            "owner", "products", "studio", "seats", organization_pages.member("member"), "assign"
        )
        assert message(answer) == f"error {texts.ERRORS[code]}"
        assert not Seat.objects.filter(assigned_at__isnull=False).exists()

    def test_billing_sees_all_seats_and_touches_none(self, organization_pages: OrganizationPages) -> None:
        organization_pages.seat()
        page = organization_pages.get("billing", "seats")
        assert "Assigned since" in page
        assert "Remove seat" not in page

    def test_no_enabled_product_means_no_seats(self, organization_pages: OrganizationPages) -> None:
        products.disable(
            org_id=organization_pages.team.id, product="studio", actor_did=organization_pages.team.owner.did
        )
        assert "no seats to assign" in organization_pages.get("owner", "seats")
