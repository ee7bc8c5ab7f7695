import type { Scope } from '@parley/contract'
import {
  type EffectLedger,
  type Redaction,
  RunRedaction,
  type TimelineFact,
  type TimelineItem,
  type Utterance,
} from '@parley/conversation'
import { BufferedEmitter, type Ms, type Random, randomToken, type Time, type UnixMs } from '@parley/kernel'
import {
  countTransfer,
  type Database,
  type Finish,
  type InferenceEffect,
  type JsonObject,
  type Measurement,
  type OwnerEvent,
  type RunAnsweredBy,
  type RunContact,
  type RunEnding,
  type RunInputs,
  type RunMove,
  type RunOwnership,
  runLedger,
  type Sealer,
  type SipMessageRow,
  storeDial,
  storeDialog,
  storeInputs,
} from '@parley/store'
import type { RunJournal } from './journal/run-journal.ts'
import { OwnedRunLedger } from './owned-run-ledger.ts'
import type { RunCommand } from './protocol.ts'
import { checkpointOf, documentsOf } from './run-entry.ts'
import type { RunTrace } from './run-trace.ts'
import { RunWriter } from './run-writer.ts'
import { UsageTotals } from './usage-totals.ts'

interface OwnedRunOptions {
  readonly database: Database
  readonly scope: Scope
  readonly owned: RunOwnership
  /** Number of the timeline's last item. */
  readonly lastSeq: number
  /** Stores on disk what the database cannot take; null: memory. */
  readonly journal: RunJournal | null
  /** Seals the log of the run's inputs; null: none is stored. */
  readonly sealer: Sealer | null
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  /** Something of the run was committed. */
  readonly onWritten: () => void
  /** A webhook of the run is due. */
  readonly onAnnounced: () => void
  /** Whether this process still owns the run; asks by renewing its lease. */
  readonly isStillOwned: () => Promise<boolean>
  readonly onTrouble: (error: unknown) => void
  /** Writing to the journal failed (the error), or succeeds again (null). */
  readonly onJournal: (trouble: unknown) => void
  /** The run was finished, released or lost. */
  readonly onOver: () => void
  /** The spans of the run; null: tracing is off. */
  readonly trace: RunTrace | null
}

/** A write that must not be lost goes to the journal when the database has not answered for this long. */
const DISK_AFTER_MS: Ms = 500
/** The end of a run waits this long for its log of inputs. */
const INPUTS_WITHIN_MS: Ms = 2000

/** How a run ended; usage and transcript are added to it. */
export type OwnedRunEnding = Omit<RunEnding, 'measurements'>

/**
 * A run that this process owns, from its claim to its end. Entries are written behind the call, in order, under the run's
 * fence; only `storeDial` and `finish` wait for the database. Once the run is lost nothing more is written.
 */
