"""Scores the turns of a conversation: a turn that says something lasting about its speaker scores high. Part of the
`rules` model. Pure.

A turn is scored by its sentences; questions, thanks and praise are left out. A sentence scores for statements in the
first person (a change, a habit, a possession, a plan, a feeling with its reason) and for names, times and numbers. The
weights are set by hand; docs/promotion.md has the figures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.promotion.cues import Cue, cue, cue_set, match_cues
from gitmem.promotion.log_lines import Candidate
from gitmem.text import english, korean
from gitmem.text.sentences import sentences

THRESHOLD = 1.6  # least score of a turn that is proposed

# What is no statement in a turn: the mark of an attachment, interjections before a sentence, a pleasantry.
_ASIDE = re.compile(r"\[(?:photo|image|video|audio|sticker|사진|이미지)[^\]]*\]", re.I)
_OPENING_WORDS = re.compile(rf"^(?:(?:{english.INTERJECTIONS})\b[\s,!.-]*)+", re.I)
_PLEASANTRY = re.compile(rf"^(?:{english.PLEASANTRIES})|^(?:{korean.PLEASANTRIES})\S*[\s!.~]*(?:요)?[!.~]*$", re.I)

CUES: tuple[Cue, ...] = (
    cue("a change", 1.3, r"""\b(?:i|we|my\ \w+)\s+(?:(?:just|finally|recently|actually|also|even|already|officially)\s+)*
        (?:started|began|joined|bought|got|adopted|moved|quit|left|lost|won|finished|completed|graduated|passed|signed|launched|opened|met|married|broke|hurt|visited|went|took|made|created|wrote|painted|built|learned|found|decided|planned|applied|attended|volunteered|hosted|organi[sz]ed|received|had|published|sold|tried|gave|saw|ran|hiked|performed|booked|enrolled|started|discovered|reached|set|came|grew|used\ to|did|picked|participated|raised|cooked|baked|redid|renovated|fixed|camped|travel(?:l)?ed|spent)\b""", "timeline"),
    cue("what has been", 1.3, r"""\b(?:i|we)(?:'ve|\ have)\s+(?:(?:been|always|also|just|recently|really|already|never|finally)\s+)*\w+""", "timeline"),
    cue("under way", 0.9, r"""\b(?:i'm|i\ am|we're|we\ are)\s+(?:(?:currently|now|also|still|really|just)\s+)*(?!(?:going|gonna|glad|so|sure|sorry|happy|proud|doing|looking)\b)\w+ing\b""", "timeline"),
    cue("a plan", 1.2, r"""\b(?:i'm|i\ am|we're|we\ are)\s+(?:(?:also|definitely|really)\s+)*(?:going\ to|gonna|planning|hoping|thinking\ (?:of|about)|looking\ (?:forward|into|for)|about\ to|excited\ (?:to|about|for)|saving|working\ (?:on|toward)|training|preparing)\b|\b(?:i|we)\ (?:plan|hope|want|intend|aim|need)\ to\b|\bmy\ (?:goal|dream|plan|aim)\b|\bi'd\ (?:love|like)\ to\b|\bi(?:'ll|\ will)\ be\b""", "goal"),
    cue("a liking", 1.3, r"""\b(?:i|we)\s+(?:(?:really|also|absolutely|just|always|still|truly|do)\s+)*(?:love|like|enjoy|adore|prefer|hate|dislike|miss|value|cherish|appreciate|crave)\b(?!\s+(?:that|it|this|to\ (?:hear|see|know)|your|you)\b)|\bmy\ (?:\w+\ )?(?:favou?rites?|passion|hobby|hobbies|go-?to|comfort|happy\ place|obsession)\b|\b(?:i'm|i\ am)\ (?:really\ |so\ )?(?:into|passionate|obsessed|fond|a\ (?:big|huge)?\ ?fan|all\ about|more\ of\ a)\b""", "preference"),
    cue("who I am", 1.4, r"""\b(?:i'm|i\ am)\ (?:an?|the|allergic|from|originally|vegan|vegetarian|married|single|divorced|scared|afraid|lactose)\b|\bi\ (?:work|live|teach|study|play|run|own|volunteer|have|got\ a|grew\ up|come\ from|was\ born|believe|use|keep|practice|collect|try\ to|make\ sure)\b|\bi\ (?:can't|cannot|don't)\ (?:eat|drink|have|like|want|imagine|live)\b""", "profile"),
    cue("people and things of mine", 0.7, r"""\b(?:my|our)\s+(?:\w+\s+)?(?:mom|mother|dad|father|parents|sister|brother|wife|husband|partner|boyfriend|girlfriend|fianc\w+|kids?|children|son|daughters?|family|friends?|grand\w+|aunt|uncle|cousins?|dogs?|cats?|pets?|puppy|turtles?|job|boss|team|company|business|store|shop|studio|car|house|home|apartment|garden|school|class|project|book|script|novel|band|church|coach|doctor|roots|career|health|neighbou?rs?|coworkers?|colleagues?|degree|thesis|blog|channel|tournament|game)\b"""),
    cue("what it does for me", 0.8, r"""\b(?:helps?|helped|makes?|made|gives?|gave|lets?|keeps?|kept|reminds?|taught|teaches|inspires?|inspired|motivates?|means?|brings?|brought|allows?|pushes|fills)\s+(?:\w+\s+)?(?:me|us|my)\b|\b(?:way|place|chance|outlet)\ (?:for\ me\ )?to\b|\bbecause\b|\bso\ (?:i|we)\b|\bit's\ (?:important|a\ way)\b|\bme\ (?:feel|realize|realise|happy|calm|think)\b""", "profile"),
    cue("a feeling", 0.3, r"""\b(?:i|it|we)\s+(?:(?:was|felt|feel|am|is|were|have\ been)\s+)(?:\w+\s+)?(?:amazing|proud|nervous|excited|scared|stressed|overwhelm\w+|grateful|thankful|tough|hard|sad|upset|anxious|relaxing|rewarding|challenging|blessed|accomplished|happy|free|hooked)\b"""),
    cue("when", 0.7, r"""\b(?:last|next|this\ past|this\ coming)\ (?:week(?:end)?|month|year|night|summer|winter|spring|fall|autumn|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\w+)\b|\byesterday\b|\btomorrow\b|\b(?:\d+|a\ few|a\ couple\ of|two|three|four|five|six|seven|ten|many|several)\ (?:days?|weeks?|months?|years?)\b|\bsince\b|\bthis\ (?:month|summer|weekend|week|year)\b|\b(?:in|on)\ (?:january|february|march|april|may|june|july|august|september|october|november|december|\d{4})\b|\bwhen\ i\ was\b|\bfor\ (?:years|ages|a\ while|months)\b|\brecently\b|\ba\ while\ ago\b|\b(?:every|each)\ (?:\w+\ )?(?:day|week|month|year|morning|night|sunday|weekend)\b|\bat\ age\b|\bgrowing\ up\b"""),
    cue("a number", 0.3, r"""\b\d[\d,.]*\b|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twenty|dozens?|hundreds?|first|second|third)\b"""),
    cue("first of its kind", 0.3, r"""\b(?:first|new|finally|big|huge|important|special|dream|latest|own)\b"""),
    cue("저는", 1.0, r"(?:저는|나는|난|전|제가|내가|저희|우리)(?=\s)|(?:저도|나도)\s", "profile"),
    cue("좋아함 (대화)", 1.2, r"좋아(?:해|하|합)|싫어|선호|즐겨|취미|취향|알레르기", "preference"),
    cue("계획 (대화)", 1.0, r"(?:려고|예정|계획|할\s*거|ㄹ\s*거|을\s*거|기로\s*했|고\s*싶)", "goal"),
    cue("지난 일 (대화)", 1.0, r"[았었였했갔왔됐봤샀났][어다습고는]|다녀", "timeline"),
    cue("때 (대화)", 0.6, r"지난|작년|올해|내년|어제|다음\s*(?:주|달)|\d+\s*(?:년|월|일|주|살)|매일|매주|요즘"),
    cue("가족 (대화)", 0.7, r"(?:(?<![가-힣])|(?<=우리)|(?<=친))(?:엄마|아빠|어머니|아버지|누나|언니|오빠|형|동생|아내|남편|아들|딸|강아지|고양이|회사|직장|학교|집)"),
    cue("about you", -0.7, r"""\b(?:you|your|you're)\b"""),
    cue("a wish or thanks", -0.8, r"""\b(?:hope\ (?:you|it|so|we)|good\ luck|congrat\w*|thanks?\ (?:for|so)|appreciate\ (?:it|your|the)|let's|wanna|cheers|take\ care)\b"""),
    cue("hedged", -0.4, r"""\b(?:i\ guess|i\ think\ (?:it|that|you)|maybe|someday|probably|sounds?\ like|might)\b"""),
)  # fmt: skip
CUE_SET = cue_set(CUES)
# A capitalised word within a sentence, or a quoted title: a turn that names something scores more.
_NAME = re.compile(r"(?<=[a-z,;:'\"] )[A-Z][a-z]+\b|\"[^\"]{3,60}\"")


