"""Selects the working values of a context: the values of its session, and the project's whose entity the prompt names.

A working value is a short text under a key, such as `company:acme:analysis`, that lasts for a task. A context about one
entity must not have values of another: an agent that is asked about Globex would take a value of Acme for an answer.
Reads the values of one repository and changes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from gitmem.config import Config
from gitmem.errors import StateOfAnotherUser
from gitmem.git.opening import Repository
from gitmem.sessions.working_memory import Owner, Store, Value, is_below
from gitmem.text.heading_words import is_generic_heading
from gitmem.text.terms import terms

# First parts of keys that name a kind of entity: in `company:acme` the entity is `acme`.
_KINDS = """account agent alert app bug build case client company contact customer department deployment device document
    employee entity environment experiment feature host incident investor invoice job market member model order
    organisation organization partner patient person pipeline portfolio pr process product project release repo
    repository request run server service site stage stock story supplier symbol system team tenant ticker ticket
    topic user vendor workflow
    거래처 계정 고객 기업 담당자 모델 배포판 사람 사용자 서버 서비스 시스템 실험 업체 장애 제품 종목 주문 지원자
    직원 티켓 팀 파이프라인 프로젝트 환경 회사 会社 企業 顧客 製品 案件 担当 チーム 公司 客户 产品 项目 团队"""
KINDS_OF_ENTITY = frozenset(_KINDS.split())


def values_for(
    repo: Repository, config: Config, now: datetime, *, session: str, entities: Sequence[str], question: str
) -> list[Value]:
    """The working values of a context, ordered by key.

    The session's own values are taken, and those of the project whose entity `question` names. `session`: the id of the
    context's session, "" for none. `entities`: prefixes of keys; if there are any, exactly the values below these are
    taken. `question`: the prompt and its subjects; if it is empty, all values are taken.
    """
    try:
        values = Store(repo.common_dir, config.profile).list("", now, Owner(session, config.agent))
    except StateOfAnotherUser:  # that user's values are not this user's
        return []
    entities = [entity for entity in entities if entity.strip()]
    if entities:
        return [value for value in values if any(is_below(value.key, entity) for entity in entities)]
    if not question.strip():
        return values
    words = frozenset(terms(question))
    return [value for value in values if value.owner.session or is_entity_named(value.key, words)]


def is_entity_named(key: str, words: frozenset[str]) -> bool:
    """Whether `words`, the terms of a prompt, contain the entity of a key: `acme` in `company:acme:analysis`."""
    first, _, remainder = key.partition(":")
    second = remainder.partition(":")[0]
    is_kind = first in KINDS_OF_ENTITY or first.removesuffix("s") in KINDS_OF_ENTITY or is_generic_heading(first)
    name = second if is_kind else first
    # Terms of Hangul and Kana are pairs of signs and the last sign alone, which a particle may replace.
    name_terms = [term for term in terms(name) if len(term) > 1 or term.isascii()] or terms(name)
    return bool(name_terms) and words.issuperset(name_terms)
