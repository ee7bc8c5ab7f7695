import { type Ms, type Random, SeededRandom, type Time, type Timer, type UnixMs } from '@parley/kernel'
import { ConversationError } from '../errors.ts'
import type { TimelineFact } from '../timeline.ts'
import {
  audioWith,
  decisionsWith,
  digestOf,
  FINALIZED,
  type InputLog,
  JOINED,
  type LogLine,
  NESTED,
} from './input-log.ts'
import { later } from './input-recorder.ts'
import { type AnswerCodec, type Inputs, type LoggedRequest, MODEL_AHEAD, type Place } from './inputs.ts'
import { noticeable } from './noticeable.ts'
import { errorOf, failureOf, type StoredFailure } from './stored-failure.ts'

/**
 * A timer may fire this late on a busy machine; one that is later did not fire in the recorded run. Another flow may wait longer or shorter
 * by this much for the end of the caller's turn without doing anything else.
 */
const LATE_MS: Ms = 1000

/** Where a replay did something else than the recorded run. */
export interface Divergence {
  readonly kind: 'request' | 'reading' | 'decision' | 'audio' | 'timer' | 'input'
  /** Since the start of the log. */
  readonly atMs: Ms
  /** Line of the log, from 0. */
  readonly line: number
  readonly message: string
}

interface ReplayOptions {
  /** `exact`: every decision is compared. `changed`: requests are compared, and what the caller can notice. Default exact. */
  readonly compare?: 'exact' | 'changed'
  /** With `exact`: the samples of the sent audio are compared as well. Default false. */
  readonly comparesAudio?: boolean
  /**
   * With `changed`: what a deterministic service answers to another request than the recorded one. The answers arrive at the times of the
   * recorded ones. Null: the answers are not known, which is a difference. Default null.
   */
  readonly answerTo?: (request: LoggedRequest<never>) => Promise<readonly unknown[] | null>
}

const UNKNOWN_ANSWER = new ConversationError('model_failed', 'the answer of the model to this request is unknown')

interface Pending {
  readonly codec: AnswerCodec<unknown>
  readonly onProgress: (value: unknown) => void
  /** Encoded answers in place of the recorded ones, in order; null: the recorded ones. */
  others: unknown[] | null
  /** Answers that were not asked for yet, and the question that waits. */
  readonly arrived: (readonly unknown[])[]
  waiting: ((answer: readonly unknown[]) => void) | null
}

interface ArmedTimer {
  readonly deadline: Ms
  readonly callback: () => void
}

/**
 * Gives a conversation the inputs of a log, in their order and at their times, in virtual time. It stops at the first request, reading
 * or decision that differs from the recorded one.
 */
export class InputReplay implements Inputs {
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  readonly #log: InputLog
  readonly #options: ReplayOptions
  readonly #handlers = new Map<string, (value: never) => void>()
  readonly #pending = new Map<number, Pending>()
  readonly #timers = new Set<ArmedTimer>()
  readonly #work = new Set<Promise<void>>()
  #restore: (value: number | null) => void = () => {}
  /** Ahead of the recorded time while another flow waits longer for something. */
  #now: Ms
  #recordedNow: Ms
  #at = 0
  /** Lines after the current one that were used already. */
  readonly #consumed = new Set<number>()
  /** By line: the number of requests up to it, which is the id of a request. */
  readonly #requestIds: readonly number[]
  /** Deadlines of the timers that fired. */
  readonly #recordedTimers: ReadonlySet<Ms>
  /** Requests of the log that another flow does not make. */
  readonly #unmade = new Set<number>()
  #decisions = 0
  #noticed = 0
  #audio = 0
  /** The digests of the last comparison and those since. */
  readonly #since: { readonly decisions: number; readonly audio: number }[] = [{ decisions: 0, audio: 0 }]
  #divergence: Divergence | null = null

