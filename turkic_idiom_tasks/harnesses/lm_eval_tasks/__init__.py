"""Task files of lm-eval, in a package so that an entry point can name the folder."""
