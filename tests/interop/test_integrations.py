"""The integrations for Node.js: the browser client's groups of routes, and the account key as `jose` opens it."""

import pytest

from gateway.core.contract.capabilities import Capability
from tests.interop.conftest import signed_assertion
from tests.interop.node_script import run_script
from tests.support.demo_gateway import DemoGateway


def test_the_browser_client(integrations_gateway: DemoGateway) -> None:
    found = run_script(
        "our_integrations.js", integrations_gateway.base_url, signed_assertion(integrations_gateway, *Capability)
    )
    before, after = found["versions"]
    assert after == before + 1
    assert found["conflict"] == {"code": "revision_conflict", "details": {"version": after}}
    assert found["heard"] == [{"stream": "stdout", "text": "begun\n"}, "running", "cancelling"]
    assert (found["cancelled"], found["listed"], found["hashed"], found["unknown"]) == (
        "cancelled",
        True,
        True,
        "not_found",
    )
    assert found["job"]["status"] == "succeeded"
    assert found["job"]["made"].startswith("Be brief.")
    assert found["revisions"] == [found["revisions"][0], found["revisions"][0] + 1, True]
    one, another = found["accountKeys"]
    assert one == another
    assert len(bytes.fromhex(one[1])) == 32


@pytest.mark.usefixtures("npm_packages")
def test_the_account_key_is_opened_by_jose(integrations_gateway: DemoGateway) -> None:
    found = run_script(
        "jose.js", integrations_gateway.base_url, signed_assertion(integrations_gateway, "sync:key:read")
    )
    thumbprint = found.pop("thumbprint")
    assert {(one["kid"], one["key"]) for one in found.values()} == {(found["proof"]["kid"], found["proof"]["key"])}
    assert len(bytes.fromhex(found["proof"]["key"])) == 32
    for one in found.values():
        assert (one["header"]["alg"], one["header"]["enc"]) == ("ECDH-ES+A256KW", "A256GCM")
    assert found["proof"]["header"]["kid"] == thumbprint
    assert {found[crv]["header"]["epk"]["crv"] for crv in ("P-256", "X25519")} == {"P-256", "X25519"}
