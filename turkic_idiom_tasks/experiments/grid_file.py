"""The file that declares a grid: YAML with a part ``retrieval`` and a part ``span``, either of which may be absent.

Whatever a part leaves out is the paper's setting. `paper.yaml` beside this module is the paper's own grid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from turkic_idiom_tasks.encoders.poolings import POOLINGS
from turkic_idiom_tasks.errors import InputError, usage_error
from turkic_idiom_tasks.finetuning.regimes import REGIMES as TUNED_REGIMES
from turkic_idiom_tasks.finetuning.retrieval import LARGEST_SEED, RetrievalConfig
from turkic_idiom_tasks.finetuning.span import SEEDS, SpanConfig
from turkic_idiom_tasks.languages import LANGUAGES, PIVOT, TARGETS

PAPER = Path(__file__).with_name("paper.yaml")
PRETRAINED = "pretrained"
REGIMES = (PRETRAINED, *TUNED_REGIMES)
RETRIEVAL_SEEDS = (42,)  # the paper names no repetition for retrieval
SPAN_SIZES = (10, 30, 50)
_OF_THE_CELL = ("seed", "pooling")  # settings of a run that the grid varies itself

Config = TypeVar("Config", RetrievalConfig, SpanConfig)


@dataclass(frozen=True, slots=True)
class RetrievalPart:
    """The retrieval experiments of a grid.

    Attributes:
        models: names as `turkic-idiom run` takes them.
        regimes: of `REGIMES`.
        languages: codes of the languages that monolingual and cross-lingual training is repeated for.
        poolings: every encoder is trained and scored under each.
        seeds: every training is repeated with each.
        training: how every encoder is trained.
    """

    models: tuple[str, ...]
    regimes: tuple[str, ...] = REGIMES
    languages: tuple[str, ...] = TARGETS
    poolings: tuple[str, ...] = POOLINGS
    seeds: tuple[int, ...] = RETRIEVAL_SEEDS
    training: RetrievalConfig = RetrievalConfig()  # noqa: RUF009  # frozen


@dataclass(frozen=True, slots=True)
class SpanPart:
    """The span experiments of a grid.

    Attributes:
        models: encoders on the Hub, or folders.
        language: code of the language that every model is trained on.
        targets: codes of the languages that it is tested on and adapted to.
        sizes: training sentences to adapt with, besides none and all.
        seeds: every training is repeated with each.
        training: how every classifier is trained.
    """

    models: tuple[str, ...]
    language: str = PIVOT
    targets: tuple[str, ...] = TARGETS
    sizes: tuple[int, ...] = SPAN_SIZES
    seeds: tuple[int, ...] = SEEDS
    training: SpanConfig = SpanConfig()  # noqa: RUF009  # frozen


@dataclass(frozen=True, slots=True)
class GridFile:
    """What a grid file declares; at least one part is there."""

    retrieval: RetrievalPart | None
    span: SpanPart | None


def read_grid_file(path: Path) -> GridFile:
    """The grid that a file declares; the name ``paper.yaml`` stands for the paper's grid where no such file is.

    Raises:
        InputError: it cannot be read, or has an unknown key or value; names it, the nearest known one, and the file.
    """
    import yaml

    if not path.exists() and path == Path(PAPER.name):
        path = PAPER
    try:
        content = yaml.load(path.read_text("utf-8"), _loader_class())  # noqa: S506  # a safe one
    except OSError as error:
        raise usage_error(f"{path}: cannot be read ({error.strerror}); give a grid file, or {PAPER.name}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    parts = _Keys(content, str(path), known=("retrieval", "span"))
    grid = GridFile(
        retrieval=_retrieval(parts.value["retrieval"], f"{path}: retrieval") if "retrieval" in parts.value else None,
        span=_span(parts.value["span"], f"{path}: span") if "span" in parts.value else None,
    )
    if grid.retrieval is None and grid.span is None:
        raise InputError(f"{path}: neither a part retrieval nor a part span; see {PAPER}")
    return grid


def _loader_class() -> Any:
    """PyYAML's safe loader, which would take the last of two equal keys without a word."""
    import yaml

    class Loader(yaml.SafeLoader):
        def compose_mapping_node(self, anchor: Any) -> Any:
            node = super().compose_mapping_node(anchor)
            names = [key.value for key, _ in node.value]
            for position, (key, _) in enumerate(node.value):
                if key.value in names[:position]:
                    raise yaml.MarkedYAMLError(None, None, f"repeated key {key.value!r}", key.start_mark)
            return node

    return Loader


