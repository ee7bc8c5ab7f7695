/** Bodies above this are read on a thread of their own where the operation has one: to read less costs few milliseconds. */
export const LARGE_BODY_BYTES = 262_144

/** The JSON of a body, as bytes in UTF-8 that nobody has looked into. */
export class LargeBody {
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }
}
