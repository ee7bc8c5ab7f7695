/** Larger bodies of imports are parsed on a worker thread; smaller ones take a few milliseconds on the main thread. */
export const LARGE_BODY_BYTES = 262_144

/** A body that is not parsed yet: bytes of JSON in UTF-8. */
export class LargeBody {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
