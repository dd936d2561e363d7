"""The organization pages: what each role sees and may do, plain words for refusals, and nothing for strangers."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils.html import escape
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account
from billing.models import Budget
from gateway.core.contract.errors import CATALOGUE, Forbidden
from gateway.core.contract.ids import new_id
from organizations.models import AuditEntry, Entitlement, Invitation, Membership, Organization, Seat
from organizations.operations import invitations as operations
from organizations.operations import members, organizations, products, seats
from organizations.portal import words
from organizations.portal.pages import MONEY, TABS
from organizations.rules.roles import Role
from tests.factories import invoicing
from tests.factories.billing import Purse, settle
from tests.factories.organizations import Team, account, product
from tests.support.stripe import FakeStripe

pytestmark = pytest.mark.django_db

ROLES = list(Role)
ABOUT = "/organizations/invitation/about"
# Session, account, appearance and the list of browsers, as on every page of the portal.
FRAME_QUERIES_MAX = 9


def signed_in(who: Account) -> Client:
    client = Client()
    client.force_login(who, backend="django.contrib.auth.backends.ModelBackend")
    return client


class House:
    """An organization with one person of each role; `house["admin"]` is that person's browser."""

    def __init__(self) -> None:
        self.team = Team("owner")
        for role in (Role.ADMIN, Role.BILLING, Role.MEMBER):
            self.team.join(role.value, role)
        self.team.enable("studio")
        product("courier", 15_000_000)
        self.clients = {role.value: signed_in(account(role.value)) for role in Role}

    def __getitem__(self, role: str) -> Client:
        return self.clients[role]

    def path(self, *parts: str) -> str:
        return "/".join(["/organizations", self.team.id, *parts])

    def get(self, role: str, *parts: str) -> str:
        answer = self[role].get(self.path(*parts))
        assert answer.status_code == 200, answer.status_code
        return answer.content.decode()

    def post(self, who: str, *parts: str, **form: Any) -> Any:
        return self[who].post(self.path(*parts), form, follow=True)

    def seat(self, name: str = "member") -> None:
        seats.assign(
            org_id=self.team.id, product="studio", membership_id=self.team[name].id, actor_did=self.team.owner.did
        )

    def member(self, name: str) -> str:
        return self.team.people[name].pk


@pytest.fixture
def house() -> House:
    return House()


def message(answer: Any) -> str:
    """Read the one message of a page."""
    [told] = re.findall(r'<p class="message ([a-z]+)" role="status">(.*?)</p>', answer.content.decode())
    return " ".join(told)


class TestFounding:
    """/organizations."""

    def test_lists_and_founds(self) -> None:
        client = signed_in(account("olivia"))
        assert b"You do not belong to an organization yet." in client.get("/organizations").content
        answer = client.post("/organizations", {"name": "  Acme <b>  "})
        founded = Organization.objects.get()
        assert (answer.status_code, answer["Location"]) == (303, f"/organizations/{founded.pk}")
        assert founded.name == "Acme <b>"
        assert b"Acme &lt;b&gt;" in client.get("/organizations").content

    @pytest.mark.parametrize("name", ["", "   ", "x" * 121, "nul\x00"])
    def test_a_bad_name_is_said_beside_the_field(self, name: str) -> None:
        answer = signed_in(account("olivia")).post("/organizations", {"name": name})
        assert answer.status_code == 400
        assert b'role="alert"' in answer.content
        assert not Organization.objects.exists()


