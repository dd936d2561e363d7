"""What a gateway that starts tells whoever started it, on standard output."""

import sys
from collections.abc import Iterator, Mapping

from gateway.run.files import read_text
from gateway.run.options import Options
from gateway.run.terminal import print_line


def announce(text: str) -> None:
    """Print without buffering."""
    print_line(text, sys.stdout)


def ready(options: Options, environment: Mapping[str, str]) -> str:
    """Return the line that scripts wait for, `ready: <base url>`, followed by the addresses to visit."""
    if "server" not in options.parts:
        return f"ready: {', '.join(options.parts)}"
    return "\n".join([f"ready: {options.base_url}", *_places(options, environment)])


def _places(options: Options, environment: Mapping[str, str]) -> Iterator[str]:
    portal = environment.get("PORTAL_URL", options.base_url).rstrip("/")
    yield f"  portal     {portal}/"
    yield f"  console    {options.base_url}/admin/{_operator(options)}"
    yield f"  reference  {options.base_url}/docs"
    if not options.is_production:
        app = f"http://127.0.0.1:{environment.get('DEMO_APP_PORT', '8900')}"
        yield f"  demo       `make demo` makes a paid call; `make demo-app` serves an example app at {app}"
    if options.payments:
        yield "  payments   simulated: Add money in the portal costs nothing"


def _operator(options: Options) -> str:
    """Return where the operator's password is, if a start has made one."""
    path = options.data_dir / "operator.txt"
    known = None if options.is_production else read_text(path)
    return f", as {known.splitlines()[1]}; the password is in {path}" if known else ""
