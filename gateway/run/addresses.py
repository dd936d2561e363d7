"""Reads an address at which this machine listens, such as METRICS_ADDRESS."""

import re

PORT_MAX = 65535

_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.%\w]+)\]|(?P<host>[\w.-]+)):(?P<port>[0-9]{1,5})", re.ASCII)


def read_address(name: str, text: str) -> tuple[str, int]:
    """Return the host and the port of `host:port`. Raises ValueError with a sentence about the setting `name`."""
    found = _ADDRESS.fullmatch(text.strip())
    if found is None or not 1 <= int(found["port"]) <= PORT_MAX:
        raise ValueError(f"{name} must be a host and a port such as 127.0.0.1:9100 or [::1]:9100, not {text!r}.")
    return found["six"] or found["host"], int(found["port"])
