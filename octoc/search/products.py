"""The products that a query names: those that octoc knows, and the servers of a scope. Pure functions, no numpy."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

Name = tuple[str, ...]
"""The words of a product's name, lower case."""

_TOKEN = re.compile(r"[A-Za-z0-9]+|[^\W_A-Za-z0-9]+")


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text that blanks separate."""
    return frozenset(text.split())


def _names(text: str) -> frozenset[Name]:
    return frozenset(tuple(name.split("_")) for name in text.split())


KNOWN: Final = _names(
    """\
1password ableton activemq adobe_sign adyen after_effects airbnb airbrake airbyte airflow airfocus airtable akamai
algolia alibaba alibaba_cloud aliyun android_studio anki ansible anthropic apache_spark apify appdynamics apple_maps
apple_music arangodb arduino argo_cd argocd artifactory arxiv asana attio audacity auth0 autocad aws azure_devops
backblaze bamboohr bandcamp basecamp bigcommerce bigquery bilibili binance bing bitbucket bitrix24 bitwarden bluesky
booking_com bookstack braintree brave_search brevo brex bright_data browserbase bugsnag bugzilla buildkite
burp_suite calendly canva canvas_lms chargebee chatgpt chromecast circleci clickhouse clickup clockify close_crm
cloudflare cloudwatch cockroachdb codeberg codecov codesandbox cognito coinbase comfyui confluence constant_contact
contentful convertkit coolify couchbase couchdb coursera crashlytics crossref crowdstrike dagster dalle databricks
datadog davinci_resolve dbt deepl deezer dependabot dgraph digitalocean dingtalk discord disney_plus docebo docker
docker_hub dockerhub docmost docusign dokku donetick doordash douyin drawio drone_ci dropbox drupal duckdb
duckduckgo duolingo dynamics_365 dynamodb dynatrace ebay ec2 ecobee elasticsearch elevenlabs emacs erpnext etsy
evernote excalidraw expedia expensify facebook facetime faiss fastly fastmail feishu ffmpeg figma final_cut firebase
firecrawl firestore fitbit fivetran fluxcd fly_io forgejo foursquare freecad freshbooks freshdesk freshsales
freshservice fullstory fusion_360 gainsight garmin gcp gdrive gerrit ghidra gimp gitbook gitea github gitlab gitpod
gmail godaddy godot goodreads google_analytics google_calendar google_chat google_classroom google_cloud google_docs
google_drive google_forms google_home google_maps google_meet google_scholar google_search google_sheets
google_slides google_translate gorgias gotomeeting grafana gsheets guilded gumroad hacker_news hackernews hadoop
hashicorp hashicorp_vault hasura help_scout helpscout heroku hetzner heygen home_assistant homeassistant homekit
hotjar hubspot hugging_face huggingface hulu ibm_cloud icinga icloud ifttt ikea imagemagick imdb imessage indesign
influxdb inkscape instacart instagram intellij invision iterm2 janusgraph jellyfin jenkins jfrog jina jira jitsi
joomla joplin jotform jupyter kafka kaggle kakaotalk kanboard keepass keycloak khan_academy kibana kicad kickstarter
klarna klaviyo krita kubernetes kustomer lancedb langchain langfuse langsmith lastpass launchdarkly leantime
lets_encrypt letsencrypt letterboxd lightroom linkedin linode listmonk liveagent logrocket logseq logstash looker
lucidchart lyft magento mailchimp mailgun mailjet make_com mantis mapbox mariadb marketo mastodon mathematica matlab
matomo mattermost mediawiki meilisearch memcached mendeley metabase metamask metasploit microsoft_excel
microsoft_teams microsoft_word midjourney mikrotik milvus minecraft minio miro mixpanel mlflow mongodb moodle
motherduck ms_teams mssql myfitnesspal mysql n8n nagios namecheap neo4j nessus netbox netdata netflix netlify
netsuite new_relic newrelic nextcloud nintendo nmap npm obs_studio octopus_deploy odoo okta ollama omnifocus
onedrive onelogin onenote openai openproject openscad opensearch openshift openstreetmap opentable opnsense opsgenie
optimizely oracle_cloud oura overleaf ovh owncloud pagerduty pandadoc paperless pardot patreon paypal peloton
perforce pfsense phabricator philips_hue photoshop pihole pinecone pingdom pinterest pipedream pipedrive planetscale
playstation podman porkbun portainer postgres postgresql posthog power_automate power_bi powerbi powerpoint
premiere_pro product_hunt productboard producthunt protonmail proxmox pubmed pulumi puppeteer pycharm pypi qdrant
qlik qualys quickbooks quora rabbitmq radarr rancher raspberry_pi raygun rds readwise recurly reddit redis redmine
replit revolut robinhood roblox rocket_chat roku rollbar roomba route53 rstudio s3 salesforce saltstack scopus
scrapy seafile searxng selenium semantic_scholar sendbird sendgrid sendinblue serper servicenow sharepoint shodan
shopify simulink singlestore sketchup skype smartsheet smartthings snapchat snyk solidworks sonarqube sonarr sonos
soundcloud sourceforge splitwise splunk spotify spss sql_server sqlite squarespace stability_ai stable_diffusion
stack_overflow stackoverflow stata statuspage strapi strava substack subversion sugarcrm sumo_logic suno supabase
superset surveymonkey synthesia taiga taskwarrior tavily teamcity tencent_cloud teradata terraform ticktick tiktok
timescaledb todoist toggl tradingview travis_ci trello trino tripadvisor tumblr turso tuya twilio twitch twitter
typeform typesense uber ubereats udemy uipath unifi unreal_engine uptime_kuma uptimerobot vagrant venmo vercel
vertica viber victorops vikunja vimeo virtualbox virustotal visual_studio vmware vscode vsphere vultr wandb waze
wazuh weaviate webex webflow wechat weibo whatsapp wikidata wikijs wikipedia wireshark wix wolfram_alpha woocommerce
wordpress workato wrike xbox xcode xero xiaohongshu yelp ynab youtrack youtube zabbix zammad zapier zendesk zentao
zeplin zigbee zipkin zoho zoominfo zotero zulip"""
)
"""Products whose name has no other meaning. Written for octoc, from general knowledge of software and services."""

KNOWN_WORDS: Final = _names(
    """\
