"""Run the stand-in beside `make run`, to try payments without an account: `python -m tests.support.stripe`."""

import argparse
import signal
import sys
import threading

from tests.support.stripe.server import FakeStripe

SETTINGS = """ready: {origin}
Start the gateway with
  STRIPE_API_BASE={origin} STRIPE_SECRET_KEY={key} STRIPE_WEBHOOK_SECRET={secret} make run
"""


def main() -> None:
    """Read the command line, serve until SIGTERM or SIGINT, and say how a gateway finds it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8910, help="0 takes a free one")
    parser.add_argument("--gateway", default="http://127.0.0.1:8000", help="where webhooks are sent")
    options = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with FakeStripe(port=options.port) as provider:
        provider.webhooks.send_to(f"{options.gateway}/webhooks/stripe")
        told = SETTINGS.format(origin=provider.origin, key=provider.secret_key, secret=provider.webhooks.secret)
        sys.stdout.write(told)
        sys.stdout.flush()
        stop.wait()


if __name__ == "__main__":
    main()
