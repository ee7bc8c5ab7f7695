import { CallerLanguage } from '@parley/dialogue'
import { type FlowInput, FlowInterpreter, type FlowOutcome, type LegAnswer, render } from '@parley/flow'
import { Emitter, type Ms } from '@parley/kernel'
import type { ChatMessage } from '@parley/providers'
import { BusyReport } from './busy-report.ts'
import { digitsIn, wordsIn } from './caller-input.ts'
import { CallerTurns } from './caller-turns.ts'
import { type ConversationContext, feed, speak } from './conversation-context.ts'
import type { ConversationOptions } from './conversation-options.ts'
import { ConversationRecord } from './conversation-record.ts'
import { type Ended, Ending } from './ending.ts'
import { FlowExecutor } from './flow-executor.ts'
import type { Receipt } from './ledger.ts'
import { Memory } from './memory.ts'
import { holdingLines, languagesOfPlan } from './model/agent-language.ts'
import type { PreemptiveGenerationReport } from './model/preemptive-generation.ts'
import { PendingModelRequests } from './pending-model-requests.ts'
import { PlaybackReports } from './playback-reports.ts'
import type { ConversationEvent, SpokenReport, UserTurn } from './protocol.ts'
import { SerialQueue } from './serial-queue.ts'
import { SpeechQueue } from './speech-queue.ts'
import type { TimelineFact } from './timeline.ts'
import type { Utterance } from './transcript.ts'
import { UnfinishedTurn } from './unfinished-turn.ts'
import { WaitTimer } from './wait-timer.ts'

const DEFAULT_HEARD_MS: Ms = 250

type State =
  | 'new'
  | 'talking'
  /** A machine answered, and the flow waits. */
  | 'suspended'
  /** The flow has ended; the remaining speeches are played to their end. */
  | 'ending'
  | 'ended'
  | 'stopped'

/**
 * One conversation, by phone or in text: the flow, its models and actions, the memory and the transcript. It requests speech
 * and telephony by events; the owner reports the results by its methods. No method throws; every request to a model or a
 * server has a time limit.
 */
export class Conversation {
  readonly #options: ConversationOptions
  readonly #flow: FlowInterpreter
  readonly #events = new Emitter<ConversationEvent>()
  readonly #queue = new SerialQueue(() => this.#reportBusy())
  readonly #memory: Memory
  readonly #language: CallerLanguage
  readonly #record: ConversationRecord
  readonly #speechQueue: SpeechQueue
  readonly #waits: WaitTimer
  readonly #modelRequests: PendingModelRequests
  readonly #unfinishedTurn: UnfinishedTurn
  readonly #context: ConversationContext
  readonly #executor: FlowExecutor
  readonly #playback: PlaybackReports
  readonly #turns: CallerTurns
  readonly #ending: Ending
  /** The flow before its first input. */
  readonly #beginning: ReturnType<FlowInterpreter['state']>
  #state: State = 'new'
  readonly #busy = new BusyReport(event => this.#emit(event))
  #holdingLines = 0

