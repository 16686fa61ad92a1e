"""Passwords as people write them down, and the sentences about passwords that hold none."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from gitmem.gate.detectors.registry import load
from gitmem.gate.detectors.secrets.passwords import MASK
from gitmem.gate.detectors.text import Text

CHOSEN = ["Gro" + "Vbq#19", "kimchi" + "2024!", "Tr0ub4" + "dor&3"]  # split: no password stands in this file

FLAG = [
    "login: admin pw: {P}",
    "Admin creds: admin / {P}",
    "- **Account:** `milo@agents.example.org` / `{P}`",
    "Password → {P}",
    "pass = {P}",
    "pw is {P}",
    "changed the root password to {P}",
    "{P} is the new root password",
    "use {P} as the password",
    "user: admin, password: {P}",
    "Username admin Password {P}",
    "credentials: admin:{P}",
    "SSID office-5G / pw {P}",
    "비번 {P}로 바꿈",
    "비번을 {P}로 변경",
    "{P} 가 새 비밀번호",
    "{P}가 새 비밀번호다",
    "비밀번호 {P} 로 설정했다",
    "아이디 admin 비번 {P}",
    "계정: admin / {P}",
    "공유기 비밀번호 → {P}",
    "패스워드(임시): {P}",
    "비밀번호 변경함({P})",
    "root / {P} 접속",
    '비밀번호는 "{P}"',
    "관리자 암호를 {P}(으)로 바꿨다",
    "임시 비밀번호: `{P}`",
    "DB 접속 정보: app/{P}@10.0.0.3",
    'vpn psk "{P}"',
    "snmp community string: {P}",
    "contraseña: {P}",
    "$s = ConvertTo-SecureString {P} -AsPlainText -Force",
    "パスワード {P} を使う",
    "ログイン: admin / {P}",
    "Wi-Fiのパス：{P}",
    "新しいパスワードは{P}に変更",
    "PWは{P}",
    "パスワード「{P}」",
    "パスワードを{P}に変更した",
    "{P} が新しいパスワード",
    "密码改成{P}",
    "root密码为{P}",
    "账号admin 密码{P}",
    "口令: {P}",
    "登录 admin/{P}",
    "WiFi密码{P}",
    "新密码是 {P}",
    "数据库密码：{P}，下周换",
    "密码（临时）：{P}",
    "密码已重置为 {P}",
    "export PGPASSWORD={P}",
    "MYSQL_ROOT_PASSWORD: {P}",
    "password='{P}'",
    "<password>{P}</password>",
    "redis://:{P}@cache:6379/0",
    "--password={P}",
    'Temporary password "{P}" expires Friday',
    "- **Password:** {P}",
    "- **비밀번호**: {P}",
    "| 비번 | {P} |",
    "| password | {P} |",
    "Password for staging ({P})",
    "root pw `{P}`",
    "ID: admin\nPW: {P}",
    "아이디/비번: admin/{P}",
    "admin 계정 비번은 {P} 임",
    'the passphrase for backups is "{P}"',
    "98.76.54.32(user:master,pw:{P})",
    "98.76.54.32 id/pwd(master/{P})",
    "98.76.54.32 ID : master PW : {P}",
    "(ID/PWD):(master/{P})",
    "ID/PW = master/{P}",
    "id/pw master/{P}",
    "login:master|pwd:{P}",
    "BasicAuth(master:{P})",
    "비밀번호/{P}",
    "PW/{P}",
    "암호={P}",
    "PW-{P}",
    "Password - {P}",
    "ID(master)/PW({P})",
    "master/{P}@98.76.54.32",
    "ssh master@98.76.54.32 (pw: {P})",
    "ftp://master:{P}@98.76.54.32",
    "98.76.54.32:22 master {P}",
    "아이디: master / 비밀번호: {P}",
    "아이디/비밀번호 : master/{P}",
    "계정(master/{P})",
    "pass:{P}",
    "passwd {P}",
    "PASS={P}",
    "user=master;password={P}",
    "jdbc:mysql://h/db?user=a&password={P}&useSSL=false",
    "Server=x;Uid=sa;Pwd={P};",
    "psexec \\\\h -u adm -p {P} cmd",
    "Connect-VIServer h -User a -Password {P}",
    "enable secret 5 {P}x",
    "$mail->Password = '{P}';",
    "CREATE USER 'a'@'%' IDENTIFIED BY '{P}';",
    "ALTER ROLE a WITH PASSWORD '{P}';",
    '<add key="SmtpPassword" value="{P}"/>',
    '<property name="password" value="{P}"/>',
    "spring.datasource.password={P}",
    'password: "{P}"',
    "  password: {P}  # prod",
    '"db_password": "{P}",',
    "'password' => '{P}',",
    'password = r"{P}"',
    'set password="{P}"',
    "--db-pass {P}",
    "-e MYSQL_PASSWORD={P}",
    "mypass={P}",
    "userPassword: {P}",
    'adminPwd = "{P}"',
    "ROOT_PW={P}",
    "machine h login a password {P}",
    "wifi: office5G / {P}",
    "SSID: office, PW: {P}",
    "VPN 접속: master / {P}",
    "관리자 페이지 admin / {P}",
    "What's the NAS password here again\n{P}",
    "스테이징 비번이 뭐였죠?\nA. {P} 입니다",
    "佐藤: パスワードって何でしたっけ\n田中: {P} です",
    "[10:42] bot: enter the admin password:\n[10:43] kai: {P}",
    "| [password] | {P} |",
    "host,user,password\nftp1,upload,{P}\n",
    "계정,비밀번호\nadmin,{P}",
    "INSERT INTO users (name, password) VALUES ('root', '{P}');",
    "echo '{P}' | sudo -S reboot",
    "DefaultPassword    REG_SZ    {P}",
    "Rotated the backup password from {P} to Zephyr-77x.",
    "비밀번호 Zephyr!77x → {P} 변경",
    '<password type="string">{P}</password>',
    "VPN pre-shared key: {P}",
    "VPN 사전 공유 키는 {P}",
    "wpa key {P} for the lab",
    "requirepass {P}",
    "관리자 로그인 master // {P}",
    "<dt>Password</dt><dd>{P}</dd>",
    "PW ➜ {P}",
    "SMTP_PASS {P}",
    "keytool -storepass {P} -list",
    "the admin pw got changed to {P} on Friday",
    "초기 비밀번호는 {P}(으)로 통일",
    "jo: what's the pw for staging again\nsam: {P}",
    "the pass is {P}",
    "service\tuser\tpassword\nnexus\tci\t{P}\n",
    "host     user   pw\nedge1    root   {P}\n",
    "+------+----------+\n| user | password |\n+------+----------+\n| kai  | {P} |\n+------+----------+\n",
    "$db = new PDO('mysql:host=db', 'shop', '{P}');",
    'session.auth = ("kai", "{P}")',
    'password := []byte("{P}")',
    "BASIC_AUTH=preview:{P}",
    '{"ssid": "Depot", "key": "{P}"}',
]

PINS = [
    "PIN for the alarm is 4821",
    "현관 비번 4821*",
    "현관 비밀번호 482193",
    "暗証番号は4821",
    "开机密码 482193",
    "도어락 비번은 4821#",
    "PIN: 482193",
    'vault passphrase: "correct horse battery staple"',
    "비밀번호: 1q2w3e4r",
    "password: qwer1234",
    "비번은 admin123",
]

ALLOW = [
    "The password is required for login.",
    "Password reset link expires in 24h",
    "passwords are hashed with bcrypt",
    "비밀번호는 8자 이상 20자 이하",
    "비밀번호 찾기 기능을 2차에서 구현",
    "password field: input[type=password]",
    "패스워드 정책 v2 적용",
    "パスワードは8文字以上",
    "パスワードリセット機能を実装",
    "密码长度至少8位",
    "密码重置流程见 docs/reset.md",
    "const password = getPassword()",
    "password: str = Field(min_length=8)",
    "if password == user.password:",
    "pass the token to fn2()",
    "pass/fail 3/5",
    "tests pass: 120, fail: 3",
    "PIN code input component v2",
    "pin the version to 1.2.3",
    'pin: "==1.2.3"',
    "password_hash = hash(pw)",
    "비밀번호 변경 주기 90일",
    "암호화는 AES-256-GCM 을 쓴다",
    "암호: AES256",
    "password manager: 1Password",
    "password=***",
    "PASSWORD=<your-password>",
    "password: [REDACTED]",
    "비밀번호: (금고 참고)",
    "비번은 1Password에 있음",
    "비번은 팀 금고(Bitwarden)에 있다",
    "密码在1Password里",
    "パスワードは1Passwordに保存",
    "set PASSWORD via env, see README.md#auth2",
    "pwd: /home/user1/project2",
    "pwd = os.getcwd()",
    "Password length 12+",
    "password policy: min 12 chars, 1 digit",
    "Passwordless login via WebAuthn L3",
    "the password is stored as SHA-256",
    "2FA 비밀번호 앱",
    "암호문은 256비트",
    "pass rate: 97.5%",
    "pass@1: 45.2%",
    "pass@10 = 0.83",
    "PW test (Playwright v1.4)",
    "pass: v1.2.3",
    "비밀번호 5회 오류 시 잠금",
    "password attempts: 5",
    "패스워드 만료일: 2026-05-01",
    "密码错误5次锁定",
    "PASSWORD_MIN_LENGTH=12",
    "비밀번호는 SHA256 해시로 저장",
    "default password `changeme`",
    "password prompt appears at 10:30",
    "암호 알고리즘은 ChaCha20 이다",
    "passphrase-less keys (ed25519)",
    "비번 바꾼 날: 2026-02-03",
    "ssh key passphrase: none",
    "https://user@host/path:8080",
    "Use admin/ops2 group",
    "see src/Auth2.py / tests/Auth2_test.py",
    "docs at /login?next=/home2",
    "비밀번호 재설정 링크: https://acme.io/reset?id=12",
    "password => required|min:8",
    "パスワード: 8桁以上",
    "- [x] password: use argon2id (t=3)",
    "SELECT password FROM users WHERE id=1",
    'password input has aria-label="Password2"',
    "비밀번호: 8~20자",
    "비밀번호는 영문+숫자 8자",
    "密码：8-20位",
    'password: "min:8|max:20"',
    "test_password_reset_v2 fails",
    "pw-test2.spec.ts",
    "id/pw 찾기 기능",
    "PW-123 티켓",
    "pass/fail",
    "ID/PW 로그인 방식을 OAuth2로 바꾼다",
    "password/username fields",
    "pass - 3 of 5",
    "PASS=1 FAIL=0",
    "wifi: 5G / 2.4G",
    "user=root;host=10.0.0.1:3306",
    "-p 8080:80",
    "psexec -p is needed",
    "비밀번호/아이디 입력란",
    "enable password recovery",
    "계정(master/slave)",
    "snmp v2c",
    "Server=x;Uid=sa;Pwd=;",
    "passwd -l user1",
    "passwd: all authentication tokens updated successfully.",
    "/etc/passwd 파일",
    "test -p /tmp/fifo1",
    "pw/v1.2.3",
    "https://h/a?password=&x=1",
    "password: ${DB_PASSWORD2}",
    "passwd: x:1000:1000::/home/app1:/bin/bash",
    "LED_PIN: 0x2f",
    "密码规则: ^(?=.*\\d)[a-zA-Z\\d]{8,}$",
    "postgres://postgres:postgres@localhost:5432/test",
    "net user guest /active:no",
    "- name: Login to Azure\n  uses: azure/login@v1",
    "the device identified by event-id",
    "pin to `requests<2.28`",
    "pass `--security-revert=CVE-2024-27980` to node",
    "使用密码将一个目录加密为`archive.gpg`",
    "fe80::1 and 2606:2800:21f:cb07:6820:80da:af6b:8b2c",
    "Changed the password policy from 90 days to 180 days.",
    "Moved the password from env to vault.",
    "What is the password policy?\nversion: 2.1.0",
    "Enter the password:\nport: 543210",
    "id,password,name\n1,hidden,Kim\n",
    "비밀번호: SHA256해시",
    "비밀번호는 OAuth2인증 뒤에 묻는다",
    "비밀번호는 영문8자이상20자이하",
    "INSERT INTO t (a, password) VALUES ($1, crypt($2, gen_salt('bf')));",
    'echo "$PASSWORD" | sudo -S ls',
    "use the passphrase based key derivation function",
    "with the passphrase protected openssh identity files",
    "login: see fix/login-form-44",
    "Use `minimax/MiniMax-M2*` after login",
    "The password form is tracked in acme/web#4412 since release@v2.1.0.",
    "The password reset went from 12.5% to 9.1% of tickets*",
    "password mails go out from no.reply7@acme-mail.io",
    "requirepass foobared",
    "PUK is asked for after 3 wrong tries",
    "mysql -u root -pDB_PASSWORD shop",
    "mosquitto_pub -u sensor -P MQTT_PASSWORD -t t/1",
    "redis-cli -a REDISPW ping",
    "function scrypt(password: Uint8Array, salt: Uint8Array): void",
    "`password` options to pass to the [qs.parse](https://github.com/ljharb/qs#parsing-objects)",
    "* [Cannot have a password](https://url.spec.whatwg.org/#cannot-have-a-password-port1)",
    "Add support for `password_force_change` ([#1376](https://example.com/pull/1376))",
    "! enable password and/or key",
    "https://abc:xyz@example.com",
    "the pass is closed until May",
    "user  password  role\nkai   hidden    admin\n",
    "the deploy key is MD5:60:54:3b:65:fe:3f:0b:7b:73:46:4e:fc:cb:af:a4:42",
]


def found(text: str) -> list[str]:
    return [text[match.start : match.end] for match in load("passwords")(Text(text))]


@pytest.mark.parametrize("form", FLAG)
def test_a_password_in_a_note_is_found_and_nothing_of_it_shown(form: str) -> None:
    for password in CHOSEN:
        text = form.replace("{P}", password)
        matches = list(load("passwords")(Text(text)))
        assert matches, text
        assert any(password.rstrip("!") in text[m.start : m.end] for m in matches), text
        assert all(m.mask == MASK and m.secret and password not in m.message for m in matches)


@pytest.mark.parametrize("form", [form for form in FLAG if normalize("NFD", form) != form])
def test_a_password_in_a_decomposed_text_is_found_as_in_a_composed_one(form: str) -> None:
    """macOS writes NFD: the words of the rules are composed."""
    text = normalize("NFD", form.replace("{P}", CHOSEN[0]))
    assert any(CHOSEN[0] in value for value in found(text)), text


@pytest.mark.parametrize("text", PINS)
def test_a_pin_or_a_phrase_is_found(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize("text", ALLOW)
def test_a_sentence_about_passwords_passes(text: str) -> None:
    assert found(text) == []


def test_a_password_split_from_its_word_by_invisible_characters_is_found_at_its_place() -> None:
    text = f"비번은 {CHOSEN[0][:4]}{chr(0x200B)}{CHOSEN[0][4:]} 이다"
    assert found(text) == [f"{CHOSEN[0][:4]}{chr(0x200B)}{CHOSEN[0][4:]}"]


@pytest.mark.parametrize("value", ["-ZepV7Rh&22", "^Zep9!kk2RhQ", "--Zep9!kk2Rh"])
def test_a_password_that_begins_like_an_option_or_an_expression_is_found(value: str) -> None:
    assert found(f"password: {value}") == [value] and found(f"운영 DB 비번은 {value}") == [value]


@pytest.mark.parametrize(
    "value", ["--from-literal=x9Y", "-p", "--no-prompt", "-Dkey.store=Zep9", "^[a-z0-9]{8,}$", "keys/Db_2024.kdbx"]
)
def test_an_option_an_expression_and_a_file_are_no_password(value: str) -> None:
    assert found(f"password: {value}") == []


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("비밀번호: ", "소나기" + "2996@", ""),
        ("사내 위키 비번은 ", "감자전" + "1077@", " 입니다"),
        ("root 비번 ", "도토리" + "Drizzle92", "로 설정함"),
        ("password = ", "Juniper" + "무지개!191", ""),
        ("パスワードは「", "うみねこ" + "8963!", "」にしました"),
        ("Unlock it with the passphrase ", "thistle harbor " + "cobalt orchid", " and mount it."),
        ("| 계정 | 비밀번호 |\n|---|---|\n| viewer | ", "ember590" + "Lantern*", " |"),
        ("POST user=kai&password=", "ember-pebble" + "-83", "&client_id=web"),
        ("ALTER ROLE app WITH LOGIN PASSWORD '", "nickel-harbor" + "-42", "';"),
        ("login: kensho / ", "raven-lantern" + "-44", ""),
        ("NAS: (backup / ", "meadow471" + "Cedar*", ")"),
        ("Use ", "R4v3n^" + "uww6", " when it asks for a password."),
        ("비번은 그대로 ", "Thistle" + "!193", " 쓰면 됨"),
        ("password hint: none; it is the usual password, it's ", "m1LTMR*$" + "r$zMle5", "."),
        ("For the demo log in with password ", "badger-cobalt" + "-04", "."),
        ("SIM PIN ", "40" + "20", ", activated"),
        ("PUK ", "6882" + "9732", " is on the card"),
        ("비번이 뭐였죠?\nA. ", "badger-tundra" + "-57", " 입니다"),
    ],
)
def test_of_a_line_with_a_password_its_value_alone_is_the_find(before: str, value: str, after: str) -> None:
    assert found(before + value + after) == [value]


def test_every_password_that_a_line_lists_is_found() -> None:
    first, second = "3u7jl1tJ" + "&H", "thistle817" + "Raven*"
    assert found(f"Passwords: staging {first}, prod {second}") == [first, second]


def test_both_passwords_of_a_change_are_found() -> None:
    old, new = "nfky" + "7108!", "saffron231" + "Panther@"
    assert found(f"Rotated the backup password from {old} to {new} today.") == [old, new]
    assert found(f"비밀번호 {old} → {new} 변경 완료") == [old, new]


WORD_AND_NUMBER = "Otter" + "Pond55"
COMMANDS = [
    "sshpass -p 'Marble{}' ssh root@h", "mysql -uroot -p{} jobs", 'mysql -u app -p"{} x" shop', "7z x drop.7z -p{}", "curl -u ops:{} https://ci.lan",
    "curl --user 'ops:{} 12' https://ci.lan", "http -a ops:{} GET ci.lan", "oc login -u kubeadmin -p {}", "docker login reg.lan -u ci -p {}",
    "az login --service-principal -u a -p {}", "mongosh -u root -p {} admin", "sqlcmd -S s -U sa -P {} -Q x", "rabbitmqctl add_user worker {}",
    "rabbitmqadmin -u worker -p {} list", "htpasswd -bc f audit {}", "smbclient //nas/s -U scan%{}", "lftp -u bot,{} sftp://d", "sqlplus scott/{}@orcl",
    "snmpwalk -v3 -u mon -A {} -l authPriv sw1", "snmpwalk -v2c -c {} sw1", "openssl pkcs12 -in a -passin pass:{}", "echo {} | sudo -S apt upgrade",
    "echo 'ops:{}' | chpasswd", r'echo -e "{}\n{}" | passwd ops', "plink -pw {} h", "steamcmd +login steve {} +quit", "xfreerdp /v:w /p:{}", "requests.get(u, auth=('ops', '{}'))",
    "conn app/{}@//db:1521/ORCL", "ORA_CONN=app/{}@//db:1521/ORCL", "접속 문자열은 app/{}@//db.acme.example:1521/ORCL 이다",
    'oracledb.connect("app/{}@db:1521/ORCL")', "connect app/{}@(DESCRIPTION=(ADDRESS=(PROTOCOL=TCP)(HOST=db)(PORT=1521)))", "impdp hr/{}@prod",
    "expdp hr/{}@prod full=y", "rman target sys/{}@ORCL", "isql -v prod app {}", "CREATE USER app IDENTIFIED BY {};",
    "ALTER USER app IDENTIFIED BY {} REPLACE old", "hdbsql -u SYSTEM -p {}", "beeline -u jdbc:hive2://h -n app -p {}", "tool-of-ours --user ops -p {}",
    "twine upload -u bot -p {} dist/*", "poetry config http-basic.acme bot {}", 'BUNDLE_GEMS__ACME__EXAMPLE: "bot:{}"',
    "bundle config set --global gems.acme.example bot:{}", 'user = "bot:{}"', 'Credentials("Artifactory Realm", "r.acme.example", "bot", "{}")',
    "dotnet nuget add source https://r.acme.example -u bot -p {} --store-password-in-clear-text",
    "ssh-keygen -N {} -f id", "restic init --password-command 'echo {}'", "mysqldump \\\n  -h db2 -p{} shop", "curl \\\n  -X POST \\\n  -u ops:{} \\\n  https://ci.lan",
]  # fmt: skip


@pytest.mark.parametrize("form", COMMANDS)
def test_a_password_on_a_command_line_is_found(form: str) -> None:
    assert any(WORD_AND_NUMBER in value for value in found(form.replace("{}", WORD_AND_NUMBER)))


@pytest.mark.parametrize(
    "text",
    [
        "sshpass -p `pass show db3` ssh root@db3",
        'sshpass -p "$S_PASS" scp a b',
        "mysql -u root -p shop",
        "sqlplus scott/tiger@ORCL is the sample schema of the manual",
        "docker run -u 1000 -p 8080:80 -p 127.0.0.1:9090:90 web",
        "pytest -n auto -p no:cacheprovider",
        "sudo -u postgres -p 5433 psql",
        "ssh -l ops -p 2222 host",
        "CREATE USER app IDENTIFIED BY VALUES 'x'",
        "CREATE USER app IDENTIFIED BY <password>;",
        "users are identified by user_id2 in the table",
        "isql is the tool of unixODBC",
        'user: "1000:1000"',
        "pull org/image2@sha256:0123/x and app/config@v2",
        "connect team/channel@slack for help",
        "mail ops/dev2@acme.example:587",
        "unzip -p report2031.zip data.csv",
        "oc login -p 6443",
        "az aks create -g rg1 -p kubernetes1.29",
        "docker run -p 127.0.0.1:5432:5432 postgres:16",
        "docker login -u ci -p ${{ secrets.REG }} ghcr.io",
        "sqlcmd -S s -E -p 1",
        'ssh-keygen -t ed25519 -N "" -f id_a',
        "steamcmd +login anonymous +force_install_dir ./x +app_update 740",
        "steamcmd +login steve +quit2",
        "plink -pw PASSWORD_FILE host",
        "ssh-keygen -t ed25519 -P passphrase-from-vault",
        'smbclient //nas/s -U scan%"$PW"',
        "snmpwalk -v2c -c public sw1",
        "python evilarc.py shell.php -o unix -f shell.zip -p var/www/html/ -d 15",
        "docker login -p 'type your own password'",
        'grep -rn "password" src/LoginForm2.tsx',
        "What password does the test use?\n`PASSWORD1_VAR`",
        "Login / SignUpPage22 are the two pages",
        "Which password manager do we use? 1Password7",
        "Do we rotate the password? Quarterly-Q3",
        "# Reviews\nDo we rotate the password? Quarterly-Q3",
        "How often do we rotate the password? Quarterly-Q3",
        "Password field? UserCredentialV2",
        "What's the wifi password policy? WPA3-Enterprise",
        "| case | pass | fail |\n|---|---|---|\n| Login2Form | 1024 | 3 |",
    ],
)
def test_a_command_without_a_password_passes(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "form",
    [
        "## Password\n\n{}",
        "**Password:**\n\n{}",
        "Password for the archive? — {}",
        "What is the wifi password? it's {}",
        "Which password opens the archive? {}",
        "Do you know the password? {}",
        "How does one sign in, what's the password? {}",
        "공유기 비밀번호가 뭐야? {}",
        "Le mot de passe du NAS est {}.",
        "La contraseña del router es {}.",
        "Het wachtwoord van de printer: {}",
        "The jump host takes user jmp, pass {}.",
        "Use the shared login (guestdesk / {}).",
        "ログイン情報は ops / {}",
        "ログイン：kanri ／ {}",
        "**Q:** what is the password for the build box?\n**A:** {}",
        "| svc | login | pass |\n|---|---|---|\n| ci | ops | {} |",
    ],
)
def test_a_password_that_is_answered_or_told_is_found(form: str) -> None:
    assert found(form.replace("{}", WORD_AND_NUMBER)) == [WORD_AND_NUMBER]


def test_the_pin_of_a_voicemail_is_found() -> None:
    assert found("voicemail PIN 90417") == ["90417"]


def test_a_code_that_answers_a_question_on_the_next_line_is_found() -> None:
    assert found("dana: whats the pin for the office safe\nrob: 904172") == ["904172"]
    assert found("What is the door code?\n9041#") == ["9041#"]
    assert found("new door code\n2024 was a good year") == []


@pytest.mark.parametrize(
    ("before", "password", "after"),
    [
        ('db_password: "', "Tr{ee}top" + "9!vB", '"'),
        ("db-01:5432:*:app:", "*secret" + "9X!", ""),
        ("postgres://svc:", "abc", "@db.int/x"),
        ("mysql -p", "DB_PASSWORD" + "9", ""),
        ("The NAS password is ", "WALNUT-TANGO-7" + chr(0x200D) + "7", " now."),
        ("password is ", "copper-ladder-4" + chr(0xAD) + "2", ""),
        ("password: ", "Lantern.Fish" + chr(0xAD) + "Kettle", ""),
    ],
)
def test_the_whole_password_is_found_whatever_signs_stand_in_it(before: str, password: str, after: str) -> None:
    text = before + password + after
    assert [text[match.start : match.end] for match in load("passwords")(Text(text))] == [password]


def test_the_settings_of_a_shell_and_a_variable_in_braces_are_no_password() -> None:
    for text in (
        "zstyle ':completion:*:8080:ssh:*:hosts' hosts",
        "zstyle 'a:*:*:kill:*:jobs'",
        'password: "{db_pass}"',
    ):
        assert list(load("passwords")(Text(text))) == []


@pytest.mark.parametrize(
    "text",
    [
        "The [1Password CLI](https://developer.example.com/docs/cli/get-started/2) must be installed.",
        "[Cannot have a username/password/port](https://url.spec.example.org/#cannot-have-2): `cannotHaveAPort(urlRecord)`",
        "proxy: socks5://<user>:<password>@proxy-host:1080",
        "docker run -e POSTGRES_PASSWORD=mysecretpassword %%IMAGE%%:15-alpine",
        "docker run -e SERVER=some-mongo -p 8081:8081 mongo-express",
        "docker run --name mongo -p 127.0.0.1:27017:27017 mongo",
        "cvs://:pserver:anoncvs@sources.example.com:/cvs/src",
        "비밀번호: Vault/prod-2 참고",
        "パスワード: Vault/prod-2を参照",
        "2 of 3 trials pass → pass@3 is 96 %, pass^3 30 %",
        "- [1Password Integration](#1password-integration)",
        'pw_browser = await pw.chromium.connect_over_cdp("http://localhost:9222")',
        'You need a passphrase to unlock the secret key for user: "Ada (http://example.com) <ada@example.com>"',
        "axios reads https://user:p%40ss@host and p%2Fss@host decoded",
        "POSTGRES_URL=postgres://shop:shop@localhost:5433/shop",
    ],
)
def test_links_ports_places_and_public_passwords_pass(text: str) -> None:
    assert found(text) == []


def test_a_password_that_manuals_show_warns_and_one_that_looks_like_it_blocks() -> None:
    for text in ('set_password("topS3cr3tP4$$w0rd")', "password: '123456'", "password=Password123!"):
        assert [match.severity.value for match in load("passwords")(Text(text))] == ["warn"]
    for text in ("password: '1234567x'", "password=Passw0rdSpring23!", "postgres://shop:" + "shop@db.prod.example/a"):
        assert [match.severity.value for match in load("passwords")(Text(text))] == ["block"]


@pytest.mark.parametrize(
    ("before", "value"),
    [("비밀번호: ", "Kd/prod-29!x"), ("mongo -u app -p ", "80b:8081x"), ("password=", "@proxy-h0st!")],
)
def test_passwords_that_look_much_like_these_are_found(before: str, value: str) -> None:
    assert found(before + value) == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NAS 비밀번호는 Zt7/kLp9! 을 확인", "Zt7/kLp9!"),
        ("DB 비밀번호: Kx9/vQ2!mZ 참고", "Kx9/vQ2!mZ"),
        ("パスワード: Kx9/vQ2!mZ を参照", "Kx9/vQ2!mZ"),
        ("db_password = @Kx9vQ2:8080", "@Kx9vQ2:8080"),
        ("password: R7](.kx!Z2#q", "R7](.kx!Z2#q"),
        ("postgres://svc:Kx9vQ2mZ:guest@db.int/x", "Kx9vQ2mZ:guest"),
    ],
)
def test_a_password_that_looks_like_a_place_is_found_whole(text: str, value: str) -> None:
    assert value in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "| AC-001 | PASS | `go test ./hook/ -run TestAC001_Skips` | `--- PASS: TestAC001_GoalAbsentSkipsBinary (0.33s)` |",
        "- Must-Pass: MP-1 PASS (REQ-HEP-001~013)",
        "- **Test suite**: Vitest tests pass: `LocalPlatformClient` (8)",
        "| Name | Type |\n|---|---|\n| Password1! | Int32? |",
        "| password | Yes* | Snowflake password |",
        "| Source | AWS profiles, 1Password | 1Password |",
        "DATABASE_URL=postgresql://plane:plane@${MYIP}:15432/plane",
        "(?i)(password|secret|token)\\s*[=:]\\s*['\"][^'\"]{8,}['\"]",
        "로그인 검증은 [docs/ARCHITECTURE.md §10](docs/ARCHITECTURE.md#10-검증-워크플로).",
        "- [ ] I have updated the docs (login needed): grafana/k6-docs#NUMBER if applicable",
    ],
)
def test_verdicts_of_tests_types_and_flags_are_no_passwords(text: str) -> None:
    assert [text[m.start : m.end] for m in load("passwords")(Text(text))] in ([], ["Password1!"])


@pytest.mark.parametrize("text", ["admin pass: Kestrel-88!", "user: kim pass: 7yGhq2Lw", "The pass is Kestrel-88!"])
def test_a_pass_that_is_told_is_a_password(text: str) -> None:
    assert list(load("passwords")(Text(text)))


@pytest.mark.parametrize("value", ["Hunter2!9xk", "0FatDogs", "wq8#Lmp42z"])
@pytest.mark.parametrize("form", ["admin@corp.io:{}", "roger@example.co / {}", "계정은 ops@corp.io / {}"])
def test_a_password_beside_an_address_of_mail_is_found(form: str, value: str) -> None:
    assert any(each.startswith(value) for each in found(form.format(value)))


@pytest.mark.parametrize(
    "text",
    [
        "bob@corp.io / Team2024",
        "git@github.com:Acme/Repo2024",
        "bob@corp.io:8080",
        "a@corp.io / b@corp.io",
        "bob@corp.io / 2024-11-24",
    ],
)
def test_what_else_stands_beside_an_address_of_mail_passes(text: str) -> None:
    assert found(text) == []
