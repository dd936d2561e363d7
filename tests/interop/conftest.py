"""Stock OAuth clients from npm, a gateway that asks for nonces, and a person who signs in without a browser."""

import fcntl
import hashlib
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from account_gateway_client import ProductKey
from tests.interop.client_package import install, pack
from tests.interop.quickstarts import reader_of
from tests.support.demo_gateway import ALICE, ISSUER, DemoGateway, running_demo
from tests.support.pages import Reader

HERE = Path(__file__).parent
INSTALL_SECONDS = 300

Follow = Callable[..., Reader]


@pytest.fixture(scope="session")
def npm_packages() -> None:
    """Install the packages of this folder."""
    install_packages(HERE)


@pytest.fixture(scope="session")
def app(npm_packages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An app that has installed the JavaScript client's package."""
    return install(pack(tmp_path_factory.mktemp("package") / "client"), tmp_path_factory.mktemp("app"))


@pytest.fixture(scope="session")
def demo() -> Iterator[DemoGateway]:
    """Run a gateway whose every proof must carry a nonce of its own."""
    with running_demo(ARE_JOBS_SOON="false", DPOP_NONCES="true") as demo:
        yield demo


@pytest.fixture
def follow(app: Path, demo: DemoGateway, tmp_path: Path) -> Follow:
    """Follow a quickstart; what is named is replaced by its value in the page's blocks."""
    return lambda page, **replaced: reader_of(page, tmp_path, demo, app, replaced)


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


def install_packages(folder: Path) -> None:
    """Install what a folder's package-lock.json pins, once, whoever of several workers comes first."""
    assert shutil.which("npm"), "Node.js 20 or later with npm is not installed; .ci/run installs it"
    mark = folder / "node_modules" / ".installed"
    wanted = hashlib.sha256((folder / "package-lock.json").read_bytes()).hexdigest()
    with (Path(tempfile.gettempdir()) / "account-gateway-interop.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not mark.exists() or mark.read_text() != wanted:
            _install(folder)
            mark.write_text(wanted)


def _install(folder: Path) -> None:
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    assert completed.returncode == 0, completed.stdout + completed.stderr
