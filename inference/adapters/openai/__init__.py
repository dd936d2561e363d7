"""The public vendor API over HTTP."""
