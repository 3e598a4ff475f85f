"""Charts by what they draw: places, lengths and colours in the SVG, and how it looks in a real browser."""

import re
import runpy
import sys
from itertools import product
from xml.etree import ElementTree

import pytest

from turkic_idiom_tasks.encoders.names import PAPER_ENCODERS
from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.report import charts
from turkic_idiom_tasks.report.charts import PALETTE, curves, grouped_bars, heat_map

for package in ("altair", "vl_convert"):
    pytest.importorskip(package, reason="pip install -e '.[figures]'")

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert("1")</script> & <b>'
TOLD = {"title": "A title", "description": "What is drawn."}
LONG_NAMES = [name.partition("/")[2] for name in PAPER_ENCODERS]


def small_charts(name="model", **words):
    words = TOLD | words
    return {
        "heat": heat_map({(name, "az"): 0.5, (name, "uz"): None}, **words),
        "bars": grouped_bars({(name, "tuned"): (0.4, 0.3, 0.5)}, floor=0.1, **words),
        "curves": curves({("az", name, "0"): 0.2, ("az", name, "all"): 0.4}, **words),
    }


def place(svg):
    """Text -> its (x, y) on the page, and (fill, x, y, d) of every path, summing the shifts of what they stand in."""
    texts, paths = {}, []

    def walk(element, x, y):
        shift = re.match(r"translate\(([-\d.]+),\s*([-\d.]+)\)", element.get("transform", ""))
        if shift:
            x, y = x + float(shift[1]), y + float(shift[2])
        if element.tag == f"{SVG}text":
            texts.setdefault(element.text, (x, y))
        if element.tag == f"{SVG}path" and element.get("fill", "none") != "none":
            paths.append((element.get("fill"), x, y, element.get("d")))
        for child in element:
            walk(child, x, y)

    walk(ElementTree.fromstring(svg), 0.0, 0.0)
    return texts, paths


def test_the_svg_is_one_image_with_nothing_to_run_or_fetch():
    for chart in small_charts(HOSTILE, title=HOSTILE, description=f"{HOSTILE}.").values():
        svg = chart.svg()
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert [child.tag for child in root[:2]] == [f"{SVG}title", f"{SVG}desc"]
        assert (root[0].text, root[1].text) == (HOSTILE, f"{HOSTILE}.")
        assert {element.tag.removeprefix(SVG) for element in root.iter()} <= {
            "svg", "title", "desc", "style", "g", "path", "text", "tspan", "line", "rect",
        }  # fmt: skip
        attributes = {name for element in root.iter() for name in element.attrib}
        assert not [name for name in attributes if name == "id" or name.startswith("on") or name.endswith("href")]
        assert "url(" not in svg
        assert "@import" not in svg
        assert HOSTILE in {"".join(element.itertext()) for element in root.iter(f"{SVG}text")}
        assert svg == chart.svg()


def test_cells_are_blue_below_zero_and_orange_above():
    cells = {("a", "x"): 0.4, ("a", "y"): -0.4, ("b", "x"): 0.0, ("b", "y"): None}
    texts, paths = place(heat_map(cells, **TOLD).svg())
    fills = {fill for fill, *_ in paths}
    assert {"rgb(240, 138, 60)", "rgb(90, 162, 212)", "rgb(247, 247, 247)"} <= fills  # orange, blue, white
    orange, blue = (next(p for p in paths if p[0] == fill) for fill in ("rgb(240, 138, 60)", "rgb(90, 162, 212)"))
    left_of_orange, left_of_blue = (float(re.match(r"M([-\d.]+),", d)[1]) for *_, d in (orange, blue))
    assert left_of_orange < left_of_blue  # column x stands before column y
    assert {"+0.40", "−0.40", "+0.00", "–"} <= set(texts)
    assert texts["a"][1] < texts["b"][1]


def test_five_languages_and_a_long_name_fit_a_phone():
    languages = ("Turkish", "Azerbaijani", "Uzbek", "Turkmen", "Gagauz")
    name = "electra-base-turkish-cased-discriminator"
    root = ElementTree.fromstring(heat_map({(name, language): -0.1 for language in languages}, **TOLD).svg())
    assert float(root.get("width")) <= 340
    (label,) = [text for text in root.iter(f"{SVG}text") if "".join(text.itertext()) == name]
    assert [line.text for line in label] == ["electra-base-turkish-", "cased-discriminator"]


def test_dots_stand_at_their_values_and_in_the_order_given():
    bars = {("second", "p"): (0.2, 0.1, 0.4), ("second", "q"): (None, None, None)}
    bars |= {("first", "p"): (0.4, None, None), ("first", "q"): (0.3, None, None)}
    svg = grouped_bars(bars, floor=0.1, **TOLD).svg()
    texts, _ = place(svg)
    assert texts["second"][1] < texts["first"][1]
    marks = re.search(r'role-mark layer_0_marks">(.*?)</g>', svg, re.DOTALL)[1]
    dots = [(fill, float(x)) for x, fill in re.findall(r'translate\(([\d.]+),.*?fill="(#\w+)"', marks)]
    unit = dots[0][1] / 0.2
    assert dots == [
        (PALETTE[0], 0.2 * unit), (PALETTE[0], pytest.approx(0.4 * unit)), (PALETTE[1], pytest.approx(0.3 * unit)),
    ]  # fmt: skip
    (whisker,) = re.findall(r'translate\(([\d.]+),[\d.]+\)" x2="([\d.]+)" y2="0" [^>]* stroke-width="1.8"', svg)
    assert [float(x) for x in whisker] == [pytest.approx(0.1 * unit), pytest.approx(0.3 * unit)]  # from .1 to .4
    assert "random" in texts


