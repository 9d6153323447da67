//! Logits processors, waiting for any of several generations, and quantized models.

const std = @import("std");
const mlxrocm = @import("mlxrocm");
const testing = std.testing;
const allocator = testing.allocator;
const Token = mlxrocm.Token;

const Loaded = struct {
    model: mlxrocm.Model,
    session: mlxrocm.Session,

    fn init() !Loaded {
        const cpu = try mlxrocm.Device.open(0);
        defer cpu.deinit();
        const path = std.posix.getenv("MLXROCM_DEMO_MODEL") orelse return error.MLXROCM_DEMO_MODEL_names_the_demo_model;
        const model = try mlxrocm.Model.load(path, .{ .device = cpu });
        return .{ .model = model, .session = try mlxrocm.Session.init(model, .{ .context = 512, .max_requests = 4 }) };
    }

    fn deinit(self: Loaded) void {
        self.session.deinit();
        self.model.deinit();
    }
};

/// A logits processor that wants one token, and knows how often it was called.
const Wants = struct {
    token: Token,
    calls: usize = 0,
    most: usize = 1000,
    tokens: usize = 0,
    first: f32 = 0,
    nan: bool = false,
    released: std.atomic.Value(usize) = .init(0),

    fn of(self: *Wants) mlxrocm.Request.Processor {
        return .{ .context = self, .process = process, .release = release };
    }

    fn process(context: ?*anyopaque, tokens: []const Token, logits: []f32) bool {
        const self: *Wants = @ptrCast(@alignCast(context.?));
        if (self.calls == 0) self.first = logits[0];
        self.calls += 1;
        self.tokens = tokens.len;
        logits[self.token] += 1000;
        if (self.nan) logits[0] = std.math.nan(f32);
        return self.calls <= self.most;
    }

    fn release(context: ?*anyopaque) void {
        const self: *Wants = @ptrCast(@alignCast(context.?));
        _ = self.released.fetchAdd(1, .monotonic);
    }
};

fn expectText(wanted: []const u8, generation: mlxrocm.Generation) !void {
    defer generation.deinit();
    const found = try generation.text(allocator);
    defer allocator.free(found);
    try testing.expectEqualStrings(wanted, found);
}

test "texts are what they must be" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const prompt = "Is the sky blue? As JSON:";
    const Request = mlxrocm.Request;
    const made = struct {
        fn by(session: mlxrocm.Session, request: Request, wanted: []const []const u8) !void {
            const generation = try session.submit(request);
            defer generation.deinit();
            const text = try generation.text(allocator);
            defer allocator.free(text);
            for (wanted) |one| if (std.mem.eql(u8, one, text)) return;
            return testing.expectEqualStrings(wanted[0], text);
        }
    }.by;
    const session = loaded.session;
    try made(session, .{ .text = prompt, .json_schema = "{\"enum\": [\"yes\", \"no\"]}" }, &.{ "\"yes\"", "\"no\"" });
    try made(session, .{ .text = prompt, .regex = "(abc|abd)!" }, &.{ "abc!", "abd!" });
    try made(session, .{ .text = prompt, .grammar = "start: \"ja\" | \"nein\"" }, &.{ "ja", "nein" });
    try testing.expectError(error.InvalidArgument, session.submit(.{ .text = prompt, .json_schema = "{" }));
    const ends = try session.submit(.{ .text = prompt, .regex = "a" });
    defer ends.deinit();
    while (try ends.next()) |event| switch (event) {
        .finished => |finished| try testing.expectEqual(.grammar, finished.reason),
        else => {},
    };
}

