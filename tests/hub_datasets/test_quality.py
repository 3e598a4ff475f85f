import pytest

from hub_datasets.quality import content_problems
from tests.hub_datasets.conftest import write_entries
from turkic_idiom_tasks.lexicon.entries import Entry
from turkic_idiom_tasks.lexicon.load import BUNDLED, load_lexicon
from turkic_idiom_tasks.spans import Span

GOOD = {
    "idiom": "gözden düşmek",
    "meaning": "sevgisini ve saygınlığını yitirmek",
    "example": "Yalanı ortaya çıkınca müdürün gözünden düştü.",
    "marked": ("gözünden düştü",),
}
OTHER = {
    "idiom": "yüzü kızarmak",
    "meaning": "çok utanmak",
    "example": "Soruyu duyar duymaz çocuğun yüzü kızardı.",
    "marked": ("yüzü kızardı",),
}
WINK = {"idiom": "göz yummak", "example": "Hatama bu sefer göz yumdu o.", "marked": ("göz yumdu",)}
LITERAL = {"literal_example": "Yaşlar gözünden yere düştü.", "paraphrase": "a", "literal_paraphrase": "y"}


def entry(concept, **changes):
    fields = GOOD | changes
    example = fields["example"]
    spans = tuple(Span(example.index(part), example.index(part) + len(part)) for part in fields.pop("marked"))
    return Entry(concept, spans=spans, **fields)


@pytest.fixture
def problems(tmp_path):
    """A function: the messages, with file name and line, about a lexicon of these entries."""

    def check(**entries):
        directory = write_entries(tmp_path / "lexicon", overwrite=True, **entries)
        found = content_problems(load_lexicon(directory), directory)
        return [f"{problem.path.name}:{problem.line}: {problem.message}" for problem in found]

    return check


def test_the_bundled_lexicon_keeps_every_rule(bundled):
    assert content_problems(bundled, BUNDLED) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"example": "Sonunda gözden düştü.", "marked": ("gözden düştü",)}, "example has 3 words, not 5 to 20"),
        ({"marked": ("müdürün",)}, "spans 'müdürün' lack"),
        ({"marked": ("gözünden düşt",)}, "span [30, 43] cuts a word: 'gözünden düşt'"),
        ({"idiom": "gözden ırak düşmek"}, "lack irak of the idiom"),
        ({"paraphrase": "Müdür onu artık sevmiyor."}, "must come together"),
        (LITERAL | {"literal_example": "Kaleminin ucu yere düştü."}, "lacks kosten of the idiom"),  # göz
        (LITERAL | {"paraphrase": GOOD["example"]}, "paraphrase is the sentence itself"),
        ({"paraphrased_example": "Gözden düştü."}, "paraphrased_example without its paraphrase"),
        (LITERAL | {"paraphrased_example": "Yaşlar yere aktı."}, "paraphrased_example 'Yaşlar yere aktı.' lacks the"),
        # a meaning uses neither its own idiom nor another one
        (WINK | {"meaning": "göz yumup durmak"}, "'göz yumup durmak' says the idiom 'göz yummak' again: göz yum"),
        (WINK | {"meaning": "göz ardı etmek"}, None),  # a single word of its idiom may be the right one
        (WINK | {"meaning": "gözlemci yumuşak davranmak"}, None),  # other words that begin like them
        ({"meaning": "birinin yanında gözden hemen düşmek"}, "says the idiom 'gözden düşmek' again"),
        ({"meaning": "birinin gözünde değer yitirmek"}, None),  # gözünde is not gözden
        ({"meaning": "yüzü kızarmak, değer yitirmek"}, "holds the idiom 'yüzü kızarmak' of b"),
        ({"meaning": "yüzü solmak, değer yitirmek"}, None),
    ],
)
def test_rules_about_one_entry(problems, changes, message):
    found = problems(tr=[entry("a", **changes), entry("b", **OTHER)])
    assert len(found) == (message is not None)
    assert all(message in problem for problem in found)


@pytest.mark.parametrize("field", ["idiom", "meaning", "example"])
def test_nothing_stands_twice_in_a_language(problems, field):
    same = {field: GOOD[field]} | ({"marked": GOOD["marked"]} if field == "example" else {})
    messages = problems(tr=[entry("a"), entry("b", **OTHER | same)])
    assert any(f"the same {field} as a" in message for message in messages)


def test_the_same_frame_around_other_idioms_is_a_template(problems):
    idioms = ["el açmak", "yol almak", "söz kesmek", "baş eğmek", "diş sıkmak", "can atmak", "göz yummak"]
    rows = []
    for n, idiom in enumerate(idioms):
        texts = {"idiom": idiom, "meaning": f"anlamı {'b' * (n + 1)}", "example": f"Annem o gün bana {idiom} dedi."}
        rows.append(entry(f"c{n}", **texts, marked=(idiom,)))
    found = [message for message in problems(tr=rows) if "once more" in message]
    # Five uses are allowed
    assert [message.split(": ")[:2] for message in found] == [["tr.jsonl:6", "c5"], ["tr.jsonl:7", "c6"]]


def test_a_name_that_is_everywhere(problems):
    rows = []
    for n in range(4):
        word = f"söz{n * 'a'}"
        texts = {"idiom": f"{word} kesmek", "meaning": f"anlamı {'b' * (n + 1)}"}
        rows.append(entry(f"c{n}", **texts, example=f"Dün {n} kere Ayşe {word} kesti.", marked=(f"{word} kesti",)))
    assert any("the name 'Ayşe' is in 4 of 4 examples" in message for message in problems(tr=rows))
    assert problems(tr=rows[:3]) == []


def test_an_example_that_is_the_other_languages_sentence(problems):
    azerbaijani = {"idiom": "gözdən düşmək", "meaning": "hörmətini itirmək", "marked": ("gözündən düşdü",)}
    copy = entry("a", example="Yalanı ortaya çıxanda müdirin gözündən düşdü.", **azerbaijani)
    found = problems(tr=[entry("a")], az=[copy])
    assert found == ["tr.jsonl:1: a: 1 of 2 examples translate another word for word: az"]
    own = entry("a", example="Borcunu qaytarmadı deyə hamının gözündən düşdü.", **azerbaijani)
    assert problems(tr=[entry("a")], az=[own]) == []
