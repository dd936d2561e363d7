"""The tables of telemetry."""

from gateway.core.telemetry.models.hour import HourlyTraffic
from gateway.core.telemetry.models.request import RequestTrace

__all__ = ["HourlyTraffic", "RequestTrace"]
