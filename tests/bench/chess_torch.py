"""Positions a second of a network of T82's shape in PyTorch, f16, on a CUDA GPU: eager in a CUDA graph and
torch.compile, random weights, medians. Beside them the rate of a product of two bf16 matrices of 8192 by 8192.

    chess_torch.py [BATCH...]
"""

import statistics
import sys
import time

import torch
import torch.nn.functional as F

WIDTH, HEADS, INNER, DEPTH, DIM = 768, 24, 1024, 15, 32


def dense(inputs, outputs, bias=True):
    return torch.nn.Linear(inputs, outputs, bias=bias)


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.out = dense(WIDTH, 3 * WIDTH), dense(WIDTH, WIDTH)
        self.compress = dense(WIDTH, 32, bias=False)
        self.first, self.second = dense(64 * 32, 256), dense(256, HEADS * 256)
        self.ln = torch.nn.ModuleList(torch.nn.LayerNorm(n) for n in (256, HEADS * 256, WIDTH, WIDTH))
        self.up, self.down = dense(WIDTH, INNER), dense(INNER, WIDTH)

    def forward(self, x, shared, alpha):
        batch = x.shape[0]
        q, k, v = self.qkv(x).view(batch, 64, 3, HEADS, DIM).permute(2, 0, 3, 1, 4)
        seen = self.ln[0](F.silu(self.first(self.compress(x).reshape(batch, -1))))
        seen = self.ln[1](F.silu(self.second(seen))).view(batch, HEADS, 256)
        bias = shared(seen).view(batch, HEADS, 64, 64)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = self.ln[2](x + alpha * self.out(y.transpose(1, 2).reshape(batch, 64, WIDTH)))
        return self.ln[3](x + alpha * self.down(F.mish(self.up(x))))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.shared = dense(176, WIDTH), dense(256, 4096, bias=False)
        self.mult = torch.nn.Parameter(torch.ones(64, WIDTH))
        self.add = torch.nn.Parameter(torch.zeros(64, WIDTH))
        self.encoders = torch.nn.ModuleList(Encoder() for _ in range(DEPTH))
        self.policy = torch.nn.ModuleList(dense(WIDTH, WIDTH) for _ in range(3))
        self.value = torch.nn.ModuleList([dense(WIDTH, 32), dense(2048, 128), dense(128, 3)])
        self.left = torch.nn.ModuleList([dense(WIDTH, 8), dense(512, 128), dense(128, 1)])

    def board(self, layers, x):
        y = F.mish(layers[0](x)).flatten(1)
        return layers[2](F.mish(layers[1](y)))

    def forward(self, x):
        x = F.mish(self.embed(x)) * self.mult + self.add
        for encoder in self.encoders:
            x = encoder(x, self.shared, (2 * DEPTH) ** -0.25)
        p = F.mish(self.policy[0](x))
        logits = self.policy[1](p) @ self.policy[2](p).transpose(1, 2) / WIDTH**0.5
        return logits, self.board(self.value, x).softmax(-1), self.board(self.left, x)


def rate(run, batch):
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    rates = []
    for _ in range(7):
        begin, done = time.perf_counter(), 0
        while time.perf_counter() - begin < 0.3:
            run()
            torch.cuda.synchronize()
            done += batch
        rates.append(done / (time.perf_counter() - begin))
    return statistics.median(rates)


def graphed(net, x):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            net(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net(x)
    return graph.replay


@torch.inference_mode()
def main():
    torch.manual_seed(0)
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    products = rate(lambda: a @ b, 1)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}: bf16 product {products * 2 * 8192**3 / 1e12:.0f} TFLOPS")
    net = Net().half().cuda().eval()
    compiled = torch.compile(net, mode="reduce-overhead", dynamic=False)
    for batch in [int(n) for n in sys.argv[1:]] or [1, 16, 64, 256, 1024]:
        x = torch.randn(batch, 64, 176, device="cuda", dtype=torch.half)
        eager = rate(graphed(net, x), batch)
        fast = rate(lambda: compiled(x), batch)
        print(f"batch {batch:4}: CUDA graph {eager:.0f}, torch.compile {fast:.0f} positions/s", flush=True)


main()
