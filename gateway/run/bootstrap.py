"""Prepares `.venv` with the pinned requirements: `python3 gateway/run/bootstrap.py REQUIREMENTS [VENV]`.

Runs under any Python 3 before anything is installed, so it uses only the standard library and old syntax. A second call
with the same requirements does nothing.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import subprocess
import sys
import threading
import time
import venv
from pathlib import Path
from typing import Iterable, Iterator

OLDEST = (3, 11)
# Files whose packages are installed together with a file's, at the same versions.
COVERS = {
    "requirements-dev": ("requirements", "requirements-local-model"),
    "requirements-local-model": ("requirements",),
}
# A pinned package in a requirements file, and pip's output line when it starts a package.
PIN = re.compile(r"^[\w.-]+(?:\[[\w,-]+\])?==", re.MULTILINE)
TURN = re.compile(r"(?:Collecting |Requirement already satisfied: )([\w.-]+)|Processing \S*/([\w.]+)-")
PROJECT_DIR = Path(__file__).resolve().parents[2]
UNPACKING = "  unpacking them ..."
COUNT_SECONDS = 3.0
# A download is repeated if the network is away for a moment. What pip has downloaded is kept in its cache.
PAUSES_SECONDS = (5, 20)


def main(arguments: list) -> int:
    """Return 0 when the environment is ready, 1 after one line on standard error."""
    if sys.version_info < OLDEST:
        return fail("Python 3.11 or later is needed, but this is %d.%d; set PYTHON=..." % sys.version_info[:2])
    requirements = PROJECT_DIR / arguments[0]
    environment = PROJECT_DIR / (arguments[1] if len(arguments) > 1 else ".venv")
    try:
        with locked(environment.parent):
            return ready(environment, requirements)
    except OSError as error:
        return fail("Cannot prepare %s: %s" % (environment, error))


def ready(environment: Path, requirements: Path) -> int:
    """Create the environment and install, unless that was already done for the same file contents."""
    stamp = environment / (requirements.stem + ".stamp")
    wanted = fingerprint(requirements)
    python = environment / "bin" / "python"
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return 0
    if not has_pip(python):
        say("creating the environment %s with Python %d.%d ..." % (environment.name, *sys.version_info[:2]))
        if not create(environment):
            return fail("Python's venv module has no pip here; on Debian: apt install python3-venv")
    say("installing %s into %s (only once; takes about a minute) ..." % (requirements.name, environment.name))
    if not install_patiently(python, requirements):
        return fail("Installing %s failed; see above." % requirements.name)
    stamp.write_text(wanted)
    for covered in COVERS.get(requirements.stem, ()):
        other = requirements.with_name(covered + ".txt")
        (environment / (covered + ".stamp")).write_text(fingerprint(other))
    say("%s is ready." % environment.name)
    return 0


def fingerprint(requirements: Path) -> str:
    """Return a hash of the file."""
    return hashlib.sha256(requirements.read_bytes()).hexdigest()


def create(environment: Path) -> bool:
    """Create a virtual environment; an interrupted one is repaired if possible, otherwise created again."""
    for clear in (False, True):
        with contextlib.suppress(subprocess.CalledProcessError, OSError, SystemExit):
            venv.EnvBuilder(with_pip=True, symlinks=True, clear=clear).create(str(environment))
        if has_pip(environment / "bin" / "python"):
            return True
    return False


def has_pip(python: Path) -> bool:
    """Return whether an environment is complete enough to install into."""
    return runs(python, "-m", "pip", "--version")


def install_patiently(python: Path, requirements: Path) -> bool:
    """Install, and try again after each of PAUSES_SECONDS if that fails."""
    for pause_seconds in PAUSES_SECONDS:
        if install(python, requirements):
            return True
        say("installing %s failed; trying again in %d s ..." % (requirements.name, pause_seconds))
        time.sleep(pause_seconds)
    return install(python, requirements)


def install(python: Path, requirements: Path) -> bool:
    """Install exactly the pinned files, each with a recorded hash. Files that are not pinned are not installed."""
    command = [python, "-m", "pip", "install", "--progress-bar=off", "--disable-pip-version-check", "--no-input"]
    command += ["--root-user-action=ignore", "--require-hashes", "--no-deps", "-r", requirements]
    total = len(PIN.findall(requirements.read_text(encoding="utf-8")))
    running = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, universal_newlines=True)
    with running as pip, counting(python.parent.parent, total) as unpacking:
        for news in progress(pip.stdout or (), total):
            say(news)
            if news == UNPACKING:
                unpacking.set()
    return pip.returncode == 0


@contextlib.contextmanager
def counting(environment: Path, total: int) -> Iterator:
    """Yield an event; once it is set, say every few seconds how many packages pip has unpacked, about which it is silent."""
    begun, ended = threading.Event(), threading.Event()

    def count() -> None:
        begun.wait()
        before = len(packages(environment))
        while not ended.wait(COUNT_SECONDS):
            say("  %d of %d unpacked" % (min(len(packages(environment)) - before, total), total))

    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield begun
    finally:
        ended.set()
        begun.set()
        thread.join()


def packages(environment: Path) -> list:
    """List the installed packages' folders."""
    return list(environment.glob("lib/python*/site-packages/*.dist-info"))


def progress(lines: Iterable, total: int) -> Iterator:
    """Yield progress lines for pip's output: each of `total` packages when it is started, then the unpacking."""
    seen = set()
    for line in lines:
        turn = TURN.match(line)
        name = turn and (turn.group(1) or turn.group(2))
        if name and name not in seen:
            seen.add(name)
            yield "  %d of %d: %s" % (len(seen), total, name)
        elif line.startswith("Ignoring "):
            total -= 1  # not needed on this platform
        elif line.startswith("Installing collected packages"):
            yield UNPACKING


def runs(*command: object) -> bool:
    """Return whether a command succeeds, whatever it prints."""
    try:
        return subprocess.run([str(part) for part in command], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@contextlib.contextmanager
def locked(directory: Path) -> Iterator:
    """Wait for another process that is installing in the same checkout."""
    lock = os.open(str(directory), os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def say(message: str) -> None:
    """Print to the terminal without buffering."""
    print(message, flush=True)


def fail(message: str) -> int:
    """Print the error and return the exit code."""
    print("gateway: " + message, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
