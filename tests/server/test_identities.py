"""People by an identity provider: what its claims permit, and every token that is none."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from gitmem.errors import BadConfig
from gitmem.server.oidc import Identities, providers_of
from tests.harness import Repo
from tests.loopback import LoopbackServer, QuietHandler
from tests.server.conftest import Server

ISSUER, AUDIENCE = "https://login.example.com", "git-mem"


class Issuer(LoopbackServer):
    """Serves its keys; `away` has it refuse."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {}
        self.away = False
        self.asked = 0
        outer = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                outer.asked += 1
                rows = [
                    {**json.loads(RSAAlgorithm.to_jwk(key.public_key())), "kid": kid, "use": "sig", "alg": "RS256"}
                    for kid, key in outer.keys.items()
                ]
                self.reply(503 if outer.away else 200, json.dumps({"keys": rows}).encode(), {})

        super().__init__(Handler)
        self.rotate("one")

    def rotate(self, kid: str) -> None:
        self.keys = {kid: rsa.generate_private_key(public_exponent=65537, key_size=2048)}

    def token(self, kid: str = "", **claims: Any) -> str:
        kid = kid or next(iter(self.keys))
        now = int(time.time())
        whole = {"iss": ISSUER, "aud": AUDIENCE, "sub": "dana", "iat": now, "exp": now + 600, "groups": ["readers"]}
        given = {name: value for name, value in {**whole, **claims}.items() if value is not None}
        return jwt.encode(given, self.keys[kid], algorithm="RS256", headers={"kid": kid})


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    with Issuer() as made:
        yield made


@pytest.fixture
def known(server: Server, issuer: Issuer, tmp_path: Path) -> Server:
    """Readers of `acme` see `notes`; owners may administer all of it. `rival` has no provider."""
    for tenant, word in (("acme", "pangolin"), ("rival", "narwhal")):
        for name in ("notes", "plans"):
            repo = Repo(tmp_path / tenant / name)
            repo.commit("memory", {"MEMORY.md": f"# Memory\n\n- The {word} sleeps in {name}\n"})
            server.add(tenant, name, repo)
    row = server.owner._connection.execute(
        "SELECT name FROM tenant WHERE id = %s", (server.numbers["acme"],)
    ).fetchone()
    assert row is not None
    grants = [
        {"claim": "groups", "value": "readers", "repositories": ["notes"]},
        {"claim": "groups", "value": "writers", "scope": "propose", "repositories": ["plans"]},
        {"claim": "role", "value": "owner", "scope": "admin"},
    ]
    table = {"issuer": ISSUER, "audience": AUDIENCE, "jwks": f"{issuer.url}/keys", "tenant": row[0], "grants": grants}
    server.running.operations.identities = Identities(providers_of([table]), cooldown=0, wait=0)
    return server


def test_claims_say_which_repositories_are_seen(known: Server, issuer: Issuer) -> None:
    def names(**claims: Any) -> set[str]:
        return {
            row["name"] for row in known.ask(issuer.token(**claims), "GET", "/v1/repositories").json()["repositories"]
        }

    assert names() == {"notes"}
    assert names(groups=["readers", "writers"]) == {"notes", "plans"}
    assert names(groups=[], role="owner") == {"notes", "plans"}
    hits = known.search(issuer.token(), "who sleeps")["hits"]
    assert {hit["repository"] for hit in hits} == {"notes"} and "narwhal" not in str(hits)


def test_a_grant_of_one_scope_lends_nothing_to_the_repositories_of_another(known: Server, issuer: Issuer) -> None:
    token = issuer.token(groups=["readers", "writers"])
    of_reader = known.ask(token, "POST", "/v1/propose", json={"repository": "notes", "text": "a line"})
    of_writer = known.ask(token, "POST", "/v1/propose", json={"repository": "plans", "text": "a line"})
    assert of_reader.status_code == of_writer.status_code == 400
    assert "no such repository" in of_reader.text and "takes no proposals" in of_writer.text
    assert (
        known.ask(issuer.token(), "POST", "/v1/propose", json={"repository": "notes", "text": "a"}).status_code == 403
    )
    assert known.ask(token, "GET", "/v1/audit").status_code == 403


def test_the_audit_log_says_who_asked(known: Server, issuer: Issuer) -> None:
    known.search(issuer.token(sub="dana@example.com"), "pangolin")
    known.ask(issuer.token(sub="eve"), "GET", "/v1/audit")
    rows = known.ask(issuer.token(role="owner", sub="olaf"), "GET", "/v1/audit").json()["audit"]
    assert tuple(rows[0][name] for name in ("subject", "action", "status")) == ("eve", "audit", 403)
    assert tuple(rows[1][name] for name in ("subject", "action", "status")) == ("dana@example.com", "search", 200)


def unsigned(issuer: Issuer) -> str:
    head, body, _ = jwt.encode(jwt.decode(issuer.token(), options={"verify_signature": False}), "", "none").split(".")
    return f"{head}.{body}."


def of_another_kind(issuer: Issuer) -> str:
    """Signed with the public key as if it were a shared secret."""
    body = jwt.decode(issuer.token(), options={"verify_signature": False})
    made = jwt.encode(body, "x" * 64, algorithm="HS256", headers={"kid": "one"})
    return made


