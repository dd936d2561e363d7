"""Run the stand-in beside `make run`, to try payments without an account: `python -m tests.support.stripe`."""

import argparse
import signal
import sys
import threading
from pathlib import Path

from tests.support.stripe.server import FakeStripe
from tests.support.stripe.store import Store

SAVE_SECONDS = 1.0

SETTINGS = """ready: {origin}
Start the gateway with
  STRIPE_API_BASE={origin} STRIPE_SECRET_KEY={key} STRIPE_WEBHOOK_SECRET={secret} make run
"""


def main() -> None:
    """Read the command line, serve until SIGTERM or SIGINT, and say how a gateway finds it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8910, help="0 takes a free one")
    parser.add_argument("--gateway", default="http://localhost:8000", help="where webhooks are sent")
    parser.add_argument("--state", type=Path, help="a file that keeps the records over restarts")
    parser.add_argument("--quiet", action="store_true", help="print nothing")
    options = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with FakeStripe(port=options.port) as provider:
        provider.webhooks.send_to(f"{options.gateway}/webhooks/stripe")
        if not options.quiet:
            printed = SETTINGS.format(origin=provider.origin, key=provider.secret_key, secret=provider.webhooks.secret)
            sys.stdout.write(printed)
            sys.stdout.flush()
        keep(provider.store, options.state, stop)


def keep(store: Store, path: Path | None, stop: threading.Event) -> None:
    """Load the records, and save them each second and at the end, until a signal."""
    if path is not None and path.exists():
        store.load(path.read_text())
    while not stop.wait(SAVE_SECONDS if path else None):
        save(store, path)
    save(store, path)


def save(store: Store, path: Path | None) -> None:
    """Replace the file, if it is wanted."""
    if path is not None:
        new = path.with_suffix(".new")
        new.write_text(store.dump())
        new.replace(path)


if __name__ == "__main__":
    main()
