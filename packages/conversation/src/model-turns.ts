import { type ModelRef, render } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import { type ConversationContext, feed, speak } from './conversation-context.ts'
import { apology, languageOf } from './model/agent-language.ts'
import type { PromptContext } from './model/instructions.ts'
import { choiceRequest, judge, type Question } from './model/model-judgement.ts'
import { ModelMeter } from './model/model-meter.ts'
import { ModelRequests } from './model/model-requests.ts'
import { PreemptiveGeneration } from './model/preemptive-generation.ts'
import { type Prompt, type ReplyEnd, reply, replyRequest } from './model/reply.ts'
import type { Speech } from './speech-queue.ts'

const DEFAULT_EVENT_MS: Ms = 10_000
const DEFAULT_ANSWER_MS: Ms = 60_000
const MOST_FAILURES_IN_A_ROW = 3
const MINUTE_MS = 60_000
const PROVIDER_FAILED = 'provider_failed'

type Asked = 'prompt' | Question['type']

type Decision = Extract<Question, { type: 'decide' }>

type OnTool = (prompt: Prompt, actionId: string, args: Readonly<Record<string, unknown>>) => void

/** Requests speech, choices and readings from the model, and handles its failures. */
export class ModelTurns {
  readonly #context: ConversationContext
  readonly #requests: ModelRequests
  readonly #meter: ModelMeter | null
  readonly #onTool: OnTool
  /** Answers that were asked for before the caller had certainly finished. */
  readonly preemptive: PreemptiveGeneration
  #failuresInARow = 0
  /** Failures in a row by kind of request: a model that decides well may still fail at every reading. */
  readonly #failuresOf = new Map<Asked, number>()
  #hasApologised = false
  /** Speeches that fill the time while an action runs. */
  #fillers: { readonly requestId: string; readonly speech: Speech }[] = []

  constructor(context: ConversationContext, onTool: OnTool) {
    const { ledger, time, budgets, onUsage } = context.options
    const meter = onUsage === undefined ? null : new ModelMeter(onUsage)
    const models = (ref: ModelRef | null) => {
      const model = context.options.models(ref)
      return meter === null ? model : meter.metered(model)
    }
    this.#context = context
    this.#meter = meter
    this.preemptive = new PreemptiveGeneration({ models, ledger })
    const { preemptive } = this
    const eventMs = budgets?.eventMs ?? DEFAULT_EVENT_MS
    this.#requests = new ModelRequests({ models, ledger, preemptive, time, eventMs })
    this.#onTool = onTool
  }

  /** Sends the request that will follow the caller's turn `text` before the turn is certainly over. */
  startPreemptiveGeneration(ahead: Prompt | Decision, text: string, globalPrompt: string): void {
    const { memory, options } = this.#context
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
    const { speeches, modelRequests, memory, options, enqueue } = this.#context
    const speech = speeches.begin(prompt.request_id, prompt.node_id, 'model')
    if (prompt.reason === 'during_execution') this.#fillers.push({ requestId: prompt.request_id, speech })
    const messages = memory.messagesAhead()
    let hasCalled = false
    modelRequests.begin(
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
            enqueue(() => speeches.add(speech, delta))
          },
          onTool: (actionId, args) => {
            hasCalled = true
            enqueue(() => this.#onTool(prompt, actionId, args))
          },
        }),
      end => enqueue(() => this.#replied(prompt, speech, end, hasCalled)),
    )
  }

  #replied(prompt: Prompt, speech: Speech, end: ReplyEnd, hasCalled: boolean): void {
    const { speeches, options, isTalking } = this.#context
    const isOvertaken = speech.state !== 'open'
    speeches.complete(speech)
    if (isOvertaken || !isTalking()) return
    this.#take('prompt', end)
    if (!isTalking()) return
    if (end.failure !== null && !hasCalled && this.#isAwaited(prompt)) {
      // In a task no caller asks again: without the model's words it has failed.
      if (!options.mode.hasCaller) return this.#context.end('error', 'system', PROVIDER_FAILED)
      this.#apologise(prompt.node_id)
    }
    feed(this.#context, { type: 'chosen', request_id: prompt.request_id, choice_id: end.chosen })
  }

  /** Whether the caller waits for these words: not for last words, nor for words that fill the time of an action. */
  #isAwaited({ reason, isLast }: Prompt): boolean {
    return reason !== 'during_execution' && !isLast
  }

  #apologise(nodeId: string): void {
    if (this.#hasApologised) return
    this.#hasApologised = true
    speak(this.#context, null, nodeId, apology(languageOf(this.#context.options.plan)))
  }

  /** Aborts fillers without words: the action is done, and they would delay the next words. */
  dropFillers(): void {
    const { modelRequests, speeches } = this.#context
    for (const { requestId, speech } of this.#fillers.splice(0)) {
      if (speech.line.text !== '') continue
      modelRequests.abort(requestId)
      speeches.complete(speech)
    }
  }

  ask(question: Question): void {
    const { modelRequests, memory, options, flow, enqueue, isTalking } = this.#context
    const { request_id } = question
    const messages = memory.messagesAhead()
    const globalPrompt = render(options.plan.flow.global_prompt, name => flow.variable(name, options.wallClock()))
    const setting = this.#setting(globalPrompt)
    const requests = this.#requests
    const deadline = this.#deadline()
    modelRequests.begin(
      request_id,
      signal => judge({ requests, question, setting, messages, deadline, signal }),
      judgement =>
        enqueue(() => {
          if (!isTalking()) return
          this.#take(question.type, judgement)
          const { value, failure } = judgement
          if (question.type !== 'decide') return feed(this.#context, { type: 'inferred', request_id, value })
          this.#chosen(question, typeof value === 'string' ? value : null, failure !== null)
        }),
    )
  }

  /** Apologises where the model failed and the flow has no next step: else the caller waits in silence. */
  #chosen({ request_id, node_id }: Decision, choice_id: string | null, hasFailed: boolean): void {
    const { handle, perform, options } = this.#context
    const input = { type: 'chosen', request_id, choice_id } as const
    const outputs = handle(input)
    perform(outputs, input)
    if (hasFailed && outputs.length === 0 && options.mode.hasCaller) this.#apologise(node_id)
  }

  /** Records a failure; three in a row end the conversation. */
  #take(asked: Asked, { failure, mishaps }: Pick<ReplyEnd, 'failure' | 'mishaps'>): void {
    const { onFact, end } = this.#context
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

  #setting(globalPrompt: string): PromptContext {
    const { plan, mode, wallClock } = this.#context.options
    // To the minute: the same question a moment later is the same request.
    const minute = Math.floor(wallClock() / MINUTE_MS) * MINUTE_MS
    const currentTime = this.#context.flow.variable('current_time', minute) ?? ''
    return { channel: mode.channel, language: languageOf(plan), globalPrompt, currentTime }
  }

  #deadline(): Ms {
    const { time, budgets } = this.#context.options
    return time.now() + (budgets?.answerMs ?? DEFAULT_ANSWER_MS)
  }

  /** Resolves when the ledger has stored all finished requests and their usage is reported. */
  async written(): Promise<void> {
    this.preemptive.drop()
    await Promise.all([
      this.#requests.written(),
      this.preemptive.written(),
      this.#meter?.over(this.#context.options.time),
    ])
  }
}
