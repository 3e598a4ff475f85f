"""Frames, tables, charts and comparisons of finished results."""
