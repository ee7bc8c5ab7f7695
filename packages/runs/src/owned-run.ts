import type { Scope } from '@parley/contract'
import type { EffectLedger, TimelineFact, TimelineItem, Utterance } from '@parley/conversation'
import { BufferedEmitter, type Ms, type Random, randomToken, type Time, type UnixMs } from '@parley/kernel'
import {
  countTransfer,
  type Database,
  type Finish,
  type JsonObject,
  type Measurement,
  type OwnerEvent,
  type RunContact,
  type RunEnding,
  type RunMove,
  type RunOwnership,
  runLedger,
  storeDial,
  storeDialog,
} from '@parley/store'
import type { RunJournal } from './journal/run-journal.ts'
import { OwnedRunLedger } from './owned-run-ledger.ts'
import type { RunCommand } from './protocol.ts'
import { checkpointOf, documentsOf } from './run-entry.ts'
import { RunWriter } from './run-writer.ts'
import { UsageTotals } from './usage-totals.ts'

export interface OwnedRunOptions {
  readonly database: Database
  readonly scope: Scope
  readonly owned: RunOwnership
  /** Of the timeline. */
  readonly lastSeq: number
  /** Where what the database does not take waits; null: in memory. */
  readonly journal: RunJournal | null
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  /** There is news of the run in the database. */
  readonly onWritten: () => void
  /** A webhook of the run is due. */
  readonly onAnnounced: () => void
  /** Whether the run is still ours, by renewing its lease. */
  readonly isStillOwned: () => Promise<boolean>
  readonly onTrouble: (error: unknown) => void
  /** The disk does not take what waits (the error), or takes it again (null). */
  readonly onJournal: (trouble: unknown) => void
  /** Finished, released or lost: nobody has it here any more. */
  readonly onOver: () => void
}

/** Of a database that does not answer, before what cannot wait goes to disk. */
const DISK_AFTER_MS: Ms = 500

/** How a run ended; what it used and its transcript are kept with it. */
export type OwnedRunEnding = Omit<RunEnding, 'measurements'>

/**
 * A run in this process's hands, from its claim to its end. What is told is written in order, soon, under the run's fence;
 * nothing but `storeDial` and `finish` waits for the database. Once the run is lost nothing is written any more.
 */
