"""Prepares `.venv` with the pinned requirements: `python3 gateway/run/bootstrap.py REQUIREMENTS [VENV]`.

Runs under any Python 3 before anything is installed, so it uses only the standard library and old syntax. A second call
with the same requirements does nothing.
"""

import contextlib
import fcntl
import hashlib
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
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
BEGINNING = re.compile("(?=%s)" % PIN.pattern, re.MULTILINE)
TURN = re.compile(r"(?:Collecting |Requirement already satisfied: )([\w.-]+)|Processing \S*/([\w.]+)-")
PROJECT_DIR = Path(__file__).resolve().parents[2]
# Succeeds in an environment whose Python is new enough, is the one that its packages were installed for, and has pip.
USABLE = "import sys, pip; sys.exit(sys.version_info < %r)" % (OLDEST,)
# Of pips that run at once, one waits for the network while another unpacks.
PIPS = 3
QUIET_SECONDS = 2.5
# A download is repeated if the network is away for a moment. What pip has downloaded is kept in its cache.
PAUSES_SECONDS = (5, 20)
INTERRUPTED = 130
# What pip prints when something fails that a user can mend, and what to say then. Others are shown as they are.
FULL = "the disk is full."
UNREACHABLE = (
    "the package index does not answer; is there a network? HTTPS_PROXY names a proxy, PIP_INDEX_URL a mirror."
)
NOT_PROXIED = "the proxy does not let pip through; HTTPS_PROXY names it, NO_PROXY what needs none."
UNTRUSTED = "pip does not trust the package index's certificate; PIP_CERT names the file of one that your network uses."
REASONS = (
    (r"No space left on device|Disk quota exceeded", FULL),
    (r"ProxyError|Tunnel connection failed|Cannot connect to proxy", NOT_PROXIED),
    (r"CERTIFICATE_VERIFY_FAILED", UNTRUSTED),
    (r"NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|Connection aborted|Retrying", UNREACHABLE),
)


def main(arguments: list) -> int:
    """Return 0 when the environment is ready, 1 after one line on standard error, 130 if interrupted."""
    if sys.version_info < OLDEST:
        return fail("Python 3.11 or later is needed, but this is %d.%d; set PYTHON=..." % sys.version_info[:2])
    requirements = PROJECT_DIR / arguments[0]
    environment = PROJECT_DIR / (arguments[1] if len(arguments) > 1 else ".venv")
    try:
        with locked(environment.parent):
            return ready(environment, requirements)
    except OSError as error:
        return fail("Cannot prepare %s: %s" % (environment, error))
    except KeyboardInterrupt:
        fail("Stopped; the next start goes on from here.")
        return INTERRUPTED


def ready(environment: Path, requirements: Path) -> int:
    """Create the environment and install, unless that was already done for the same file contents."""
    stamp = environment / (requirements.stem + ".stamp")
    wanted = fingerprint(requirements)
    python = environment / "bin" / "python"
    is_usable = runs(python, "-I", "-c", USABLE)
    if is_usable and stamp.exists() and stamp.read_text() == wanted:
        return 0
    if not is_usable:
        say("creating the environment %s with Python %d.%d ..." % (environment.name, *sys.version_info[:2]))
        with speaking("  still creating it"):
            is_created = create(environment)
        if not is_created:
            return fail(
                "Python's venv module has no pip here, or the disk is full; on Debian: apt install python3-venv"
            )
    say("installing %s into %s (only once; takes about a minute) ..." % (requirements.name, environment.name))
    reason = install_patiently(python, requirements)
    if reason:
        return fail("Installing %s failed: %s" % (requirements.name, reason))
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
    """Create a virtual environment; an interrupted one is repaired if possible, otherwise created again, as is one of another
    Python."""
    for clear in (False, True):
        with contextlib.suppress(subprocess.CalledProcessError, OSError, SystemExit):
            venv.EnvBuilder(with_pip=True, symlinks=True, clear=clear).create(str(environment))
        if has_pip(environment / "bin" / "python"):
            return True
    return False


def has_pip(python: Path) -> bool:
    """Return whether an environment is complete enough to install into."""
    return runs(python, "-I", "-c", USABLE) and runs(python, "-m", "pip", "--version")


def install_patiently(python: Path, requirements: Path) -> str:
    """Install, and try again after each of PAUSES_SECONDS if that fails. Return why it did not work, nothing if it did."""
    for pause_seconds in PAUSES_SECONDS:
        reason = install(python, requirements)
        if not reason or reason == FULL:
            return reason
        say("that failed; trying again in %d s ... (%s)" % (pause_seconds, reason))
        with speaking("  still waiting"):
            time.sleep(pause_seconds)
    return install(python, requirements)


