"""The settings with which a gateway uses the stand-in of a payment provider."""

from pathlib import Path

from gateway.run.files import read_text, write_private
from gateway.run.ports import free_port

SECRET_KEY, WEBHOOK_SECRET = "sk_test_standin", "whsec_standin"


def payment_settings(data_dir: Path) -> dict[str, str]:
    """Return the settings. The port stays the same over restarts, because stored links to payment pages contain it."""
    path = data_dir / "payments.port"
    port = read_text(path)
    if port is None:
        port = str(free_port())
        write_private(path, port)
    return {
        "STRIPE_API_BASE": f"http://127.0.0.1:{port}",
        "STRIPE_SECRET_KEY": SECRET_KEY,
        "STRIPE_WEBHOOK_SECRET": WEBHOOK_SECRET,
    }
