"""Images of the demo backend: patterns, drawn without a model."""