  constructor(options: ConversationOptions) {
    this.#options = options
    this.#events.listen(options.onEvent)
    this.#memory = new Memory(options.history)
    this.#speechQueue = new SpeechQueue(this.#memory, event => this.#emit(event))
    const { plan, mode, variables, time, clock, budgets } = options
    this.#language = new CallerLanguage(options.languages ?? languagesOfPlan(plan))
    this.#record = new ConversationRecord({ memory: this.#memory, clock, onFact: fact => this.#fact(fact) })
    this.#flow = new FlowInterpreter(plan, { ...mode, ...(variables !== undefined && { variables }) })
    this.#beginning = this.#flow.state()
    this.#waits = new WaitTimer(time)
    this.#modelRequests = new PendingModelRequests(this.#waits)
    this.#unfinishedTurn = new UnfinishedTurn(time)
    this.#context = {
      options,
      flow: this.#flow,
      memory: this.#memory,
      language: this.#language,
      speeches: this.#speechQueue,
      modelRequests: this.#modelRequests,
      unfinishedTurn: this.#unfinishedTurn,
      emit: event => this.#emit(event),
      onFact: fact => this.#fact(fact),
      onNode: () => this.#ask(''),
      enqueue: task => this.#queue.enqueue(task),
      handle: input => this.#flow.handle(options.wallClock(), input),
      perform: (outputs, cause) => this.#executor.perform(outputs, cause),
      isTalking: () => this.#state === 'talking',
      isOver: () => this.#state === 'ended' || this.#state === 'stopped',
      end: (outcome, endedBy, code) => this.#end(outcome, endedBy, code),
    }
    this.#executor = new FlowExecutor(this.#context, this.#waits)
    this.#playback = new PlaybackReports(this.#speechQueue, this.#queue, time, budgets?.heardMs ?? DEFAULT_HEARD_MS)
    this.#turns = new CallerTurns(this.#context, this.#executor, this.#record, this.#playback, this.#waits)
    this.#ending = new Ending(this.#context, this.#executor, this.#playback, event => this.#onEnded(event))
  }

  /** The far end can hear the agent. Called once. `opening`: what the caller said before; it gets no answer of its own. */
  start(opening: UserTurn | null = null): void {
    this.#queue.enqueue(() => {
      if (this.#state !== 'new') return
      this.#state = 'talking'
      const text = this.#turns.opening(opening)
      const input: FlowInput = { type: 'started' }
      const outputs = this.#context.handle(input)
      // The flow waits for the caller to open the conversation, which the opening has done.
      const hasOpened = opening !== null && outputs.some(({ type }) => type === 'await_opening')
      this.#executor.perform(hasOpened ? outputs.filter(({ type }) => type !== 'await_opening') : outputs, input)
      if (hasOpened) feed(this.#context, { type: 'user_turn', text })
    })
  }

  /** The caller finished a turn. */
  userTurn(turn: UserTurn): void {
    this.#queue.enqueue(() => this.#turns.turn(turn))
  }

  /** The caller has been silent for a while after a turn that looked unfinished, or makes a sound again. */
  turnSettled(settled: boolean): void {
    this.#queue.enqueue(() => this.#unfinishedTurn.settled(settled))
  }

  /** The caller goes on after a turn that looked unfinished, and the next turn has the new words. */
  turnContinued(): void {
    this.#queue.enqueue(() => this.#turns.continued())
  }

  /**
   * The caller's turn will probably end with `text`: requests the model's answer early and buffers it. `userTurn` with the
   * same text uses the answer; `dropPreemptiveGeneration` or another turn discards it.
   */
  startPreemptiveGeneration(text: string): void {
    const words = wordsIn(text)
    const isFree = this.#state === 'talking' && !this.#executor.isBusy && !this.#speechQueue.hasMore
    if (!isFree || words === '') return
    this.#executor.hearing(words)
    this.#executor.startPreemptiveGeneration(words)
  }

  /** The caller speaks, and has said `text` of this turn so far: documents are searched for it while the turn goes on. */
  hearing(text: string): void {
    const words = wordsIn(text)
    if (this.#state === 'talking' && words !== '') this.#executor.hearing(words)
  }

  /** Discards the answer that was generated preemptively, because the caller goes on speaking. */
  dropPreemptiveGeneration(): void {
    this.#executor.preemptive.drop()
  }

  /** Counts of preemptive requests, and the tokens of discarded answers. */
  get preemptive(): PreemptiveGenerationReport {
    return this.#executor.preemptive.report
  }

  /**
   * The caller has entered digits, up to the limit, terminator or timeout. `atMs`: when, on the run's clock; null in text.
   * `question`: the question of `collect-digits` that was open; default: the one that is open now. Digits of an earlier question
   * change nothing.
   */
  digits(entered: string, atMs: Ms | null = null, question: number | null = null): void {
    const digits = digitsIn(entered)
    if (digits !== '') this.#queue.enqueue(() => this.#turns.digits(digits, atMs, question))
  }

  /** The caller pressed keys that answer no question: they are recorded and change nothing. */
  unusedDigits(entered: string, atMs: Ms | null): void {
    const digits = digitsIn(entered)
    if (digits !== '') this.#turns.recordDigits(digits, atMs)
  }

  /** The caller said this beside digits that answer the question: it is recorded, and the flow does not answer it. */
  aside(turn: UserTurn): void {
    this.#queue.enqueue(() => this.#turns.aside(turn))
  }

  /** The caller has been silent until the opening, a reminder or the end of the conversation is due. */
  silence(kind: 'opening' | 'reminder' | 'limit'): void {
    if (kind === 'limit') this.#limit({ type: 'silence', kind })
    else this.#input({ type: 'silence', kind })
  }

  /** The caller has waited for long: the agent says a holding line, the node's own or the next of the agent's. */
  hold(): void {
    if (this.#state !== 'talking') return
    const { plan, wallClock } = this.#options
    const lines = holdingLines(plan, this.#language.current)
    const text = this.#flow.holdingLine(wallClock()) ?? lines[this.#holdingLines++ % lines.length]!
    this.#speechQueue.hold(this.#executor.nodeId ?? '', text)
  }

  /** The agent owes the caller an answer and does nothing: the model is asked to speak. */
  nudge(): void {
    this.#queue.enqueue(() => {
      if (this.#state !== 'talking' || this.#executor.isBusy || this.#speechQueue.hasMore) return
      feed(this.#context, { type: 'silence', kind: 'owed' })
    })
  }

  /** What answered the call was detected; the flow reads it as `{{current_answered_by}}`. */
  answeredBy(name: string): void {
    this.#queue.enqueue(() => {
      const at = this.#state
      if (at === 'new' || at === 'talking' || at === 'suspended')
        feed(this.#context, { type: 'answered_by', class: name })
    })
  }

  /**
   * A machine answered: what the agent says and asks is withdrawn, and the flow gets no input until `restart`. What the far end
   * says is recorded.
   */
  suspend(): void {
    this.#queue.enqueue(() => {
      const at = this.#state
      if (at !== 'new' && at !== 'talking' && at !== 'suspended') return
      this.#state = 'suspended'
      this.#executor.preemptive.drop()
      this.#modelRequests.abortAll()
      this.#executor.actions.turn()
      this.#speechQueue.withdrawAll()
      this.#busy.report(false, false)
    })
  }

  /** While suspended: says `text`, with its variables filled in, after what is being withdrawn. */
  sayAside(text: string): void {
    this.#queue.enqueue(() => {
      if (this.#state !== 'suspended') return
      this.#playback.whenComplete(() => speak(this.#context, null, this.#executor.nodeId, this.rendered(text)))
    })
  }

  /** While suspended: the person has come to the phone, and the conversation begins anew. */
  restart(): void {
    this.#queue.enqueue(() => {
      if (this.#state !== 'suspended') return
      this.#speechQueue.withdrawAll()
      this.#playback.whenComplete(() => {
        const { answeredBy, language, variables } = this.#flow.state()
        this.#flow.restore(this.#options.wallClock(), { ...this.#beginning, answeredBy, language, variables })
        this.#memory.clear()
        this.#state = 'new'
        this.start()
      })
    })
  }

  /** Has the model write what is to be said by `instruction`; empty: it failed. Never rejects. */
  compose(instruction: string): Promise<string> {
    return this.#executor.compose(instruction)
  }

  /** The text with its variables filled in. */
  rendered(text: string): string {
    return render(text, name => this.#flow.variable(name, this.#options.wallClock()))
  }

  /** What the agent waits for before it can speak; null: nothing. */
  get workingOn(): 'model' | 'action' | null {
    return this.#executor.workingOn
  }

  maxDuration(): void {
    this.#limit({ type: 'max_duration' })
  }

  /**
   * A run update, which holds from the agent's next turn on, even before the first. Discards a preemptive answer, which was
   * generated without it.
   */
  updateVariables(values: Readonly<Record<string, string>>): void {
    this.#queue.enqueue(() => {
      if (this.#state !== 'talking' && this.#state !== 'new') return
      this.#executor.preemptive.drop()
      feed(this.#context, { type: 'variables_updated', values })
    })
  }

  /** Reports how much of a speech the caller heard. Called once for each speech, withdrawn and empty ones included. */
  spoken(speechId: string, report: SpokenReport): void {
    const speech = this.#speechQueue.report(speechId)
    if (speech === undefined) return
    this.#record.agentSpeech(speech, report)
    if (report.heard.trim() !== '') this.#ask(report.heard)
    const { interrupted } = report
    const { requestId } = speech
    if (requestId !== null) {
      if (report.heard.trim() !== '' && !interrupted) this.#unfinishedTurn.close()
      if (interrupted) this.#modelRequests.abort(requestId)
      const unheard = report.heard.trim() === ''
      this.#input({ type: 'spoken', request_id: requestId, interrupted, unheard })
    }
    this.#queue.enqueue(() => this.#ending.finishIfAllHeard())
    this.#playback.reported()
  }

  /** Records that an interrupted speech was resumed. */
  noteResumed(): void {
    this.#fact({ kind: 'interruption', index: null, resumed: true })
  }

  /** The call leg has served a `leg-request`. `receipt` goes into the ledger where the request has a row there. */
  legAnswered(requestId: string, answer: LegAnswer, receipt: Receipt | null = null): void {
    this.#queue.enqueue(() => this.#executor.telephony.answered(requestId, answer, receipt))
  }

  /**
   * The far end has hung up. Aborts model requests and speeches, and stops actions that were not sent yet. Actions that were
   * sent are finished and recorded, and so is what was heard, when it is reported. No `ended` follows.
   */
  stop(): void {
    const at = this.#state
    if (at === 'ended' || at === 'stopped') return
    this.#state = 'stopped'
    this.#ending.cancel()
    this.#executor.preemptive.drop()
    this.#modelRequests.abortAll()
    this.#speechQueue.withdrawAll()
    this.#speechQueue.close()
    this.#executor.closeKnowledge()
    this.#executor.telephony.abandon()
    // After the end of the flow its last actions are still sent.
    if (at !== 'ending') this.#executor.actions.abort()
  }

  /** Resolves when no action and no transfer is in progress, the ledger has stored all outcomes, and all usage is reported. */
  settled(): Promise<void> {
    return this.#executor.settled()
  }

  get utterances(): readonly Utterance[] {
    return this.#record.utterances
  }

  /** What was heard, newest last, as messages for a model. */
  get memory(): readonly ChatMessage[] {
    return this.#memory.messages()
  }

  /** The variables that were set. */
  get variables(): Readonly<Record<string, string>> {
    return this.#flow.variables()
  }

  variable(name: string): string | undefined {
    return this.#flow.variable(name, this.#options.wallClock())
  }

  /** How long the caller has waited since their last turn: for a model's first words, for actions. Overlaps count once. */
  spentSinceTurn(): { readonly modelMs: Ms; readonly actionMs: Ms } {
    return { modelMs: this.#waits.spent('model'), actionMs: this.#waits.spent('action') }
  }

  #input(input: FlowInput): void {
    this.#queue.enqueue(() => {
      if (this.#state === 'talking') feed(this.#context, input)
    })
  }

  /** A limit also ends a conversation whose last words are still being played. */
  #limit(input: FlowInput): void {
    this.#queue.enqueue(() => {
      if (this.#state === 'talking') feed(this.#context, input)
      else this.#ending.cutShort()
    })
  }

  #end(outcome: FlowOutcome, endedBy: 'agent' | 'system', code: string | null): void {
    if (this.#state !== 'talking') return
    this.#state = 'ending'
    this.#ending.begin({ type: 'ended', outcome, ended_by: endedBy, code })
  }

  #onEnded(event: Ended): void {
    this.#busy.report(false, false)
    this.#state = 'ended'
    this.#executor.closeKnowledge()
    this.#speechQueue.close()
    this.#emit(event)
  }

  #reportBusy(): void {
    if (this.#state === 'talking') this.#busy.report(this.#executor.isBusy, this.#executor.workingOn !== null)
  }

  /** Tells what the caller is asked now, after the agent's words `agentWords`. */
  #ask(agentWords: string): void {
    if (this.#state !== 'talking') return
    const expectation = this.#flow.expectation(this.#options.wallClock())
    this.#emit({ type: 'question', question: { agentWords, ...expectation } })
  }

  #fact(fact: TimelineFact): void {
    this.#emit({ type: 'fact', fact })
  }

  #emit(event: ConversationEvent): void {
    this.#events.emit(event)
  }
}
