"""Lists of tools that do the same work: for one purpose only one tool of a class is used at a time.

Because MySQL and Postgres are in one class, "orders are in MySQL" and "orders are in Postgres" cannot both hold. The
lists are not complete: a tool that is missing is compared like any other name.
"""

from __future__ import annotations

_LINES = (
    "mysql postgres postgresql mariadb sqlite oracle mongodb dynamodb cockroachdb cassandra couchdb firestore supabase "
    "planetscale neon aurora spanner duckdb clickhouse bigquery snowflake redshift",
    "redis memcached valkey keydb dragonfly",
    "kafka rabbitmq nats sqs pulsar activemq kinesis celery sidekiq",
    "jenkins github_actions gitlab_ci circleci travis buildkite teamcity drone 젠킨스 깃허브_액션 깃허브_액션스",
    "argo argocd flux spinnaker octopus 아르고",
    "aws gcp azure heroku vercel netlify render hetzner digitalocean linode ovh 아마존 애저 阿里云 腾讯云 华为云",
    "stripe paypal adyen braintree square mollie toss 토스 포트원 카카오페이 네이버페이 이니시스 나이스페이 支付宝 "
    "微信支付 paypay",
    "vim neovim emacs vscode cursor zed helix sublime intellij pycharm webstorm",
    "slack discord teams mattermost zulip 슬랙 디스코드 잔디 라인웍스 飞书 钉钉 企业微信 chatwork",
    "jira linear asana trello notion monday clickup shortcut redmine youtrack 지라 노션",
    "npm pnpm yarn bun pip uv poetry pipenv conda pdm",
    "react vue svelte angular solid preact ember",
    "django flask fastapi rails laravel express nestjs spring gin",
    "jest vitest mocha pytest unittest playwright cypress selenium",
    "black ruff prettier biome eslint flake8 pylint rubocop gofmt",
    "webpack vite rollup parcel esbuild turbopack rspack",
    "docker podman containerd",
    "kubernetes nomad swarm ecs",
    "terraform pulumi cloudformation ansible chef puppet opentofu",
    "grafana datadog newrelic prometheus splunk kibana sentry honeycomb dynatrace",
    "auth0 okta keycloak cognito clerk firebase_auth",
    "elasticsearch opensearch solr meilisearch typesense algolia",
    "sendgrid mailgun postmark ses mailchimp brevo",
    "github gitlab bitbucket gitea forgejo 깃허브 깃랩",
    "chatgpt claude gemini copilot mistral llama gpt",
    "xero quickbooks datev sage odoo lexware",
    "zoom webex google_meet jitsi 줌 腾讯会议",
    "figma sketch penpot 피그마",
    "ubuntu debian fedora alpine rhel centos windows macos",
    "nginx apache caddy traefik haproxy envoy",
)
CLASSES = {name.replace("_", " "): number for number, line in enumerate(_LINES) for name in line.split()}
TWO_WORDS = frozenset(name for name in CLASSES if " " in name)

# Tools whose names are English words too: only a capital letter inside a sentence makes the word a tool.
_ENGLISH_TOO = """
black square linear solid spring express rails notion monday render drone flux octopus neon aurora spanner oracle parcel
jest mocha chef puppet swarm sketch zoom teams cursor shortcut sage claude windows docker sublime helix travis sentry
toss clerk flask gin ember slack discord apache envoy react bun poetry conda ses gemini llama argo alpine
"""
ENGLISH_TOO = frozenset(_ENGLISH_TOO.split())
