"""The organization pages: access by role, messages for refusals, and 404 for strangers."""

import re

import pytest
from django.test import Client
from django.utils.html import escape

from accounts.models import Account
from gateway.core.contract.errors import CATALOGUE, Forbidden
from organizations.models import AuditEntry, Entitlement, Membership, Organization
from organizations.operations import members, organizations
from organizations.portal import texts
from organizations.portal.pages import MONEY, TABS
from organizations.rules.roles import Role
from tests.factories.organizations import account
from tests.portal.organization_browser import OrganizationPages, message, signed_in

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
    def test_a_bad_name_is_reported_beside_the_field(self, name: str) -> None:
        answer = signed_in(account("olivia")).post("/organizations", {"name": name})
        assert answer.status_code == 400
        assert b'role="alert"' in answer.content
        assert not Organization.objects.exists()


class TestRenaming:
    """Renaming an organization."""

    def test_is_for_owners_and_is_logged(self, organization_pages: OrganizationPages) -> None:
        assert message(organization_pages.post("owner", "rename", name="  Zenith <b> ")).startswith(
            "success The organization is now"
        )
        assert organization_pages.team.organization.name == "Zenith <b>"
        entry = AuditEntry.objects.get(action="organization.rename")
        assert (entry.actor_did, entry.subject) == (organization_pages.team.owner.did, organization_pages.team.id)
        assert entry.detail == {"before": "Acme", "after": "Zenith <b>"}
        for role in (Role.ADMIN, Role.BILLING, Role.MEMBER):
            assert "Rename" not in organization_pages.get(role)
        assert "Rename" in organization_pages.get("owner")

    @pytest.mark.parametrize("name", ["", "   ", "x" * 121, "nul\x00"])
    def test_an_invalid_name_is_shown_again_with_its_error(
        self, organization_pages: OrganizationPages, name: str
    ) -> None:
        answer = organization_pages["owner"].post(organization_pages.path("rename"), {"name": name})
        assert answer.status_code == 400
        assert 'id="id_name_error"' in answer.content.decode()
        assert organization_pages.team.organization.name == "Acme"

    @pytest.mark.parametrize("role", [Role.ADMIN, Role.BILLING, Role.MEMBER])
    def test_the_role_is_checked_by_the_change_itself(self, organization_pages: OrganizationPages, role: Role) -> None:
        with pytest.raises(Forbidden):
            organizations.rename(org_id=organization_pages.team.id, name="Mine", actor_did=account(role.value).did)
        assert organization_pages.team.organization.name == "Acme"

    def test_the_same_name_changes_nothing(self, organization_pages: OrganizationPages) -> None:
        before = organization_pages.team.organization.version
        organization_pages.post("owner", "rename", name="Acme")
        assert organization_pages.team.organization.version == before
        assert not AuditEntry.objects.filter(action="organization.rename").exists()


