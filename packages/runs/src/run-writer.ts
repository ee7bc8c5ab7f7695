import type { Scope } from '@parley/contract'
import type { TimelineItem, Utterance } from '@parley/conversation'
import { type Ms, ParleyError, type Time, type Timer } from '@parley/kernel'
import {
  announce,
  appendEvents,
  type Database,
  type Finish,
  finishRun,
  type InferenceEffect,
  type JsonObject,
  type LastWords,
  moveRun,
  type NewEvent,
  type OwnedRun,
  type OwnerEvent,
  type Queries,
  type RunEnding,
  type RunMove,
  recordInference,
  storeDialog,
  writeCheckpoint,
} from '@parley/store'

/** Nothing waits longer for company before it is written. */
const GATHER_MS: Ms = 20
const FIRST_PAUSE_MS: Ms = 250
const LONGEST_PAUSE_MS: Ms = 2000
/** Items in one transaction. */
const BATCH = 200
/** Waiting to be written; beyond it the oldest items of the timeline are dropped, and the timeline says so. */
const MOST_WAITING = 20_000

type Entry =
  | { readonly type: 'item'; readonly item: TimelineItem }
  | { readonly type: 'move'; readonly move: RunMove }
  | { readonly type: 'dialog'; readonly dialog: JsonObject }
  | { readonly type: 'checkpoint'; readonly utterances: readonly Utterance[] }
  | { readonly type: 'inference'; readonly effect: InferenceEffect }
  | { readonly type: 'announce'; readonly event: OwnerEvent }

export interface RunWriterOptions {
  readonly database: Database
  readonly scope: Scope
  readonly owned: OwnedRun
  /** Of the timeline: the next item is the one after it. */
  readonly lastSeq: number
  readonly time: Time
  readonly wallClock: () => number
  /** Something of the run is in the database that was not there before. */
  readonly onWritten: () => void
  /** Asked when the store says that the run is not ours: whether it is, by renewing its lease. */
  readonly stillOurs: () => Promise<boolean>
  readonly onLost: () => void
  /** The database is there and does not take something: a fault of ours. */
  readonly onTrouble: (error: unknown) => void
}

/**
 * Writes what happens in a run, in order, in batches, each batch one transaction under the run's fence. While the
 * database is away it waits and tries again: a call goes on without it.
 */
export class RunWriter {
  readonly #options: RunWriterOptions
  #waiting: Entry[] = []
  #lastSeq: number
  #dropped = 0
  #timer: Timer | null = null
  #pauseMs: Ms = FIRST_PAUSE_MS
  #refusals = 0
  #isLost = false
  /** The write that is under way, with all that waits. */
  #work: Promise<void> | null = null

  constructor(options: RunWriterOptions) {
    this.#options = options
    this.#lastSeq = options.lastSeq
  }

