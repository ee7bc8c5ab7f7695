import type { Ms, Time } from '@parley/kernel'
import type { VirtualLine } from '@parley/leg'
import type { LanguageModel, TextToSpeech } from '@parley/providers'

const STEP_MS: Ms = 5

/** Work in real time for which virtual clocks stand still. */
export class RealTimeWork {
  #running = 0

  get isRunning(): boolean {
    return this.#running > 0
  }

  async add<Result>(work: Promise<Result>): Promise<Result> {
    this.#running++
    try {
      return await work
    } finally {
      this.#running--
    }
  }
}

/** Lets services that work in real time take part in a call in virtual time: the clock of the call stands still while they work. */
export class VirtualServices {
  readonly #line: VirtualLine
  readonly #work: RealTimeWork

  /** `work`: shared by calls whose clocks go together; default: of this call alone. */
  constructor(line: VirtualLine, work = new RealTimeWork()) {
    this.#line = line
    this.#work = work
  }

  /** Lets virtual time pass until `done` settles; rejects with the reason of `signal`. */
  async pass<Result>(done: Promise<Result>, signal: AbortSignal): Promise<Result> {
    let isOver = false
    const over = () => {
      isOver = true
    }
    done.then(over, over)
    while (!isOver) {
      signal.throwIfAborted()
      await this.#line.pass(STEP_MS, STEP_MS)
      // All promises settle before the next step, as they do between two events of a real call.
      await otherWork()
      while (this.#work.isRunning && !signal.aborted) await otherWork()
    }
    return done
  }

  /** A promise during which the clock stands still. */
  working<Result>(work: Promise<Result>): Promise<Result> {
    return this.#work.add(work)
  }

  /** Resolves after `ms` of the call's time. */
  wait(ms: Ms): Promise<void> {
    const { time } = this.#line
    return new Promise(resolve => time.at(time.now() + ms, resolve))
  }

  /** `voice` whose first audio comes after `firstAudioMs` of the call's time. */
  voice(voice: TextToSpeech, firstAudioMs: Ms): TextToSpeech {
    const working = <Result>(work: Promise<Result>) => this.working(work)
    const wait = (ms: Ms) => this.wait(ms)
    return {
      id: voice.id,
      languages: voice.languages,
      readiness: language => voice.readiness(language),
      async *synthesize(request, signal) {
        const chunks = voice.synthesize(request, signal)[Symbol.asyncIterator]()
        for (let isFirst = true; ; isFirst = false) {
          const next = await working(chunks.next())
          if (next.done === true) return
          if (isFirst) await wait(firstAudioMs)
          yield next.value
        }
      },
      close: async () => {},
    }
  }

  /** `model` whose answers take as long on the call's clock as they really took. */
  model(model: LanguageModel, realTime: Time): LanguageModel {
    const working = <Result>(work: Promise<Result>) => this.working(work)
    const wait = (ms: Ms) => this.wait(ms)
    return {
      identity: model.identity,
      readiness: () => model.readiness(),
      async *generate(request, signal) {
        const events = model.generate(request, signal)[Symbol.asyncIterator]()
        for (;;) {
          const askedAt = realTime.now()
          const next = await working(events.next())
          if (next.done === true) return
          await wait(realTime.now() - askedAt)
          yield next.value
        }
      },
      close: async () => {},
    }
  }
}

function otherWork(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
