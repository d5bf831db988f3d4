"""Services whose keys are plain hexadecimal numbers or UUIDs: `cloudflare: "…"`, `TOMTOM_API=…`.

Such a value looks like a hash or an id. Only the name of the service before it shows that it is secret.
"""

from __future__ import annotations

from mdmem.privacy.secrets.names import without_separators

SERVICES = frozenset(
    """
    abuseipdb adafruit airbrake airtable algolia alienvault amplitude anthropic apify asana assemblyai atlassian auth0
    azure bitly blazemeter brevo browserstack bugsnag buildkite calendly circleci clarifai clearbit clickhouse clickup
    cloudflare cloudinary codacy codeclimate codecov cohere coinbase confluent contentful coveralls databricks datadog
    deepgram deepl deepseek digitalocean discord disqus docusign doppler dropbox dynatrace elevenlabs etherscan
    eventbrite facebook fastly figma flickr foursquare freshbooks freshdesk fullstory gemini gitter godaddy grafana groq
    harness honeybadger honeycomb hotjar hubspot huggingface hunter infura instagram intercom ipinfo ipstack jfrog jira
    klaviyo kraken kucoin lastfm launchdarkly linear linkedin lob loggly logz mailchimp mailgun mailjet mandrill mapbox
    mapquest mattermost maxmind messagebird miro mistral mixpanel monday netlify newrelic newsapi nexmo notion npmjs
    nvidia nylas okta onelogin onesignal openai opencage openrouter openweather openweathermap opsgenie optimizely
    packagecloud pagerduty paypal pepipost perplexity pinecone plaid posthog postman postmark prefect pubnub pusher
    pushover rapidapi razorpay readme recaptcha reddit replicate rollbar salesforce saucelabs scaleway scrapingbee
    sendbird sendgrid sendinblue sentry serpapi shodan shopify shortcut slack snyk sonar sonarcloud sonarqube
    sourcegraph sparkpost splunk spotify square statuspage strava stripe sumologic supabase telegram tinypng todoist
    tomtom travisci trello twilio twitch twitter typeform unsplash uploadcare uptimerobot urlscan vercel virustotal
    vonage vultr weatherapi webflow wistia wrike xero yandex yelp youtube zapier zendesk zerotier zoho zoom
    """.split()
)
"""Names of popular services, without separators."""

_ROLES = (
    "clientid", "accessid", "applicationid", "appid", "accountid", "apiid", "authid", "login", "client", "access",
    "auth", "integration", "account", "app", "prod", "production", "staging", "live", "dev", "test", "rest",
    "v1", "v2", "v3", "io", "com", "hq",
)  # fmt: skip
"""Words that may follow the name of a service: `HUBSPOT_CLIENT_ID`, `sonarLogin`."""

_SURE_ROLES = (
    "api", "clientid", "accessid", "apiid", "appid", "login", "secretid", "initialmanagement", "agentrecovery",
)  # fmt: skip
"""Endings of names whose value is secret, for any service."""

_TOKENS_OF_CONSUL = ("agent", "default", "replication", "dns")
"""Names of tokens in the block `tokens` of Consul's settings, which are UUIDs."""
_LONGEST_BLOCK = 400

_REACH = 64
_SID, _HEX = 34, "0123456789abcdef"  # the length of an account's id at Twilio
_JOINS = " \t\\\"'`"
_SIGNS = frozenset("=:>,(|")
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."


def is_named_before(text: str, at: int) -> bool:
    """Whether the value at `at` is assigned to the name of a service, or to a name that ends in `_SURE_ROLES`."""
    before = text[max(0, at - _REACH) : at]
    joined = before.rstrip(_JOINS)
    if joined[-1:] not in _SIGNS or (joined[-1] == ":" and len(joined) == len(before)):
        return False
    head = joined.rstrip("=:>|,(?+").rstrip(_JOINS)
    name = head[len(head.rstrip(_NAME)) :]
    block, _, settings = text[max(0, at - _LONGEST_BLOCK) : at].rpartition("{")
    if name in _TOKENS_OF_CONSUL and block.rstrip(' "=:').endswith("tokens") and "}" not in settings:
        return True
    if name == "key" and '"username"' in before:
        return True  # kaggle.json
    if name[:2] == "AC" and len(name) == _SID and joined[-1] == "," and not name[2:].strip(_HEX):
        return True  # `Client("AC…", "…")` of Twilio
    return (len(name) > 2 and _is_of_service(name)) or head[-len("secret id") :].lower() == "secret id"


def _is_of_service(name: str) -> bool:
    flat = without_separators(name)
    if flat.endswith(_SURE_ROLES):
        return True
    for _ in range(2):
        flat = next((flat.removesuffix(role) for role in _ROLES if flat.endswith(role) and flat != role), flat)
        if flat in SERVICES:
            return True
    return flat in SERVICES or name.replace("-", "_").replace(".", "_").rpartition("_")[2].lower() in SERVICES
