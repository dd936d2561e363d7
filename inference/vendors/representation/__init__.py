"""The open protocol of the gateway's own representation servers."""
