import type { Topic } from '../protocol.ts'

/** All of them: what is missing here is never heard from another process. */
const TOPICS: Readonly<Record<Topic, true>> = {
  keys: true,
  telephony: true,
  publications: true,
  tenants: true,
  runs: true,
  run_orders: true,
}

/** The longest id that is told; of anything else only its topic is. */
const MAX_ID = 256
/** More ids than these of one topic are told as "anything of it". */
export const MAX_IDS = 1000
/** Bytes of a message: NOTIFY takes less than 8000. */
export const MAX_MESSAGE_BYTES = 7800
/** Longer messages are nobody's of ours, and are not even looked into. */
const MAX_RECEIVED = 16_384
const MAX_ENTRIES = 4096

/** One change; id null: more of the topic changed than is told. */
export type Change = readonly [topic: Topic, id: string | null]

/** What changed and was not told yet: each change once, however often it happened, and never more than a bounded number. */
export class Changes {
  readonly #byTopic = new Map<Topic, Set<string> | null>()

  get isEmpty(): boolean {
    return this.#byTopic.size === 0
  }

  add([topic, id]: Change): void {
    const known = this.#byTopic.get(topic)
    if (known === null) return
    if (id === null || id === '' || id.length > MAX_ID || (known?.size ?? 0) >= MAX_IDS) this.#byTopic.set(topic, null)
    else if (known === undefined) this.#byTopic.set(topic, new Set([id]))
    else known.add(id)
  }

  /** All of them, in the order in which they came, topic by topic. Nothing is left. */
  takeAll(): Change[] {
    return this.take(Number.POSITIVE_INFINITY)
  }

  /** As many as fit into `bytes` of JSON, at least one; the rest stays. */
  take(bytes: number): Change[] {
    const taken: Change[] = []
    let size = 0
    for (const [topic, ids] of this.#byTopic) {
      for (const id of ids ?? [null]) {
        const change: Change = [topic, id]
        size += Buffer.byteLength(JSON.stringify(change)) + 1
        if (size > bytes && taken.length > 0) return taken
        taken.push(change)
        ids?.delete(id!)
      }
      this.#byTopic.delete(topic)
    }
    return taken
  }
}

/** The next message from `sender` out of what is left to tell; at least one change goes into it. */
export function nextMessage(sender: string, changes: Changes): { readonly text: string; readonly told: Change[] } {
  const told = changes.take(MAX_MESSAGE_BYTES - Buffer.byteLength(JSON.stringify({ from: sender, told: [] })))
  return { text: JSON.stringify({ from: sender, told }), told }
}

/**
 * What a message of another process tells. Nothing where it is ours or no message of the bus: whoever may write to the
 * channel may write anything. Topics of newer processes are passed over.
 */
export function readMessage(text: string, ownSender: string): readonly Change[] {
  if (text.length > MAX_RECEIVED) return []
  const { from, told } = objectIn(text)
  if (typeof from !== 'string' || from === ownSender || !Array.isArray(told) || told.length > MAX_ENTRIES) return []
  return told.filter(isChange)
}

function objectIn(text: string): { readonly from?: unknown; readonly told?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}

function isChange(entry: unknown): entry is Change {
  if (!Array.isArray(entry) || entry.length !== 2) return false
  const [topic, id] = entry as unknown[]
  if (typeof topic !== 'string' || !Object.hasOwn(TOPICS, topic)) return false
  return id === null || (typeof id === 'string' && id !== '' && id.length <= MAX_ID)
}
