"""AStitchInLanguageModels, ChengyuSTS and Dodiom: idiom tasks in other languages."""
