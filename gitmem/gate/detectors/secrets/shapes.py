"""Secrets known by their shape: the reader of `shapes.txt`, which explains its notation, and what is known of its rows.

`HARD` rows are secrets whatever they look like; the others still have to look random.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gitmem.gate.detectors.secrets.rule_tables import rows


class Shape(NamedTuple):
    """A secret's `pattern`, what it is in words, and the `literals` of which a text has to hold one; none: any long run."""

    rule: str
    what: str
    literals: tuple[str, ...]
    pattern: str


@cache
def shapes() -> tuple[Shape, ...]:
    """The rows of `shapes.txt` in its order, read once a process.

    Raises OSError or ValueError where the table cannot be read or has a malformed row.
    """
    table: list[Shape] = []
    for rule, what, words, pattern in rows("shapes.txt", len(Shape._fields)):
        literals = () if words == "-" else tuple(words.split(", "))
        if not all(literals) or words != words.lower() or "(?P<secret>" not in pattern:
            raise ValueError(f"shapes.txt: the literals or the pattern of '{rule}' cannot be found in a text")
        table.append(Shape(rule, what, literals, pattern))
    return tuple(table)


HARD = frozenset({
    "private-key", "private-key-end", "private-key-base64", "putty-private-key", "jwk-private-key", "service-account-key", "wireguard-key",
    "package-host-credentials", "jwk-base64", "npm-auth", "crypt-hash", "private-key-der", "dropbox-long-token",
    "jwk-symmetric-key", "minisign-key", "k3s-token", "bitlocker-key", "recovery-code", "recovery-key", "seed-phrase", "kerberos-hash", "wallet-private-key", "recovery-codes",
})  # fmt: skip

# The literals that may stand in prose, next to spaces: for these the whole text is searched. Those of `in_run`, all others,
# can only stand inside an unbroken run: for these the runs alone are.
SPACED = frozenset({
    '"oct"', "'oct'", "oathtool", "aes.new(", "fernet(", "hmac.new(", "createhmac(", "createcipheriv(", "secretkeyspec(", "jwt.sign(",
    "jwt.encode(", "private key-----", "private key block-----", "private-lines:", '"d"', "'d'", '"private_key_id"', "privatekey =", "presharedkey",
    "accountkey", "sharedaccesskey", "sharedsecret", "x-ncp-iam-access-key", "x-ncp-apigw-api-key", "x-naver-client-secret", "kakaoak",
    "service_key", 'servicekey"', "servicekey:", "인증키", "서비스키", "서비스 키", "openvpn static key", "jenkins initial setup", "unseal",
    "naver", "네이버", "x-secret-key", "x-tc-app", "nhn", "kubeadm", "bootstrap", "--token", '"auth"',
    "contribsys", "token-", "discord", "디스코드", "okta", "ssws", "옥타", "variable", "secret_id", "secretid", ":_auth", "validationkey", "decryptionkey", "mnemonic", "seed phrase", "recovery phrase", "니모닉", "복구 구문", "시드 구문", "シードフレーズ",
    "private key", "개인키", "개인 키", "秘密鍵", "私钥", "totp", "otp", "mfa", "2fa", "two-factor", "authenticator", "2단계", "이중 인증", "二段階",
    "二要素", "两步验证", "双因素", "recovery key", "filevault", "복구 키", "回復キー", "リカバリーキー", "恢复密钥", "verification code", "rescue code", "scratch code",
    "bypass code", "emergency code", "recovery code", "backup code", "복구 코드", "복구코드", "백업 코드", "백업코드", "リカバリーコード", "バックアップコード", "恢复码", "恢复代码",
    "备用码", "备用验证码", "복구 문구", "시드 문구", "リカバリーフレーズ", "助记词", "助記詞", "_|warning:-do-not-share",
})  # fmt: skip


@cache
def in_run() -> frozenset[str]:
    """The literals that stand in unbroken runs only."""
    return frozenset([literal for shape in shapes() for literal in shape.literals]) - SPACED


