import { type ModelRef, render } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import { type ConversationContext, feed, speak } from './conversation-context.ts'
import { apology, languageOf } from './model/agent-language.ts'
import type { Setting } from './model/instructions.ts'
import { choiceRequest, judge, type Question } from './model/model-judgement.ts'
import { ModelMeter } from './model/model-meter.ts'
import { ModelRequests } from './model/model-requests.ts'
import { PreemptiveGeneration } from './model/preemptive-generation.ts'
import { type Prompt, type ReplyEnd, reply, replyRequest } from './model/reply.ts'
import type { Speech } from './speeches.ts'

const DEFAULT_EVENT_MS: Ms = 10_000
const DEFAULT_ANSWER_MS: Ms = 60_000
const MOST_FAILURES_IN_A_ROW = 3
const MINUTE_MS = 60_000
const PROVIDER_FAILED = 'provider_failed'

type Asked = 'prompt' | Question['type']

type Decision = Extract<Question, { type: 'decide' }>

type OnTool = (prompt: Prompt, actionId: string, args: Readonly<Record<string, unknown>>) => void

/** Has the model speak, choose, and read things off the conversation; bears with its failures. */
export class ModelTurns {
  readonly #with: ConversationContext
  readonly #requests: ModelRequests
  readonly #meter: ModelMeter | null
  readonly #onTool: OnTool
  /** Answers that were asked for before the caller had certainly finished. */
  readonly preemptive: PreemptiveGeneration
  #failuresInARow = 0
  /** The same by what was asked: a model that decides well may still read nothing. */
  readonly #failuresOf = new Map<Asked, number>()
  #hasApologised = false
  /** What is said while something is done. */
  #fillers: { readonly requestId: string; readonly speech: Speech }[] = []

  constructor(ensemble: ConversationContext, onTool: OnTool) {
    const { ledger, time, budgets, onUsed } = ensemble.options
    const meter = onUsed === undefined ? null : new ModelMeter(onUsed)
    const models = (ref: ModelRef | null) => {
      const model = ensemble.options.models(ref)
      return meter === null ? model : meter.metered(model)
    }
    this.#with = ensemble
    this.#meter = meter
    this.preemptive = new PreemptiveGeneration({ models, ledger })
    const { preemptive } = this
    const eventMs = budgets?.eventMs ?? DEFAULT_EVENT_MS
    this.#requests = new ModelRequests({ models, ledger, preemptive, time, eventMs })
    this.#onTool = onTool
  }

  /** Asks now what is about to be asked once the caller's turn, `text`, is over. */
  getAhead(ahead: Prompt | Decision, text: string, globalPrompt: string): void {
    const { memory, options } = this.#with
    const messages = memory.messagesAfter(text)
    const setting = this.#setting(ahead.type === 'prompt' ? ahead.global_prompt : globalPrompt)
    const temperature = options.plan.settings.modelTemperature
    const request =
      ahead.type === 'prompt'
        ? replyRequest({ prompt: ahead, setting, messages, temperature })
        : choiceRequest({ setting, messages }, ahead)
    this.preemptive.begin(ahead.model, ahead.node_id, request)
  }