test "logits processors" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const tokenizer = try loaded.model.tokenizer();
    defer tokenizer.deinit();
    const prompt = try tokenizer.encode(allocator, "One two", .{});
    defer allocator.free(prompt);
    const comma = try tokenizer.encode(allocator, ",", .{});
    defer allocator.free(comma);
    const row = try loaded.session.logitsAt(allocator, prompt, &.{});
    defer allocator.free(row);

    var wants: Wants = .{ .token = comma[0] };
    try expectText(",,,", try loaded.session.submit(.{ .tokens = prompt, .max_tokens = 3, .logits_processor = wants.of() }));
    try testing.expectEqual(3, wants.calls);
    try testing.expectEqual(prompt.len + 2, wants.tokens);
    try testing.expectEqual(row[0], wants.first);
    try testing.expectEqual(1, wants.released.load(.monotonic));

    const generation = try loaded.session.submit(.{ .tokens = prompt, .max_tokens = 1 });
    defer generation.deinit();
    try expectText(",,", try generation.fork(.{ .max_tokens = 2, .logits_processor = wants.of() }));
    try testing.expectEqual(2, wants.released.load(.monotonic));

    // It ends the generation, or writes what is no number.
    var ends: Wants = .{ .token = comma[0], .most = 1 };
    const ended = try loaded.session.submit(.{ .tokens = prompt, .max_tokens = 3, .logits_processor = ends.of() });
    defer ended.deinit();
    try testing.expectError(error.Cancelled, ended.text(allocator));
    try testing.expectEqual(2, ends.calls);
    try testing.expectEqual(1, ends.released.load(.monotonic));
    var no_number: Wants = .{ .token = comma[0], .nan = true };
    const wrong = try loaded.session.submit(.{ .tokens = prompt, .max_tokens = 3, .logits_processor = no_number.of() });
    defer wrong.deinit();
    try testing.expectError(error.InvalidArgument, wrong.text(allocator));

    // Requests that are refused, here and by the library, and one that is forgotten.
    var refused: Wants = .{ .token = comma[0] };
    try testing.expectError(error.InvalidArgument, loaded.session.submit(.{ .text = "", .logits_processor = refused.of() }));
    const biased: mlxrocm.Request = .{ .text = "a", .bias_tokens = &.{1}, .logits_processor = refused.of() };
    try testing.expectError(error.InvalidArgument, loaded.session.submit(biased));
    try testing.expectEqual(2, refused.released.load(.monotonic));
    const endless: mlxrocm.Request = .{ .text = "Count:", .max_tokens = 400, .ignore_eos = true, .logits_processor = refused.of() };
    const forgotten = try loaded.session.submit(endless);
    _ = try forgotten.next();
    forgotten.deinit();
    var waited: usize = 0;
    while (refused.released.load(.monotonic) < 3) : (waited += 1) {
        try testing.expect(waited < 60_000);
        std.time.sleep(std.time.ns_per_ms);
    }
}

test "any of several generations" {
    const loaded = try Loaded.init();
    defer loaded.deinit();
    const other = try mlxrocm.Session.init(loaded.model, .{ .context = 64 });
    defer other.deinit();
    const prompts = [_][]const u8{ "The capital of France is", "Once upon a time", "Water boils at" };
    var generations: [3]mlxrocm.Generation = undefined;
    var texts: [3]std.ArrayList(u8) = undefined;
    for (&generations, &texts, prompts, 0..) |*generation, *text, prompt, i| {
        const session = if (i == 1) other else loaded.session;
        generation.* = try session.submit(.{ .text = prompt, .max_tokens = 5 });
        text.* = .init(allocator);
    }
    defer for (generations, texts) |generation, text| {
        generation.deinit();
        text.deinit();
    };
    while (true) switch (try mlxrocm.waitAny(&generations, null)) {
        .event => |index| try texts[index].appendSlice((try generations[index].next()).?.text()),
        .nothing => unreachable,
        .end => break,
    };
    for (texts, prompts) |text, prompt| {
        try expectText(text.items, try loaded.session.submit(.{ .text = prompt, .max_tokens = 5 }));
    }
    try testing.expectEqual(.end, try mlxrocm.waitAny(&.{}, null));
    const waiting = try loaded.session.submit(.{ .text = "Count: " ** 120, .max_tokens = 1 });
    defer waiting.deinit();
    try testing.expectEqual(.nothing, try mlxrocm.waitAny(&.{waiting}, 0));
}

/// Puts a matrix or vector of numbers between -0.5 and 0.5 into a map.
fn put(map: mlxrocm.ArrayMap, name: []const u8, shape: []const i64, random: std.Random) !void {
    var count: usize = 1;
    for (shape) |size| count *= @intCast(size);
    const numbers = try allocator.alloc(f32, count);
    defer allocator.free(numbers);
    for (numbers) |*number| number.* = random.float(f32) - 0.5;
    const array = try mlxrocm.Array.init(f32, numbers, shape);
    defer array.deinit();
    try map.set(name, array);
}

fn elements(comptime T: type, map: mlxrocm.ArrayMap, name: []const u8) ![]T {
    const array = try map.get(name);
    defer array.deinit();
    const found = try allocator.alloc(T, array.size());
    errdefer allocator.free(found);
    try array.read(T, found);
    return found;
}

fn hear(context: ?*anyopaque, done: u64, total: u64) bool {
    const last: *[2]u64 = @ptrCast(@alignCast(context.?));
    const go_on = last[0] == 0;
    if (go_on) last[1] = total - done;
    return go_on;
}

