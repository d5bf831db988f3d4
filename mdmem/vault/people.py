"""Text that people wrote into the vault by hand, with private sections and secrets removed before it is passed on.

Hooks clean what they store, but nothing has cleaned a file that a person wrote or edited. Commit, export, search,
index, injection and the servers call this module first.
"""

from __future__ import annotations

from mdmem import config, privacy
from mdmem.vault import front_matter, generated, is_in_journal, journal, note

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_HEAD_CHARS = 4096
_EDGE_CHARS = 8192


def keeps_private(meta: Mapping[str, object]) -> bool:
    """Whether front matter marks the note as private: `private: true`, or the tag `private`.

    In doubt it does: any value does but "no" and the like. A number is the count of sections kept out of a captured
    note, and does not make the rest private.
    """
    for key, value in meta.items():
        name = str(key).lower()
        if name == "private" and front_matter.is_yes(str(value or "")):
            return True
        if name in ("tags", "tag") and "private" in str(value).lower():
            tags = value if isinstance(value, list) else str(value).replace(",", " ").split()
            if any(str(tag).strip("# ").lower() == "private" for tag in tags):
                return True
    return False


def stays_here(meta: Mapping[str, object]) -> bool:
    """Whether front matter keeps its note on this machine: `sync: false`, or private."""
    return str(meta.get("sync", "")).lower() in front_matter.NO or keeps_private(meta)


def is_unchecked(parsed: note.Parsed) -> bool:
    """Whether neither private tags nor front matter can be found in a note, as it holds NUL bytes: in UTF-16."""
    return "\0" in parsed.body


def is_captured(parsed: note.Parsed) -> bool:
    """Whether a note is unchanged since a hook stored it cleaned; any other counts as written by people."""
    return "digest" in parsed.meta and not note.is_edited(parsed)


def is_untouched(parsed: note.Parsed, data: bytes, tags: Any) -> bool:
    """Whether a captured note is unchanged: same words and tags, no other keys, formatted as mdmem does."""
    if parsed.problem or note.is_edited(parsed) or "digest" not in parsed.meta or set(parsed.meta) - note.OF_CAPTURE:
        return False
    if parsed.meta.get("tags") != tags:
        return False
    rendered = note.render(note.Note(parsed.meta, "", parsed.body.lstrip("\n")))
    return rendered.encode("utf-8", "replace").rstrip() == data.rstrip()


def origin(parsed: note.Parsed) -> str:
    """Return the origin for the privacy gate: a lone `[private]` counts only in text that people write."""
    return "tool" if is_captured(parsed) else "prompt"


def load_clean(vault: str, path: str, rules: privacy.Rules | None = None) -> note.Parsed:
    """Return the cleaned note at a path in the vault; a missing one is empty. rules: as in `cleaned`."""
    return cleaned(vault, note.load(vault, path), rules)


def try_load_clean(vault: str, path: str) -> note.Parsed:
    """Return what `load_clean` does; a note that cannot be read is empty too."""
    try:
        return load_clean(vault, path)
    except PermissionError:
        return note.parse(b"")


def on_page(vault: str, page: note.Parsed) -> str:
    """Return what people wrote on the page of a session, project or day, without mdmem's part, template and title."""
    from mdmem.vault import template

    template_lines = template.load(f"notes/{page.meta.get('kind')}.md", vault).splitlines()
    lines = generated.outside(page.body).splitlines()
    return "\n".join(line for line in lines if line not in template_lines and not line.startswith("# ")).strip()


def clean_text(vault: str, text: str) -> str:
    """Return the cleaned text of a note; what hooks stored is not cleaned again."""
    if is_captured(note.parse(text)):
        return text
    return _cleaned(rules_of(vault), text, "prompt")


def rules_of(vault: str) -> privacy.Rules:
    """Return the rules of a vault's settings."""
    return privacy.Rules.of(config.load(vault).settings)


