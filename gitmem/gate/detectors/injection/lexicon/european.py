"""The obvious forms in Spanish, French, German, Italian, Portuguese, Russian and Vietnamese (accents folded)."""

from __future__ import annotations

from gitmem.gate.detectors.injection.lexicon import Concept as C
from gitmem.gate.detectors.injection.lexicon import Lexicon

LEXICON: Lexicon = {
    C.OVERRIDE: r"\b(?:ignor(?:a|ar|ez|er|iere|ieren|ad|are|a?te|es|en)|olvida\w*|descarta\w*|oubli(?:e|ez|er)|neglige[zr]?|vergiss|vergesst|vergessen|missachte\w*|"
    r"dimentica\w*|esque[cç]a\w*|desconsidere\w*|omite|omita|bo qua|quen|игнорируй\w*|проигнорируй\w*|забудь\w*|отмени\w*|не следуй\w*|обойди\w*)\b",
    C.RULES: r"\b(?:instrucciones|reglas|ordenes|directrices|indicaciones|instructions|consignes|regles|directives|anweisungen|regeln|vorgaben|befehle|"
    r"istruzioni|regole|instrucoes|regras|huong dan|chi dan|quy tac|инструкци\w+|правил\w*|указани\w+|команд\w*)\b(?: (?:anteriores|previas|precedentes|vorherigen|"
    r"previous|predecenti|truoc\w*))?",
    C.PROMPT: r"\b(?:(?:prompt|mensaje|message|indicacion) (?:del |de |du |di )?(?:sistema|systeme|sistem\w*)|systemprompt|system-?prompt|systemnachricht|prompt di sistema|"
    r"loi nhac he thong|системн\w+ (?:промпт|сообщени|подсказк|инструкци)\w*)\b",
    C.REVEAL: r"\b(?:muestra\w*|revela\w*|imprime|dime|escribe|montre[zr]?|revele[zr]?|affiche[zr]?|dis-moi|ecri[stv]\w*|zeig\w*|verrate\w*|sag mir|gib\b.{0,30}\baus|schreib\w*|"
    r"mostra\w*|rivela\w*|mostre|revele|tiet lo|hien thi|покажи\w*|раскрой\w*|выведи\w*|напиши\w*|скажи\w*)\b",
    C.SECRET: r"\b(?:contrasenas?|claves?|secretos?|credenciales|mots? de passe|cles?|identifiants|secrets|passw(?:ort|orter)|geheimniss?e?|schlussel|zugangsdaten|"
    r"senhas?|chaves?|mat khau|парол\w+|секрет\w*|ключ\w*|токен\w*)\b",
    C.SEND: r"\b(?:envia\w*|manda\w*|envoie[zr]?|envoyer|sende\w*|schick\w*|invia\w*|envie|gui den|отправ\w+|перешли\w*|загрузи\w*)\b",
    C.CONCEAL: r"\b(?:sin (?:decir|avisar|informar|mencionar)\w*|no (?:le )?(?:digas|informes|menciones|reveles)|sans (?:le )?(?:dire|informer|prevenir|mentionner)|"
    r"ne (?:le )?(?:dis|dites|mentionnez|revelez|informez) (?:pas|jamais)|ohne (?:es )?(?:zu (?:sagen|erwahnen|informieren)|den nutzer)|"
    r"(?:sag|erwahne|verrate)\w* (?:es )?(?:\w+ )?(?:nicht|niemandem|nichts)|senza (?:dire|informare)|nao (?:diga|conte|mencione)|не (?:говори|сообщай|упоминай|рассказывай)\w*|тайно|незаметно|в секрете)\b",
    C.NO_ASKING: r"\b(?:sin (?:preguntar|confirmar|confirmacion|aprobacion)|sans (?:demander|confirmation|confirmer|approbation)|ohne (?:zu fragen|ruckfrage|bestatigung|nachfrage)|"
    r"senza (?:chiedere|conferma)|sem (?:perguntar|confirmar|confirmacao)|без (?:подтверждени|спроса|проверк|вопрос)\w*|не спрашивай\w*)\b",
    C.PERSIST: r"\b(?:a partir de (?:ahora|agora)|de ahora en adelante|siempre|desormais|dorenavant|a partir de maintenant|toujours|ab (?:jetzt|sofort)|von nun an|immer|"
    r"d'ora in poi|sempre|tu bay gio|с этого момента|отныне|всегда|впредь|навсегда|запомни)\b",
    C.AGENT: r"\b(?:asistente|agente|eres ahora|tu es maintenant|vous etes maintenant|du bist (?:jetzt|nun)|du musst|sie sind jetzt|assistent\w*|sei ora|voce (?:e|agora)|"
    r"ban (?:la|phai)|ты (?:теперь|должен|больше)|ассистент\w*|агент\w*|модель)\b",
    C.ROLE: r"\b(?:eres ahora|actua como|finge|tu es maintenant|vous etes maintenant|agis comme|fais semblant|du bist (?:jetzt|nun)|tu so als|handle als|verhalte dich|spiele? die rolle|"
    r"sei ora|comportati|aja como|finja|voce agora e|hay dong vai|притворись|веди себя|действуй как|ты теперь|представь\w*)\b",
    C.UNBOUND: r"\b(?:sin (?:restricciones|limites|filtros)|sans (?:restrictions?|limites?|filtres?)|ohne (?:einschrankung\w*|beschrankung\w*|filter)|uneingeschrankt\w*|senza (?:restrizioni|limiti)|"
    r"sem (?:restricoes|limites)|без (?:ограничений|цензуры|фильтров))\b",
    C.DESTROY: r"\b(?:borra\w*|elimina\w*|supprime[zr]?|effacez?|losch\w*|entfern\w*|cancella\w*|apague|exclua|xoa|удали\w*|сотри\w*|очисти\w*)\b",
    C.ORDER: r"\b(?:debes|por favor|devez|dois|veuillez|s'il vous plait|musst|bitte|sollst|devi|deve|hay|должен|должна|нужно|пожалуйста|немедленно)\b",
    C.TALK: r"\b(?:ejemplo|ataque|exemple|attaque|beispiel\w*|angriff\w*|esempio|attacco|пример\w*|атак\w*)\b",
}  # fmt: skip