def of_another_curve(issuer: Issuer) -> str:
    body = jwt.decode(issuer.token(), options={"verify_signature": False})
    key = ec.generate_private_key(ec.SECP256R1())
    assert ECAlgorithm.to_jwk(key.public_key())
    return jwt.encode(body, key, algorithm="ES256", headers={"kid": "one"})


def of_another_key(issuer: Issuer) -> str:
    body = jwt.decode(issuer.token(), options={"verify_signature": False})
    return jwt.encode(
        body, rsa.generate_private_key(public_exponent=65537, key_size=2048), "RS256", headers={"kid": "one"}
    )


NONE: dict[str, Callable[[Issuer], str]] = {
    "unsigned": unsigned,
    "another kind of key": of_another_kind,
    "another curve": of_another_curve,
    "another key": of_another_key,
    "an unknown key": lambda issuer: issuer.token().replace("x", "y", 0) + "x",
    "expired": lambda issuer: issuer.token(exp=int(time.time()) - 3600),
    "not yet": lambda issuer: issuer.token(nbf=int(time.time()) + 3600),
    "another audience": lambda issuer: issuer.token(aud="another"),
    "no audience": lambda issuer: issuer.token(aud=None),
    "another issuer": lambda issuer: issuer.token(iss="https://evil.example.com"),
    "no end": lambda issuer: issuer.token(exp=None),
    "no subject": lambda issuer: issuer.token(sub=None),
    "an empty subject": lambda issuer: issuer.token(sub=""),
    "a blank subject": lambda issuer: issuer.token(sub=" "),
    "a NUL in the subject": lambda issuer: issuer.token(sub="dana\0"),
    "half a character in the subject": lambda issuer: issuer.token(sub="dana\ud800"),
    "no grant": lambda issuer: issuer.token(groups=["strangers"]),
    "a grant that is a part of a word": lambda issuer: issuer.token(groups="readers and more"),
    "long": lambda issuer: issuer.token(more="x" * 20_000),
    "nonsense": lambda issuer: "a.b.c",
    "nested": lambda issuer: jwt.utils.base64url_encode(b"[" * 9000).decode() + ".e30.x",
}


@pytest.mark.parametrize("kind", list(NONE))
def test_what_is_no_token_is_refused_with_the_same_bytes(known: Server, issuer: Issuer, kind: str) -> None:
    answer = known.ask(NONE[kind](issuer), "POST", "/v1/search", json={"query": "pangolin"})
    assert answer.status_code == 401
    assert answer.content == known.ask("gitmem_made-up", "POST", "/v1/search", json={"query": "a"}).content


def test_a_rotated_key_is_fetched_and_the_old_one_ends(known: Server, issuer: Issuer) -> None:
    old = issuer.token()
    assert known.ask(old, "GET", "/v1/repositories").status_code == 200
    issuer.rotate("two")
    assert known.ask(issuer.token(), "GET", "/v1/repositories").status_code == 200
    assert known.ask(old, "GET", "/v1/repositories").status_code == 401


def test_without_the_providers_keys_nobody_is_believed(known: Server, issuer: Issuer) -> None:
    issuer.away = True
    answer = known.ask(issuer.token(), "GET", "/v1/repositories")
    assert answer.status_code == 503 and "identity provider" in answer.text
    assert known.ask("acme read", "GET", "/v1/repositories").status_code == 200
    issuer.away = False
    assert known.ask(issuer.token(), "GET", "/v1/repositories").status_code == 200


def test_a_provider_that_is_away_is_not_asked_by_every_request(issuer: Issuer) -> None:
    table = {"issuer": ISSUER, "audience": AUDIENCE, "jwks": f"{issuer.url}/keys", "tenant": "t",
             "grants": [{"claim": "groups", "value": "readers"}]}  # fmt: skip
    identities, token = Identities(providers_of([table]), wait=3600), issuer.token()
    issuer.away = True
    for _ in range(5):
        with pytest.raises(Exception, match="does not answer"):
            identities.identity(token)
    assert issuer.asked == 1


GOOD = {"issuer": ISSUER, "audience": AUDIENCE, "jwks": "https://login.example.com/keys", "tenant": "acme",
        "grants": [{"claim": "groups", "value": "readers"}]}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"algorithms": ["none"]}, {"algorithms": ["HS256"]}, {"algorithms": []}, {"jwks": "http://login.example.com/keys"},
        {"jwks": "file:///etc/passwd"}, {"audience": ""}, {"grants": []}, {"grants": [{"claim": "groups"}]}, {"more": 1},
        {"grants": [{"claim": "groups", "value": "readers", "repositories": []}]}, {"tenant": 5},
        {"grants": [{"claim": "groups", "value": "readers", "scope": "all"}]},
    ],
)  # fmt: skip
def test_a_provider_that_would_let_anyone_in_is_no_configuration(change: dict[str, Any]) -> None:
    assert providers_of([GOOD])
    with pytest.raises(BadConfig):
        providers_of([{**GOOD, **change}])
    with pytest.raises(BadConfig):
        providers_of([GOOD, GOOD])
