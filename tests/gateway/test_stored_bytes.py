"""Bytes that are stored encrypted, and the rotation of their keys."""

import os
import subprocess
import sys
from typing import Any

import pytest
from cryptography.fernet import Fernet, InvalidToken

from gateway.core.encryption import stored_bytes

OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))
SECRET = b"what was answered"
PLACE = "row 1"


@pytest.fixture(autouse=True)
def _old_key(settings: Any) -> None:
    settings.FIELD_ENCRYPTION_KEYS = [OLD]


@pytest.mark.parametrize("data", [b"", SECRET, bytes(range(256)) * 4096, stored_bytes.VERSION])
def test_any_bytes_come_back_and_take_45_more(data: bytes) -> None:
    token = stored_bytes.encrypt(data, PLACE)
    assert stored_bytes.decrypt(token, PLACE) == data
    assert len(token) == len(data) + 45


def test_equal_bytes_look_different_and_nothing_of_them_shows() -> None:
    tokens = {stored_bytes.encrypt(SECRET, PLACE) for _ in range(1000)}
    assert len(tokens) == 1000
    assert not any(SECRET in token for token in tokens)


def test_a_new_key_in_front_encrypts_and_the_old_one_still_reads(settings: Any) -> None:
    before = stored_bytes.encrypt(SECRET, PLACE)
    settings.FIELD_ENCRYPTION_KEYS = [NEW, OLD]
    after = stored_bytes.encrypt(SECRET, PLACE)
    assert stored_bytes.decrypt(before, PLACE) == stored_bytes.decrypt(after, PLACE) == SECRET
    settings.FIELD_ENCRYPTION_KEYS = [NEW]
    assert stored_bytes.decrypt(after, PLACE) == SECRET
    with pytest.raises(InvalidToken):
        stored_bytes.decrypt(before, PLACE)


def test_each_byte_that_somebody_changes_is_noticed() -> None:
    token = stored_bytes.encrypt(SECRET, PLACE)
    for place in range(len(token)):
        with pytest.raises(InvalidToken):
            stored_bytes.decrypt(token[:place] + bytes([token[place] ^ 1]) + token[place + 1 :], PLACE)


def test_a_part_of_a_token_is_refused() -> None:
    token = stored_bytes.encrypt(SECRET, PLACE)
    for length in range(len(token)):
        with pytest.raises(InvalidToken):
            stored_bytes.decrypt(token[:length], PLACE)


def test_a_token_is_read_only_in_its_own_place() -> None:
    token = stored_bytes.encrypt(SECRET, PLACE)
    with pytest.raises(InvalidToken):
        stored_bytes.decrypt(token, "row 2")


def test_a_fork_uses_another_key_and_reads_its_parents() -> None:
    mine = stored_bytes.encrypt(b"here", PLACE)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, stored_bytes.encrypt(stored_bytes.decrypt(mine, PLACE), PLACE))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        theirs = pipe.read()
    assert stored_bytes.decrypt(theirs, PLACE) == b"here"
    assert mine[1:17] != theirs[1:17]


def test_another_process_uses_another_key_and_reads_this_one_s() -> None:
    """Random nonces repeat sooner or later under one key, so that no two processes may share one."""
    program = (
        "import sys; from django.conf import settings; from gateway.core.encryption import stored_bytes as s; "
        "settings.configure(FIELD_ENCRYPTION_KEYS=[sys.argv[1]]); "
        "assert s.decrypt(bytes.fromhex(sys.argv[2]), 'row 1') == b'here'; print(s.encrypt(b'there', 'row 1').hex())"
    )
    mine = stored_bytes.encrypt(b"here", PLACE)
    completed = subprocess.run(
        [sys.executable, "-c", program, OLD, mine.hex()], capture_output=True, text=True, check=True
    )
    theirs = bytes.fromhex(completed.stdout)
    assert stored_bytes.decrypt(theirs, PLACE) == b"there"
    assert mine[1:17] != theirs[1:17]
