import type { Plan } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import { Conversation } from '../conversation.ts'
import type { ConversationEvent } from '../protocol.ts'
import type { ScriptedActions } from './scripted-actions.ts'
import { linesOf, type ScriptedModel } from './scripted-model.ts'
import { conversationFixture, type HarnessOptions, lineOf, settle } from './text-conversation-harness.ts'

interface Spoken {
  readonly id: string
  text: string
  isComplete: boolean
}

/** A conversation whose speech output the test plays: it reports when a speech was heard, and how much of an interrupted one. */
export class SpokenConversationHarness {
  readonly fixture: ReturnType<typeof conversationFixture>
  readonly conversation: Conversation
  readonly events: ConversationEvent[] = []
  /** Speeches that have begun and were not reported as heard, in order. */
  readonly speaking: Spoken[] = []
  /** The heard text of a speech that is withdrawn while it is played; null: the test reports it with `cut`. */
  heardWhenWithdrawn: string | null = ''
  /** Speeches in progress when the conversation ended. */
  saidAtEnd: string[] = []
  #lines: string[] = []

  constructor(plan: Plan, rest: HarnessOptions = {}) {
    this.fixture = conversationFixture(plan, rest)
    const { time } = this.fixture
    this.conversation = new Conversation({
      ...this.fixture.options,
      clock: () => time.now(),
      onEvent: event => {
        this.events.push(event)
        this.#on(event)
      },
    })
  }

  get model(): ScriptedModel {
    return this.fixture.model
  }

  get actions(): ScriptedActions {
    return this.fixture.actions
  }

  async start(): Promise<void> {
    this.conversation.start()
    await settle()
  }

  async say(text: string, { isUnfinished = false } = {}): Promise<void> {
    const now = this.fixture.time.now()
    this.conversation.userTurn({ text, span: { start_ms: now, end_ms: now }, observed_ms: now, isUnfinished })
    await settle()
  }

  /** Plays the oldest speech to its end. */
  async hear(): Promise<void> {
    const speech = this.speaking.shift()
    if (speech === undefined) throw new Error('no speech is in progress')
    this.#report(speech.id, speech.text, false)
    await settle()
  }

  async hearAll(): Promise<void> {
    while (this.speaking.length > 0) await this.hear()
  }

  /** The caller interrupts: `heard` of the oldest speech was heard, and nothing of the others. */
  async cut(heard: string): Promise<void> {
    for (const [index, speech] of this.speaking.splice(0).entries())
      this.#report(speech.id, index === 0 ? heard : '', true)
    await settle()
  }

  async pass(ms: Ms): Promise<void> {
    await settle()
    this.fixture.time.advance(ms)
    await settle()
  }

  /** Timeline lines since the last call. */
  lines(): string[] {
    return this.#lines.splice(0)
  }

  /** Texts of the speeches in progress. */
  get saying(): string[] {
    return this.speaking.map(({ text }) => text)
  }

  get memory(): string[] {
    return linesOf(this.conversation.memory)
  }

  count(type: ConversationEvent['type']): number {
    return this.events.filter(event => event.type === type).length
  }

  #report(id: string, heard: string, interrupted: boolean): void {
    const now = this.fixture.time.now()
    this.conversation.spoken(id, { heard, interrupted, span: { start_ms: now, end_ms: now } })
  }

  #on(event: ConversationEvent): void {
    switch (event.type) {
      case 'speech':
        this.speaking.push({ id: event.speech_id, text: '', isComplete: false })
        return
      case 'speech-text':
        for (const speech of this.speaking) if (speech.id === event.speech_id) speech.text += event.delta
        return
      case 'speech-end':
        for (const speech of this.speaking) if (speech.id === event.speech_id) speech.isComplete = true
        return this.#passEmpty()
      case 'speech-withdrawn':
        return this.#withdraw(event.speech_id)
      case 'fact':
        this.#lines.push(...lineOf(event.fact))
        return
      case 'ended':
        this.saidAtEnd = this.saying
        this.#lines.push(`ended: ${event.outcome} by ${event.ended_by}${event.code === null ? '' : ` ${event.code}`}`)
        return
      default:
        return
    }
  }

  /** Speeches without words are heard at once. */
  #passEmpty(): void {
    while (this.speaking[0]?.isComplete && this.speaking[0].text.trim() === '')
      this.#report(this.speaking.shift()!.id, '', false)
  }

  #withdraw(id: string): void {
    const index = this.speaking.findIndex(speech => speech.id === id)
    if (index < 0 || this.heardWhenWithdrawn === null) return
    const [speech] = this.speaking.splice(index, 1)
    this.#report(id, index === 0 ? speech!.text.slice(0, this.heardWhenWithdrawn.length) : '', true)
  }
}
