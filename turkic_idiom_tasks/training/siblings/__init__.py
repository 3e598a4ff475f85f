"""Trainings of AStitchInLanguageModels, ChengyuSTS and Dodiom: idiom tokens, and classifiers by idiomaticity."""