export class OwnedRun {
  readonly scope: Scope
  readonly owned: RunOwnership
  /** Effects are committed before they are sent: throws `ledger_unavailable`, `run_lost`. */
  readonly ledger: EffectLedger
  readonly #options: OwnedRunOptions
  readonly #writer: RunWriter
  readonly #used = new UsageTotals()
  #utterances: readonly Utterance[] = []
  #redaction: RunRedaction | null = null
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
      random,
      wallClock,
      onInference: effect => this.#addInference({ ...effect, usage: this.#used.takeNew() }),
      countTransfer: () => database.transaction(scope, tx => countTransfer(tx, scope), 'one-trip'),
    })
  }

  get runId(): string {
    return this.owned.run_id
  }

  /** Calls the listener with each command for this run, including those that came before. One listener. */
  onCommand(listener: (command: RunCommand) => void): void {
    this.#commands.listen(listener)
  }

  /**
   * Takes personal data out of all that is stored from now on: timeline, transcript, and so webhooks and analyses, and SIP messages. Called
   * before the run's conversation begins; a second call only adds its `variables`, whose values may be names, and its `history`: what was
   * said in the run that this one continues.
   */
  redact(
    redaction: Redaction | undefined,
    variables: Readonly<Record<string, string>> = {},
    history: Parameters<RunRedaction['saidBefore']>[0] = [],
  ): void {
    if (redaction === undefined) return
    this.#redaction ??= new RunRedaction(redaction)
    this.#redaction.variables(variables)
    this.#redaction.saidBefore(history)
  }

  /** Personal data is taken out of what is stored. */
  get isRedacted(): boolean {
    return this.#redaction !== null
  }

  /** An item of the run as the timeline has it. */
  asStored(item: TimelineItem): TimelineItem {
    return this.#redaction?.item(item) ?? item
  }

  /** Appends an item to the timeline; a change of state moves the run as well. */
  append(given: TimelineItem): void {
    const item = this.asStored(given)
    this.#options.trace?.item(item)
    if (item.kind === 'state') return this.#move(item)
    this.#writer.add({ type: 'item', item })
    if (item.kind === 'contact') this.contact(item.contact as RunContact, item.class as RunAnsweredBy | null)
  }

  /** As `append`, for something that happens now. `offset_ms`: on the call's clock; null before media and in text. */
  note(fact: TimelineFact, offset_ms: Ms | null = null): void {
    this.append({ seq: 0, at: new Date(this.#options.wallClock()).toISOString(), offset_ms, ...fact })
  }

  contact(contact: RunContact, answered_by: RunAnsweredBy | null): void {
    this.#writer.add({ type: 'move', move: { contact, ...(answered_by !== null && { answered_by }) } })
  }

  /** Stores the utterances so far, which the transcript shows until the run ends. */
  checkpoint(utterances: readonly Utterance[]): void {
    this.#utterances = this.#redaction?.utterances(utterances) ?? [...utterances]
    this.#writer.add({ type: 'checkpoint', utterances: this.#utterances })
  }

  /** Resolves when everything so far is in the database, or the run is lost; waits while the database is away. Never rejects. */
  written(): Promise<void> {
    return this.#writer.written()
  }

  addUsage(measurement: Measurement): void {
    this.#used.add(measurement)
  }

  /** Stores a SIP message of the run's call, without credentials and keys. `place`: from 1, in the order of the messages. */
  addSipMessage(given: SipMessageRow): void {
    const text = given.message
    const message = this.#redaction && text !== null ? { ...given, message: this.#redaction.sipMessage(text) } : given
    this.#writer.add({ type: 'sip', message })
  }

  /** Announces an event to the agent's webhook, once. Call it after the change of state that it reports. */
  announce(event: OwnerEvent): void {
    this.#writer.add({ type: 'announce', event, event_id: crypto.randomUUID() })
  }

  /** Before an INVITE leaves. Throws `run_lost`, and what the database throws while it is away: then nothing may leave. */
  async storeDial(dial: JsonObject): Promise<'stored' | 'lost'> {
    const { database, scope, owned } = this.#options
    return database.transaction(scope, tx => storeDial(tx, scope, owned, dial), 'one-trip')
  }

  /**
   * Stores what a BYE needs: in the database or, if that is away or takes longer than half a second, in the run's journal on
   * disk, which is replayed into the database later. Resolves when it is stored, when both fail, or after `withinMs`; never
   * rejects.
   */
  async persistDialog(dialog: JsonObject, withinMs: Ms = 2000): Promise<void> {
    const { database, scope, owned, time, journal } = this.#options
    const stored = database
      .transaction(scope, tx => storeDialog(tx, scope, owned, dialog), 'one-trip')
      .then(
        // If only the lease ended, the writer renews it.
        answer => answer === 'stored',
        () => false,
      )
    const patienceMs = journal === null ? withinMs : Math.min(DISK_AFTER_MS, withinMs)
    if (await inTime(time, patienceMs, stored)) return
    const persisted = this.#writer.persist({ type: 'dialog', dialog }).then(() => true)
    await inTime(time, withinMs - patienceMs, persisted)
  }

  /** Whether the log of the run's inputs is stored. */
  get storesInputs(): boolean {
    return this.#options.sealer !== null
  }

  /** Stores the log of the run's inputs before it is finished. Best effort: resolves after two seconds at the latest; never rejects. */
  async storeInputs(inputs: RunInputs): Promise<void> {
    const { database, scope, owned, sealer, time } = this.#options
    if (sealer === null || this.#isOver) return
    const stored = database
      .transaction(scope, tx => storeInputs(tx, scope, owned, inputs, sealer), 'one-trip')
      .then(
        () => true,
        () => false,
      )
    await inTime(time, INPUTS_WITHIN_MS, stored)
  }

  /**
   * Ends the run: its last state, transcript, usage, webhooks, and the permit's release, all or nothing, after all earlier
   * entries. Retries while the database is away. Never rejects.
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
    this.#options.trace?.ended(ending)
    const finish = await this.#writer.finish({
      ending: { ...ending, measurements: this.#used.measurements },
      transcript,
    })
    this.#over()
    return finish
  }

  /** Called by the leases. */
  deliver(command: RunCommand): void {
    if (this.#isOver) return
    if (command.type === 'cancel') {
      if (this.#isCancelAsked) return
      this.#isCancelAsked = true
    }
    this.#commands.emit(command)
  }

  /** Called by the leases and the writer: another process owns the run. */
  markLost(): void {
    if (this.#isOver) return
    this.deliver({ type: 'lost' })
    this.#writer.abandon()
    this.#over()
  }

  #addInference(effect: InferenceEffect): void {
    this.#writer.add({ type: 'inference', effect })
    this.#options.trace?.inference(effect)
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

/** The result of `work`; false if it takes longer than `ms`. */
async function inTime(time: Time, ms: Ms, work: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = time.at(time.now() + ms, () => late.resolve(false))
  const answer = await Promise.race([work, late.promise])
  timer.cancel()
  return answer
}