@dataclass(frozen=True, slots=True)
class ScoredTurn:
    """A turn with its score. `text`: the turn without asides such as `[photo]`; `kind`: the type of its best sentence;
    `cues`: names of the cues of that sentence; `against`: for each sentence that was left out, "question" or
    "pleasantry"."""

    line: Candidate
    text: str
    score: float
    kind: str
    cues: tuple[str, ...]
    against: tuple[str, ...]


def score_turns(turns: Sequence[Candidate]) -> list[ScoredTurn]:
    """The turns of a conversation with their scores, in order. `THRESHOLD` is the least score of a turn that is
    proposed."""
    names = {part for turn in turns for part in turn.speaker.split()}
    return [_scored_turn(line, names) for line in turns]


def _scored_turn(line: Candidate, names: set[str]) -> ScoredTurn:
    """A turn with the score of its best sentence, plus a fifth of the score of each other sentence, 1.2 at most. A turn
    without a sentence that counts has score 0 and the kind `profile`. `names`: the words of the speakers' names, which
    count as no names."""
    text = _ASIDE.sub("", line.text).strip()
    best, kind = 0.0, "profile"
    matched: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    added_score = 0.0
    for sentence in sentences(text):
        bare = _OPENING_WORDS.sub("", sentence.strip())
        for name in names:
            bare = re.sub(rf"^{re.escape(name)}\b[\s,!.-]*|[\s,]+{re.escape(name)}(?=[.!]*$)", "", bare)
        bare = _OPENING_WORDS.sub("", bare)
        if bare.endswith("?"):
            against += ("question",)
            continue
        if not bare or _PLEASANTRY.match(bare):
            against += ("pleasantry",)
            continue
        result = match_cues(bare, CUE_SET)
        score = result.score
        word_count = len(bare.split())
        if 9 <= word_count <= 45:
            score += 0.5
        elif word_count < 5:
            score -= 0.5
        score += 0.4 * min(2, sum(name not in names for name in _NAME.findall(bare)))
        if score > best:
            added_score += 0.2 * best
            best, kind, matched = score, result.kind or kind, result.cues
        else:
            added_score += 0.2 * max(0.0, score)
    score = best + min(1.2, added_score)
    return ScoredTurn(line, text or line.text, round(score, 3), kind, matched, against)
