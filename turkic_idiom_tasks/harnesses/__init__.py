"""Integration with mteb and lm-eval: registration of our tasks and models, and all use of their private names."""

DATA_VARIABLE = "TURKIC_IDIOM_DATA"  # names the data, because the command of a harness cannot pass an argument
