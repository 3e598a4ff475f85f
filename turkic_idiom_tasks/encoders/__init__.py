"""Encoders of texts: the built-in baseline, and transformers under five poolings."""
