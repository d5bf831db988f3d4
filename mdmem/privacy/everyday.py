"""Everyday words, numbers and file names: hiding them for the rest of a session protects nobody.

`common_words.txt` lists the words of English and of programming, without inflected forms. Each line has the words that
begin with the same two letters.
"""

from __future__ import annotations

import os

from mdmem import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_SHORTEST = 5
"""A shorter word gives nothing away, in characters."""


def is_common(word: str) -> bool:
    """Whether a word is an everyday English or technical word, in any form, or too short to give anything away."""
    low = word.lower().removesuffix("'s").removesuffix("’s")
    if len(low) < _SHORTEST or low in TOKENS:
        return True
    return low.isascii() and low.isalpha() and any(form in _words_like(form) for form in _forms(low))


def may_be_private_number(digits: str, few: bool) -> bool:
    """Whether a number may be private: no year, round number, port or power of two. few: it is among few words."""
    if digits.endswith("000") or digits in NUMBERS or len(digits) < 4:
        return False
    if len(digits) >= 6:
        return not (len(digits) == 8 and digits[:2] in ("19", "20"))  # a date
    return few and not (len(digits) == 4 and (digits[:2] in ("19", "20") or digits.endswith("00")))


def may_be_private_code(token: str) -> bool:
    """Whether letters and digits may be a code: no quantity, no technical name, and no word with a number."""
    low = token.lower()
    if not low.isalnum() or low.isalpha() or low.isdecimal() or low in TOKENS:
        return False
    word = low.rstrip("0123456789")
    return not low.lstrip("0123456789").isalpha() and not (len(word) > 3 and word.isalpha())


def is_everyday(token: str) -> bool:
    """Whether a token is a date, a version, the local host, or one or two everyday words, like `user-agent`."""
    low = token.lower()
    if low in TOKENS or low.startswith(("localhost", "127.0.0.1", "0.0.0.0")):  # noqa: S104 - no address to bind
        return True
    bare = low.lstrip("v")
    if bare[:1].isdecimal() and bare.replace(".", "").replace("-", "").replace(":", "").isdecimal():
        return len(token) <= 10 and ("." in token or (token[4:5] == "-" and token[:2] in ("19", "20")))
    pieces = "".join([char if char.isalnum() else " " for char in token]).split()
    return len(pieces) < 3 and all(len(piece) < 3 if piece.isdecimal() else is_plain(piece) for piece in pieces)


def is_plain(word: str) -> bool:
    """Whether a word is an everyday word, or two of them in camel case."""
    if is_common(word):
        return True
    if not word.isalpha() or word.islower() or word[1:].islower():
        return False
    pieces = "".join([f" {char}" if char.isupper() else char for char in word]).split()
    return len(pieces) < 3 and all(map(is_common, pieces))


def _forms(word: str) -> Iterator[str]:
    """List the words that a word may be a form of, itself first."""
    yield word
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            stem = word[: -len(ending)]
            yield stem
            yield stem + "e"
            if stem[-1] == stem[-2]:
                yield stem[:-1]
            if stem[-1] == "i":
                yield stem[:-1] + "y"
    for beginning in _BEGINNINGS:
        if word.startswith(beginning) and len(word) - len(beginning) >= _SHORTEST:
            yield word[len(beginning) :]


_loaded: list[str] = []
_found: dict[str, frozenset[str]] = {}


def _words_like(word: str) -> frozenset[str]:
    """Return the everyday words that begin with the same two letters as `word`."""
    begin = word[:2]
    if begin not in _found:
        text = _dictionary()
        at = text.find(f"\n{begin} ")
        _found[begin] = frozenset(text[at + 4 : text.find("\n", at + 1)].split() if at >= 0 else ())
    return _found[begin]


def _dictionary() -> str:
    """Load the word list once. If the file is missing, fewer words count as everyday, so more is hidden, never less."""
    if not _loaded:
        try:
            path = os.path.join(os.path.dirname(__file__), "common_words.txt")
            _loaded.append("\n" + files.read_any(path, _MAX_BYTES).decode("ascii"))
        except (OSError, UnicodeDecodeError):
            _loaded.append("")
    return _loaded[0]


_MAX_BYTES = 1 << 20


# -- tables

_BEGINNINGS = ("un", "re", "non", "pre", "sub", "over", "auto", "multi")
_ENDINGS = (
    "s", "es", "ed", "d", "ing", "ings", "ly", "er", "r", "ers", "rs", "or", "ors", "ment", "ments", "able", "ness",
    "ion", "ions", "ity", "al", "ally", "ful", "less",
)  # fmt: skip

TOKENS = frozenset(
    """
    utf-8 utf8 utf-16 ascii latin-1 base64 base32 sha256 sha-256 sha512 sha1 md5 x86_64 amd64 arm64 aarch64 win32 win64
    python2 python3 node18 node20 node22 http1 http2 log4j oauth2 ipv4 ipv6 int32 int64 uint8 uint32 float32 float64
    int8 int16 h264 h265 e2e i18n l10n a11y k8s s3 ec2 c++ c# .net node.js next.js vue.js package.json tsconfig.json
    pyproject.toml setup.py setup.cfg requirements.txt readme.md changelog.md cargo.toml go.mod makefile dockerfile
    docker-compose.yml docker-compose.yaml .gitignore .env __init__.py __main__.py index.html index.js main.py
    main.go main.rs app.py
    """.split()
)
"""Everyday names with digits and signs, in lower case."""

NUMBERS = frozenset(
    """
    1024 2048 4096 8192 16384 32768 65535 65536 1234 12345 123456 8080 8081 8443 5432 3306 6379 5672 9092 9200 27017
    5000 3000 3001 4200 5173 8888 9090 9000 2222 3389 1433 1521 11434
    """.split()
)
"""Powers of two, well-known ports, and numbers that people type as an example."""

PARTICLES = (
    "에서는", "에게서", "입니다", "이에요", "이라고", "예요", "라고", "에서", "에게", "께서", "으로", "부터", "까지",
    "처럼", "보다", "마다", "조차", "밖에", "이나", "이다", "로", "은", "는", "이", "가", "을", "를", "의", "에", "와",
    "과", "도", "만",
)  # fmt: skip
"""Korean particles and endings of words, the longest first."""

KOREAN = frozenset(
    """
    비밀번호 데이터베이스 소프트웨어 프로그램 애플리케이션 인터페이스 프로젝트 사용합니다 합니다 있습니다
    """.split()
)
"""Everyday Korean words of four or more syllables."""

CJK = tuple(
    """
    数据库 服务器 サーバー パスワード プログラム ファイル システム プロジェクト データ ベース ください している
    しました について します です ます した する れる から まで ため こと もの この その
    数据 服务 文件 系统 程序 代码 项目 用户 密码 配置 测试 使用 需要 可以 我们 他们 这个 那个 进行 问题 错误
    功能 接口 信息 管理 时间 运行 会議 会议 公司 客户 電話 电话 番号 設定 確認 変更 実行 問題 時間 会社 顧客
    環境 情報 機能 必要 今日 明日 东西 什么
    の は が を に で と も へ や 的 是 在 了 和 与 及 为
    """.split()
)
"""Everyday Chinese and Japanese words, each before the shorter ones that it contains."""
