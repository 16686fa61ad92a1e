"""The server's Prometheus metrics, for all its processes together, and its OpenTelemetry spans.

No metric and no span has a tenant's name, a question, a path or an answer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from opentelemetry import propagate, trace
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from gitmem.errors import BadConfig
from gitmem.server.postgres.database import Database

SHARED = "PROMETHEUS_MULTIPROC_DIR"  # variable with the folder where prometheus_client stores each process's numbers
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)  # seconds

REQUESTS = Counter("gitmem_requests", "Requests by operation and status.", ["operation", "status"])
STAGES = Histogram("gitmem_stage_seconds", "What a stage of a request or an ingest took.", ["stage"], buckets=BUCKETS)
ERRORS = Counter("gitmem_errors", "Requests and jobs that failed, by kind of error.", ["kind"])
CACHED = Counter("gitmem_cache", "What was asked of a cache, by whether it was there.", ["cache", "result"])
TOKENS = Counter("gitmem_returned_tokens", "Tokens of the text that was returned, estimated.")
INGESTED = Counter("gitmem_ingested", "Blobs and chunks that were added and removed.", ["what"])

_tracer = trace.get_tracer("gitmem.server")


@contextmanager
def _span(name: str, **options: Any) -> Iterator[None]:
    """A span around the body. It records the class of an error and not its message, which may quote a question."""
    with _tracer.start_as_current_span(
        f"gitmem.{name}", record_exception=False, set_status_on_exception=False, **options
    ) as span:
        try:
            yield
        except BaseException as error:
            span.set_status(trace.StatusCode.ERROR)
            span.set_attribute("error.type", type(error).__name__)
            raise


@contextmanager
def stage(name: str) -> Iterator[None]:
    """A context manager that measures the time of its block in the metric of this stage, and as a span."""
    began = time.perf_counter()
    try:
        with _span(name):
            yield
    finally:
        STAGES.labels(name).observe(time.perf_counter() - began)


@contextmanager
def request_span(operation: str, headers: Mapping[str, str]) -> Iterator[None]:
    """A context manager for a span around a request, in the client's trace if its headers name one."""
    with _span(operation, context=propagate.extract(headers), kind=trace.SpanKind.SERVER):
        yield


def cached(cache: str, found: bool) -> None:
    """Count a lookup in a cache as a hit or a miss."""
    CACHED.labels(cache, "hit" if found else "miss").inc()


class Freshness(NamedTuple):
    """How current the repositories of all tenants are: their number, that of never fetched ones, that of those whose
    last fetch failed, and the seconds since the oldest fetch, 0 for none."""

    repositories: int
    never_fetched: int
    failing: int
    oldest_seconds: float


def exposition(queue: list[tuple[str, int, float]], freshness: Freshness | None) -> bytes:
    """The metrics of all processes in Prometheus' text format.

    `queue`: (state, number of jobs, seconds for which the oldest has been due). [] and None if the database cannot be
    reached.
    """
    registry = CollectorRegistry()
    if os.environ.get(SHARED):
        collector: Any = MultiProcessCollector
        collector(registry)
    jobs = Gauge("gitmem_jobs", "Jobs in the queue.", ["state"], registry=registry)
    age = Gauge("gitmem_queue_age_seconds", "For how long the oldest job has been due.", registry=registry)
    for state, count, _ in queue:
        jobs.labels(state).set(count)
    age.set(max([seconds for state, _, seconds in queue if state == "ready"], default=0.0))
    if freshness is not None:
        repositories = Gauge("gitmem_repositories", "Repositories by state.", ["state"], registry=registry)
        repositories.labels("all").set(freshness.repositories)
        repositories.labels("never_fetched").set(freshness.never_fetched)
        repositories.labels("failing").set(freshness.failing)
        oldest = Gauge("gitmem_oldest_fetch_seconds", "Since the fetch that is longest ago.", registry=registry)
        oldest.set(freshness.oldest_seconds)
    text: bytes = generate_latest(registry)
    if not os.environ.get(SHARED):
        text = generate_latest(REGISTRY) + text
    return text


def freshness_of(database: Database) -> Freshness:
    """How current the repositories of all tenants are. Raises IndexUnusable if the database does not answer."""
    ((count, never, failing, oldest),) = database.call("SELECT * FROM freshness()")
    return Freshness(count, never, failing, float(oldest or 0))


def export_traces() -> None:
    """Send spans from now on to where OpenTelemetry's variables say (OTEL_EXPORTER_OTLP_ENDPOINT). Raises BadConfig if
    the extra `traces` is not installed."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise BadConfig("traces cannot be sent from here", "pip install 'git-mem[traces]'") from None
    provider: Any = TracerProvider(resource=Resource.create({"service.name": "git-mem"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def end_traces() -> None:
    """Send the spans that wait, if this process sends spans; it sends none after that."""
    shutdown = getattr(trace.get_tracer_provider(), "shutdown", None)
    if shutdown is not None:
        shutdown()
