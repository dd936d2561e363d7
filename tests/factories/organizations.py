"""Organizations with people in them, made by the operations that the API uses."""

from django.db import connection
from django.utils import timezone

from accounts.models import Account, Product
from organizations.models import Membership, Organization
from organizations.operations import invitations, organizations, products
from organizations.rules.roles import Role

_CROWD = """
WITH crowd AS (
    INSERT INTO accounts_account (did, password, display_name, is_active, is_staff, is_superuser, created_at)
    SELECT 'did:web:studio.example:crowd' || number, '', '', true, false, false, now()
      FROM generate_series(1, %(size)s) AS number
    RETURNING id)
INSERT INTO organizations_membership (id, organization_id, account_id, role, version, created_at)
SELECT 'mem_' || id, %(org_id)s, id, 'member', 1, now() FROM crowd
"""


def account(name: str) -> Account:
    """Find or make an account by a short name."""
    return Account.objects.get_or_create(did=f"did:web:studio.example:{name}", defaults={"display_name": name.title()})[
        0
    ]


def product(slug: str = "studio", seat_price_microusd: int = 20_000_000) -> Product:
    """Find or make a product of the catalogue."""
    defaults = {"name": slug.title(), "seat_price_microusd": seat_price_microusd}
    return Product.objects.get_or_create(slug=slug, defaults=defaults)[0]


class Team:
    """An organization of one owner that grows by invitation: `team["bob"]` is Bob's membership."""

    def __init__(self, owner: str = "olivia", name: str = "Acme") -> None:
        self.owner = account(owner)
        founded = organizations.create(name=name, account=self.owner, now=timezone.now())
        self.people: dict[str, Membership] = {owner: founded}
        self.id = founded.organization_id

    def __getitem__(self, name: str) -> Membership:
        membership = self.people[name]
        membership.refresh_from_db()
        return membership

    @property
    def organization(self) -> Organization:
        """Read the organization as it is now."""
        return Organization.objects.get(pk=self.id)

    def join(self, name: str, role: Role = Role.MEMBER) -> Membership:
        """Bring a person in by an accepted invitation."""
        _, token = invitations.invite(org_id=self.id, role=role, email=None, actor_did=self.owner.did)
        self.people[name] = invitations.accept(token=token, account=account(name))
        return self.people[name]

    def crowd(self, size: int) -> None:
        """Bring many people in at once, for lists that must stay fast."""
        with connection.cursor() as cursor:
            cursor.execute(_CROWD, {"org_id": self.id, "size": size})
            # Otherwise the deferred checks of foreign keys may scan the whole table for each person.
            cursor.execute("ANALYZE accounts_account, organizations_organization")

    def enable(self, slug: str = "studio", cap: int | None = None) -> None:
        """Enable a product, perhaps with a cap."""
        product(slug)
        products.enable(org_id=self.id, product=slug, actor_did=self.owner.did)
        if cap is not None:
            products.set_cap(org_id=self.id, product=slug, max_seats=cap, actor_did=self.owner.did)
