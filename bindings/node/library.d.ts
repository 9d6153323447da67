/** A failed call. `code` is like "INVALID_FILE". */
export class MlxrocmError extends Error {
  readonly status: number;
  readonly code: string;
  /** The long form, like a compiler's log, or "". */
  readonly details: string;
  readonly vendorCode: number;
}

/** An owned object of the library: freed by close(), by `using`, or some time after its last use. */
export class Owned {
  protected constructor();
  /** The address of the C object. */
  readonly handle: bigint;
  readonly closed: boolean;
  close(): void;
  [Symbol.dispose](): void;
}
