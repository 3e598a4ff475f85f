"""Charts as Vega-Lite and as SVG that can stand in a page or alone: nothing to run, nothing to fetch.

Text and axes take the colour of the page around them, light or dark; a file opened by itself brings its own background.
What has to be told apart differs in colour (safe for the colour-blind) and in shape or place. Everything is drawn in
the order in which it is given.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import Any

from turkic_idiom_tasks.errors import InputError
from turkic_idiom_tasks.files import write_json, write_text

# After Okabe and Ito (2008), darkened where needed: each has a contrast of at least 3:1 on white and on #16181d.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#b8589a", "#a67c00", "#4a90c2", "#8a8a8a", "#7a6ad8", "#c4564f")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2])

_INK = "currentColor"
_NO_VALUE = "–"
_FONT = "Arial, Helvetica, 'Liberation Sans', sans-serif"  # all of the same widths
_CELL_SCALE = ["#5aa2d4", "#b5d5ea", "#f7f7f7", "#fdc692", "#f08a3c"]  # blue below 0, orange above; dark text on all
_CELL_TEXT = "#1b1d22"
_WIDTH = 420
_PANELS = 2  # in a row
_LABEL_SIZE = 11
_LABEL_GAP = 8  # between a point and its label
_PARTS_ROLE = re.compile(r' role="graphics-\w+" aria-roledescription="[\w -]*"')  # a screen reader gets the whole
_ALONE = (
    "svg:root{background:#fff;color:#1b1d22}"
    "@media (prefers-color-scheme:dark){svg:root{background:#16181d;color:#e6e6e6}}"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a heat map; None is drawn as –."""

    row: str
    column: str
    value: float | None


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a group, with the interval around it if there is one; None leaves its place empty."""

    group: str
    series: str
    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One point of a curve; `x` is a label such as ``10`` or ``all``."""

    panel: str
    series: str
    x: str
    value: float | None


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    """One labelled point with the interval of `y` if there is one; `x` must be positive."""

    label: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """A chart.

    Attributes:
        title: what it shows; stands above it.
        description: the same for those who do not see it: what is drawn, and how it is to be read.
        spec: Vega-Lite.
    """

    title: str
    description: str
    spec: Mapping[str, Any]

    def svg(self) -> str:
        """An SVG element without scripts, references or ids; the same chart always gives the same bytes.

        Raises:
            InputError: vl-convert is not installed.
        """
        drawn = str(_import("vl_convert").vegalite_to_svg(dict(self.spec)))
        opening, body = drawn.split(">", 1)
        body = _PARTS_ROLE.sub("", body)
        opening = opening.replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "").replace(' class="marks"', "")
        told = f"<title>{escape(self.title)}</title><desc>{escape(self.description)}</desc>"
        return f'{opening} role="img">{told}<style>{_ALONE}</style>{body}\n'


def write_chart(chart: Chart, folder: Path, name: str) -> Path:
    """Writes ``<name>.svg`` and ``<name>.vl.json``, and returns the SVG file.

    Raises:
        InputError: the folder cannot be written to, or a package is missing.
    """
    write_text(folder / f"{name}.svg", chart.svg())
    write_json(folder / f"{name}.vl.json", dict(chart.spec))
    return folder / f"{name}.svg"


def heat_map(cells: Sequence[Cell], *, title: str, description: str) -> Chart:
    """Differences by row and column, each written in its cell; white is 0, orange above, blue below.

    Raises:
        InputError: altair is not installed.
        ValueError: no cells.
    """
    alt = _import("altair")
    rows, columns = _order(cells, "row"), _order(cells, "column")
    known = [abs(cell.value) for cell in cells if cell.value is not None]
    bound = max(known, default=0.0) or 1.0
    base = alt.Chart(_data(cells)).encode(
        x=alt.X("column:N", sort=columns, title=None, axis=_labels_only(alt, orient="top", angle=0)),
        y=alt.Y("row:N", sort=rows, title=None, axis=_labels_only(alt)),
    )
    colour = alt.Color("value:Q", scale=alt.Scale(domain=[-bound, bound], range=_CELL_SCALE), legend=None)
    defined = "isValid(datum.value)"
    written = base.transform_filter(defined).mark_text(fontSize=12, color=_CELL_TEXT)
    drawn = alt.layer(
        base.transform_filter(defined).mark_rect().encode(color=colour),
        written.encode(text=alt.Text("value:Q", format="+.2f")),
        base.transform_filter(f"!{defined}").mark_text(fontSize=12, color=_INK, text=_NO_VALUE),
    )
    width = max(64, *(8 * len(column) for column in columns))
    return _chart(drawn.properties(width=width * len(columns), height=28 * len(rows)), title, description)


