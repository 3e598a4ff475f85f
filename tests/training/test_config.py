"""Options of the command line, which are made from the settings of the trainings."""

import pytest
import typer

from turkic_idiom_tasks.cli.finetune import finetune_app, with_settings
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.training.config import IdiomaticityConfig, RetrievalConfig, SimilarityConfig, SpanConfig

CONFIGS = {
    "retrieval": RetrievalConfig,
    "span": SpanConfig,
    "similarity": SimilarityConfig,
    "idiomaticity": IdiomaticityConfig,
}


@pytest.mark.parametrize("name", CONFIGS)
def test_every_setting_has_an_option_with_its_default_or_is_named_by_set(name):
    options = {option.name: option for option in typer.main.get_command(finetune_app).commands[name].params}
    fixed = {"pad_to_max", "group_by_length"}  # they only stand in the names of cells
    for setting, default in CONFIGS[name]().model_dump(exclude=fixed).items():
        assert setting in options or setting in options["further"].help
        assert setting not in options or options[setting].default == default
    assert {"epochs", "batch_size", "learning_rate"} < set(options)


@pytest.fixture
def settings_of():
    """Runs a command with words, and returns the settings that it gets."""
    app, seen = typer.Typer(), []

    @app.command()
    @with_settings(RetrievalConfig)
    def train(config: RetrievalConfig) -> None:
        seen.append(config)

    def run(*words):
        app(args=list(words), standalone_mode=False)
        return seen[-1]

    return run


def test_what_the_words_set(settings_of):
    assert settings_of() == RetrievalConfig()
    words = ("--epochs", "2", "--bf16", "--set", "weight_decay=1e-3", "--set", "cached=true", "--set", "pooling=mean")
    assert settings_of(*words) == RetrievalConfig(epochs=2, bf16=True, weight_decay=1e-3, cached=True, pooling="mean")


@pytest.mark.parametrize(
    ("assignment", "message"),
    [("patience=0", "patience is 0"), ("patient=3", "patient is 3: .*not permitted"), ("patience", "patience is ''")],
)
def test_a_setting_that_cannot_be_used(settings_of, assignment, message):
    with pytest.raises(InputError, match=message):
        settings_of("--set", assignment)
