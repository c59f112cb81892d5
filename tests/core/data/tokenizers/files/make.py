#!/usr/bin/env python3
"""Makes the files of this folder anew, with the libraries that they are to agree with: pip install sentencepiece
tokenizers. The corpus is this project's own documentation."""
import json
import pathlib
import random

import sentencepiece
from tokenizers import BertWordPieceTokenizer

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[4]
RULES = {"\ufb01": "fi", "\u2026": "...", "\u3000": " ", "\t": " ", "\n": " ", "\uff21": "A", "\u00ad": "",
         "e\u0301": "\u00e9", "\u2026\u2026": "......", "\u00bd": " 1/2"}


def corpus():
    names = ["README.md", "CONTRIBUTING.md", "docs/training.md", "docs/add_a_pass.md", "docs/add_an_operator.md"]
    lines = "\n".join((ROOT / name).read_text() for name in names).splitlines()
    return [line.replace("\t", " ") for line in lines if line.strip()]


def texts():
    given = ["", " ", "The executor runs the result.", "  two  spaces\tand\nlines ", "Gewöhnliche Häuser, ÀÉÎÕÜ naïve café",
             "İstanbul ΣΊΣΥΦΟΣ Ǆungla ẞ", "e\u0301 cafe\u0301 ﬁne ﬁ…… ½ ＡＢＣ", "模型 model 量化int8 カタカナ がぎ 한국어 豈更",
             "x" * 101, "x" * 100, "." * 60, "-" * 61 + "aaa", "🙂🙂 👍🏽 ok", "a\u200bb\u00adc\u0000d\ufffde\ue000f", "don't (stop)!?; 3.14%",
             "\u0bca\u0ccb \U0001d15e\U0001d160\u302e\u1715", "<s> [CLS] </s> <0x41>", "▁under▁ score_", "quantize8bit QAT w8a8",
             "int8int8int8 fp16 bf16", "\u1100\u1161\u11a8 \u0f73\u0344 \u0958", "mlopt train fp32.onnx -o trained.onnx"]
    random.seed(7)
    words = " ".join(corpus()).split()
    for _ in range(20):
        given.append(" ".join(random.choice(words) for _ in range(8)))
    return given


def train(name, **options):
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus()), model_prefix=str(FOLDER / name),
                                             minloglevel=2, num_threads=1, **options)
    (FOLDER / f"{name}.vocab").unlink()
    return sentencepiece.SentencePieceProcessor(model_file=str(FOLDER / f"{name}.model"))


def main():
    rules = FOLDER / "rules.tsv"
    line = lambda a, b: " ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) + "\n"
    rules.write_text("".join(line(a, b) for a, b in RULES.items()))
    given = texts()
    expected = {"texts": given}
    unigram = train("unigram", vocab_size=300, model_type="unigram", normalization_rule_tsv=str(rules))
    bpe = train("bpe", vocab_size=500, model_type="bpe", byte_fallback=True, normalization_rule_name="identity",
                remove_extra_whitespaces=False, user_defined_symbols=["int8", "fp"], pad_id=3)
    rules.unlink()
    expected["unigram"] = unigram.encode(given)
    expected["bpe"] = bpe.encode(given)
    for name, lowercase in (("uncased", True), ("cased", False)):
        tokenizer = BertWordPieceTokenizer(lowercase=lowercase)
        tokenizer.train_from_iterator(corpus(), vocab_size=350, min_frequency=1, limit_alphabet=90, show_progress=False)
        tokenizer.save_model(str(FOLDER), name)
        (FOLDER / f"{name}-vocab.txt").rename(FOLDER / f"{name}.txt")
        tokenizer = BertWordPieceTokenizer(str(FOLDER / f"{name}.txt"), lowercase=lowercase)
        # The specials in texts are words like others.
        expected[name] = [[i for part in t.replace("[CLS]", "[\x01CLS\x01]").split("\x01")
                           for i in tokenizer.encode(part, add_special_tokens=False).ids] for t in given]
    rows = ",\n".join(f"{json.dumps(key)}: [\n" + ",\n".join(json.dumps(v) for v in value) + "]"
                      for key, value in expected.items())
    (FOLDER / "expected.json").write_text("{" + rows + "}\n")


main()