  constructor(log: InputLog, options: ReplayOptions = {}) {
    const { startedAtMs, startedAt, seed } = log.header
    this.#log = log
    let requests = 0
    this.#requestIds = log.lines.map(line => (line[0] === '!' ? ++requests : requests))
    this.#recordedTimers = new Set(
      log.lines.flatMap(line => (line[0] === '>' && line[1] === 'timer' ? [firedTimer(line[4]).deadline] : [])),
    )
    this.#options = options
    this.#now = startedAtMs
    this.#recordedNow = startedAtMs
    this.random = new SeededRandom(seed)
    this.wallClock = () => startedAt + Math.round(this.#now - startedAtMs)
    this.time = { now: () => this.#now, at: (deadline, callback) => this.#arm({ deadline, callback }) }
  }

  get #isChanged(): boolean {
    return this.#options.compare === 'changed'
  }

  get divergence(): Divergence | null {
    return this.#divergence
  }

  /** Replays to the end of the log or to the first divergence, which it returns; null: there was none. */
  async run(): Promise<Divergence | null> {
    await this.#settle()
    while (this.#divergence === null && this.#at < this.#log.lines.length) {
      const line = this.#log.lines[this.#at]!
      if (line[0] !== '>') this.#outside(line)
      else {
        this.#advance()
        this.#deliver(line)
        const next = this.#log.lines[this.#at]
        const isJoined = next?.[0] === '>' && (next[3] & JOINED) !== 0
        if (!isJoined) await this.#settle()
      }
    }
    return this.#divergence
  }

  input<Value>(kind: string, handle: (value: Value) => void): (value: Value) => void {
    this.#handlers.set(kind, handle)
    return () => {}
  }

