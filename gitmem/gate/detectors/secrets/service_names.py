"""Names of services whose keys have no beginning of their own: the name beside a random value is what tells.

Data only, for `gate/detectors/secrets/assignments.py`: what a name and a value together mean is decided there. Names that are words of
English, and tools whose builds and digests stand beside their names, are left out of `NAMES`; the CJK names are
parts of a pattern, since particles are glued to them.
"""

from __future__ import annotations

_NAMES = """
    abuseipdb abyssale accuweather adafruit adafruitio adbrix adyen adzuna aeroworkflow aikido airbrake
    airbridge airvisual aiven alchemy alconost alegra aletheiaapi algolia alibabacloud alienvault aligo alipay
    aliyun allsports ambee amplitude anypoint apacta api2cart apideck apiflash apifonica apify apilayer apimatic
    apimetrics apitemplate appcenter appcues appfollow appointedd appoptics appsynergy apptivo appveyor asaas asana
    assemblyai atera atlassian audd auth0 authress autodesk autoklose avaza aviationstack axonaut aylien ayrshare
    azureopenai azuresearch bannerbear baremetrics barobill beamer beebole besnappy besttime betterstack beusable
    bigmodel bilibili billomat binance bitbank bitbar bitcoinaverage bitfinex bitflyer bitget bithumb bitly bitmex
    bitrise bittrex bizm bizppurio blazemeter blitapp blocknative blynk bolta bombbomb boostnote bootpay borgbase
    braintree braintrust brandfetch browserstack browshot bscscan buddyns budibase bugherd bugsnag buildkite bulksms
    bybit cafe24 caflou calendarific calendly calorieninja campayn canny cannyio capsulecrm captaindata carboninterface
    cashboard caspio circleci wandb censys centralstation cexio channelio channeltalk chartmogul chatfuel chatwork checio checklyhq
    checkvist clarifai clearbit clickhelp clicksendsms clickup cliengo clientary clinchpad clockify clockworksms
    closecrm cloudconvert cloudelements cloudflare cloudimage cloudinary cloudmersive cloudplan cloudsight cloudsmith
    clovastudio cloverly clustdoc cockroachlabs codacy codeclimate codecov codef codequiry cohere coinapi coinbase
    coincheck coinlayer coinlib coinone companyhub configcat confluent contentful conversiontools convertapi convertkit
    coocon coolsms copper couchbase countrylayer coupang coveralls craftmypdf cratesio crowdstrike cryptocompare ctyun
    currencycloud currencyfreaks currencylayer currencyscoop currentsapi customerguru customerio cybozu d7network
    dailyco danal dareboost dashscope data4library databento datadog datagokr deepai deepgram deepl deepseek deribit
    detectify detectlanguage devcycle dfuse diggernaut dingtalk disqus dnscheck dnsimple docparser documo
    dooray doppler dotdigital dronahq droneci dropbox dtrack duffel dwolla dynalist dynatrace dyspatch eagleeyenetworks
    easyinsight easypost ebay ecostruxureit ecount edamam edenai eightxeight elastic elasticemail elevenlabs enablex
    endorlabs eodhd esmplus etherscan ethplorer etsy eventbrite everhour exchangerate exchangerateapi exchangerates
    exchangeratesapi exoscale extractorapi faceplusplus fastforex fastly feedier feishu fetchrss fibery finage finicity
    finnhub fireblocks fixerio fleetbase flexport flickr flightapi flightlabs flightstats flowflu flutterwave fmfw
    formcraft formsite foursquare frameio freee freemius freshbooks freshdesk friendli fullstory fxmarket gabia gateio
    geckoboard geoapify geocodify geocodio geoipifi getemail getemails getgeoapi getresponse getsandbox getui giphy
    gitter glassnode gmopg gocanvas gocardless godaddy godomall goodday gopax graphcms
    graphhopper greptile groovehq gtmetrix guardianapi gumroad hackle happyscribe hellosign helpcrunch helpscout hereapi
    highnote hiveage holidayapi holistic hotjar huaweicloud hubapi hubspot hunterio huobi hybiscus hyperclova hypertrack
    iamport iconfinder iexapis iexcloud iflytek imagekit imagga imweb infomaniak infracost infura inicis instabot
    instagram instamojo intercom interseller intra42 intrinio invoiceocean ip2location ipapi ipgeolocation ipifi ipinfo
    ipinfodb ipquality ipqualityscore ipstack jandi jenkins jotform jpush juhe jumpcloud jupiterone juso kakao kakaopay
    kakaowork kanbantool karmacrm keenio kickbox kintone kiwoom klaviyo klipfolio knapsackpro kobis korbit koscom
    kosis kraken ksyun ktcloud kucoin languagelayer lastfm launchdarkly leadfeeder leancloud lemlist lendflow
    lessannoyingcrm lexigram linemessaging linenotify lineworks linkedin linode liveagent livestorm locationiq logdna
    loggly loginradius logz logzio lokalise looker lottecard loyverse lunchmoney madkudu magicbell mailboxlayer
    mailchimp mailerlite mailersend mailgun mailjet mailjetsms mailmodo mailsac mandrill mapbox mapquest marketstack
    mattermost mavenlink maxmind meaningcloud mediastack meistertask meraki mergify messagebird metaapi
    metrilo midtrans misskey mistral mixpanel mockaroo moneyforward monkeylearn moonclerk moosend moralis mrticktock
    myfreshworks myintervals nasdaq nasdaqdatalink naver naverpay naverworks ncloud netcore netease nethunt netlify
    neutrinoapi newrelic newsapi newscatcher nexmo nftport ngrok nhncloud nicecredit nicepay nicepayments nicereply
    nightfall nozbe nozbeteams numverify nutritionix nylas nytimes oanda octopusdeploy odsay okta omnisend onedesk
    onelogin onepagecrm onesignal onfido onfleet oopspam openbanking opencage opencagedata opendart
    openrouter openuv openweather opsgenie optimizely packagecloud pagarme pagerduty pandadoc pandascore papertrail
    parsehub parseur partnerstack payco paydirtapp paymoapp paymongo paypay paystack pdflayer pdfshift pendo
    peopledatalabs pepipost photoroom pinata pinecone pipedrive pivotaltracker pixabay planview
    planviewleankit planyo plivo podio pollsapi poloniex polymarket popbill portone postageapp posthog postmark
    postmarkapp powrbot ppurio privateai prodpad prospectcrm proxycrawl pubnub pulumi purestake pushbullet pusher pyxis
    qase qcloud qiniu qualaroo quandl qubole qweather rainforest rakuten rapidapi razorpay reachmail
    rebrandly rentman repairshopr replyio requestfinance restpack returnzero revampcrm ringcentral ritekit
    rockset rollbar rongcloud rootly route4me rownd rtzr runpod runrunit runscope salesblink salescookie
    salesflare salesmate samsara sansan satismeter saucelabs scaleway scalingo scalr scrapeowl scraperapi scraperbox
    scrapestack scrapfly scrapingant scrapingbee screenshotapi screenshotlayer scrutinizerci securitytrails selectpdf
    sendbird sendinblue sentinelone serpapi serphouse serpstack settlebank settlemint sgis sheety sherpadesk shinhan
    shipday shippo shodan shotstack shutterstock signable signalwire signaturit signupgenius sigopt siliconflow simfin
    simplesat simplynoted simvoly sinch sinchmessage sirv siteleaf sixshop skrappio sktopen skybiometry smarthr
    smartsheets smartstore smartystreets smooch snyk solapi solarwinds sonarcloud sourcegraph sparkpost
    spectralops speechtextai splunk spoonacular sportsmonk spotify squarespace sslmate stackhawk
    statsig statuscake statuspage statuspal stepfun stitchdata stockdata storecove stormboard stormglass storyblok
    storychief strava stytch sugester sumo sumologic supernotes supernotesapi supertone surveyanyplace surveybot
    surveymonkey surveysparrow sweettracker swiftype swit tableau tallyfy tatumio taxjar teamgate teamworkcrm
    teamworkdesk teamworkspaces tenable tencentcloud testingbot textanywhere textmagic theoddsapi thinkific thousandeyes
    thunderstore tianditu ticketmaster tickettailor tiingo timecamp timezoneapi tmap tmdb tmetric todoist
    togetherai toggltrack tomorrowio tomtom tossinvest tosspayments tradier transferwise travelpayouts travisci trello
    tumblr twelvedata twilio twitch twitter typecast typeform typetalk ubidots uclassify ucloud umeng univapay unplugg
    unsplash upbit upcdatabase upcloud uplead uploadcare upstage uptimerobot upyun urlscan useb userflow userstack
    vagrantcloud vatlayer vbout verimail veriphone veritrans versioneye viewneo virustotal visualcrossing voiceflow
    voicegain volcengine vonage voodoosms vouchery vpnapi vultr vworld walkscore weatherbit weatherstack web3storage
    webex webscraper websitepulse wechat wecom weibo weixin wepay wisetracker wistia workato workos worksnaps
    worldcoinindex worldtime worldweather wrike xfyun yandex yelp youneedabudget zaif zego zendesk
    zenrows zenscrape zenserp zeplin zerobounce zerotier zhipu zipapi zipcodeapi zipcodebase
    zohocrm zonka zonkafeedback zulipchat zuplo
"""
NAMES = frozenset(_NAMES.split())

