"""Chess networks beside what Leela Chess Zero itself says (the golden files)."""

import os
import struct
import threading
import unittest
from pathlib import Path

import mlxrocm
import numpy as np
from mlxrocm import chess

GOLDEN = Path(os.environ["MLXROCM_TREE"]) / "tests/golden/chess"
GAMES = [line.split("|") for line in (GOLDEN / "games.txt").read_text().splitlines()]
# A network of each input format, in the order of planes.bin.
INPUTS = {1: "classical", 2: "se_convolution", 3: "se_attention", 4: "no_gates", 132: "no_smolgen", 5: "tagged_se",
          133: "multihead"}  # fmt: skip
KINGS = "4k3/8/8/8/8/8/8/4K3 w - - 0 1"


def positions():
    for line in (GOLDEN / "positions.txt").read_text().split():
        game, plies = map(int, line.split("|"))
        fen, moves = GAMES[game]
        yield chess.Position(fen, moves.split()[:plies])


def answers(name):
    """Q, D, M and logits by the moves' places, of each position."""
    numbers = np.fromfile(GOLDEN / name, "<f4")
    for i in range(8):
        places = range(i, chess.MOVES, 8)
        yield (*numbers[:3], dict(zip(places, numbers[3 : 3 + len(places)])))
        numbers = numbers[3 + len(places) :]


def fnv(data):
    number = 0x811C9DC5
    for byte in data:
        number = (number ^ byte) * 0x01000193 % 2**32
    return number


class Planes(unittest.TestCase):
    def test_as_lc0_makes_them(self):
        hashes = np.fromfile(GOLDEN / "planes.bin", "<u4").reshape(-1, 8)
        games = [(fen, moves.split()[:plies]) for fen, moves in GAMES for plies in range(len(moves.split()) + 1)]
        self.assertEqual(len(games), len(hashes))
        compared = 0
        for place, (number, name) in enumerate(INPUTS.items()):
            with chess.Net(GOLDEN / f"{name}.pb.gz") as net:
                self.assertEqual(net.info.input_format, number)
                for (fen, moves), wanted in list(zip(games, hashes))[:: 29 + place]:
                    planes = net.planes(chess.Position(fen, moves))
                    indices = sorted(move.policy_index for move in planes.moves)
                    if number < 3:  # others turn the board over where they like
                        self.assertEqual(fnv(struct.pack(f"<{len(indices)}H", *indices)), wanted[7])
                    if wanted[place]:
                        pairs = zip(planes.masks, planes.values)
                        self.assertEqual(fnv(b"".join(struct.pack("<Qf", *pair) for pair in pairs)), wanted[place])
                        compared += 1
        self.assertGreater(compared, 100)

    def test_names_of_moves(self):
        names = [chess.move_name(index) for index in range(chess.MOVES)]
        self.assertEqual((names[0], names[-1], len(set(names))), ("a1b1", "h7h8b", chess.MOVES))
        for index in (-1, chess.MOVES, 2**32):
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                chess.move_name(index)


