"""Options of the command line, which are made from the settings of the trainings."""

import json

import pytest
import typer

from turkic_idiom_tasks.cli.finetune import finetune_app, settings_of
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
        if setting == "seed":
            assert options[setting].default == default
        else:
            assert f"{setting}={json.dumps(default)}" in options["values"].help


def test_what_the_words_set():
    assert settings_of(RetrievalConfig, None, seed=42) == RetrievalConfig()
    values = ("bf16=true", "weight_decay=1e-3", "cached=true", "pooling=mean")
    expected = RetrievalConfig(seed=7, bf16=True, weight_decay=1e-3, cached=True, pooling="mean")
    assert settings_of(RetrievalConfig, values, seed=7) == expected
    with pytest.raises(InputError, match=r"seed.*found 4294967296"):
        settings_of(RetrievalConfig, None, seed=2**32)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["epochs=0"], "field 'epochs': .*greater than 0; found 0"),
        (["learning_rate=Infinity"], "learning_rate.*finite.*found inf"),
        (["loss=hinge"], "loss.*'mnrl' or 'cosine'.*found 'hinge'"),
        (["patience=many"], "patience.*found 'many'"),
        (["patience"], "--set 'patience': expected NAME=VALUE"),
        (["epochs=1", "epochs=2"], "--set 'epochs=2': epochs is set twice"),
        (["seed=3"], "--set 'seed=3': pass --seed instead"),
        (["patient=3"], "unknown field 'patient'; known: .*patience"),
        (["cached=true", "gradient_checkpointing=true"], "choose one of them"),
    ],
)
def test_settings_that_cannot_be_used_are_one_line(values, message):
    with pytest.raises(InputError, match=message) as error:
        settings_of(RetrievalConfig, values, seed=42)
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2
