"""Options of the command line, which are made from the settings of the trainings."""

import pytest
import typer

from turkic_idiom_tasks.cli.finetune import finetune_app, with_settings
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.training.config import IdiomaticityConfig, RetrievalConfig, SimilarityOptions, SpanConfig

CONFIGS = {
    "retrieval": RetrievalConfig,
    "span": SpanConfig,
    "similarity": SimilarityOptions,
    "idiomaticity": IdiomaticityConfig,
}


@pytest.mark.parametrize("name", CONFIGS)
def test_every_setting_has_an_option_with_its_default_or_is_named_by_set(name):
    options = {option.name: option for option in typer.main.get_command(finetune_app).commands[name].params}
    fixed = {"pad_to_max", "group_by_length"}  # they only stand in the names of cells
    for setting, default in CONFIGS[name]().model_dump(exclude=fixed).items():
        assert setting in options or setting in options["further"].help
        assert setting not in options or options[setting].default == default
    assert {"epochs", "learning_rate"} < set(options)


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
    assignments = ("bf16=true", "weight_decay=1e-3", "cached=true", "pooling=mean")
    words = ["--epochs", "2", *(word for assignment in assignments for word in ("--set", assignment))]
    assert settings_of(*words) == RetrievalConfig(epochs=2, bf16=True, weight_decay=1e-3, cached=True, pooling="mean")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epochs", "0"], "epochs is 0: .*greater than 0"),
        (["--learning-rate", "0"], "learning_rate is 0"),
        (["--learning-rate", "inf"], "learning_rate is inf: .*finite"),
        (["--seed", str(2**32)], "seed is 4294967296"),
        (["--set", "loss=hinge"], "loss is 'hinge': .*'mnrl' or 'cosine'"),
        (["--set", "weight_decay=-0.1"], "weight_decay is -0.1"),
        (["--set", "patience=many"], "patience is 'many'"),
        (["--set", "patience"], "--set 'patience': expected NAME=VALUE"),
        (["--set", "epochs=3"], "--set 'epochs=3': pass --epochs instead"),
        (["--set", "patient=3"], "patient is 3: no setting of this name; known: .*patience"),
        (["--set", "cached=true", "--set", "gradient_checkpointing=true"], "choose one of them"),
    ],
)
def test_settings_that_cannot_be_used_are_one_line(settings_of, words, message):
    with pytest.raises(InputError, match=message) as error:
        settings_of(*words)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2