export class OwnedRun {
  readonly scope: Scope
  readonly owned: RunOwnership
  /** What acts on somebody is committed before it is sent: throws `ledger_unavailable`, `run_lost`. */
  readonly ledger: EffectLedger
  readonly #options: OwnedRunOptions
  readonly #writer: RunWriter
  readonly #used = new UsageTotals()
  #utterances: readonly Utterance[] = []
  readonly #commands = new BufferedEmitter<RunCommand>({
    onListenerError: error => {
      throw error
    },
  })
  #isCancelAsked = false
  #isOver = false

  constructor(options: OwnedRunOptions) {
    this.#options = options
    const { database, scope, owned, journal, random, wallClock, isStillOwned, onTrouble, onJournal } = options
    this.scope = scope
    this.owned = owned
    this.#writer = new RunWriter({
      database,
      scope,
      owned,
      time: options.time,
      wallClock,
      onWritten: options.onWritten,
      onAnnounced: options.onAnnounced,
      isStillOwned,
      onTrouble,
      lastSeq: options.lastSeq,
      journal,
      onJournal,
      onLost: () => this.markLost(),
    })
    this.ledger = new OwnedRunLedger({
      ledger: runLedger(database, scope, owned, () => `effect_${randomToken(random, 24)}`),
      ...{ random, wallClock },
      onInference: effect => this.#writer.add({ type: 'inference', effect }),
      countTransfer: () => database.transaction(scope, tx => countTransfer(tx, scope)),
    })
  }

  get runId(): string {
    return this.owned.run_id
  }

  /** Who has the run hears what is asked of it; also what was asked before. One listener. */
  onCommand(listener: (command: RunCommand) => void): void {
    this.#commands.listen(listener)
  }

  /** Puts what happened into the timeline; a change of state moves the run as well. */
  append(item: TimelineItem): void {
    if (item.kind === 'state') return this.#move(item)
    this.#writer.add({ type: 'item', item })
    if (item.kind === 'contact') this.contact(item.contact as RunContact)
  }

  /** As `tell`, of something that happens now. `offset_ms`: on the call's clock; null before media and in text. */
  note(fact: TimelineFact, offset_ms: Ms | null = null): void {
    this.append({ seq: 0, at: new Date(this.#options.wallClock()).toISOString(), offset_ms, ...fact })
  }

  contact(contact: RunContact): void {
    this.#writer.add({ type: 'move', move: { contact } })
  }

  /** What was said so far, as the transcript shows it until the end. */
  checkpoint(utterances: readonly Utterance[]): void {
    this.#utterances = [...utterances]
    this.#writer.add({ type: 'checkpoint', utterances: this.#utterances })
  }

  addUsage(measurement: Measurement): void {
    this.#used.add(measurement)
  }

  /** Tells the agent's webhook, once. After the state that it is about. */
  announce(event: OwnerEvent): void {
    this.#writer.add({ type: 'announce', event, event_id: crypto.randomUUID() })
  }

  /** Before an INVITE leaves. Throws `run_lost`, and what the database throws while it is away: then nothing may leave. */
  async storeDial(dial: JsonObject): Promise<'stored' | 'lost'> {
    const { database, scope, owned } = this.#options
    return database.transaction(scope, tx => storeDial(tx, scope, owned, dial))
  }

  /**
   * Keeps what a BYE needs: in the database, or in the run's journal on disk, from where it comes to the database, where
   * that is away or takes longer than half a second. Resolves when it is kept, when neither takes it, or after `withinMs`;
   * never rejects.
   */
  async persistDialog(dialog: JsonObject, withinMs: Ms = 2000): Promise<void> {
    const { database, scope, owned, time, journal } = this.#options
    const stored = database
      .transaction(scope, tx => storeDialog(tx, scope, owned, dialog))
      .then(
        // A lease that only wants to be renewed is renewed by the writer.
        answer => answer === 'stored',
        () => false,
      )
    const patienceMs = journal === null ? withinMs : Math.min(DISK_AFTER_MS, withinMs)
    if (await inTime(time, patienceMs, stored)) return
    const kept = this.#writer.persist({ type: 'dialog', dialog }).then(() => true)
    await inTime(time, withinMs - patienceMs, kept)
  }

  /**
   * Ends the run: its last state, transcript, usage, webhooks, and the permit given back, all or nothing; after all that
   * was told before. Tries while the database is away. Never rejects.
   */
  async finish(ending: OwnedRunEnding): Promise<Finish> {
    const now = new Date(this.#options.wallClock()).toISOString()
    const utterances = documentsOf(this.#utterances)
    const transcript =
      this.#utterances.length === 0
        ? undefined
        : {
            state: this.#writer.dropped === 0 ? ('complete' as const) : ('partial' as const),
            utterances,
            checkpoint: checkpointOf(this.#utterances, now),
            content: null,
          }
    const finish = await this.#writer.finish({
      ending: { ...ending, measurements: this.#used.measurements },
      transcript,
    })
    this.#over()
    return finish
  }

  /** Told by the leases. */
  deliver(command: RunCommand): void {
    if (this.#isOver) return
    if (command.type === 'cancel') {
      if (this.#isCancelAsked) return
      this.#isCancelAsked = true
    }
    this.#commands.emit(command)
  }

  /** Told by the leases and the writer: the run is in other hands. */
  markLost(): void {
    if (this.#isOver) return
    this.deliver({ type: 'lost' })
    this.#writer.abandon()
    this.#over()
  }

  #move(item: TimelineItem & { readonly kind: 'state' }): void {
    const { state, phone_state } = item
    const move: RunMove = {
      ...((state === 'running' || state === 'ending') && { state }),
      ...(phone_state !== null && { phone_state: phone_state as NonNullable<RunMove['phone_state']> }),
    }
    this.#writer.add({ type: 'move', move })
    this.#writer.add({ type: 'item', item })
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.onOver()
  }
}

/** What it resolves to; false after `ms`. */
async function inTime(time: Time, ms: Ms, work: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = time.at(time.now() + ms, () => late.resolve(false))
  const answer = await Promise.race([work, late.promise])
  timer.cancel()
  return answer
}
