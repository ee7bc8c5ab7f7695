import type { Utterance } from '@parley/conversation'
import { MachineDriver, type Ms, type Time, type UnixMs } from '@parley/kernel'
import type { LegEvent } from '@parley/leg'
import type { TextToSpeech } from '@parley/providers'
import type { CallControl, CallHandler, CallHandlerResult } from './call-handler.ts'
import type { HandlerFactory } from './call-plan.ts'
import { CallTimeline } from './call-timeline.ts'
import { HeardHistory } from './heard-history.ts'
import { type AgentInput, type AgentOutput, TestAgent } from './test-agent.ts'
import { Playout } from './voice/playout.ts'
import { SpeechOutput } from './voice/speech-output.ts'
import { Voices } from './voice/voices.ts'

const HISTORY_MS = 4000

interface LineTestOptions {
  /** Not closed by the line test. */
  readonly voice: TextToSpeech
  /** Language of the voice, BCP 47. */
  readonly language: string
  readonly time: Time
  readonly wallClock: () => UnixMs
}

/** Handlers that run the line test on the call. */
export function lineTestHandler(options: LineTestOptions): HandlerFactory {
  return control => new LineTest(control, options)
}

/** Runs the test agent on a call, to test a line in both directions without a model or a recogniser. */
class LineTest implements CallHandler {
  readonly #line: CallControl
  readonly #agent = new TestAgent()
  readonly #driver: MachineDriver<AgentInput, AgentOutput>
  readonly #speechOutput: SpeechOutput
  readonly #playout: Playout
  /** In the format of the leg. */
  readonly #history: HeardHistory
  readonly #scratch = new Int16Array(4096)
  readonly #timeline: CallTimeline
  readonly #utterances: Utterance[] = []
  readonly #texts = new Map<string, { text: string; node: string }>()
  #count = 0
  #echoEnd: number | null = null
  /** End of the newest utterance, on the call's clock. */
  #offset: Ms | null = null

  constructor(line: CallControl, { voice, language, time, wallClock }: LineTestOptions) {
    this.#line = line
    line.leg.detectVoice({})
    this.#history = new HeardHistory(HISTORY_MS, line.leg.format)
    this.#timeline = new CallTimeline({
      wallClock,
      clock: () => this.#offset,
      onItem: item => line.addTimelineItem(item),
    })
    this.#playout = new Playout(line.leg)
    this.#driver = new MachineDriver(this.#agent, time, output => this.#perform(output))
    const voices = new Voices([{ voice, language, voiceId: null }], line.leg.format, time, () => {})
    this.#speechOutput = new SpeechOutput(this.#playout, voices, {
      onSpeaking: () => {},
      onAudible: () => {},
      onVoice: () => {},
      onFailure: () => line.end('provider_failed'),
      onSpoken: (id, report) => this.#onSpoken(id, report.interrupted, report.span),
    })
  }

  get result(): CallHandlerResult {
    return {
      utterances: this.#utterances,
      timeline: this.#timeline.items,
      digits: this.#agent.digits,
      latencies: [],
      preemptive: null,
    }
  }

  onLeg(event: LegEvent): void {
    switch (event.type) {
      case 'answered':
        return this.#driver.handle({ type: 'connected' })
      case 'digit':
        return this.#driver.handle({ type: 'digit', digit: event.digit })
      case 'voice-start':
        return this.#driver.handle({ type: 'speech-started' })
      case 'play-progress':
        this.#speechOutput.onProgress(event)
        if (this.#echoEnd === null || this.#playout.played() < this.#echoEnd) return
        this.#echoEnd = null
        return this.#driver.handle({ type: 'quiet' })
      default:
        return
    }
  }

  drain(): void {
    for (let count = this.#scratch.length; count === this.#scratch.length; ) {
      count = this.#line.leg.readHeard(this.#scratch)
      this.#history.write(this.#scratch.subarray(0, count))
    }
  }

  stop(): void {
    this.#driver.stop()
    this.#speechOutput.cut()
  }

  async settled(): Promise<void> {}

  #perform(output: AgentOutput): void {
    switch (output.type) {
      case 'say':
        this.#speechOutput.cut()
        return this.#say(output.text, output.node)
      case 'stop-speaking':
        return this.#speechOutput.cut()
      case 'echo':
        this.drain()
        return this.#echo(this.#history.newest(output.durationMs))
      case 'hang-up':
        return this.#line.end('completed')
    }
  }

  #say(text: string, node: string): void {
    const id = `line-${++this.#count}`
    this.#texts.set(id, { text, node })
    this.#speechOutput.begin(id)
    this.#speechOutput.say(id, text)
    this.#speechOutput.end(id)
  }

  #echo(audio: Int16Array): void {
    this.#speechOutput.cut()
    this.#playout.enqueue(audio)
    this.#echoEnd = this.#playout.end
    if (audio.length === 0) this.#driver.handle({ type: 'quiet' })
  }

  /** An interrupted text is in the transcript as a whole: the line test does not estimate which words were heard. */
  #onSpoken(id: string, interrupted: boolean, span: { start_ms: number; end_ms: number } | null): void {
    const line = this.#texts.get(id)
    this.#texts.delete(id)
    if (line !== undefined && span !== null) {
      this.#offset = span.end_ms
      const spoken = { index: this.#utterances.length, role: 'agent', text: line.text, interrupted, ...span } as const
      this.#utterances.push({ ...spoken, segment_id: null, observed_offset_ms: span.end_ms, node_id: line.node })
      this.#timeline.add({ kind: 'utterance', ...spoken, node_id: line.node })
    }
    if (!interrupted) this.#driver.handle({ type: 'quiet' })
  }
}