class Evaluations(unittest.TestCase):
    def compared(self, net, name):
        found = net.evaluate(list(positions()))
        for i, (of, (q, d, m, logits)) in enumerate(zip(found, answers(name))):
            np.testing.assert_allclose([of.win - of.loss, of.draw], [q, d], atol=1e-3, err_msg=f"{name}, position {i}")
            np.testing.assert_allclose(of.moves_left, m, atol=2e-3 * max(1, abs(m)))
            policy = np.asarray(of.policy)
            self.assertEqual((policy.dtype, policy.shape), (np.float32, (chess.MOVES,)))
            np.testing.assert_allclose(policy[list(logits)], list(logits.values()), atol=2e-3)
            legal = policy[[move.policy_index for move in of.moves]]
            chances = np.exp(legal - legal.max())
            np.testing.assert_allclose([move.chance for move in of.moves], chances / chances.sum(), atol=1e-5)
        return found

    def test_as_lc0_evaluates(self):
        with chess.Net(GOLDEN / "attention.pb.gz") as net:
            self.assertTrue(net.info.has_draws and net.info.has_moves_left and net.info.parameters)
            self.assertEqual((net.info.body, net.info.policy), ("attention", "attention"))
            found = self.compared(net, "attention.out")
            alone = [net.evaluate([position])[0] for position in positions()]
            self.assertEqual(alone, found)
            # Planes of one's own, whatever memory they are in.
            planes = [net.planes(position) for position in positions()]
            given = [chess.Planes(np.array(p.masks), list_of(p.values), p.moves) for p in planes]
            self.assertEqual(net.evaluate(given), found)
            threads = [threading.Thread(target=lambda: results.append(net.evaluate(planes))) for _ in range(4)]
            results = []
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(results, [found] * 4)
            hot = net.evaluate([chess.Position()], temperature=1e6)[0]
            np.testing.assert_allclose([move.chance for move in hot.moves], 1 / 20, rtol=1e-4)

    def test_other_bodies_and_heads(self):
        for name, options in [
            ("classical.out", {}), ("se_convolution.out", {}), ("hybrid_dense.optimistic.q.out", {}),
            ("multihead.opponent.winner.out", {}), ("multihead.soft.st.out", {"threads": 1, "precision": "f32"}),
        ]:  # fmt: skip
            file, *heads = name.removesuffix(".out").split(".")
            options |= dict(zip(("policy_head", "value_head"), heads))
            with chess.Net(GOLDEN / f"{file}.pb.gz", device=mlxrocm.Device(0), **options) as net:
                self.compared(net, name)

    def test_mistakes(self):
        net = chess.Net(str(GOLDEN / "attention.pb.gz"), threads=1)
        (mate,) = net.evaluate([chess.Position(moves="f2f3 e7e5 g2g4 d8h4".split())])
        self.assertEqual(mate.moves, ())
        self.assertEqual(net.evaluate([]), [])
        for position in (chess.Position("x"), chess.Position(""), chess.Position(moves=["e2e5"]),
                         chess.Position(moves=["e2e4\0"]), chess.Position(KINGS + "\0")):  # fmt: skip
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                net.evaluate([position])
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "move 2 .* is not legal"):
            net.planes(chess.Position(moves=["e2e4", "e2e4"]))
        good = net.planes(chess.Position())
        for planes in (
            chess.Planes(good.masks[:-1], good.values), chess.Planes(good.masks, good.values.tobytes()),
            chess.Planes(np.zeros(112), good.values), chess.Planes(good.masks, np.zeros(112)),
            chess.Planes(good.masks, np.full(112, np.nan, np.float32)),
            chess.Planes(good.masks, good.values, [("e2e4", chess.MOVES)]),
        ):  # fmt: skip
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                net.evaluate([planes])
        for wrong in (["e2e4"], [chess.Planes(None, good.values)]):
            with self.assertRaises((TypeError, AttributeError)):
                net.evaluate(wrong)
        for temperature in (0, -1, float("nan")):
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                net.evaluate([good], temperature=temperature)
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                chess.Queue(net).submit([good], temperature=temperature)
        with self.assertRaises(mlxrocm.InvalidArgumentError):
            net.evaluate([good] * (chess.BATCH + 1))
        net.close()
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "this Net is closed"):
            net.evaluate([good])
        path = GOLDEN / "attention.pb.gz"
        for wrong in ({"policy_head": "soft"}, {"policy_head": "best"}, {"value_head": "x"}, {"precision": "f64"},
                      {"threads": -1}):  # fmt: skip
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                chess.Net(path, **wrong)
        with self.assertRaises(mlxrocm.UnsupportedError):
            chess.Net(path, precision="f16")
        with self.assertRaises(mlxrocm.IoError):
            chess.Net("/nowhere")
        with self.assertRaises(mlxrocm.InvalidFileError):
            chess.Net(GOLDEN / "games.txt")


class Queues(unittest.TestCase):
    def test_batches_come_out_in_order(self):
        with chess.Net(GOLDEN / "attention.pb.gz") as net:
            wanted = net.evaluate(list(positions()))
            planes = [net.planes(position) for position in positions()]
            queue = chess.Queue(net)
            with self.assertRaises(StopIteration):
                queue.next()
            self.assertEqual([queue.submit(planes[: i + 1]) for i in range(8)], list(range(8)))
        # The queue keeps the network.
        self.assertEqual(list(queue), [(i, wanted[: i + 1]) for i in range(8)])
        number = queue.submit(planes * 20)
        taken = queue.next(0)
        while taken is None:
            taken = queue.next(0.001)
        self.assertEqual(taken, (number, wanted * 20))

        # A queue that is full takes no more.
        handed = 0
        while queue.submit(planes[:1]) is not None:
            handed += 1
        self.assertEqual(handed, chess.QUEUE_BATCHES)
        self.assertEqual([found for _, found in queue], [wanted[:1]] * handed)
        for wrong in ([], planes[:1] * (chess.BATCH + 1)):
            with self.assertRaises(mlxrocm.InvalidArgumentError):
                queue.submit(wrong)
        queue.submit(planes)
        queue.close()
        with self.assertRaisesRegex(mlxrocm.InvalidArgumentError, "this Queue is closed"):
            queue.next()

    def test_several_threads_hand_in_and_take(self):
        with chess.Net(GOLDEN / "attention.pb.gz", threads=1) as net, chess.Queue(net) as queue:
            wanted = net.evaluate(list(positions()))
            planes = [net.planes(position) for position in positions()]
            lock, handed, taken = threading.Lock(), {}, {}

            def search(seed):
                for i in range(30):
                    begin, count = (seed + i) % 8, 1 + (7 * seed + i) % 5
                    chosen = [(begin + k) % 8 for k in range(count)]
                    number = queue.submit([planes[k] for k in chosen])
                    with lock:
                        handed[number] = [wanted[k] for k in chosen]
                    if (got := one(queue)) is not None:
                        with lock:
                            self.assertNotIn(got[0], taken)
                            taken[got[0]] = got[1]

            threads = [threading.Thread(target=search, args=(seed,)) for seed in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            taken |= dict(queue)
            self.assertEqual(sorted(taken), list(range(120)))
            self.assertEqual(taken, handed)


def one(queue):
    try:
        return queue.next()
    except StopIteration:  # others took it
        return None


def list_of(view):
    import array

    return array.array("f", view)


if __name__ == "__main__":
    unittest.main()
