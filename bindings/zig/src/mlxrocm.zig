//! Quantized language models and lazy arrays on AMD GPUs, NVIDIA GPUs and the CPU, through libmlxrocm.

const array = @import("array.zig");
const device = @import("device.zig");
const errors = @import("errors.zig");
const generation = @import("generation.zig");
const model = @import("model.zig");
const model_files = @import("model_files.zig");
const session = @import("session.zig");

/// Networks of Leela Chess Zero.
pub const chess = @import("chess.zig");
/// The C interface as it is.
pub const c = @import("c.zig").c;
/// Operations on arrays.
pub const ops = @import("operations.zig");

/// Kernels of one's own.
pub const engine = @import("engine.zig");
pub const log = @import("log.zig");

pub const Error = errors.Error;
pub const lastMessage = errors.lastMessage;
pub const lastDetails = errors.lastDetails;
pub const lastStatus = errors.lastStatus;
pub const lastVendorCode = errors.lastVendorCode;
pub const statusName = errors.statusName;

pub const Array = array.Array;
pub const DType = array.DType;
pub const eval = array.eval;
pub const ArrayMap = @import("files.zig").ArrayMap;

pub const Device = device.Device;
pub const GpuKind = device.GpuKind;
pub const deviceCount = device.deviceCount;
pub const whyNoGpu = device.whyNoGpu;
pub const version = device.version;
pub const buildInfo = device.buildInfo;

pub const Token = model.Token;
pub const Message = model.Message;
pub const Model = model.Model;
pub const ChatTemplate = @import("chat_template.zig").ChatTemplate;
pub const Progress = model.Progress;
pub const Tokenizer = model.Tokenizer;
pub const ModelFile = model_files.ModelFile;
pub const QuantizeOptions = model_files.QuantizeOptions;
pub const quantize = model_files.quantize;

pub const Request = @import("request.zig").Request;
pub const Session = session.Session;
pub const Generation = generation.Generation;
pub const Event = generation.Event;
pub const Reason = generation.Reason;
pub const Waited = generation.Waited;
pub const waitAny = generation.waitAny;
pub const stateTokens = session.stateTokens;

test {
    // Every function is compiled, whether something uses it or not.
    @import("std").testing.refAllDecls(ops);
}
