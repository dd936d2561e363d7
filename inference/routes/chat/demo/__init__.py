"""Chat completions of the demo backend."""
