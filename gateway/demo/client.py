"""Makes the repository's own Python client importable. Only this module adds its folder to the path."""

import sys
from pathlib import Path

CLIENT_DIR = Path(__file__).resolve().parents[2] / "clients" / "python"
if str(CLIENT_DIR) not in sys.path:
    sys.path.insert(0, str(CLIENT_DIR))

from account_gateway_client import (  # noqa: E402
    ClientError,
    Gateway,
    GatewayError,
    ProductKey,
    ProductServer,
    Receipt,
    call_headers,
)

__all__ = ["ClientError", "Gateway", "GatewayError", "ProductKey", "ProductServer", "Receipt", "call_headers"]
