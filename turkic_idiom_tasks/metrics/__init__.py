"""Scores and statistics; this package does not import torch, mteb, lm-eval or datasets."""
