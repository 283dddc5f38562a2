"""Makes of all-MiniLM-L6-v2 a network from token numbers to a sentence's embedding, and of sentences its inputs.

    python3 prepare.py MODEL.onnx TOKENIZER.json TOKENS OUT

MODEL.onnx is the file that sentence-transformers publishes (inputs input_ids, attention_mask and token_type_ids, output last_hidden_state),
TOKENIZER.json its tokenizer. OUT gets embed.onnx, which ends with the mean of the last hidden states over the tokens that the mask counts;
calibration.npz and sentences.npz, the texts beside this script as token numbers and masks, padded to TOKENS; and one.json, one of them.
"""

import json
import os
import sys
import unicodedata

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def words(text):
    """Lower case without accents, cut at spaces and around punctuation, as BERT's uncased tokenizer does."""
    text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    for piece in text.split():
        word = ""
        for c in piece:
            if unicodedata.category(c).startswith("P") or c in "$+<=>^`|~":
                if word:
                    yield word
                yield c
                word = ""
            else:
                word += c
        if word:
            yield word


def pieces(word, vocabulary):
    """The longest parts of a word that the vocabulary has, from the left."""
    found, first = [], 0
    while first < len(word):
        last = len(word)
        while last > first and ("##" if first else "") + word[first:last] not in vocabulary:
            last -= 1
        if last == first:
            return ["[UNK]"]
        found.append(("##" if first else "") + word[first:last])
        first = last
    return found


def encode(text, vocabulary, length):
    tokens = [p for w in words(text) for p in pieces(w, vocabulary)][: length - 2]
    ids = [vocabulary[t] for t in ["[CLS]", *tokens, "[SEP]"]]
    pad = length - len(ids)
    return ids + [vocabulary["[PAD]"]] * pad, [1] * len(ids) + [0] * pad


def embedding(model, length):
    """The model with a fixed length and the mean over the tokens that count as its only output."""
    g = model.graph
    for value in g.input:
        del value.type.tensor_type.shape.dim[:]
        for n in (1, length):
            value.type.tensor_type.shape.dim.add().dim_value = n
    g.initializer.append(numpy_helper.from_array(np.array([1, length, 1], np.int64), "pool.shape"))
    g.node.extend([
        helper.make_node("Cast", ["attention_mask"], ["pool.real"], to=TensorProto.FLOAT),
        helper.make_node("Reshape", ["pool.real", "pool.shape"], ["pool.mask"]),
        helper.make_node("Mul", ["last_hidden_state", "pool.mask"], ["pool.kept"]),
        helper.make_node("ReduceSum", ["pool.kept"], ["pool.sum"], axes=[1], keepdims=0),
        helper.make_node("ReduceSum", ["pool.mask"], ["pool.count"], axes=[1], keepdims=0),
        helper.make_node("Div", ["pool.sum", "pool.count"], ["embedding"]),
    ])
    del g.output[:]
    g.output.append(helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, 384]))
    return model


def main():
    source, tokenizer, length, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    with open(tokenizer, encoding="utf-8") as f:
        vocabulary = json.load(f)["model"]["vocab"]
    onnx.save(embedding(onnx.load(source), length), os.path.join(out, "embed.onnx"))
    for name in ("calibration", "sentences"):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".txt"), encoding="utf-8") as f:
            rows = [encode(line, vocabulary, length) for line in f.read().splitlines() if line]
        ids, mask = (np.array([r[i] for r in rows], np.int64)[:, None, :] for i in (0, 1))
        np.savez(os.path.join(out, name + ".npz"), input_ids=ids, attention_mask=mask)
    with open(os.path.join(out, "one.json"), "w", encoding="utf-8") as f:
        json.dump({"input_ids": ids[0].tolist(), "attention_mask": mask[0].tolist()}, f)


if __name__ == "__main__":
    main()
