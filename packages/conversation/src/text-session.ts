import { ANSWER_WITHOUT_LEG, type LegRequest } from '@parley/flow'
import type { Random } from '@parley/kernel'
import { loggedSwap, type SwapAgent, type SwapRequest, swapAnswer } from './agent-swap.ts'
import { Conversation } from './conversation.ts'
import type { ConversationOptions } from './conversation-options.ts'
import { ConversationError } from './errors.ts'
import type { ConversationEvent } from './protocol.ts'
import { DirectInputs, type Inputs } from './replay/inputs.ts'
import { loggedServices } from './replay/logged-services.ts'
import type { Utterance } from './transcript.ts'

type TransferRequest = Extract<LegRequest, { readonly type: 'transfer' }>

export interface TextSessionOptions extends Omit<ConversationOptions, 'clock' | 'onEvent'> {
  readonly onEvent?: (event: ConversationEvent) => void
  /** The outcome of every transfer, since text has no phone leg. Default "failed". */
  readonly transfers?: 'taken' | 'failed' | ((request: TransferRequest) => 'taken' | 'failed')
  /** Hands the conversation to another agent. Default: none takes it. */
  readonly swap?: SwapAgent
  /** Records or replays the session; it replaces `time` and `wallClock`. Default: neither. */
  readonly inputs?: Inputs
}

type Silence = Parameters<Conversation['silence']>[0]

/** Nothing in a text conversation is random. */
const NO_RANDOM: Random = { bytes: length => new Uint8Array(length) }

/**
 * A text conversation for chats, tasks and trials. Agent speech counts as heard when it is complete, and digits count as
 * sent at once. Each method resolves to the new utterances when the conversation waits for the caller again or has ended;
 * only one may be pending at a time.
 */
