"""Passwords as people write them down, and the sentences about passwords that hold none."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors import Text, load
from gitmem.gate.detectors.secrets.passwords import MASK

CHOSEN = ["Gro" + "Vbq#19", "kimchi" + "2024!", "Tr0ub4" + "dor&3"]  # split: no password stands in this file

FLAG = [
    "login: admin pw: {P}",
    "Admin creds: admin / {P}",
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
