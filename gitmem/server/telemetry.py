"""What a server says of itself: Prometheus metrics of all its processes, and OpenTelemetry spans.

Numbers of the whole server alone: no metric and no span has a tenant's name, a question, a path or an answer.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import propagate, trace
from prometheus_client import REGISTRY, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from gitmem.errors import BadConfig
from gitmem.server.postgres.database import Database

SHARED = "PROMETHEUS_MULTIPROC_DIR"  # what prometheus_client reads: where the processes of a server leave their numbers
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0, 600.0)

REQUESTS = Counter("gitmem_requests", "Requests by operation and status.", ["operation", "status"])
STAGES = Histogram("gitmem_stage_seconds", "What a stage of a request or an ingest took.", ["stage"], buckets=SECONDS)
ERRORS = Counter("gitmem_errors", "Requests and jobs that failed, by kind of error.", ["kind"])
CACHED = Counter("gitmem_cache", "What was asked of a cache, by whether it was there.", ["cache", "result"])
TOKENS = Counter("gitmem_returned_tokens", "Tokens of the text that was returned, estimated.")
INGESTED = Counter("gitmem_ingested", "Blobs and chunks that were added and removed.", ["what"])

_tracer = trace.get_tracer("gitmem.server")


@contextmanager
def _span(name: str, **given: Any) -> Iterator[None]:
    """A span; of what it raises it has the kind alone, since the words may quote what was asked."""
    with _tracer.start_as_current_span(
        f"gitmem.{name}", record_exception=False, set_status_on_exception=False, **given
    ) as span:
        try:
            yield
        except BaseException as error:
            span.set_status(trace.StatusCode.ERROR)
            span.set_attribute("error.type", type(error).__name__)
            raise


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Measure a part of the work, as a span too."""
    began = time.perf_counter()
    try:
        with _span(name):
            yield
    finally:
        STAGES.labels(name).observe(time.perf_counter() - began)


@contextmanager
def request_span(operation: str, headers: Mapping[str, str]) -> Iterator[None]:
    """The span of a request, within the caller's trace where its headers name one."""
    with _span(operation, context=propagate.extract(headers), kind=trace.SpanKind.SERVER):
        yield


def cached(cache: str, found: bool) -> None:
    """Count a look into a cache."""
    CACHED.labels(cache, "hit" if found else "miss").inc()


def exposition(queue: list[tuple[str, int, float]], freshness: tuple[int, int, int, float] | None) -> bytes:
    """The metrics in Prometheus' text format: of all processes, with what the database says (nothing where it is
    away): (state, jobs, seconds that the oldest is due), and (repositories, never fetched, failing, seconds since the
    oldest fetch)."""
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
        names = ("all", "never_fetched", "failing")
        repositories = Gauge("gitmem_repositories", "Repositories by state.", ["state"], registry=registry)
        for name, number in zip(names, freshness[:3], strict=True):
            repositories.labels(name).set(number)
        oldest = Gauge("gitmem_oldest_fetch_seconds", "Since the fetch that is longest ago.", registry=registry)
        oldest.set(freshness[3])
    own: bytes
    if os.environ.get(SHARED):
        own = b""
    else:
        own = generate_latest(REGISTRY)
    made: bytes = generate_latest(registry)
    return own + made


def freshness_of(database: Database) -> tuple[int, int, int, float]:
    """What `exposition` takes."""
    ((count, never, failing, oldest),) = database.call("SELECT * FROM freshness()")
    return count, never, failing, float(oldest or 0)


def export_traces() -> None:
    """Send spans where the standard variables of OpenTelemetry say (OTEL_EXPORTER_OTLP_ENDPOINT). Raises BadConfig
    without the extra `traces`."""
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
