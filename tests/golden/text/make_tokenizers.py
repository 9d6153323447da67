"""Makes the tokenizers and hash files of this folder with the published Python packages.

    pip install tokenizers==0.23.3 sentencepiece==0.2.3 protobuf gguf
    python make_tokenizers.py DEMO.gguf

Hash files hold little-endian u32: FNV-1a of the ids (u32 each) of one string, or of `block`
strings one after the other (each string's hash, as u32).
"""
import io
import json
import os
import struct
import sys

import gguf
import sentencepiece as spm
from sentencepiece import sentencepiece_model_pb2 as model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers as pre, processors, trainers

from strings import ATOMS, HERE, fnv, fnv_ids, string

COUNT = 11_000
STRINGS = [string(i) for i in range(COUNT)]


def write(name, hashes, block):
    """One u32 a block; the hash of a block of one string is the string's."""
    out = []
    for at in range(0, len(hashes), block):
        part = hashes[at : at + block]
        out.append(part[0] if block == 1 else fnv_ids(part))
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(struct.pack(f"<{len(out)}I", *out))


def ids_of(tokenizer, special=True):
    tokenizer.encode_special_tokens = not special
    return [fnv_ids(tokenizer.encode(s, add_special_tokens=False).ids) for s in STRINGS]


# The strings themselves.
write("strings.bin", [fnv(s.encode()) for s in STRINGS], 10)

# The demo model, from its metadata: digits one by one, then GPT-2's words.
reader = gguf.GGUFReader(sys.argv[1])


def field(name):
    f = reader.fields[name]
    return [bytes(f.parts[i]).decode() for i in f.data]


tokens = field("tokenizer.ggml.tokens")
types_field = reader.fields["tokenizer.ggml.token_type"]
types = [int(types_field.parts[i][0]) for i in types_field.data]
merges = [tuple(m.split(" ")) for m in field("tokenizer.ggml.merges")]
demo = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
demo.pre_tokenizer = pre.Sequence([pre.Digits(individual_digits=True), pre.ByteLevel(add_prefix_space=False)])
demo.decoder = decoders.ByteLevel()
demo.add_special_tokens([AddedToken(t, special=True, normalized=False) for t, k in zip(tokens, types) if k == 3])
write("demo.bin", ids_of(demo), 1)
write("demo_plain.bin", ids_of(demo, special=False), 10)

# Small byte-level BPE vocabularies, with the patterns as Meta and Alibaba published them.
CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
SPECIAL = ["<|begin_of_text|>", "<|eot_id|>", "<|im_start|>", "<|im_end|>"]
ORDINARY = ["<tool_call>", "</tool_call>"]


def split(pattern):
    return pre.Split(Regex(pattern), "isolated", invert=False)


def byte_level(*steps):
    return pre.Sequence([*steps, pre.ByteLevel(add_prefix_space=False, use_regex=False)])


def trained(pattern, vocab_size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = byte_level(split(pattern))
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size, initial_alphabet=pre.ByteLevel.alphabet(), show_progress=False
    )
    # Other strings than the tested ones, without the special spellings.
    corpus = [string(i) for i in range(1_000_000, 1_006_000)]
    for text in SPECIAL + ORDINARY:
        corpus = [s.replace(text, " ") for s in corpus]
    tokenizer.train_from_iterator(corpus, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(m) for m in model["merges"]]


def finished(vocab, merges, pre_tokenizer, normalizer=None, ignore_merges=False):
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=ignore_merges))
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in SPECIAL])
    tokenizer.add_tokens([AddedToken(t, special=False, normalized=False) for t in ORDINARY])
    return tokenizer


def save(tokenizer, name):
    os.makedirs(os.path.join(HERE, name), exist_ok=True)
    data = json.loads(tokenizer.to_str())
    with open(os.path.join(HERE, name, "tokenizer.json"), "w", encoding="utf-8") as f:
        json.dump(data, f, ensure_ascii=False, separators=(",", ":"))


def config(name, **fields):
    with open(os.path.join(HERE, name, "tokenizer_config.json"), "w", encoding="utf-8") as f:
        json.dump(fields, f, indent=1)
        f.write("\n")


vocab, merges = trained(LLAMA3, 1000)
llama3 = finished(vocab, merges, byte_level(split(LLAMA3)), ignore_merges=True)
llama3.post_processor = processors.Sequence([
    processors.ByteLevel(trim_offsets=True),
    processors.TemplateProcessing(
        single="<|begin_of_text|> $A",
        pair="<|begin_of_text|> $A <|begin_of_text|> $B",
        special_tokens=[("<|begin_of_text|>", llama3.token_to_id("<|begin_of_text|>"))],
    ),
])
save(llama3, "llama3")
config("llama3", bos_token="<|begin_of_text|>", eos_token="<|eot_id|>")
write("llama3/ids.bin", ids_of(llama3), 10)
write("llama3/ids_plain.bin", ids_of(llama3, special=False), 10)