export class TextSession {
  readonly conversation: Conversation
  readonly #options: TextSessionOptions
  /** Agent speeches in progress, in order. */
  readonly #speeches: { readonly id: string; text: string; isComplete: boolean }[] = []
  #ended: Extract<ConversationEvent, { type: 'ended' }> | null = null
  #isBusy = false
  #isStopped = false
  readonly #inputs: Inputs
  readonly #swap: SwapAgent
  readonly #enter: {
    readonly start: (value: null) => void
    readonly say: (text: string) => void
    readonly digits: (digits: string) => void
    readonly silence: (kind: Silence) => void
    readonly maxDuration: (value: null) => void
    readonly stop: (value: null) => void
  }
  #waiting: { readonly from: number; readonly resolve: (utterances: readonly Utterance[]) => void } | null = null

  constructor(options: TextSessionOptions) {
    const inputs = options.inputs ?? new DirectInputs({ ...options, random: NO_RANDOM })
    this.#options = options
    this.#inputs = inputs
    this.#swap = loggedSwap(options.swap, inputs)
    this.conversation = new Conversation({
      ...options,
      ...(options.inputs !== undefined && loggedServices(options, inputs)),
      time: inputs.time,
      wallClock: inputs.wallClock,
      clock: () => null,
      onEvent: event => {
        if (event.type === 'fact') inputs.happened(event.fact)
        else inputs.decided(event)
        options.onEvent?.(event)
        this.#on(event)
      },
    })
    const { conversation } = this
    this.#enter = {
      start: inputs.input('start', () => conversation.start()),
      say: inputs.input('say', text => conversation.userTurn({ text, span: null, observed_ms: null })),
      digits: inputs.input('digits', digits => conversation.digits(digits)),
      silence: inputs.input('silence', kind => conversation.silence(kind)),
      maxDuration: inputs.input('max-duration', () => conversation.maxDuration()),
      stop: inputs.input('stop', () => conversation.stop()),
    }
  }

  /** How the conversation ended; null while it lasts. */
  get ended(): Extract<ConversationEvent, { type: 'ended' }> | null {
    return this.#ended
  }

  /** Rejects with `ParleyError` "turn_in_progress", like `say`, `digits` and `silence`, while another turn is pending. */
  start(): Promise<readonly Utterance[]> {
    return this.#turn(() => this.#enter.start(null))
  }

  say(text: string): Promise<readonly Utterance[]> {
    return this.#turn(() => this.#enter.say(text))
  }

  digits(digits: string): Promise<readonly Utterance[]> {
    return this.#turn(() => this.#enter.digits(digits))
  }

  silence(kind: Silence): Promise<readonly Utterance[]> {
    return this.#turn(() => this.#enter.silence(kind))
  }

  /** The session has lasted as long as it may. */
  maxDuration(): void {
    this.#enter.maxDuration(null)
  }

  /** Ends the session from the caller's side and resolves the pending turn. */
  stop(): void {
    this.#isStopped = true
    this.#enter.stop(null)
    this.#resolveIfQuiet()
  }

  #turn(begin: () => void): Promise<readonly Utterance[]> {
    if (this.#waiting !== null)
      return Promise.reject(
        new ConversationError('turn_in_progress', 'The previous turn is still in progress; wait until it resolves.'),
      )
    return new Promise(resolve => {
      this.#waiting = { from: this.conversation.utterances.length, resolve }
      begin()
      this.#resolveIfQuiet()
    })
  }

  #on(event: ConversationEvent): void {
    switch (event.type) {
      case 'speech':
        this.#speeches.push({ id: event.speech_id, text: '', isComplete: false })
        return
      case 'speech-text':
        for (const speech of this.#speeches) if (speech.id === event.speech_id) speech.text += event.delta
        return
      case 'speech-end':
        return this.#complete(event.speech_id)
      case 'speech-withdrawn':
        return this.#withdraw(event.speech_id)
      case 'leg-request':
        return this.#answer(event.request_id, event.request, event.effect_id)
      case 'busy':
        this.#isBusy = event.busy
        return this.#resolveIfQuiet()
      case 'ended':
        this.#ended = event
        return this.#resolveIfQuiet()
      default:
        return
    }
  }

  #answer(requestId: string, request: LegRequest, effectId: string | null): void {
    const { transfers } = this.#options
    if (request.type === 'swap_agent') return void this.#handOver(requestId, request, effectId ?? '')
    if (request.type !== 'transfer') return this.conversation.legAnswered(requestId, ANSWER_WITHOUT_LEG[request.type])
    const outcome = this.#inputs.read('transfer', () =>
      typeof transfers === 'function' ? transfers(request) : (transfers ?? null),
    )
    const answer = outcome === null ? ANSWER_WITHOUT_LEG.transfer : { type: 'transfer_result' as const, outcome }
    this.conversation.legAnswered(requestId, answer, {
      kind: 'sip_transfer',
      refer_status: null,
      final_sip_status: null,
      disconnect_reason: null,
    })
  }

  async #handOver(requestId: string, request: SwapRequest, effectId: string): Promise<void> {
    const { answer, receipt } = swapAnswer(await this.#swap(request, effectId))
    this.conversation.legAnswered(requestId, answer, receipt)
  }

  /** Reports speeches as heard in order, even when a later one completes first. */
  #complete(id: string): void {
    for (const speech of this.#speeches) if (speech.id === id) speech.isComplete = true
    while (this.#speeches[0]?.isComplete) {
      const { id, text } = this.#speeches.shift()!
      this.conversation.spoken(id, { heard: text, interrupted: false, span: null })
    }
  }

  #withdraw(id: string): void {
    const index = this.#speeches.findIndex(speech => speech.id === id)
    if (index >= 0) this.#speeches.splice(index, 1)
    this.conversation.spoken(id, { heard: '', interrupted: true, span: null })
  }

  #resolveIfQuiet(): void {
    if (this.#waiting === null) return
    const isOver = this.#isStopped || this.#ended !== null
    if (!isOver && (this.#isBusy || this.#speeches.length > 0)) return
    const { from, resolve } = this.#waiting
    this.#waiting = null
    resolve(this.conversation.utterances.slice(from))
  }
}
