"""Credentials in their vendors' documented formats, generated in every run.

Each row describes a vendor's format in a small language, and has a line in which such a credential is commonly found.
The source is the vendor's documentation, not the rules under test or another rule set. No row contains anything that a
secret scanner would report in this repository.
"""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Iterator
from typing import NamedTuple

ALPHABETS = {
    "an": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "url": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    "b64": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "low": "abcdefghijklmnopqrstuvwxyz0123456789",
    "signed": "abcdefghijklmnopqrstuvwxyz0123456789=_-",
    "up": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "b32": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "a": "abcdefghijklmnopqrstuvwxyz",
    "Aa": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "d": "0123456789",
}
"""Alphabets by name: `{36:an}` in a format is 36 characters of "an". `{uuid}`, `{jwt}` and `{json64}` are special."""

BEGIN, END, KEY = "-----BEGIN", "-----END", "PRIVATE" + " KEY-----"

BARE = "it failed with {} so I made a new one"

FORMATS: tuple[tuple[str, str, str], ...] = (
    # -- recognizable by their format anywhere
    ("AWS access key id", "AKIA{16:b32}", BARE),
    ("AWS temporary key id", "ASIA{16:b32}", BARE),
    ("AWS Bedrock key", "ABSK{132:an}", BARE),
    ("GitHub personal token", "ghp_{36:an}", BARE),
    ("GitHub OAuth token", "gho_{36:an}", BARE),
    ("GitHub app token", "ghs_{36:an}", BARE),
    ("GitHub app token of 2026", "ghs_{6:d}_{jwt}", BARE),
    ("GitHub refresh token", "ghr_{76:an}", BARE),
    ("GitHub fine-grained token", "github_pat_{22:an}_{59:an}", BARE),
    ("GitLab personal token", "glpat-{20:url}", BARE),
    ("GitLab routable token", "glpat-{27:url}.01.{9:low}", BARE),
    ("GitLab runner token", "glrt-{20:url}", BARE),
    ("GitLab deploy token", "gldt-{20:url}", BARE),
    ("GitLab pipeline trigger", "glptt-{40:hex}", BARE),
    ("GitLab CI job token", "glcbt-64_{20:url}", BARE),
    ("Bitbucket app password", "ATBB{32:an}", BARE),
    ("Atlassian API token", "ATATT3xFfGF0{180:url}={8:HEX}", BARE),
    ("WakaTime key", "waka_{uuid}", BARE),
    ("Chromatic project token", "chpt_{15:hex}", BARE),
    ("Percy token", "web_{64:hex}", BARE),
    ("k3s server token", "K10{64:hex}::server:{32:hex}", BARE),
    ("Porkbun secret key", "sk1_{64:hex}", BARE),
    ("Klaviyo private key", "pk_{34:hex}", BARE),
    ("MailerSend token", "mlsn.{64:hex}", BARE),
    ("Checkout.com key", "sk_{uuid}", BARE),
    ("Ghost admin key", "{24:hex}:{64:hex}", BARE),
    ("fal.ai key", "{uuid}:{32:hex}", BARE),
    ("Slack bot token", "xoxb-{12:d}-{13:d}-{24:an}", BARE),
    ("Slack user token", "xoxp-{12:d}-{12:d}-{13:d}-{32:hex}", BARE),
    ("Slack app token", "xapp-1-A{10:up}-{13:d}-{64:hex}", BARE),
    ("Slack refresh token", "xoxe-1-{147:an}", BARE),
    ("Slack web hook", "T{10:up}/B{10:up}/{24:an}", "curl https://hooks.slack.com/services/{} -d x"),
    ("Discord bot token", "MT{24:an}.{6:url}.{38:url}", BARE),
    ("Discord web hook", "{19:d}/{68:url}", "POST https://discord.com/api/webhooks/{}"),
    ("Telegram bot token", "{10:d}:AA{33:url}", BARE),
    ("Stripe secret key", "sk_live_{24:an}", BARE),
    ("Stripe long secret key", "sk_live_51{97:an}", BARE),
    ("Stripe test key", "sk_test_{24:an}", BARE),
    ("Stripe restricted key", "rk_live_{24:an}", BARE),
    ("Stripe web hook secret", "whsec_{32:an}", BARE),
    ("OpenAI key", "sk-{20:an}T3BlbkFJ{20:an}", BARE),
    ("OpenAI project key", "sk-proj-{74:url}T3BlbkFJ{74:url}", BARE),
    ("OpenAI service account key", "sk-svcacct-{74:url}T3BlbkFJ{74:url}", BARE),
    ("Anthropic key", "sk-ant-api03-{93:url}AA", BARE),
    ("Anthropic OAuth token", "sk-ant-oat01-{95:url}", BARE),
    ("OpenRouter key", "sk-or-v1-{64:hex}", BARE),
    ("DeepSeek key", "sk-{32:hex}", BARE),
    ("Hugging Face token", "hf_{34:an}", BARE),
    ("Hugging Face token of letters", "hf_{34:Aa}", BARE),
    ("Cursor key", "key_{64:hex}", BARE),
    ("Helicone key", "sk-helicone-{7:low}-{7:low}-{7:low}-{7:low}", BARE),
    ("Groq key", "gsk_{52:an}", BARE),
    ("xAI key", "xai-{80:an}", BARE),
    ("Perplexity key", "pplx-{48:an}", BARE),
    ("Replicate token", "r8_{37:an}", BARE),
    ("NVIDIA key", "nvapi-{64:url}", BARE),
    ("Cerebras key", "csk-{48:low}", BARE),
    ("Together key", "tgp_v1_{43:url}", BARE),
    ("LangSmith key", "lsv2_pt_{32:hex}_{10:hex}", BARE),
    ("Langfuse secret key", "sk-lf-{uuid}", BARE),
    ("Pinecone key", "pcsk_{5:an}_{64:an}", BARE),
    ("Tavily key", "tvly-{32:an}", BARE),
    ("Firecrawl key", "fc-{32:hex}", BARE),
    ("Context7 key", "ctx7sk-{uuid}", BARE),
    ("ElevenLabs key", "sk_{48:hex}", BARE),
    ("Google API key", "AIza{35:url}", BARE),
    ("Google OAuth token", "ya29.{120:url}", BARE),
    ("Google client secret", "GOCSPX-{28:url}", BARE),
    ("Google refresh token", "1//0{90:url}", BARE),
    ("Azure client secret", "{3:an}8Q~{34:url}", BARE),
    ("Azure client secret with signs", "{3:an}8Q~{10:an}~{12:an}.{10:an}", BARE),
    ("Azure AI key", "{52:an}JQQJ99BC{4:up}AC{12:an}AAAB{7:up}", BARE),
    ("Azure storage key", "{86:b64}==", "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey={};"),
    ("Azure service bus key", "{43:b64}=", "Endpoint=sb://acme.net/;SharedAccessKeyName=x;SharedAccessKey={}"),
    ("Azure DevOps token", "{52:low}", "AZURE_DEVOPS_EXT_PAT={}"),
    ("Azure SAS signature", "{43:an}%3D", "https://acme.blob.core.windows.net/c/b.txt?sv=2024-11-04&sp=r&sig={}"),
    ("DigitalOcean token", "dop_v1_{64:hex}", BARE),
    ("DigitalOcean Spaces key", "DO00{16:up}", BARE),
    ("Alibaba access key", "LTAI{20:an}", BARE),
    ("Tencent secret id", "AKID{32:an}", BARE),
    ("Yandex API key", "AQVN{35:url}", BARE),
    ("Cloudflare API token", "cfut_{48:an}", BARE),
    ("Cloudflare origin CA key", "v1.0-{24:hex}-{146:hex}", BARE),
    ("Heroku key", "HRKU-AA{58:url}", BARE),
    ("Fly.io token", "fm2_{180:b64}", "fly auth token: FlyV1 {}"),
    ("Netlify token", "nfp_{36:an}", BARE),
    ("Vercel token", "vcp_{56:an}", BARE),
    ("Render key", "rnd_{28:an}", BARE),
    ("npm token", "npm_{36:an}", BARE),
    ("PyPI token", "pypi-AgEIcHlwaS5vcmc{150:url}", BARE),
    ("RubyGems key", "rubygems_{48:hex}", BARE),
    ("crates.io token", "cio{32:an}", BARE),
    ("NuGet key", "oy2{43:low}", BARE),
    ("Clojars token", "CLOJARS_{60:hex}", BARE),
    ("Docker Hub token", "dckr_pat_{27:url}", BARE),
    ("JFrog key", "AKCp8{68:an}", BARE),
    ("Shopify token", "shpat_{32:hex}", BARE),
    ("Square access token", "EAAAE{59:url}", BARE),
    ("Square application secret", "sq0csp-{43:url}", BARE),
    ("Braintree token", "access_token$production${16:low}${32:hex}", BARE),
    ("Plaid token", "access-sandbox-{uuid}", BARE),
    ("Flutterwave key", "FLWSECK-{32:hex}-X", BARE),
    ("Razorpay secret", "{24:an}", "RAZORPAY_KEY_SECRET={}"),
    ("Paddle key", "pdl_live_apikey_{26:low}_{22:an}_{3:an}", BARE),
    ("SendGrid key", "SG.{22:url}.{43:url}", BARE),
    ("Mailgun key", "key-{32:hex}", BARE),
    ("Mailchimp key", "{32:hex}-us14", BARE),
    ("Mandrill key", "md-{22:url}", BARE),
    ("Brevo key", "xkeysib-{64:hex}-{16:an}", BARE),
    ("Resend key", "re_{8:an}_{24:an}", BARE),
    ("OneSignal key", "os_v2_app_{103:low}", BARE),
    ("Postmark token", "{uuid}", "X-Postmark-Server-Token: {}"),
    ("Twilio API key", "SK{32:hex}", BARE),
    ("Twilio auth token", "{32:hex}", "TWILIO_AUTH_TOKEN={}"),
    ("Intercom token", "dG9r{56:an}=", BARE),
    ("Facebook token", "EAA{180:an}", BARE),
    ("Twitter bearer token", "AAAAAAAAAAAAAAAAAAAAA{60:an}%3D{40:an}", BARE),
    ("Twitter consumer secret", "{50:an}", "TWITTER_CONSUMER_SECRET={}"),
    ("VK token", "vk1.a.{85:url}", BARE),
    ("Notion token", "ntn_{46:an}", BARE),
    ("Notion old token", "secret_{43:an}", BARE),
    ("Linear key", "lin_api_{40:an}", BARE),
    ("Figma token", "figd_{40:url}", BARE),
    ("Airtable token", "pat{14:an}.{64:hex}", BARE),
    ("Asana token", "1/{16:d}:{32:hex}", BARE),
    ("Asana token of 2023", "2/{16:d}/{16:d}:{32:hex}", BARE),
    ("Postman key", "PMAK-{24:hex}-{34:hex}", BARE),
    ("Dropbox token", "sl.{138:url}", BARE),
    ("HubSpot token", "pat-na1-{uuid}", BARE),
    ("Typeform token", "tfp_{44:url}_{14:an}", BARE),
    ("Contentful token", "CFPAT-{43:url}", BARE),
    ("Mapbox secret token", "sk.eyJ1Ijoi{60:an}.{22:url}", BARE),
    ("Grafana service token", "glsa_{32:an}_{8:hex}", BARE),
    ("Grafana cloud token", "glc_{json64}", BARE),
    ("New Relic licence", "{36:hex}NRAL", BARE),
    ("New Relic user key", "NRAK-{27:up}", BARE),
    ("Datadog key", "{32:hex}", "DD_API_KEY={}"),
    ("Dynatrace token", "dt0c01.{24:b32}.{64:b32}", BARE),
    ("Sentry auth token", "sntrys_{json64}_{43:an}", BARE),
    ("Sentry user token", "sntryu_{64:hex}", BARE),
    ("Honeycomb key", "hcaik_01{56:low}", BARE),
    ("PostHog personal key", "phx_{43:an}", BARE),
    ("LaunchDarkly SDK key", "sdk-{uuid}", BARE),
    ("Supabase token", "sbp_{40:hex}", BARE),
    ("Supabase secret key", "sb_secret_{22:url}_{8:url}", BARE),
    ("Neon key", "napi_{64:low}", BARE),
    ("PlanetScale password", "pscale_pw_{43:url}", BARE),
    ("Aiven password", "AVNS_{19:url}", BARE),
    ("Databricks token", "dapi{32:hex}", BARE),
    ("dbt token", "dbtc_{40:url}", BARE),
    ("Pulumi token", "pul-{40:hex}", BARE),
    ("Terraform Cloud token", "{14:an}.atlasv1.{67:url}", BARE),
    ("Vault token", "hvs.CAESI{90:url}", BARE),
    ("Doppler token", "dp.pt.{43:an}", BARE),
    ("Tailscale key", "tskey-auth-{12:an}CNTRL-{32:an}", BARE),
    ("OpenShift token", "sha256~{43:url}", BARE),
    ("1Password service token", "ops_{json64}", BARE),
    ("1Password secret key", "A3-{6:up}-{6:up}-{5:up}-{5:up}-{5:up}-{5:up}", BARE),
    ("age key", "AGE-SECRET-KEY-1{58:up}", BARE),
    ("CircleCI token", "CCIPAT_{22:an}_{40:hex}", BARE),
    ("Buildkite token", "bkua_{40:hex}", BARE),
    ("Sonar token", "sqp_{40:hex}", BARE),
    ("Sourcegraph token", "sgp_{16:hex}_{40:hex}", BARE),
    ("Octopus Deploy key", "API-{26:up}", BARE),
    ("JWT", "{jwt}", BARE),
    ("bcrypt hash", "$2b$12${53:an}", BARE),
    # -- recognizable only by their context
    ("AWS secret key", "{40:b64}", "AWS_SECRET_ACCESS_KEY={}"),
    ("AWS secret key in credentials", "{40:b64}", "aws_secret_access_key = {}"),
    ("Cloudflare global key", "{37:hex}", "X-Auth-Key: {}"),
    ("Heroku old key", "{uuid}", "HEROKU_API_KEY={}"),
    ("Algolia admin key", "{32:hex}", "ALGOLIA_ADMIN_API_KEY={}"),
    ("Okta token", "00{40:url}", "Authorization: SSWS {}"),
    ("PagerDuty key", "{20:url}", "Authorization: Token token={}"),
    ("Opsgenie key", "{uuid}", "Authorization: GenieKey {}"),
    ("Mistral key", "{32:an}", 'client = Mistral(api_key="{}")'),
    ("Cohere key", "{40:an}", "export CO_API_KEY={}"),
    ("Weights & Biases key", "{40:hex}", "export WANDB_API_KEY={}"),
    ("Travis CI token", "{22:url}", "Authorization: token {}"),
    ("Snyk token", "{uuid}", "SNYK_TOKEN={}"),
    ("Codecov token", "{uuid}", "CODECOV_TOKEN={}"),
    ("Gitea token", "{40:hex}", "curl -H 'Authorization: token {}' https://git.acme.io/api/v1/user"),
    ("npm registry password", "{36:an}", "//npm.acme.example/:_authToken={}"),
    ("Docker registry login", "{24:an}", "docker login -u ci -p {} registry.acme.io"),
    ("Basic authorization", "{30:an}==", "Authorization: Basic {}"),
    ("session cookie", "{40:hex}", "Cookie: session={}; theme=dark"),
    ("Postgres URL", "{18:an}", "DATABASE_URL=postgres://app:{}@db.acme.io:5432/app"),
    ("MongoDB URL", "{20:an}", "mongodb+srv://app:{}@cluster0.acme.mongodb.net/test"),
    ("Redis URL", "{32:an}", "redis://:{}@cache.acme.io:6379/0"),
    ("AMQP URL", "{24:url}", "amqps://user:{}@rabbit.acme.io/vhost"),
    ("MySQL command", "{12:an}", "mysql -h db -u root -p{} shop"),
    ("curl command", "{16:an}", "curl -u admin:{} https://acme.io/api"),
    ("ADO.NET string", "{16:an}", "Server=db;Database=shop;User Id=sa;Password={};Encrypt=true"),
    ("JDBC URL", "{16:an}", "jdbc:postgresql://db/shop?user=app&password={}"),
    ("YAML password", "{16:an}", "database:\n  host: db\n  password: {}\n"),
    ("TOML secret", "{32:an}", '[auth]\nclient_secret = "{}"\n'),
    ("Django secret key", "{50:low}", "SECRET_KEY = 'django-insecure-{}'"),
    ("Rails secret", "{128:hex}", "SECRET_KEY_BASE={}"),
    ("Laravel key", "{43:b64}=", "APP_KEY=base64:{}"),
    ("properties file", "{14:an}", "spring.datasource.password={}"),
    ("Kubernetes variable", "{20:an}", "env:\n- name: DB_PASSWORD\n  value: {}\n"),
    (".NET settings", "{20:an}", '<add key="SmtpPassword" value="{}" />'),
    ("XML settings", "{16:an}", "<server><username>ci</username><password>{}</password></server>"),
    ("flag", "{16:an}", "deploy --token={} --region eu"),
    ("spoken password", "{10:an}7", "the admin password is {} by the way"),
    ("netrc", "{16:an}", "machine acme.io login bob password {}"),
    ("WireGuard key", "{43:b64}=", "[Interface]\nPrivateKey = {}\nAddress = 10.0.0.2/32\n"),
    ("private key", "{64:b64}\n{64:b64}\n{40:b64}", f"{BEGIN} EC {KEY}\n{{}}\n{END} EC {KEY}"),
    ("private key in JSON", "{64:b64}\\n{40:b64}", f'{{"private_key": "{BEGIN} {KEY}\\n{{}}\\n{END} {KEY}\\n"}}'),
    ("PGP key", "{64:b64}\n{64:b64}", f"{BEGIN} PGP {KEY[:-5]} BLOCK-----\n\n{{}}\n{END} PGP {KEY[:-5]} BLOCK-----"),
    ("kubeconfig key", "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0t{400:b64}", "    client-key-data: {}"),
)  # fmt: skip
"""Vendor or place, format of the secret, and a line with `{}` for the secret."""


