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
    """Return the line that scripts wait for, `ready: <base url>`, followed by the addresses to visit and, outside production, what
    to do next."""
    if "server" not in options.parts:
        return f"ready: {', '.join(options.parts)}"
    portal = f"{environment.get('PORTAL_URL', options.base_url).rstrip('/')}/"
    lines = [f"ready: {options.base_url}", *_places(options, portal)]
    if not options.is_production:
        lines += ["next:", *_steps(options, portal, environment.get("DEMO_APP_PORT", "8900"))]
    return "\n".join(lines)


def _places(options: Options, portal: str) -> Iterator[str]:
    yield f"  portal     {portal}"
    yield f"  console    {options.base_url}/admin/{_operator(options)}"
    yield f"  reference  {options.base_url}/docs"
    if options.payments:
        yield "  payments   simulated: Add money in the portal costs nothing"


def _steps(options: Options, portal: str, app_port: str) -> Iterator[str]:
    yield f"  1. `make demo` makes a paid call and shows its receipt; `make demo-app` serves an app at http://127.0.0.1:{app_port}"
    yield f"  2. sign up at {portal}, or sign in to the console as the operator"
    yield f"  3. connect your tools by `agw login --gateway {options.base_url}`, and a real model: see README.md"


def _operator(options: Options) -> str:
    """Return where the operator's password is, if a start has made one."""
    path = options.data_dir / "operator.txt"
    known = None if options.is_production else read_text(path)
    return f", as {known.splitlines()[1]}; the password is in {path}" if known else ""
