"""Whether requests are traced, by the standard variables of OpenTelemetry, which its SDK reads itself."""

import os

from gateway.settings.reading import env

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
PROTOCOL = "http/protobuf"
EXPORTERS = ("otlp", "none")


def are_wanted() -> bool:
    """Return whether a collector is named and nothing switches traces off; record what cannot be understood."""
    if os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    if env.choice("OTEL_TRACES_EXPORTER", EXPORTERS, default="otlp") == "none":
        return False
    named = [name for name in ENDPOINTS if os.environ.get(name)]
    for name in named:
        if not os.environ[name].startswith(("http://", "https://")):
            env.note(f"{name} must be an http or https address.")
    for name in PROTOCOLS:
        if named and os.environ.get(name, PROTOCOL) not in ("", PROTOCOL):
            env.note(f"{name} must be {PROTOCOL}.")
    return bool(named)


TRACES = are_wanted()
