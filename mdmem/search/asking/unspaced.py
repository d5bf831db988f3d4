"""Unspaced: substrings by which languages ask that have no spaces between words, or join endings to them.

No substring names a subject.
"""

from __future__ import annotations


class Unspaced:
    """Substrings that replace `Language`'s classes in a language without spaces, or with endings joined to words.

    sure: substrings that ask about the past by themselves. why, here: as in `Language`. counts: asking for a number.
    reasons: nouns at the end of a text that ask for a reason; past_ends: what ends a question about the past. explains:
    substrings that ask what something is in general. now: present times, with which a question is about the state that
    earlier work has brought about. looks: as in `Language`, and what asks whether. points: pronouns for what was spoken
    of before.
    """

    def __init__(self, asks: str, we: str, past: str, back: str, resumes: str, **more: str) -> None:
        self.why = tuple(more.get("why", "").split())
        self.asks = (*asks.split(), *self.why)
        self.we = tuple(we.split())
        self.past = tuple(past.split())
        self.back = tuple(back.split())
        self.resumes = tuple(resumes.split())
        self.sure = tuple(more.get("sure", "").split())
        self.here = tuple(more.get("here", "").split())
        self.reasons = tuple(more.get("reasons", "").split())
        self.past_ends = tuple(more.get("past_ends", "").split())
        self.explains = tuple(more.get("explains", "").split())
        self.counts = tuple(more.get("counts", "").split())
        self.points = tuple(more.get("points", "").split())
        self.now = tuple(more.get("now", "").split())
        self.looks = tuple(more.get("looks", "").split())


UNSPACED: dict[str, Unspaced] = {
    "ja": Unspaced(
        "？ ? なぜ 何故 どうして どうやって どう 何 なに いつ どこ どれ どの どんな 誰 教えて でしたか ましたか",
        "私たち 我々 僕ら 俺たち うちら",
        "した った んだ いた えた れた けた せた めた てた げた べた ました でした だった",
        "前に 前回 以前 先週 先日 先月 昨日 一昨日 おととい 昨年 去年 この前 この間 こないだ 当時 過去に 数日前 週間前",
        "続き 続けて 続行 再開 やりかけ どこまで",
        sure="っけ",
        why="なぜ 何故 どうして",
        here="この これ ここ",
        counts="いくつ 何個 何件 何人",
        now="現在 今の 今は 今では",
        looks="表示 返す 返し 定義 失敗",
        points="それ あれ",
        reasons="理由 原因 経緯 いきさつ 対処 対処法 解決策",
        explains="とは何 とはなん とは？ って何 の違い",
    ),
    "zh": Unspaced(
        "？ ? 多少钱 多少錢 为什么 為什麼 为何 為何 为啥 為啥 怎么 怎麼 怎样 怎樣 如何 什么 什麼 哪 吗 嗎 多少 几个 "
        "谁 誰 是否 有没有 有沒有",
        "我们 我們 咱们 咱們",
        "了 过 過 我们决定 我們決定 是怎么 是怎麼 是如何 怎么做的 的吗 的嗎 定的 定下 选的 選的 最终 最終",
        "上次 上回 上周 上週 上礼拜 上星期 上个月 上個月 昨天 前天 前几天 前幾天 之前 以前 当时 當時 那时 那時 "
        "曾经 曾經 先前 后来 後來 去年 过去 過去 早些时候 那次 那回 当初 當初 最初 起初 最开始 最開始 一开始 一開始",
        "继续 繼續 接着 接著 做到哪 停在 没做完 沒做完",
        sure="来着 來著",
        why="为什么 為什麼 为何 為何 为啥 為啥",
        here="这 這",
        counts="有多少 多少个 多少個 多少行 多少条 多少條 多少次 多少人 多少种 多少種 几个 幾個",
        now="现在 現在 目前 如今",
        looks="吗 嗎 显示 顯示 返回 定义 定義 失败 失敗 什么样 什麼樣",
        points="它 那个 那個 这个 這個",
        reasons="原因 理由 缘由",
        explains="什么是 什麼是 是什么意思 是什麼意思 的区别 的區別",
        past_ends="解决的 解決的 修的 修好的 加的 改的 设置的 設置的 处理的 處理的 弄的 做的 写的 寫的 定的 选的 選的 "
        "换的 換的",
    ),
    "ko": Unspaced(
        "？ ? 왜 어떻게 무엇 무슨 뭐 뭘 몇 얼마 언제 어디 어느 누가 알려",
        "우리 저희",
        "",
        "지난주 지난달 지난번 지난 어제 그저께 전에 예전 저번 이전에 당시 그때 며칠",
        "이어서 이어 계속 마저 하던",
        why="왜",
        here="이거",
        counts="몇 얼마",
        now="지금 현재",
        looks="보여 반환 정의 실패",
        points="그거 그것 그게",
        reasons="이유 원인",
        explains="이란 차이",
    ),
    "th": Unspaced("ทำไม อย่างไร ยังไง อะไร เมื่อไหร่ ที่ไหน ไหม ?", "เรา", "แล้ว ได้", "เมื่อวาน ก่อนหน้า ครั้งที่แล้ว สัปดาห์ที่แล้ว", "ต่อ"),
    "hi": Unspaced("क्यों कैसे क्या कब कहाँ कहां ?", "हमने हम", "था थे थी किया", "कल पहले पिछले पिछली", "जारी आगे"),
}
"""Language -> its substrings."""
