import { type Ms, type Random, SeededRandom, type Time, type Timer, type UnixMs } from '@parley/kernel'
import type { TimelineFact } from '../timeline.ts'
import { audioWith, decisionsWith, digestOf, FINALIZED, type InputLogWriter, JOINED, NESTED } from './input-log.ts'
import type { Inputs, LoggedRequest, Place } from './inputs.ts'
import { noticeable } from './noticeable.ts'
import { failureOf } from './stored-failure.ts'

/** Microseconds. */
const TOGETHER = 1000

interface RecorderOptions {
  readonly log: InputLogWriter
  readonly time: Time
  /** Time of the log's start; see `microseconds`. */
  readonly startedAtMs: Ms
  readonly startedAt: UnixMs
  readonly seed: number
}

/**
 * Logs each input of a conversation and passes it on. While the conversation reacts to an input its clock stands still, so that a replay
 * needs one time for each input. Writes nothing while audio flows and nothing else happens.
 */
export class InputRecorder implements Inputs {
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  readonly #log: InputLogWriter
  readonly #base: Time
  readonly #start: Ms
  /** In the order of their arming. */
  readonly #timers = new Set<{ readonly deadline: Ms }>()
  #now: Ms
  #depth = 0
  #place = 0
  #isJoined = false
  #calls = 0
  #decisions = 0
  #storedDecisions = 0
  #noticed = 0
  #audio = 0
  #tracked: (() => number | null) | null = null
  #storedTracked: number | null = null

  constructor({ log, time, startedAtMs, startedAt, seed }: RecorderOptions) {
    this.#log = log
    this.#base = time
    this.#start = startedAtMs
    this.#now = startedAtMs
    this.random = new SeededRandom(seed)
    this.wallClock = () => startedAt + Math.round(this.#now - startedAtMs)
    this.time = {
      now: () => this.#now,
      at: (deadline, callback) => this.#arm(time, deadline, callback),
    }
  }

  /** A clock may fire timers of one deadline in another order than that of their arming: the log then says which one it was. */
  #arm(time: Time, deadline: Ms, callback: () => void): Timer {
    const armed = { deadline }
    this.#timers.add(armed)
    const timer = time.at(deadline, () => {
      let before = 0
      for (const other of this.#timers) {
        if (other === armed) break
        if (other.deadline === deadline) before++
      }
      this.#timers.delete(armed)
      this.#enter('timer', before === 0 ? deadline : [deadline, before], callback, deadline)
    })
    return {
      cancel: () => {
        this.#timers.delete(armed)
        timer.cancel()
      },
    }
  }

  input<Value>(kind: string, handle: (value: Value) => void): (value: Value) => void {
    return value => this.#enter(kind, value, () => handle(value))
  }

  read<Value>(kind: string, compute: () => Value): Value {
    const value = compute()
    this.#log.add(['?', kind, value], this.#elapsed)
    return value
  }

  async call<Answer, Progress = never>(
    request: LoggedRequest<Answer>,
    start: (progress: (value: Progress) => void) => Promise<Answer>,
    onProgress: (value: Progress) => void = () => {},
  ): Promise<Answer> {
    const id = this.#issue(request)
    try {
      const answer = await start(value => this.#enter('progress', [id, value], () => onProgress(value)))
      this.#arrive([id, 'answer', request.codec.encode(answer)])
      return answer
    } catch (error) {
      this.#arrive([id, 'failed', failureOf(error)])
      throw error
    }
  }

  async *stream<Answer>(
    request: LoggedRequest<Answer>,
    start: () => AsyncIterable<Answer>,
  ): AsyncGenerator<Answer, void, undefined> {
    const id = this.#issue(request)
    let source: AsyncIterator<Answer> | null = null
    try {
      source = start()[Symbol.asyncIterator]()
      for (;;) {
        const next = await source.next()
        if (next.done === true) break
        this.#arrive([id, 'answer', request.codec.encode(next.value)])
        yield next.value
      }
      source = null
      this.#arrive([id, 'end'])
    } catch (error) {
      source = null
      this.#arrive([id, 'failed', failureOf(error)])
      throw error
    } finally {
      void source?.return?.()?.then(undefined, () => {})
    }
  }

  track({ read }: { readonly read: () => number | null }): void {
    this.#tracked = read
  }

  inside(place: Place, act: () => void): void {
    const before = this.#place
    this.#place = place === 'finalize' ? FINALIZED : 0
    act()
    if (this.#depth > 0) this.#noteTracked()
    this.#place = before
  }

  decided(decision: unknown): void {
    this.#decisions = decisionsWith(decision, this.#decisions)
  }

  sent(audio: Int16Array): void {
    this.decided(['play', audio.length])
    this.#audio = audioWith(audio, this.#audio)
  }

  hold(): void {}

  happened(fact: TimelineFact): void {
    this.decided(fact)
    const noticed = noticeable(fact)
    if (noticed !== null) this.#noticed = decisionsWith(noticed, this.#noticed)
  }

  /** Writes the digest of the last decisions. */
  close(): void {
    if (this.#decisions === this.#storedDecisions) return
    this.#storedDecisions = this.#decisions
    this.#log.add(['=', this.#decisions, this.#noticed, this.#audio], this.#elapsed)
  }

  get #elapsed(): Ms {
    return this.#now - this.#start
  }

  /** `notBefore`: a clock that is read in microseconds may seem to be before the deadline that it has reached. */
  #enter(kind: string, value: unknown, handle: () => void, notBefore: Ms = 0): void {
    const flags = (this.#depth > 0 ? NESTED | this.#place : 0) | (this.#isJoined ? JOINED : 0)
    if (flags === 0) this.close()
    this.#write(kind, flags, value, notBefore)
    if (!this.#isJoined) {
      this.#isJoined = true
      queueMicrotask(() => {
        this.#isJoined = false
      })
    }
    this.#depth++
    try {
      handle()
    } finally {
      this.#depth--
    }
  }

  /** An answer of a service has come: the conversation goes on with it when the promise resolves. */
  #arrive(value: readonly unknown[]): void {
    this.#write('answer', 0, value)
  }

  #write(kind: string, flags: number, value: unknown, notBefore: Ms = 0): void {
    this.#noteTracked()
    const instant = Math.max(Math.round(this.#base.now() * 1000), Math.ceil(notBefore * 1000))
    const since = Math.max(0, instant - Math.round(this.#now * 1000))
    // Answers that come together have one time, in whatever order the promises behind them resolve.
    const passed = kind === 'answer' && since < TOGETHER ? 0 : since
    this.#now = later(this.#now, passed)
    this.#log.add(['>', kind, passed, flags, value], this.#elapsed)
  }

  #noteTracked(): void {
    const value = this.#tracked?.() ?? null
    if (value === this.#storedTracked) return
    this.#storedTracked = value
    this.#log.add(['o', value, this.#depth > 0 ? NESTED | this.#place : 0], this.#elapsed)
  }

  #issue<Answer>({ kind, request }: LoggedRequest<Answer>): number {
    this.#log.add(['!', kind, digestOf(request)], this.#elapsed)
    return ++this.#calls
  }
}

/** A time in whole microseconds, as logs have them. */
export function microseconds(ms: Ms): Ms {
  return Math.round(ms * 1000) / 1000
}

/** The clock after this many microseconds. */
export function later(now: Ms, microsecondsLater: number): Ms {
  return (Math.round(now * 1000) + microsecondsLater) / 1000
}
