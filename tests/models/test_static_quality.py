"""What the table that ships can do, pinned on a small set of our own: one-line notes that share no word with the question.

Each floor is a little below what the table reached when it was made; a new table that falls under one is worse.
"""

import hashlib
import itertools
import math
from operator import mul

import pytest

from gitmem.models.static_embedder import TABLE, StaticEmbedder

# question in English, the notes that answer it, question in Korean
NOTES = [
    (
        "How do we back up the database every night?",
        "The storage dump runs daily at 3 am",
        "데이터베이스는 매일 새벽에 백업한다",
        "データベースは毎晩バックアップされる",
        "数据库每天晚上备份",
        "DB 백업은 언제 하지?",
    ),
    (
        "Where is the password kept?",
        "Credentials live in the vault",
        "비밀번호는 금고에 보관한다",
        "パスワードは金庫に保管する",
        "密码保存在保险库中",
        "암호를 어디에 저장하나요?",
    ),
    (
        "Who reviews pull requests?",
        "Code reviews are done by the platform team",
        "코드 리뷰는 플랫폼 팀이 맡는다",
        "コードレビューはプラットフォームチームが担当する",
        "代码审查由平台团队负责",
        "누가 코드를 검토해?",
    ),
    (
        "Why did the deployment fail?",
        "The release broke because the disk was full",
        "디스크가 가득 차서 배포가 실패했다",
        "ディスクがいっぱいでデプロイに失敗した",
        "磁盘已满导致部署失败",
        "릴리스가 왜 안 됐지?",
    ),
    (
        "When is the meeting?",
        "The weekly sync takes place on Tuesday afternoon",
        "회의는 매주 화요일 오후에 한다",
        "会議は毎週火曜日の午後に行う",
        "会议在每周二下午举行",
        "미팅 시간이 언제야?",
    ),
    (
        "How long are logs retained?",
        "We delete log files after thirty days",
        "로그는 삼십 일 동안 보존하고 삭제한다",
        "ログは三十日間保存してから削除する",
        "日志保留三十天后删除",
        "로그 보관 기간은?",
    ),
    (
        "Which language does the user prefer?",
        "The user likes answers in French",
        "사용자는 프랑스어 답변을 선호한다",
        "ユーザーはフランス語の回答を好む",
        "用户更喜欢法语回答",
        "사용자가 좋아하는 언어는?",
    ),
    (
        "Why is the page slow to load?",
        "Large images make the website take long to open",
        "이미지가 커서 페이지 로딩이 느리다",
        "画像が大きくてページの読み込みが遅い",
        "图片太大导致页面加载缓慢",
        "화면이 왜 늦게 뜨지?",
    ),
    (
        "How do I restart the server?",
        "Stop the service and start it again with the script",
        "스크립트로 서버를 다시 시작한다",
        "スクリプトでサーバーを再起動する",
        "使用脚本重新启动服务器",
        "서버 재시작 방법",
    ),
    (
        "What happens when the token expires?",
        "After expiry, sign in again to get a new access key",
        "토큰이 만료되면 다시 로그인해야 한다",
        "トークンの有効期限が切れたら再度ログインする",
        "令牌过期后需要重新登录",
        "토큰 유효기간이 끝나면?",
    ),
    (
        "Can I run the tests without network?",
        "The suite works offline",
        "테스트는 오프라인에서도 실행된다",
        "テストはオフラインでも実行できる",
        "测试可以在离线状态下运行",
        "인터넷 없이 테스트가 돼?",
    ),
    (
        "How much memory does the process use?",
        "The worker consumes about two gigabytes of RAM",
        "프로세스는 메모리를 약 이 기가 사용한다",
        "プロセスはメモリを約二ギガ使用する",
        "该进程大约使用两个千兆内存",
        "메모리 사용량이 얼마야?",
    ),
    (
        "What is the color of the button?",
        "The button is blue",
        "버튼 색상은 파란색이다",
        "ボタンの色は青です",
        "按钮的颜色是蓝色",
        "버튼은 무슨 색?",
    ),
    (
        "How do users report a bug?",
        "Customers file problems through the issue form",
        "사용자는 이슈 양식으로 버그를 신고한다",
        "ユーザーはフォームからバグを報告する",
        "用户通过表单报告错误",
        "버그 제보는 어떻게 해?",
    ),
    (
        "What is the limit on file uploads?",
        "Attachments may not be larger than ten megabytes",
        "업로드할 수 있는 파일 크기는 최대 십 메가이다",
        "アップロードできるファイルサイズは最大十メガです",
        "上传文件的大小上限为十兆",
        "첨부 파일 용량 제한은?",
    ),
    (
        "How are errors retried?",
        "A failed request is attempted three more times",
        "요청이 실패하면 세 번 재시도한다",
        "リクエストが失敗すると三回再試行する",
        "请求失败时重试三次",
        "에러가 나면 다시 시도하나?",
    ),
    (
        "Is the camera indoors or outdoors?",
        "The sensor is mounted in the garden",
        "카메라는 정원에 설치되어 있다",
        "カメラは庭に設置されている",
        "摄像头安装在花园里",
        "카메라가 어디 있어?",
    ),
    (
        "What temperature should the room have?",
        "Keep it at twenty degrees in the bedroom",
        "방 온도는 이십 도로 유지한다",
        "部屋の温度は二十度に保つ",
        "房间温度保持在二十度",
        "실내 온도를 몇 도로 해?",
    ),
    (
        "How are messages encrypted?",
        "Traffic is protected with a public key",
        "메시지는 공개 키로 암호화한다",
        "メッセージは公開鍵で暗号化される",
        "消息使用公钥加密",
        "메시지 암호화 방식",
    ),
    (
        "Which model do we train?",
        "We fit a neural network on the images",
        "이미지로 신경망 모델을 학습한다",
        "画像でニューラルネットワークを学習する",
        "使用图像训练神经网络",
        "어떤 모델을 훈련하지?",
    ),
]
LANGUAGES = {"en": 1, "ko": 2, "ja": 3, "zh": 4}


