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
        var arena = std.heap.ArenaAllocator.init(allocator);
        errdefer arena.deinit();
        const items = try arena.allocator().alloc(Evaluation, positions.len);
        if (positions.len == 0) return .{ .items = items, .arena = arena };
        var scratch = std.heap.ArenaAllocator.init(allocator);
        defer scratch.deinit();
        const room = scratch.allocator();
        const masks = try room.alloc(u64, positions.len * planes);
        const values = try room.alloc(f32, positions.len * planes);
        for (items, positions, 0..) |*item, position, i| {
            const legal = try self.input(room, position, masks[i * planes ..].ptr, values[i * planes ..].ptr);
            item.moves = try arena.allocator().alloc(Move, legal.len);
            for (item.moves, legal) |*to, from| to.c_move = from;
        }
        const policy = try room.alloc(f32, positions.len * policy_moves);
        const wdl = try room.alloc([3]f32, positions.len);
        const left = try room.alloc(f32, positions.len);
        var failure: ?*c.mlxrocm_error = null;
        const run = c.mlxrocm_chess_net_evaluate;
        const chances_of: [*]f32 = @ptrCast(wdl.ptr);
        try check(run(self.handle, masks.ptr, values.ptr, positions.len, policy.ptr, chances_of, left.ptr, &failure), failure);
        for (items, wdl, left, 0..) |*item, of, moves_left, i| {
            const chances = try room.alloc(f32, item.moves.len);
            const legal = try room.alloc(c.mlxrocm_chess_move, item.moves.len);
            for (legal, item.moves) |*to, from| to.* = from.c_move;
            const logits = policy[i * policy_moves ..].ptr;
            const tell = c.mlxrocm_chess_net_get_chances;
            try check(tell(logits, legal.ptr, legal.len, temperature, chances.ptr, &failure), failure);
            for (item.moves, chances) |*to, chance| to.chance = chance;
            item.* = .{ .win = of[0], .draw = of[1], .loss = of[2], .moves_left = moves_left, .moves = item.moves };
        }
        return .{ .items = items, .arena = arena };
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
