import type { Topic } from '../protocol.ts'

/** All topics: changes of a topic that is missing here are never received from other processes. */
const TOPICS: Readonly<Record<Topic, true>> = {
  keys: true,
  people: true,
  telephony: true,
  publications: true,
  tenants: true,
  runs: true,
  run_orders: true,
  web_calls: true,
  listeners: true,
}

/** The longest id that is sent; a change with a longer id is sent as a change of its topic. */
const MAX_ID = 256
/** More ids of one topic are sent as one change of the topic. */
export const MAX_IDS = 1000
/** Bytes of a message: NOTIFY takes less than 8000. */
export const MAX_MESSAGE_BYTES = 7800
/** Longer messages come from other programs and are not parsed. */
const MAX_RECEIVED = 16_384
const MAX_ENTRIES = 4096

/** One change; id null: anything of the topic may have changed. */
export type Change = readonly [topic: Topic, id: string | null]

/** Pending changes, each once however often it was added; their number is bounded. */
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

  /** Removes and returns all changes, topic by topic, in the order of arrival. */
  takeAll(): Change[] {
    return this.take(Number.POSITIVE_INFINITY)
  }

  /** Removes and returns as many changes as fit into `bytes` of JSON, at least one. */
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

/** The next message of `sender` with pending changes, at least one. */
export function nextMessage(sender: string, changes: Changes): { readonly text: string; readonly sent: Change[] } {
  const sent = changes.take(MAX_MESSAGE_BYTES - Buffer.byteLength(JSON.stringify({ from: sender, told: [] })))
  return { text: JSON.stringify({ from: sender, told: sent }), sent }
}

/**
 * The changes in a message of another process. Empty for this process's own messages and for invalid ones, since any
 * program may write to the channel. Unknown topics are ignored.
 */
export function readMessage(text: string, ownSender: string): readonly Change[] {
  if (text.length > MAX_RECEIVED) return []
  const { from, told: changes } = objectIn(text)
  if (typeof from !== 'string' || from === ownSender) return []
  if (!Array.isArray(changes) || changes.length > MAX_ENTRIES) return []
  return changes.filter(isChange)
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