def _retrieval(content: Any, place: str) -> RetrievalPart:
    keys = _Keys(content, place, known=[field.name for field in fields(RetrievalPart)])
    return RetrievalPart(
        models=keys.strings("models"),
        regimes=keys.strings("regimes", REGIMES, known=REGIMES),
        languages=keys.strings("languages", TARGETS, known=TARGETS),
        poolings=keys.strings("poolings", POOLINGS, known=POOLINGS),
        seeds=keys.numbers("seeds", RETRIEVAL_SEEDS),
        training=keys.training(RetrievalConfig),
    )


def _span(content: Any, place: str) -> SpanPart:
    keys = _Keys(content, place, known=[field.name for field in fields(SpanPart)])
    (language,) = keys.strings("language", (PIVOT,), known=tuple(LANGUAGES), single=True)
    others = tuple(code for code in LANGUAGES if code != language)
    return SpanPart(
        models=keys.strings("models"),
        language=language,
        targets=keys.strings("targets", others, known=others),
        sizes=tuple(sorted(keys.numbers("sizes", SPAN_SIZES, least=1))),
        seeds=keys.numbers("seeds", SEEDS),
        training=keys.training(SpanConfig),
    )


class _Keys:
    """A mapping of the file, read with errors that name the place."""

    def __init__(self, content: Any, place: str, *, known: Sequence[str]) -> None:
        if not isinstance(content, Mapping):
            raise InputError(f"{place}: must be a mapping with the keys {', '.join(known)}, not {content!r}")
        self.value = content
        self._place = place
        for key in content:
            if key not in known:
                raise InputError(f"{place}: unknown key {key!r}{_nearest(str(key), known)}; known: {', '.join(known)}")

    def strings(
        self,
        key: str,
        default: tuple[str, ...] | None = None,
        *,
        known: Sequence[str] = (),
        single: bool = False,
    ) -> tuple[str, ...]:
        """A list of names without repeats, or one name."""
        found = self._list(key, default, _is_text, what="one name" if single else "a list of names", single=single)
        for name in found:
            if known and name not in known:
                nearest = _nearest(name, known)
                raise InputError(f"{self._place}: {key}: unknown {name!r}{nearest}; known: {', '.join(known)}")
        return found

    def numbers(self, key: str, default: tuple[int, ...], *, least: int = 0) -> tuple[int, ...]:
        """A list of whole numbers without repeats."""
        what = f"a list of whole numbers from {least} to {LARGEST_SEED}"
        return self._list(key, default, lambda value: _is_number(value) and least <= value <= LARGEST_SEED, what=what)

    def training(self, of: type[Config]) -> Config:
        """The settings of the part's training."""
        place = f"{self._place}: training"
        names = [field.name for field in fields(of) if field.name not in _OF_THE_CELL]
        content = dict(_Keys(self.value.get("training", {}), place, known=names).value)
        for field in fields(of):
            default = field.default
            if isinstance(default, float) and field.name in content:
                content[field.name] = _as_float(content[field.name])
            value = content.get(field.name, default)
            if default is not None and type(value) is not type(default):
                raise InputError(f"{place}: {field.name}: must be like {default!r}, not {value!r}")
        try:
            return of(**content)
        except (InputError, TypeError) as error:
            raise InputError(f"{place}: {error}") from error

    def _list(
        self, key: str, default: tuple[Any, ...] | None, accepts: Callable[[Any], bool], *, what: str,
        single: bool = False,
    ) -> tuple[Any, ...]:  # fmt: skip
        if key not in self.value:
            if default is None:
                raise InputError(f"{self._place}: {key} is missing; give {what}")
            return default
        value = self.value[key]
        values = [value] if single else value
        if not isinstance(values, list) or not values or not all(map(accepts, values)):
            raise InputError(f"{self._place}: {key}: must be {what}, not {value!r}")
        return tuple(dict.fromkeys(values))


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _as_float(value: Any) -> Any:
    """The number that was meant: YAML takes 1 for a whole number and 2e-5, which has no dot, for a text."""
    try:
        return value if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return value


def _nearest(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f" (nearest: {close[0]})" if close else ""
