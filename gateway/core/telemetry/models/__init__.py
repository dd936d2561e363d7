"""The tables of telemetry."""

from gateway.core.telemetry.models.hour import HourlyTraffic
from gateway.core.telemetry.models.request import RequestTrace
from gateway.core.telemetry.models.traffic_day import TrafficDay

__all__ = ["HourlyTraffic", "RequestTrace", "TrafficDay"]
