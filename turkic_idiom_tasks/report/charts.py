"""Charts as Vega-Lite and as SVG, for a page or as a file, without scripts and without references to other files.

Everything is drawn in the given order.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.report.tables import NO_VALUE

try:
    import altair as alt
    import vl_convert
except ModuleNotFoundError as error:
    raise InputError(f"figures need the package {error.name}: pip install 'turkic-idiom-tasks[figures]'") from error

# After Okabe and Ito (2008), darkened where needed: each has a contrast of at least 3:1 on white and on #16181d.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b8589a", "#a67c00", "#4a90c2", "#8a8a8a", "#7a6ad8", "#c4564f")
# Series differ in shape or place too, because some readers do not tell all colours apart
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2])

# Text and axes have the colour of the page around them, light or dark
_INK = "currentColor"
_FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"  # their letters have the same widths
_TILE_SCALE = ["#5aa2d4", "#b5d5ea", "#f7f7f7", "#fdc692", "#f08a3c"]  # blue below 0, orange above; dark text on all
_TILE_TEXT = "#1b1d22"
_LABELS_ONLY: dict[str, Any] = {"ticks": False, "domain": False, "labelPadding": 6}  # of an axis
_WIDTH = 420
_TILE_WIDTH = 37  # holds "+0.25"; five columns and a name fit 340 px
_LINE = 20  # letters of a row's name that stand in one line
_PARTS_ROLE = re.compile(r' role="graphics-\w+" aria-roledescription="[\w -]*"')  # only the whole chart has a role
# A file that is opened by itself has no page around it, so it brings its own colours
_ALONE = (
    "svg:root{background:#fff;color:#1b1d22}"
    "@media (prefers-color-scheme:dark){svg:root{background:#16181d;color:#e6e6e6}}"
)


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A chart and its words."""

    title: str
    description: str  # for readers who do not see the chart: what is drawn, and how to read it
    spec: Mapping[str, Any]  # Vega-Lite

    def svg(self) -> str:
        """Return an SVG element without scripts, references or ids; the same chart always gives the same bytes."""
        # Parts lose their roles, which would make a screen reader name every axis and mark of one image; the unused
        # namespace is an address, and a page is checked for having none
        drawn = str(vl_convert.vegalite_to_svg(dict(self.spec)))
        opening, body = drawn.split(">", 1)
        body = _PARTS_ROLE.sub("", body)
        opening = opening.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "").replace(' class="marks"', "")
        # A reader's font may be wider than the one that was measured
        opening += ' role="img" overflow="visible"'
        heading = f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>"
        return f"{opening}>{heading}<style>{_ALONE}</style>{body}\n"


def heat_map(tiles: Mapping[tuple[str, str], float | None], *, title: str, description: str) -> Chart:
    """Draw (row, column) -> a difference, each with its number; white is 0, orange above, blue below, None a dash."""
    rows, columns = _distinct(tiles, 0), _distinct(tiles, 1)
    bound = max((abs(value) for value in tiles.values() if value is not None), default=0.0) or 1.0
    lines_by_row = {}
    for row in rows:
        # A long name takes two lines, broken after the hyphen or slash nearest to its middle
        breaks = [match.end() for match in re.finditer("[-/]", row)]
        lines_by_row[row] = [row]
        if len(row) > _LINE and breaks:
            middle = min(breaks, key=lambda position: abs(position - len(row) / 2))
            lines_by_row[row] = [row[:middle], row[middle:]]
    # Only an expression can return several lines for a label, so it looks them up in a literal
    lines = f"({json.dumps(lines_by_row)})"
    offset = {"condition": {"test": f"length({lines}[datum.value]) > 1", "value": -6}, "value": 0}
    row_axis = alt.Axis(**_LABELS_ONLY, labelExpr=f"{lines}[datum.label]", labelOffset=offset)
    values = [{"row": row, "column": column, "value": value} for (row, column), value in tiles.items()]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("column:N", sort=columns, title=None, axis=alt.Axis(**_LABELS_ONLY, orient="top", labelAngle=-40)),
        y=alt.Y("row:N", sort=rows, title=None, axis=row_axis),
    )
    colour = alt.Color("value:Q", scale=alt.Scale(domain=[-bound, bound], range=_TILE_SCALE), legend=None)
    defined = "isValid(datum.value)"
    written = base.transform_filter(defined).mark_text(fontSize=11, color=_TILE_TEXT)
    drawn = alt.layer(
        base.transform_filter(defined).mark_rect().encode(color=colour),
        written.encode(text=alt.Text("value:Q", format="+.2f")),
        base.transform_filter(f"!{defined}").mark_text(fontSize=11, color=_INK, text=NO_VALUE),
    )
    return _chart(drawn.properties(width=_TILE_WIDTH * len(columns), height=28 * len(rows)), title, description)