def install(python: Path, requirements: Path) -> str:
    """Install exactly the pinned files, each with a recorded hash. Return why that failed, nothing if it did not."""
    environment = python.parent.parent
    total = len(PIN.findall(requirements.read_text(encoding="utf-8")))
    forget_unfinished(environment)
    with tempfile.TemporaryDirectory(prefix="requirements-") as folder, contextlib.ExitStack() as running:
        pips = []
        for part in parts(requirements, Path(folder)):
            pips.append(running.enter_context(start_pip(python, part)))
            running.callback(pips[-1].terminate)
        complaints = follow(pips, environment, total)
        failed = [pip for pip in pips if pip.wait()]
    return reason_of(complaints) if failed else ""


def start_pip(python: Path, requirements: Path) -> subprocess.Popen:
    """Start pip on a file. What it installs is compiled when it is imported first: most never is."""
    command = [python, "-m", "pip", "install", "--progress-bar=off", "--disable-pip-version-check", "--no-input"]
    command += ["--root-user-action=ignore", "--require-hashes", "--no-deps", "--no-compile", "-r", requirements]
    return subprocess.Popen(
        [str(part) for part in command],
        env=dict(os.environ, PIP_USER="0", PYTHONUNBUFFERED="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        errors="replace",
    )


def forget_unfinished(environment: Path) -> None:
    """Remove what pip was unpacking when it was killed, so that it is installed again: a package's INSTALLER is written last."""
    for folder in packages(environment):
        if not (folder / "INSTALLER").exists():
            shutil.rmtree(str(folder), ignore_errors=True)


def parts(requirements: Path, folder: Path) -> list:
    """Write the file's pinned packages to PIPS files, in turns, each below what the file says before the first package; return
    the files, only the given one if it has no pinned package."""
    head, *blocks = BEGINNING.split(requirements.read_text(encoding="utf-8"))
    written = []
    for number in range(min(PIPS, len(blocks))):
        written.append(folder / ("%d.txt" % number))
        written[-1].write_text(head + "".join(blocks[number::PIPS]), encoding="utf-8")
    return written or [requirements]


def follow(pips: list, environment: Path, total: int) -> list:
    """Print what the pips do until they have ended, at least every QUIET_SECONDS; return their warnings and errors."""
    lines = queue.Queue()  # type: queue.Queue
    for pip in pips:
        threading.Thread(target=forward, args=(pip.stdout, lines), daemon=True).start()
    before = len(packages(environment))
    complaints = []
    counted = Count(total)
    running = len(pips)
    while running:
        try:
            line = lines.get(timeout=QUIET_SECONDS)
        except queue.Empty:
            say("  %d of %d unpacked" % (min(len(packages(environment)) - before, counted.total), counted.total))
            continue
        running -= line is None
        if line and line.startswith(("WARNING:", "ERROR:")):
            complaints.append(line.strip())
        elif line:
            counted.hear(line)
    return complaints


def forward(lines: Iterable, to: queue.Queue) -> None:
    """Put lines into a queue, then None."""
    for line in lines:
        to.put(line)
    to.put(None)


class Count:
    """Counts the packages that pips turn to, of `total` on this platform."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._seen = set()  # type: set

    def hear(self, line: str) -> None:
        """Print a package's name when a line of pip's output says that pip turns to it."""
        turn = TURN.match(line)
        name = turn and (turn.group(1) or turn.group(2))
        if name and name not in self._seen:
            self._seen.add(name)
            say("  %d of %d: %s" % (len(self._seen), self.total, name))
        elif line.startswith("Ignoring "):
            self.total -= 1  # not needed on this platform


def reason_of(complaints: list) -> str:
    """Return in a line what pips complained of, and what would help where that is known."""
    for pattern, reason in REASONS:
        if re.search(pattern, "\n".join(complaints)):
            return reason
    errors = [line for line in dict.fromkeys(complaints) if line.startswith("ERROR:")]
    return "; ".join(errors or complaints) or "pip was killed."


def packages(environment: Path) -> list:
    """List the installed packages' folders."""
    return list(environment.glob("lib/python*/site-packages/*.dist-info"))


@contextlib.contextmanager
def speaking(text: str) -> Iterator:
    """Print a text every QUIET_SECONDS."""
    ended = threading.Event()

    def speak() -> None:
        while not ended.wait(QUIET_SECONDS):
            say(text + " ...")

    thread = threading.Thread(target=speak, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


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
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another process is installing here; waiting for it ...")
            with speaking("  still waiting"):
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
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
