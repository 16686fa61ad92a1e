"""More tokens that say themselves whose they are, in the notation of `gate/detectors/secrets/vendors.py`: services by field. Data only.

The second half of one table: `vendors.TOKENS` is both. Nothing is decided here.
"""

from __future__ import annotations

# fmt: off
SERVICES: tuple[tuple[str, str, str, str], ...] = (
    # code, builds, clusters
    ("bitbucket-datacenter-token", "Bitbucket Data Center", "BBDC-", "<w>{40,48}"),
    ("docker-swarm-token", "Docker Swarm", "SWMTKN-1-", "<a>{40,60}-<a>{20,30}"),
    ("docker-swarm-key", "Docker Swarm", "SWMKEY-1-", "<b>{43}"),
    ("mergify-key", "Mergify", "mergify_application_key_ mka_", "<w>{40,120}"),
    ("openvsx-token", "Open VSX", "ovsxat_ ovsxp_", "<uuid>"),
    ("scalingo-token", "Scalingo", "tk-us- tk-eu-", "<w>{48}"),
    ("pixie-key", "Pixie", "px-api- px-dep-", "<uuid>"),
    ("wundergraph-key", "WunderGraph", "cosmo_", "<h>{32}"),
    ("defined-networking-key", "Defined Networking", "dnkey-", "[A-Z2-7]{26}-[A-Z2-7]{52}"),
    ("localstack-token", "LocalStack", "ls-", "<A>{8}-<A>{4}-<A>{4}-<A>{4}-<A>{10,12}"),
    ("workato-token", "Workato", "wrka-eyJ", r"<w>{8,600}\.<w>{8,1200}\.<w>{40,700}"),
    ("devin-key", "Devin", "apk_user_ apk_", "<s>{60,400}"),
    ("devin-user-token", "Devin", "cog_", "<a>{48,64}"),
    ("iterative-token", "Iterative Studio", "isat_", "<w>{40,64}"),
    ("raycast-token", "Raycast", "rca_ rcr_", "<A>{32,64}"),
    ("saladcloud-key", "SaladCloud", "salad_cloud_", "<w>{1,40}_<w>{10,80}"),
    ("gitkraken-token", "GitKraken", "gkp_", "<w>{32,80}"),
    ("jdcloud-access-key", "JD Cloud", "JDC_", "<U>{24,40}"),
    ("ntlm-message", "Windows sign-in", "TlRMTVNTUAA", "<s>{28,1600}"),
    ("entra-refresh-token", "Microsoft", "0.A 1.A", r"<w>{20,200}(?:\.[0-9])?\.Ag<w>{50,1200}"),
    # numbers and events
    ("elastic-cloud-key", "Elastic", "essu_", "<s>{60,200}"),
    ("tines-key", "Tines", "tines_api_", "<w>{32,80}"),
    ("logicmonitor-token", "LogicMonitor", "lmb_ lma_", "<s>{40,120}"),
    ("databento-key", "Databento", "db-", "(?=<A>{0,28}[0-9])<A>{29}"),
    ("pangea-token", "Pangea", "pts_ ptk_", "<a>{32,40}"),
    ("nightfall-key", "Nightfall", "NF-", "<A>{32}"),
    ("ubidots-token", "Ubidots", "BBFF- BBUS-", "<A>{30}"),
    ("blynk-client", "Blynk", "oa2-client-id_", "<w>{32}:<w>{40}"),
    ("locationiq-key", "LocationIQ", "pk.", "<h>{32}"),
    ("netlify-build-hook", "Netlify", "api.netlify.com/build_hooks/", "<h>{24}"),
    ("vercel-blob-token", "Vercel", "vercel_blob_rw_", "<A>{16}_<A>{30,40}"),
    # people, talk, design
    ("intercom-token", "Intercom", "dG9rO", "<b>{50,60}={0,2}"),
    ("lightspeed-token", "Lightspeed", "lsxs_pt_ lsxs_at_", "<A>{24,64}"),
    ("voiceflow-key", "Voiceflow", "VF.", r"(?:(?:DM|WS)\.)?<h>{24}\.<A>{16}"),
    ("bannerbear-key", "Bannerbear", "bb_pr_ bb_ma_", "<h>{30}"),
    ("thunderstore-token", "Thunderstore", "tss_", "<A>{22,40}"),
    ("onfido-token", "Onfido", "api_live. api_live_us. api_live_ca. api_live_eu. api_sandbox. api_sandbox_us. api_sandbox_ca. api_sandbox_eu.",
     r"<w>{20,90}(?:\.<w>{20,80})?"),
    ("persona-key", "Persona", "persona_production_ persona_sandbox_", "<w>{24,80}"),
    ("proof-key", "Proof", "prf_cli_ prf_", "<A>{36,64}"),
    ("pubnub-key", "PubNub", "pub-c- sub-c-", "<a>{8}-<a>{4}-<a>{4}-<a>{4}-<a>{12}"),
    ("login-with-amazon-secret", "Amazon", "amzn1.oa2-cs.v1.", "<h>{64}"),
    ("salesforce-consumer-key", "Salesforce", "3MVG9", "[0-9A-Za-z_.]{24,200}"),
    ("salesforce-refresh-token", "Salesforce", "5Aep861 5AEP861", "[0-9A-Za-z_.]{40,120}"),
    ("oculus-token", "Meta Quest", "OC|", r"\d{12,20}\|<h>{32}"),
    ("naver-works-token", "Naver Works", "kr1AAA jp1AAA", "<s>{60,400}"),
    ("dingtalk-signing-secret", "DingTalk", "SEC", "<h>{64}"),
    # money
    ("asaas-key", "Asaas", "$aact_hmlg_ $aact_prod_ $aact_", "<s>{20,300}"),
    ("ebay-key", "eBay", "PRD- SBX-", "<h>{8,12}(?:-<h>{4,9}){1,5}"),
    ("fleetbase-key", "Fleetbase", "flb_live_ flb_test_", "<A>{20}"),
    ("flexport-token", "Flexport", "shltm_", "<w>{40}"),
    ("gemini-exchange-key", "Gemini", "master- account-", "<A>{20}"),
    ("mercury-token", "Mercury", "mercury_production_ mercury_sandbox_", "<w>{40,120}"),
    ("pagarme-key", "Pagar.me", "ak_live_ ak_test_", "<A>{30}"),
    ("paystack-key", "Paystack", "sk_", "(?!live_|test_|prod_|car_)[a-z]{2,20}_<A>{40}"),
    ("rainforest-key", "Rainforest Pay", "apikey_ sbx_apikey_", "<h>{64}"),
    ("robinhood-key", "Robinhood", "rh-api-", "<uuid>"),
    ("stripe-payment-secret", "Stripe", "pi_ seti_", "<A>{20,30}_secret_<A>{20,30}"),
    ("adyen-key", "Adyen", "AQE", r"[a-z]<s>{60,240}-<s>{20,90}-[!-~]{10,40}"),
    ("solapi-key", "Solapi", "NCS", "(?=[A-Z]{0,12}[0-9])<U>{13}"),
    ("kakaopay-secret", "Kakao Pay", "DEV PRD", "(?=[A-Z]{0,36}[0-9])<U>{37}"),
)
# fmt: on