def grouped_bars(bars: Sequence[Bar], *, title: str, description: str, axis: str, floor: float | None = None) -> Chart:
    """Horizontal bars in groups, one colour a series, with interval whiskers.

    Args:
        bars: the bars.
        title: of the chart.
        description: of the chart.
        axis: what the values are.
        floor: what a random system scores, drawn as a dashed line.

    Raises:
        InputError: altair is not installed.
        ValueError: no bars.
    """
    alt = _import("altair")
    groups, series = _order(bars, "group"), _order(bars, "series")
    place = {
        "y": alt.Y("group:N", sort=groups, title=None, scale=alt.Scale(paddingInner=0.25), axis=_labels_only(alt)),
        "yOffset": alt.YOffset("series:N", sort=series),
    }
    base = alt.Chart()
    x = alt.X("value:Q", title=axis, scale=alt.Scale(zero=True), axis=alt.Axis(format=".2~f"))
    colour = alt.Color("series:N", sort=series, scale=_cycled(alt, series, PALETTE), legend=_legend(alt, series))
    whiskers = base.transform_filter("isValid(datum.low)").mark_rule(color=_INK, strokeWidth=1.3)
    layers = [base.mark_bar().encode(x=x, color=colour, **place)]
    if any(bar.low is not None for bar in bars):
        layers.append(whiskers.encode(x=alt.X("low:Q", title=axis), x2="high:Q", **place))
    if floor is not None:
        base = alt.Chart(alt.Data(values=[{"floor": floor}])).encode(x=alt.X("floor:Q", title=axis))
        layers.append(base.mark_rule(color=_INK, strokeDash=[4, 3]))
        layers.append(base.mark_text(color=_INK, text="random", fontSize=11, dy=-6).encode(y=alt.value(0)))
    height = len(groups) * max(22, 14 * len(series))
    return _chart(alt.layer(*layers, data=_data(bars)).properties(width=_WIDTH, height=height), title, description)


def curves(points: Sequence[CurvePoint], *, title: str, description: str, x_axis: str, y_axis: str) -> Chart:
    """Curves over an ordered but not metric `x`, a panel each for what is to be compared side by side.

    Args:
        points: the points.
        title: of the chart.
        description: of the chart.
        x_axis: what `x` is.
        y_axis: what the values are, in [0, 1].

    Raises:
        InputError: altair is not installed.
        ValueError: no points.
    """
    alt = _import("altair")
    series, panels = _order(points, "series"), _order(points, "panel")
    legend = _legend(alt, series)
    data = alt.Data(values=[asdict(point) | {"dash": series.index(point.series)} for point in points])
    base = alt.Chart().encode(
        x=alt.X("x:O", sort=_order(points, "x"), title=x_axis, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", title=y_axis, scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("series:N", sort=series, scale=_cycled(alt, series, PALETTE), legend=legend),
    )
    # by a field of its own, or the legend would draw its symbols dashed
    dash = alt.StrokeDash("dash:O", scale=_cycled(alt, range(len(series)), DASHES), legend=None)
    shape = alt.Shape("series:N", sort=series, scale=_cycled(alt, series, SHAPES), legend=legend)
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dash)
    marks = base.mark_point(size=45, filled=True, opacity=1).encode(shape=shape)
    drawn = (
        alt.layer(lines, marks, data=data)
        .properties(width=250, height=170)
        .facet(facet=alt.Facet("panel:N", sort=panels, title=None), columns=_PANELS)
        .resolve_axis(x="independent")
    )
    return _chart(drawn, title, description)


