"""Formats of credentials, one row for each.

The facts are from the vendors' documentation: the prefix of a token, the characters that follow, and their minimum
number. Public identifiers (publishable keys, ids of objects) have rows of their own and are never masked.
"""

from __future__ import annotations

DIGITS = "0123456789"
HEX = DIGITS + "abcdefABCDEF"
LOWER_HEX = DIGITS + "abcdef"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
LOWER = "abcdefghijklmnopqrstuvwxyz0123456789"
ALNUM = UPPER + "abcdefghijklmnopqrstuvwxyz"
WORD = ALNUM + "_-"
DOTTED = WORD + "."
BASE64 = ALNUM + "+/=_-"

ANY, MIXED, DOTS = "any", "mixed", "dots"
"""Further condition on the part after a prefix that ordinary words share: none, a mix of letters and digits, or three
parts separated by dots."""

FORMATS: tuple[tuple[str, str, str, int, str], ...] = (
    # kind, prefixes, characters after the prefix, their minimum number, further condition
    # -- code hosting and continuous integration
    ("github-token", "ghp_ gho_ ghu_ ghr_", WORD, 30, ANY),
    ("github-token", "ghs_", DOTTED, 30, ANY),
    ("github-token", "github_pat_", WORD, 36, ANY),
    ("gitlab-token", "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glimt-", DOTTED, 16, ANY),
    ("gitlab-token", "glagent- gloas- glsoat- glffct- glwt- GR1348941", DOTTED, 16, ANY),
    ("bitbucket-token", "ATBB", ALNUM, 20, MIXED),
    ("atlassian-token", "ATATT3 ATCTT3 ATSTT3 ATOTT3", WORD + "=", 40, ANY),
    ("trello-token", "ATTA", HEX, 60, ANY),
    ("circleci-token", "CCIPAT_ CCIPRJ_", WORD, 30, ANY),
    ("buildkite-token", "bkua_ bkat_ bkpt_ bkct_ bkaj_", ALNUM, 24, ANY),
    ("sourcegraph-token", "sgp_ sgd_ sgs_", WORD, 32, ANY),
    ("sonar-token", "sqp_ squ_ sqa_", HEX, 32, ANY),
    ("docker-token", "dckr_pat_ dckr_oat_", WORD, 20, ANY),
    ("npm-token", "npm_", ALNUM, 30, ANY),
    ("pypi-token", "pypi-AgE", WORD, 32, ANY),
    ("rubygems-key", "rubygems_", HEX, 32, ANY),
    ("crates-token", "cio", ALNUM, 32, MIXED),
    ("nuget-key", "oy2", LOWER, 40, MIXED),
    ("clojars-token", "CLOJARS_", LOWER, 40, ANY),
    ("packagist-token", "packagist_", WORD, 50, MIXED),
    ("jfrog-key", "AKCp cmVmdGtu", ALNUM, 50, ANY),
    ("octopus-key", "API-", UPPER, 24, MIXED),
    ("codecov-token", "codecov_", WORD, 24, MIXED),
    ("wakatime-key", "waka_", HEX + "-", 36, ANY),
    ("chromatic-token", "chpt_", HEX, 12, ANY),
    ("percy-token", "web_ app_ auto_", HEX, 64, ANY),
    ("jetbrains-token", "perm: perm-", BASE64 + ".", 32, MIXED),
    ("scalingo-token", "tk-us-", WORD, 40, MIXED),
    ("clickhouse-key", "4b1d", ALNUM, 38, MIXED),
    ("adobe-secret", "p8e- p8-", WORD, 30, MIXED),
    ("authress-key", "sc_ ext_ scauth_ authress_", DOTTED + "/+=", 60, MIXED),
    ("beamer-key", "b_", WORD + "=", 44, MIXED),
    ("mailgun-key", "pubkey-", LOWER_HEX, 32, ANY),
    ("intra42-key", "s-s4t2ud- s-s4t2af-", LOWER_HEX, 60, ANY),
    ("lob-key", "live_pub_ test_pub_", LOWER_HEX, 30, ANY),
    ("ngrok-key", "ak_ cr_", ALNUM, 24, MIXED),
    ("sumologic-key", "su", ALNUM, 30, MIXED),
    # -- clouds
    ("aws-key", "AKIA ASIA ABIA ACCA", UPPER, 16, ANY),
    ("aws-key", "A3T", UPPER, 17, MIXED),
    ("aws-key", "ABSK bedrock-api-key-", BASE64, 40, ANY),
    ("aws-session", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", BASE64, 60, ANY),
    ("google-key", "AIza", WORD, 30, ANY),
    ("google-token", "ya29.", DOTTED, 20, ANY),
    ("google-secret", "GOCSPX-", WORD, 20, ANY),
    ("google-token", "1//0", WORD, 30, ANY),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", HEX, 40, ANY),
    ("digitalocean-key", "DO00", UPPER, 16, ANY),
    ("alibaba-key", "LTAI", ALNUM, 12, MIXED),
    ("tencent-key", "AKID", ALNUM, 28, MIXED),
    ("volcengine-key", "AKLT", BASE64, 32, MIXED),
    ("baidu-key", "bce-v3/ALTAK-", WORD + "/", 32, ANY),
    ("yandex-token", "t1. y0_ y1_ y2_ y3_ AQVN", DOTTED, 30, MIXED),
    ("scaleway-key", "SCW", UPPER, 17, MIXED),
    ("exoscale-key", "EXO", HEX, 24, ANY),
    ("heroku-key", "HRKU-", WORD, 32, ANY),
    ("fly-token", "fo1_ fm1r_ fm1a_ fm2_", BASE64 + ",", 32, ANY),
    ("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", ALNUM, 32, ANY),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", WORD, 24, ANY),
    ("render-key", "rnd_", ALNUM, 24, ANY),
    ("cloudflare-token", "cfut_ cfat_ cfk_", ALNUM, 36, ANY),
    ("cloudflare-key", "v1.0-", HEX + "-", 100, ANY),
    ("openshift-token", "sha256~", WORD, 32, ANY),
    ("pulumi-token", "pul-", HEX, 32, ANY),
    ("terraform-token", "tfp_ TFC-", WORD, 20, MIXED),
    ("vault-token", "hvs. hvb. hvr.", WORD, 20, ANY),
    ("vault-token", "s. b. r.", ALNUM, 24, MIXED),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.said. dp.scim. dp.audit.", DOTTED, 30, ANY),
    ("infracost-key", "ico-", ALNUM, 28, MIXED),
    ("tailscale-key", "tskey-", WORD, 16, MIXED),
    ("harness-token", "pat. sat.", DOTTED, 48, MIXED),
    ("scalr-token", "at-", ALNUM, 60, MIXED),
    ("k3s-token", "K10", HEX + ":serv", 64, ANY),
    ("porkbun-key", "sk1_ pk1_", HEX, 64, ANY),
    ("localstack-key", "ls-", WORD, 30, MIXED),
    ("infisical-token", "st.", DOTTED, 60, MIXED),
    # -- databases and data
    ("planetscale-secret", "pscale_tkn_ pscale_pw_ pscale_oauth_", DOTTED, 30, ANY),
    ("supabase-key", "sbp_ sb_secret_", WORD, 28, ANY),
    ("neon-key", "napi_ npg_", ALNUM, 12, MIXED),
    ("xata-key", "xau_", ALNUM, 30, ANY),
    ("aiven-password", "AVNS_", WORD, 15, ANY),
    ("aiven-token", "aivenv1", BASE64, 60, ANY),
    ("databricks-token", "dapi dose dkea", HEX, 32, ANY),
    ("pinecone-key", "pcsk_", WORD, 40, ANY),
    ("airtable-token", "pat", ALNUM + ".", 70, MIXED),
    ("airtable-key", "key", ALNUM, 14, MIXED),
    ("snowflake-token", "ver:1-hint:", BASE64, 32, ANY),
    ("dbt-token", "dbtc_ dbtu_ dbts_", BASE64, 30, ANY),
    ("prefect-key", "pnu_ pnb_", ALNUM, 30, ANY),
    # -- language models
    ("anthropic-key", "sk-ant-", WORD, 24, ANY),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None- sess-", WORD, 30, MIXED),
    ("openrouter-key", "sk-or-", WORD, 32, ANY),
    ("helicone-key", "sk-helicone-", WORD, 24, ANY),
    ("model-key", "sk-", WORD, 18, MIXED),
    ("huggingface-token", "hf_ api_org_", ALNUM, 30, ANY),
    ("groq-key", "gsk_", ALNUM, 40, ANY),
    ("xai-key", "xai-", ALNUM, 60, ANY),
    ("perplexity-key", "pplx-", ALNUM, 40, ANY),
    ("replicate-token", "r8_", ALNUM, 30, ANY),
    ("nvidia-key", "nvapi-", WORD, 50, ANY),
    ("cerebras-key", "csk-", ALNUM, 40, MIXED),
    ("fireworks-key", "fw_", ALNUM, 20, MIXED),
    ("together-key", "tgp_v1_", WORD, 32, ANY),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", WORD, 32, ANY),
    ("langsmith-key", "ls__", HEX, 32, ANY),
    ("cursor-key", "key_ crsr_", HEX, 60, ANY),
    ("voyage-key", "pa-", WORD, 40, MIXED),
    ("jina-key", "jina_", WORD, 50, ANY),
    ("tavily-key", "tvly-", WORD, 24, MIXED),
    ("firecrawl-key", "fc-", HEX, 32, ANY),
    ("context7-key", "ctx7sk-", HEX + "-", 36, ANY),
    ("elevenlabs-key", "sk_", HEX, 32, ANY),
    ("wandb-key", "wandb_v1_", WORD, 40, ANY),
    ("e2b-key", "e2b_", HEX, 32, ANY),
    ("daytona-key", "dtn_", HEX, 64, ANY),
    # -- chat, mail, phone
    ("slack-token", "xoxa- xoxr-", WORD, 8, MIXED),
    ("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe. xapp- xwfp-", WORD + ".%", 12, ANY),
    ("discord-token", "MT Mj Mz ND NT Nj Nz OD OT", DOTTED, 56, DOTS),
    ("sendgrid-key", "SG.", DOTTED + "=", 50, ANY),
    ("mailgun-key", "key-", LOWER, 32, MIXED),
    ("mailchimp-key", "md-", WORD, 22, MIXED),
    ("brevo-key", "xkeysib- xsmtpsib-", WORD, 60, ANY),
    ("klaviyo-key", "pk_", LOWER_HEX, 34, ANY),
    ("mailersend-token", "mlsn.", HEX, 64, ANY),
    ("resend-key", "re_", WORD, 24, MIXED),
    ("onesignal-key", "os_v2_app_ os_v2_org_", LOWER, 60, ANY),
    ("twilio-key", "SK AC", LOWER_HEX, 32, MIXED),
    ("intercom-token", "dG9r", BASE64, 56, ANY),
    ("vk-token", "vk1.a.", WORD, 60, ANY),
    ("facebook-token", "EAA IGQV IGAA", ALNUM, 80, MIXED),
    ("twitter-token", "AAAAAAAAAAAAAAAAAAAA", ALNUM + "%", 60, MIXED),
    ("linkedin-secret", "WPL_AP1.", DOTTED + "=", 18, ANY),
    ("line-token", "Bot-", BASE64, 100, MIXED),
    # -- payments
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_ sk_org_", BASE64, 10, ANY),
    ("webhook-secret", "whsec_ whsk_", BASE64, 24, ANY),
    ("square-token", "sq0atp- sq0csp- sq0idp-", WORD, 20, ANY),
    ("square-token", "EAAA", WORD, 56, ANY),
    ("braintree-token", "access_token$production$ access_token$sandbox$", ALNUM + "$", 40, ANY),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_", HEX, 32, ANY),
    ("plaid-token", "access-sandbox- access-production- access-development-", WORD, 32, ANY),
    ("flutterwave-key", "FLWSECK-  FLWSECK_TEST- FLWSECK_PROD-", WORD, 12, ANY),
    ("paddle-key", "pdl_live_ pdl_sdbx_ pdl_ntfset_", WORD, 32, ANY),
    ("polar-token", "polar_pat_ polar_oat_ polar_whs_", WORD, 24, ANY),
    ("payment-key", "live_ test_", ALNUM, 30, MIXED),
    ("payment-key", "live_", BASE64, 40, MIXED),
    ("payment-key", "sk_", HEX + "-", 36, ANY),
    ("shippo-token", "shippo_live_ shippo_test_", HEX, 32, ANY),
    ("easypost-key", "EZAK EZTK", ALNUM, 50, ANY),
    ("duffel-token", "duffel_live_ duffel_test_", BASE64, 32, ANY),
    ("razorpay-key", "rzp_live_ rzp_test_", ALNUM, 14, ANY),
    ("coinbase-key", "cbp_", ALNUM, 24, MIXED),
    # -- work tools
    ("notion-token", "ntn_", ALNUM, 40, ANY),
    ("notion-token", "secret_", ALNUM, 40, MIXED),
    ("linear-key", "lin_api_ lin_oauth_ lin_wh_", ALNUM, 30, ANY),
    ("figma-token", "figd_ figu_ figo_ figoh_ figor_", WORD, 30, ANY),
    ("postman-key", "PMAK- PMAT-", WORD, 24, ANY),
    ("dropbox-token", "sl.", DOTTED + "=", 100, ANY),
    ("hubspot-token", "pat-na1- pat-na2- pat-eu1- pat-ap1-", WORD, 32, ANY),
    ("typeform-token", "tfp_", DOTTED + "=", 36, ANY),
    ("frameio-token", "fio-u-", BASE64, 40, ANY),
    ("readme-key", "rdme_", LOWER, 40, ANY),
    ("contentful-token", "CFPAT-", WORD, 32, ANY),
    ("asana-token", "1/ 0/ 2/", HEX + ":/", 40, MIXED),
    ("zapier-key", "sk-ak-", WORD, 24, ANY),
    ("retool-token", "retool_", WORD, 24, MIXED),
    ("mapbox-token", "sk.eyJ tk.eyJ", DOTTED, 40, ANY),
    ("calcom-key", "cal_live_ cal_test_", WORD, 24, MIXED),
    ("thunderstore-token", "tss_", ALNUM, 24, MIXED),
    ("segment-token", "sgp_", ALNUM, 60, ANY),
    ("adafruit-key", "aio_", ALNUM, 24, ANY),
    # -- monitoring and security
    ("grafana-token", "glc_", BASE64, 32, ANY),
    ("grafana-token", "glsa_", WORD, 32, ANY),
    ("newrelic-key", "NRAK- NRII- NRJS- NRRA- NRIQ- NRSP-", WORD, 16, ANY),
    ("dynatrace-token", "dt0c01. dt0s01. dt0s02. dt0s16.", DOTTED, 60, ANY),
    ("sentry-token", "sntrys_ sntryu_ sntrya_ sntryi_", BASE64, 40, ANY),
    ("honeycomb-key", "hcaik_ hcbik_ hcxik_ hcalk_ hcamk_", ALNUM, 40, ANY),
    ("posthog-key", "phx_ phs_", ALNUM, 32, ANY),
    ("launchdarkly-key", "sdk- api- mob- rel-", HEX + "-", 36, MIXED),
    ("axiom-token", "xaat- xapt-", WORD, 32, ANY),
    ("rootly-token", "rootly_", HEX, 40, ANY),
    ("onepassword-key", "A3-", UPPER + "-", 33, ANY),
    ("onepassword-token", "ops_eyJ", BASE64, 80, ANY),
    ("maxmind-key", "mm_", WORD, 32, MIXED),
    ("age-key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", UPPER + "-", 40, ANY),
    ("minisign-key", "RWRTY0Iy", BASE64, 100, ANY),
    ("persona-key", "persona_production_ persona_sandbox_", WORD, 24, ANY),
    ("stytch-secret", "secret-live- secret-test-", BASE64, 32, ANY),
    ("workos-key", "sk_example_", BASE64, 24, MIXED),
    ("unkey-key", "unkey_", WORD, 20, MIXED),
    ("endor-key", "endr+", ALNUM, 14, ANY),
    ("socket-key", "sktsec_", WORD, 24, ANY),
    ("nightfall-key", "NF-", WORD, 30, MIXED),
    ("defined-key", "dnkey-", BASE64, 50, ANY),
    ("zuplo-key", "zpka_", WORD, 36, ANY),
    ("inngest-key", "signkey-", WORD, 32, MIXED),
    ("trigger-key", "tr_dev_ tr_prod_ tr_stg_ tr_pat_", ALNUM, 16, ANY),
    ("ionic-token", "ion_", ALNUM, 40, ANY),
    ("settlemint-token", "sm_pat_ sm_aat_ sm_sat_", ALNUM, 14, ANY),
    ("hop-token", "ptk_ bearer_", WORD, 28, MIXED),
    ("tinybird-token", "p.eyJ", DOTTED, 60, ANY),
    ("oculus-token", "OC|", WORD + "|", 30, ANY),
    ("twitch-token", "oauth:", LOWER, 30, MIXED),
    # -- tokens of open standards
    ("jwt", "eyJ", DOTTED + "=", 30, ANY),
    ("jwt", "ZXlK", BASE64, 40, ANY),
    (
        "private-key",
        "LS0tLS1CRUdJTiBSU0Eg LS0tLS1CRUdJTiBQUklW LS0tLS1CRUdJTiBFQyBQ LS0tLS1CRUdJTiBPUEVO LS0tLS1CRUdJTiBFTkNS",
        BASE64,
        40,
        ANY,
    ),
    ("password-hash", "$krb5tgs$ $krb5asrep$ $krb5pa$", WORD + ".$*/@:", 60, ANY),
    ("password-hash", "$apr1$", BASE64 + ".$", 24, ANY),
    ("password-hash", "grub.pbkdf2.sha512.", HEX + ".", 60, ANY),
    ("password-hash", "$2a$ $2b$ $2y$ $5$ $6$ $y$ $argon2i $argon2d $pbkdf2 $scrypt$", BASE64 + ".$,", 40, ANY),
)  # fmt: skip

AROUND: tuple[tuple[str, str, str, int, str, int], ...] = (
    ("telegram-token", ":AA", DIGITS, 6, WORD, 32),
    ("telegram-token", ":A", DIGITS, 8, WORD, 34),
    ("facebook-token", "|", DIGITS, 15, WORD, 27),
    ("maxmind-key", "_mmk", WORD, 36, "", 0),
    ("azure-secret", "Q~", WORD + ".~", 4, WORD + ".~", 31),
    ("azure-key", "JQQJ99", ALNUM, 40, ALNUM, 12),
    ("newrelic-key", "NRAL", LOWER, 36, "", 0),
    ("mailchimp-key", "-us", LOWER_HEX, 32, DIGITS, 1),
)
"""Kind, a mark inside a token, the characters before it and their minimum number, and the same after it."""

PUBLIC = (
    # mangled symbols, Punycode host names, ids and publishable keys
    "xn--", "XN--", "_ZN", "_RNv",
    "pk_live_", "pk_test_", "sb_publishable_", "phc_", "pk.eyJ", "toolu_", "srvtoolu_", "msg_", "msgbatch_",
    "call_", "ses_", "prt_", "req_", "resp_", "chatcmpl-", "asst_", "thread_", "file-", "wrkspc_", "cus_", "price_",
    "evt_", "acct_", "bafy", "bafk",
    # checksums, public keys, certificates
    "sha1-", "sha256-", "sha384-", "sha512-", "/nix/store/", "AAAAB3NzaC1", "AAAAC3NzaC1", "AAAAE2VjZHNh", "AAAAG",
    "LS0tLS1CRUdJTiBDRVJU", "age1",
    # files in base64: images, fonts, archives, documents
    "iVBORw0KGgo", "R0lGOD", "UklGR", "PHN2Zy", "AAABAA", "T2dnUw", "d09GM", "UEsDB", "H4sI", "JVBERi0",
)  # fmt: skip
"""Prefixes of strings that look like tokens but are not secret."""

LONGEST = 200
"""A longer run of random characters is data (an image, a key's modulus), unless it has a known prefix."""

BEFORE_DATA = ("renovate-debug:",)
"""Precede data that looks like a token."""
BEFORE_HASH = (
    "base64,", "base64%", "<base64>", "?b?", "?B?", "?q?", "?Q?", "h1:", "SHA256:", "sha256=", "sha384=", "sha512=",
    "sha1-", "sha256-", "sha384-", "sha512-", "sha-256=", "sha-512=", "sha-256=:", "sha-512=:", "sha1=", "md5=",
    "|1|", "=|", "boundary=", 'boundary="', 'contentHash": "', 'W/"', 'Tag: "', 'tag: "', "label=:",
)  # fmt: skip
"""Precede a checksum."""

FormatRow = tuple[str, str, str, int, str]
"""Kind, one prefix, alphabet, minimum number of characters, and further condition."""

_ODD_SIGNS = frozenset("$+/:|~")

ODD: list[FormatRow] = [
    (row[0], prefix, *row[2:])
    for row in FORMATS
    if not _ODD_SIGNS.isdisjoint(row[1])
    for prefix in row[1].split()
    if not _ODD_SIGNS.isdisjoint(prefix)
]
"""Rows whose prefix contains a sign that ends a word. They are searched for in the whole text."""

_PREFIXES = "".join([f" {row[1]}" for row in FORMATS])
_by_first_two: dict[str, list[FormatRow]] = {}


def rows(first_two: str) -> list[FormatRow]:
    """Return the rows whose prefix begins with these two characters, so that few rows are tried on a word.

    The table is built on first use, because most texts do not need it.
    """
    if f" {first_two}" not in _PREFIXES:
        return []
    if not _by_first_two:
        by_prefix: dict[str, list[FormatRow]] = {}
        for kind, prefixes, alphabet, least, nature in FORMATS:
            for prefix in prefixes.split():
                if _ODD_SIGNS.isdisjoint(prefix):
                    by_prefix.setdefault(prefix[:2], []).append((kind, prefix, alphabet, least, nature))
        _by_first_two.update(by_prefix)
    return _by_first_two.get(first_two, [])


def is_hash(number: str) -> bool:
    """Whether a hexadecimal number may be a hash: it has whole bytes, or is short enough to be abbreviated."""
    return not number.strip(HEX) and (len(number) % 2 == 0 or len(number) <= 33)


# -- keys and names of secrets in base64 and hexadecimal


def may_encode(text: str) -> tuple[bool, bool]:
    """Whether a text has a sign of a private key without BEGIN and END, and one of an encoded name of a secret.

    Such signs are first looked for among the text's capitals and digits alone, which are few in most texts.
    """
    form = text.encode("utf-8", "replace").translate(None, _OTHERS).decode("ascii")
    return _has_any(text, form, _OF_KEYS), _has_any(text, form, _OF_NAMES)


def _has_any(text: str, form: str, signs: list[tuple[str, str]]) -> bool:
    for part, sign in signs:  # noqa: SIM110 - `any` costs twice as much
        if part in form and sign in text:
            return True
    return False


_OTHERS = bytes(range(256)).translate(None, UPPER.encode())


def _by_capitals(*signs: str) -> list[tuple[str, str]]:
    return [(sign.encode().translate(None, _OTHERS).decode("ascii"), sign) for sign in signs]


_OF_KEYS = _by_capitals(
    "IBAAK", "IBADAN", "IBAzCC", "AgEAMB", "AgEBB", "iG9w0BBQ0w", "CAQEEI", "GSIb3DQEFDT", "b3BlbnNzaC1rZXktdjEA",
)  # fmt: skip
"""In private keys in base64 (`key_blocks.bare`)."""

_OF_NAMES = _by_capitals(
    "YXNzd29yZ", "Fzc3dvcm", "hc3N3b3Jk", "QVNTV09SR", "FTU1dPUk", "BU1NXT1JE", "c2VjcmV0", "NlY3Jld", "zZWNyZX",
    "U0VDUkVU", "NFQ1JFV", "TRUNSRV", "dG9rZW", "Rva2Vu", "0b2tlb", "VE9LRU", "RPS0VO", "UT0tFT", "X0tFWT",
    "9LRVk9", "fS0VZP", "7373776F", "5353574F", "6F6B656E", "4F4B454E", "4B45593D",
    *[word.encode().hex() for word in ("sswo", "SSWO", "oken", "OKEN", "cret", "CRET", "KEY=")], "0000010", "0000020 ",
)  # fmt: skip
"""Parts of names of secrets in base64, for each place in a group of three bytes: of "assword", "SECRET", "_KEY=".

Then the same in hexadecimal, with capitals or not, and the second address of a dump."""
