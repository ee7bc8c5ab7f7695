import { createHash } from 'node:crypto'
import type { EffectLedger, Receipt } from '../ledger.ts'

const ACTION = { id: 'model.infer', version: 1 }

/**
 * The ledger row of a model request. Inference has no external effect, so a ledger that cannot be written does not delay the
 * conversation: the row is then missing.
 */
export class InferenceRow {
  readonly #ledger: EffectLedger
  #effectId: string | null = null
  #sends = 0
  #written: Promise<void>

  constructor(ledger: EffectLedger, nodeId: string | null) {
    this.#ledger = ledger
    this.#written = Promise.resolve()
      .then(() => ledger.intend({ kind: 'gateway_inference', action: ACTION, node_id: nodeId, ordinal: null }))
      .then(row => {
        this.#effectId = row.effect_id
      })
      .catch(() => {})
  }

  /** Called before each send. */
  sending(): void {
    this.#sends++
    this.#write(id => this.#ledger.sending(id))
  }

  /** Resolves when the ledger has stored the row, as far as it can; never rejects. */
  settle(errorCode: string | null): Promise<void> {
    const state = errorCode === null ? 'succeeded' : 'failed'
    this.#write(id => {
      const receipts = Array.from({ length: this.#sends }, (_, send): Receipt => {
        return { kind: 'gateway_inference', attempt_id: attemptId(id, send + 1), measurement_id: null }
      })
      return this.#ledger.settle(id, { state, receipts, error_code: errorCode })
    })
    return this.#written
  }

  #write(step: (effectId: string) => Promise<unknown>): void {
    this.#written = this.#written
      .then(async () => {
        if (this.#effectId !== null) await step(this.#effectId)
      })
      .catch(() => {})
  }
}

/** A UUID derived from the row and the send. */
function attemptId(effectId: string, send: number): string {
  const digest = createHash('sha256').update(`${effectId}/${send}`).digest()
  // RFC 9562 section 5.8: version 8, for custom formats.
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6)
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = digest.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
