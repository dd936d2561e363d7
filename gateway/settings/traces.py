"""Whether requests are traced, by the standard variables of OpenTelemetry, which its SDK reads itself."""

import os

from gateway.settings.reading import env

PROTOCOL = "http/protobuf"
EXPORTERS = ("otlp", "none")


def are_wanted() -> bool:
    """Return whether a collector is named and nothing switches traces off; record what cannot be followed."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if env.choice("OTEL_TRACES_EXPORTER", EXPORTERS, default="otlp") == "none":
        return False
    endpoints = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT"),
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
    }
    protocols = {
        "OTEL_EXPORTER_OTLP_PROTOCOL": os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL"),
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": os.environ.get("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"),
    }
    if not any(endpoints.values()):
        return False
    for name, address in endpoints.items():
        if address and not address.startswith(("http://", "https://")):
            env.note(f"{name} must be an http or https address.")
    for name, protocol in protocols.items():
        if protocol not in (None, "", PROTOCOL):
            env.note(f"{name} must be {PROTOCOL}.")
    return True


TRACES = are_wanted()
