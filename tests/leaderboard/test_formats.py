"""JSON files for other programs: each fits the schema that it names; the records for Every Eval Ever fit its form."""

import copy
import json
import re
from datetime import date

import jsonschema
import pytest

from leaderboard.every_eval_ever import METRICS, every_eval_ever_files
from leaderboard.submit_page import About
from turkic_idiom_tasks.metrics.ranking import chance_corrected
from turkic_idiom_tasks.results.scored import MAIN_SCORES

UUID4 = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


def read(path):
    return json.loads(path.read_text("utf-8"))


def validator(path):
    schema = read(path)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_every_json_file_fits_the_schema_that_it_names(shared_site):
    files = [shared_site.folder / "leaderboard.json", shared_site.folder / "items.json"]
    files += sorted((shared_site.folder / "scores").glob("*.json"))
    assert len(files) == 2 + len(shared_site.board.submissions)
    for path in files:
        content = read(path)
        assert content["format"] == 1
        validator(path.parent / content["$schema"]).validate(content)


@pytest.mark.parametrize("change", ["missing", "unknown", "another type", "another version"])
def test_a_schema_refuses_what_is_not_documented(shared_site, change):
    content = read(shared_site.folder / "leaderboard.json")
    model = copy.deepcopy(content["models"][0])
    if change == "missing":
        del model["subsets"][0]["main"]
    elif change == "unknown":
        model["subsets"][0]["new"] = 1
    elif change == "another type":
        model["subsets"][0]["main"] = "0.5"
    content["models"] = [model]
    content["format"] = 2 if change == "another version" else 1
    with pytest.raises(jsonschema.ValidationError):
        validator(shared_site.folder / content["$schema"]).validate(content)


def test_every_key_of_a_schema_is_explained(shared_site):
    for path in sorted((shared_site.folder / "schema").iterdir()):
        schema = read(path)
        parts = [schema, *schema.get("$defs", {}).values()]
        for part in parts:
            assert part["description"]
            unexplained = [key for key, field in part["properties"].items() if not field.get("description")]
            assert unexplained == [], path


def test_records_of_every_eval_ever_have_its_form(shared_site):
    """The form of schema 0.3.0, whose keys and rules are written out here."""
    folder = shared_site.folder / "every_eval_ever"
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    records = {}
    for path in files:
        assert re.fullmatch(rf"data/turkic-idiom/org/[\w.-]+/{UUID4}\.json", str(path.relative_to(folder)))
        record = read(path)
        records[record["model_info"]["additional_details"]["submission"]] = record
    assert set(records) == {"model-1", "model-2", "model-3", "turkish"}  # the other names are no ORG/NAME
    for record in records.values():
        assert set(record) == {
            *("schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "eval_library"),
            *("model_info", "evaluation_results"),
        }
        assert record["schema_version"] == "0.3.0"
        assert record["retrieved_timestamp"] == "1795996800"  # 2026-11-30, midnight UTC
        assert record["model_info"]["additional_details"]["deployment_type"] == "unknown"
        for result in record["evaluation_results"]:
            assert 0.0 <= result["score_details"]["score"] <= 1.0
            assert result["metric_config"]["score_type"] == "continuous"
            assert result["source_data"]["source_type"] == "url"
            for details in (result["score_details"]["details"], result["source_data"]["additional_details"]):
                assert all(isinstance(value, str) for value in details.values())
    (result,) = (
        one for one in records["model-1"]["evaluation_results"] if one["evaluation_name"] == "turkic_idiom.T1.tur-azj"
    )
    (score,) = (one for one in shared_site.board.by_id["model-1"].of_task("T1") if one.subset == "tur-azj")
    assert result["score_details"]["score"] == pytest.approx(score.main, abs=1e-6)
    corrected = float(result["score_details"]["details"]["chance_corrected"])
    assert corrected == pytest.approx(chance_corrected(score.main, score.floor), abs=1e-6)
    assert result["score_details"]["uncertainty"]["num_samples"] == 40


def test_every_main_score_has_a_metric():
    assert set(MAIN_SCORES.values()) == set(METRICS)


def test_without_a_day_there_are_no_records(shared_site):
    assert list(every_eval_ever_files([shared_site.board], About())) == []
    assert len(list(every_eval_ever_files([shared_site.board], About(built=date(2026, 1, 1))))) == 4
