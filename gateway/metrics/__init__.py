"""The metrics of this machine's processes, in Prometheus' text format (METRICS_ADDRESS).

Servers and workers write what they count to files (`recording`); a process of its own reads these files and the database when it
is scraped (`serving`). Without the setting, nothing is loaded, counted or written.
"""
