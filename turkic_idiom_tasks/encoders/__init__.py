"""Texts to vectors: the built-in baseline, and transformers under five poolings."""
