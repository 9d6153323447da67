// Kernels of one's own that take and give arrays, on a GPU.

import { dtypeNumber, list, NDArray, toArray } from './array.js';
import { constants } from './interface.js';
import { callAsync, invalid, make, Owned, sized, text, texts } from './library.js';

/** A kernel of one's own on arrays. */
export class ArrayKernel extends Owned {
  /**
   * `source` is the body of a function in HIP's language, whose parameters are the inputs and outputs by their names:
   * pointers to elements, row after row (`strided`: as they lie). Beside an input x it may use `x_shape[]`, `x_ndim` and
   * `x_strides[]`. Types that the language has not are `float16`, `bfloat16` and `complex64`. `header` stands before it.
   */
  constructor(device, name, { inputs = [], outputs, source, header = null, strided = false }) {
    const options = sized('mlxrocm_array_kernel_options', { strided: strided ? 1 : 0 });
    [options.name, options.name_length] = text(name, 'the name');
    [options.source, options.source_length] = text(source, 'the source');
    [options.header, options.header_length] = text(header, 'the header');
    [options.input_names, options.input_name_lengths, options.input_count] = texts(inputs, 'the name of an input');
    [options.output_names, options.output_name_lengths, options.output_count] = texts(outputs, 'the name of an output');
    super(make('mlxrocm_array_kernel_new', device.handle, options), 'mlxrocm_array_kernel_free');
  }

  /**
   * Lazy arrays, `outputs` of `{ shape, dtype }`; the source is compiled now, on another thread, once for the same dtypes,
   * ranks and `templates` (names in it that are dtypes, whole numbers or truth values). `grid`: work items in all, in x, y
   * and z; the last blocks are whole, and what is beyond must be left alone. `initial`: what outputs hold before.
   */
  async apply(inputs, { outputs, grid, block, templates = {}, initial = null }) {
    const arrays = inputs.map((value) => toArray(value));
    const [handles, count] = list(arrays);
    const three = (sizes) => Array.from({ length: 3 }, (_, i) => [].concat(sizes)[i] ?? 1);
    const call = sized('mlxrocm_array_kernel_call', {
      has_initial: initial === null ? 0 : 1, initial: initial ?? 0, grid: three(grid), block: three(block),
      inputs: handles, input_count: count,
      outputs: outputs.map(({ shape, dtype }) => sized('mlxrocm_array_type', {
        shape: BigInt64Array.from(shape, BigInt), rank: shape.length, dtype: dtypeNumber(dtype),
      })),
      output_count: outputs.length,
      templates: Object.entries(templates).map(([name, value]) => meaning(name, value)),
      template_count: Object.keys(templates).length,
    });
    const made = new BigUint64Array(Math.max(outputs.length, 1));
    await callAsync([this, arrays], 'mlxrocm_array_kernel_apply', this.handle, call, made);
    return Array.from(made.subarray(0, outputs.length), (handle) => new NDArray(handle));
  }
}

function meaning(name, value) {
  const struct = sized('mlxrocm_array_template');
  [struct.name, struct.name_length] = text(name, 'a name');
  if (typeof value === 'string') [struct.kind, struct.value] = [constants.TEMPLATE_DTYPE, dtypeNumber(value)];
  else if (typeof value === 'boolean') [struct.kind, struct.value] = [constants.TEMPLATE_BOOL, value ? 1 : 0];
  else if (Number.isInteger(value)) [struct.kind, struct.value] = [constants.TEMPLATE_INT, value];
  else throw invalid(`${name} is a dtype, a whole number or a truth value, not ${String(value)}`);
  return struct;
}
