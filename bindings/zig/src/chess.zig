//! Networks of Leela Chess Zero. Any thread; deinit frees them.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const model = @import("model.zig");
const Device = @import("device.zig").Device;
const check = errors.check;
const Error = errors.Error;

const planes = c.MLXROCM_CHESS_PLANES;
const policy_moves = c.MLXROCM_CHESS_MOVES;

/// Where a game has come to.
pub const Position = struct {
    /// Where it began; null: the usual start.
    fen: ?[]const u8 = null,
    /// Moves since in UCI's notation, like "e2e4".
    moves: []const []const u8 = &.{},
};

/// A legal move and its probability.
pub const Move = struct {
    c_move: c.mlxrocm_chess_move,
    chance: f32,

    /// UCI's name.
    pub fn name(self: *const Move) []const u8 {
        return self.c_move.name[0..self.c_move.name_length];
    }

    /// The move's place in the policy.
    pub fn policyIndex(self: Move) u32 {
        return self.c_move.policy_index;
    }
};

/// What a network says about a position: chances of the side to move. Networks that tell a value q only: (1 + q) / 2, 0
/// and (1 - q) / 2.
pub const Evaluation = struct {
    win: f32,
    draw: f32,
    loss: f32,
    /// Plies; 0 of networks that do not tell.
    moves_left: f32,
    /// The legal moves, none if the game is over.
    moves: []Move,
};

/// Evaluations, owned.
pub const Evaluations = struct {
    items: []Evaluation,
    arena: std.heap.ArenaAllocator,

    pub fn deinit(self: Evaluations) void {
        self.arena.deinit();
    }
};

const Inputs = struct {
    masks: []u64,
    values: []f32,
    evaluations: Evaluations,

    /// Without the evaluations.
    fn deinit(self: Inputs, allocator: std.mem.Allocator) void {
        allocator.free(self.masks);
        allocator.free(self.values);
    }
};

/// What a network gives of so many positions.
const Outputs = struct {
    policy: []f32,
    wdl: [][3]f32,
    left: []f32,

    fn init(allocator: std.mem.Allocator, count: usize) !Outputs {
        const policy = try allocator.alloc(f32, count * policy_moves);
        errdefer allocator.free(policy);
        const wdl = try allocator.alloc([3]f32, count);
        errdefer allocator.free(wdl);
        return .{ .policy = policy, .wdl = wdl, .left = try allocator.alloc(f32, count) };
    }

    fn deinit(self: Outputs, allocator: std.mem.Allocator) void {
        allocator.free(self.policy);
        allocator.free(self.wdl);
        allocator.free(self.left);
    }

    fn places(self: Outputs) struct { [*]f32, [*]f32, [*]f32 } {
        return .{ self.policy.ptr, @ptrCast(self.wdl.ptr), self.left.ptr };
    }

    fn finish(self: Outputs, allocator: std.mem.Allocator, items: []Evaluation, temperature: f32) !void {
        for (items, self.wdl[0..items.len], self.left[0..items.len], 0..) |*item, of, moves_left, i| {
            const chances = try allocator.alloc(f32, item.moves.len);
            defer allocator.free(chances);
            const legal = try allocator.alloc(c.mlxrocm_chess_move, item.moves.len);
            defer allocator.free(legal);
            for (legal, item.moves) |*to, from| to.* = from.c_move;
            try tell(self.policy[i * policy_moves ..].ptr, legal, temperature, chances);
            for (item.moves, chances) |*to, chance| to.chance = chance;
            item.* = .{ .win = of[0], .draw = of[1], .loss = of[2], .moves_left = moves_left, .moves = item.moves };
        }
    }
};

fn tell(policy: [*]const f32, legal: []const c.mlxrocm_chess_move, temperature: f32, chances: []f32) Error!void {
    var failure: ?*c.mlxrocm_error = null;
    const status = c.mlxrocm_chess_net_get_chances(policy, legal.ptr, legal.len, temperature, chances.ptr, &failure);
    try check(status, failure);
}

