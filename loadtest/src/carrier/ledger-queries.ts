import type { Ms } from '@parley/kernel'
import type { CarrierDirection, CarrierLedgerEntry } from './ledger-entry.ts'

/** One call of the ledger; instants of events that did not happen are null. */
export interface LedgerCall {
  readonly call: string
  readonly direction: CarrierDirection
  /** Row that opened it: the first `invite`, or the last `challenged` of a call that was never accepted. */
  readonly opening: CarrierLedgerEntry
  readonly invitedAt: Ms | null
  readonly answeredAt: Ms | null
  readonly endedAt: Ms | null
  /** First BYE or CANCEL in either direction, or final refusal. */
  readonly releasedAt: Ms | null
  /** When it was live, half-open [from, to); `to` is Infinity while it is. More than one where a CANCEL crossed a 2xx. */
  readonly live: readonly (readonly [from: Ms, to: Ms])[]
  /** From the first INVITE that was accepted until the end was confirmed; empty if none was accepted. */
  readonly held: readonly (readonly [from: Ms, to: Ms])[]
  readonly rows: readonly CarrierLedgerEntry[]
}

/**
 * Until when a call counts: "released" by the first BYE, CANCEL or refusal; "confirmed" when that was answered, which is how
 * long its sender must hold the call's permit.
 */
type CountedUntil = 'released' | 'confirmed'

type CallFilter = (call: LedgerCall) => boolean

/** From `atMs` on, until the next step, `calls` calls are live. */
interface ConcurrencyStep {
  readonly atMs: Ms
  readonly calls: number
}

/**
 * Queries over a ledger. A call is live from the accepted INVITE to the first BYE (either way), CANCEL or
 * final refusal: as carriers count channels. Every query takes a filter; default: calls to the carrier.
 */
export class LedgerQueries {
  readonly #calls: readonly LedgerCall[]

  constructor(entries: Iterable<CarrierLedgerEntry>) {
    const rows = new Map<string, CarrierLedgerEntry[]>()
    for (const entry of entries) {
      const of = rows.get(entry.call)
      if (of === undefined) rows.set(entry.call, [entry])
      else of.push(entry)
    }
    this.#calls = [...rows.values()].map(tell)
  }

  calls(filter: CallFilter = toCarrier): readonly LedgerCall[] {
    return this.#calls.filter(filter)
  }

  /** Calls that are live at `atMs` of the carrier's monotonic clock. */
  liveAt(atMs: Ms, filter?: CallFilter, until: CountedUntil = 'released'): readonly LedgerCall[] {
    return this.calls(filter).filter(call => timesOf(call, until).some(([from, to]) => from <= atMs && atMs < to))
  }

  /** Live calls over time, one step per instant at which the number changes. A call that ends in an instant makes room for one that begins in it. */
  concurrency(filter?: CallFilter, until: CountedUntil = 'released'): readonly ConcurrencyStep[] {
    const changes = new Map<Ms, number>()
    const add = (at: Ms, by: number) => {
      if (at !== Number.POSITIVE_INFINITY) changes.set(at, (changes.get(at) ?? 0) + by)
    }
    for (const call of this.calls(filter)) {
      for (const [from, to] of timesOf(call, until)) {
        add(from, 1)
        add(to, -1)
      }
    }
    let calls = 0
    return [...changes]
      .filter(([, by]) => by !== 0)
      .sort(([a], [b]) => a - b)
      .map(([atMs, by]) => {
        calls += by
        return { atMs, calls }
      })
  }

  /** The most calls that were ever live at once, and since when. `atMs` is null when none ever was. */
  maxConcurrent(filter?: CallFilter, until?: CountedUntil): { readonly calls: number; readonly atMs: Ms | null } {
    let most: { readonly calls: number; readonly atMs: Ms | null } = { calls: 0, atMs: null }
    for (const step of this.concurrency(filter, until)) if (step.calls > most.calls) most = step
    return most
  }

  /** When more than `cap` calls were live, with those calls: one entry per rise above the cap. */
  over(
    cap: number,
    filter?: CallFilter,
    until?: CountedUntil,
  ): readonly { readonly atMs: Ms; readonly calls: readonly LedgerCall[] }[] {
    let above = false
    return this.concurrency(filter, until).flatMap(({ atMs, calls }) => {
      const rises = calls > cap && !above
      above = calls > cap
      return rises ? [{ atMs, calls: this.liveAt(atMs, filter, until) }] : []
    })
  }

  /**
   * Calls of one run that were dialled more than once. `runOf` says which run a call belongs to, undefined: none. An INVITE
   * that was challenged and sent again with credentials is one call: Call-ID and From tag stay.
   */
  duplicates(
    runOf: (call: LedgerCall) => string | undefined,
    filter?: CallFilter,
  ): ReadonlyMap<string, readonly LedgerCall[]> {
    const runs = new Map<string, LedgerCall[]>()
    for (const call of this.calls(filter)) {
      const run = runOf(call)
      if (run === undefined) continue
      const of = runs.get(run)
      if (of === undefined) runs.set(run, [call])
      else of.push(call)
    }
    return new Map([...runs].filter(([, calls]) => calls.length > 1))
  }

