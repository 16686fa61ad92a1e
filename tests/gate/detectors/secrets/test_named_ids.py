"""Ids beside words for keys and tokens are no secrets, and the secrets beside them are."""

from __future__ import annotations

import random
import string
from base64 import b64encode

import pytest

from gitmem.gate.detectors.finding import Severity
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text
from tests.harness import Repo

HEX = "0123456789abcdef"
MIXED_LETTERS = string.ascii_letters + string.digits
BASE58 = "".join(sorted(set(MIXED_LETTERS) - set("0OIl")))


def made(size: int, letters: str = HEX, seed: int = 1) -> str:
    numbers = random.Random(f"{size} {letters} {seed}")
    return "".join(numbers.choice(letters) for _ in range(size))


def login(text: str) -> str:
    return b64encode(text.encode()).decode()


def is_refused(text: str) -> bool:
    return any(f.severity is Severity.BLOCK for f in scan_text(f"{text}\n", "memory/a.md", Policy()))


COMMIT, SHORT, TX, MIXED = made(40), made(12), "0x" + made(64), made(40, string.ascii_letters + string.digits)
IDS = (
    f"We reverted the session token change in commit {COMMIT}",
    f"세션 토큰 수정은 커밋 {COMMIT} 에 있다",
    f"키 이름 변경 커밋: {SHORT}",
    f"암호 키 갱신은 {COMMIT} 커밋에서 했다",
    f"토큰 갱신 오류는 {COMMIT}에서 고쳤다",
    f"トークン更新の修正はコミット {COMMIT}",
    f"令牌刷新在提交 {SHORT} 中修复",
    f'Revert "rotate the signing key" ({COMMIT})',
    f"token expiry: bisect says {COMMIT} is the first bad commit",
    f"트랜잭션 {TX} 승인, 키 교체 예정",
    f"attestation uid {TX} for the deploy key rotation",
    f"KMS key mrk-{made(32)} lives in two regions",
    f"token host ami-0{made(16)} in subnet-0{made(16)} was rotated",
    f"https://www.figma.com/file/{made(22, string.ascii_letters)}/Token-System?node-id=12%3A345",
    f"nodekey:{made(64)} of the node was rotated",
    f"Token mint: {made(44, string.ascii_letters + string.digits)}",
    f"the key album is spotify:album:{made(22, string.ascii_letters + string.digits)}",
    f"| step | tx |\n|---|---|\n| rotate key | {TX} |",
    f"| step | note | transaction |\n|:--|---|---|\n| mint | ok | {TX} |\n| rotate key | ok | `{TX}` |",
    f"| 작업 | 커밋 |\n|---|---|\n| 토큰 교체 | {COMMIT} |",
    f"| 作業 | コミット |\n|---|---|\n| トークン更新 | {COMMIT} |",
    f"키 교체 범위: {COMMIT}..{made(40, seed=2)}",
    f"key rotation range: {COMMIT}...{made(40, seed=2)}",
    f"API key registry deployed, tx={TX}",
    f"Token transfer signature: {made(88, BASE58)}",
    f"토큰 전송 서명: {made(88, BASE58)}",
    f"Auth0 client id {made(32, MIXED_LETTERS)} (public); secret rotation is monthly",
    f"client_id={made(32, MIXED_LETTERS)} (public), rotate the secret monthly",
    "token budget of DeepSeek-R1-Distill-Qwen-32B-Q4_K_M-GGUF",
    "jdbc:oracle:thin:@//db.example:1521/ORCL",
    "PWD={0};Server=x",
    "basic_auth: enabled",
    f"_auth={login('user:password')}",
    f"kind: Secret\ndata:\n  token: {login('changeme')}",
)
SECRETS = (
    f"API token: {COMMIT}",
    f"API 토큰은 {COMMIT} 이다",
    f"| name | token |\n|---|---|\n| commit bot key | {COMMIT} |",
    f"| commit | note |\n|---|---|\n| first | API token: {made(40, seed=3)} |",
    f"private key: {made(88, BASE58)}",
    f"npm config set _auth {login('bot:Maple' + '-4471x')}",
    f"client_secret={made(32, MIXED_LETTERS)} rotate it monthly",
    f"トークンは {COMMIT}",
    f"github token {COMMIT}",
    f"데이터독 키를 새로 발급: {made(32)}",
    f"the private key of the wallet is {TX}",
    f"commit {SHORT} added the token {MIXED}",
    "jdbc:oracle:thin:app/Xk7vR2mLx9kQ@//db.example:1521/X",
    "Driver={ODBC};UID=sa;PWD={Xk7vR2mLx9kQ}",
    f"_auth={login('bot:Xk7vR2mLx9kQ')}",
    f"BASIC_AUTH={login('svc:Xk7vR2mLx9kQ')}",
    f'npmAuthIdent: "{login("bot:Xk7vR2mLx9kQ")}"',
    f"kind: Secret\ntype: Opaque\ndata:\n  db-password: {login('Xk7vR2mLx9')}",
)


@pytest.mark.parametrize("text", IDS)
def test_what_names_a_thing_is_no_secret(text: str) -> None:
    assert not is_refused(text)


@pytest.mark.parametrize("text", SECRETS)
def test_what_opens_a_thing_is_a_secret_beside_an_id_too(text: str) -> None:
    assert is_refused(text)


def test_the_id_of_a_commit_that_the_repository_has_is_no_secret(repo: Repo) -> None:
    oid = repo.commit("begin", {"MEMORY.md": "# Memory\n"})
    other = oid[::-1]
    for known, code in ((oid, 0), (oid[:14], 0), (other, 1)):
        repo.write("memory/a.md", f"- the api key = {known}\n")
        assert repo.mem("scan", "memory/a.md", check=False).returncode == code


@pytest.mark.parametrize(
    "text",
    [
        "- `channels.chat.serverUrl` (base URL), `channels.chat.password`, `channels.chat.webhookPath`.",
        "sed 's|https://[^:]*:\\([^@]*\\)@.*|x|' file",
        "| `/api/v1/lists`, `/api/v1/price-index`, `/api/v1/business*`, `/api/v1/x*` | market | 8002 | global |",
    ],
)
def test_lists_of_code_patterns_and_paths_hold_no_password(text: str) -> None:
    assert not is_refused(text)


def test_what_a_program_does_with_a_string_is_no_password() -> None:
    assert not is_refused("createHash('sha256').update('YOUR_PASSWORD').digest('hex')")
    assert is_refused("db password('Walnut-7788')")
