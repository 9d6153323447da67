//! Sessions. Any thread may use one; deinit frees it, also before its generations.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const filled = @import("filled.zig");
const model = @import("model.zig");
const Generation = @import("generation.zig").Generation;
const Request = @import("request.zig").Request;
const check = errors.check;
const Error = errors.Error;
const Token = model.Token;

pub const Session = struct {
    handle: *c.mlxrocm_session,

    /// Limits; zero is each default.
    pub const Options = struct {
        context: u32 = 0,
        max_requests: u32 = 0,
        prefill_chunk: u32 = 0,
        kv_tokens: u64 = 0,
        kv_type: enum(u64) { f16 = c.MLXROCM_KV_F16, q8 = c.MLXROCM_KV_Q8, q4 = c.MLXROCM_KV_Q4 } = .f16,
        /// What a request gives never depends on what runs beside it, on GPUs too (slower with more than 16 requests
        /// or prompts beside them).
        batch_invariant: bool = false,
        /// Next tokens are guessed from what followed the same few earlier: the same text, sooner where guesses are right.
        prompt_lookup: bool = false,
        /// A smaller model with the same tokens that guesses.
        draft_model: ?model.Model = null,
    };

    pub fn init(of: model.Model, options: Options) Error!Session {
        const how = c.mlxrocm_session_options{
            .struct_size = @sizeOf(c.mlxrocm_session_options),
            .context = options.context,
            .max_requests = options.max_requests,
            .prefill_chunk = options.prefill_chunk,
            .kv_tokens = options.kv_tokens,
            .kv_type = @intFromEnum(options.kv_type),
            .batch_invariant = @intFromBool(options.batch_invariant),
            .prompt_lookup = @intFromBool(options.prompt_lookup),
            .draft_model = if (options.draft_model) |draft| draft.handle else null,
        };
        var handle: ?*c.mlxrocm_session = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_session_new(of.handle, &how, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: Session) void {
        c.mlxrocm_session_free(self.handle);
    }

    /// What the session is and does right now.
    pub fn info(self: Session) Error!c.mlxrocm_session_info {
        var facts = std.mem.zeroes(c.mlxrocm_session_info);
        facts.struct_size = @sizeOf(c.mlxrocm_session_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_session_get_info(self.handle, &facts, &failure), failure);
        return facts;
    }

    /// Queues a request and returns at once.
    pub fn submit(self: Session, request: Request) Error!Generation {
        return .{ .handle = try request.submit(c.mlxrocm_session_submit, self.handle) };
    }

    /// Runs all requests at once and waits: their texts in order, all owned. If one fails, the others are cancelled.
    pub fn batch(self: Session, allocator: std.mem.Allocator, requests: []const Request) ![][]u8 {
        const generations = try allocator.alloc(Generation, requests.len);
        defer allocator.free(generations);
        var running: usize = 0;
        defer for (generations[0..running]) |generation| generation.deinit();
        for (requests) |request| {
            generations[running] = try self.submit(request);
            running += 1;
        }
        const texts = try allocator.alloc([]u8, requests.len);
        var done: usize = 0;
        errdefer {
            for (texts[0..done]) |text| allocator.free(text);
            allocator.free(texts);
        }
        for (generations) |generation| {
            texts[done] = try generation.text(allocator);
            done += 1;
        }
        return texts;
    }

    /// Raw logits, owned: a row for each token, about the one that follows it.
    pub fn logits(self: Session, allocator: std.mem.Allocator, tokens: []const Token) ![]f32 {
        return filled.elements(f32, allocator, c.mlxrocm_session_logits, .{ self.handle, tokens.ptr, tokens.len });
    }

    /// Raw logits of some positions, which rise, owned; of none: of the last token.
    pub fn logitsAt(self: Session, allocator: std.mem.Allocator, tokens: []const Token, positions: []const u32) ![]f32 {
        const given = .{ self.handle, tokens.ptr, tokens.len, positions.ptr, positions.len };
        return filled.elements(f32, allocator, c.mlxrocm_session_logits_at, given);
    }

    pub const Pooling = enum(u32) {
        /// A row for each token.
        none = c.MLXROCM_POOLING_NONE,
        mean = c.MLXROCM_POOLING_MEAN,
        /// The first token.
        cls = c.MLXROCM_POOLING_CLS,
        last = c.MLXROCM_POOLING_LAST,
    };

    /// The embedding of a text's tokens, owned: their hidden states, pooled; `normalize`: of length 1.
    pub fn embed(self: Session, allocator: std.mem.Allocator, tokens: []const Token, pooling: Pooling, normalize: bool) ![]f32 {
        var how = std.mem.zeroes(c.mlxrocm_embed_options);
        how.struct_size = @sizeOf(c.mlxrocm_embed_options);
        how.pooling = @intFromEnum(pooling);
        how.flags = if (normalize) c.MLXROCM_EMBED_NORMALIZE else 0;
        const options: [*c]const c.mlxrocm_embed_options = &how;
        return filled.elements(f32, allocator, c.mlxrocm_session_embed, .{ self.handle, tokens.ptr, tokens.len, options });
    }

    /// What was computed of these tokens, owned, to go on after them in another session of the model.
    pub fn saveState(self: Session, allocator: std.mem.Allocator, tokens: []const Token) ![]u8 {
        return filled.elements(u8, allocator, c.mlxrocm_session_save_state, .{ self.handle, tokens.ptr, tokens.len });
    }

    /// The same to a file, which is there whole or not at all.
    pub fn saveStateFile(self: Session, tokens: []const Token, path: []const u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        const save = c.mlxrocm_session_save_state_file;
        try check(save(self.handle, tokens.ptr, tokens.len, path.ptr, path.len, &failure), failure);
    }

    /// Keeps a state for prompts that begin with its tokens.
    pub fn loadState(self: Session, state: []const u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_session_load_state(self.handle, state.ptr, state.len, &failure), failure);
    }

    /// The same from a file.
    pub fn loadStateFile(self: Session, path: []const u8) Error!void {
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_session_load_state_file(self.handle, path.ptr, path.len, &failure), failure);
    }
};

/// The tokens of a saved state, owned.
pub fn stateTokens(allocator: std.mem.Allocator, state: []const u8) ![]Token {
    return filled.elements(Token, allocator, c.mlxrocm_state_get_tokens, .{ state.ptr, state.len });
}
