"""Orders: the verbs that English orders to an agent begin with, and past forms."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


VERBS = word_set(
    "add adjust align allow apply archive ask assign attach avoid backport bring build bump calculate call catch "
    "center change check clean clear clone close commit compare compile connect continue convert copy "
    "compute create cut debug define delete deploy describe detect disable disconnect do document double download "
    "draft draw drop edit emit enable encode enforce ensure escape evaluate execute expand explain export "
    "expose extend extract fetch fill find finish fix format generate get give go handle hide highlight "
    "ignore implement import improve include increase initialize inline insert inspect install "
    "investigate isolate join keep leave link list load log look lower make mark measure merge migrate "
    "mock move name normalize notify open optimize order override parse pass persist pin populate port "
    "prepare prevent print proceed profile propagate provide publish pull push put raise read rebase redo "
    "reduce refactor reformat regenerate register reject release remember remove rename render reorder "
    "replace replicate report reproduce rerun reset resize resolve restart restore restrict retry return "
    "reuse revert review rework rewrite rollback rotate run sanitize save scaffold search send separate "
    "serialize set setup ship show shrink simplify skip sort split squash start stash stop store strip "
    "stub submit summarize support suppress swap switch sync take tell test throw tidy toggle track "
    "transform translate trim truncate try turn tweak undo unify uninstall unwrap update upgrade upload "
    "use validate verify wait wire work wrap write"
)

IRREGULAR = word_set(  # past forms that do not end in -ed
    "chose went made kept said told found got took gave wrote built left broke ran thought meant led lost came began "
    "threw sent dealt spent knew saw drew fell grew held brought bought caught taught stood understood won rose chosen "
    "gone done seen taken given written broken known thrown fallen stuck cut put set hit let split shut "
    "froze frozen hung shrank sank slept slid shook shot struck swept tore woke drove dug hid spun sped wore rewrote"
)
