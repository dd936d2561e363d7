"""The pages of products and seats: who may change them, and what they cost."""

import re

import pytest

from organizations.models import Entitlement, Organization, Seat
from organizations.operations import products
from organizations.portal import words
from organizations.rules.roles import Role
from tests.factories.organizations import Team
from tests.portal.organization_house import House, message

pytestmark = pytest.mark.django_db

ROLES = list(Role)
ABOUT = "/organizations/invitation/about"


class TestProducts:
    """Enable, limit, disable."""

    def test_enabling_limiting_and_disabling(self, house: House) -> None:
        assert "enabled" in message(house.post("billing", "products", "courier", "enable"))
        assert "The seat limit is now 3" in message(
            house.post("billing", "products", "courier", "limit", max_seats="3")
        )
        assert Entitlement.objects.get(product_id="courier").max_seats == 3
        assert "There is no seat limit now." in message(
            house.post("billing", "products", "courier", "limit", max_seats="")
        )
        assert Entitlement.objects.get(product_id="courier").max_seats is None
        assert "disabled" in message(house.post("billing", "products", "courier", "disable"))

    @pytest.mark.parametrize("cap", ["-1", "1.5", "many", "10000000"])
    def test_a_bad_limit_is_said(self, house: House, cap: str) -> None:
        answer = house.post("owner", "products", "studio", "limit", max_seats=cap)
        assert answer.status_code == 400
        assert message(answer).startswith("error The limit must be a whole number")
        assert f'value="{cap}" aria-invalid="true"' in answer.content.decode()
        assert Entitlement.objects.get(product_id="studio").max_seats is None

    def test_disabling_is_asked_first_and_names_whose_seats_end(self, house: House) -> None:
        house.seat("admin")
        page = house.get("owner", "products", "studio", "disable")
        assert "Disable Studio?" in page
        assert "<li>Admin</li>" in page
        assert Entitlement.objects.get().is_enabled
        assert house["owner"].get(house.path("products", "courier", "disable")).status_code == 404

    def test_an_unknown_product_is_told(self, house: House) -> None:
        assert message(house.post("owner", "products", "no-such", "enable")) == f"error {words.ERRORS['not_found']}"


class TestSeats:
    """Assigning and removing seats, and why some are refused."""

    def test_giving_and_taking(self, house: House) -> None:
        member = house.member("member")
        answer = house.post("admin", "products", "studio", "seats", member, "assign", page="1")
        assert answer.redirect_chain == [(house.path("seats") + "?of=studio&page=1", 303)]
        assert "Assigned since" in answer.content.decode()
        assert "Studio" in house.get("member", "seats")
        assert "was removed" in message(house.post("admin", "products", "studio", "seats", member, "revoke"))
        assert "You have no seat yet." in house.get("member", "seats")

    def test_removing_is_asked_first(self, house: House) -> None:
        house.seat()
        parts = ("products", "studio", "seats", house.member("member"), "revoke")
        page = house.get("admin", *parts)
        assert "Remove the seat of Member?" in page
        assert "will immediately lose access to Studio" in page
        assert Seat.objects.filter(assigned_at__isnull=False).count() == 1, "asking removes nothing"
        house.post("admin", *parts)
        assert not Seat.objects.filter(assigned_at__isnull=False).exists()

    def test_what_is_not_there_is_not_asked_about(self, house: House) -> None:
        other = Team("oscar", "Other")
        for product_id, member in (("no-such", house.member("member")), ("studio", other["oscar"].pk)):
            path = house.path("products", product_id, "seats", member, "revoke")
            assert house["owner"].get(path).status_code == 404
            assert house["owner"].post(path).status_code == 404

    @pytest.mark.parametrize("why", ["seat_cap_reached", "billing_past_due"])
    def test_assigning_is_disabled_with_the_reason(self, house: House, why: str) -> None:
        assert "disabled" not in house.get("admin", "seats")
        if why == "seat_cap_reached":
            house.seat("admin")
            products.set_cap(org_id=house.team.id, product="studio", max_seats=1, actor_did=house.team.owner.did)
        else:
            Organization.objects.update(is_past_due=True)
        page = house.get("admin", "seats")
        buttons = re.findall(r"<button[^>]*>Assign seat</button>", page)
        assert buttons
        assert all(' disabled aria-describedby="why-not"' in one for one in buttons)
        assert f'id="why-not">{words.ERRORS[why]}' in page

    @pytest.mark.parametrize("code", ["seat_cap_reached", "billing_past_due", "product_disabled"])
    def test_refusals_are_in_plain_words(self, house: House, code: str) -> None:
        match code:
            case "seat_cap_reached":
                products.set_cap(org_id=house.team.id, product="studio", max_seats=0, actor_did=house.team.owner.did)
            case "billing_past_due":
                Organization.objects.update(is_past_due=True)
            case "product_disabled":
                products.disable(org_id=house.team.id, product="studio", actor_did=house.team.owner.did)
        answer = house.post("owner", "products", "studio", "seats", house.member("member"), "assign")
        assert message(answer) == f"error {words.ERRORS[code]}"
        assert not Seat.objects.filter(assigned_at__isnull=False).exists()

    def test_billing_sees_all_seats_and_touches_none(self, house: House) -> None:
        house.seat()
        page = house.get("billing", "seats")
        assert "Assigned since" in page
        assert "Remove seat" not in page

    def test_no_enabled_product_means_no_seats(self, house: House) -> None:
        products.disable(org_id=house.team.id, product="studio", actor_did=house.team.owner.did)
        assert "no seats to assign" in house.get("owner", "seats")
