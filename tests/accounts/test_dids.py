"""DIDs and the prefixes of integrations."""

import pytest

from accounts.rules import dids


@pytest.mark.parametrize(
    "did", ["did:web:studio.example:alice", "did:key:z6Mk", "did:web:a%3A8080:b", "did:plc:1", "did:web:x:a_b-c.d"]
)
def test_a_did_is_one(did: str) -> None:
    assert dids.is_did(did)


@pytest.mark.parametrize(
    "value",
    [
        None,
        1,
        [],
        "",
        "did",
        "did:",
        "did:web",
        "did:web:",
        "did:WEB:a",
        "DID:web:a",
        "did::a",
        "did:web:a:",
        "did:web:a b",
        "did:web:a/b",
        "did:web:a?b",
        "did:web:a#b",
        "did:web:a%2",
        "did:web:a%zz",
        "did:web:a\n",
        " did:web:a",
        "did:web:é",
        "did:web:a\x00",
        "did:web:" + "a" * 600,
    ],
)
def test_invalid_dids(value: object) -> None:
    assert not dids.is_did(value)


@pytest.mark.parametrize(
    ("prefix", "did", "expected"),
    [
        ("did:web:studio.example:", "did:web:studio.example:alice", True),
        ("did:web:studio.example", "did:web:studio.example:alice", True),
        ("did:web:studio.example:", "did:web:studio.example:people:alice", True),
        ("did:web:studio.example:", "did:web:studio.example", False),
        ("did:web:studio.example:", "did:web:studio.example:", False),
        ("did:web:studio.example", "did:web:studio.example", False),
        ("did:web:studio.example", "did:web:studio.example.evil:alice", False),
        ("did:web:studio.example", "did:web:studio.example%3A80:alice", False),
        ("did:web:studio.example:", "did:web:courier.example:alice", False),
        ("did:web:studio.example:", "did:web:Studio.example:alice", False),
        ("did:web:studio.example:", "x did:web:studio.example:alice", False),
        ("did:web:studio.example:", "did:web:studio.example:alice#key", False),
        ("did:web:studio.example:", "did:web:studio.example:../courier.example", False),
    ],
)
def test_speaks_for(prefix: str, did: str, expected: bool) -> None:
    assert dids.speaks_for(prefix, did) is expected
