import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Random } from '@parley/kernel'

/** Values that only this process can recompute: stateless To tags (RFC 3261 section 8.2.7) and nonces. */
export class KeyedHash {
  readonly #key: Uint8Array

  constructor(random: Random) {
    this.#key = random.bytes(32)
  }

  /** 128 bits as 32 hexadecimal characters. */
  of(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('hex').slice(0, 32)
  }
}

/** Constant-time comparison. */
export function equalInConstantTime(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
