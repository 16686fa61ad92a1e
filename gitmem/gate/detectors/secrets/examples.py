"""Invented secrets of the right shape, for the examples of the rules: no token stands in this source.

`fake` writes a text for a pattern in the notation of `gate/detectors/secrets/tokens.txt`, the same one every time;
`elided` writes the same with `…` for what would be secret. The characters come from a digest of the pattern, so they
are random to look at and belong to nobody.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256

from gitmem.gate.detectors.secrets.candidates import candidates
from gitmem.gate.detectors.secrets.rule_tables import shapes, tokens
from gitmem.gate.detectors.text import Examples

_ALPHABET = {
    "<a>": "0123456789abcdefghijklmnopqrstuvwxyz",
    "<A>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "<w>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-",
    "<h>": "0123456789abcdef",
    "<H>": "0123456789abcdef",
    "<U>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "<b>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "<s>": "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "\\d": "0123456789",
}
_UUID = "<h>{8}-<h>{4}-<h>{4}-<h>{4}-<h>{12}"


def _stream(seed: str) -> Iterator[int]:
    counter = 0
    while True:
        yield from sha256(f"{seed}/{counter}".encode()).digest()
        counter += 1


def _closing(pattern: str, at: int) -> int:
    depth = 0
    for place in range(at, len(pattern)):
        if pattern[place] == "\\":
            continue
        depth += {"(": 1, ")": -1}.get(pattern[place], 0)
        if depth == 0:
            return place
    raise ValueError(pattern)


def _write(pattern: str, take: Callable[[str, int], str]) -> str:
    """Walk a pattern: literal characters are copied, `take(alphabet, count)` writes each class."""
    out, at = [], 0
    while at < len(pattern):
        if pattern.startswith(("(?=", "(?!", "(?<"), at):
            at = _closing(pattern, at) + 1
            continue
        atom, alphabet = pattern[at], ""
        if atom == "(":
            end = _closing(pattern, at)
            inside = pattern[at + 1 : end].removeprefix("?:")
            depth, cut = 0, len(inside)
            for place, char in enumerate(inside):
                depth += {"(": 1, ")": -1}.get(char, 0)
                if char == "|" and depth == 0 and inside[place - 1] != "\\":
                    cut = place
                    break
            written, at = _write(inside[:cut], take), end + 1
        elif atom == "[":
            end = pattern.index("]", at)
            alphabet, at = _range(pattern[at + 1 : end]), end + 1
            written = ""
        elif pattern.startswith("<uuid>", at):
            written, at = _write(_UUID, take), at + 6
        elif pattern[at : at + 3] in _ALPHABET:
            alphabet, written, at = _ALPHABET[pattern[at : at + 3]], "", at + 3
        elif atom == "\\":
            alphabet = _ALPHABET.get(pattern[at : at + 2], "")
            written, at = ("" if alphabet else pattern[at + 1]), at + 2
        else:
            written, at = atom, at + 1
        count = 1
        if at < len(pattern) and pattern[at] == "{":
            end = pattern.index("}", at)
            low, _, high = pattern[at + 1 : end].partition(",")
            if high:
                count = min(int(high), max(int(low), min(40, int(high))))
            else:
                count = int(low)
            if not alphabet:
                count = int(low)
            at = end + 1
        elif at < len(pattern) and pattern[at] == "?":
            count, at = 0, at + 1
        out.append(take(alphabet, count) if alphabet else written * count)
    return "".join(out)


def _range(inside: str) -> str:
    """The letters and digits of a character class such as `1-9A-HJ-N+/`, or its first character."""
    out, at = "", 0
    while at < len(inside):
        if inside[at + 1 : at + 2] == "-" and at + 2 < len(inside):
            out += "".join(map(chr, range(ord(inside[at]), ord(inside[at + 2]) + 1)))
            at += 3
        else:
            out, at = out + inside[at], at + 1
    return "".join(c for c in out if c.isalnum()) or inside[0]


def fake(pattern: str, seed: str = "") -> str:
    """A text that fits `pattern`, random to look at; another `seed` gives another."""
    numbers = _stream(pattern + seed)
    return _write(
        pattern, lambda alphabet, count: "".join(alphabet[next(numbers) % len(alphabet)] for _ in range(count))
    )


def elided(pattern: str) -> str:
    """The same text with `…` where the secret would be."""
    return _write(pattern, lambda alphabet, count: "…" if count > 3 else alphabet[:count])


def _fitting(rule: str, pattern: str) -> str:
    """A fake that the rule itself finds (a random one may lack a digit, or be another vendor's too)."""
    from gitmem.gate.detectors.secrets.tokens import find

    for seed in range(64):
        text = fake(pattern, str(seed))
        if any(token.rule == rule for token in find(text, candidates(text))):
            return text
    raise ValueError(f"no sample for {rule}")


def _wallet_key() -> str:
    """A Bitcoin key in the wallet import format, its check sum computed."""
    body = b"\x80" + sha256(b"nobody").digest() + b"\x01"
    number, text = int.from_bytes(body + sha256(sha256(body).digest()).digest()[:4]), ""
    while number:
        number, rest = divmod(number, 58)
        text = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[rest] + text
    return text


_KEY = fake("<A>{40}")
_ASSIGNED = {
    "assigned-secret": Examples(
        flag=(f'BILLING_API_KEY = "{_KEY}"', f"결제 API 키는 {_KEY} 이다", f"デプロイ用シークレット：{_KEY}", f"支付密钥是{_KEY}。"),
        allow=('API_KEY = "${BILLING_API_KEY}"', "api_key = os.environ['BILLING_API_KEY']", "결제 API 키는 금고에 있다",
               f"cache key {fake('<h>{40}')} was evicted", "커밋 키워드: rebase-before-merge-2024", f'"trace_id": "{fake(_UUID)}"'),
    ),
    "encoded-login": Examples(
        flag=("BASIC_AUTH=" + b64encode(b"bot:Maple-4471x").decode(), "_auth=" + b64encode(b"deploy:Maple-4471x").decode(),
              "시크릿은 이렇다\nkind: Secret\ndata:\n  db-password: " + b64encode(b"Maple-4471x").decode(), 'npmAuthIdent: "' + "bot:Maple-4471x" + '" 를 쓴다'),
        allow=("BASIC_AUTH=${REGISTRY_AUTH}", "_auth=" + b64encode(b"user:password").decode(), "basic_auth: 사내 계정으로 로그인한다",
               "kind: Secret\ndata:\n  token: " + b64encode(b"changeme").decode()),
    ),
    "bitcoin-key": Examples(
        flag=(f"wallet import format {_wallet_key()}", f"개인키는{_wallet_key()}이다"),
        allow=(f"commit {_wallet_key()[:-1]}Q is no key", "비트코인 키는 지갑 안에만 둔다"),
    ),
    "vendor-secret": Examples(
        flag=(f"datadog: {fake('<h>{32}')}", f"카카오 {fake('<h>{32}')} 로 교체"),
        allow=(f"huggingface_hub-2.0.0-py3-none-any.whl#sha256={fake('<h>{64}')}", f"datadog agent image {fake('<h>{40}')}", "카카오 로그인 버튼 2024 가이드", f"datadog trace_id: {fake(_UUID)}",
               "--model DeepSeek-R1-GGUF/DeepSeek-R1-UD-IQ1_S/DeepSeek-R1-UD-IQ1_S-00001-of-00003.gguf"),
    ),
    "handled-secret": Examples(
        flag=(f"Rotate {fake('<A>{36}')} before Friday.", f"datadog uses {fake('<A>{40}')} for the export", f"{fake('<A>{36}')} 는 금요일에 교체한다"),
        allow=("Rotate the staging credentials before Friday.", f"auth0 client id {fake('<A>{32}')}", f"배포 커밋은 {fake('<h>{40}')} 이고 금요일에 교체한다"),
    ),
}  # fmt: skip


@cache
def secret_examples() -> dict[str, Examples]:
    """Examples of every rule of the secrets detector."""
    return {**vendor_examples(), **_ASSIGNED}


def vendor_examples() -> dict[str, Examples]:
    """Examples of every row of both tables."""
    rows = {
        rule: (starts.split()[0].replace("$", "\\$").replace("|", "\\|"), rest) for rule, _, starts, rest in tokens()
    }
    table = {}
    for rule, (start, rest) in rows.items():
        token = _fitting(rule, start + rest)
        plain = start.replace("\\", "")[:24]
        table[rule] = Examples(
            flag=(f"Use `{token}` for the nightly job.", f"운영 토큰은{token}이고 6월에 만료된다."),
            allow=(f"The revoked one began with {plain}… and is gone.", f"삭제된 것은 {plain}x7… 로 시작했다.",
                   f"Set it to {plain}{'x' * 36}, as in the manual."),
        )  # fmt: skip
    for shape in shapes():
        text, form = _fitting(shape.rule, shape.sample), elided(shape.sample)
        table[shape.rule] = Examples(
            flag=(f"From the log:\n{text}\n", f"로그에 남은 것:\n{text}\n 지울 것"),
            allow=(f"It looks like this: {form} (shortened).", f"형식은 {form} 이다."),
        )
    return table


@cache
def password_examples() -> dict[str, Examples]:
    """Examples of every rule of the passwords detector."""
    word = "Gro" + fake("[A-Z]{3}") + "#" + fake("[1-9]{2}")
    return {
        "password-note": Examples(
            flag=(f"The wifi password is {word}.", f"운영 DB 비번은 {word} 이다", f"検証DBのパスワードは{word}です", f"管理员密码：{word}",
                  f"Root password for the NAS is {word}.", f"현관 비밀번호는 {fake('[1-9]{6}')}", f"배포 서버 접속: ssh deploy@10.0.3.7 (비번 {word})",
                  'Wifi passphrase is "seven lazy otters drink cocoa".', "archive password: copper ladder monday forty", "root password WALNUT-TANGO-77.",
                  "비밀번호는 copper-ladder-42 이다", "合言葉は「青い鯨が七頭踊る」", "口令是“蓝鲸七头跳舞”", f"What is the NAS password?\nA: {word}", f"나스 비밀번호가 뭐였지?\n답: {word}", f"The default password ({word}) was kept.", "Alarm code at the warehouse is 774196", "현관 비밀번호: 8402*"),
            allow=("The password is required for every account.", "비밀번호는 저장소에 적지 않고 금고에 둔다.", "password = os.environ['DB_PASSWORD']",
                   "パスワードは8文字以上にする", "密码必须包含数字", "password: ${DB_PASSWORD}", "비밀번호는 12자 이상이어야 한다", 'password: "changeme"',
                   "password: ${{secrets.DEPLOY}}", '<password value="$DbPassword$" />', "Pin to `StreamableHttp` for new code.", "pin 3.2.1, later 3.3.0", 'Steps: "Set password" -> "Complete"',
                   "Pass it to `Runner2#start` and go on.", "password: stored encrypted with the vault", "パスワードは「8文字以上」にする", "What is the password policy?\nA: twelve characters",
                   "口令是“至少八个字符，必须包含数字”", "The safe combination of flags is 3, then 4",
                   'folder = Path(root) / f"pass_{pass_number:02d}"'),
        ),
        "user-password-pair": Examples(
            flag=(f"Jenkins: admin / {word}", f"젠킨스 admin/{word} 로 로그인", f"98.76.54.32(master/{word})"),
            allow=("Use and/or as you like: read/write.", "배포 이력은 pre-commit/pre-commit-hooks#250 참고", "eval/tool@cd45b7f, origin/main@2024", "see\n  memory/2026-02-06.md#L5\n",
                   "Memory-Source: memory/2026-02-05.md#L12-L14@<blob> -> MEMORY.md"),
        ),
        "password-in-table": Examples(
            flag=(f"| grafana | admin | {word} |", f"| 서버 | 비밀번호 |\n|---|---|\n| db1 | {word} |"),
            allow=("| paper | ink | #0B0A10 |", "| 서버 | 비밀번호 |\n|---|---|\n| db1 | 금고 참고 |"),
        ),
        "credentials-in-address": Examples(
            flag=(f"DB: postgres://app:{word}@db.internal:5432/app", f"스테이징 디비 mysql://app:{word}@10.0.0.3/app 사용"),
            allow=("postgres://app:${DB_PASSWORD}@db/app", "주소는 postgres://app:<password>@db/app 형식이다", "http://localhost:8080/@scope"),
        ),
        "password-on-command-line": Examples(
            flag=(f"sshpass -p '{word}' ssh root@10.0.0.1", f"배포: curl -u deploy:{word} https://ci.internal/job"),
            allow=('curl -u "$USER:$PASS" https://ci.internal', "배포: mysql -u root -p 입력 후 진행", "curl -u <user:password> https://x"),
        ),
    }  # fmt: skip


@cache
def session_examples() -> dict[str, Examples]:
    """Examples of every rule of the cookies detector."""
    value = fake("<A>{32}")
    return {
        "session-cookie": Examples(
            flag=(f"Cookie: JSESSIONID={value}; theme=dark", f"로그인 쿠키 NID_SES={value} 를 썼다"),
            allow=("Set the sessionid cookie to HttpOnly.", "쿠키 JSESSIONID=<세션> 를 지운다", "sessionid=${SESSION_ID}", '"session_id": "5d20b7fa-...",'),
        ),
        "authorization-header": Examples(
            flag=(f'curl -H "Authorization: Bearer {value}" https://api.internal/v1', f"요청 헤더는 `X-Auth-Token: {value}` 이다"),
            allow=('curl -H "Authorization: Bearer $TOKEN" https://api.internal/v1', "헤더는 Authorization: Bearer <토큰> 형식이다",
                   "Send the bearer token in the Authorization header."),
        ),
    }  # fmt: skip