def grouped_bars(
    bars: Mapping[tuple[str, str], Sequence[float | None]], *, title: str, description: str, floor: float
) -> Chart:
    """Draw (group, series) -> nDCG and the ends of its interval as dots with whiskers, and a line at a random score."""
    groups, series = _distinct(bars, 0), _distinct(bars, 1)
    values = []
    for (group, name), (value, low, high) in bars.items():
        values.append({"group": group, "series": name, "value": value, "low": low, "high": high})
    place = {
        "y": alt.Y(
            "group:N", sort=groups, title=None, scale=alt.Scale(paddingInner=0.25), axis=alt.Axis(**_LABELS_ONLY)
        ),
        "yOffset": alt.YOffset("series:N", sort=series),
    }
    base = alt.Chart()
    x = alt.X("value:Q", title="nDCG", scale=alt.Scale(zero=True), axis=alt.Axis(format=".2~f"))
    colour = alt.Color("series:N", sort=series, scale=_cycled(series, PALETTE), legend=_legend(series))
    whiskers = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.8)
    layers = [base.mark_point(filled=True, size=55, opacity=1).encode(x=x, color=colour, **place)]
    # Without any interval this layer would refer to a field that no row has
    if any(low is not None for _, low, _ in bars.values()):
        layers.append(whiskers.encode(x=alt.X("low:Q", title="nDCG"), x2="high:Q", color=colour, **place))
    random = alt.Chart(alt.Data(values=[{"floor": floor}])).encode(x=alt.X("floor:Q", title="nDCG"))
    layers.append(random.mark_rule(color=_INK, strokeDash=[4, 3]))
    layers.append(random.mark_text(color=_INK, text="random", fontSize=11, dy=-6).encode(y=alt.value(0)))
    height = len(groups) * max(22, 14 * len(series))
    drawn = alt.layer(*layers, data=alt.Data(values=values))
    return _chart(drawn.properties(width=_WIDTH, height=height), title, description)


def curves(points: Mapping[tuple[str, str, str], float | None], *, title: str, description: str) -> Chart:
    """Draw (panel, series, x) -> sub-word F1; `x`, a number of training sentences or ``all``, is not metric."""
    series, legend = _distinct(points, 1), _legend(_distinct(points, 1))
    values = []
    for (panel, name, x), value in points.items():
        values.append({"panel": panel, "series": name, "x": x, "value": value, "dash": series.index(name)})
    base = alt.Chart().encode(
        x=alt.X("x:O", sort=_distinct(points, 2), title="training sentences", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", title="sub-word F1", scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("series:N", sort=series, scale=_cycled(series, PALETTE), legend=legend),
    )
    # dashes have their own field, because the legend would otherwise draw its symbols dashed
    dash = alt.StrokeDash("dash:O", scale=_cycled(range(len(series)), DASHES), legend=None)
    shape = alt.Shape("series:N", sort=series, scale=_cycled(series, SHAPES), legend=legend)
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dash)
    marks = base.mark_point(size=45, filled=True, opacity=1).encode(shape=shape)
    drawn = (
        alt.layer(lines, marks, data=alt.Data(values=values))
        .properties(width=250, height=170)
        .facet(facet=alt.Facet("panel:N", sort=_distinct(points, 0), title=None), columns=2)
        .resolve_axis(x="independent")  # else only the lowest panels have labels
    )
    return _chart(drawn, title, description)


def _chart(drawn: Any, title: str, description: str) -> Chart:
    # labelLimit 0, because Vega cuts labels off at 180 pixels.
    ink = {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 12, "titleFontSize": 12, "labelLimit": 0}
    lines = {"domainColor": _INK, "tickColor": _INK, "gridColor": _INK, "gridOpacity": 0.15}
    configured = drawn.properties(title={"text": title, "anchor": "start", "offset": 12}, padding=12).configure(
        aria=False,  # the whole is one image with a title and a description
        background="transparent",
        font=_FONT,
        axis=ink | lines | {"titleFontWeight": "normal"},
        header=ink | {"labelFontWeight": "bold"},
        legend=ink | {"symbolStrokeWidth": 2, "symbolSize": 90},
        title={"color": _INK, "fontSize": 14, "subtitleColor": _INK},
        view={"stroke": None},
    )
    return Chart(title, description, configured.to_dict())


def _distinct(keys: Collection[tuple[str, ...]], place: int) -> list[str]:
    """Return the distinct names in one place of the keys, in their order."""
    return list(dict.fromkeys(key[place] for key in keys))


def _cycled(names: Sequence[Any], values: Sequence[Any]) -> Any:
    """Return a scale that gives each name a value, beginning again when there are more names than values."""
    return alt.Scale(domain=list(names), range=[values[n % len(values)] for n in range(len(names))])


def _legend(names: Sequence[str]) -> Any:
    columns = 3 if sum(map(len, names)) < 60 else 2
    return alt.Legend(title=None, orient="bottom", columns=columns, values=list(names), offset=14)
