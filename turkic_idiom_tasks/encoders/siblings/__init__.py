"""Idiom tokens and classifiers of sentences, for the experiments of AStitchInLanguageModels, ChengyuSTS and Dodiom."""
