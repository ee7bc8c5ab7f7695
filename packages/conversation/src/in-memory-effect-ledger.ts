import type { ParleyError, Random, UnixMs } from '@parley/kernel'
import { ConversationError } from './errors.ts'
import type { EffectIntent, EffectKind, EffectLedger, EffectRecord, PolicyDecision } from './ledger.ts'

interface InMemoryEffectLedgerOptions {
  readonly random: Random
  readonly wallClock: () => UnixMs
  /** Default 10,000. Beyond it `intend` throws `ledger_unavailable`. */
  readonly maxRows?: number
}

/** Effect kinds that need a policy decision before they are sent. */
const NEEDS_DECISION: ReadonlySet<EffectKind> = new Set(['http', 'sip_dial', 'sip_transfer', 'run_admission'])

const DEFAULT_MAX_ROWS = 10_000

/** An effect ledger in the memory of the process, for trials, tests and conversations without a database. */
export class InMemoryEffectLedger implements EffectLedger {
  readonly #options: InMemoryEffectLedgerOptions
  readonly #rows = new Map<string, EffectRecord>()

  constructor(options: InMemoryEffectLedgerOptions) {
    this.#options = options
  }

  /** In order of creation. */
  get records(): readonly EffectRecord[] {
    return [...this.#rows.values()]
  }

  has(effectId: string): boolean {
    return this.#rows.has(effectId)
  }

  async intend(intent: EffectIntent): Promise<EffectRecord> {
    const maxRows = this.#options.maxRows ?? DEFAULT_MAX_ROWS
    if (this.#rows.size >= maxRows)
      throw new ConversationError(
        'ledger_unavailable',
        `the in-memory ledger is full: it holds its maximum of ${maxRows} effects; raise maxRows or use the ledger of a run`,
        { retryable: false },
      )
    const effect_id = randomUuid(this.#options.random)
    const { kind, action, node_id, ordinal } = intent
    return this.#store({
      effect_id,
      effect_key: `effect_${effect_id}`,
      action: { id: action.id, version: action.version },
      effect_kind: kind,
      node_id,
      ordinal,
      state: 'intended',
      decision: null,
      send_attempts: 0,
      receipts: [],
      error_code: null,
      created_at: this.#now(),
      settled_at: null,
    })
  }

  async decide(effectId: string, decision: PolicyDecision): Promise<EffectRecord> {
    const row = this.#row(effectId)
    if (row.state !== 'intended' || row.decision !== null) throw outOfOrder(row, 'decided')
    if (decision.decision === 'allow') return this.#store({ ...row, decision })
    const error_code = decision.decision === 'deny' ? 'policy_denied' : 'policy_unavailable'
    return this.#store({ ...row, decision, state: 'failed', error_code, settled_at: this.#now() })
  }

  async sending(effectId: string): Promise<EffectRecord> {
    const row = this.#row(effectId)
    const settled = row.state !== 'intended' && row.state !== 'sending'
    if (settled || (NEEDS_DECISION.has(row.effect_kind) && row.decision === null)) throw outOfOrder(row, 'sent')
    return this.#store({ ...row, state: 'sending', send_attempts: row.send_attempts + 1 })
  }

  async settle(effectId: string, outcome: Parameters<EffectLedger['settle']>[1]): Promise<EffectRecord> {
    const row = this.#row(effectId)
    // An effect that was never sent can only fail.
    const allowed = row.state === 'sending' || (row.state === 'intended' && outcome.state === 'failed')
    if (!allowed) throw outOfOrder(row, outcome.state)
    const { state, receipts = [], error_code = null } = outcome
    return this.#store({ ...row, state, receipts: [...receipts], error_code, settled_at: this.#now() })
  }

  #row(effectId: string): EffectRecord {
    const row = this.#rows.get(effectId)
    if (row === undefined)
      throw new ConversationError('effect_not_found', `the ledger has no effect ${effectId}; call intend first`)
    return row
  }

  /** Stores a new row object; rows that were returned earlier never change. */
  #store(row: EffectRecord): EffectRecord {
    this.#rows.set(row.effect_id, row)
    return row
  }

  #now(): string {
    return new Date(this.#options.wallClock()).toISOString()
  }
}

function outOfOrder(row: EffectRecord, step: string): ParleyError {
  const verdict = row.decision === null ? 'undecided' : row.decision.decision
  return new ConversationError(
    'effect_step_not_allowed',
    `effect ${row.effect_id} (${row.effect_kind}, ${row.state}, ${verdict}) cannot be ${step}`,
  )
}

/** RFC 9562 section 5.4. */
function randomUuid(random: Random): string {
  const bytes = random.bytes(16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
