"""The protocols of upstreams: one folder per vendor. A route's own folder has its endpoint for each."""
