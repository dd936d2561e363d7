"""English, written as engineers do."""
