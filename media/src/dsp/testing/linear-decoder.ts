import type { PayloadDecoder } from '../reorder-buffer.ts'

/** Decodes payloads of 16-bit samples in the byte order of this machine, so that tests can send any sample unchanged. */
export const linearDecoder: PayloadDecoder = {
  clockRate: 8000,
  samples: new Int16Array(240),
  decode(payload, offset, length) {
    const count = length >> 1
    new Uint8Array(this.samples.buffer).set(payload.subarray(offset, offset + 2 * count))
    return count
  },
  restart() {},
}

/** The payload of `audio`. */
export function linearPayload(audio: Int16Array): Uint8Array {
  return new Uint8Array(audio.buffer, audio.byteOffset, audio.byteLength)
}
