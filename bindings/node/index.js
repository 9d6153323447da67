// mlxrocm: quantized language models, lazy arrays and chess networks.

import * as operations from './operations.js';

export { array, evaluate, NDArray } from './array.js';
export * as chess from './chess.js';
export { buildInfo, Device, deviceCount, setLog, version, whyNoGpu } from './device.js';
export * as engine from './engine.js';
export { listTensors, loadArrays, quantize, saveGguf, saveSafetensors } from './files.js';
export { Generation, waitAny } from './generation.js';
export { constants } from './interface.js';
export { ArrayKernel } from './kernel.js';
export { MlxrocmError } from './library.js';
export { ChatTemplate, Model, Tokenizer } from './model.js';
export { Session, stateTokens } from './session.js';
export { operations };
