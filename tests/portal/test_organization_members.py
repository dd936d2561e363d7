"""The pages for members and invitations: permissions, and an invitation's description for guests."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Account
from organizations.models import Invitation, Membership, Seat
from organizations.operations import invitations as operations
from organizations.portal import texts
from organizations.rules.roles import Role
from tests.factories.organizations import Team, account
from tests.portal.organization_browser import FRAME_QUERIES_MAX, OrganizationPages, message, signed_in

pytestmark = pytest.mark.django_db

ROLES = list(Role)
ABOUT = "/organizations/invitation/about"


class TestMembers:
    """Searching, changing and removing."""

    def test_changes_a_role(self, organization_pages: OrganizationPages) -> None:
        answer = organization_pages.post("owner", "members", organization_pages.member("member"), "role", role="admin")
        assert message(answer) == (
            "success The role is now admin. An admin can invite and remove people, change their roles, and assign seats."
        )
        assert organization_pages.team["member"].role == Role.ADMIN

    def test_the_last_owner_sees_why_they_cannot_leave(self, organization_pages: OrganizationPages) -> None:
        answer = organization_pages.post("owner", "members", organization_pages.member("owner"), "role", role="member")
        assert message(answer) == f"error {texts.ERRORS['last_owner']}"
        assert answer.request["PATH_INFO"] == organization_pages.path("members"), "it stays where it was asked"
        answer = organization_pages["owner"].post(
            organization_pages.path("members", organization_pages.member("owner"), "remove")
        )
        assert answer.status_code == 409
        assert message(answer) == f"error {texts.ERRORS['last_owner']}"
        assert "Remove yourself?" in answer.content.decode()
        assert organization_pages.team["owner"].role == Role.OWNER

    def test_changing_a_role_returns_to_the_same_list_page(self, organization_pages: OrganizationPages) -> None:
        answer = organization_pages["owner"].post(
            organization_pages.path("members", organization_pages.member("member"), "role"),
            {"role": "admin", "q": "mem ber&", "page": "1"},
        )
        assert answer["Location"] == organization_pages.path("members") + "?q=mem+ber%26&page=1"

    def test_an_unknown_role_is_none(self, organization_pages: OrganizationPages) -> None:
        assert (
            organization_pages.post(
                "owner", "members", organization_pages.member("member"), "role", role="king"
            ).status_code
            == 404
        )

    def test_removal_asks_for_confirmation_and_lists_the_consequences(
        self, organization_pages: OrganizationPages
    ) -> None:
        organization_pages.seat()
        page = organization_pages.get("owner", "members", organization_pages.member("member"), "remove")
        assert "Remove Member?" in page
        assert "Studio" in page
        assert Membership.objects.filter(pk=organization_pages.member("member"), removed_at=None).exists()
        answer = organization_pages.post("owner", "members", organization_pages.member("member"), "remove")
        assert message(answer) == "success Member was removed."
        assert not organization_pages.team["member"].is_active
        assert "Removed" in organization_pages.get("owner", "members")
        assert not Seat.objects.filter(assigned_at__isnull=False).exists()

    def test_a_member_who_leaves_is_redirected_out(self, organization_pages: OrganizationPages) -> None:
        answer = organization_pages["admin"].post(
            organization_pages.path("members", organization_pages.member("admin"), "remove")
        )
        assert (answer.status_code, answer["Location"]) == (303, "/organizations")

    def test_others_members_are_not_found(self, organization_pages: OrganizationPages) -> None:
        other = Team("oscar", "Other")
        assert (
            organization_pages["owner"].get(organization_pages.path("members", other["oscar"].pk, "remove")).status_code
            == 404
        )
        answer = organization_pages.post("owner", "members", other["oscar"].pk, "role", role="member")
        assert message(answer) == f"error {texts.ERRORS['not_found']}"

    def test_many_are_paged_and_found_in_few_queries(
        self, organization_pages: OrganizationPages, django_assert_max_num_queries: DjangoAssertNumQueries
    ) -> None:
        organization_pages.team.crowd(120)
        organization_pages.get("owner")
        with django_assert_max_num_queries(FRAME_QUERIES_MAX + 3):
            page = organization_pages["owner"].get(organization_pages.path("members") + "?page=2").content.decode()
        assert "Page 2 of 3" in page
        page = organization_pages["owner"].get(organization_pages.path("members") + "?q=CROWD%26").content.decode()
        assert "No members match your search." in page
        page = (
            organization_pages["owner"]
            .get(organization_pages.path("members") + "?q=web:studio.example:CROWD")
            .content.decode()
        )
        assert 'href="?q=web%3Astudio.example%3ACROWD&amp;page=2"' in page
        assert page.count("<li>") == 50


class TestInvitations:
    """Created, shown once, and revoked."""

    def test_the_link_is_shown_once_and_its_token_is_not_stored(self, organization_pages: OrganizationPages) -> None:
        client = organization_pages["owner"]
        answer = client.post(organization_pages.path("invitations"), {"role": "billing", "email": "carla@example.com"})
        assert answer.status_code == 303
        morsel = answer.cookies["invitation_link"]
        assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (
            True,
            "Strict",
            organization_pages.path("invitations"),
        )
        page = client.get(organization_pages.path("invitations")).content.decode()
        [token] = re.findall(r'value="https://gateway\.example/organizations/invitation#token=([\w-]{43})"', page)
        assert "Whoever opens it sees your name and email address." in page
        assert token not in client.get(organization_pages.path("invitations")).content.decode()
        invitation = Invitation.objects.latest("created_at")
        assert (invitation.role, invitation.email) == (Role.BILLING, "carla@example.com")
        assert token not in str(client.session.items())

    def test_an_admin_invites_no_owner(self, organization_pages: OrganizationPages) -> None:
        count = Invitation.objects.count()
        assert (
            organization_pages["admin"].post(organization_pages.path("invitations"), {"role": "owner"}).status_code
            == 400
        )
        assert Invitation.objects.count() == count

    def test_taking_back(self, organization_pages: OrganizationPages) -> None:
        organization_pages["admin"].post(organization_pages.path("invitations"), {"role": "member"}, follow=True)
        invitation = Invitation.objects.latest("created_at")
        answer = organization_pages.post("admin", "invitations", invitation.pk, "revoke")
        assert "was revoked" in message(answer)
        assert "There are no open invitations." in answer.content.decode()

    def test_the_page_that_accepts_is_open_to_all_and_asks_for_sign_in(
        self, organization_pages: OrganizationPages, client: Client
    ) -> None:
        page = client.get("/organizations/invitation").content.decode()
        assert "/account/login/?next=/organizations/invitation" in page
        assert "<noscript>" in page
        assert 'id="accept"' not in page
        assert "Accept</button>" in organization_pages["member"].get("/organizations/invitation").content.decode()


class TestLookingAtAnInvitation:
    """/organizations/invitation/about: the description of an invitation for the holder of its token."""

    @pytest.fixture
    def token(self, organization_pages: OrganizationPages) -> str:
        did = organization_pages.team.owner.did
        return operations.invite(org_id=organization_pages.team.id, role=Role.BILLING, email=None, actor_did=did)[1]

    def test_shows_inviter_organization_and_role(self, organization_pages: OrganizationPages, token: str) -> None:
        for client in (Client(), signed_in(account("stranger")), organization_pages["member"]):
            answer = client.post(ABOUT, {"token": token})
            assert answer.json() == {
                "organization": "Acme",
                "inviter": f"Owner ({organization_pages.team.owner.did})",
                "role": "billing",
                "meaning": texts.ROLES[Role.BILLING],
            }
            assert "no-store" in answer["Cache-Control"]

    def test_guesses_from_one_address_are_limited(self, token: str, settings: Settings) -> None:
        settings.INVITATION_GUESSES_PER_ADDRESS_10_MINUTES = 3
        guesses = [Client().post(ABOUT, {"token": "x" * 43}) for _ in range(5)]
        assert [guess.status_code for guess in guesses] == [404] * 3 + [429] * 2
        assert 1 <= int(guesses[-1]["Retry-After"]) <= 600
        assert Client().post(ABOUT, {"token": token}).status_code == 429
        assert Client(REMOTE_ADDR="203.0.113.9").post(ABOUT, {"token": token}).status_code == 200

    def test_looking_uses_nothing_up(self, organization_pages: OrganizationPages, token: str) -> None:
        Client().post(ABOUT, {"token": token})
        joined = operations.accept(token=token, account=account("stranger"))
        assert joined.organization_id == organization_pages.team.id

    @pytest.mark.parametrize("why", ["used", "revoked", "expired", "maker removed", "maker suspended"])
    def test_an_unacceptable_invitation_looks_unknown(
        self, organization_pages: OrganizationPages, token: str, why: str
    ) -> None:
        invitation = Invitation.objects.latest("created_at")
        match why:
            case "used":
                operations.accept(token=token, account=account("stranger"))
            case "revoked":
                operations.revoke(
                    org_id=organization_pages.team.id,
                    invitation_id=invitation.pk,
                    actor_did=organization_pages.team.owner.did,
                )
            case "expired":
                Invitation.objects.update(expires_at=invitation.created_at)
            case "maker removed":
                Membership.objects.filter(pk=invitation.invited_by_id).update(removed_at=invitation.created_at)
            case "maker suspended":
                Account.objects.filter(did=organization_pages.team.owner.did).update(suspended_at=invitation.created_at)
        unknown = Client().post(ABOUT, {"token": "x" * 43})
        answer = Client().post(ABOUT, {"token": token})
        assert (answer.status_code, answer.content) == (unknown.status_code, unknown.content) == (404, b"{}")

    @pytest.mark.parametrize("form", [{}, {"token": ""}, {"token": "\x00"}, {"token": "é" * 5000}])
    def test_nonsense_is_unknown(self, form: dict[str, str]) -> None:
        assert Client().post(ABOUT, form).status_code == 404

    def test_is_requested_only_by_the_portals_own_page(self, organization_pages: OrganizationPages, token: str) -> None:
        assert Client().get(f"{ABOUT}?token={token}").status_code == 405
        assert Client(enforce_csrf_checks=True).post(ABOUT, {"token": token}).status_code == 403