def cleaned(vault: str, parsed: note.Parsed, rules: privacy.Rules | None = None) -> note.Parsed:
    """Return a note with front matter and body cleaned, each on its own, but what the body marks is masked in both.

    rules: the vault's; None to load them. A captured note is returned as it is. One that cannot be checked is private.
    """
    if is_captured(parsed):
        return parsed
    if is_unchecked(parsed):
        parsed = note.Parsed(parsed.meta | {"private": True}, parsed.body, parsed.problem)
    rules = rules or rules_of(vault)
    texts = {key: value for key, value in parsed.meta.items() if isinstance(value, (str, list))}
    body = privacy.clean(parsed.body, rules=rules)
    meta = parsed.meta | privacy.clean(texts, rules=rules, said=body.spans).value
    return note.Parsed(meta, str(body.value), parsed.problem)


def quoted(vault: str, text: str, most: int = 0) -> str:
    """Clean a note's text to quote a line from; faster than `clean_text`, as it does not parse captured notes.

    most: number of characters needed (0: all). Of a very long text only twice as many are cleaned, and the end is
    dropped, so that no secret is cut in two. A text that may contain a tag is cleaned whole, as a tag can hide
    everything after it.
    """
    captured = "\ndigest: " in text[:_HEAD_CHARS]
    if captured and "private" not in text.lower():
        return text
    rules = rules_of(vault)
    if most and len(text) > 4 * most and not privacy.may_hold_tag(text, rules):
        return _cleaned(rules, text[: 2 * most], "tool" if captured else "prompt")[:-_EDGE_CHARS]
    return _cleaned(rules, text, "tool" if captured else "prompt")


def _cleaned(rules: privacy.Rules, text: str, origin: str) -> str:
    return str(privacy.clean(text, rules=rules, origin=origin).value)


def clean_path(rules: privacy.Rules, path: str, data: bytes | None = None) -> str:
    """Clean the names of a file and its folders; the journal's folders are clean already.

    data: the note. Words of its private sections are private in its name too: the name may come from a title of which
    a part was marked later. The end of the name that is made of its id or session counts as no secret: after some
    words, as in `all-tests-pass-7gk2q9m4x1`, it would be taken for a password.
    """
    folders, _, name = path.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    stem, extension = (stem, dot + suffix) if stem else (name, "")
    private_texts = _said_in(rules, data)
    cleaned = _cleaned_name(rules, stem, private_texts)
    if cleaned != stem and (end := _made_end(stem, data)):
        cleaned = _cleaned_name(rules, stem.removesuffix(end), private_texts) + end
    if not is_in_journal(path):
        folders = "/".join(_cleaned_name(rules, part, private_texts) for part in folders.split("/"))
    return f"{folders}/{cleaned}{extension}" if folders else cleaned + extension


def hides_name(rules: privacy.Rules, path: str) -> bool:
    """Whether the name of a file or of a folder above it contains private tags."""
    return privacy.may_hold_private(path, rules) and clean_path(rules, path) != path


def private_names(rules: privacy.Rules, paths: Sequence[str]) -> list[str]:
    """Return those of the paths that contain private tags, longest first."""
    if not privacy.may_hold_private("\n".join(paths), rules):
        return []
    return sorted((path for path in paths if hides_name(rules, path)), key=len, reverse=True)


def _made_end(stem: str, data: bytes | None) -> str:
    """Return the end of a file name that mdmem made of the note's id or session; "" without one."""
    meta = note.parse(data).meta if data else {}
    note_id = str(meta.get("id", ""))
    ids = [note_id] if note.is_made_id(note_id) and note_id == note_id.lower() else []
    ids += journal.session_tags(str(meta["session"])) if meta.get("session") else ()
    return next((f"-{end}" for end in ids if stem.endswith(f"-{end}")), "")


def _said_in(rules: privacy.Rules, data: bytes | None) -> tuple[str, ...]:
    """Return what the private sections of a note say, without those of which a purge left only a mark."""
    text = data.decode("utf-8", "replace") if data else ""
    spans = privacy.clean(text, rules=rules).spans if privacy.may_hold_private([text], rules) else ()
    return tuple(span for span in spans if span.strip() not in (rules.marker, rules.redacted))


def _cleaned_name(rules: privacy.Rules, name: str, private_texts: tuple[str, ...]) -> str:
    storable = name.encode("utf-8", "replace").decode()  # a name that is not UTF-8 stays as it is
    cleaned = str(privacy.clean(storable, rules=rules, said=private_texts).value)
    return name if cleaned == storable else cleaned or rules.marker or "-"
