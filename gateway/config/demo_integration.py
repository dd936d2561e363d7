"""The demo product of `manage.py demo`: a key of this machine, its integration, and a credit to spend.

It exists only in development, so that no private key that opens a gateway is ever published, shared or reused.
"""

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from accounts.models import Product
from accounts.rules import jwk
from gateway.config.apply import Report, apply
from gateway.config.document import from_value
from gateway.core.contract.capabilities import INFER_PREFIX, Capability

ISSUER = "https://demo.studio.example"
DID_PREFIX = "did:web:demo.studio.example:"
ACCOUNT = f"{DID_PREFIX}alice"
PRODUCT = "studio"
KEY_FILE = "demo-product.pem"
WELCOME_MICROUSD = 5_000_000
WELCOME_KEY = "demo-welcome"
CAPABILITIES = (*Capability, f"{INFER_PREFIX}*")


@dataclass(frozen=True, slots=True)
class DemoIntegration:
    """What a product's server knows: its account, issuer and audience, and the file of its private key (PEM)."""

    issuer: str
    audience: str
    product: str
    account: str
    capabilities: tuple[str, ...]
    key_file: Path
    kid: str
    report: Report


def ensure_demo_integration(*, now: datetime, data_dir: Path | None = None) -> DemoIntegration:
    """Create the key, integration and welcome credit if they are missing; safe to repeat.

    Raises ImproperlyConfigured in production, OSError if the data directory is not writable, ConfigError if the
    database has different rows under these names.
    """
    if not settings.DEMO_ADAPTER:
        raise ImproperlyConfigured(
            "The demo signs in with a key that it creates itself, so it does not run in production."
        )
    key_file = (data_dir or Path(settings.DATA_DIR)) / KEY_FILE
    public = _public_key(_ensure_key(key_file))
    value = _rows({**public.members, "kid": public.thumbprint})
    return DemoIntegration(
        issuer=ISSUER,
        audience=settings.GATEWAY_BASE_URL,
        product=PRODUCT,
        account=ACCOUNT,
        capabilities=tuple(map(str, CAPABILITIES)),
        key_file=key_file,
        kid=public.thumbprint,
        report=apply(from_value(value), environment={}, now=now, source="the demo"),
    )


def _rows(public_key: dict[str, str]) -> dict[str, Any]:
    """Build the rows as a file would state them; the product only if there is none."""
    integration = {
        "issuer": ISSUER,
        "product": PRODUCT,
        "audience": settings.GATEWAY_BASE_URL,
        "did_prefix": DID_PREFIX,
        "capabilities": list(map(str, CAPABILITIES)),
        "jwks": {"keys": [public_key]},
    }
    credit = {"account": ACCOUNT, "amount_microusd": WELCOME_MICROUSD, "key": WELCOME_KEY}
    is_known = Product.objects.filter(slug=PRODUCT).exists()
    products = [] if is_known else [{"slug": PRODUCT, "name": PRODUCT.title()}]
    return {"products": products, "integrations": [integration], "credits": [credit]}


def _ensure_key(path: Path) -> bytes:
    """Return the key's PEM. If several processes create it concurrently, the first file is used."""
    if not path.exists():
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.") as made:  # mode 0600
            made.write(_new_key())
            made.flush()
            with suppress(FileExistsError):
                os.link(made.name, path)
    return path.read_bytes()


def _new_key() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _public_key(pem: bytes) -> jwk.PublicKey:
    key = serialization.load_pem_private_key(pem, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ImproperlyConfigured(f"{KEY_FILE} is not an EC key; remove it to have a new one created.")
    return jwk.of_public_key(key.public_key())