vocab, merges = trained(QWEN2, 1000)
qwen2 = finished(vocab, merges, byte_level(split(QWEN2)), normalizers.NFC())
qwen2.post_processor = processors.ByteLevel(trim_offsets=False)
save(qwen2, "qwen2")
config("qwen2", add_bos_token=False, bos_token=None, eos_token={"content": "<|im_end|>", "special": True})
write("qwen2/ids.bin", ids_of(qwen2), 10)
write("qwen2/ids_plain.bin", ids_of(qwen2, special=False), 10)

# The other kinds of `tokenizer.ggml.pre`, on qwen2's vocabulary and merges, as the authors'
# tokenizer.json files describe them.
GPT2 = pre.ByteLevel(add_prefix_space=False, use_regex=True)
DIGITS = pre.Digits(individual_digits=True)
CASED = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s|%s| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
KINDS = {
    "gpt-2": (GPT2, None),
    "olmo": (GPT2, normalizers.NFC()),
    "starcoder": (pre.Sequence([DIGITS, GPT2]), None),
    "dbrx": (byte_level(split(LLAMA3)), None),
    "stablelm2": (byte_level(split(QWEN2)), None),
    "qwen35": (
        byte_level(split(CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")),
        normalizers.NFC(),
    ),
    "tekken": (byte_level(split(CASED % ("", "", r"\p{N}"))), None),
    "gpt-4o": (byte_level(split(CASED % (CONTRACTIONS + "?", CONTRACTIONS + "?", r"\p{N}{1,3}"))), None),
    "deepseek-coder": (
        byte_level(split(r"[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(r"[一-龥ࠀ-一가-퟿]+"), DIGITS),
        None,
    ),
    "deepseek-v3": (
        byte_level(
            split(r"\p{N}{1,3}"),
            split(r"[一-龥぀-ゟ゠-ヿ]+"),
            split("[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"),
        ),
        None,
    ),
}
for name, (pre_tokenizer, normalizer) in KINDS.items():
    ignore = name == "tekken"
    write(f"pre_{name}.bin", ids_of(finished(vocab, merges, pre_tokenizer, normalizer, ignore)), 50)

# SentencePiece BPE. Trained on the characters of the words and code, so that others are unknown.
KNOWN = set("".join(ATOMS["words"] + ATOMS["code"])) - set("\n\0\t\r")


def spm_corpus():
    for i in range(2_000_000, 2_012_000):
        yield "".join(c if c in KNOWN else " " for c in string(i))


writer = io.BytesIO()
spm.SentencePieceTrainer.train(
    sentence_iterator=spm_corpus(),
    model_writer=writer,
    model_type="bpe",
    vocab_size=1700,
    byte_fallback=True,
    character_coverage=0.99,
    normalization_rule_name="identity",
    remove_extra_whitespaces=False,
    user_defined_symbols=["<user_def>", "▁▁▁▁", "zzqq"],
    split_digits=True,
    minloglevel=2,
)
proto = model_pb2.ModelProto()
proto.ParseFromString(writer.getvalue())
# Some pieces that only serve merging.
for index in range(300, 700, 7):
    proto.pieces[index].type = model_pb2.ModelProto.SentencePiece.UNUSED


def spm_files(name, proto):
    processor = spm.SentencePieceProcessor(model_proto=proto.SerializeToString())
    data = {
        "tokens": [p.piece for p in proto.pieces],
        "scores": [p.score for p in proto.pieces],
        # SentencePiece and GGUF number the types alike.
        "types": [p.type for p in proto.pieces],
    }
    write(f"spm/{name}.bin", [fnv_ids(processor.encode(s)) for s in STRINGS], 10)
    return data, processor


os.makedirs(os.path.join(HERE, "spm"), exist_ok=True)
data, processor = spm_files("ids", proto)
with open(os.path.join(HERE, "spm", "metadata.json"), "w", encoding="utf-8") as f:
    json.dump(data, f, ensure_ascii=False, separators=(",", ":"))

# The same without bytes: unknown characters become the unknown token.
for piece in proto.pieces:
    if piece.type == model_pb2.ModelProto.SentencePiece.BYTE:
        piece.type = model_pb2.ModelProto.SentencePiece.CONTROL
proto.trainer_spec.byte_fallback = False
spm_files("ids_unknown", proto)

# A tokenizer.json as converted from SentencePiece: merges derived from the scores.
normal = {t: i for i, (t, k) in enumerate(zip(data["tokens"], data["types"])) if k == 1}
pairs = []
for token, index in normal.items():
    for at in range(1, len(token)):
        left, right = token[:at], token[at:]
        if left in normal and right in normal:
            pairs.append((-data["scores"][index], normal[left], normal[right], left, right))
pairs.sort()
vocab = {t: i for i, t in enumerate(data["tokens"])}
llama2 = Tokenizer(
    models.BPE(vocab=vocab, merges=[(p[3], p[4]) for p in pairs], unk_token="<unk>", fuse_unk=True, byte_fallback=True)
)
llama2.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
llama2.decoder = decoders.Sequence(
    [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
)
llama2.post_processor = processors.TemplateProcessing(
    single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)]
)
llama2.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in ["<unk>", "<s>", "</s>"]])
save(llama2, "llama2")
config("llama2", bos_token="<s>", eos_token="</s>", add_bos_token=True, add_eos_token=False)
write("llama2/ids.bin", ids_of(llama2), 10)
