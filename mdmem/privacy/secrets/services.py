"""The services whose keys are plain hexadecimal numbers and UUIDs: `cloudflare: "…"`, `TOMTOM_API=…`.

Such a value looks like a hash or an id; only the service's name before it says that it opens something.
"""

from __future__ import annotations

from mdmem.privacy.secrets.names import without_separators

SERVICES = frozenset(
    """
    abbysale abstract abstractapi abuseipdb accuweather adafruit adjust adobe adyen adzuna aeroworkflow agora aha
    airbrake airship airtable airvisual aiven alchemy alegra algolia alienvault amadeus ambee amplitude anthropic
    apify apilayer apollo appcenter appdynamics appfollow appsflyer appveyor arcgis artsy asana assemblyai atera
    atlassian auth0 authress autoklose avalara avaza awx axonaut aylien azure bamboohr bannerbear baremetrics beamer
    beebole besttime betterstack bigcommerce bingmaps bitbar bitcoinaverage bitfinex bitly bitmex bittrex blazemeter
    blitapp bombbomb boostnote borgbase brandfetch braze brevo browserstack budibase bugherd bugsnag buildkite
    bulbul bunnycdn buttercms caflou calendarific calendly callrail campaignmonitor captaindata carboninterface
    cashboard caspio centralstation cexio chartmogul chatfuel checklyhq circleci clarifai clearbit clickhouse
    clicksend clickup clockify clockworksms closecrm cloudconvert cloudelements cloudflare cloudimage cloudinary
    cloudmersive cloudplan cloudsmith cloverly coda codacy codeclimate codecov codemagic cohere coinapi coinbase
    coingecko coinlayer coinlib coinmarketcap commercejs companyhub confluent contentful contentstack convertapi
    convertkit convier copper copyscape courier coveralls craftmypdf crowdin cryptocompare currencycloud
    currencyfreaks currencylayer currentsapi customerguru customerio d7network dandelion databox databricks datadog
    datagov deepai deepgram deepl deepseek delighted demio deputy detectify detectlanguage dfuse diffbot
    digitalocean discogs discord disqus ditto dnscheck docparser documo docusign doppler dotdigital dovico drift
    drip droneci dropbox duo dynatrace dyspatch eagleeye easyinsight ecostruxure edamam edenai eightxeight
    elasticemail elevenlabs enablex endorlabs envoy equinix etherscan ethplorer etsy eventbrite everhour
    exchangerate facebook faceplusplus fastforex fastly fathom feedier fetchrss fibery figma finage
    financialmodelingprep findl finicity finnhub firecrawl fixer fixerio flatio flexport flickr flightapi flightlabs
    flightstats flowflu flutterwave fmfw formbucket formcraft formio formsite foursquare frameio freshbooks
    freshdesk freshsales freshservice fulcrum fullstory fusebill fxmarket gcp gemini gengo geoapify geocode
    geocodify geocodio geoipify getemail getgist getresponse getsandbox ghost giphy gitter glassnode gocanvas
    gocardless godaddy goodday grafana graphcms graphhopper groovehq groq guardian gumroad gyazo happyscribe harness
    harvest hashnode hellosign helpcrunch helpscout hereapi hiveage holidayapi honeybadger honeycomb hotjar
    htmlcsstoimage hubspot huggingface hunter hypertrack ibmcloud iconfinder iexapis iexcloud imagekit imagga
    infobip infracost infura insightly instabot instagram instamojo integromat intercom interseller intrinio
    invoiceninja ip2location ipapi ipdata ipgeolocation ipify ipinfo ipquality ipstack jfrog jira jotform jumpcloud
    juro kairos kakao karmacrm keen kickbox klaviyo klipfolio knapsackpro kontent kraken kucoin kylas languagelayer
    lastfm launchdarkly leadfeeder lemlist lemonsqueezy lendflow lessannoyingcrm lexigram librariesio linear
    linemessaging linenotify linkedin linkpreview liveagent livestorm loadmill lob locationiq loggly loginradius
    logz lokalise looker loyverse luno macaddress madkudu magicbell mailboxlayer mailchimp mailerlite mailgun
    mailjet mailmodo mailsac mandrill mapbox mapquest marketstack mattermost mavenlink maxmind meaningcloud
    mediastack meistertask meraki mesibo messagebird metaapi metabase metrilo microsoftteams mindmeister miro
    mistral mite mixmax mixpanel mockaroo monday monkeylearn moonclerk moosend moralis mrticktock mux myfreshworks
    myintervals nasa nasdaq neon netcore netlify netsuite neutrino newrelic newsapi newscatcher nexmo nftport
    nicereply nightfall nimble nitro noticeable notion nozbe npmjs numverify nutritionix nvidia nylas nytimes oanda
    okta omnisend onedesk onelogin onepagecrm onesignal onfleet oopspam openai opencage openexchange
    openexchangerates openrouter opensea opentok openuv openvpn openweather openweathermap opsgenie optimizely orbit
    overloop owlbot packagecloud pagarme pagerduty pandadoc pandascore paperform paralleldots parsehub parsers
    parseur partnerstack passbase pastebin paydirt paymo paymongo paypal paystack pdfcrowd pdflayer pdfshift
    peopledatalabs pepipost percy perplexity pexels phraseaccess pinata pinecone pinterest pipedream pipedrive
    pivotaltracker pixabay plaid planview planyo plivo podio pollsapi poloniex polygon polygonio portainer
    postageapi posthog postman postmark powrbot prefect privateai procore prodpad prospectcrm protocolsio proxycrawl
    pubnub purestake pushbullet pusher pushover qase qonto qualaroo qualtrics quickmetrics quicknode ramp rapidapi
    raven rawg razorpay reachmail readme reallysimplesystems rebrandly recaptcha recharge recurly reddit refiner
    rentman repairshopr replicate revamp ringcentral riot ritekit roaring rocketreach rollbar route4me rownd runrun
    salesblink salescookie salesflare salesforce salesmate satismeter saucelabs scaleway scraperapi scraperbox
    scrapfly scrapingant scrapingbee screenshotapi screenshotlayer securitytrails selectpdf semaphore sendbird
    sendgrid sendinblue sentry serpapi serphouse serpstack sheety sherpadesk shippo shodan shopee shopify shortcut
    shotstack shutterstock sigopt simfin simplesat simplybook simvoly sinch sirv siteleaf skrapp skybiometry slack
    smartsheets smartystreets smooch sms77 snipcart snyk sonar sonarcloud sonarqube sourcegraph sparkpost speechtext
    splunk spoonacular sportradar sportsmonk spotify square squarespace squareup squidex sslmate stability
    statuscake statuspage statuspal steam stitchdata stockdata storecove stormboard stormglass storyblok storychief
    strava streak stripe stripo stytch sugester sumologic supabase supernotes surge surveyanyplace surveybot
    surveysparrow survicate swell swiftype synthesia tallyfy tatum tatumio tavily taxjar teamgate teamworkcrm
    teamworkdesk techsmith telegram telesign teletype telnyx textmagic theoddsapi thinkific thousandeyes
    ticketmaster tickettailor tiingo timecamp timezoneapi tinypng tly tmetric todoist tomorrowio tomtom tradier
    transferwise travelpayouts travisci trello tripadvisor truenas trustpilot twelvedata twilio twist twitch twitter
    tyntec typeform typetalk ubidots uclassify unifyid unplugg unsplash upcdatabase uplead uploadcare uproc
    uptimerobot upwave urlscan userflow userstack vatlayer vbout vercel verimail veriphone versioneye viewneo
    virustotal visualcrossing voicegain vonage voodoosms vouchery vpnapi vultr vyte walkscore wandb weatherapi
    weatherbit weatherstack web3storage webex webflow webscraper webscraping websitepulse wepay whatcms whoxy
    willyweather wistia worksnaps workstack worldcoinindex worldweather wrike xero yandex yelp yotpo youneedabudget
    yousign youtube zapier zendesk zenrows zenscrape zenserp zeplin zerobounce zerotier zeroties zipapi zipbooks
    zipcodeapi zipcodebase zoho zohocrm zonkafeedback zoom
    """.split()  # noqa: SIM905 - a list of words reads better as text
)
"""Names of services, without separators."""

