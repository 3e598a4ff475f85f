"""Scores and statistics; nothing here imports torch, mteb, lm-eval or datasets."""