class TestWhoSeesWhat:
    """Every page with every role."""

    @pytest.mark.parametrize("role", ROLES)
    @pytest.mark.parametrize(("name", "roles"), [(name, roles) for name, _, roles in TABS])
    def test_pages_open_for_their_roles_and_refuse_the_others(
        self, organization_pages: OrganizationPages, role: Role, name: str, roles: tuple[Role, ...]
    ) -> None:
        path = organization_pages.path(
            *name.removeprefix("organization").removeprefix("_").replace("_", "-").split()
        ).rstrip("/")
        answer = organization_pages[role].get(path)
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
            "/alerts",
            "/usage",
            "/payments/txn_1/receipt",
        ],
    )
    def test_strangers_and_removed_members_find_nothing(self, organization_pages: OrganizationPages, part: str) -> None:
        members.remove(
            org_id=organization_pages.team.id,
            membership_id=organization_pages.member("member"),
            actor_did=organization_pages.team.owner.did,
        )
        for client in (signed_in(account("stranger")), organization_pages["member"]):
            assert client.get(organization_pages.path() + part).status_code == 404
            assert client.get("/organizations/org_00000000000000000000000000" + part).status_code == 404

    def test_anonymous_visitors_are_asked_to_sign_in(
        self, organization_pages: OrganizationPages, client: Client
    ) -> None:
        for path in ("/organizations", organization_pages.path(), organization_pages.path("members")):
            answer = client.get(path)
            assert (answer.status_code, answer["Location"]) == (302, f"/account/login/?next={path}")

    @pytest.mark.parametrize("role", ROLES)
    def test_buttons_are_shown_only_to_permitted_roles(self, organization_pages: OrganizationPages, role: Role) -> None:
        page = organization_pages.get(role, "products")
        assert (">Disable<" in page) == (">Enable<" in page) == (role in (Role.OWNER, Role.BILLING))
        page = organization_pages.get(role, "seats")
        assert ("Assign seat" in page) == (role in (Role.OWNER, Role.ADMIN))

    def test_an_admin_is_offered_nothing_that_touches_owners(self, organization_pages: OrganizationPages) -> None:
        page = organization_pages.get("admin", "members")
        assert '<option value="owner"' not in page
        assert f"/members/{organization_pages.member('owner')}/remove" not in page
        assert f"/members/{organization_pages.member('billing')}/remove" in page
        assert '<option value="owner"' not in organization_pages.get("admin", "invitations")
        assert '<option value="owner"' in organization_pages.get("owner", "members")

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
        ("admin", ("budgets", "bud_1", "end-override"), {}),
    ]

    @pytest.mark.parametrize(("role", "parts", "form"), FORGED)
    def test_forged_requests_for_hidden_actions_are_refused(
        self, organization_pages: OrganizationPages, role: str, parts: tuple[str, ...], form: dict[str, str]
    ) -> None:
        before = organization_pages.team.organization.version
        answer = organization_pages[role].post(
            organization_pages.path(*parts).format(m=organization_pages.member("member")), form
        )
        assert answer.status_code == 403
        assert organization_pages.team.organization.version == before

    def test_an_admin_cannot_forge_the_owner_role(self, organization_pages: OrganizationPages) -> None:
        answer = organization_pages.post("admin", "members", organization_pages.member("billing"), "role", role="owner")
        assert message(answer) == f"error {texts.ERRORS['forbidden']}"
        assert organization_pages.team["billing"].role == Role.BILLING

    def test_forms_need_the_csrf_token(self, organization_pages: OrganizationPages) -> None:
        client = Client(enforce_csrf_checks=True)
        client.force_login(account("owner"), backend="django.contrib.auth.backends.ModelBackend")
        assert client.post(organization_pages.path("products", "courier", "enable")).status_code == 403
        assert not Entitlement.objects.filter(product_id="courier").exists()

    def test_looking_never_changes(self, organization_pages: OrganizationPages) -> None:
        for parts in (("products", "courier", "limit"), ("members", organization_pages.member("member"), "role")):
            assert organization_pages["owner"].get(organization_pages.path(*parts)).status_code == 405


def test_access_shows_usable_products_and_reasons(organization_pages: OrganizationPages) -> None:
    assert texts.REASONS["no_seat"] in organization_pages.get("member", "access")
    assert texts.REASONS["product_disabled"] in organization_pages.get("member", "access")
    organization_pages.seat()
    assert texts.REASONS["allowed"] in organization_pages.get("member", "access")


def test_every_refusal_of_an_organization_has_words() -> None:
    codes = {"last_owner", "seat_cap_reached", "product_disabled", "billing_past_due", "forbidden", "not_member"}
    assert codes <= texts.ERRORS.keys() <= CATALOGUE.keys()


@pytest.mark.parametrize("name", [name for name, _, _ in TABS] + list(MONEY[1:]))
def test_pages_are_valid_html_for_a_screen_reader(organization_pages: OrganizationPages, name: str) -> None:
    organization_pages.seat()
    path = organization_pages.path(
        *name.removeprefix("organization").removeprefix("_").replace("_", "-").split()
    ).rstrip("/")
    page = organization_pages["owner"].get(path).content.decode()
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


def test_names_are_escaped(organization_pages: OrganizationPages) -> None:
    Account.objects.filter(did=account("member").did).update(display_name="<script>alert(1)</script>")
    for part in ("members", "seats", "log"):
        page = organization_pages.get("owner", part)
        assert "<script>alert" not in page
    assert escape("<script>alert(1)</script>") in organization_pages.get("owner", "members")
    assert Membership.objects.filter(organization=organization_pages.team.id).count() == 4