_ROLES = (
    "clientid", "accessid", "applicationid", "appid", "accountid", "apiid", "authid", "login", "client", "access",
    "auth", "integration", "account", "app", "prod", "production", "staging", "live", "dev", "test", "rest",
    "v1", "v2", "v3", "io", "com", "hq",
)  # fmt: skip
"""What may follow the name of a service: `HUBSPOT_CLIENT_ID`, `sonarLogin`."""

_SURE_ROLES = ("api", "clientid", "accessid", "apiid", "appid", "login")
"""How a name ends that opens something, whatever the service is."""

_REACH = 64
_JOINS = " \t\\\"'`"
_SIGNS = frozenset("=:>,(|")
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."


def is_named_before(text: str, at: int) -> bool:
    """Whether the value at `at` is assigned to the name of a service, or to some `…_api`."""
    before = text[max(0, at - _REACH) : at]
    joined = before.rstrip(_JOINS)
    if joined[-1:] not in _SIGNS or (joined[-1] == ":" and len(joined) == len(before)):
        return False
    head = joined.rstrip("=:>|,(?+").rstrip(_JOINS)
    name = head[len(head.rstrip(_NAME)) :]
    return len(name) > 2 and _is_of_service(name)


def _is_of_service(name: str) -> bool:
    flat = without_separators(name)
    if flat.endswith(_SURE_ROLES):
        return True
    for _ in range(2):
        flat = next((flat.removesuffix(role) for role in _ROLES if flat.endswith(role) and flat != role), flat)
        if flat in SERVICES:
            return True
    return flat in SERVICES or name.replace("-", "_").replace(".", "_").rpartition("_")[2].lower() in SERVICES