# A text for each row, in the same notation, from which the examples are made.
_BOUND = "-----"
SAMPLES: dict[str, str] = {
    "private-key": f"{_BOUND}BEGIN RSA PRIVATE KEY{_BOUND}\n<b>{{64}}\n<b>{{40}}\n{_BOUND}END RSA PRIVATE KEY{_BOUND}",
    "private-key-end": f"<b>{{64}}\n<b>{{40}}==\n{_BOUND}END RSA PRIVATE KEY{_BOUND}",
    "azure-function-url": r"https://acme.azurewebsites.net/api/run\?code=<A>{54}==",
    "private-key-base64": "LS0tLS1CRUdJTi<b>{80}",
    "putty-private-key": "PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 1\n<b>{48}",
    "jwk-private-key": '"kty": "EC", "d": "<A>{43}"',
    "jwk-base64": "WwogICAgewogICAgICAgICJrdHkiOi<b>{80}",
    "service-account-key": '"private_key_id": "<h>{40}"',
    "jwk-symmetric-key": '"kty": "oct", "kid": "a", "k": "<A>{43}"',
    "bitlocker-key": r"\d{6}-\d{6}-\d{6}-\d{6}-\d{6}-\d{6}-\d{6}-\d{6}",
    "recovery-code": r"My backup code is 9\d{7}",
    "recovery-key": "FileVault: <U>{4}-<U>{4}-<U>{4}-<U>{4}-<U>{4}-<U>{4}",
    "k3s-token": "K10<h>{64}::server:<h>{32}",
    "minisign-key": "RWRTY0Iy<b>{204}",
    "cipher-key": "cipher = AES." + r'new\(b"<A>{32}", AES.MODE_GCM\)',
    "one-time-password-command": "oathtool --totp -b [A-Z]{6}[2-7]{4}[A-Z]{6}",
    "wireguard-key": "PrivateKey = <b>{42}E=",
    "jwt": "eyJ<A>{34}.eyJ<A>{60}.<A>{43}",
    "jwt-unsigned": "eyJ<A>{70}.<A>{40}.<A>{22}.<A>{50}",
    "slack-webhook": "https://hooks.slack.com/services/T<U>{9}/B<U>{9}/<A>{24}",
    "teams-webhook": "https://acme.webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/<h>{32}/<uuid>",
    "power-automate-url": "https://prod-1.westus.logic.azure.com/workflows/run?sp=triggers&sig=<A>{43}",
    "discord-webhook": r"https://discord.com/api/webhooks/1\d{17}/<A>{68}",
    "discord-bot-token": "M<A>{25}.<A>{6}.<A>{30}",
    "chat-webhook": r"https://oapi.dingtalk.com/robot/send\?access_token=<h>{64}",
    "automation-webhook": r"https://hooks.zapier.com/hooks/catch/\d{7}/<a>{8}",
    "telegram-bot-token": r"1\d{9}:AA<A>{33}",
    "facebook-app-token": r"1\d{15}\|<A>{27}",
    "entra-client-secret": "<A>{3}8Q~<A>{34}",
    "azure-devops-token": "<A>{76}AZDO<A>{4}",
    "azure-key": "<A>{42}AzSeA<A>{5}",
    "azure-cognitive-key": "<A>{52}JQQJ99<A>{26}",
    "azure-shared-key": "AccountName=acme;AccountKey=<b>{86}==",
    "azure-sas": r"https://acme.blob.core.windows.net/c\?sv=2024&sig=<A>{43}%3D",
    "presigned-url": r"https://s3.amazonaws.com/b/k\?X-Amz-Signature=<h>{64}",
    "signed-url": r"https://d111.cloudfront.net/f\?Signature=<A>{344}&Key-Pair-Id=K1",
    "mailgun-token": "<h>{32}-<h>{8}-<h>{8}",
    "mailchimp-key": "<h>{32}-us12",
    "terraform-token": "<A>{14}.atlasv1.<A>{67}",
    "newrelic-license-key": "<h>{36}NRAL",
    "maxmind-key": "<A>{6}_<A>{29}_mmk",
    "zoho-token": "1000.<h>{32}.<h>{32}",
    "ollama-key": "<h>{32}.<A>{24}",
    "zai-key": "<h>{32}.<A>{16}",
    "ably-key": "<A>{6}.<A>{6}:<A>{43}",
    "teamworkspaces-token": "tkn.v1_<A>{80}",
    "proxmox-token": "PVEAPIToken=root@pam!ci=<uuid>",
    "rancher-token": "token-<a>{5}:<a>{54}",
    "truenas-key": "3-<A>{64}",
    "roblox-cookie": r"_\|WARNING:-DO-NOT-SHARE-THIS.--Sharing-this-will-allow-someone-to-log-in.\|_<H>{200}",
    "bcrypt-hash": r"\$2b\$12\$<A>{53}",
    "crypt-hash": r"root:\$6\$<A>{16}\$<A>{86}",
    "kerberos-hash": r"\$krb5asrep\$23\$svc@ACME:<h>{80}",
    "seed-phrase": "mnemonic: " + "[a-z]{5} " * 11 + "[a-z]{5}",
    "extended-private-key": "xprv9[1-9A-HJ-NP-Za-km-z]{106}",
    "private-key-der": "MIIEpAIBAAKC<b>{80}",
    "node-provider-url": "https://eth-mainnet.g.alchemy.com/v2/<A>{32}",
    "tines-webhook": "https://acme.tines.com/webhook/<a>{32}/<a>{32}",
    "tableau-token": "<A>{22}==:<A>{32}",
    "dropbox-long-token": "<a>{10}bAAAAAAAAAA<A>{43}",
    "airtable-oauth-token": "<A>{16}.v1.<A>{32}.<h>{40}",
    "discord-token": "discord <A>{24}.<A>{6}.<A>{27}",
    "jira-token": "MAE0<A>{40}",
    "pagerduty-token": r"u\+<A>{18}",
    "line-channel-token": "<A>{160}w1cDnyilFU=",
    "newrelic-mobile-token": "AA<h>{40}-NRMA",
    "jwt-base64": "ZXlKaGJHY2<A>{120}",
    "okta-token": "Authorization: SSWS 00<A>{40}",
    "codeclimate-id": "CC_TEST_REPORTER_ID=<h>{64}",
    "machine-key": '<machineKey validationKey="<H>{64}"',
    "naver-client-secret": "NAVER_CLIENT_SECRET=<A>{9}7",
    "nhn-cloud-secret-key": "X-Secret-Key: <A>{7}4",
    "kubernetes-bootstrap-token": "kubeadm join 10.0.0.1:6443 --token <a>{6}.<a>{16}",
    "docker-auth": '"auth": "<b>{40}"',
    "npm-auth": "//npm.acme.io/:_auth=<A>{32}",
    "vault-secret-id": "role_id=<uuid> secret_id=<uuid>",
    "terraform-default": 'variable "datadog_api_key" \\{\n  default = "<h>{32}"\n\\}',
    "salesforce-session": "00D<A>{15}!<A>{96}",
    "otpauth-secret": r"otpauth://totp/acme:minji\?secret=[A-Z2-7]{32}&issuer=acme",
    "naver-header": "X-Naver-Client-Secret: <A>{10}7b",
    "kakao-header": "Authorization: KakaoAK <h>{32}",
    "data-go-kr-key": r"http://apis.data.go.kr/1360000/x\?serviceKey=<A>{84}%3D%3D",
    "openvpn-key": f"{_BOUND}BEGIN OpenVPN Static key V1{_BOUND}\n<h>{{32}}\n<h>{{32}}\n<h>{{32}}",
    "thingsboard-address": "https://eu.thingsboard.cloud/api/v1/<a>{20}",
    "thingsboard-token": "https://devices.acme.io/api/v1/<a>{20}/telemetry",
    "telegram-api-url": r"https://api.telegram.org/bot1\d{9}:<A>{35}/getMe",
    "jenkins-initial-password": "Jenkins initial setup is required. Please use the following password to proceed to installation:\n\n<h>{32}",
    "vault-unseal-key": "Unseal Key 1: <A>{43}=",
    "wallet-private-key": "private key of the wallet 0x<h>{64}",
    "one-time-password-seed": "TOTP seed: [A-Z]{12}[2-7]{4}[A-Z]{16}",
    "recovery-codes": r"recovery codes: \d{4}-\d{4}, \d{4}-\d{4}, \d{4}-\d{4}",
    "package-host-credentials": 'BUNDLE_GEMS__CONTRIBSYS__COM: "<h>{8}:<h>{8}"',
}