class TestRenaming:
    """An owner gives the organization another name."""

    def test_is_for_owners_and_is_logged(self, house: House) -> None:
        assert message(house.post("owner", "rename", name="  Zenith <b> ")).startswith(
            "success The organization is now"
        )
        assert house.team.organization.name == "Zenith <b>"
        entry = AuditEntry.objects.get(action="organization.rename")
        assert (entry.actor_did, entry.subject) == (house.team.owner.did, house.team.id)
        assert entry.detail == {"before": "Acme", "after": "Zenith <b>"}
        for role in (Role.ADMIN, Role.BILLING, Role.MEMBER):
            assert "Rename" not in house.get(role)
        assert "Rename" in house.get("owner")

    @pytest.mark.parametrize("name", ["", "   ", "x" * 121, "nul\x00"])
    def test_a_bad_name_stays_on_the_page_with_its_error(self, house: House, name: str) -> None:
        answer = house["owner"].post(house.path("rename"), {"name": name})
        assert answer.status_code == 400
        assert 'id="id_name_error"' in answer.content.decode()
        assert house.team.organization.name == "Acme"

    @pytest.mark.parametrize("role", [Role.ADMIN, Role.BILLING, Role.MEMBER])
    def test_the_role_is_checked_by_the_change_itself(self, house: House, role: Role) -> None:
        with pytest.raises(Forbidden):
            organizations.rename(org_id=house.team.id, name="Mine", actor_did=account(role.value).did)
        assert house.team.organization.name == "Acme"

    def test_the_same_name_changes_nothing(self, house: House) -> None:
        before = house.team.organization.version
        house.post("owner", "rename", name="Acme")
        assert house.team.organization.version == before
        assert not AuditEntry.objects.filter(action="organization.rename").exists()


class TestWhoSeesWhat:
    """Every page with every role."""

    @pytest.mark.parametrize("role", ROLES)
    @pytest.mark.parametrize(("name", "roles"), [(name, roles) for name, _, roles in TABS])
    def test_pages_open_for_their_roles_and_tell_the_others(
        self, house: House, role: Role, name: str, roles: tuple[Role, ...]
    ) -> None:
        path = house.path(*name.removeprefix("organization").removeprefix("_").split()).rstrip("/")
        answer = house[role].get(path)
        assert answer.status_code == (200 if role in roles else 403)
        assert answer["Cache-Control"].startswith("max-age=0")
        tab = f'href="{path}"'
        assert (tab in answer.content.decode()) == (role in roles)
        if role not in roles:
            assert b"Your role does not allow this" in answer.content

    @pytest.mark.parametrize(
        "part",
        [
            "",
            "/members",
            "/invitations",
            "/products",
            "/seats",
            "/access",
            "/log",
            "/wallet",
            "/payments",
            "/budgets",
            "/usage",
            "/payments/txn_1/receipt",
        ],
    )
    def test_strangers_and_removed_members_find_nothing(self, house: House, part: str) -> None:
        members.remove(org_id=house.team.id, membership_id=house.member("member"), actor_did=house.team.owner.did)
        for client in (signed_in(account("stranger")), house["member"]):
            assert client.get(house.path() + part).status_code == 404
            assert client.get("/organizations/org_00000000000000000000000000" + part).status_code == 404

    def test_who_is_not_signed_in_is_asked_to(self, house: House, client: Client) -> None:
        for path in ("/organizations", house.path(), house.path("members")):
            answer = client.get(path)
            assert (answer.status_code, answer["Location"]) == (302, f"/account/login/?next={path}")

    @pytest.mark.parametrize("role", ROLES)
    def test_buttons_are_shown_to_those_who_may(self, house: House, role: Role) -> None:
        page = house.get(role, "products")
        assert (">Disable<" in page) == (">Enable<" in page) == (role in (Role.OWNER, Role.BILLING))
        page = house.get(role, "seats")
        assert ("Assign seat" in page) == (role in (Role.OWNER, Role.ADMIN))

    def test_an_admin_is_offered_nothing_that_touches_owners(self, house: House) -> None:
        page = house.get("admin", "members")
        assert '<option value="owner"' not in page
        assert f"/members/{house.member('owner')}/remove" not in page
        assert f"/members/{house.member('billing')}/remove" in page
        assert '<option value="owner"' not in house.get("admin", "invitations")
        assert '<option value="owner"' in house.get("owner", "members")

    FORGED = [
        ("member", ("members", "{m}", "role"), {"role": "owner"}),
        ("billing", ("members", "{m}", "remove"), {}),
        ("billing", ("invitations",), {"role": "member"}),
        ("member", ("invitations",), {"role": "member"}),
        ("admin", ("products", "courier", "enable"), {}),
        ("member", ("products", "studio", "disable"), {}),
        ("admin", ("products", "studio", "limit"), {"max_seats": "1"}),
        ("billing", ("products", "studio", "seats", "{m}", "assign"), {}),
        ("member", ("products", "studio", "seats", "{m}", "revoke"), {}),
        ("admin", ("budgets",), {"limit": "1"}),
        ("admin", ("rename",), {"name": "Mine"}),
        ("admin", ("budgets", "bud_1", "disable"), {}),
    ]

    @pytest.mark.parametrize(("role", "parts", "form"), FORGED)
    def test_what_is_not_offered_is_refused_when_forged(
        self, house: House, role: str, parts: tuple[str, ...], form: dict[str, str]
    ) -> None:
        before = house.team.organization.version
        answer = house[role].post(house.path(*parts).format(m=house.member("member")), form)
        assert answer.status_code == 403
        assert house.team.organization.version == before

    def test_an_admin_who_forges_an_owners_role_is_told_no(self, house: House) -> None:
        answer = house.post("admin", "members", house.member("billing"), "role", role="owner")
        assert message(answer) == f"error {words.ERRORS['forbidden']}"
        assert house.team["billing"].role == Role.BILLING

    def test_forms_need_the_csrf_token(self, house: House) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(account("owner"), backend="django.contrib.auth.backends.ModelBackend")
        assert client.post(house.path("products", "courier", "enable")).status_code == 403
        assert not Entitlement.objects.filter(product_id="courier").exists()

    def test_looking_never_changes(self, house: House) -> None:
        for parts in (("products", "courier", "enable"), ("members", house.member("member"), "role")):
            assert house["owner"].get(house.path(*parts)).status_code == 405


