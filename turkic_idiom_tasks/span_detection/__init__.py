"""Idiom span detection: tagged sentences, answers of language models, token classifiers, and the lm-eval tasks."""