  /** Accepted calls whose end was neither confirmed nor given up. Query it when all calls should be over. */
  withoutEnd(filter?: CallFilter): readonly LedgerCall[] {
    return this.calls(filter).filter(call => call.invitedAt !== null && call.endedAt === null)
  }

  /** Calls, also challenged ones, to other numbers than these (user parts of Request-URIs). */
  outside(numbers: ReadonlySet<string>, filter?: CallFilter): readonly LedgerCall[] {
    return this.calls(filter).filter(call => !numbers.has(call.opening.called))
  }

  /** The REFERs of the engine, in order: the target's number, and the final statuses of the REFER and of the call. */
  transfers(filter: CallFilter = () => true): readonly LedgerTransfer[] {
    return this.calls(filter).flatMap(transfersOf)
  }

  /** Answered calls in which neither side had sent a BYE `afterMs` after the answer, seen from `nowMs`. */
  withoutBye(afterMs: Ms, nowMs: Ms, filter?: CallFilter): readonly LedgerCall[] {
    return this.calls(filter).filter(call => {
      if (call.answeredAt === null) return false
      const deadline = call.answeredAt + afterMs
      const bye = firstAt(call.rows, 'bye-received', 'bye-sent')
      return deadline <= nowMs && (bye === null || bye > deadline)
    })
  }

  /** Calls that are live at `nowMs` although the far end's media stopped `forMs` ago or longer: its owner is probably dead. */
  deadAir(forMs: Ms, nowMs: Ms, filter?: CallFilter): readonly LedgerCall[] {
    return this.liveAt(nowMs, filter).filter(({ rows }) => {
      const media = rows.findLast(row => row.kind === 'media-first-packet' || row.kind === 'media-last-packet')
      return media?.kind === 'media-last-packet' && media.at_ms <= nowMs - forMs
    })
  }
}

interface LedgerTransfer {
  readonly call: LedgerCall
  readonly atMs: Ms
  /** Null where Refer-To named none. */
  readonly target: string | null
  /** Null: none yet. */
  readonly referStatus: number | null
  /** Of the carrier's call to the target; null: none yet, or it made none. */
  readonly finalStatus: number | null
}

/** Groups calls by the number that was called. */
export function byCalled(call: LedgerCall): string {
  return call.opening.called
}

/** Groups calls by the `X-` header that names the run. */
export function runInHeader(name: string): (call: LedgerCall) => string | undefined {
  const key = name.toLowerCase()
  return call => call.opening.headers?.[key]
}

function toCarrier(call: LedgerCall): boolean {
  return call.direction === 'to-carrier'
}

function firstAt(rows: readonly CarrierLedgerEntry[], ...kinds: readonly CarrierLedgerEntry['kind'][]): Ms | null {
  return rows.find(row => kinds.includes(row.kind))?.at_ms ?? null
}

function tell(rows: readonly CarrierLedgerEntry[]): LedgerCall {
  const invite = rows.find(row => row.kind === 'invite')
  return {
    call: rows[0]!.call,
    direction: rows[0]!.direction,
    opening: invite ?? rows.findLast(row => row.kind === 'challenged') ?? rows[0]!,
    invitedAt: invite?.at_ms ?? null,
    answeredAt: firstAt(rows, 'answered'),
    endedAt: firstAt(rows, 'ended'),
    releasedAt: firstAt(rows, 'bye-received', 'bye-sent', 'cancel', 'refused'),
    live: liveTimes(rows),
    held: invite === undefined ? [] : [[invite.at_ms, firstAt(rows, 'ended') ?? Number.POSITIVE_INFINITY]],
    rows,
  }
}

function timesOf({ live, held }: LedgerCall, until: CountedUntil): LedgerCall['live'] {
  return until === 'released' ? live : held
}

function transfersOf(call: LedgerCall): LedgerTransfer[] {
  return call.rows.flatMap((row, index) => {
    if (row.kind !== 'refer-received') return []
    const later = call.rows.slice(index)
    return {
      call,
      atMs: row.at_ms,
      target: row.target ?? null,
      referStatus: later.find(({ kind, branch }) => kind === 'refer-answered' && branch === row.branch)?.status ?? null,
      finalStatus: later.find(({ kind, branch }) => kind === 'transferred' && branch === row.branch)?.status ?? null,
    }
  })
}

function liveTimes(rows: readonly CarrierLedgerEntry[]): readonly (readonly [Ms, Ms])[] {
  const times: (readonly [Ms, Ms])[] = []
  let since: Ms | null = null
  let answered = false
  const close = (at: Ms) => {
    if (since !== null) times.push([since, at])
    since = null
  }
  for (const { kind, at_ms } of rows) {
    if (kind === 'invite') {
      // Sent again in one dialog, with other credentials or to another address: live since the first.
      since ??= at_ms
    } else if (kind === 'answered') {
      answered = true
      // A CANCEL that came too late does not end the call.
      since ??= at_ms
    } else if (kind === 'cancel' ? !answered : ['bye-received', 'bye-sent', 'refused', 'ended'].includes(kind)) {
      close(at_ms)
    }
  }
  close(Number.POSITIVE_INFINITY)
  return times
}
