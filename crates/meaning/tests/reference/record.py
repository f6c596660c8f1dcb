"""Records what the tests compare with: the reference tokeniser, and small models with a forward pass in float64.

    pip install tokenizers==0.23.3 numpy
    python record.py BERT_VOCABULARY.txt

Everything is written beside this file. `BERT_VOCABULARY.txt` is the `vocab.txt` of any uncased English BERT.
"""

import hashlib
import json
import math
import random
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

HERE = Path(__file__).parent

WORDS = """[PAD] [UNK] [CLS] [SEP] the a note about garden tree apple plant ##s ##ing grow water of and in is to vault
link tag table chair 知 识 . , : - ( ) ! ? ' ä ü e ##r ##n b c d""".split()

TEXTS = [
    "The garden grows.", "apple, plants and trees", "A note about the vault: links in a table!", "growing",
    "知识 and Ärger", "unknownword", "the of and in is to " * 12, "Water? (water)", "a - b", "e",
]

PROSE = [
    "", " ", "a", "Hello, World!", "don't", "U.S.A.", "e-mail", "naïve café Ångström ÉCOLE", "İstanbul ı", "ß ẞ straße",
    "知识管理", "abc知def", "日本語のテキスト", "한국어 텍스트", "русский Ёлка й", "ελληνικά Ώ", "עברית שָׁלוֹם", "العَرَبِيَّة",
    "हिन्दी में", "ไทย ภาษา", "emoji 😀👍🏽 ok", "zero\u200bwidth soft\u00adhyphen", "tab\tnew\nline\r\nand\u00a0nbsp", "\ufeffbom",
    "\u3000ideographic\u3000space", "“quotes” ‘single’ «guillemets» …", "a—b–c−d", "x²+y³=z½", "ﬁne ﬂuﬀ", "ＦＵＬＬ ｗｉｄｔｈ", "①②③ ㍿",
    "C:\\path\\file.txt", "https://example.com/a_b?c=d&e#f", "snake_case camelCase kebab-case", "1,234.56 2026-11-18T13:06Z",
    "[[Wiki link|shown]] ![[image.png]] #tag/sub ^block", "$e=mc^2$ `code` **bold** _it_ ~~no~~ ==yes==", "[CLS] [MASK] [SEP] [UNK] [PAD]",
    "##ing ## #", "antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis", "x" * 100, "x" * 101, "é" * 100, "é" * 101,
    "a" + "\u0301" * 200, "\u0301", "\x00\x01\x7f\x80\x85", "\ufffd\ufffe\uffff", "\U000e0001\U0010ffff", "ﷺ", "\u1e9b\u0323", "Ǆ ǅ ǆ", "𝕳𝖊𝖑𝖑𝖔 𝒲",
    "𠀀𪚥 豈更", "ก\u0e33", "\u1100\u1161\u11a8", "q\u0307\u0323", "Ἀ ᾳ ῼ", "Ⅷ ⅷ", "½ ¼", "™ © ®", "№ ℃ K Å",
]


def ranges_of_hashes():
    """For every block of 4,096 code points, the hash of what becomes of each between two letters."""
    normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    lines = []
    for block in range(0, 0x110000, 0x1000):
        digest = hashlib.sha256()
        for code in range(block, block + 0x1000):
            if 0xD800 <= code < 0xE000:
                continue
            words = [word for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str("a" + chr(code) + "B"))]
            digest.update((" ".join(words) + "\n").encode())
        lines.append(f"{block:06x} {digest.hexdigest()}")
    (HERE / "code-points.txt").write_text("\n".join(lines) + "\n")


def bert(vocabulary):
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=True, strip_accents=None, lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def mixed_texts():
    """Prose, and random texts of characters from everywhere."""
    choice = random.Random(7)
    blocks = [(0x20, 0x7F), (0xA0, 0x250), (0x300, 0x370), (0x370, 0x600), (0x900, 0xE80), (0x2000, 0x2C00), (0x3000, 0x3400),
              (0x4E00, 0x5000), (0xAC00, 0xAD00), (0xF900, 0xFB50), (0xFE30, 0x10000), (0x1D400, 0x1D800), (0x1F300, 0x1F700)]
    made = []
    for _ in range(200):
        letters = [chr(choice.randrange(*choice.choice(blocks))) for _ in range(choice.randrange(1, 40))]
        made.append("".join(letters))
    return PROSE + made


def tensors_file(path, tensors):
    header, offset, data = {}, 0, b""
    for name, tensor in tensors.items():
        raw = tensor.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, offset + len(raw)]}
        offset, data = offset + len(raw), data + raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def norm(x, weight, bias, epsilon=1e-12):
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + epsilon) * weight + bias


