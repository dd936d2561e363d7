"""Finds a location for PostgreSQL's files and programs that its user can access.

Root may have checked out the project in a directory that only root can enter, such as /root. PostgreSQL, which then
runs as `nobody`, gets its data and (if they come from the Python package) its programs below SHARED_ROOT.
"""

import os
import shutil
import stat
import tempfile
from pathlib import Path

from gateway.run.binaries import WHEEL, Binaries
from gateway.run.errors import StartError
from gateway.run.identity import Identity

SHARED_ROOT = Path("/var/lib/account-gateway")
READABLE_DIRECTORY = 0o755
OWNER_FILE = "data-directory"


def place_data(link: Path, identity: Identity | None) -> Path:
    """Return the directory for the cluster called `link`, which need not exist yet.

    It is `link` itself if the database's user can access it. Otherwise `link` becomes a symbolic link.
    """
    if link.is_symlink():
        return _resolve(link)
    if identity is None or link.exists():
        return link
    if identity.can_enter(link.parent.parent):
        # The data directory itself stays ours: letting others pass through reveals nothing.
        link.parent.chmod(link.parent.stat().st_mode | stat.S_IXOTH)
    if identity.can_enter(link.parent):
        return link
    root = _shared_root()
    _forget_temporary_data(root)
    place = Path(tempfile.mkdtemp(prefix="data-", dir=root))
    place.chmod(READABLE_DIRECTORY)
    (place / OWNER_FILE).write_text(str(link), encoding="utf-8")
    link.symlink_to(place / link.name)
    return place / link.name


def place_binaries(binaries: Binaries, identity: Identity | None) -> Binaries:
    """Return the same programs in a location where the database's user can run them."""
    if identity is None or identity.can_enter(Path(binaries.program("postgres"))):
        return binaries
    package = binaries.directory.parents[1]
    if package.name != WHEEL:
        raise StartError(f"The user '{identity.name}' cannot run PostgreSQL in {binaries.directory}; set PG_BIN.")
    copy = _shared_root() / f"{binaries.directory.parent.name}-{_fingerprint(binaries)}"
    if not copy.exists():
        _copy_package(package, binaries.directory.parent.name, copy)
    return Binaries(copy / WHEEL / binaries.directory.parent.name / "bin", binaries.major)


def _resolve(link: Path) -> Path:
    """Return the location that an earlier start chose for the data."""
    target = link.readlink()
    if not target.parent.is_dir():
        raise StartError(
            f"{link} points to {target}, which no longer exists; restore it, or remove the link to start afresh."
        )
    return target


def _forget_temporary_data(root: Path) -> None:
    """Remove the data of temporary data directories that no longer exist; other data is never removed."""
    for note in root.glob(f"data-*/{OWNER_FILE}"):
        link = Path(note.read_text(encoding="utf-8"))
        if link.is_relative_to(tempfile.gettempdir()) and not link.is_symlink():
            shutil.rmtree(note.parent, ignore_errors=True)


def _shared_root() -> Path:
    """Return SHARED_ROOT, creating it if necessary."""
    try:
        SHARED_ROOT.mkdir(parents=True, exist_ok=True)
        SHARED_ROOT.chmod(READABLE_DIRECTORY)
    except OSError as error:
        raise StartError(
            f"Cannot create {SHARED_ROOT}, which the database's user must be able to enter: {error.strerror}."
        ) from error
    return SHARED_ROOT


def _fingerprint(binaries: Binaries) -> str:
    """Return a name that changes with the package's content, derived from its server program."""
    status = Path(binaries.program("postgres")).stat()
    return f"{binaries.major}-{status.st_size}-{int(status.st_mtime)}"


def _copy_package(package: Path, install: str, target: Path) -> None:
    """Copy an installation and its bundled libraries, readable by everybody, and rename it into place."""
    temporary = Path(tempfile.mkdtemp(prefix="copy-", dir=target.parent))
    shutil.copytree(package / install, temporary / WHEEL / install, symlinks=True)
    libraries = package.with_name(f"{WHEEL}.libs")
    if libraries.is_dir():
        shutil.copytree(libraries, temporary / libraries.name, symlinks=True)
    for directory, _, files in os.walk(temporary):
        Path(directory).chmod(READABLE_DIRECTORY)
        for name in files:
            _open_to_everybody(Path(directory, name))
    try:
        temporary.rename(target)
    except OSError:
        # Another start was faster.
        shutil.rmtree(temporary)


def _open_to_everybody(path: Path) -> None:
    """Make a file readable by everybody, and executable if its owner may execute it."""
    if path.is_symlink():
        return
    mode = path.stat().st_mode
    executable = 0o111 if mode & stat.S_IXUSR else 0
    path.chmod(stat.S_IMODE(mode) | 0o444 | executable)
