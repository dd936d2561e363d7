"""Stock OAuth clients from npm, a gateway that asks for nonces, and a person who signs in without a browser."""

import fcntl
import hashlib
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from account_gateway_client import ProductKey
from tests.support.demo_gateway import ALICE, ISSUER, DemoGateway, running_demo

HERE = Path(__file__).parent
MARK = HERE / "node_modules" / ".installed"
INSTALL_SECONDS = 300


@pytest.fixture(scope="session")
def npm_packages() -> None:
    """Install what package-lock.json pins, once, whoever of several workers comes first."""
    assert shutil.which("npm"), "Node.js 20 or later with npm is not installed; .ci/run installs it"
    wanted = hashlib.sha256((HERE / "package-lock.json").read_bytes()).hexdigest()
    with (Path(tempfile.gettempdir()) / "account-gateway-interop.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not MARK.exists() or MARK.read_text() != wanted:
            _install()
            MARK.write_text(wanted)


@pytest.fixture(scope="session")
def demo() -> Iterator[DemoGateway]:
    """Run a gateway whose every proof must carry a nonce of its own."""
    with running_demo(DPOP_NONCES="true") as demo:
        yield demo


@pytest.fixture
def assertion(demo: DemoGateway) -> str:
    """Sign an assertion of the demo's product that any key may redeem."""
    return signed_assertion(demo, "wallet:read", "usage:read", "infer:fast")


def signed_assertion(demo: DemoGateway, *capabilities: str) -> str:
    """Sign an assertion for these capabilities that no key is named in."""
    key = ProductKey.load(demo.data_dir / "demo-product.pem")
    now = int(time.time())
    claims = {
        "iss": ISSUER,
        "aud": demo.base_url,
        "sub": ALICE,
        "product": "studio",
        "capabilities": list(capabilities),
        "iat": now,
        "exp": now + 60,
        "jti": secrets.token_urlsafe(24),
    }
    return key.sign_jwt({"typ": "JWT", "kid": key.kid}, claims)


def _install() -> None:
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    completed = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    assert completed.returncode == 0, completed.stdout + completed.stderr