adp aha alexa amazon amplitude apollo azure backlog bamboo bear blackboard blender bloomberg box cassandra chef
chroma coda cohere copper craft crisp cypress drift elastic element exa excel exchange fauna framer front gemini
ghost gong greenhouse gusto harness harvest heap height helm hive honeycomb illustrator insomnia intercom jaeger
kagi kraken lambda lark launchpad lever line linear loki mercurial messenger mistral monday mural nats neon nest
nexus nomad notion obsidian oracle outlook outreach perplexity pivotal plaid plane planner plausible playwright plex
postman postmark prefect presto prisma prometheus pulsar puppet quip railway rally ramp redshift render renovate
replicate ring rippling roam runway sage sanity sap segment sentry shortcut signal siri sketch slack snowflake solr
spinnaker square steam stitch stripe swagger tableau teams telegram tesla things threads thunderbird tidal unity
unleash unreal vault vim wasabi whoop wise workday zoom"""
)
"""Products whose name is an English word, too: in a query it means the product only in some places."""

_FIRST = frozenset(name[0] for name in (*KNOWN, *KNOWN_WORDS))
_LONGEST = 3
"""The most words of a server's name."""

_BEFORE = word_set("in on to from with via into at our my using through by a an the")
_AFTER = word_set(
    "account app board boards bot card cards channel chat database doc docs file files group instance issue issues "
    "message messages note notes page pages project repo server space task tasks team ticket tickets workspace"
)
_PLAIN = word_set(
    "mcp server servers tool tools api the my our client service plugin app official local remote prod production "
    "staging dev test main default"
)
_COMMON = word_set(
    """\
audio billing browser cache calculator calendar chat cloud code crm customers data database db demo docs documents
echo email erp events everything fetch file files filesystem finance graph hr image images inventory invoices issues
kb knowledge logs mail maps math memory metrics monitoring news notes orders payments pdf queue reports sales search
shell shipping sql storage support tasks terminal tickets time todo tracker users video weather web wiki"""
)


def is_product(word: str) -> bool:
    """Return whether a word, lower case, only names a product."""
    return (word,) in KNOWN


def products_in(text: str) -> tuple[Name, ...]:
    """Return the known products that a text names, without repeated ones."""
    written = _TOKEN.findall(text)
    tokens = [token.lower() for token in written]
    if _FIRST.isdisjoint(tokens):
        return ()
    capitals = any(token[0].islower() for token in written[1:])
    found: dict[Name, None] = {}
    place = 0
    while place < len(tokens):
        for length in (2, 1):
            name = tuple(tokens[place : place + length])
            is_name = name in KNOWN or (
                name in KNOWN_WORDS and _is_meant(tokens, place, is_capital=capitals and written[place][0].isupper())
            )
            if len(name) == length and is_name:
                found[name] = None
                place += length - 1
                break
        place += 1
    return tuple(found)


def _is_meant(tokens: Sequence[str], place: int, *, is_capital: bool) -> bool:
    """Return whether an English word stands where a product's name does."""
    if place and is_capital:
        return True
    before = place > 0 and tokens[place - 1] in _BEFORE
    return before and (place + 1 == len(tokens) or tokens[place + 1] in _AFTER)


def server_name(server: str) -> Name:
    """Return the words of a server's name by which a query names it; () if they are ordinary words alone."""
    name = tuple(token for token in _TOKEN.findall(server.lower()) if token not in _PLAIN)
    return () if all(token in _COMMON or token.isdigit() for token in name) else name[:_LONGEST]


def named_in(text: str, servers: Mapping[Name, Sequence[int]]) -> tuple[tuple[int, ...], str]:
    """Return the numbers of the servers that a text names, ascending, and the text without their names.

    Args:
        servers: the numbers of servers by name, from `server_name`.
    """
    tokens = [token.lower() for token in _TOKEN.findall(text)]
    named = [
        (place, length)
        for place in range(len(tokens))
        for length in range(min(_LONGEST, len(tokens) - place), 0, -1)
        if tuple(tokens[place : place + length]) in servers
    ]
    if not named:
        return (), text
    numbers: set[int] = set()
    matches = list(_TOKEN.finditer(text))
    rest, kept, free = "", 0, 0
    for place, length in named:
        # The longest name at a place comes first, and names do not overlap.
        if place >= free:
            free = place + length
            numbers.update(servers[tuple(tokens[place:free])])
            rest += text[kept : matches[place].start()]
            kept = matches[free - 1].end()
    rest = " ".join(f"{rest} {text[kept:]}".split()).strip(" :,;-")
    return tuple(sorted(numbers)), rest if _TOKEN.search(rest) else text
