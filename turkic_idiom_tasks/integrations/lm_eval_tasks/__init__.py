"""The task files of lm-eval; a package, so that an entry point can name the folder."""