  read<Value>(kind: string, compute: () => Value, absent?: Value): Value {
    if (this.#divergence !== null) return compute()
    const line = this.#next('?', kind)
    if (line === null) {
      if (this.#isChanged && absent !== undefined) return absent
      this.#diverge('reading', `"${kind}" was read, and ${described(this.#log.lines[this.#at])} was recorded`)
      return compute()
    }
    return this.#log.lines[line]![2] as Value
  }

  async call<Answer, Progress = never>(
    request: LoggedRequest<Answer>,
    _start: unknown,
    onProgress: (value: Progress) => void = () => {},
  ): Promise<Answer> {
    const pending = this.#issue(request, onProgress as (value: unknown) => void)
    const [, type, value] = await nextOf(pending)
    if (type === 'failed') throw errorOf(value as StoredFailure)
    return request.codec.decode(value)
  }

  async *stream<Answer>(request: LoggedRequest<Answer>): AsyncGenerator<Answer, void, undefined> {
    const pending = this.#issue(request)
    for (;;) {
      const [, type, value] = await nextOf(pending)
      if (type === 'end') return
      if (type === 'failed') throw errorOf(value as StoredFailure)
      yield request.codec.decode(value)
    }
  }

  track({ restore }: { readonly restore: (value: number | null) => void }): void {
    this.#restore = restore
  }

  /** Delivers what arrived at this point inside the handling of another input. */
  inside(place: Place): void {
    const wanted = place === 'finalize' ? NESTED | FINALIZED : NESTED
    const isHere = (flags: number) => (flags & (NESTED | FINALIZED)) === wanted
    while (this.#divergence === null) {
      const line = this.#log.lines[this.#at]
      if (line?.[0] === 'o' && isHere(line[2])) {
        this.#advance()
        this.#restore(line[1])
      } else if (line?.[0] === '>' && isHere(line[3])) {
        this.#advance()
        this.#deliver(line)
      } else return
    }
  }

  decided(decision: unknown): void {
    if (this.#divergence !== null) return
    this.#decisions = decisionsWith(decision, this.#decisions)
    if (!this.#isChanged) this.#since.push({ decisions: this.#decisions, audio: this.#audio })
  }

  sent(audio: Int16Array): void {
    this.#audio = audioWith(audio, this.#audio)
    this.decided(['play', audio.length])
  }

  happened(fact: TimelineFact): void {
    this.decided(fact)
    const noticed = noticeable(fact)
    if (noticed === null || this.#divergence !== null) return
    this.#noticed = decisionsWith(noticed, this.#noticed)
    if (this.#isChanged) this.#since.push({ decisions: this.#noticed, audio: this.#audio })
  }

  hold(work: Promise<void>): void {
    this.#work.add(work)
    void work.finally(() => this.#work.delete(work))
  }

  #arm(timer: ArmedTimer): Timer {
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  /** A line that should have been consumed by what the conversation did. */
  #outside(line: Exclude<LogLine, { 0: '>' }>): void {
    const at = this.#at
    this.#advance()
    if (line[0] === 'o') this.#restore(line[1])
    else if (this.#isDispensable(line)) {
      if (line[0] === '!') this.#unmade.add(this.#requestIds[at]!)
    } else if (line[0] !== '=')
      this.#diverge(line[0] === '!' ? 'request' : 'reading', `${described(line)} was recorded, and did not happen`)
    else this.#compareDecisions(this.#isChanged ? line[2] : line[1], line[3])
  }

  /** The recorded run may have been in the middle of what follows from an input. */
  #compareDecisions(decisions: number, audio: number | undefined): void {
    const at = this.#since.findIndex(since => since.decisions === decisions)
    if (at < 0) return this.#diverge('decision', 'the decisions up to here differ from the recorded ones')
    this.#since.splice(0, at)
    if (this.#options.comparesAudio === true && audio !== undefined && audio !== this.#since[0]!.audio)
      this.#diverge('audio', 'the audio sent up to here differs from the recorded audio')
  }

  #deliver([, kind, passed, , value]: Extract<LogLine, { 0: '>' }>): void {
    this.#recordedNow = later(this.#recordedNow, passed)
    this.#now = Math.max(this.#now, this.#recordedNow)
    if (kind === 'timer') return this.#fire(firedTimer(value))
    this.#checkTimers()
    if (kind === 'answer' || kind === 'progress') return this.#answer(kind, value as readonly [number, ...unknown[]])
    const handle = this.#handlers.get(kind)
    if (handle === undefined) this.#diverge('input', `no part of the conversation takes "${kind}"`)
    else handle(value as never)
  }

  #fire({ deadline, before }: ReturnType<typeof firedTimer>): void {
    const together = [...this.#timers].filter(armed => armed.deadline === deadline)
    const timer = together[before] ?? together[0] ?? this.#timerInPlaceOf(deadline)
    if (timer !== undefined) {
      this.#timers.delete(timer)
      this.#now = Math.max(this.#now, timer.deadline)
      timer.callback()
    } else if (!this.#isChanged) this.#diverge('timer', 'a timer that fired in the recorded run is not armed')
  }

  /** With another flow: the timer nearest to the recorded one that the recorded run did not have. Without one, what followed is compared. */
  #timerInPlaceOf(deadline: Ms): ArmedTimer | undefined {
    if (!this.#isChanged) return undefined
    const distance = (timer: ArmedTimer) => Math.abs(timer.deadline - deadline)
    return [...this.#timers]
      .filter(timer => distance(timer) <= LATE_MS && !this.#recordedTimers.has(timer.deadline))
      .sort((one, other) => distance(one) - distance(other))[0]
  }

  /** With another flow, a timer may be due that the recorded run did not have. */
  #checkTimers(): void {
    if (!this.#isChanged) return
    for (const { deadline } of this.#timers)
      if (deadline < this.#now - LATE_MS)
        return this.#diverge('timer', 'a timer is due that the recorded run did not have')
  }

  #answer(kind: 'answer' | 'progress', value: readonly [number, ...unknown[]]): void {
    const pending = this.#pending.get(value[0])
    if (pending === undefined) {
      if (this.#unmade.has(value[0])) return
      return this.#diverge('input', 'an answer came to a request that was not made')
    }
    if (kind === 'progress') return pending.onProgress(value[1])
    const { others } = pending
    if (others === null || value[1] === 'failed') return arrive(pending, value)
    for (const other of others.splice(0, value[1] === 'end' ? others.length : 1))
      arrive(pending, [value[0], 'answer', other])
    if (value[1] === 'end') arrive(pending, value)
  }

  #issue<Answer>(request: LoggedRequest<Answer>, onProgress: (value: unknown) => void = () => {}): Pending {
    const pending: Pending = {
      codec: request.codec as AnswerCodec<unknown>,
      onProgress,
      others: null,
      arrived: [],
      waiting: null,
    }
    if (this.#divergence !== null) return pending
    if (request.prepare !== undefined) this.hold(request.prepare())
    const line = this.#next('!', request.kind)
    if (line === null) {
      const recorded = described(this.#log.lines[this.#at])
      this.#diverge('request', `a request to "${request.kind}" was made, and ${recorded} was recorded`)
      return pending
    }
    this.#pending.set(this.#requestIds[line]!, pending)
    if (this.#log.lines[line]![2] !== digestOf(request.request)) this.#answerAnew(request, pending)
    return pending
  }

  /**
   * The line of the recorded reading or request of this kind, which is consumed. Where answers came together, what followed from the first
   * may have been recorded after the others: a replay waits longer between them.
   */
  #next(type: '?' | '!', kind: string): number | null {
    for (let at = this.#at; ; at++) {
      const line = this.#log.lines[at]
      if (line === undefined) return null
      if (this.#consumed.has(at)) continue
      if (line[0] === type && line[1] === kind) {
        this.#consumed.add(at)
        this.#skipConsumed()
        return at
      }
      const isTogether = line[0] === '>' && line[1] === 'answer' && line[2] === 0
      if (!isTogether && !this.#isDispensable(line)) return null
    }
  }

  /** Another flow may do without what was asked ahead. */
  #isDispensable(line: LogLine): boolean {
    return this.#isChanged && (line[0] === '?' || line[0] === '!') && line[1] === MODEL_AHEAD
  }

  #advance(): void {
    this.#at++
    this.#skipConsumed()
  }

  #skipConsumed(): void {
    while (this.#consumed.delete(this.#at)) this.#at++
  }

  /** Another request than the recorded one was made: it gets the answers of a deterministic service, or ends the replay. */
  #answerAnew<Answer>(request: LoggedRequest<Answer>, pending: Pending): void {
    const differs = () => this.#diverge('request', `the request to "${request.kind}" differs from the recorded one`)
    if (!this.#isChanged) return differs()
    const isAhead = request.kind === MODEL_AHEAD
    // A turn that would use the failed answer requests it again: only that request is a difference.
    const unknown = () => (isAhead ? arrive(pending, [0, 'failed', failureOf(UNKNOWN_ANSWER)]) : differs())
    const { answerTo } = this.#options
    if (answerTo === undefined) return unknown()
    this.hold(
      answerTo(request as unknown as LoggedRequest<never>).then(
        answers => {
          if (answers === null) unknown()
          else pending.others = answers.map(pending.codec.encode)
        },
        () => differs(),
      ),
    )
  }

  #diverge(kind: Divergence['kind'], message: string): void {
    this.#divergence ??= {
      kind,
      message,
      line: this.#at,
      atMs: Math.round(this.#now - this.#log.header.startedAtMs),
    }
  }

  /** Everything that follows from the input has happened. */
  async #settle(): Promise<void> {
    do {
      await Promise.all(this.#work)
      await new Promise(resolve => setImmediate(resolve))
    } while (this.#work.size > 0)
  }
}

/** The timer that a log says has fired: its deadline, and how many others of that deadline were armed before it and had not fired. */
function firedTimer(value: unknown): { readonly deadline: Ms; readonly before: number } {
  const [deadline, before] = Array.isArray(value) ? (value as [Ms, number]) : [value as Ms, 0]
  return { deadline, before }
}

/** Delivers an answer, the end of the answers or a failure to the reader of the stream. */
function arrive(pending: Pending, answer: readonly unknown[]): void {
  const { waiting } = pending
  pending.waiting = null
  if (waiting === null) pending.arrived.push(answer)
  else waiting(answer)
}

function nextOf(pending: Pending): Promise<readonly unknown[]> {
  const arrived = pending.arrived.shift()
  if (arrived !== undefined) return Promise.resolve(arrived)
  return new Promise(resolve => {
    pending.waiting = resolve
  })
}

function described(line: LogLine | undefined): string {
  if (line === undefined) return 'the end of the log'
  if (line[0] === '?') return `the reading "${line[1]}"`
  if (line[0] === '!') return `a request to "${line[1]}"`
  return line[0] === '>' ? `the input "${line[1]}"` : 'a decision'
}