@pytest.fixture(scope="module")
def embedder():
    return StaticEmbedder()


def hit_at(embedder, questions, notes, k):
    answers = embedder.embed(notes)
    found = 0
    for right, question in enumerate(questions):
        asked = memoryview(embedder.embed_query(question)).cast("f")
        scores = [sum(map(mul, asked, memoryview(answer).cast("f"))) for answer in answers]
        found += sum(score > scores[right] for score in scores) < k
    return found / len(questions)


@pytest.mark.parametrize(("language", "floor"), [("en", 0.95), ("ko", 0.95), ("ja", 0.95), ("zh", 0.95)])
def test_an_english_question_finds_the_note_in_any_language(embedder, language, floor):
    notes = [note[LANGUAGES[language]] for note in NOTES]
    assert hit_at(embedder, [note[0] for note in NOTES], notes, 3) >= floor


@pytest.mark.parametrize(("language", "floor"), [("en", 0.9), ("ko", 0.95), ("ja", 0.95), ("zh", 0.95)])
def test_a_korean_question_finds_the_note_in_any_language(embedder, language, floor):
    notes = [note[LANGUAGES[language]] for note in NOTES]
    assert hit_at(embedder, [note[5] for note in NOTES], notes, 3) >= floor


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(LANGUAGES, 2)))
def test_a_note_is_nearest_to_its_translation(embedder, first, second):
    asked = [note[LANGUAGES[first]] for note in NOTES]
    assert hit_at(embedder, asked, [note[LANGUAGES[second]] for note in NOTES], 1) >= 0.9


def test_the_table_fits_the_package_and_says_what_it_is(embedder):
    card = (TABLE.parent / "MODEL_CARD.md").read_text(encoding="utf-8")
    data = TABLE.read_bytes()
    assert len(data) <= 20_000_000
    assert (TABLE.parent / "table.bin.sha256").read_text() == f"{hashlib.sha256(data).hexdigest()}  table.bin\n"
    assert hashlib.sha256(data[64:]).digest() == embedder.digest
    assert embedder.id in card
    assert "Apache License" in (TABLE.parent / "LICENSE").read_text(encoding="utf-8")


def test_the_word_pieces_of_the_teacher_come_first(embedder):
    pieces = list(embedder.all_pieces())
    assert pieces[101] == "[CLS]" and pieces[1996] == "the" and len(pieces) > 70_000
    assert {"▁메모", "메모", "会議", "会议", "サーバ"} <= set(pieces)


def test_no_piece_speaks_louder_than_text_that_was_seen(embedder):
    def length(row):
        return math.hypot(*embedder.row(row))

    common = [length(row) for row in range(2000, 12_000)]
    rare = [length(row) for row in range(len(embedder.all_pieces())) if row >= 12_000]
    assert max(rare) < 3 * max(common)
    assert length(1996) < sorted(common)[len(common) // 2] / 2  # "the" weighs little
