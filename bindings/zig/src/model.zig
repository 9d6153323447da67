//! Models and tokenizers; any thread may use them. deinit frees each, in any order.

const std = @import("std");
const c = @import("c.zig").c;
const errors = @import("errors.zig");
const filled = @import("filled.zig");
const ChatTemplate = @import("chat_template.zig").ChatTemplate;
const Device = @import("device.zig").Device;
const check = errors.check;
const Error = errors.Error;

pub const Token = u32;

/// One message of a chat: the role is "system", "user", "assistant" …
pub const Message = struct { role: []const u8, content: []const u8 };

/// Messages as C has them: they borrow from `messages`.
pub fn borrowed(allocator: std.mem.Allocator, messages: []const Message) Error![]c.mlxrocm_message {
    const list = try allocator.alloc(c.mlxrocm_message, messages.len);
    for (list, messages) |*to, from| to.* = .{
        .role = field(from.role),
        .role_length = from.role.len,
        .content = field(from.content),
        .content_length = from.content.len,
    };
    return list;
}

/// A list of texts as structs have it: where they lie, and their lengths.
pub const Texts = struct {
    starts: [][*c]const u8,
    lengths: []usize,

    pub fn of(arena: std.mem.Allocator, list: []const []const u8) Error!Texts {
        const starts = try arena.alloc([*c]const u8, list.len);
        const lengths = try arena.alloc(usize, list.len);
        for (starts, lengths, list) |*start, *length, text| {
            start.* = field(text);
            length.* = text.len;
        }
        return .{ .starts = starts, .lengths = lengths };
    }
};

/// A text as structs have it: with length 0 it ends at its NUL.
pub fn field(text: []const u8) [*]const u8 {
    return if (text.len == 0) "" else text.ptr;
}

/// Hears how many of how many bytes are done, and says whether to go on.
pub const Progress = struct {
    context: ?*anyopaque = null,
    hear: *const fn (context: ?*anyopaque, done: u64, total: u64) bool,

    pub fn report(done: u64, total: u64, data: ?*anyopaque) callconv(.c) i32 {
        const self: *const Progress = @ptrCast(@alignCast(data.?));
        return @intFromBool(!self.hear(self.context, done, total));
    }
};

