"""Real GGUF files with random weights, a megabyte at most: real llama.cpp loads them, real tokenizers split with them.

`make_language_model` writes a two-layer llama with a byte-fallback tokenizer (any text, any reply, never sense);
`make_embedding_model` a two-layer BERT with a small WordPiece vocabulary. Same seed, same bytes. Needs `gguf`, numpy.
"""

from __future__ import annotations

from pathlib import Path

WORDS = [
    "the",
    "of",
    "to",
    "and",
    "we",
    "use",
    "keep",
    "memory",
    "fact",
    "decision",
    "기억",
    "결정",
    "사실",
    "한다",
    "記憶",
]


def make_language_model(path: Path, *, seed: int = 7, context: int = 4096, width: int = 64) -> Path:
    """A causal model over 256 byte tokens and a few pieces. Returns `path`."""
    import gguf
    import numpy

    rng = numpy.random.default_rng(seed)
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{n:02X}>" for n in range(256))]
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL, *[gguf.TokenType.BYTE] * 256]
    extra = [*'▁{}[]":,.#-_/0123456789', *"abcdefghijklmnopqrstuvwxyz", *(f"▁{word}" for word in WORDS)]
    pieces += extra
    kinds += [gguf.TokenType.NORMAL] * len(extra)
    scores = [0.0] * 259 + [-float(n) for n in range(len(extra))]

    writer = gguf.GGUFWriter(str(path), "llama")
    heads, layers, inner = 4, 2, width * 2
    writer.add_name("tiny random language model")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_rope_dimension_count(width // heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(pieces))
    writer.add_tokenizer_model("llama")
    writer.add_token_list(pieces)
    writer.add_token_scores(scores)
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)

    def matrix(name: str, rows: int, columns: int) -> None:
        writer.add_tensor(name, (rng.standard_normal((rows, columns)) * 0.2).astype(numpy.float32))

    def ones(name: str) -> None:
        writer.add_tensor(name, numpy.ones(width, dtype=numpy.float32))

    matrix("token_embd.weight", len(pieces), width)
    ones("output_norm.weight")
    matrix("output.weight", len(pieces), width)
    for layer in range(layers):
        block = f"blk.{layer}"
        ones(f"{block}.attn_norm.weight")
        ones(f"{block}.ffn_norm.weight")
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"{block}.{part}.weight", width, width)
        matrix(f"{block}.ffn_gate.weight", inner, width)
        matrix(f"{block}.ffn_up.weight", inner, width)
        matrix(f"{block}.ffn_down.weight", width, inner)
    return _finish(writer, path)


def make_embedding_model(path: Path, *, seed: int = 7, context: int = 512, width: int = 64) -> Path:
    """A mean-pooled BERT encoder of `width` dimensions over single characters and a few words. Returns `path`."""
    return _bert(path, seed, context, width, "")


def make_reranking_model(path: Path, *, likes: str = "decision", context: int = 512, width: int = 64) -> Path:
    """A BERT cross-encoder with a classification head whose score is higher the more of a text is the word `likes`.

    Its one layer attends to all tokens alike and passes their mean on. Returns `path`.
    """
    return _bert(path, 7, context, width, likes)


def _bert(path: Path, seed: int, context: int, width: int, likes: str) -> Path:
    import gguf
    import numpy

    rng = numpy.random.default_rng(seed)
    letters = [*"abcdefghijklmnopqrstuvwxyz0123456789.,:;!?-_/#()'\"", *"가나다라마바사아자차카타파하記憶事実"]
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *(f"▁{w}" for w in dict.fromkeys([*WORDS, *letters])),
        *letters,
    ]
    kinds = [gguf.TokenType.CONTROL] * 5 + [gguf.TokenType.NORMAL] * (len(pieces) - 5)

    writer = gguf.GGUFWriter(str(path), "bert")
    heads, layers, inner = 4, 1 if likes else 2, width * 2
    writer.add_name("tiny reranking model" if likes else "tiny random embedding model")
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.RANK if likes else gguf.PoolingType.MEAN)
    writer.add_tokenizer_model("bert")
    writer.add_token_list(pieces)
    writer.add_token_types(kinds)
    writer.add_token_type_count(2)
    for add, token in (
        (writer.add_pad_token_id, 0),
        (writer.add_unk_token_id, 1),
        (writer.add_bos_token_id, 2),
        (writer.add_sep_token_id, 3),
        (writer.add_eos_token_id, 3),
        (writer.add_mask_token_id, 4),
    ):
        add(token)

    def matrix(name: str, rows: int, columns: int) -> None:
        writer.add_tensor(name, (rng.standard_normal((rows, columns)) * 0.2).astype(numpy.float32))

    def vector(name: str, size: int, value: float = 0.0) -> None:
        writer.add_tensor(name, numpy.full(size, value, dtype=numpy.float32))

    if likes:
        embeddings = (rng.standard_normal((len(pieces), width)) * 0.2).astype(numpy.float32)
        embeddings[:, 0] = 0
        embeddings[pieces.index(f"▁{likes}"), 0] = 5
        one, none = numpy.eye(width, dtype=numpy.float32), numpy.zeros((width, width), dtype=numpy.float32)
        writer.add_tensor("token_embd.weight", embeddings)
        writer.add_tensor("position_embd.weight", numpy.zeros((context, width), dtype=numpy.float32))
        writer.add_tensor("token_types.weight", numpy.zeros((2, width), dtype=numpy.float32))
        vector("token_embd_norm.weight", width, 1.0)
        vector("token_embd_norm.bias", width)
        for part, weights in (("attn_q", none), ("attn_k", none), ("attn_v", one), ("attn_output", one)):
            writer.add_tensor(f"blk.0.{part}.weight", weights)
            vector(f"blk.0.{part}.bias", width)
        for part in ("attn_output_norm", "layer_output_norm"):
            vector(f"blk.0.{part}.weight", width, 1.0)
            vector(f"blk.0.{part}.bias", width)
        for part, rows, columns in (("ffn_up", inner, width), ("ffn_down", width, inner)):
            writer.add_tensor(f"blk.0.{part}.weight", numpy.zeros((rows, columns), dtype=numpy.float32))
            vector(f"blk.0.{part}.bias", rows)
        writer.add_tensor("cls.weight", one)
        vector("cls.bias", width)
        writer.add_tensor("cls.output.weight", numpy.eye(1, width, dtype=numpy.float32))
        vector("cls.output.bias", 1)
        return _finish(writer, path)
    matrix("token_embd.weight", len(pieces), width)
    matrix("position_embd.weight", context, width)
    matrix("token_types.weight", 2, width)
    vector("token_embd_norm.weight", width, 1.0)
    vector("token_embd_norm.bias", width)
    for layer in range(layers):
        block = f"blk.{layer}"
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            matrix(f"{block}.{part}.weight", width, width)
            vector(f"{block}.{part}.bias", width)
        for part in ("attn_output_norm", "layer_output_norm"):
            vector(f"{block}.{part}.weight", width, 1.0)
            vector(f"{block}.{part}.bias", width)
        matrix(f"{block}.ffn_up.weight", inner, width)
        vector(f"{block}.ffn_up.bias", inner)
        matrix(f"{block}.ffn_down.weight", width, inner)
        vector(f"{block}.ffn_down.bias", width)
    return _finish(writer, path)


def _finish(writer: object, path: Path) -> Path:
    writer.write_header_to_file()  # type: ignore[attr-defined]
    writer.write_kv_data_to_file()  # type: ignore[attr-defined]
    writer.write_tensors_to_file()  # type: ignore[attr-defined]
    writer.close()  # type: ignore[attr-defined]
    return path
