"""What says that a person has an illness or an allergy, takes a medicine or keeps to a diet, in five languages. Data
only.

Such a statement is always proposed, pinned: whoever does not know it can do harm. Each pattern needs the words that say
it of somebody ("is allergic to", "알레르기가 있음"): an article about allergies is none.
"""

from __future__ import annotations

import re

_ILLNESS = r"""(?:asthma\w*|diabet\w+|epilep\w+|hypertension|high\ blood\ pressure|h(?:a)?emophilia|c(?:o)?eliac\w*|crohn\W?s|arthritis
    |migraines?|a\ pacemaker|a\ heart\ condition|anaphyla\w+|lactose\ intoleran\w+|gluten\ intoleran\w+|an?\ (?:\w+\ ){0,2}allerg(?:y|ies)
    |(?:\w+\ ){1,3}allerg(?:y|ies))"""
_MEDICINE = r"""(?:insulin|warfarin|metformin|statins?|blood\ thinners?|anticoagulants?|antidepressants?|beta\ blockers?|lithium
    |levothyroxine|ibuprofen|aspirin|penicillin|\w+\ \d+\s?(?:mg|mcg|ml))"""
_WORD = r"(?<![가-힣])"  # a Korean word begins here: 천식 is an illness, but not within the name 김천식
# What an allergy, an illness, a medicine or a diet is stated with.
STATES_HEALTH = re.compile(
    rf"""\b(?:is|am|are|being|'m|'s|'re|’m|’s)\s+(?:\w+ly\s+|very\s+|also\s+)?(?:allergic|vegan|vegetarian|pescatarian|c(?:o)?eliac|diabetic|asthmatic
        |epileptic|pregnant|(?:lactose|gluten)[-\ ]intolerant|on\ {_MEDICINE})\b
    |\b(?:has|have|having|got|suffers?\ from|diagnosed\ with|lives?\ with)\s+{_ILLNESS}
    |\ballergic\ to\b | \ballerg(?:y|ies)\s*[:：] | \b(?:takes?|taking|injects?)\s+{_MEDICINE}
    |\b(?:can(?:no|')t|must\ not|doesn't|does\ not|don't|do\ not|never)\s+eats?\s+\w+ | \bkeeps?\ (?:kosher|halal)\b | \bcontra-?indicated\b
    |\bist\s+(?:\w+\s+)?(?:allergisch|vegan|vegetarisch|diabetiker\w*) | \bhat\s+(?:\w+\s+)?(?:asthma|diabetes|epilepsie|eine\s+\w*allergie) | \bnimmt\s+{_MEDICINE}
    |(?:알레르기|알러지|{_WORD}(?:천식|당뇨(?:병)?|간질)|고혈압|뇌전증|유당\s*불내증|과민\s*반응)\S{{0,3}}\s*(?:있|앓|심하|심함|진단|환자|[:：]|때문)
    |(?:알레르기|알러지|{_WORD}(?:당뇨|천식)|고혈압)\s*$
    |\S+(?:을|를)?\s*(?:매일\s*|하루\s*\S+\s*)?(?:복용|투약)\s*(?:중|한다|함|하고|해야|하신|하심|하는)
    |(?:채식(?:주의)?|비건|할랄|글루텐\s*프리)\S{{0,3}}\s*(?:이다|임|입니다|이고|이라|이에요|한다|함|식단|$)
    |(?:アレルギー|喘息|糖尿病|高血圧|てんかん|乳糖不耐症?)\S{{0,3}}(?:が?ある|があ[りる]|持ち|です|だ|と診断|[:：]|$)
    |を(?:毎日)?(?:服用|投与)し?(?:て|中|する) | (?:ヴィーガン|ビーガン|菜食主義者?|ベジタリアン)(?:だ|です|である|$)
    |[对對][^。，,]{{1,12}}[过過]敏 | (?:患有|确诊|確診|得了)[^。，,]{{0,6}}(?:哮喘|糖尿病|高血[压壓]|癫痫|癲癇) | (?:每天|长期|長期|正在)?服用[^。，,]{{1,12}}[药藥片素]
    |(?:吃素|素食者|清真[饮飲]食|乳糖不耐)""",
    re.I | re.VERBOSE,
)
