"""Similarity of two sentences."""
