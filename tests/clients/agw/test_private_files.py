"""Files that nobody else reads or writes."""

import os
import stat
from pathlib import Path

import pytest

from account_gateway_client.cli import private_files
from account_gateway_client.cli.errors import CommandError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "made" / "agw"
    private_files.make_directory(folder)
    return folder


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_folder_and_files_are_their_owners_alone(folder: Path) -> None:
    umask = os.umask(0)
    try:
        private_files.make_directory(folder / "above" / "below")
        private_files.write_json(folder / "a.json", {"b": "ü"})
    finally:
        os.umask(umask)
    assert (mode_of(folder), mode_of(folder / "a.json")) == (0o700, 0o600)
    assert private_files.read_json(folder / "a.json") == {"b": "ü"}
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "above"]
    assert (mode_of(folder / "above"), mode_of(folder / "above" / "below")) == (0o700, 0o700)


def test_a_folder_that_is_there_is_used(folder: Path) -> None:
    folder.chmod(0o755)
    private_files.make_directory(folder)
    link = folder.parent / "link"
    link.symlink_to(folder)
    private_files.make_directory(link)


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777, 0o702])
def test_a_folder_that_others_write_is_refused(folder: Path, mode: int) -> None:
    folder.chmod(mode)
    with pytest.raises(CommandError, match="chmod 700"):
        private_files.make_directory(folder)


def test_anothers_folder_is_refused_also_through_a_link(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = folder.parent / "link"
    link.symlink_to(folder)
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    for path in (folder, link):
        with pytest.raises(CommandError, match="another user"):
            private_files.make_directory(path)


def test_what_is_no_folder_is_refused(folder: Path) -> None:
    (folder / "file").write_text("")
    (folder / "dangling").symlink_to(folder / "nothing")
    for path in (folder / "file", folder / "dangling", folder / "file" / "below"):
        with pytest.raises(CommandError, match="AGW_CONFIG_DIR"):
            private_files.make_directory(path)


def test_a_file_that_others_may_read_or_made_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "a.json"
    private_files.write_json(path, {})
    path.chmod(0o640)
    with pytest.raises(CommandError, match="Other users"):
        private_files.read_json(path)
    path.chmod(0o600)
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    with pytest.raises(CommandError, match="another user"):
        private_files.read_json(path)


def test_a_link_is_neither_read_nor_written_through(folder: Path, tmp_path: Path) -> None:
    other, link = tmp_path / "other.json", folder / "a.json"
    other.write_text("{}")
    other.chmod(0o600)
    link.symlink_to(other)
    with pytest.raises(CommandError):
        private_files.read_json(link)
    private_files.write_json(link, {"mine": True})
    assert other.read_text() == "{}"
    assert not link.is_symlink()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a"'])
def test_a_damaged_file_is_named(folder: Path, content: bytes) -> None:
    path = folder / "a.json"
    private_files.write_json(path, {})
    path.write_bytes(content)
    with pytest.raises(CommandError, match=r"a\.json is damaged"):
        private_files.read_json(path)


def test_a_write_that_fails_leaves_the_old_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "a.json"
    private_files.write_json(path, {"old": True})

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CommandError, match="No space left"):
        private_files.write_json(path, {"new": True})
    assert private_files.read_json(path) == {"old": True}
    assert [path.name for path in folder.iterdir()] == ["a.json"]
