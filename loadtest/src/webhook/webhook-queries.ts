import type { WebhookEntry } from './webhook-entry.ts'

/** Two events of a run in the order in which they came, which is the wrong one. */
interface Misorder {
  readonly run_id: string
  readonly earlier: WebhookEntry
  readonly later: WebhookEntry
}

/** Order of the events in the life of a run. Other events, also transfers, are ordered by `occurred_at` alone. */
const RANKS: ReadonlyMap<string, number> = new Map([
  ['run.started', 0],
  ['run.ended', 1],
  ['run.analyzed', 2],
])

/** Queries over the requests of a webhook receiver. */
export class WebhookQueries {
  readonly #entries: readonly WebhookEntry[]

  constructor(entries: Iterable<WebhookEntry>) {
    this.#entries = [...entries]
  }

  get entries(): readonly WebhookEntry[] {
    return this.#entries
  }

  /** Requests by run, in the order they came; those that name no run are left out. */
  byRun(): ReadonlyMap<string, readonly WebhookEntry[]> {
    return grouped(this.#entries, entry => entry.run_id)
  }

  /** Events of a run that came, for the first time each, behind one that has to come later; each is told once. Retries prove nothing. */
  misordered(): readonly Misorder[] {
    return [...this.byRun()].flatMap(([run_id, entries]) => {
      const firsts = [...grouped(entries, entry => entry.event_id).values()].map(requests => requests[0]!)
      return firsts.flatMap((later, index) => {
        const earlier = firsts.slice(0, index).find(before => isBehind(before, later))
        return earlier === undefined ? [] : [{ run_id, earlier, later }]
      })
    })
  }

  /** Events that came again although one of their requests before was answered 2xx: by event_id, all their requests. */
  duplicates(): ReadonlyMap<string, readonly WebhookEntry[]> {
    const repeated = [...grouped(this.#entries, entry => entry.event_id)].filter(([, requests]) => {
      const taken = requests.findIndex(({ answer }) => answer !== null && answer >= 200 && answer < 300)
      return taken >= 0 && taken < requests.length - 1
    })
    return new Map(repeated)
  }

  /** Events that were never answered 2xx: by event_id, all their requests. */
  undelivered(): ReadonlyMap<string, readonly WebhookEntry[]> {
    const lost = [...grouped(this.#entries, entry => entry.event_id)].filter(
      ([, requests]) => !requests.some(({ answer }) => answer !== null && answer >= 200 && answer < 300),
    )
    return new Map(lost)
  }

  /** Requests without a valid signature. */
  invalidSignatures(): readonly WebhookEntry[] {
    return this.#entries.filter(({ signature }) => signature !== 'valid')
  }
}

function isBehind(earlier: WebhookEntry, later: WebhookEntry): boolean {
  const [first, second] = [RANKS.get(earlier.event ?? ''), RANKS.get(later.event ?? '')]
  if (first !== undefined && second !== undefined && first !== second) return first > second
  const [before, after] = [Date.parse(earlier.occurred_at ?? ''), Date.parse(later.occurred_at ?? '')]
  return before > after
}

function grouped(
  entries: readonly WebhookEntry[],
  keyOf: (entry: WebhookEntry) => string | null,
): Map<string, WebhookEntry[]> {
  const groups = new Map<string, WebhookEntry[]>()
  for (const entry of entries) {
    const key = keyOf(entry)
    if (key === null) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [entry])
    else group.push(entry)
  }
  return groups
}
