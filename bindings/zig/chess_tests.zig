//! Chess networks beside what Leela Chess Zero itself said (the golden files), and their queues.

const std = @import("std");
const mlxrocm = @import("mlxrocm");
const testing = std.testing;
const allocator = testing.allocator;
const Evaluation = mlxrocm.chess.Evaluation;
const Position = mlxrocm.chess.Position;

fn golden(name: []const u8) ![]u8 {
    const tree = std.posix.getenv("MLXROCM_TREE") orelse "../..";
    return std.fs.path.join(allocator, &.{ tree, "tests/golden/chess", name });
}

fn content(room: std.mem.Allocator, name: []const u8) ![]u8 {
    const path = try golden(name);
    defer allocator.free(path);
    return std.fs.cwd().readFileAlloc(room, path, 1 << 20);
}

fn goldenPositions(room: std.mem.Allocator) ![]Position {
    const games = try content(room, "games.txt");
    var positions = std.ArrayList(Position).init(room);
    var chosen = std.mem.tokenizeScalar(u8, try content(room, "positions.txt"), '\n');
    while (chosen.next()) |line| {
        var pair = std.mem.splitScalar(u8, line, '|');
        const game = try std.fmt.parseInt(usize, pair.first(), 10);
        const plies = try std.fmt.parseInt(usize, pair.rest(), 10);
        var all_games = std.mem.splitScalar(u8, games, '\n');
        for (0..game) |_| _ = all_games.next();
        var parts = std.mem.splitScalar(u8, all_games.next().?, '|');
        const fen = parts.first();
        var names = std.mem.tokenizeScalar(u8, parts.rest(), ' ');
        const moves = try room.alloc([]const u8, plies);
        for (moves) |*move| move.* = names.next().?;
        try positions.append(.{ .fen = fen, .moves = moves });
    }
    return positions.items;
}

test "chess" {
    const path = try golden("attention.pb.gz");
    defer allocator.free(path);
    const net = try mlxrocm.chess.ChessNet.load(path, .{});
    defer net.deinit();
    const info = try net.info();
    try testing.expect(info.has_draws == 1 and info.has_moves_left == 1);
    const answers = try content(allocator, "attention.out");
    defer allocator.free(answers);
    const numbers: []align(1) const f32 = std.mem.bytesAsSlice(f32, answers);
    var arena = std.heap.ArenaAllocator.init(allocator);
    defer arena.deinit();
    const positions = try goldenPositions(arena.allocator());
    const found = try net.evaluate(allocator, positions, 1);
    defer found.deinit();
    var at: usize = 0;
    for (found.items, 0..) |of, i| {
        try testing.expectApproxEqAbs(numbers[at], of.win - of.loss, 1e-3);
        try testing.expectApproxEqAbs(numbers[at + 1], of.draw, 1e-3);
        try testing.expectApproxEqAbs(numbers[at + 2], of.moves_left, 1e-3);
        const logits = numbers[at + 3 ..];
        var sum: f32 = 0;
        var first: ?mlxrocm.chess.Move = null;
        for (of.moves) |move| {
            sum += move.chance;
            if (move.policyIndex() % 8 != i % 8) continue;
            const logit = logits[(move.policyIndex() - i % 8) / 8];
            const one = first orelse move;
            first = one;
            const other = logits[(one.policyIndex() - i % 8) / 8];
            try testing.expectApproxEqAbs(logit - other, @log(move.chance / one.chance), 2e-3);
        }
        try testing.expectApproxEqAbs(1, sum, 1e-4);
        at += 3 + (1858 - i % 8 + 7) / 8;
    }
    try testing.expectEqual(numbers.len, at);
    const start = try net.evaluate(allocator, &.{.{}}, 1);
    defer start.deinit();
    try testing.expectEqual(20, start.items[0].moves.len);
    try testing.expectEqual(4, start.items[0].moves[0].name().len);
    const mate = try net.evaluate(allocator, &.{.{ .moves = &.{ "f2f3", "e7e5", "g2g4", "d8h4" } }}, 1);
    defer mate.deinit();
    try testing.expectEqual(0, mate.items[0].moves.len);
    const none = try net.evaluate(allocator, &.{}, 1);
    defer none.deinit();
    try testing.expectError(error.InvalidArgument, net.evaluate(allocator, &.{.{ .moves = &.{"e2e5"} }}, 1));
    try testing.expectError(error.InvalidArgument, net.evaluate(allocator, &.{.{ .fen = "" }}, 1));
    try testing.expectError(error.InvalidArgument, net.evaluate(allocator, &.{.{}}, 0));
    try testing.expectError(error.Io, mlxrocm.chess.ChessNet.load("/nowhere", .{}));
}