pub const Model = struct {
    handle: *c.mlxrocm_model,

    pub const Options = struct {
        /// Null: the best GPU, else the CPU.
        device: ?Device = null,
        /// CPU threads; 0: one for each CPU.
        threads: u32 = 0,
        /// Hears how many of how many bytes are loaded, and says whether to go on: false ends loading with
        /// error.Cancelled.
        progress: ?Progress = null,
    };

    /// Loads a GGUF file or an MLX folder.
    pub fn load(path: []const u8, options: Options) Error!Model {
        var how = std.mem.zeroes(c.mlxrocm_model_options);
        how.struct_size = @sizeOf(c.mlxrocm_model_options);
        how.threads = options.threads;
        if (options.device) |device| how.device = device.handle;
        if (options.progress) |*progress| {
            how.progress = Progress.report;
            how.user_data = @constCast(progress);
        }
        var handle: ?*c.mlxrocm_model = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_model_load(path.ptr, path.len, &how, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    pub fn deinit(self: Model) void {
        c.mlxrocm_model_free(self.handle);
    }

    /// Facts about the model; strings in it live as long as the model.
    pub fn info(self: Model) Error!c.mlxrocm_model_info {
        var facts = std.mem.zeroes(c.mlxrocm_model_info);
        facts.struct_size = @sizeOf(c.mlxrocm_model_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_model_get_info(self.handle, &facts, &failure), failure);
        return facts;
    }

    pub fn tokenizer(self: Model) Error!Tokenizer {
        var handle: ?*c.mlxrocm_tokenizer = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_model_get_tokenizer(self.handle, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// The model's chat template, owned; error.Unsupported if it has none.
    pub fn chatTemplate(self: Model) Error!ChatTemplate {
        var handle: ?*c.mlxrocm_chat_template = null;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_model_get_chat_template(self.handle, &handle, &failure), failure);
        return .{ .handle = handle.? };
    }

    /// A chat as the text of a prompt that the model answers, owned; encode it with parse_special.
    pub fn renderChat(self: Model, allocator: std.mem.Allocator, messages: []const Message) ![]u8 {
        const template = try self.chatTemplate();
        defer template.deinit();
        return template.render(allocator, messages, .{});
    }
};

pub const Tokenizer = struct {
    handle: *c.mlxrocm_tokenizer,

    pub fn deinit(self: Tokenizer) void {
        c.mlxrocm_tokenizer_free(self.handle);
    }

    pub const Flags = struct {
        /// Add the tokens that the model wants around a raw prompt.
        add_special: bool = false,
        /// Read special tokens that are spelled out: not for text of strangers.
        parse_special: bool = false,
    };

    /// Tokens of a text, owned.
    pub fn encode(self: Tokenizer, allocator: std.mem.Allocator, text: []const u8, flags: Flags) ![]Token {
        const add: u32 = if (flags.add_special) c.MLXROCM_ENCODE_ADD_SPECIAL else 0;
        const parse: u32 = if (flags.parse_special) c.MLXROCM_ENCODE_PARSE_SPECIAL else 0;
        var needed: usize = 0;
        var failure: ?*c.mlxrocm_error = null;
        const encoder = c.mlxrocm_tokenizer_encode;
        try check(encoder(self.handle, text.ptr, text.len, add | parse, null, 0, &needed, &failure), failure);
        const tokens = try allocator.alloc(Token, needed);
        errdefer allocator.free(tokens);
        if (needed == 0) return tokens;
        try check(encoder(self.handle, text.ptr, text.len, add | parse, tokens.ptr, needed, &needed, &failure), failure);
        return tokens;
    }

    /// Tokens are 0 to `vocab_size` - 1; those that begin and end a text.
    pub fn info(self: Tokenizer) Error!struct { vocab_size: u32, bos: ?Token, eos: ?Token } {
        var facts = std.mem.zeroes(c.mlxrocm_tokenizer_info);
        facts.struct_size = @sizeOf(c.mlxrocm_tokenizer_info);
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_tokenizer_get_info(self.handle, &facts, &failure), failure);
        return .{ .vocab_size = facts.vocab_size, .bos = someToken(facts.bos), .eos = someToken(facts.eos) };
    }

    /// The token of an exact spelling like "<|im_end|>".
    pub fn find(self: Tokenizer, spelling: []const u8) Error!?Token {
        var token: Token = 0;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_tokenizer_find_token(self.handle, spelling.ptr, spelling.len, &token, &failure), failure);
        return someToken(token);
    }

    /// Whether a token is a control token that ordinary text never contains.
    pub fn isSpecial(self: Tokenizer, token: Token) Error!bool {
        var special: u32 = 0;
        var failure: ?*c.mlxrocm_error = null;
        try check(c.mlxrocm_tokenizer_is_special(self.handle, token, &special, &failure), failure);
        return special != 0;
    }

    /// The bytes that a token stands for, owned; they may be a part of a character.
    pub fn tokenBytes(self: Tokenizer, allocator: std.mem.Allocator, token: Token) ![]u8 {
        return filled.text(allocator, c.mlxrocm_tokenizer_token_bytes, .{ self.handle, token });
    }

    /// The text of tokens, owned.
    pub fn decode(self: Tokenizer, allocator: std.mem.Allocator, tokens: []const Token, skip_special: bool) ![]u8 {
        const flags: u32 = if (skip_special) c.MLXROCM_DECODE_SKIP_SPECIAL else 0;
        return filled.text(allocator, c.mlxrocm_tokenizer_decode, .{ self.handle, tokens.ptr, tokens.len, flags });
    }
};

fn someToken(number: Token) ?Token {
    return if (number == c.MLXROCM_NO_TOKEN) null else number;
}
