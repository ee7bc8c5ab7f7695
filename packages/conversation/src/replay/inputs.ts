import type { Random, Time, UnixMs } from '@parley/kernel'
import type { TimelineFact } from '../timeline.ts'

/** Converts the answers of a service to JSON and back. */
export interface AnswerCodec<Answer> {
  readonly encode: (answer: Answer) => unknown
  readonly decode: (stored: unknown) => Answer
}

/**
 * The kind of the readings and requests of a model that is asked before the caller's turn is certainly over: its answer may go unused, and
 * a replay against another flow does without it.
 */
export const MODEL_AHEAD = 'model-ahead'

/** A request to a service whose answers are inputs. */
export interface LoggedRequest<Answer> {
  /** The service: "model", "action", "voice". */
  readonly kind: string
  /** What decides the answer, as JSON; a replay compares its digest. */
  readonly request: unknown
  readonly codec: AnswerCodec<Answer>
  /** Makes ready what `codec.decode` needs: a replay waits for it before the first answer. Default: nothing. */
  readonly prepare?: () => Promise<void>
}

/** Audio is read before timers are handled; the recogniser is asked for its last words. */
export type Place = 'drain' | 'finalize'

/**
 * Where everything enters that a conversation cannot compute: events, answers of services, the clock. `DirectInputs` passes it through,
 * `InputRecorder` also logs it, and `InputReplay` reads it from a log, so that the same code decides in all three.
 */
export interface Inputs {
  /** The clock that the conversation reads. Recorded, it stands at the last input while the conversation reacts to it. */
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random
  /** Returns the function to which the source of these events passes each of them. */
  input<Value>(kind: string, handle: (value: Value) => void): (value: Value) => void
  /** A value that is read at once. `absent`: what a replay against another flow reads where nothing was recorded; default: that is a difference. */
  read<Value>(kind: string, compute: () => Value, absent?: Value): Value
  /** One answer of a service; `onProgress` is called for what the service reports before it. */
  call<Answer, Progress = never>(
    request: LoggedRequest<Answer>,
    start: (progress: (value: Progress) => void) => Promise<Answer>,
    onProgress?: (value: Progress) => void,
  ): Promise<Answer>
  /** A stream of answers of a service. */
  stream<Answer>(request: LoggedRequest<Answer>, start: () => AsyncIterable<Answer>): AsyncIterable<Answer>
  /** A value beside the inputs that changes now and then; a replay restores it before the input that follows. */
  track(value: { readonly read: () => number | null; readonly restore: (value: number | null) => void }): void
  /** `act` makes a source deliver inputs at once, inside the handling of another one. */
  inside(place: Place, act: () => void): void
  /** Something that the conversation decided, as JSON: what a replay must do again. */
  decided(decision: unknown): void
  /** Audio that the conversation sends: a decision. A replay with deterministic voices compares its samples, any other its length. */
  sent(audio: Int16Array): void
  /** Work beside the inputs, such as audio that is made before it is needed: a replay waits for it before the next input. */
  hold(work: Promise<void>): void
  /** As `decided`, for a fact of the timeline: of these, a replay with another flow compares what can be noticed. */
  happened(fact: TimelineFact): void
}

/** Inputs that are neither recorded nor replayed. */
export class DirectInputs implements Inputs {
  readonly time: Time
  readonly wallClock: () => UnixMs
  readonly random: Random

  constructor({ time, wallClock, random }: Pick<Inputs, 'time' | 'wallClock' | 'random'>) {
    this.time = time
    this.wallClock = wallClock
    this.random = random
  }

  input<Value>(_kind: string, handle: (value: Value) => void): (value: Value) => void {
    return handle
  }

  read<Value>(_kind: string, compute: () => Value): Value {
    return compute()
  }

  call<Answer, Progress>(
    _request: LoggedRequest<Answer>,
    start: (progress: (value: Progress) => void) => Promise<Answer>,
    onProgress: (value: Progress) => void = () => {},
  ): Promise<Answer> {
    return start(onProgress)
  }

  stream<Answer>(_request: LoggedRequest<Answer>, start: () => AsyncIterable<Answer>): AsyncIterable<Answer> {
    return start()
  }

  track(): void {}

  inside(_place: Place, act: () => void): void {
    act()
  }

  decided(): void {}
  sent(): void {}
  hold(): void {}
  happened(): void {}
}
