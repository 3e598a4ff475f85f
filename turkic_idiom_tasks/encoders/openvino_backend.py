"""The forward pass and the poolings as one OpenVINO graph, in fp32."""

from __future__ import annotations

import warnings
from collections import deque
from typing import TYPE_CHECKING, Any

from turkic_idiom_tasks.errors import InputError, usage_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy as np

    from turkic_idiom_tasks.encoders.pooled import PooledEncoder


def check_available(dtype: str) -> None:
    """Raises before any work is done if OpenVINO cannot be used.

    Raises:
        InputError: it is not installed, or another dtype than float32 was asked for.
    """
    if dtype != "float32":
        raise usage_error(
            f"--backend openvino computes in float32, not {dtype}; leave --dtype out or use --backend torch"
        )
    try:
        import openvino  # noqa: F401
    except ImportError as error:
        raise InputError(
            "--backend openvino needs the package openvino: pip install 'turkic-idiom-tasks[openvino]'"
        ) from error


class CompiledPooling:
    """The graph, with as many batches in flight as the processor runs best.

    Args:
        encoder: its backbone and poolings are converted.
        input_names: names of the inputs, in order.
        poolings: names of the poolings, in order.

    Raises:
        InputError: OpenVINO cannot convert this architecture.
    """

    def __init__(self, encoder: PooledEncoder, *, input_names: tuple[str, ...], poolings: tuple[str, ...]) -> None:
        import openvino

        graph = _convert(encoder, input_names, poolings)
        for node, name in zip(graph.inputs, input_names, strict=True):
            node.get_tensor().set_names({name})
        options = {
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "THROUGHPUT",
            "ENABLE_CPU_PINNING": False,  # pinned threads wait for each other wherever another one needs the core
        }
        compiled = openvino.Core().compile_model(graph, "CPU", options)
        in_flight = compiled.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")
        self._requests = [compiled.create_infer_request() for _ in range(in_flight)]
        self._poolings = poolings

    def run(self, batches: Iterable[dict[str, np.ndarray]]) -> Iterator[dict[str, np.ndarray]]:
        """Yields pooling -> (B, H) float32 for each batch of (B, T) int64 inputs, in order."""
        free = deque(self._requests)
        running: deque[Any] = deque()
        for batch in batches:
            if not free:
                free.append(running.popleft())
                yield self._finish(free[-1])
            request = free.popleft()
            request.start_async(batch)
            running.append(request)
        while running:
            yield self._finish(running.popleft())

    def _finish(self, request: Any) -> dict[str, np.ndarray]:
        request.wait()
        return {name: request.get_output_tensor(index).data.copy() for index, name in enumerate(self._poolings)}


def _convert(encoder: PooledEncoder, input_names: tuple[str, ...], poolings: tuple[str, ...]) -> Any:
    import openvino
    import torch

    class Graph(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.backbone = encoder.model  # so that its weights become constants of the graph

        def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
            pooled = encoder.pool(dict(zip(input_names, inputs, strict=True)), poolings)
            return tuple(pooled[pooling] for pooling in poolings)

    # Three texts of five tokens, one padded: no size of the example is 1, which tracing would take for a constant.
    example = {name: torch.ones(3, 5, dtype=torch.int64) for name in input_names}
    example["attention_mask"][0, -1] = 0
    shapes = [openvino.PartialShape([-1, -1])] * len(example)
    attention = encoder.model.config._attn_implementation
    encoder.model.set_attn_implementation("eager")  # its mask is plain arithmetic, which traces for every size
    try:
        with torch.inference_mode(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the tracer's, about branches that do not depend on the sizes
            return openvino.convert_model(Graph(), example_input=tuple(example.values()), input=shapes)
    except Exception as error:  # the tracer raises whatever an architecture provokes
        raise InputError(
            f"OpenVINO cannot convert {encoder.model_id} ({type(error).__name__}); use --backend torch"
        ) from error
    finally:
        encoder.model.set_attn_implementation(attention)
