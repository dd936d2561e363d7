"""Makes accounts, integrations and callers."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from accounts.models import Account, Integration, Product
from tests.factories.proofs import BASE_URL, ProductServer, Signer, mint_token

STUDIO_CAPABILITIES = ("wallet:read", "usage:read", "infer:*", "orgs:read", "orgs:manage")


def make_account(name: str = "alice", **fields: Any) -> Account:
    """Make an account of the studio product's people; a DID is taken as it is."""
    did = name if name.startswith("did:") else f"did:web:studio.example:{name}"
    return Account.objects.create_user(did, **fields)


def make_integration(
    server: ProductServer, *, capabilities: Iterable[str] = STUDIO_CAPABILITIES, **fields: Any
) -> Integration:
    """Configure a product server as an integration."""
    Product.objects.get_or_create(slug=server.product, defaults={"name": server.product.title()})
    return Integration.objects.create(
        issuer=server.issuer,
        audience=server.audience,
        product_id=server.product,
        did_prefix=server.did_prefix,
        capabilities=list(capabilities),
        jwks=server.jwks,
        **fields,
    )


@dataclass
class Caller:
    """An account with a proof key and a token: makes the headers of requests."""

    account: Account
    scopes: tuple[str, ...] = ()
    signer: Signer = field(default_factory=Signer)
    token: str = ""

    def __post_init__(self) -> None:
        self.token = self.token or mint_token(self.account.did, self.scopes, self.signer)

    def headers(self, method: str, path: str) -> dict[str, str]:
        """Make the headers of one request to a path of the gateway."""
        return self.signer.headers(method, BASE_URL + path, self.token)


def make_caller(*scopes: str, name: str = "alice", alg: str = "ES256", **fields: Any) -> Caller:
    """Make a new account that calls with these scopes; keyword arguments go into the token."""
    account, signer = make_account(name), Signer(alg)
    return Caller(account, scopes, signer, mint_token(account.did, scopes, signer, **fields))
