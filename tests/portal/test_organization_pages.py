"""The organization pages: what each role sees and may do, plain words for refusals, and nothing for strangers."""

import re

import pytest
from django.test import Client
from django.utils.html import escape

from accounts.models import Account
from gateway.core.contract.errors import CATALOGUE, Forbidden
from organizations.models import AuditEntry, Entitlement, Membership, Organization
from organizations.operations import members, organizations
from organizations.portal import words
from organizations.portal.pages import MONEY, TABS
from organizations.rules.roles import Role
from tests.factories.organizations import account
from tests.portal.organization_house import House, message, signed_in

pytestmark = pytest.mark.django_db

ROLES = list(Role)
ABOUT = "/organizations/invitation/about"


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


def test_access_says_what_one_can_use_and_why_not(house: House) -> None:
    assert words.REASONS["no_seat"] in house.get("member", "access")
    assert words.REASONS["product_disabled"] in house.get("member", "access")
    house.seat()
    assert words.REASONS["allowed"] in house.get("member", "access")


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
