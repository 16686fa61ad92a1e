"""Finds plain orders by patterns: hide this from the user, act without asking, drop the rules.

The learned score has too few examples of them.
For English, eleven other European languages and Vietnamese; the score covers Korean, Japanese and Chinese. Each pattern
is a whole clause with its object ("tell the user about this", not "tell the user to use a pool"). Two costs in one
sentence, or an order to drop the rules, make a finding nearly certain; one cost alone makes it likely. Reads folded
text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from gitmem.gate.detectors.injection.lexicon import Concept as C
from gitmem.gate.detectors.injection.structure import quotes
from gitmem.lazy_patterns import lazy

_END = r"(?=\s{0,2}(?:[.,;!?)\"'*_-]|$|\n|(?:and|but|or|und|y|et|e|och|i|en|и|va)\b))"
_USER = r"(?:(?:the|your|any) )?(?:users?|owner|human|operator|customer|admin(?:istrator)?|anyone|anybody|them|him|her)"
_NOT = r"(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|shall not|won't|no need to)(?: ever| even)?"
_WHAT = r"(?:this|it|that|these|any of (?:this|it)|what you (?:did|do|are doing|changed)|(?:this|the) (?:step|change|action|fact|command|file|rule|note|instruction)s?)"
_ALL = r"(?:all|every|each|any)(?: (?:of )?(?:the|my|your|shell|tool|such|future))?"
_ACT = r"(?:commands?|tools?(?: calls?)?|scripts?|actions?|changes?|requests?|edits?|deployments?|deploys?|deletions?|operations?|merges?|pushes|payments?|permissions?)"
_DO = r"(?:run|execute|approve|accept|apply|allow|perform|carry out|push|merge|deploy|delete|install|confirm)"
_DOING = r"(?:running|executing|approving|applying|performing|pushing|merging|deploying|deleting|installing|making)"
_ASK = r"(?:asking|confirm(?:ing|ation)|approval|permission|prompting|checking(?: with)?|review|any (?:confirmation|approval|questions?))"
# A claimed consent and an order not to ask again: `I already approved deleting it, no need to ask me again`.
_CONSENTED = r"(?:approved|authori[sz]ed|confirmed|agreed|consented|allowed|permitted|signed off|ok'?ed|given (?:approval|permission|consent))"
_NO_MORE = (
    r"(?:(?:no need|not necessary|(?:no longer|do not|don't) (?:need|have)) to (?:ask|confirm|check|prompt)"
    r"(?: with)? (?:me|us|him|her|them|the (?:user|owner)|again|any ?more|for|first)"
    r"|(?:do not|don't|never) (?:ask|prompt) (?:me |him |her |them |us |the user |for |again|any ?more)"
    r"|(?:without|no) (?:asking|(?:further|another|more|additional) (?:confirmation|approval|question|prompt|check)))"
)

ENGLISH: dict[C, str] = {
    C.CONCEAL: rf"{_NOT} (?:tell|inform|notify|alert|warn) {_USER}(?: (?:about|of) {_WHAT}| that you\b[^.\n]{{1,40}}| anything(?: about {_WHAT})?| what you [^.\n]{{1,30}})?{_END}"
    rf"|{_NOT} (?:mention|report|reveal|show|disclose|say|admit|explain) {_WHAT} to {_USER}{_END}"
    rf"|{_USER} (?:must|should|may|can) (?:not|never) (?:know|learn|notice|see|find out)(?: (?:about|of))? ?(?:{_WHAT})?{_END}"
    rf"|(?:make sure|ensure)(?: that)? {_USER} (?:never|does not|doesn't) (?:sees?|learns?|notices?|knows?|finds? out)\b"
    rf"|{_NOT} let {_USER} (?:know(?: (?:about|of) {_WHAT})?|notice|see {_WHAT}|find out){_END}"
    rf"|(?:hide|conceal|keep) {_WHAT} (?:hidden |secret |away |back )?from {_USER}|without the users? (?:knowing|noticing|seeing)"
    rf"|without (?:telling|informing|notifying|alerting) {_USER}{_END}"
    rf"|(?:if|when|should) {_USER} asks?[^.\n]{{0,60}}?,? (?:you )?(?:say|answer|reply|claim|tell (?:them|him|her)|respond)(?: with)? (?:[\"']?no\b|you (?:did not|didn't|don't|never)|that (?:you|nothing)|nothing)"
    rf"|(?:if|when|should) {_USER} asks?[^.\n]{{0,60}}?,? deny (?:it|this|that|everything)",
    C.NO_ASKING: rf"{_DO} {_ALL} {_ACT}[^.\n,;]{{0,24}} (?:without {_ASK}|silently|automatically and silently)"
    rf"|(?:from now on|always|in future|henceforth),? (?:auto-?)?{_DO} (?:{_ALL} )?{_ACT} (?:without {_ASK}|silently)"
    rf"|(?:from now on|always|in future|henceforth),? (?:auto-?)?(?:approve|accept|allow) (?:{_ALL} {_ACT}|everything)"
    rf"|auto-?(?:approve|accept|confirm) (?:{_ALL} {_ACT}|everything)"
    rf"|(?:stop|quit) asking (?:me |{_USER} )?for (?:approval|confirmation|permission)"
    rf"|(?:no longer|do not|don't) (?:need|have) to ask before {_DOING}"
    rf"|(?:do not|don't|never) bother {_USER} with (?:confirmations?|questions|approvals?)"
    rf"|(?:never|{_NOT}) ask (?:me |{_USER} )?(?:(?:for )?(?:approval|confirmation|permission) )?before {_DOING} (?:{_ALL} )?{_ACT}{_END}"
    rf"|(?:already|pre-?) ?{_CONSENTED}\b[^\n]{{0,80}}?\b{_NO_MORE}"
    rf"|{_NO_MORE}\b[^\n]{{0,40}}?\b(?:already|pre-?) ?{_CONSENTED}\b"
    rf"|{_NOT} (?:ask|wait) for (?:approval|confirmation|permission)(?: (?:for|before|of|when {_DOING}) (?:{_ALL} )?{_ACT})?(?: (?:any ?more|again|ever)|,? from now on)",
}  # fmt: skip


class Words(NamedTuple):
    """Patterns for one language, with accents folded; see `_european_costs` for the combinations that make an order.

    `user`: the person from whom something is hidden. `hide`: an order to hide. `this`: the hidden thing. `silent`: an
    order not to tell. `unknown`: somebody must not know. `run`: an order to act. `always`: from now on, or all.
    `unasked`: without asking.
    """

    user: str
    hide: str
    this: str
    silent: str
    unknown: str
    run: str
    always: str
    unasked: str


_LANGUAGES = (
    Words(
        r"(?:be)?nutzer\w{0,3}|anwender\w{0,2}|besitzer\w{0,2}|kunden?",
        r"verheimlich\w*|verberg\w*|verbirg|versteck\w*|verschweig\w*",
        r"dies\w{0,2}|das|es|davon|den schritt",
        r"(?:sag|sagt|sagen sie|erzahle?|verrate?|melde|teile?|erwahne?|informiere?n?(?: sie)?|benachrichtige?)\b[^.\n]{0,60}?\b(?:nichts|nicht|nie(?:mals)?|keinen? (?:wort|fall)\w*)",
        r"(?:darf|soll|muss|sollte)\b[^.\n]{0,30}?\b(?:nichts|nicht|nie)\b[^.\n]{0,24}?\b(?:erfahren|wissen|merken|sehen)|ohne (?:dass )?[^.\n]{0,30}?\b(?:zu sagen|zu informieren|mitzuteilen|merkt|erfahrt)",
        r"fuhre?|fuhren sie|starte|bestatige|genehmige|akzeptiere",
        r"jede\w?|alle|samtliche|immer|ab (?:jetzt|sofort)|von nun an|kunftig|automatisch|stets",
        r"ohne (?:jede |weitere )?(?:ruckfrage|nachfrage|bestatigung|zu fragen|nachzufragen|genehmigung|freigabe|zustimmung)|ohne [^.\n]{1,24} zu fragen",
    ),
    Words(
        r"usuari[oa]s?|duen[oa]|clientes?|propietari[oa]",
        r"oculta\w*|esconde\w*|encubre|silencia",
        r"est[aeo]s?|eso|lo|ello",
        r"no (?:se )?(?:lo |le |les |la )?(?:digas?|inform[ae]s?|avises?|menciones?|cuentes?|reveles?|comentes?|notifiques?)|sin (?:decir\w*|avisar|informar)",
        r"no (?:debe|puede|tiene que)\b[^.\n]{0,20}?\b(?:saber\w*|enterar\w*|ver\w*|notar\w*)|sin que [^.\n]{0,24}?\b(?:sepa|note|vea|se entere)",
        r"ejecut[ae]\w*|aprueb[ae]\w*|confirm[ae]\w*|acept[ae]\w*|corre",
        r"cada|todos?|todas?|cualquier|siempre|a partir de ahora|de ahora en adelante|automaticamente",
        r"sin (?:pedir |solicitar |ninguna )?(?:confirmacion|preguntar\w*|aprobacion|permiso|consultar\w*|autorizacion)",
    ),
    Words(
        r"l'utilisat\w+|utilisat\w+|l'usager|clients?|proprietaire",
        r"cache[zr]?|dissimule[zr]?|masque[zr]?",
        r"ce(?:la|ci|t|tte)?|ca|le|cela",
        r"n(?:e |')(?:le |la |l'|les |lui |en )?(?:dis|dites|informe[zr]?|prevene[zr]|previens|mentionne[zr]?|revele[zr]?|parle[zr]?|averti\w+|signale[zr]?)\b[^.\n]{0,6}?\b(?:pas|jamais|rien)|sans (?:le |en )?(?:dire|informer|prevenir|avertir|parler)|a l'insu",
        r"ne (?:doit|peut|devra)\b[^.\n]{0,12}?\b(?:pas|rien|jamais)\b[^.\n]{0,12}?\b(?:savoir|voir|apprendre|remarquer)|sans que [^.\n]{0,24}?\b(?:sache|voie|remarque)",
        r"execute[zr]?|lance[zr]?|approuve[zr]?|valide[zr]?|accepte[zr]?|confirme[zr]?",
        r"chaque|toutes?|tous|n'importe quelle|toujours|desormais|dorenavant|a partir de maintenant|automatiquement",
        r"sans (?:demander |aucune )?(?:de )?(?:confirmation|demander|approbation|autorisation|permission|validation)",
    ),
    Words(
        r"utent[ei]|proprietario|client[ei]",
        r"nascond\w*|occulta\w*|cela",
        r"quest[aeio]|cio|lo",
        r"non (?:lo )?(?:dire|dirlo|dirgli|informa\w*|avvisa\w*|menziona\w*|rivela\w*|parla\w*|dica|notifica\w*)|senza (?:dirlo|dire|informare|avvisare)",
        r"non (?:deve|puo)\b[^.\n]{0,14}?\b(?:saper\w*|veder\w*|accorger\w*)|senza che [^.\n]{0,24}?\b(?:sappia|veda|si accorga)",
        r"esegu[ia]\w*|approva\w*|conferma|confermare|accetta\w*|lancia\w*",
        r"ogni|tutt[ei]|qualsiasi|sempre|d'ora in poi|da ora in poi|automaticamente",
        r"senza (?:chiedere |alcuna |richiedere )?(?:conferma|chiedere|approvazione|autorizzazione|permesso)",
    ),
    Words(
        r"usuari[oa]s?|utilizador\w*|don[oa]|clientes?",
        r"escond\w+|ocult\w+|omita",
        r"est[ae]s?|isso|isto|o",
        r"nao (?:o |lhe |se )?(?:conte|diga|informe|mencione|avise|revele|fale|notifique|comente)|sem (?:contar|dizer|informar|avisar)",
        r"nao (?:deve|pode)\b[^.\n]{0,14}?\b(?:saber|ver|perceber|descobrir)|sem que [^.\n]{0,24}?\b(?:saiba|perceba|veja)",
        r"execut[ea]\w*|aprov[ea]\w*|confirm[ea]|aceit[ea]\w*|rode",
        r"cada|todos?|todas?|qualquer|sempre|a partir de agora|de agora em diante|automaticamente",
        r"sem (?:pedir |nenhuma |solicitar )?(?:confirmacao|perguntar|aprovacao|permissao|autorizacao)",
    ),
    Words(
        r"anvandar\w*|agaren|kunden",
        r"dolj|gom|hemlighall",
        r"dett?a|den har|det",
        r"(?:beratta|sag|namn|informera|meddela|avsloja)\b[^.\n]{0,24}?\b(?:inte|aldrig|inget|ingenting)|utan att (?:beratta|saga|informera|meddela)",
        r"(?:far|ska|bor) (?:inte|aldrig|inget)\b[^.\n]{0,14}?\b(?:veta|se|marka|fa reda)",
        r"kor|utfor|godkann|acceptera|bekrafta",
        r"varje|alla|samtliga|alltid|fran och med nu|hadanefter|automatiskt",
        r"utan (?:att fraga|bekraftelse|godkannande|tillatelse|att be om)",
    ),
    Words(
        r"uzytkownik\w*|wlascicie\w*|klient\w*",
        r"ukry\w+|zataj\w*|schowaj",
        r"t[aeo]|ten|tego|tym|t[ae] zmian\w*",
        r"nie (?:mow|informuj|wspominaj|ujawniaj|powiadamiaj|zdradzaj|zglaszaj|mowcie)|bez (?:wiedzy|informowania|powiadamiania|mowienia)",
        r"nie (?:moze|powinien)\b[^.\n]{0,20}?\b(?:wiedziec|dowiedziec|widziec|zauwazyc)",
        r"wykonuj\w*|uruchamiaj|zatwierdzaj|wykonaj|akceptuj|potwierdzaj",
        r"kazd\w+|wszystki\w+|zawsze|od teraz|odtad|automatycznie",
        r"bez (?:pytania|potwierdz\w+|zgody|zatwierdz\w+|pytan)",
    ),
    Words(
        r"gebruikers?|eigenaar|klant\w*",
        r"verberg\w*|verzwijg\w*|verstop",
        r"deze|dit|dat|het",
        r"(?:vertel|zeg|meld|noem|onthul|informeer|vermeld)\b[^.\n]{0,30}?\b(?:niet|niets|nooit)|zonder [^.\n]{0,24}?\bte (?:vertellen|informeren|lichten|zeggen)",
        r"(?:mag|hoeft|moet)\b[^.\n]{0,14}?\b(?:niet|niets|nooit)\b[^.\n]{0,14}?\b(?:weten|zien|merken)",
        r"voer|keur|bevestig|accepteer|draai",
        r"elke?|alle|ieder\w*|altijd|voortaan|vanaf nu|automatisch",
        r"zonder (?:te vragen|bevestiging|toestemming|goedkeuring|na te vragen)",
    ),
    Words(
        r"пользовател\w+|владельц\w+|клиент\w+|никому",
        r"скро\w+|скрыва\w+|утаи\w*|спряч\w+",
        r"эт\w{1,3}|это",
        r"не (?:говори|сообщай|рассказывай|упоминай|информируй|уведомляй|показывай|говорите|сообщайте)\w*|втайне|без ведома|тайно",
        r"не (?:должен|должна|должны)\b[^.\n]{0,14}?\b(?:знать|узнать|видеть|заметить)",
        r"выполняй\w*|запускай\w*|исполняй\w*|одобряй\w*|подтверждай\w*|принимай",
        r"кажд\w+|все\w{0,2}|любые|любую|всегда|отныне|впредь|с этого момента|автоматически|команд\w*",
        r"без (?:подтвержд\w+|спрос\w*|вопрос\w*|разреш\w+|согласи\w+|проверк\w+)|не спрашива\w+",
    ),
    Words(
        r"nguoi dung|chu so huu|khach hang|cho ai",
        r"giau|che giau|an",
        r"nay|dieu nay|viec nay",
        r"(?:dung|khong(?: duoc)?|cam|cho) (?:noi|ke|bao|tiet lo|thong bao|nhac)",
        r"(?:khong|dung) (?:duoc |de )?[^.\n]{0,16}?\bbiet",
        r"chay|thuc thi|thuc hien|duyet|chap nhan",
        r"moi|tat ca|cac|luon|tu gio|tu nay",
        r"khong (?:can )?(?:hoi|xac nhan|xin phep)",
    ),
    Words(
        r"brugeren?|brukeren?|kayttaj\w+|kunden",
        r"skjul\w*|gem|piilota",
        r"dette|denne|tama|det",
        r"(?:fortael|sig|si|fortell|navn|nevn|naevn|informer)\b[^.\n]{0,24}?\b(?:ikke|aldrig|aldri)|ala (?:kerro|mainitse|ilmoita)",
        r"(?:ma|skal) (?:ikke|aldrig|aldri)\b[^.\n]{0,10}?\b(?:vide|vite|se)",
        r"kor|kjor|udfor|utfor|godkend|godkjenn|suorita|hyvaksy",
        r"hver|alle|altid|alltid|fra nu af|fra na av|kaikki|aina",
        r"uden (?:at sporge|bekraeftelse|godkendelse)|uten (?:a sporre|bekreftelse|godkjenning)|kysymatta|ilman vahvistusta",
    ),
)  # fmt: skip
_BEFORE_NOUNS = r"(?:instructions?|consignes|regles|directives|instrucciones|reglas|ordenes|directrices|anweisungen|regeln|vorgaben|instruktionen|istruzioni|regole|direttive|instrucoes|regras|diretrizes|instruktioner(?:na)?|regler(?:na)?|instrukcj\w+|polecen\w+|zasad\w*|regul\w*|instructies|regels|richtlijnen|opdrachten|инструкци\w+|правил\w*|указани\w+|chi dan|huong dan|quy tac)"
_BEFORE = r"(?:precedent\w*|anterior\w*|previ[ao]s?|vorherig\w+|bisherig\w+|fruher\w+|obig\w+|alle|samtliche|todas?|todos?|toutes?|tous|tutte|tutti|ignora alla|alla|tidigare|foregaende|poprzedni\w*|wszystki\w+|wczesniejsz\w+|eerdere|vorige|voorgaande|все|всех|предыдущ\w+|прежн\w+|moi|tat ca|truoc\w*)"
_DROPS = (
    rf"\b(?:ignore[zr]?|ignoriere\w*|ignora(?:te|d|r)?|ignorera|ignoruj|zignoruj|zapomnij|pomin|negeer|vergeet|oublie[zr]?|olvida\w*|vergiss|vergessen sie|missachte\w*|dimentica(?:te)?|esqueca|ignore|desconsidere|glom|bortse fran|игнорируй\w*|забудь\w*|не следуй\w*|bo qua|quen)\b"
    rf"[^.\n]{{0,24}}?\b(?:{_BEFORE})\b[^.\n]{{0,24}}?\b{_BEFORE_NOUNS}\b"
    rf"|\b(?:ignore[zr]?|ignoriere\w*|ignora(?:te|d|r)?|ignorera|ignoruj|zignoruj|zapomnij|negeer|vergeet|oublie[zr]?|olvida\w*|vergiss|missachte\w*|dimentica(?:te)?|esqueca|desconsidere|glom|игнорируй\w*|забудь\w*|bo qua)\b"
    rf"[^.\n]{{0,30}}?\b{_BEFORE_NOUNS}\b[^.\n]{{0,12}}?\b(?:{_BEFORE})\b",
    r"(?:ты tenepb|tenepb ты|ты теперь|теперь ты|du bist (?:jetzt|nun|ab jetzt)|eres ahora|ahora eres|tu es (?:maintenant|desormais)|vous etes (?:maintenant|desormais)|sei ora|ora sei|voce (?:agora e|e agora)|agora voce e|du ar nu|jestes teraz|je bent nu|ban bay gio la)\b[^.\n]{0,60}?\b(?:без (?:ограничен\w+|цензур\w+|фильтр\w+)|ohne (?:einschrankung\w*|beschrankung\w*|regeln|filter)|sin (?:restricciones|limites|filtros|reglas)|sans (?:restrictions?|limites?|filtres?|regles)|senza (?:restrizioni|limiti|filtri|regole)|sem (?:restricoes|limites|filtros|regras)|utan (?:begransningar|regler|filter)|bez (?:ograniczen|zasad|filtrow)|zonder (?:beperkingen|regels|filters)|khong (?:bi )?gioi han)",
    r"(?:покажи\w*|раскрой\w*|выведи\w*|zeig\w*|verrate\w*|gib|muestra\w*|revela\w*|imprime|montre[zr]?|revele[zr]?|affiche[zr]?|mostra\w*|rivela\w*|mostre|revele|visa|avsloja|pokaz\w*|ujawnij|toon|onthul)\b[^.\n]{0,30}?\b(?:системн\w+ (?:npomnt|промпт|сообщени\w+|подсказк\w+|инструкци\w+)|system-?prompt\w*|systemprompt\w*|system ?nachricht|(?:prompt|mensaje|mensagem|message|instruc\w+|prompt) (?:del |de |du |do |di )?(?:sistema|systeme)|prompt di sistema|invite systeme|systemprompten|systeemprompt|prompt systemow\w*)",
)  # fmt: skip

# Each English clause above contains one of these; a text without any is not searched.
_HINTS = (
    "without", "silently", "before", "approv", "ask for", "wait for", "tell ", "inform", "notif", "alert ", "warn ", "mention", " let ",
    "hide", "conceal", "keep ", "asks", "deny", "find out", "make sure", "ensure", "bother", "must not",
    "no need to", "further", "authori",
)  # fmt: skip
_EUROPEAN_HINTS = lazy(
    r"benutzer|nutzer|anwender|usuari|utilisat|utente|utilizador|anvandar|uzytkownik|gebruiker|пользовател|nguoi dung|brugeren|brukeren|kayttaja|nadie|nikomu|никому"
    r"|ohne|sin |sans |senza |sem |utan |bez |zonder |без |khong |instruc|instruk|istruz|anweisung|regel|consigne|regles|reglas|regole|regras|regler|zasad|инструкци|правил|указани"
    r"|prompt|промпт|npomnt|systeme|chi dan|huong dan|quy tac"
)
# Every order to drop the rules, to be somebody without rules, or to show the prompt contains one of these.
_RULES = lazy(
    r"instru|istruz|anweisung|regel|consigne|regle|reglas|regole|regras|zasad|polecen|richtlijn|directiv|directri|diretri|vorgabe|ordenes|opdracht|инструкци|правил"
    r"|указани|prompt|npomnt|промпт|systeme|sistema|systemnachricht|системн|chi dan|huong dan|quy tac|ohne |sin |sans |senza |sem |utan |bez |zonder |без |khong "
)
_TALKS = lazy(
    r"\b(?:attack\w*|injection\w*|jailbreak\w*|phish\w*|detect\w*|prevent\w*|malicious|such as|e\.g\.|examples?|angriff\w*|ataque\w*|attaque\w*|attacc\w+|beispiel\w*|ejemplo\w*|exemple\w*|пример\w*|атак\w*|atak\w*|przyklad\w*)\b"
)


@dataclass(frozen=True, slots=True)
class Order:
    """A plain order. `start`, `end`: its sentence in the folded text. `costs`: what it orders. `certain`: nearly
    certain, so that it blocks; else likely."""

    start: int
    end: int
    costs: tuple[C, ...]
    certain: bool


def find(folded: str) -> Iterator[Order]:
    """The plain orders in a folded text, one for each sentence. Orders in quotations and sentences that talk about
    attacks are left out."""
    english = any([hint in folded for hint in _HINTS])
    european = _EUROPEAN_HINTS.search(folded) is not None
    if not english and not european:
        return
    for start, end in _sentences(folded):
        sentence = folded[start:end]
        costs: list[C] = []
        spans = quotes(sentence)
        if english:
            for cost, form in _english():
                match = form.search(sentence)
                if match is not None and not any([a <= match.start() < b for a, b in spans]):
                    costs.append(cost)
        if european and _EUROPEAN_HINTS.search(sentence):
            unquoted = sentence
            if spans:
                unquoted = "".join(" " if any([a <= at < b for a, b in spans]) else c for at, c in enumerate(sentence))
            costs += [cost for cost in _european_costs(unquoted) if cost not in costs]
        if costs and not _TALKS.search(sentence):
            yield Order(start, end, tuple(costs), len(costs) > 1 or C.OVERRIDE in costs)


def _sentences(folded: str) -> Iterator[tuple[int, int]]:
    """The sentences of a text that have at least 12 characters; one of more than _MAX_ORDER_CHARACTERS in parts of that
    length, which overlap."""
    at = 0
    for line in folded.split("\n"):
        start = at
        for end in [*(match.end() for match in _STOP.finditer(line)), len(line)]:
            last = at + end
            while last - start > _MAX_ORDER_CHARACTERS:
                yield start, start + _MAX_ORDER_CHARACTERS
                start += _MAX_ORDER_CHARACTERS - 80
            if last - start >= 12:
                yield start, last
            start = last
        at += len(line) + 1


_STOP = lazy(r"(?<=[^\d\W]{2})[.!?](?=\s)")
_MAX_ORDER_CHARACTERS = 400


@cache
def _english() -> tuple[tuple[C, re.Pattern[str]], ...]:
    return tuple((cost, re.compile(rf"(?<![a-z])(?:{form})")) for cost, form in ENGLISH.items())


def _european_costs(sentence: str) -> Iterator[C]:
    """The costs of a sentence in a language other than English; all parts of a cost must match in the same language."""
    if _any_of("user").search(sentence) and any(words.conceal(sentence) for words in _european()):
        yield C.CONCEAL
    if _any_of("unasked").search(sentence) and any(words.skip_asking(sentence) for words in _european()):
        yield C.NO_ASKING
    if _RULES.search(sentence) and any([form.search(sentence) is not None for form in _drops()]):
        yield C.OVERRIDE


class _Patterns(NamedTuple):
    """The compiled patterns of `Words`."""

    user: re.Pattern[str]
    hide: re.Pattern[str]
    this: re.Pattern[str]
    silent: re.Pattern[str]
    unknown: re.Pattern[str]
    run: re.Pattern[str]
    always: re.Pattern[str]
    unasked: re.Pattern[str]

    def conceal(self, sentence: str) -> bool:
        """Whether a sentence orders to conceal something from the user."""
        return self.user.search(sentence) is not None and bool(
            self.silent.search(sentence)
            or self.unknown.search(sentence)
            or (self.hide.search(sentence) and self.this.search(sentence))
        )

    def skip_asking(self, sentence: str) -> bool:
        """Whether a sentence orders to act from now on without asking."""
        return all(form.search(sentence) is not None for form in (self.unasked, self.run, self.always))


@cache
def _european() -> tuple[_Patterns, ...]:
    return tuple(
        _Patterns(*[re.compile(rf"(?<![a-zа-я])(?:{form})(?![a-zа-я])") for form in words]) for words in _LANGUAGES
    )


@cache
def _any_of(kind: str) -> re.Pattern[str]:
    """The pattern of the field `kind` of `Words` in all languages at once; a sentence that it does not match is not
    searched by language."""
    forms = "|".join(getattr(words, kind) for words in _LANGUAGES)
    return re.compile(rf"(?<![a-zа-я])(?:{forms})(?![a-zа-я])")


@cache
def _drops() -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rf"(?<![a-zа-я])(?:{form})") for form in _DROPS)
