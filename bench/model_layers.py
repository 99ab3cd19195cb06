#!/usr/bin/env python3
"""Products of matrices as language models do them, drawn at random: `--shape M=...,N=...,K=...` for each.

    bench_held_out ... $(python3 bench/model_layers.py --count 32 --seed 1)

N and K are of a layer's weights, each layer as likely as another; M, the tokens of a batch, is from 1 to 8192, its
logarithm uniform. The same seed gives the same problems. Sizes are those of the models' published configurations.
"""
import argparse
import random

# N x K, of the projections and of the feed-forward part.
LAYERS = {
    "Llama 3.2 1B": ["3072x2048", "2048x2048", "8192x2048", "2048x8192"],
    "Llama 3.2 3B": ["5120x3072", "3072x3072", "8192x3072", "3072x8192"],
    "Llama 3.1 8B": ["6144x4096", "4096x4096", "14336x4096", "28672x4096", "4096x14336"],
    "Llama 3.1 70B": ["10240x8192", "8192x8192", "28672x8192", "57344x8192", "8192x28672"],
    "Llama 3.1 405B": ["18432x16384", "16384x16384", "53248x16384", "16384x53248"],
    "Qwen2.5 1.5B": ["2048x1536", "1536x1536", "8960x1536", "1536x8960"],
    "Qwen2.5 7B": ["4608x3584", "3584x3584", "18944x3584", "37888x3584", "3584x18944"],
    "Qwen2.5 14B": ["7168x5120", "5120x5120", "13824x5120", "5120x13824"],
    "Qwen2.5 32B": ["7168x5120", "27648x5120", "5120x27648"],
    "Qwen2.5 72B": ["10240x8192", "29568x8192", "8192x29568"],
    "Mistral 7B": ["6144x4096", "4096x4096", "14336x4096", "4096x14336"],
    "Mistral NeMo 12B": ["6144x5120", "5120x4096", "14336x5120", "5120x14336"],
    "Mistral Large 123B": ["14336x12288", "12288x12288", "28672x12288", "12288x28672"],
    "DeepSeek-V3": ["1536x7168", "24576x1536", "32768x512", "7168x16384", "18432x7168", "7168x18432", "2048x7168",
                    "7168x2048"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=32, metavar="N", help="problems (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of what is drawn (%(default)s)")
    options = parser.parse_args()
    if options.count < 1:
        parser.error("--count must be 1 or more")
    draw = random.Random(options.seed)
    layers = [layer.split("x") for each in LAYERS.values() for layer in each]
    for _ in range(options.count):
        n, k = draw.choice(layers)
        print(f"--shape M={round(2 ** draw.uniform(0, 13))},N={n},K={k}")


if __name__ == "__main__":
    main()