# Korean, Japanese, Chinese names, longer ones first where one begins with another.
CJK_NAMES = (
    "네이버|카카오|토스|업비트|빗썸|코빗|코인원|고팍스|바이낸스|알리고|솔라피|쿨에스엠에스|비즈엠|뿌리오|아임포트|포트원|부트페이|이니시스"
    "|나이스페이|페이코|다날|헥토|채널톡|쿠팡|11번가|카페24|아임웹|고도몰|스마트스토어|이카운트|가비아|바로빌|팝빌|공공데이터|티맵|티데이터"
    "|한국투자|한투|키움|이베스트|스윗트래커|스마트택배|도로명주소|주소기반|기상청|브이월드|V월드|국토정보|통계청|국세청|오픈다트|금융감독원"
    "|한국은행|열린데이터|영화진흥|법제처|국가법령|알라딘|오디세이|업스테이지|하이퍼클로바|클로바|프렌들리|리턴제로|뤼튼|타입캐스트|센드버드"
    "|라인웍스|잔디|두레이|데이터독|트윌리오|센드그리드|메일건|메일침프|클라우드플레어|헤로쿠|알골리아|파이어베이스|스포티파이|뉴렐릭|옥타"
    "|チャットワーク|キントーン|サイボウズ|楽天|さくらのクラウド|ビットフライヤー|コインチェック|データドッグ|マネーフォワード"
    "|阿里云|腾讯云|华为云|百度|七牛|又拍|高德|天地图|和风天气|钉钉|飞书|企业微信|微信|支付宝|极光|个推|友盟|火山引擎|智谱|通义|月之暗面|讯飞|京东云"
)
