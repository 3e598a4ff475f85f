"""Settings of the trainings: the options of the command line repeat their defaults."""

import pytest
import typer

from turkic_idiom_tasks.cli.finetune import finetune_app
from turkic_idiom_tasks.training.config import IdiomaticityConfig, RetrievalConfig, SimilarityConfig, SpanConfig

CONFIGS = {
    "retrieval": RetrievalConfig,
    "span": SpanConfig,
    "similarity": SimilarityConfig,
    "idiomaticity": IdiomaticityConfig,
}


@pytest.mark.parametrize("name", CONFIGS)
def test_the_options_of_a_command_have_the_defaults_of_its_settings(name):
    command = typer.main.get_command(finetune_app).commands[name]
    options = {option.name: option.default for option in command.params}
    defaults = CONFIGS[name]().model_dump()
    assert len(defaults) >= 6
    assert {setting: options[setting] for setting in defaults} == defaults