fn same(a: []const Evaluation, b: []const Evaluation) !void {
    try testing.expectEqual(a.len, b.len);
    for (a, b) |one, other| {
        try testing.expectEqual([_]f32{ one.win, one.draw, one.loss, one.moves_left }, [_]f32{ other.win, other.draw, other.loss, other.moves_left });
        try testing.expectEqual(one.moves.len, other.moves.len);
        for (one.moves, other.moves) |x, y| {
            try testing.expectEqualStrings(x.name(), y.name());
            try testing.expectEqual(x.chance, y.chance);
        }
    }
}

const Search = struct {
    queue: *mlxrocm.chess.ChessQueue,
    positions: []const Position,
    wanted: []const Evaluation,
    counts: [300]std.atomic.Value(usize) = @splat(.init(0)),
    taken: std.atomic.Value(usize) = .init(0),
    /// Held from before a batch is handed in until its count is known.
    handing: std.Thread.RwLock = .{},

    fn run(self: *Search, seed: usize) void {
        self.search(seed) catch |err| std.debug.panic("a search: {}", .{err});
    }

    fn search(self: *Search, seed: usize) !void {
        for (0..20) |i| {
            const count = 1 + (7 * seed + i) % 5;
            {
                self.handing.lock();
                defer self.handing.unlock();
                const number = (try self.queue.submit(self.positions[0..count], 1)).?;
                self.counts[number].store(count, .monotonic);
            }
            switch (try self.queue.next(null)) {
                .batch => |batch| {
                    defer batch.found.deinit();
                    self.handing.lockShared();
                    defer self.handing.unlockShared();
                    try same(batch.found.items, self.wanted[0..self.counts[batch.number].load(.monotonic)]);
                    _ = self.taken.fetchAdd(1, .monotonic);
                },
                .nothing, .end => {},
            }
        }
    }
};

test "queues of chess positions" {
    const path = try golden("attention.pb.gz");
    defer allocator.free(path);
    const net = try mlxrocm.chess.ChessNet.load(path, .{});
    defer net.deinit();
    var arena = std.heap.ArenaAllocator.init(allocator);
    defer arena.deinit();
    const positions = try goldenPositions(arena.allocator());
    const wanted = try net.evaluate(allocator, positions, 1);
    defer wanted.deinit();
    var queue = try mlxrocm.chess.ChessQueue.init(allocator, net);
    defer queue.deinit();
    try testing.expectEqual(.end, std.meta.activeTag(try queue.next(null)));
    for (0..8) |i| try testing.expectEqual(i, (try queue.submit(positions[0 .. i + 1], 1)).?);
    for (0..8) |i| {
        const batch = (try queue.next(null)).batch;
        defer batch.found.deinit();
        try testing.expectEqual(i, batch.number);
        try same(batch.found.items, wanted.items[0 .. i + 1]);
    }
    _ = try queue.submit(positions, 1);
    var taken = try queue.next(0);
    while (taken == .nothing) taken = try queue.next(std.time.ns_per_ms);
    try same(taken.batch.found.items, wanted.items);
    taken.batch.found.deinit();
    // A queue that is full takes no more.
    var handed: usize = 0;
    while (try queue.submit(positions[0..1], 1)) |_| handed += 1;
    try testing.expectEqual(64, handed);
    for (0..handed) |_| {
        const batch = (try queue.next(null)).batch;
        defer batch.found.deinit();
        try same(batch.found.items, wanted.items[0..1]);
    }
    try testing.expectError(error.InvalidArgument, queue.submit(&.{}, 1));
    try testing.expectError(error.InvalidArgument, queue.submit(&(.{Position{}} ** 1025), 1));
    try testing.expectError(error.InvalidArgument, queue.submit(&.{.{ .fen = "x" }}, 1));
    try testing.expectError(error.InvalidArgument, queue.submit(positions, 0));
    // Several threads hand in and take: each batch comes out once.
    var search: Search = .{ .queue = &queue, .positions = positions, .wanted = wanted.items };
    var threads: [4]std.Thread = undefined;
    for (&threads, 0..) |*thread, seed| thread.* = try std.Thread.spawn(.{}, Search.run, .{ &search, seed });
    for (threads) |thread| thread.join();
    try testing.expectEqual(80, search.taken.load(.monotonic));
    // What a queue holds is dropped with it.
    _ = try queue.submit(positions, 1);
}
