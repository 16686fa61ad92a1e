"""Finds personal data without a number of its own: the health of a person, a date of birth, an address in Europe.

Decides by words and their place, and so only warns. A word for an illness counts only in a sentence with a person: a
title, a name before a verb, or a possessive pronoun.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from gitmem.gate.detectors.prefilter import CJK, has_byte, places, present
from gitmem.lazy_patterns import lazy

_ILLNESS = (
    "diabet", "depress", "bipolar", "hiv", "epilep", "cancer", "pregnan", "miscarr", "schizo", "autis", "adhd", "multiple sclerosis",
    "multiple sklerose", "asthma", "hepatitis", "lithium", "warfarin", "insulin", "chemo", "blood type", "dementia", "alzheimer",
    "parkinson", "ptsd", "anorexia", "crohn", "tumor", "tumour", "leukemia", "leukaemia", "migraine", "schwanger", "krebs", "enceinte",
    "embaraz", "zwanger", "antidepress", "hypertens", "stroke", "surgery", "diagnosed",
)  # fmt: skip
_CONDITION = (
    r"(?P<health>(?i:(?:type [12] )?diabet\w*|depression|antidepressants?|bipolar(?: disorder)?|hiv(?:[- ]positive)?|epileps\w*|epileptic"
    r"|(?:breast |lung |prostate |skin )?cancer|pregnan(?:t|cy)|miscarriage|schizophreni\w*|autis(?:m|tic)|adhd|multiple s[ck]leros[ei]s?"
    r"|asthma|hepatitis(?: [abc])?|lithium|warfarin|insulin|chemo(?:therapy)?|blood type [abo]{1,2}[+-]?|blood type is [abo]{1,2}[+-]?|dementia"
    r"|alzheimer\w*|parkinson\w*|ptsd|anorexia|crohn\w*|tumou?r|leuka?emia|migraines?|schwanger|krebs|enceinte|embarazada|zwanger"
    r"|hypertension|(?:had |a )stroke|(?:heart|knee|back|hip) surgery))"
)
_CALLED = (
    r"(?:(?:Mr|Mrs|Ms|Dr|Herr|Frau|Señora?|Mme|patient|Patient):?\.? )?[A-Z][a-zà-ÿ]{1,15}(?: [A-Z][a-zà-ÿ]{1,20})?"
)
_PERSON = lazy(
    rf"(?:(?<![\w.])(?!(?:The|This|That|It|We|Our|Your|If|When|Each|Every|Any|All|Some|No|Use|An?|There|What|Which|Type|Data|Depression|Cancer)\b){_CALLED}"
    r"(?:'s [a-z]{3,10}|, (?:HIV|diabetic))?[, ]{1,2}(?:was |is |has |had |have |suffers? |takes? |told |got |hat |est |tiene |heeft |a |ist |está |lives with )?"
    rf"(?:[^\n.;!?]{{0,60}}?\b)?|(?<!\w)(?:my|his|her) (?:[a-z]{{2,12}} (?:has|had|is|was) )?(?:[a-z]{{2,12}} )?){_CONDITION}\b"
)
_VERB = lazy(
    r"\b(?:diagnos\w+|suffer\w*|has|had|have|is|was|takes?|told|on|with|patient|his|her|my|hat|est|tiene|heeft|ist|está|pregnant|positive)\b",
)
# Who is spoken of and what of: the second is looked for only where one of the first stands.
_ASIAN = (
    (("씨", "님", "환자", "군", "양", "은 ", "는 ", "이 ", "가 "), (
        "우울증", "당뇨", "임신", "혈액형", "고혈압", "암 ", "암이", "간염", "조현병", "공황", "치매", "천식", "뇌전증", "유산",
    )),
    (("さん", "様", "氏", "君", "患者"), (
        "うつ病", "糖尿病", "妊娠", "がん", "癌", "統合失調症", "認知症", "高血圧", "喘息", "てんかん", "血液型",
    )),
    (("患", "确诊", "去年", "今年", "个月", "最近", "有", "得了", "怀孕"), (
        "抑郁", "怀孕", "乙肝", "高血压", "肝炎", "艾滋", "哮喘", "癫痫", "糖尿病",
    )),
)  # fmt: skip
_CJK_PERSON = lazy(
    r"(?:[가-힣]{2,4} ?(?:씨|님|환자|군|양)(?:[은는이가의]|[^\n.!?]{0,2})[^\n.!?]{0,24}?|환자 ?[가-힣]{2,4}[^\n.!?]{0,16}?"
    r"|[一-龥ぁ-んァ-ヶ]{1,6}(?:さん|様|氏|君)[^\n。!?]{0,24}?|患者[:: ]?[一-龥]{2,4}[^\n。!?]{0,12}?"
    r"|(?<![一-龥])(?:[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾][一-龥]{1,2}?)(?:去年|今年|上个?月|最近|已经?|被|患有?|有|得了?|确诊|怀孕)[^\n。!?]{0,12}?)"
    r"(?P<health>우울증|당뇨병?|임신|혈액형 ?(?:AB|A|B|O)형?|고혈압|[가-힣]{0,3}암(?=[ 이을로])|간염|조현병|공황\s?장애|치매|천식|뇌전증|유산|うつ病|糖尿病|妊娠|がん|癌"
    r"|統合失調症|認知症|高血圧|喘息|てんかん|血液型[^\n]{0,3}型|抑郁症?|怀孕|乙肝(?:阳性)?|高血压|肝炎|艾滋病?|哮喘|癫痫|糖尿病)"
)
# A name without a title is one only before words of having it: 운동은 당뇨병에 좋다 names no person.
_KOREAN_SUBJECT = lazy(
    r"(?<![가-힣])(?!(?:사용자|이용자|환자|고객|회원|사람|직원|누구|우리|저희|본인|참가자|대상자?|응답자|서비스|데이터|모델|앱|증상|가족|노인|어린이|여성|남성|성인|일부|대부분|경우)들?[은는이가])"
    r"[가-힣]{2,4}[은는이가] (?:[가-힣]{1,6} ){0,2}?"
    r"(?P<health>우울증|당뇨병?|고혈압|간염|조현병|공황\s?장애|치매|천식|뇌전증|[가-힣]{0,3}암)"
    r"(?:[이가] ?있(?:다|음|어|습|으|고)|[을를]? ?앓|[을를으]?로? ?(?:진단|판정)[을를]? ?받|(?: ?치료)? ?약[을를]? ?(?:먹|복용)|[을를]? ?치료[를]? ?(?:받|중)| 환자[이다임])"
)
_CJK_FIRST = lazy(
    r"(?<![一-龥])[王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾][一-龥]{1,2}?(?P<health>怀孕)"
)

_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|janv|févr|mars|avr|mai|juin|juil|août|mär|okt|dez|ene|abr|ago|dic|mrt|mei|mart|gen)"
    r"[a-zéû]{0,8}\.?"
)
_YEAR = r"(?:19[2-9]\d|20[01]\d)"
_BORN = lazy(
    rf"(?:date of birth|birth ?date|dob|birthday|born(?: on)?|geboren(?: am| op)?|geburtsdatum|geboortedatum|née? le|date de naissance|fecha de nacimiento"
    rf"|nacid[oa] el|생년월일|생일|生年月日|出生日期|出生年月|生日)[^\n\d]{{0,16}}?"
    rf"(?P<date>{_YEAR}[-./]\d{{1,2}}[-./]\d{{1,2}}|\d{{1,2}}[-./]\d{{1,2}}[-./](?:{_YEAR}|\d\d(?!\d))|\d{{1,2}}\.? (?:de )?{_MONTH} (?:de )?{_YEAR}|{_MONTH} \d{{1,2}},? {_YEAR}"
    rf"|(?:{_YEAR}|[昭平]和?成?\d{{1,2}})\s?[년年]\s?\d{{1,2}}\s?[월月]\s?\d{{1,2}}\s?[일日])"
)
_BORN_HINTS = (
    "birth", "dob", "born", "geboren", "geboorte", "geburts", "née le", "né le", "naissance", "nacimiento", "nacid", "생년월일", "생일",
    "生年月日", "出生", "生日", "昭和", "平成",
)  # fmt: skip
_SIX_DIGITS = lazy(r"[가-힣]{2,4}[ (,]{1,2}(?P<date>\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))\s?생(?![가-힣])")

_PLACES = (
    (("straße", "strasse", "str. ", "weg ", "allee ", "platz ", "gasse "), lazy(
        r"\b[A-ZÄÖÜ][\wäöüß.-]{2,30}?(?:straße|strasse|str\.|weg|allee|platz|gasse) \d{1,4} ?[a-z]?,? \d{5} [A-ZÄÖÜ][a-zäöüß]{2,30}"
    )),
    (("rue ", "avenue ", "boulevard ", "chemin ", "impasse "), lazy(
        r"\b\d{1,4}(?: bis| ter)?,? (?:rue|avenue|boulevard|chemin|impasse|place) [^\n,\d]{2,40},? \d{5} [A-ZÀ-Ÿ][a-zà-ÿ-]{2,30}"
    )),
    (("straat ", "gracht ", "laan ", "plein ", "kade ", "weg "), lazy(
        r"\b[A-Z][a-z]{1,24}(?:straat|gracht|laan|plein|kade|weg) \d{1,4} ?[a-z]?,? \d{4} ?[A-Z]{2}\b(?: [A-Z][a-z]{2,20})?"
    )),
    (("calle ", "avenida ", "avda", "plaza ", "paseo "), lazy(
        r"\b(?:Calle|Avenida|Avda\.?|Plaza|Paseo) [^\n,\d]{2,40},? \d{1,4}[^\n\d]{0,12}\b\d{5} [A-ZÁ-Ú][a-zá-ú]{2,30}"
    )),
    ((" road", " street", " lane", " avenue", " close", " way", " drive", " court"), lazy(
        r"\b\d{1,4}[a-z]? [A-Z][a-z]{2,15}(?: [A-Z][a-z]{2,15}){0,2},? [^\n\d]{0,30}\b[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b"
    )),
)  # fmt: skip
_AROUND = 120  # characters of a sentence that are read around a word


def health(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """The spans of conditions that a text attributes to a person; `lowered`: the text in lower case."""
    searched_end = 0
    for offset in places(lowered, present(lowered, _ILLNESS)):
        if offset < searched_end:
            continue
        first = max(searched_end, lowered.rfind("\n", max(0, offset - _AROUND), offset) + 1, offset - _AROUND)
        match = _PERSON.search(text, first, offset + 30)
        if match is not None and _VERB.search(text, *match.span()):
            searched_end = match.end()
            yield match.span("health")
    if has_byte(text, CJK):
        yield from _asian_health(text)


def _asian_health(text: str) -> Iterator[tuple[int, int]]:
    """The spans of conditions in Chinese, Japanese and Korean, in order, that a text attributes to a person."""
    searched_end = 0
    words = [word for people, ills in _ASIAN if present(text, people) for word in present(text, ills)]
    for offset in places(text, tuple(dict.fromkeys(words))):
        if offset < searched_end:
            continue
        first = max(searched_end, text.rfind("\n", max(0, offset - 50), offset) + 1, offset - 34)
        match = _CJK_PERSON.search(text, first, offset + 16)
        if match is None:
            match = _KOREAN_SUBJECT.search(text, first, offset + 24)
        if match is None and text.startswith("怀孕", offset):
            match = _CJK_FIRST.search(text, first, offset + 2)
        if match is not None:
            searched_end = match.end()
            yield match.span("health")


def births(text: str, lowered: str, near: str) -> Iterator[tuple[int, int]]:
    """The spans of dates of birth, Korean ones of six digits last. `lowered`: the text in lower case. `near`: the part
    of `lowered` around numbers (`prefilter.numbered`)."""
    searched_end = 0
    for offset in places(lowered, present(near, _BORN_HINTS)):
        if offset < searched_end:
            continue
        match = _BORN.search(lowered, max(searched_end, offset - 10), offset + 60)
        if match is not None:
            searched_end = match.end()
            yield match.span("date")
    if "생" in near:
        for match in _SIX_DIGITS.finditer(text):
            yield match.span("date")


def addresses(text: str, lowered: str, near: str) -> Iterator[tuple[int, int]]:
    """The spans of addresses with a postal code in Germany, France, the Netherlands, Spain and Britain. They come by
    country and may overlap. `lowered`: the text in lower case. `near`: the part of `lowered` around numbers
    (`prefilter.numbered`)."""
    for words, pattern in _PLACES:
        for offset in _spread(places(lowered, present(near, words))):
            match = pattern.search(text, max(0, offset - 60), offset + 90)
            if match is not None:
                yield match.span()


def _spread(positions: list[int]) -> Iterator[int]:
    """The places without those less than 40 characters after the last one that is kept, since both would be read
    together."""
    index = 0
    while index < len(positions):
        yield positions[index]
        index = bisect_left(positions, positions[index] + 40)