class Sample(NamedTuple):
    """A made-up credential, alone and in a text."""

    name: str
    secret: str
    text: str

    def survives(self, cleaned: str) -> bool:
        """Whether eight consecutive characters of the secret are left in a cleaned text."""
        pieces = self.secret.replace("\\n", "\n").split("\n")
        return any(piece[at : at + 8] in cleaned for piece in pieces for at in range(max(1, len(piece) - 7)))


def samples(count: int, seed: int) -> Iterator[Sample]:
    """Yield `count` samples of every format."""
    luck = random.Random(seed)
    for name, pattern, line in FORMATS:
        for _ in range(count):
            secret = make(pattern, luck)
            yield Sample(name, secret, line.replace("{}", secret))


def made(pattern: str, count: int, seed: int) -> Iterator[Sample]:
    """Yield `count` bare samples of one format."""
    luck = random.Random(seed)
    for _ in range(count):
        secret = make(pattern, luck)
        yield Sample(pattern, secret, BARE.replace("{}", secret))


def make(pattern: str, luck: random.Random) -> str:
    """Return one credential in a format."""
    parts = []
    for piece in pattern.split("{"):
        code, closed, rest = piece.partition("}")
        parts.append((_draw(code, luck) + rest) if closed else piece)
    return "".join(parts)


def _draw(code: str, luck: random.Random) -> str:
    if code == "uuid":
        return "-".join(_draw(f"{size}:hex", luck) for size in (8, 4, 4, 4, 12))
    if code == "json64":
        data = json.dumps({"o": _draw("6:d", luck), "k": _draw("24:an", luck), "region": "eu"})
        return base64.b64encode(data.encode()).decode()
    if code == "jwt":
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": _draw("10:d", luck), "iat": 1516239022})
        head = ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
        return f"{head}.{_draw('43:url', luck)}"
    size, _, alphabet = code.partition(":")
    return "".join(luck.choice(ALPHABETS[alphabet]) for _ in range(int(size)))