  add(entry: Entry): void {
    if (this.#isLost) return
    // Only the last of either counts.
    if (entry.type === 'checkpoint' || entry.type === 'dialog')
      this.#waiting = this.#waiting.filter(({ type }) => type !== entry.type)
    this.#waiting.push(entry)
    if (this.#waiting.length > MOST_WAITING) this.#drop()
    this.#schedule(GATHER_MS)
  }

  /** The run is somebody else's: nothing is written any more. */
  abandon(): void {
    this.#isLost = true
    this.#waiting = []
    this.#timer?.cancel()
    this.#timer = null
  }

  /** Writes what waits and the end, all or nothing; tries until it is done or lost. */
  async finish(ending: RunEnding, transcript: LastWords['transcript']): Promise<Finish> {
    while (!this.#isLost) {
      await this.#writeAll()
      if (this.#isLost) break
      try {
        const done = await this.#finish(ending, transcript)
        if (done !== 'lost') return done
        if (!(await this.#options.stillOurs())) break
      } catch (error) {
        this.#noteTrouble(error)
      }
      await this.#pause()
    }
    return 'lost'
  }

  #finish(ending: RunEnding, transcript: LastWords['transcript']): Promise<Finish> {
    const { database, scope, owned } = this.#options
    return database.transaction(scope, async tx => {
      const done = await finishRun(tx, scope, owned, ending, transcript === undefined ? {} : { transcript })
      if (typeof done === 'string') return done
      throw new TypeError('a run without a tail of its timeline has no gap')
    })
  }

  #schedule(inMs: Ms): void {
    if (this.#timer !== null || this.#work !== null || this.#isLost) return
    const { time } = this.#options
    this.#timer = time.at(time.now() + inMs, () => {
      this.#timer = null
      void this.#writeAll()
    })
  }

  /** Resolves when nothing waits, or the run is lost; never rejects. */
  #writeAll(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = null
    this.#work ??= this.#loop().finally(() => {
      this.#work = null
    })
    return this.#work
  }

  async #loop(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#isLost) {
      const batch = this.#waiting.slice(0, BATCH)
      try {
        const written = await this.#write(batch)
        if (written) {
          // What was dropped or replaced meanwhile is not in front any more.
          const done = new Set(batch)
          this.#waiting = this.#waiting.filter(entry => !done.has(entry))
          this.#pauseMs = FIRST_PAUSE_MS
          this.#options.onWritten()
          continue
        }
        if (!(await this.#options.stillOurs())) return this.#lose()
      } catch (error) {
        this.#noteTrouble(error)
      }
      await this.#pause()
    }
  }

  /** False: the store says that the run is not ours. Throws while the database is away. */
  async #write(batch: readonly Entry[]): Promise<boolean> {
    const { database, scope, owned } = this.#options
    const events = batch.flatMap(entry => (entry.type === 'item' ? [eventOf(entry.item)] : []))
    const first = this.#lastSeq + 1
    const answer = await database
      .transaction(scope, async tx => {
        const appended = await appendEvents(tx, scope, owned, first, events)
        if (appended !== 'appended') return appended
        for (const entry of batch) if ((await writeEntry(tx, scope, owned, entry, this.#now())) === 'lost') throw LOST
        return appended
      })
      .catch((error: unknown) => {
        if (error === LOST) return 'lost' as const
        throw error
      })
    if (answer === 'lost') return false
    // A commit whose answer was lost: the whole batch is there.
    if (typeof answer === 'object' && answer.last_seq !== first - 1 + events.length)
      throw new ParleyError('timeline_broken', `item ${answer.last_seq} is there, ${first - 1} was the last`)
    this.#lastSeq = first - 1 + events.length
    return true
  }

  #drop(): void {
    const place = this.#waiting.findIndex(({ type }) => type === 'item')
    if (place >= 0) this.#waiting.splice(place, 1)
    this.#dropped++
  }

  /** How many items of the timeline were dropped because the database was away for too long. */
  get dropped(): number {
    return this.#dropped
  }

  #lose(): void {
    if (this.#isLost) return
    this.abandon()
    this.#options.onLost()
  }

  /** A database that is away comes back. What it will never take must not hold up the run's end for ever. */
  #noteTrouble(error: unknown): void {
    if (error instanceof ParleyError && error.retryable) return
    this.#options.onTrouble(error)
    if (++this.#refusals < MOST_REFUSALS) return
    this.#refusals = 0
    this.#dropped += this.#waiting.splice(0, BATCH).length
  }

  #now(): string {
    return new Date(this.#options.wallClock()).toISOString()
  }

  #pause(): Promise<void> {
    const { time } = this.#options
    const pause = this.#pauseMs
    this.#pauseMs = Math.min(2 * pause, LONGEST_PAUSE_MS)
    return new Promise(resolve => void time.at(time.now() + pause, resolve))
  }
}

/** Of one batch, where the database is there and does not take it. */
const MOST_REFUSALS = 5

/** Rolls the transaction back. */
const LOST = new ParleyError('run_lost', 'the run is in other hands')

async function writeEntry(
  tx: Queries,
  scope: Scope,
  owned: OwnedRun,
  entry: Entry,
  now: string,
): Promise<'written' | 'lost'> {
  switch (entry.type) {
    case 'item':
      return 'written'
    case 'move':
      return (await moveRun(tx, scope, owned, entry.move)) === 'lost' ? 'lost' : 'written'
    case 'dialog':
      return (await storeDialog(tx, scope, owned, entry.dialog)) === 'lost' ? 'lost' : 'written'
    case 'checkpoint':
      return (await writeCheckpoint(
        tx,
        scope,
        owned,
        documentsOf(entry.utterances),
        checkpointOf(entry.utterances, now),
      )) === 'lost'
        ? 'lost'
        : 'written'
    case 'inference':
      await recordInference(tx, scope, owned, [entry.effect])
      return 'written'
    case 'announce':
      return (await announce(tx, scope, owned, entry.event)) === 'lost' ? 'lost' : 'written'
  }
}

export function documentsOf(utterances: readonly Utterance[]): readonly JsonObject[] {
  return utterances.map(utterance => ({ ...utterance, observed_offset_ms: whole(utterance.observed_offset_ms) }))
}

export function checkpointOf(utterances: readonly Utterance[], now: string): JsonObject {
  const last = utterances.findLast(({ end_ms }) => end_ms !== null)
  return {
    segments: utterances.length,
    last_completed_turn_offset_ms: whole(last?.end_ms ?? null) ?? 0,
    published_at: now,
  }
}

function whole(ms: Ms | null): number | null {
  return ms === null ? null : Math.max(0, Math.round(ms))
}

/** Its place in the timeline is given where it is written. */
function eventOf({ seq: _seq, at, offset_ms, kind, ...fields }: TimelineItem): NewEvent {
  return { at, offset_ms: offset_ms === null ? null : Math.max(0, offset_ms), kind, fields: fields as JsonObject }
}
