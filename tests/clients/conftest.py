"""A product with a key, a stand that knows it, and an account signed in at it."""

from collections.abc import Iterator

import pytest

from account_gateway_client import CachedTokens, Gateway, ProductKey, ProductServer
from tests.clients.stand import AUDIENCE, Stand

ALICE = "did:web:studio.example:alice"
CAPABILITIES = ["wallet:read", "infer:fast"]


@pytest.fixture(scope="session")
def product_key() -> ProductKey:
    return ProductKey.generate()


@pytest.fixture
def stand(product_key: ProductKey) -> Iterator[Stand]:
    with Stand(product_key.public_jwks()) as stand:
        yield stand


@pytest.fixture
def product(stand: Stand, product_key: ProductKey) -> ProductServer:
    return ProductServer(
        stand.base_url, issuer="https://studio.example", audience=AUDIENCE, product="studio", key=product_key
    )


@pytest.fixture
def tokens(product: ProductServer) -> CachedTokens:
    return product.tokens_for(ALICE, CAPABILITIES)


@pytest.fixture
def gateway(stand: Stand, tokens: CachedTokens) -> Gateway:
    return Gateway(stand.base_url, tokens)
