"""A software authenticator with a passkey, for tests without a browser. Web Authentication Level 2 sections 6.1 and
6.5.
"""

import base64
import hashlib
import json
import secrets
from typing import Any

from allauth.account.utils import user_pk_to_url_str
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from fido2.cose import ES256
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


class Passkey:
    """One key for one site. `counter` is its next signature counter; a cloned key sends the same value twice."""

    def __init__(self, site: str = "testserver", *, counter: int = 0, verifies: bool = True) -> None:
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = secrets.token_bytes(16)
        self.site, self.counter, self.verifies = site, counter, verifies

    def made(self, challenge: str) -> str:
        """Respond to a registration."""
        public = ES256.from_cryptography_key(self.key.public_key())
        attested = AttestedCredentialData.create(b"\0" * 16, self.id, public)
        attestation = AttestationObject.create("none", self._data(ATTESTED, attested), {})
        response = {"clientDataJSON": self._client_data("create", challenge), "attestationObject": encoded(attestation)}
        return self._credential(response)

    def proof(self, challenge: str, person: Any) -> str:
        """Respond to a sign-in."""
        data, client_data = self._data(), self._client_data("get", challenge)
        signed = data + hashlib.sha256(base64.urlsafe_b64decode(client_data + "==")).digest()
        response = {
            "clientDataJSON": client_data,
            "authenticatorData": encoded(data),
            "signature": encoded(self.key.sign(signed, ec.ECDSA(hashes.SHA256()))),
            "userHandle": encoded(user_pk_to_url_str(person).encode()),
        }
        return self._credential(response)

    def _data(self, more: int = 0, attested: bytes = b"") -> AuthenticatorData:
        flags = PRESENT | more | (VERIFIED if self.verifies else 0)
        site = hashlib.sha256(self.site.encode()).digest()
        return AuthenticatorData.create(site, AuthenticatorData.FLAG(flags), self.counter, attested)

    def _client_data(self, kind: str, challenge: str) -> str:
        client_data = {"type": f"webauthn.{kind}", "challenge": challenge, "origin": f"https://{self.site}"}
        return encoded(json.dumps(client_data).encode())

    def _credential(self, response: dict[str, str]) -> str:
        name = encoded(self.id)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": response})
