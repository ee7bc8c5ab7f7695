import { type Conversation, languagesOfPlan, type TimelineFact } from '@parley/conversation'
import {
  AnswerDetector,
  type AnswerInput,
  type AnswerOutput,
  type DialogueInput,
  type DialogueOutput,
  type Verdict,
} from '@parley/dialogue'
import type { Plan } from '@parley/flow'
import { MachineDriver, type Ms, type Time, type Timer } from '@parley/kernel'
import type { MachineEnding } from '../outcome.ts'
import { contactItem } from './contact-item.ts'
import { drainingMachine } from './draining-machine.ts'
import { MenuLoop } from './menu-loop.ts'

/** How long a person is waited for after a screener was answered. */
const PERSON_MS: Ms = 30_000
/** A screener asks for name and purpose, at most in this many questions. */
const MAX_ANSWERS = 3
/** A greeting longer than this is no mailbox that takes a message. */
const LONGEST_GREETING_MS: Ms = 90_000
/** A machine whose words leave a doubt does not end the call by itself. */
const CERTAIN = 0.9
/** A mailbox whose words fit other machines as well, such as "the person you are calling", is no reason to hang up yet. */
const DOUBTFUL = 0.6

/** What the turn machine still decides while the agent deals with a machine that answered. */
const WHILE_IN_CHARGE: ReadonlySet<DialogueOutput['type']> = new Set([
  'turn',
  'aside',
  'unused-digits',
  'finalize',
  'max-duration',
])

interface AnswerHandlingOptions {
  readonly plan: Plan
  readonly direction: 'inbound' | 'outbound'
  readonly time: Time
  readonly conversation: Pick<Conversation, 'answeredBy' | 'suspend' | 'sayAside' | 'restart' | 'compose' | 'rendered'>
  /** Processes all audio received so far. */
  readonly drain: () => void
  /** Synthesises a text that is spoken later. */
  readonly prepare: (text: string) => void
  readonly onContact: (fact: TimelineFact) => void
  readonly end: (why: MachineEnding, isAfterWords: boolean) => void
}

type State =
  /** The conversation goes on. */
  | 'talking'
  /** A mailbox: its greeting goes on; the message is spoken. */
  | 'awaiting-beep'
  | 'leaving-message'
  /** A screener: it asks; it was answered and a person may come. */
  | 'screened'
  | 'over'

/**
 * Detects what answered a call, and does what the agent's settings say for a machine: hangs up, leaves a message, answers a screener.
 * While it is `inCharge` the conversation waits.
 */
export class AnswerHandling {
  readonly #options: AnswerHandlingOptions
  readonly #detector: AnswerDetector
  readonly #driver: MachineDriver<AnswerInput, AnswerOutput>
  readonly #menus = new MenuLoop()
  #state: State = 'talking'
  #limit: Timer | null = null
  #message: Promise<string> | null = null
  #answers = 0
  #isNavigating = false
  #isAnswered = false