pub const ChessNet = struct {
    handle: *c.mlxrocm_chess_net,

    pub const Options = struct {
        /// Null: the CPU.
        device: ?Device = null,
        /// CPU threads; 0: one for each CPU.
        threads: u32 = 0,
        policy_head: enum(u32) {
            vanilla = c.MLXROCM_CHESS_POLICY_HEAD_VANILLA,
            optimistic = c.MLXROCM_CHESS_POLICY_HEAD_OPTIMISTIC,
            soft = c.MLXROCM_CHESS_POLICY_HEAD_SOFT,
            opponent = c.MLXROCM_CHESS_POLICY_HEAD_OPPONENT,
        } = .vanilla,
        value_head: enum(u32) {
            winner = c.MLXROCM_CHESS_VALUE_HEAD_WINNER,
            q = c.MLXROCM_CHESS_VALUE_HEAD_Q,
            st = c.MLXROCM_CHESS_VALUE_HEAD_ST,
        } = .winner,
        precision: enum(u32) {
            usual = c.MLXROCM_CHESS_PRECISION_DEFAULT,
            f16 = c.MLXROCM_CHESS_PRECISION_F16,
            f32 = c.MLXROCM_CHESS_PRECISION_F32,
        } = .usual,
    };

    /// Loads a .pb.gz or the same unpacked.
    pub fn load(path: []const u8, options: Options) Error!ChessNet {
        var how = std.mem.zeroes(c.mlxrocm_chess_net_options);
        how.struct_size = @sizeOf(c.mlxrocm_chess_net_options);
        if (options.device) |device| how.device = device.handle;
        how.threads = options.threads;
        how.policy_head = @intFromEnum(options.policy_head);
        how.value_head = @intFromEnum(options.value_head);
        how.precision = @intFromEnum(options.precision);
        var handle: ?*c.mlxrocm_chess_net = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_chess_net_load(path.ptr, path.len, &how, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: ChessNet) void {
        c.mlxrocm_chess_net_free(self.handle);
    }

    /// Facts about the network.
    pub fn info(self: ChessNet) Error!c.mlxrocm_chess_net_info {
        var facts = std.mem.zeroes(c.mlxrocm_chess_net_info);
        facts.struct_size = @sizeOf(c.mlxrocm_chess_net_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_chess_net_get_info(self.handle, &facts, &failure), failure);
        return facts;
    }

    /// Evaluates up to 1,024 positions at once. Temperature 1 takes the policy as it is, larger ones make the chances of
    /// moves more alike. Threads may evaluate at the same time.
    pub fn evaluate(self: ChessNet, allocator: std.mem.Allocator, positions: []const Position, temperature: f32) !Evaluations {
        var inputs = try self.prepare(allocator, positions);
        defer inputs.deinit(allocator);
        errdefer inputs.evaluations.deinit();
        if (positions.len == 0) return inputs.evaluations;
        const outputs = try Outputs.init(allocator, positions.len);
        defer outputs.deinit(allocator);
        var failure: ?*c.mlxrocm_error = null;
        const run = c.mlxrocm_chess_net_evaluate;
        const given = .{ self.handle, inputs.masks.ptr, inputs.values.ptr, positions.len };
        try check(@call(.auto, run, given ++ outputs.places() ++ .{&failure}), failure);
        try outputs.finish(allocator, inputs.evaluations.items, temperature);
        return inputs.evaluations;
    }

    /// Planes of positions, and their evaluations, which have nothing but the legal moves yet.
    fn prepare(self: ChessNet, allocator: std.mem.Allocator, positions: []const Position) !Inputs {
        const masks = try allocator.alloc(u64, positions.len * planes);
        errdefer allocator.free(masks);
        const values = try allocator.alloc(f32, positions.len * planes);
        errdefer allocator.free(values);
        var arena = std.heap.ArenaAllocator.init(allocator);
        errdefer arena.deinit();
        var scratch = std.heap.ArenaAllocator.init(allocator);
        defer scratch.deinit();
        const items = try arena.allocator().alloc(Evaluation, positions.len);
        for (items, positions, 0..) |*item, position, i| {
            const legal = try self.input(scratch.allocator(), position, masks[i * planes ..].ptr, values[i * planes ..].ptr);
            item.moves = try arena.allocator().alloc(Move, legal.len);
            for (item.moves, legal) |*to, from| to.c_move = from;
        }
        return .{ .masks = masks, .values = values, .evaluations = .{ .items = items, .arena = arena } };
    }

    /// Fills a position's planes and gives its legal moves.
    fn input(self: ChessNet, room: std.mem.Allocator, position: Position, masks: [*]u64, values: [*]f32) ![]c.mlxrocm_chess_move {
        const moves = try model.Texts.of(room, position.moves);
        const fen: [*c]const u8 = if (position.fen) |fen| model.field(fen) else null;
        const fen_length = if (position.fen) |text| text.len else 0;
        const legal = try room.alloc(c.mlxrocm_chess_move, 256); // no position has more than 218
        var found: usize = 0;
        var failure: ?*c.mlxrocm_error = null;
        const fill = c.mlxrocm_chess_net_get_input;
        const given = .{ self.handle, fen, fen_length, moves.starts.ptr, moves.lengths.ptr, position.moves.len };
        const results = .{ masks, values, legal.ptr, legal.len, &found, &failure };
        try check(@call(.auto, fill, given ++ results), failure);
        return legal[0..found];
    }
};

/// A batch that a queue has done; its evaluations are owned.
pub const Batch = struct {
    /// 0, 1, 2, ... of its queue.
    number: u64,
    found: Evaluations,
};

/// What a wait for a batch came to.
pub const Taken = union(enum) {
    batch: Batch,
    /// It was not done within the time.
    nothing,
    /// The queue holds none.
    end,
};

/// Batches that a network evaluates one after the other while the program goes on; small ones that wait together are
/// evaluated together. Threads may hand in and take at the same time; where several take, each gets others.
pub const ChessQueue = struct {
    handle: *c.mlxrocm_chess_queue,
    /// Is there as long as positions are handed in.
    net: ChessNet,
    /// Threads use it.
    allocator: std.mem.Allocator,
    mutex: std.Thread.Mutex = .{},
    /// By their numbers, those that were not taken yet.
    waiting: std.AutoHashMapUnmanaged(u64, Waiting) = .{},
    /// Positions of the largest one so far.
    largest: usize = 1,

    const Waiting = struct { evaluations: Evaluations, temperature: f32 };

    pub fn init(allocator: std.mem.Allocator, net: ChessNet) Error!ChessQueue {
        var handle: ?*c.mlxrocm_chess_queue = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_chess_queue_create(net.handle, &handle, &failure), failure);
        return .{ .handle = handle.?, .net = net, .allocator = allocator };
    }

    /// Drops what it holds.
    pub fn deinit(self: *ChessQueue) void {
        c.mlxrocm_chess_queue_free(self.handle);
        var all = self.waiting.valueIterator();
        while (all.next()) |one| one.evaluations.deinit();
        self.waiting.deinit(self.allocator);
    }

    /// Hands in 1 to 1,024 positions and returns at once: the batch's number; null if it holds
    /// MLXROCM_CHESS_QUEUE_BATCHES (64) already, those whose results wait included. `temperature`: as of evaluate.
    pub fn submit(self: *ChessQueue, positions: []const Position, temperature: f32) !?u64 {
        // What is wrong with it would be found when the batch is taken.
        try tell(&[1]f32{0} ** policy_moves, &.{}, temperature, &.{});
        var inputs = try self.net.prepare(self.allocator, positions);
        defer inputs.deinit(self.allocator);
        errdefer inputs.evaluations.deinit();
        // Whoever takes the batch waits until it is known.
        self.mutex.lock();
        defer self.mutex.unlock();
        try self.waiting.ensureUnusedCapacity(self.allocator, 1);
        var number: u64 = 0;
        var failure: ?*c.mlxrocm_error = null;
        const hand_in = c.mlxrocm_chess_queue_submit;
        const status = hand_in(self.handle, inputs.masks.ptr, inputs.values.ptr, positions.len, &number, &failure);
        try check(status, failure);
        if (status == c.MLXROCM_PENDING) {
            inputs.evaluations.deinit();
            return null;
        }
        self.largest = @max(self.largest, positions.len);
        self.waiting.putAssumeCapacity(number, .{ .evaluations = inputs.evaluations, .temperature = temperature });
        return number;
    }

    /// Takes the oldest batch. Nanoseconds to wait at most; null: as long as it takes.
    pub fn next(self: *ChessQueue, timeout_ns: ?u63) !Taken {
        self.mutex.lock();
        const room = self.largest;
        self.mutex.unlock();
        // A larger one that was handed in meanwhile is there still.
        return self.take(room, timeout_ns) catch |err| switch (err) {
            error.BufferTooSmall => self.take(c.MLXROCM_CHESS_BATCH, timeout_ns),
            else => err,
        };
    }

    fn take(self: *ChessQueue, room: usize, timeout_ns: ?u63) !Taken {
        const outputs = try Outputs.init(self.allocator, room);
        defer outputs.deinit(self.allocator);
        var number: u64 = 0;
        var failure: ?*c.mlxrocm_error = null;
        const within: i64 = timeout_ns orelse -1;
        const given = .{ self.handle, within, room };
        const status = @call(.auto, c.mlxrocm_chess_queue_next, given ++ outputs.places() ++ .{ null, &number, &failure });
        try check(status, failure);
        if (status == c.MLXROCM_END) return .end;
        if (status == c.MLXROCM_PENDING) return .nothing;
        self.mutex.lock();
        const taken = self.waiting.fetchRemove(number).?.value;
        self.mutex.unlock();
        errdefer taken.evaluations.deinit();
        try outputs.finish(self.allocator, taken.evaluations.items, taken.temperature);
        return .{ .batch = .{ .number = number, .found = taken.evaluations } };
    }
};
