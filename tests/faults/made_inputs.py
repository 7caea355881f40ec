# SPDX-License-Identifier: MIT
"""Inputs for programs that read any, made from a seed: related DNA sequences, reads of a genome, sources in C++."""
import os
import random

BASES = "ACGT"
OTHER_STRAND = str.maketrans("ACGT", "TGCA")


def random_tree(rng, names):
    """Newick without lengths, with three branches at its root."""
    nodes = list(names)
    while len(nodes) > 3:
        one, other = (nodes.pop(rng.randrange(len(nodes))) for _ in range(2))
        nodes.append((one, other))
    return tuple(nodes)


def newick(node):
    return node if isinstance(node, str) else f"({','.join(map(newick, node))})"


def evolved(rng, sequence, share):
    """The sequence with that share of its bases drawn anew."""
    return [rng.choice(BASES) if rng.random() < share else base for base in sequence]


def leaves(rng, node, sequence):
    if isinstance(node, str):
        yield node, "".join(sequence)
    else:
        for child in node:
            yield from leaves(rng, child, evolved(rng, sequence, .1))


def alignment(path, taxa, sites, seed=1):
    """PATH.phy: sequences related by a random tree; PATH.tree: an unrelated tree of them."""
    rng = random.Random(seed)
    names = [f"t{i}" for i in range(taxa)]
    rows = leaves(rng, random_tree(rng, names), rng.choices(BASES, k=sites))
    with open(f"{path}.phy", "w") as file:
        file.write(f"{taxa} {sites}\n" + "".join(f"{name} {row}\n" for name, row in rows))
    with open(f"{path}.tree", "w") as file:
        file.write(newick(random_tree(rng, names)) + ";\n")


def reads(path, genome, length, depth, seed=1):
    """FASTA: reads of a random genome, enough to cover each base `depth` times."""
    rng = random.Random(seed)
    whole = "".join(rng.choices(BASES, k=genome))
    with open(path, "w") as file:
        for i in range(genome * depth // length):
            at = rng.randrange(genome - length)
            piece = whole[at:at + length]
            file.write(f">r{i}\n{piece.translate(OTHER_STRAND)[::-1] if i % 2 else piece}\n")


def sources(folder, files):
    """C++ that takes a compiler a while, and a Makefile that builds it with $(CXX)."""
    os.makedirs(folder, exist_ok=True)
    for i in range(files):
        with open(f"{folder}/part{i}.cpp", "w") as file:
            file.write("#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n"
                       + "".join(f"int work{i}_{k}(std::vector<std::string> words) {{ std::map<std::string, int> seen; for (auto &w : words) seen[w] += {k}; "
                                 f"std::sort(words.begin(), words.end()); return seen.size() + words.size(); }}\n" for k in range(6)))
    with open(f"{folder}/Makefile", "w") as file:
        file.write(f"all: $(patsubst %,$(OUT)/part%.o,{' '.join(map(str, range(files)))})\n$(OUT)/%.o: %.cpp\n\t$(CXX) -O1 -c -o $@ $<\n")


def text(path, megabytes, seed=1):
    """Words that compress to about a half."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randrange(2, 11))) for _ in range(20000)]
    with open(path, "w") as file:
        while file.tell() < megabytes << 20:
            file.write(" ".join(rng.choices(words, k=20000)) + "\n")