  constructor(options: AnswerHandlingOptions) {
    this.#options = options
    const { settings } = options.plan
    const { voicemail } = settings
    this.#detector = new AnswerDetector({
      languages: languagesOfPlan(options.plan),
      timeoutMs: voicemail.detectionTimeoutMs,
    })
    const isArmed =
      options.direction === 'outbound' || voicemail.enabled || settings.ivr.enabled || settings.callScreening.enabled
    this.#driver = new MachineDriver(drainingMachine(this.#detector, options.drain), options.time, output =>
      this.#onOutput(output),
    )
    if (!isArmed) this.stop()
  }

  /** Sound of the far end is still judged. */
  get isListening(): boolean {
    return this.#state !== 'over' && !this.#detector.isOver
  }

  /** The agent deals with a machine, and the conversation waits. */
  get inCharge(): boolean {
    return this.#state === 'awaiting-beep' || this.#state === 'leaving-message' || this.#state === 'screened'
  }

  /** Whether the output of the turn machine takes effect now. */
  admits({ type }: DialogueOutput): boolean {
    return !this.inCharge || WHILE_IN_CHARGE.has(type)
  }

  answered(): void {
    this.#isAnswered = true
    this.#pass({ type: 'answered' })
  }

  hear(input: AnswerInput): void {
    this.#pass(input)
  }

  /** What the turn machine hears is evidence as well. */
  hearDialogue(input: DialogueInput): void {
    switch (input.type) {
      case 'voice-started':
        return this.#pass({ type: 'voice-started', startedAt: input.startedAt })
      case 'voice-stopped':
        return this.#pass({ type: 'voice-stopped', stoppedAt: input.stoppedAt })
      case 'partial':
      case 'final':
        return this.#pass({ type: input.type, text: input.text, words: input.words })
      case 'agent-sound':
        return this.#pass(input)
      default:
        return
    }
  }

  /** The far end finished a turn. */
  turn(text: string): void {
    if (this.#isNavigating && this.#menus.hear(text)) this.#end('ivr')
  }

  /** A speech was played to its end or withdrawn. */
  spoken(interrupted: boolean): void {
    if (this.#state === 'leaving-message' && !interrupted) return this.#end('message_left', true)
    if (this.#state === 'screened' && !interrupted && this.#answers > 0) this.#awaitPerson()
  }

  stop(): void {
    this.#state = 'over'
    this.#limit?.cancel()
    this.#driver.stop()
  }

  #pass(input: AnswerInput): void {
    if (this.isListening) this.#driver.handle(input)
  }

  #onOutput(output: AnswerOutput): void {
    if (this.#state === 'over') return
    switch (output.type) {
      case 'verdict':
        return this.#onVerdict(output.verdict)
      case 'undecided':
        if (this.#state === 'talking') this.#options.onContact(contactItem(null))
        return
      case 'greeting-over':
        return this.#onGreetingOver()
      case 'greeting-resumed':
        if (this.#state !== 'leaving-message') return
        this.#state = 'awaiting-beep'
        return this.#options.conversation.suspend()
    }
  }

  #onVerdict(verdict: Verdict): void {
    const { conversation, onContact } = this.#options
    if (this.#state === 'screened' && isOfScreener(verdict)) return
    onContact(contactItem(verdict))
    conversation.answeredBy(verdict.class)
    switch (verdict.class) {
      case 'voicemail':
        return this.#onVoicemail(verdict.confidence > DOUBTFUL)
      case 'mailbox_unavailable':
        return this.#options.plan.settings.voicemail.enabled ? this.#end('mailbox_unavailable') : undefined
      case 'ivr':
        return this.#onMenu(verdict.confidence > DOUBTFUL)
      case 'screener':
        return this.#onScreener()
      case 'fax':
      case 'announcement':
        return this.#onUnattended(verdict)
      case 'human':
        return this.#onPerson()
      case 'silence':
        return
    }
  }

  #onVoicemail(isCertain: boolean): void {
    const { plan, conversation } = this.#options
    const { enabled, action, message } = plan.settings.voicemail
    if (!enabled || this.#state === 'leaving-message') return
    const leaves = action !== 'hangup' && message !== undefined
    if (!leaves && isCertain) return this.#end('voicemail')
    if (this.#state === 'awaiting-beep') return
    this.#awaitBeep()
    if (!leaves) return
    const { text, type } = message
    this.#message = type === 'prompt' ? conversation.compose(text) : Promise.resolve(conversation.rendered(text))
    void this.#message.then(words => this.#options.prepare(words))
  }

  /** The agent is quiet until the greeting is over. */
  #awaitBeep(): void {
    const { conversation, time } = this.#options
    this.#limit?.cancel()
    this.#state = 'awaiting-beep'
    conversation.suspend()
    this.#limit = time.at(time.now() + LONGEST_GREETING_MS, () => this.#end('voicemail'))
  }

  /** What seemed to be a mailbox is another machine, which the agent talks to. */
  #resume(): void {
    if (this.#state !== 'awaiting-beep') return
    this.#state = 'talking'
    this.#message = null
    this.#limit?.cancel()
    this.#options.conversation.restart()
  }

  #onMenu(isCertain: boolean): void {
    const { enabled, action } = this.#options.plan.settings.ivr
    if (enabled && action === 'hangup') return isCertain ? this.#end('ivr') : undefined
    this.#isNavigating ||= enabled
    this.#resume()
  }

  #onScreener(): void {
    const { plan, conversation, time } = this.#options
    if (!plan.settings.callScreening.enabled) return this.#resume()
    if (this.#state === 'screened') return
    this.#limit?.cancel()
    this.#message = null
    this.#state = 'screened'
    conversation.suspend()
    this.#limit = time.at(time.now() + PERSON_MS, () => this.#end('screener'))
  }

  /**
   * Nobody can come to the phone at a fax or at an announcement of the network. An agent that was called goes on. Before the answer
   * the network ends the call itself, with a status that says why.
   */
  #onUnattended({ class: answer, confidence }: Verdict): void {
    if (!this.#isAnswered || this.#options.direction === 'inbound' || confidence < CERTAIN) return
    this.#end(answer === 'fax' ? 'fax' : 'announcement')
  }

  #onPerson(): void {
    if (this.#state !== 'screened') return
    this.#state = 'talking'
    this.#limit?.cancel()
    this.#options.conversation.restart()
  }

  /** The greeting of a mailbox is over, or a screener has asked. */
  #onGreetingOver(): void {
    const { plan, conversation, time } = this.#options
    if (this.#state === 'awaiting-beep') {
      if (this.#message === null) return this.#end('voicemail')
      this.#state = 'leaving-message'
      void this.#message.then(words => {
        if (this.#state !== 'leaving-message') return
        if (words === '') this.#end('voicemail')
        else conversation.sayAside(words)
      })
    } else if (this.#state === 'screened') {
      if (this.#detector.verdict?.class !== 'screener' || this.#answers >= MAX_ANSWERS) return this.#awaitPerson()
      this.#answers++
      this.#limit?.cancel()
      this.#limit = time.at(time.now() + PERSON_MS, () => this.#end('screener'))
      conversation.sayAside(introduction(plan))
    }
  }

  #awaitPerson(): void {
    this.#driver.handle({ type: 'rearm', timeoutMs: PERSON_MS })
  }

  #end(why: MachineEnding, isAfterWords = false): void {
    if (this.#state === 'over') return
    this.stop()
    this.#options.end(why, isAfterWords)
  }
}

/** While a screener is dealt with, it may ask again, say that it connects, and talk of the person who was called as mailboxes do. */
function isOfScreener({ class: answer, confidence }: Verdict): boolean {
  return ['screener', 'silence', 'ivr'].includes(answer) || (answer === 'voicemail' && confidence <= DOUBTFUL)
}

/** What is said to a screener. */
function introduction(plan: Plan): string {
  const { identity, purpose } = plan.settings.callScreening
  const isSpanish = languagesOfPlan(plan)[0] === 'es'
  const name = identity === '' ? plan.name : identity
  const parts = isSpanish
    ? [`Hola, llamo de parte de ${name}.`, purpose === '' ? '' : `El motivo: ${purpose}.`]
    : [`Hello, this is ${name}.`, purpose === '' ? '' : `I am calling about ${purpose}.`]
  return parts.filter(part => part !== '').join(' ')
}
