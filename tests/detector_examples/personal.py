"""Invented personal data for the examples of the rules, check digits computed here: no number of a person stands
in this source."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from gitmem.gate.detectors.personal import check_digits
from gitmem.gate.detectors.text import Examples


def _ending(body: str, right: Callable[[str], bool]) -> str:
    """`body` with the check digit that `right` accepts."""
    return next(body + digit for digit in "0123456789" if right(body + digit))


@cache
def personal_examples() -> dict[str, Examples]:
    """Examples of every rule of the personal data detector, their check digits computed here."""
    resident = _ending("900101" + "123456", check_digits.resident_number)
    business = _ending("123456780", check_digits.business_number)
    card = _ending("453201511283036", check_digits.luhn)
    iban = next(f"DE{n:02d}482910384729103847" for n in range(98) if check_digits.iban(f"DE{n:02d}482910384729103847"))
    chinese = next(f"11010519900307{n:03d}X" for n in range(1000) if check_digits.chinese_id(f"11010519900307{n:03d}X"))
    person, home = "minji.kim" + "@" + "naver.com", "010-" + "2745-" + "8190"
    return {
        "email": Examples(flag=(f"Ask {person} first.", f"담당자는 {person}이다"),
                          allow=("Write to you@example.com.", "저장소는 git@github.com:acme/notes.git 이다", "install left-pad@1.2.3")),
        "phone-number": Examples(flag=(f"Call {home} at night.", f"당직 연락처는 {home}이다", "Phone: +1 415 " + "867 2309", f'"sender_id": "+44{home[1:4]}9{home[-6:]}"'),
                                 allow=("Port 8080 and id 1234-5678.", "버전 2.10.1-2024 를 쓴다", "build 20260205-1130", "+1769904000000 is in the patch", "offset +202602051130")),
        "resident-number": Examples(flag=(f"id {resident[:6]}-{resident[6:]}", f"주민번호 {resident}"),
                                    allow=("id 900101-1111111", "주민번호는 적지 않는다", "epoch 1770000000000")),
        "business-number": Examples(flag=(f"BRN {business[:3]}-{business[3:5]}-{business[5:]}", f"사업자등록번호 {business}"),
                                    allow=("123-45-67890 is made up", "사업자번호는 적지 않는다")),
        "card-number": Examples(flag=(f"{card[:4]} {card[4:8]} {card[8:12]} {card[12:]}", f"카드 {card}"),
                                allow=("4242 4242 4242 4242 is the test card", "카드 번호는 4111-****-****-1111 형태로만 남긴다")),
        "iban": Examples(flag=(f"Pay to {iban}.", f"계좌는 {iban[:4]} {iban[4:8]} {iban[8:12]} {iban[12:16]} {iban[16:20]} {iban[20:]}"
            f" 이다"),
                         allow=("DE00370400440532013000 is wrong", "형식은 DE00 1234 이다")),
        "national-id": Examples(flag=("His SSN is 219-" + "09-" + "9631.", "SSN of Mary is 219-" + "09-" + "9631", "Mary Jones, her SSN: 219" + "099631",
                                      "social security number of Mary Jones: 219 " + "09 " + "9631", f"身份证 {chinese}", f"BSN {_ending('12345600', check_digits.dutch)}",
                                      f"Steuer-ID {_ending('1234567893', check_digits.german_tax)}", f"マイナンバー {_ending('12345678901', check_digits.my_number)}",
                                      f"NHS number {_ending('401023213', check_digits.british_health)}"),
                                allow=("Order 219-09-9631 shipped.", "身份证号不写在这里", "BSN 123456789 has a wrong check digit", "The Steuer-ID has eleven digits.",
                                       "SSN 123-45-6789 is the sample", "SSN 123456789 is the sample", "The SSN service handled 219099631 requests", "ssn : 111-22-3333", "マイナンバーは保存しない")),
        "bank-account": Examples(flag=("Bank account 110-" + "234-" + "567890", "계좌 110-" + "234-" + "567890 으로 송금", "카카오뱅크 3333-04-" + "8291755 예금주 박철수",
                                       "みずほ銀行 渋谷支店 普通 48291" + "03", "sort code 20-32-06, account number 538" + "49201", "Kontonummer 4829103" + "847, BLZ 37040044"),
                                 allow=("Ticket 110-234-567890 closed", "계좌 번호는 적지 않는다", "account number format: 8 digits, sort code 6 digits", "口座番号は7桁の数字です",
                                        "우리은행 API 2031-03-12 점검")),
        "identity-document": Examples(flag=("passport no. 533401" + "372", "여권번호 M123A4" + "567", "Führerschein-Nr. B072RRE" + "2I55", "旅券番号 TK3829" + "104", "护照号码:EA3829" + "104",
                                            "driver's licence number: B553" + "2901", "건강보험증 번호 80392" + "817465"),
                                      allow=("passport 0.7.0 handles OAuth", "passport.js and passport-local2 0.1.1", "여권 정보는 저장하지 않는다", "Driver version 535.104.05", "護照號碼不存")),
        "security-answer": Examples(flag=("Mother's maiden name: Thornbury", 'Security answer for "first pet" is Biscuit', "Security question: What was your first pet? A: Biscuit",
                                          "보안 질문의 답은 두부", "秘密の質問の答えは「西園」", "密保问题：母亲的姓名，答案：王丽华"),
                                    allow=("Security question: what is your mother's maiden name?", "Mother's maiden name: stored hashed", "보안 질문 답변: 필수 입력",
                                           "秘密の質問の答えは暗号化して保存する", "We dropped the first pet question.")),
        "birth-date": Examples(flag=("date of birth: 1979-11-30", "생년월일 1984년 3월 12일", "born 12 March 1984", "田中花子 生年月日 昭和59年3月12日", "geboren am 12.03.1984"),
                               allow=("Released 2031-03-12 by the release bot.", "생일 축하 알림 기능", "The project was born in 2019.", "born on a rainy day 3 years ago")),
        "health": Examples(flag=("Tom Becker was diagnosed with type 2 diabetes in March", "박철수 씨는 작년에 우울증 진단을 받았다", "佐藤太郎さんは昨年うつ病と診断された",
                                 "李娜怀孕三个月", "김민수는 당뇨병이 있다", "민수는 우울증 약을 먹는다", "Alan has epilepsy, keep flashing demos away"),
                           allow=("Depression of the spring is 4 mm under load.", "The service is healthy.", "우울증 앱은 의료로 분류한다", "운동은 당뇨병 예방에 좋다", "사용자는 당뇨병이 있다고 답한다", "모델은 치매 진단에 쓰인다", "We support diabetes apps.", "糖尿病のアプリ")),
        "postal-address": Examples(flag=("Ship it to 221 Maple Street.", "집은 서울특별시 강남구 테헤란로 152", "送付先は東京都千代田区丸の内1-9-1", "住在北京市朝阳区建国路93号",
                                         "Jens wohnt in der Lindenstraße 48, 10969 Berlin", "17 rue des Lilas, 75020 Paris", "Lindegracht 48, 1015 KK Amsterdam",
                                         "집 주소: 행복마을 3단지 102동 1203호", "住所はグリーンハイツ203号室", "我家在阳光花园3号楼2单元501室",
                                         "Home address: Rose Cottage, Lower Slaughter GL54 2HP", "Ship it to P.O. Box 4711, Springfield", "Ann lives at Flat 3, Rose Cottage"),
                                   allow=("Run 12 Parallel Drive tests", "서울 리전의 로그 152 건", "東京リージョンを使う", "회의실 101동 502호 점검", "Part Number A1 2BC")),
    }  # fmt: skip