  /** What the model says to a prompt is one speech, announced at once so that it keeps its place among others. */
  prompt(prompt: Prompt): void {
    const { speeches, thinking, memory, options, happen } = this.#with
    const speech = speeches.begin(prompt.request_id, prompt.node_id, 'model')
    if (prompt.reason === 'during_execution') this.#fillers.push({ requestId: prompt.request_id, speech })
    const messages = memory.messagesAhead()
    let hasCalled = false
    thinking.begin(
      prompt.request_id,
      (signal, speaks) =>
        reply({
          requests: this.#requests,
          prompt,
          setting: this.#setting(prompt.global_prompt),
          temperature: options.plan.settings.modelTemperature,
          messages,
          deadline: this.#deadline(),
          signal,
          onText: delta => {
            speaks()
            happen(() => speeches.add(speech, delta))
          },
          onTool: (actionId, args) => {
            hasCalled = true
            happen(() => this.#onTool(prompt, actionId, args))
          },
        }),
      end => happen(() => this.#replied(prompt, speech, end, hasCalled)),
    )
  }

  #replied(prompt: Prompt, speech: Speech, end: ReplyEnd, hasCalled: boolean): void {
    const { speeches, options, isTalking } = this.#with
    const isOvertaken = speech.state !== 'open'
    speeches.complete(speech)
    if (isOvertaken || !isTalking()) return
    this.#take('prompt', end)
    if (!isTalking()) return
    if (end.failure !== null && !hasCalled && this.#isAwaited(prompt)) {
      // A task has nobody who would ask again: without its words it is not done.
      if (!options.mode.hasCaller) return this.#with.end('error', 'system', PROVIDER_FAILED)
      this.#apologise(prompt.node_id)
    }
    feed(this.#with, { type: 'chosen', request_id: prompt.request_id, choice_id: end.chosen })
  }

  /** Nobody waits for last words, nor for words that pass the time. */
  #isAwaited({ reason, isLast }: Prompt): boolean {
    return reason !== 'during_execution' && !isLast
  }

  #apologise(nodeId: string): void {
    if (this.#hasApologised) return
    this.#hasApologised = true
    speak(this.#with, null, nodeId, apology(languageOf(this.#with.options.plan)))
  }

  /** It is done: what has no words yet need not be said any more, and must not hold up what comes next. */
  dropFillers(): void {
    const { thinking, speeches } = this.#with
    for (const { requestId, speech } of this.#fillers.splice(0)) {
      if (speech.line.text !== '') continue
      thinking.abort(requestId)
      speeches.complete(speech)
    }
  }

  ask(question: Question): void {
    const { thinking, memory, options, flow, happen, isTalking } = this.#with
    const { request_id } = question
    const messages = memory.messagesAhead()
    const globalPrompt = render(options.plan.flow.global_prompt, name => flow.variable(name, options.wallClock()))
    const setting = this.#setting(globalPrompt)
    const requests = this.#requests
    const deadline = this.#deadline()
    thinking.begin(
      request_id,
      signal => judge({ requests, question, setting, messages, deadline, signal }),
      judgement =>
        happen(() => {
          if (!isTalking()) return
          this.#take(question.type, judgement)
          const { value, failure } = judgement
          if (question.type !== 'decide') return feed(this.#with, { type: 'inferred', request_id, value })
          this.#chosen(question, typeof value === 'string' ? value : null, failure !== null)
        }),
    )
  }

  /** Where a failed model leaves the flow without anything to do, the caller would wait in vain. */
  #chosen({ request_id, node_id }: Decision, choice_id: string | null, hasFailed: boolean): void {
    const { handle, perform, options } = this.#with
    const input = { type: 'chosen', request_id, choice_id } as const
    const outputs = handle(input)
    perform(outputs, input)
    if (hasFailed && outputs.length === 0 && options.mode.hasCaller) this.#apologise(node_id)
  }

  /** Failures are told; too many in a row end the conversation. */
  #take(asked: Asked, { failure, mishaps }: Pick<ReplyEnd, 'failure' | 'mishaps'>): void {
    const { onFact, end } = this.#with
    for (const { code, message } of mishaps) onFact({ kind: 'error', code, message })
    if (failure === null) {
      this.#failuresInARow = 0
      this.#failuresOf.delete(asked)
      this.#hasApologised = false
      return
    }
    onFact({ kind: 'error', code: failure.code, message: failure.message })
    const ofThese = (this.#failuresOf.get(asked) ?? 0) + 1
    this.#failuresOf.set(asked, ofThese)
    if (Math.max(++this.#failuresInARow, ofThese) >= MOST_FAILURES_IN_A_ROW) end('error', 'system', PROVIDER_FAILED)
  }

  #setting(globalPrompt: string): Setting {
    const { plan, mode, wallClock } = this.#with.options
    // To the minute: the same question a moment later is the same request.
    const minute = Math.floor(wallClock() / MINUTE_MS) * MINUTE_MS
    const currentTime = this.#with.flow.variable('current_time', minute) ?? ''
    return { channel: mode.channel, language: languageOf(plan), globalPrompt, currentTime }
  }

  #deadline(): Ms {
    const { time, budgets } = this.#with.options
    return time.now() + (budgets?.answerMs ?? DEFAULT_ANSWER_MS)
  }

  /** When the ledger has the rows of all requests that ended, and what they cost is told. */
  async written(): Promise<void> {
    this.preemptive.drop()
    await Promise.all([this.#requests.written(), this.preemptive.written(), this.#meter?.over(this.#with.options.time)])
  }
}