def scatter(points: Sequence[ScatterPoint], *, title: str, description: str, x_axis: str, y_axis: str) -> Chart:
    """Labelled points over a logarithmic `x`, with the intervals of `y`; colour and shape tell the kind.

    Args:
        points: the points.
        title: of the chart.
        description: of the chart.
        x_axis: what `x` is.
        y_axis: what `y` is.

    Raises:
        InputError: altair is not installed.
        ValueError: no points, or an `x` that is not positive.
    """
    alt = _import("altair")
    kinds = _order(points, "kind")
    if any(point.x <= 0 for point in points):
        raise ValueError("a logarithmic axis needs positive values")
    frame = _Frame.around(points, width=600, height=340)
    x = alt.X("x:Q", title=x_axis, scale=alt.Scale(type="log", domain=frame.x, nice=False), axis=_few_ticks(alt))
    scale = alt.Scale(domain=frame.y, nice=False, zero=False)
    y = alt.Y("y:Q", title=y_axis, scale=scale)
    base = alt.Chart(alt.Data(values=frame.labelled(points)))
    legend = _legend(alt, kinds) if len(kinds) > 1 else None
    colour = alt.Color("kind:N", sort=kinds, scale=_cycled(alt, kinds, PALETTE), legend=legend)
    marks = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=x, y=y, color=colour, shape=alt.Shape("kind:N", sort=kinds, scale=_cycled(alt, kinds, SHAPES), legend=legend)
    )
    layers = [marks]
    if any(point.low is not None for point in points):
        whiskers = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.3)
        layers.insert(0, whiskers.encode(x=x, y=alt.Y("low:Q", scale=scale, title=y_axis), y2="high:Q", color=colour))
    for side, align, dx in (("right", "left", _LABEL_GAP), ("left", "right", -_LABEL_GAP)):
        text = base.transform_filter(f"datum.side === '{side}'").mark_text(
            align=align, dx=dx, fontSize=_LABEL_SIZE, color=_INK
        )
        layers.append(text.encode(x=x, y=alt.Y("label_y:Q", scale=scale, title=y_axis), text="label:N"))
    return _chart(alt.layer(*layers).properties(width=frame.width, height=frame.height), title, description)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The plane of a scatter chart: the ends of its axes, and its size in pixels."""

    x: list[float]
    y: list[float]
    width: int
    height: int

    @classmethod
    def around(cls, points: Sequence[ScatterPoint], *, width: int, height: int) -> _Frame:
        """With room around the outermost points."""
        xs = [point.x for point in points]
        ys = [value for point in points for value in (point.y, point.low, point.high) if value is not None]
        room = max((max(ys) - min(ys)) * 0.08, 0.01)
        factor = max((max(xs) / min(xs)) ** 0.08, 1.15)
        return cls([min(xs) / factor, max(xs) * factor], [min(ys) - room, max(ys) + room], width, height)

    def labelled(self, points: Iterable[ScatterPoint]) -> list[dict[str, Any]]:
        """The points with the side and the height of their labels, none over another label or point if it can be."""
        taken = [_Box.around_point(*self._pixels(point)) for point in points]
        rows = []
        for point in points:
            side, box, up = self._free_place(point, taken)
            taken.append(box)
            lifted = point.y + up * (self.y[1] - self.y[0]) / self.height
            rows.append(asdict(point) | {"side": side, "label_y": lifted})
        return rows

    def _free_place(self, point: ScatterPoint, taken: Sequence[_Box]) -> tuple[str, _Box, int]:
        """Side, box and lift in pixels of the label: the nearest place within the frame that nothing else covers."""
        x, y = self._pixels(point)
        places = []
        for up in sorted(range(-48, 49, 4), key=abs):
            for side in ("right", "left"):
                box = _Box.of_label(x, y + up, text=point.label, side=side)
                if box.left >= 0 and box.right <= self.width and box.low >= 0 and box.high <= self.height:
                    places.append((side, box, up))
        free = (place for place in places if not any(place[1].meets(box) for box in taken))
        fallback = ("right", _Box.of_label(x, y, text=point.label, side="right"), 0)
        return next(free, next(iter(places), fallback))

    def _pixels(self, point: ScatterPoint) -> tuple[float, float]:
        across = math.log(point.x / self.x[0]) / math.log(self.x[1] / self.x[0])
        return across * self.width, (point.y - self.y[0]) / (self.y[1] - self.y[0]) * self.height


@dataclass(frozen=True, slots=True)
class _Box:
    """What a point or a label covers, in pixels from the left and from below."""

    left: float
    right: float
    low: float
    high: float

    @classmethod
    def around_point(cls, x: float, y: float) -> _Box:
        return cls(x - 5, x + 5, y - 5, y + 5)

    @classmethod
    def of_label(cls, x: float, y: float, *, text: str, side: str) -> _Box:
        near, far = (_LABEL_GAP, _LABEL_GAP + 0.55 * _LABEL_SIZE * len(text))  # letters are half as wide as high
        left, right = (x + near, x + far) if side == "right" else (x - far, x - near)
        return cls(left, right, y - 0.6 * _LABEL_SIZE, y + 0.6 * _LABEL_SIZE)

    def meets(self, other: _Box) -> bool:
        """Whether the two overlap."""
        apart = self.right <= other.left or other.right <= self.left or self.high <= other.low or other.high <= self.low
        return not apart


def _chart(drawn: Any, title: str, description: str) -> Chart:
    heading = {"text": title, "anchor": "start", "offset": 12}
    spec = drawn.properties(title=heading, padding=12).configure(**_config()).to_dict()
    return Chart(title, description, spec)


def _config() -> dict[str, Any]:
    ink = {"labelColor": _INK, "titleColor": _INK, "labelFontSize": 12, "titleFontSize": 12, "labelLimit": 0}
    return {
        "aria": False,  # the whole is one image with a title and a description
        "background": "transparent",
        "font": _FONT,
        "axis": ink | {"domainColor": _INK, "tickColor": _INK, "gridColor": _INK, "gridOpacity": 0.15,
                       "titleFontWeight": "normal"},
        "header": ink | {"labelFontWeight": "bold"},
        "legend": ink | {"symbolStrokeWidth": 2, "symbolSize": 90},
        "title": {"color": _INK, "fontSize": 14, "subtitleColor": _INK},
        "view": {"stroke": None},
    }  # fmt: skip


def _data(rows: Iterable[Any]) -> Any:
    return _import("altair").Data(values=[asdict(row) for row in rows])


def _order(rows: Iterable[Any], name: str) -> list[Any]:
    found = list(dict.fromkeys(getattr(row, name) for row in rows))
    if not found:
        raise ValueError("a chart needs something to show")
    return found


def _cycled(alt: Any, names: Sequence[Any], values: Sequence[Any]) -> Any:
    return alt.Scale(domain=list(names), range=[values[n % len(values)] for n in range(len(names))])


def _legend(alt: Any, names: Sequence[str]) -> Any:
    columns = 3 if sum(map(len, names)) < 60 else 2
    return alt.Legend(title=None, orient="bottom", columns=columns, values=list(names), offset=14)


def _labels_only(alt: Any, *, orient: str | None = None, angle: int | None = None) -> Any:
    place = {"orient": orient} if orient else {}
    turn = {} if angle is None else {"labelAngle": angle}
    return alt.Axis(ticks=False, domain=False, labelPadding=6, **place, **turn)


def _few_ticks(alt: Any) -> Any:
    return alt.Axis(format="~s", tickCount=6)


def _import(package: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise InputError(f"figures need the package {package}: pip install 'turkic-idiom-tasks[figures]'") from error
