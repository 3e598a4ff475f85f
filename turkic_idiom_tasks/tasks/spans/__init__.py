"""Idiom span detection: prompts and answers of language models, token classifiers, and the scores of both."""
