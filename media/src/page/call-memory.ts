/** Never used: it keeps the system from joining the memory of many calls to huge pages, which are there as a whole. */
const GUARD_BYTES = 4096

/**
 * Memory of `bytes` that threads share as long as a call lasts, all zero. The system gives a page of it when it is first used and has
 * all of it back with the call: V8 reserves a buffer that may grow, which this one never does, from the system itself, and takes
 * any other from the heap of the C library, where it is written at once and stays with the process.
 */
export function allocateCallMemory(bytes: number): SharedArrayBuffer {
  return new SharedArrayBuffer(bytes, { maxByteLength: bytes + GUARD_BYTES })
}