def small_transformer():
    folder = HERE / "tiny-bert"
    folder.mkdir(exist_ok=True)
    hidden, wide, layers, heads, positions = 16, 32, 2, 4, 24
    numbers = np.random.default_rng(11)
    tensors = {}

    def add(name, *shape):
        tensors[name] = (numbers.standard_normal(shape) * 0.6).astype(np.float32)

    for name, rows in [("word", len(WORDS)), ("position", positions), ("token_type", 2)]:
        add(f"embeddings.{name}_embeddings.weight", rows, hidden)
    add("embeddings.LayerNorm.weight", hidden), add("embeddings.LayerNorm.bias", hidden)
    for layer in range(layers):
        start = f"encoder.layer.{layer}."
        for name, outputs, inputs in [("attention.self.query", hidden, hidden), ("attention.self.key", hidden, hidden),
                                      ("attention.self.value", hidden, hidden), ("attention.output.dense", hidden, hidden),
                                      ("intermediate.dense", wide, hidden), ("output.dense", hidden, wide)]:
            add(f"{start}{name}.weight", outputs, inputs), add(f"{start}{name}.bias", outputs)
        for name in ["attention.output.LayerNorm", "output.LayerNorm"]:
            add(f"{start}{name}.weight", hidden), add(f"{start}{name}.bias", hidden)
    tensors_file(folder / "model.safetensors", tensors)
    config = {"architectures": ["BertModel"], "model_type": "bert", "hidden_act": "gelu", "hidden_size": hidden, "intermediate_size": wide,
              "layer_norm_eps": 1e-12, "max_position_embeddings": positions, "num_attention_heads": heads,
              "num_hidden_layers": layers, "type_vocab_size": 2, "vocab_size": len(WORDS)}
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tokenizer = bert({word: row for row, word in enumerate(WORDS)})
    tokenizer.save(str(folder / "tokenizer.json"))

    weight = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    erf = np.vectorize(math.erf)

    def linear(x, name):
        return x @ weight[name + ".weight"].T + weight[name + ".bias"]

    def normed(x, name):
        return norm(x, weight[name + ".weight"], weight[name + ".bias"])

    recorded = []
    for text in TEXTS:
        ids = [2] + tokenizer.encode(text).ids[: positions - 2] + [3]
        x = weight["embeddings.word_embeddings.weight"][ids] + weight["embeddings.position_embeddings.weight"][: len(ids)]
        x = normed(x + weight["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(layers):
            start = f"encoder.layer.{layer}."
            shape = (len(ids), heads, hidden // heads)
            query, key, value = (linear(x, f"{start}attention.self.{name}").reshape(shape).transpose(1, 0, 2) for name in ("query", "key", "value"))
            scores = query @ key.transpose(0, 2, 1) / math.sqrt(hidden // heads)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            seen = (scores @ value).transpose(1, 0, 2).reshape(len(ids), hidden)
            x = normed(x + linear(seen, start + "attention.output.dense"), start + "attention.output.LayerNorm")
            inner = linear(x, start + "intermediate.dense")
            inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
            x = normed(x + linear(inner, start + "output.dense"), start + "output.LayerNorm")
        for pooling, vector in (("mean", x.mean(0)), ("first", x[0])):
            vector = vector / np.linalg.norm(vector)
            recorded.append({"text": text, "pooling": pooling, "vector": [round(float(value), 6) for value in vector]})
    write_lines(HERE / "tiny-bert-vectors.jsonl", recorded)


def small_static():
    """A Model2Vec folder with WordPiece, one with Unigram."""
    numbers = np.random.default_rng(12)
    folder = HERE / "tiny-model2vec"
    folder.mkdir(exist_ok=True)
    vectors = numbers.standard_normal((len(WORDS), 8)).astype(np.float32)
    tensors_file(folder / "model.safetensors", {"embeddings": vectors})
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True, "hidden_dim": 8}) + "\n")
    tokenizer = bert({word: row for row, word in enumerate(WORDS)})
    tokenizer.save(str(folder / "tokenizer.json"))
    recorded = [static_vector("wordpiece", text, tokenizer, vectors, 1) for text in TEXTS]

    folder = HERE / "tiny-unigram"
    folder.mkdir(exist_ok=True)
    pieces = ["<unk>", "▁", "▁the", "▁garden", "▁gard", "en", "s", "▁note", "▁a", "b", "ing", "▁grow", "▁知", "识", "管理", "知", "e", "r", "g", "a", "d", "n",
              "▁Gä", "rten", "t", "th", "▁th", "he", ".", ","]
    scores = [0.0] + [round(-2.0 - 0.37 * (row * 7 % 19), 3) for row in range(1, len(pieces))]
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, scores)), unk_id=0, byte_fallback=False))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")])
    tokenizer.save(str(folder / "tokenizer.json"))
    vectors = numbers.standard_normal((len(pieces), 8)).astype(np.float32)
    tensors_file(folder / "model.safetensors", {"embeddings": vectors})
    (folder / "config.json").write_text(json.dumps({"model_type": "model2vec", "normalize": True, "hidden_dim": 8}) + "\n")
    texts = ["the gardens", "a note", "知识管理", "Gärten grow", "growing the therein", "g a r d e n", "the\u3000garden\n\nnote", "ｔｈｅ", "xyz the", "xyz", "garden.", "", "bb ab ba"]
    recorded += [static_vector("unigram", text, tokenizer, vectors, 0) for text in texts]
    write_lines(HERE / "tiny-static-vectors.jsonl", recorded)


def static_vector(model, text, tokenizer, vectors, unknown):
    encoded = tokenizer.encode(text, add_special_tokens=False)
    known = [row for row in encoded.ids if row != unknown]
    total = vectors[known].astype(np.float64).mean(0) if known else None
    vector = None if total is None else [round(float(value), 6) for value in total / np.linalg.norm(total)]
    return {"model": model, "text": text, "tokens": encoded.tokens, "vector": vector}


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def main():
    ranges_of_hashes()
    vocabulary = {word: row for row, word in enumerate(Path(sys.argv[1]).read_text().splitlines())}
    tokenizer = bert(vocabulary)
    rows = [{"text": text, "pieces": tokenizer.encode(text).tokens} for text in mixed_texts()]
    write_lines(HERE / "pieces.jsonl", rows)
    small_transformer()
    small_static()


main()
