"""Tasks of the harnesses on data in other languages: AStitchInLanguageModels and ChengyuSTS."""
