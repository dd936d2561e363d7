"""Organizations with people in them, made by the operations that the API uses."""

from django.utils import timezone

from accounts.models import Account, Product
from gateway.contract.ids import new_id
from organizations.models import Membership, Organization
from organizations.operations import invitations, organizations, products
from organizations.rules.roles import Role


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

    def crowd(self, size: int) -> list[Membership]:
        """Bring many people in at once, for lists that must stay fast."""
        now = timezone.now()
        dids = [f"did:web:studio.example:crowd{number}" for number in range(size)]
        accounts = Account.objects.bulk_create([Account(did=did) for did in dids])
        members = [
            Membership(id=new_id("mem"), organization_id=self.id, account=one, role=Role.MEMBER, created_at=now)
            for one in accounts
        ]
        return Membership.objects.bulk_create(members)

    def enable(self, slug: str = "studio", cap: int | None = None) -> None:
        """Enable a product, perhaps with a cap."""
        product(slug)
        products.enable(org_id=self.id, product=slug, actor_did=self.owner.did)
        if cap is not None:
            products.set_cap(org_id=self.id, product=slug, max_seats=cap, actor_did=self.owner.did)