test "quantized models" {
    var folder = testing.tmpDir(.{});
    defer folder.cleanup();
    var arena = std.heap.ArenaAllocator.init(allocator);
    defer arena.deinit();
    const root = try folder.dir.realpathAlloc(arena.allocator(), ".");
    const source = try std.fs.path.join(arena.allocator(), &.{ root, "model" });
    const made = try std.fs.path.join(arena.allocator(), &.{ root, "made" });
    const other = try std.fs.path.join(arena.allocator(), &.{ root, "other" });
    try folder.dir.makeDir("model");
    try folder.dir.writeFile(.{ .sub_path = "model/config.json", .data = 
        \\{"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 1,
        \\"num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 96, "rms_norm_eps": 1e-5,
        \\"max_position_embeddings": 128, "tie_word_embeddings": true}
    });
    var random = std.Random.DefaultPrng.init(20261129);
    const weights = try mlxrocm.ArrayMap.init();
    defer weights.deinit();
    const layer = "model.layers.0.";
    inline for (.{ "model.norm", layer ++ "input_layernorm", layer ++ "post_attention_layernorm" }) |name| {
        try put(weights, name ++ ".weight", &.{64}, random.random());
    }
    inline for (.{ "q", "k", "v", "o" }) |name| {
        try put(weights, layer ++ "self_attn." ++ name ++ "_proj.weight", &.{ 64, 64 }, random.random());
    }
    try put(weights, layer ++ "mlp.gate_proj.weight", &.{ 128, 64 }, random.random());
    try put(weights, layer ++ "mlp.up_proj.weight", &.{ 128, 64 }, random.random());
    try put(weights, layer ++ "mlp.down_proj.weight", &.{ 64, 128 }, random.random());
    try put(weights, "model.embed_tokens.weight", &.{ 96, 64 }, random.random());
    try weights.saveSafetensors(try std.fs.path.join(arena.allocator(), &.{ source, "model.safetensors" }));

    var last: [2]u64 = .{ 0, 1 };
    const progress: mlxrocm.Progress = .{ .context = &last, .hear = hear };
    const result = try mlxrocm.quantize(source, made, .{ .bits = 8, .group_size = 32, .progress = progress });
    try testing.expectEqual(0, last[1]);
    try testing.expectEqual(1, result.files);
    const codes_of = try mlxrocm.ArrayMap.load(try std.fs.path.join(arena.allocator(), &.{ made, "model.safetensors" }));
    defer codes_of.deinit();
    for (0..weights.count()) |k| {
        const name = weights.name(k).?;
        if (std.mem.indexOf(u8, name, "norm") != null) continue;
        const module = name[0 .. name.len - ".weight".len];
        const wanted = try elements(f32, weights, name);
        defer allocator.free(wanted);
        const codes = try elements(u32, codes_of, name);
        defer allocator.free(codes);
        const scales = try elements(f32, codes_of, try std.mem.concat(arena.allocator(), u8, &.{ module, ".scales" }));
        defer allocator.free(scales);
        const biases = try elements(f32, codes_of, try std.mem.concat(arena.allocator(), u8, &.{ module, ".biases" }));
        defer allocator.free(biases);
        // By hand: four codes in each number, the lowest bits first, in groups of 32.
        for (wanted, 0..) |value, i| {
            const code: f32 = @floatFromInt(codes[i / 4] >> @intCast(8 * (i % 4)) & 255);
            // The end of a group may be off by a whole step: 0 is one of the codes' numbers.
            try testing.expectApproxEqAbs(value, code * scales[i / 32] + biases[i / 32], 1.01 * @abs(scales[i / 32]));
        }
    }
    last[0] = 1;
    try testing.expectError(error.Cancelled, mlxrocm.quantize(source, other, .{ .progress = progress }));
    for ([_]mlxrocm.QuantizeOptions{
        .{ .bits = 7 }, .{ .mode = "int4" }, .{ .mode = "affine\x00" }, .{ .rules = &.{ "*=4", "nonsense" } },
    }) |wrong| try testing.expectError(error.InvalidArgument, mlxrocm.quantize(source, other, wrong));
    try testing.expectError(error.InvalidArgument, mlxrocm.quantize(source, made, .{}));
    try testing.expectError(error.Unsupported, mlxrocm.quantize(made, other, .{}));
    try testing.expectError(error.Io, mlxrocm.quantize("/nowhere", other, .{}));
}
