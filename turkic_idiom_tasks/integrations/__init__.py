"""The rooms of mteb and lm-eval: what we register with them, and the only places that touch their private names."""

DATA_VARIABLE = "TURKIC_IDIOM_DATA"  # names the data where a harness's own command cannot pass an argument