class TestMembers:
    """Finding, changing, removing."""

    def test_changes_a_role(self, house: House) -> None:
        answer = house.post("owner", "members", house.member("member"), "role", role="admin")
        assert message(answer) == "success The role is now admin."
        assert house.team["member"].role == Role.ADMIN

    def test_the_last_owner_is_told_why_not(self, house: House) -> None:
        answer = house.post("owner", "members", house.member("owner"), "role", role="member")
        assert message(answer) == f"error {words.ERRORS['last_owner']}"
        assert answer.request["PATH_INFO"] == house.path("members"), "it stays where it was asked"
        answer = house["owner"].post(house.path("members", house.member("owner"), "remove"))
        assert answer.status_code == 409
        assert message(answer) == f"error {words.ERRORS['last_owner']}"
        assert "Remove yourself?" in answer.content.decode()
        assert house.team["owner"].role == Role.OWNER

    def test_a_changed_role_leads_back_to_where_it_was_found(self, house: House) -> None:
        answer = house["owner"].post(
            house.path("members", house.member("member"), "role"), {"role": "admin", "q": "mem ber&", "page": "1"}
        )
        assert answer["Location"] == house.path("members") + "?q=mem+ber%26&page=1"

    def test_an_unknown_role_is_none(self, house: House) -> None:
        assert house.post("owner", "members", house.member("member"), "role", role="king").status_code == 404

    def test_removing_is_asked_first_and_says_what_ends(self, house: House) -> None:
        house.seat()
        page = house.get("owner", "members", house.member("member"), "remove")
        assert "Remove Member?" in page
        assert "Studio" in page
        assert Membership.objects.filter(pk=house.member("member"), removed_at=None).exists()
        answer = house.post("owner", "members", house.member("member"), "remove")
        assert message(answer) == "success Member was removed."
        assert not house.team["member"].is_active
        assert "Removed" in house.get("owner", "members")
        assert not Seat.objects.filter(assigned_at__isnull=False).exists()

    def test_who_removes_itself_is_led_out(self, house: House) -> None:
        answer = house["admin"].post(house.path("members", house.member("admin"), "remove"))
        assert (answer.status_code, answer["Location"]) == (303, "/organizations")

    def test_others_members_are_not_found(self, house: House) -> None:
        other = Team("oscar", "Other")
        assert house["owner"].get(house.path("members", other["oscar"].pk, "remove")).status_code == 404
        answer = house.post("owner", "members", other["oscar"].pk, "role", role="member")
        assert message(answer) == f"error {words.ERRORS['not_found']}"

    def test_many_are_paged_and_found_in_few_queries(
        self, house: House, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        house.team.crowd(120)
        house.get("owner")
        with django_assert_max_num_queries(FRAME_QUERIES_MAX + 3):
            page = house["owner"].get(house.path("members") + "?page=2").content.decode()
        assert "Page 2 of 3" in page
        page = house["owner"].get(house.path("members") + "?q=CROWD%26").content.decode()
        assert "No members match your search." in page
        page = house["owner"].get(house.path("members") + "?q=web:studio.example:CROWD").content.decode()
        assert 'href="?q=web%3Astudio.example%3ACROWD&amp;page=2"' in page
        assert page.count("<li>") == 50


class TestInvitations:
    """Made once, shown once, taken back."""

    def test_the_link_is_shown_once_and_its_token_is_kept_nowhere(self, house: House) -> None:
        client = house["owner"]
        answer = client.post(house.path("invitations"), {"role": "billing", "email": "carla@example.com"})
        assert answer.status_code == 303
        morsel = answer.cookies["invitation_link"]
        assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (True, "Strict", house.path("invitations"))
        page = client.get(house.path("invitations")).content.decode()
        [token] = re.findall(r'value="https://gateway\.example/organizations/invitation#token=([\w-]{43})"', page)
        assert token not in client.get(house.path("invitations")).content.decode()
        invitation = Invitation.objects.latest("created_at")
        assert (invitation.role, invitation.email) == (Role.BILLING, "carla@example.com")
        assert token not in str(client.session.items())

    def test_an_admin_invites_no_owner(self, house: House) -> None:
        count = Invitation.objects.count()
        assert house["admin"].post(house.path("invitations"), {"role": "owner"}).status_code == 400
        assert Invitation.objects.count() == count

    def test_taking_back(self, house: House) -> None:
        house["admin"].post(house.path("invitations"), {"role": "member"}, follow=True)
        invitation = Invitation.objects.latest("created_at")
        answer = house.post("admin", "invitations", invitation.pk, "revoke")
        assert "was revoked" in message(answer)
        assert "There are no open invitations." in answer.content.decode()

    def test_the_page_that_accepts_is_open_to_all_and_asks_for_sign_in(self, house: House, client: Client) -> None:
        page = client.get("/organizations/invitation").content.decode()
        assert "/account/login/?next=/organizations/invitation" in page
        assert "<noscript>" in page
        assert 'id="accept"' not in page
        assert "Accept</button>" in house["member"].get("/organizations/invitation").content.decode()


class TestLookingAtAnInvitation:
    """/organizations/invitation/about: what whoever holds the token is told before accepting."""

    @pytest.fixture
    def token(self, house: House) -> str:
        did = house.team.owner.did
        return operations.invite(org_id=house.team.id, role=Role.BILLING, email=None, actor_did=did)[1]

    def test_says_who_invites_to_what_and_as_what(self, house: House, token: str) -> None:
        for client in (Client(), signed_in(account("stranger")), house["member"]):
            answer = client.post(ABOUT, {"token": token})
            assert answer.json() == {
                "organization": "Acme",
                "inviter": "Owner",
                "role": "billing",
                "meaning": words.ROLES[Role.BILLING],
            }
            assert "no-store" in answer["Cache-Control"]

    def test_looking_uses_nothing_up(self, house: House, token: str) -> None:
        Client().post(ABOUT, {"token": token})
        joined = operations.accept(token=token, account=account("stranger"))
        assert joined.organization_id == house.team.id

    @pytest.mark.parametrize("why", ["used", "revoked", "expired", "maker removed", "maker suspended"])
    def test_what_cannot_be_accepted_looks_unknown(self, house: House, token: str, why: str) -> None:
        invitation = Invitation.objects.latest("created_at")
        match why:
            case "used":
                operations.accept(token=token, account=account("stranger"))
            case "revoked":
                operations.revoke(org_id=house.team.id, invitation_id=invitation.pk, actor_did=house.team.owner.did)
            case "expired":
                Invitation.objects.update(expires_at=invitation.created_at)
            case "maker removed":
                Membership.objects.filter(pk=invitation.invited_by_id).update(removed_at=invitation.created_at)
            case "maker suspended":
                Account.objects.filter(did=house.team.owner.did).update(suspended_at=invitation.created_at)
        unknown = Client().post(ABOUT, {"token": "x" * 43})
        answer = Client().post(ABOUT, {"token": token})
        assert (answer.status_code, answer.content) == (unknown.status_code, unknown.content) == (404, b"{}")

    @pytest.mark.parametrize("form", [{}, {"token": ""}, {"token": "\x00"}, {"token": "é" * 5000}])
    def test_nonsense_is_unknown(self, form: dict[str, str]) -> None:
        assert Client().post(ABOUT, form).status_code == 404

    def test_is_asked_by_the_portals_own_page_alone(self, house: House, token: str) -> None:
        assert Client().get(f"{ABOUT}?token={token}").status_code == 405
        assert Client(enforce_csrf_checks=True).post(ABOUT, {"token": token}).status_code == 403


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
    """Give, take, and why not."""

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


def test_access_says_what_one_can_use_and_why_not(house: House) -> None:
    assert words.REASONS["no_seat"] in house.get("member", "access")
    assert words.REASONS["product_disabled"] in house.get("member", "access")
    house.seat()
    assert words.REASONS["allowed"] in house.get("member", "access")


class TestMoney:
    """Wallet, estimate and budgets."""

    def test_sets_and_switches_off_a_budget(self, house: House) -> None:
        form = {"product": "studio", "member": house.member("member"), "limit": "12.5"}
        assert "budget was set" in message(house.post("billing", "budgets", **form))
        budget = Budget.objects.get()
        assert (budget.scope, budget.limit_microusd) == ("member_product", 12_500_000)
        page = house.get("owner", "budgets")
        assert "Studio, Member" in page
        assert re.findall(r'<td class="money">(.*?)</td>', page) == ["$0.00", "$0.00", "$12.50"]
        assert "off" in message(house.post("owner", "budgets", budget.pk, "disable"))
        budget.refresh_from_db()
        assert budget.disabled_at is not None

    @pytest.mark.parametrize(
        "form", [{"limit": "-1"}, {"limit": "much"}, {"limit": ""}, {"limit": "1", "product": "x"}]
    )
    def test_a_bad_budget_is_said_beside_the_field(self, house: House, form: dict[str, str]) -> None:
        answer = house["owner"].post(house.path("budgets"), form)
        assert answer.status_code == 400
        assert b'role="alert"' in answer.content
        assert not Budget.objects.exists()

    def test_too_much_history_is_told(self, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("organizations.queries.seat_estimate.REPORT_INTERVALS_MAX", 0)
        assert words.ERRORS["org_report_limit"] in house.get("owner", "usage")
        monkeypatch.setattr("billing.queries.reports.REPORT_LOTS_MAX", -1)
        assert words.ERRORS["org_report_limit"] in house.get("owner", "wallet")

    def test_amounts_of_a_column_have_as_many_decimals(self, house: House) -> None:
        house.post("owner", "budgets", limit="2.000005")
        house.post("owner", "budgets", limit="1500", product="studio")
        cells = re.findall(r'<td class="money">(.*?)</td>', house.get("owner", "budgets"))
        assert cells == ["$0.000000", "$0.000000", "$1,500.000000", "$0.000000", "$0.000000", "$2.000005"]

    def test_usage_is_told_by_product_and_by_member(self, house: House) -> None:
        purse = Purse("organization", house.team.id).pay(1_000_000)
        settle(purse.call(100, product="studio", membership_id=house.member("member")), 25)
        settle(purse.call(100), 30)
        page = house.get("billing", "usage")
        rows = re.findall(
            r'<th scope="row">(.*?)</th>.*?<td class="money">(.*?)</td><td class="money">(.*?)</td>', page
        )
        assert rows[:4] == [
            ("No product", "1", "$0.000030"),
            ("Studio", "1", "$0.000025"),
            ("No member", "1", "$0.000030"),
            ("Member", "1", "$0.000025"),
        ]

    def test_the_old_address_leads_to_the_wallet(self, house: House) -> None:
        answer = house["owner"].get(house.path("money"))
        assert (answer.status_code, answer["Location"]) == (301, house.path("wallet"))


class TestLog:
    """Who did what, in words."""

    def test_every_kind_of_entry_has_words(self, house: House, provider: FakeStripe) -> None:
        house.seat()
        account_id = provider.connect(metadata={"org_id": house.team.id})["id"]
        member = house.member("member")
        for parts, form in [
            (("payments",), {"amount": "5", "key": new_id("frm")}),
            (("payment-method",), {"key": new_id("frm")}),
            (("products", "studio", "external-billing"), {"account": account_id}),
            (("members", member, "role"), {"role": "admin"}),
            (("members", member, "remove"), {}),
            (("products", "studio", "limit"), {"max_seats": "5"}),
            (("products", "studio", "disable"), {}),
            (("invitations",), {"role": "member"}),
            (("budgets",), {"limit": "2"}),
            (("invoices", invoicing.issued(house.team.id).pk, "pay"), {}),
            (("rename",), {"name": "Acme and Sons"}),
        ]:
            house.post("owner", *parts, **form)
        house.post("owner", "invitations", Invitation.objects.latest("created_at").pk, "revoke")
        house.post("owner", "budgets", Budget.objects.get().pk, "disable")
        assert set(AuditEntry.objects.values_list("action", flat=True)) == set(words.ACTIONS)
        page = house.get("admin", "log")
        for sentence in (
            "created the organization",
            "renamed the organization from Acme to Acme and Sons",
            "joined as billing",
            "changed Member from member to admin",
            "removed Member (admin)",
            "assigned a seat for Studio to Member",
            "removed the seat for Studio from Member",
            "changed the seat limit of Studio from no limit to 5",
            "set a budget of $2.00 per month for everything",
        ):
            assert sentence in page
        assert page.index("turned off a budget") < page.index("created the organization")

    def test_is_paged_in_few_queries(self, house: House, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
        organization = house.team.organization
        AuditEntry.objects.bulk_create(
            AuditEntry(
                organization=organization,
                actor_did=house.team.owner.did,
                action="product.enable",
                subject="studio",
                created_at=organization.created_at,
            )
            for _ in range(60)
        )
        house.get("owner")
        with django_assert_max_num_queries(FRAME_QUERIES_MAX + 6):
            page = house["owner"].get(house.path("log") + "?page=2").content.decode()
        assert "Page 2 of 2" in page


def test_every_refusal_of_an_organization_has_words() -> None:
    told = {"last_owner", "seat_cap_reached", "product_disabled", "billing_past_due", "forbidden", "not_member"}
    assert told <= words.ERRORS.keys() <= CATALOGUE.keys()


@pytest.mark.parametrize("name", [name for name, _, _ in TABS] + list(MONEY[1:]))
def test_pages_are_sound_html_for_a_screen_reader(house: House, name: str) -> None:
    house.seat()
    path = house.path(*name.removeprefix("organization").removeprefix("_").split()).rstrip("/")
    page = house["owner"].get(path).content.decode()
    assert page.count("<h1") == 1
    assert page.count('aria-current="page"') == 1
    for table in re.findall(r"<table.*?</table>", page, re.DOTALL):
        assert "<caption" in table
        assert 'scope="col"' in table
    labelled = set(re.findall(r'<label[^>]* for="([^"]+)"', page))
    fields = re.findall(r"<(?:input|select)([^>]*)>", page)
    named = [re.findall(r'id="([^"]+)"', field) for field in fields if 'type="hidden"' not in field]
    assert all(ids and ids[0] in labelled for ids in named), named
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=", page)
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


def test_names_are_escaped(house: House) -> None:
    Account.objects.filter(did=account("member").did).update(display_name="<script>alert(1)</script>")
    for part in ("members", "seats", "log"):
        page = house.get("owner", part)
        assert "<script>alert" not in page
    assert escape("<script>alert(1)</script>") in house.get("owner", "members")
    assert Membership.objects.filter(organization=house.team.id).count() == 4
