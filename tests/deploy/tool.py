"""What the tools that start deployments have in common: options, a network of their own, and a line for each check."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from tests.deploy.debian import KEPT

WITHIN = "GATEWAY_TRIED_WITHIN"
NEEDED = ("debootstrap", "unshare", "nsenter", "ip")
Site = TypeVar("Site")
Checks = Sequence[Callable[[Site], None]]


def say(text: str) -> None:
    """Print progress."""
    sys.stdout.write(f"[{time.strftime('%H:%M:%S')}] {text}\n")
    sys.stdout.flush()


def read_options(module: str, text: str | None) -> argparse.Namespace:
    """Read the command line, on a machine that can do it. From then on, SIGTERM ends the tool like an error."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=text)
    parser.add_argument(
        "--kept", type=Path, default=KEPT, help=f"where what is downloaded is kept between runs ({KEPT})"
    )
    parser.add_argument(
        "--only", metavar="WORDS", default="", help="the first check, and those whose names have these words"
    )
    parser.add_argument("--keep", action="store_true", help="keep the machine's files, and say where")
    options = parser.parse_args()
    if missing := [name for name in NEEDED if not shutil.which(name)]:
        sys.exit(
            f"{module}: not installed: {', '.join(missing)} (Debian: apt-get install debootstrap util-linux iproute2)"
        )
    if os.getuid() != 0:
        sys.exit(f"{module}: only root can make the namespaces of a machine")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(f"{module}: stopped"))
    return options


def enter_own_network(module: str) -> None:
    """Begin again in a network that has nothing but its loopback interface, unless that was done."""
    if WITHIN not in os.environ:
        os.environ[WITHIN] = "1"
        os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, "-m", module, *sys.argv[1:]])
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


@contextmanager
def home(kept: Path, *, keep: bool) -> Iterator[Path]:
    """Make a folder for the machine's files."""
    folder = Path(tempfile.mkdtemp(prefix="machine-", dir=kept))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        if keep:
            say(f"the machine's files are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def try_all(checks: Checks[Site], site: Site, only: str, log: Callable[[], str]) -> int:
    """Try the checks in order, and return how many failed; the log is printed after each of these."""
    failed = 0
    for check in checks:
        name = check.__name__.replace("_", " ")
        if check is not checks[0] and only not in name:
            continue
        began = time.monotonic()
        try:
            check(site)
        except Exception:  # noqa: BLE001 - the next checks are tried all the same
            failed += 1
            say(f"FAILED: {name}\n{traceback.format_exc()}{log()}")
        else:
            say(f"{name} ({time.monotonic() - began:.1f} s)")
    return failed
