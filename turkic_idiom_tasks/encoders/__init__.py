"""Texts to vectors: the built-in baseline, transformers under five poolings, and what they are called in mteb."""