def test_curves_keep_the_order_of_x_and_rise_with_the_value():
    points = {("az", "model", x): value for x, value in (("0", 0.2), ("50", 0.4), ("100", 0.8))}
    texts, paths = place(curves(points, **TOLD).svg())
    steps = [texts[x][0] for x in ("0", "50", "100")]
    assert steps[1] - steps[0] == pytest.approx(steps[2] - steps[1])
    marks = sorted((x, y) for fill, x, y, _ in paths if fill == PALETTE[0])[-3:]
    heights = [y for _, y in marks]
    assert heights[0] - heights[1] == pytest.approx((heights[1] - heights[2]) / 2)  # 0.2 and 0.4


def luminance(colour):
    """WCAG 2.1, relative luminance."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_colours_can_be_seen_on_light_and_dark():
    for colour, background in product(PALETTE, ("#ffffff", "#16181d")):
        light, dark = sorted((luminance(colour), luminance(background)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3, (colour, background)


@pytest.mark.parametrize("package", ["altair", "vl_convert"])
def test_a_missing_package_is_named_with_what_to_install(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InputError, match=rf"{package}: pip install 'turkic-idiom-tasks\[figures\]'"):
        runpy.run_path(charts.__file__)


_MEASURE = """() => [...document.querySelectorAll('svg')].map(svg => {
  const box = element => { const r = element.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom] }
  return {frame: box(svg), texts: [...svg.querySelectorAll('text')].filter(t => t.textContent)
    .map(t => ({text: t.textContent, box: box(t), fill: getComputedStyle(t).fill}))}
})"""


# Width of this text in a font with the metrics of Arial, which the sizes of the figures are made for.
_ARIAL_WIDTH = """() => { const c = document.createElement('canvas').getContext('2d');
  c.font = "100px Arial, Helvetica, 'Liberation Sans'"; return c.measureText('Hamburgefonts').width }"""


def test_in_a_browser_no_label_is_cut_or_covered_and_text_takes_the_colour_of_the_page(browser):
    languages, regimes = ("Azerbaijani", "Turkmen", "Gagauz", "Uzbek"), ("pretrained", "tr-only", "cross-lingual")
    drawn = {
        "heat": heat_map(dict.fromkeys(product(LONG_NAMES, languages), 0.1), **TOLD),
        "bars": grouped_bars(dict.fromkeys(product(LONG_NAMES, regimes), (0.5, 0.4, 0.6)), floor=0.1, **TOLD),
        "curves": curves(dict.fromkeys(product(languages, LONG_NAMES, ("0", "10", "all")), 0.5), **TOLD),
    }
    page = browser.new_page()
    if page.evaluate(_ARIAL_WIDTH) > 680:
        page.close()
        pytest.skip("the browser has no font with the metrics of Arial: apt install fonts-liberation")
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    page.on("request", lambda request: errors.append(request.url))
    page.set_content("<body style='color:rgb(1, 2, 3)'>" + "".join(chart.svg() for chart in drawn.values()))
    measured = dict(zip(drawn, page.evaluate(_MEASURE), strict=True))
    assert errors == []
    for kind, found in measured.items():
        left, top, right, bottom = found["frame"]
        texts = found["texts"]
        assert set(LONG_NAMES) <= {text["text"] for text in texts}, kind
        for text in texts:
            x0, y0, x1, y1 = text["box"]
            assert left <= x0 and x1 <= right and top <= y0 and y1 <= bottom, (kind, text["text"])  # noqa: PT018
            assert text["fill"] == ("rgb(27, 29, 34)" if text["text"] == "+0.10" else "rgb(1, 2, 3)"), text["text"]
        boxes = [(text["text"], text["box"]) for text in texts]
        for n, (one, a) in enumerate(boxes):
            for other, b in boxes[n + 1 :]:
                apart = a[2] <= b[0] + 1 or b[2] <= a[0] + 1 or a[3] <= b[1] + 3 or b[3] <= a[1] + 3
                assert apart, (kind, one, other)
    page.close()


def test_a_file_opened_by_itself_has_a_background_for_its_text(browser, tmp_path):
    path = tmp_path / "figure.svg"
    path.write_text(small_charts()["bars"].svg(), "utf-8")
    colours = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto(path.as_uri())
        colours[scheme] = page.evaluate(
            "() => { const s = getComputedStyle(document.documentElement); return [s.backgroundColor, s.color] }"
        )
        page.close()
    assert colours == {
        "light": ["rgb(255, 255, 255)", "rgb(27, 29, 34)"],
        "dark": ["rgb(22, 24, 29)", "rgb(230, 230, 230)"],
    }
