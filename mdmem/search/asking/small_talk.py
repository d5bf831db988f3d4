"""Small talk: recognizes prompts that only agree, thank or stop, for which nothing is looked up."""

from __future__ import annotations

DISMISSED = frozenset(
    ["", "ok", "okay", "thanks", "thank you", "thx", "stop", "cancel", "never mind", "nevermind", "exit", "quit", "bye",
     "danke", "danke dir", "vielen dank", "passt", "stopp", "merci", "merci beaucoup", "gracias", "muchas gracias",
     "grazie", "obrigado", "obrigada", "dank je", "dzięki", "спасибо", "стоп", "谢谢", "謝謝", "好的", "ありがとう",
     "ありがとうございます", "감사합니다", "고마워"]
)  # fmt: skip
GO_ON = frozenset(
    ["go on", "continue", "yes", "y", "do it", "go ahead", "proceed", "please continue", "keep going", "carry on",
     "weiter", "mach weiter", "bitte weiter", "weitermachen", "ja", "ja bitte", "mach das", "continuez", "vas-y", "oui",
     "sigue", "continúa", "continua", "adelante", "sí", "continue por favor", "vai avanti", "sì", "sim", "ga door",
     "ga verder", "kontynuuj", "tak", "продолжай", "продолжи", "да", "继续", "請繼續", "请继续", "繼續", "是", "続けて",
     "続けてください", "はい", "계속", "계속해", "네"]
)  # fmt: skip


def says_little(text: str) -> bool:
    """Whether a prompt only agrees, thanks or stops."""
    return plain_text(text) in DISMISSED | GO_ON


def plain_text(text: str) -> str:
    """Return a prompt in lower case, without the marks at its end."""
    return " ".join(text.lower().split()).strip(" .!?…。！？")
