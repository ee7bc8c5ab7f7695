import { type ModelRef, render } from '@parley/flow'
import type { Ms } from '@parley/kernel'
import type { ChatMessage, LanguageModel } from '@parley/providers'
import { type ConversationContext, feed, speak } from './conversation-context.ts'
import { usesKnowledge } from './knowledge/node-knowledge.ts'
import { type RetrievedKnowledge, TurnKnowledge, type TurnPassages } from './knowledge/turn-knowledge.ts'
import { fixedTexts } from './model/agent-language.ts'
import type { PromptContext } from './model/instructions.ts'
import { ModelMeter } from './model/model-meter.ts'
import { paceOf } from './model/model-pace.ts'
import { askQuestion, choiceRequest, type Question } from './model/model-questions.ts'
import { ModelRequests } from './model/model-requests.ts'
import { PreemptiveGeneration } from './model/preemptive-generation.ts'
import { RepeatedApology, type ReplyGate } from './model/repeated-apology.ts'
import { type Prompt, type ReplyEnd, reply, replyRequest } from './model/reply.ts'
import { strictModel } from './model/strict-model.ts'
import type { KnowledgePassage } from './ports.ts'
import { redactedModel } from './redaction/redacted-model.ts'
import type { Speech } from './speech-queue.ts'

const DEFAULT_EVENT_MS: Ms = 10_000
const DEFAULT_ANSWER_MS: Ms = 60_000
const MAX_CONSECUTIVE_FAILURES = 3
const MINUTE_MS = 60_000
/** A caller hears a pause; a chat is written at leisure. */
const KNOWLEDGE_WAIT_MS: Ms = 150
const KNOWLEDGE_WAIT_IN_TEXT_MS: Ms = 2000
/** Prompts that answer nothing the caller has just said. */
const WITHOUT_KNOWLEDGE: ReadonlySet<Prompt['reason']> = new Set(['reminder', 'reminder_again', 'during_execution'])
const PROVIDER_FAILED = 'provider_failed'

type RequestKind = 'prompt' | Question['type']

type Decision = Extract<Question, { type: 'decide' }>

type OnTool = (prompt: Prompt, actionId: string, args: Readonly<Record<string, unknown>>) => void

/** Requests speech, choices and inferred values from the model, and handles its failures. */
export class ModelTurns {
  readonly #context: ConversationContext
  readonly #requests: ModelRequests
  readonly #meter: ModelMeter | null
  readonly #onTool: OnTool
  /** Answers that were requested before the caller's turn was certainly over. */
  readonly preemptive: PreemptiveGeneration
  /** Null: the agent has no documents. */
  readonly knowledge: TurnKnowledge | null
  #consecutiveFailures = 0
  /** Consecutive failures by kind of request: a model that chooses well may still fail at every extraction. */
  readonly #failuresOf = new Map<RequestKind, number>()
  readonly #repeatedApology = new RepeatedApology()
  #apologies = 0
  /** Speeches that fill the time while an action runs. */
  #fillers: { readonly requestId: string; readonly speech: Speech }[] = []

  constructor(context: ConversationContext, onTool: OnTool) {
    const { ledger, time, budgets, onUsage } = context.options
    const meter = onUsage === undefined ? null : new ModelMeter(onUsage)
    const { toolCallStrictMode, redaction } = context.options.plan.settings
    const prepared = (given: LanguageModel) => {
      const seeing = redaction?.hideFromModel === true ? redactedModel(given, redaction) : given
      const model = toolCallStrictMode ? strictModel(seeing) : seeing
      return meter === null ? model : meter.metered(model)
    }
    const models = (ref: ModelRef | null) => prepared(context.options.models(ref))
    this.#context = context
    this.#meter = meter
    this.preemptive = new PreemptiveGeneration({ models: ref => prepared(context.options.models(ref, true)), ledger })
    const { preemptive } = this
    const eventMs = budgets?.eventMs ?? DEFAULT_EVENT_MS
    const { fallbackModels = [] } = context.options
    this.#requests = new ModelRequests({
      models,
      paces: ref => paceOf(context.options.models(ref)),
      ledger,
      preemptive,
      time,
      eventMs,
      lateAfterMs: budgets?.lateAfterMs ?? null,
      fallbacks: fallbackModels.map(prepared),
      onFact: context.onFact,
    })
    this.#onTool = onTool
    this.knowledge = knowledgeOf(context)
  }

  /** Sends the request that will follow the caller's turn `text` before the turn is certainly over. */
  startPreemptiveGeneration(ahead: Prompt | Decision, text: string, globalPrompt: string): void {
    const { memory, options } = this.#context
    const messages = memory.messagesAfter(text)
    const promptContext = this.#promptContext(ahead.type === 'prompt' ? ahead.global_prompt : globalPrompt)
    const temperature = options.plan.settings.modelTemperature
    const { preemptive } = this
    if (ahead.type !== 'prompt')
      return preemptive.begin(ahead.model, ahead.node_id, choiceRequest({ promptContext, messages }, ahead))
    const begin = (passages: readonly KnowledgePassage[]) =>
      preemptive.begin(
        ahead.model,
        ahead.node_id,
        replyRequest({ prompt: ahead, promptContext, messages, temperature, passages }),
      )
    const retrieved = this.#retrieved(ahead, messages)
    if (!(retrieved instanceof Promise)) return begin(retrieved?.passages ?? [])
    const { epoch } = preemptive
    void retrieved.then(found => {
      if (preemptive.epoch === epoch) begin(found?.passages ?? [])
    })
  }

  /** Requests the model's reply to a prompt. The reply is one speech, which begins at once to keep its position in the queue. */
  prompt(prompt: Prompt): void {
    const { speeches, modelRequests, memory, options, enqueue } = this.#context
    const speech = speeches.begin(prompt.request_id, prompt.node_id, 'model')
    if (prompt.reason === 'during_execution') this.#fillers.push({ requestId: prompt.request_id, speech })
    const messages = memory.messagesAhead()
    const did = { call: false, speak: false }
    const gate = this.#repeatedApology.reply()
    const retrieved = this.#retrieved(prompt, messages)
    const ask = (passages: readonly KnowledgePassage[], signal: AbortSignal, speaks: () => void) =>
      reply({
        passages,
        requests: this.#requests,
        prompt,
        promptContext: this.#promptContext(prompt.global_prompt),
        temperature: options.plan.settings.modelTemperature,
        messages,
        deadline: this.#deadline(),
        signal,
        onText: delta => {
          const text = gate.push(delta)
          if (text === '') return
          did.speak = true
          speaks()
          enqueue(() => speeches.add(speech, text))
        },
        onSpeech: piece => {
          did.speak = true
          speaks()
          enqueue(() => speeches.play(speech, piece))
        },
        onTool: (actionId, args) => {
          did.call = true
          enqueue(() => this.#onTool(prompt, actionId, args))
        },
      })
    modelRequests.begin(
      prompt.request_id,
      // An answer that was requested early is used only at once.
      (signal, speaks) =>
        retrieved instanceof Promise
          ? retrieved.then(found => ask(this.#used(prompt, found), signal, speaks))
          : ask(this.#used(prompt, retrieved), signal, speaks),
      end => enqueue(() => this.#replied(prompt, { speech, gate }, end, did)),
    )
  }

  /** The passages for the caller's last turn. */
  #retrieved(prompt: Prompt, messages: readonly ChatMessage[]): TurnPassages {
    if (this.knowledge === null || WITHOUT_KNOWLEDGE.has(prompt.reason)) return null
    return this.knowledge.forTurn(prompt.node_id, messages)
  }

  /** Records the passages that go to the model. */
  #used({ node_id }: Prompt, retrieved: RetrievedKnowledge | null): readonly KnowledgePassage[] {
    if (retrieved === null || retrieved.passages.length === 0) return []
    const { generation_id, passages, searchMs, waitedMs } = retrieved
    const items = passages.map(({ document_id, title, chunk_index, score }) => ({
      document_id,
      title,
      chunk_index,
      score,
    }))
    const fact = { kind: 'knowledge', node_id, generation_id, items, search_ms: searchMs, waited_ms: waitedMs } as const
    this.#context.onFact(fact)
    return passages
  }

  #replied(
    prompt: Prompt,
    { speech, gate }: { readonly speech: Speech; readonly gate: ReplyGate },
    end: ReplyEnd,
    did: { readonly call: boolean; readonly speak: boolean },
  ): void {
    const { speeches, options, isTalking } = this.#context
    const isOutdated = speech.state !== 'open'
    const rest = gate.end()
    if (end.chosen !== null) this.#repeatedApology.reset()
    if (!isOutdated && isTalking() && typeof rest === 'number' && end.chosen === null) {
      if (this.#escalates(prompt, speech, rest)) return
    } else if (typeof rest === 'string' && end.chosen === null) speeches.add(speech, rest)
    speeches.complete(speech)
    if (isOutdated || !isTalking()) return
    this.#recordFailure('prompt', end)
    if (!isTalking()) return
    // Asked a second time, because the caller waits, the model has no words again: the caller is not left in silence.
    const isMute =
      options.mode.hasCaller && prompt.reason === 'stuck' && end.chosen === null && !did.speak && rest === ''
    if ((end.failure !== null || isMute) && !did.call && this.#isAwaited(prompt)) {
      // A task has no caller who would ask again, so it fails without the model's words.
      if (!options.mode.hasCaller) return this.#context.end('error', 'system', PROVIDER_FAILED)
      this.#apologise(prompt.node_id)
    }
    feed(this.#context, { type: 'chosen', request_id: prompt.request_id, choice_id: end.chosen })
  }

  /** Whether the caller waits for the reply: not for last words, nor for words that fill the time while an action runs. */
  #isAwaited({ reason, isLast }: Prompt): boolean {
    return reason !== 'during_execution' && !isLast
  }

  #apologise(nodeId: string): void {
    const texts = fixedTexts(this.#context.language.current)
    const text = [texts.apology, texts.secondApology][this.#apologies++]
    if (text !== undefined) speak(this.#context, null, nodeId, text)
  }

  /**
   * The model apologises with the same words for the time after `times`: other words are spoken, then keys are offered, then a
   * transfer is taken where there is one, else the call ends. Returns whether the speech has been dealt with.
   */
  #escalates({ node_id, isLast }: Prompt, speech: Speech, times: number): boolean {
    const { options, speeches, onFact, handle, perform, end } = this.#context
    const { plan, mode } = options
    if (!mode.hasCaller || isLast) return false
    const texts = fixedTexts(this.#context.language.current)
    const offersKeys = mode.channel === 'phone' && plan.settings.allowUserDtmf
    const words = [texts.otherWords, offersKeys ? texts.keys : texts.fewWords][times - 1]
    if (words !== undefined) {
      speeches.add(speech, words)
      return false
    }
    speeches.complete(speech)
    onFact({
      kind: 'error',
      code: 'no_progress',
      message: `The agent would have apologised with the same words ${times + 1} times in a row.`,
    })
    const input = { type: 'no_progress' } as const
    const outputs = handle(input)
    this.#repeatedApology.reset()
    if (outputs.length > 0) perform(outputs, input)
    else {
      speak(this.#context, null, node_id, texts.noProgressFarewell)
      end('agent_hung_up', 'agent', null)
    }
    return true
  }

  /** Aborts fillers that have no words yet: the action is done, and they would delay the next words. */
  dropFillers(): void {
    const { modelRequests, speeches } = this.#context
    for (const { requestId, speech } of this.#fillers.splice(0)) {
      if (speech.line.text !== '') continue
      modelRequests.abort(requestId)
      speeches.complete(speech)
    }
  }

  /** Has the model write a text that is spoken later; empty: it failed. Never rejects. */
  async compose(instruction: string, nodeId: string | null): Promise<string> {
    const { options, flow, onFact } = this.#context
    const globalPrompt = render(options.plan.flow.global_prompt, name => flow.variable(name, options.wallClock()))
    const prompt: Prompt = {
      type: 'prompt',
      request_id: 'composed',
      node_id: nodeId ?? '',
      reason: 'enter',
      global_prompt: globalPrompt,
      instruction: { type: 'prompt', text: instruction },
      choices: [],
      tools: [],
      isLast: true,
      model: null,
    }
    const request = {
      ...replyRequest({
        prompt,
        promptContext: this.#promptContext(globalPrompt),
        messages: [],
        passages: [],
        temperature: options.plan.settings.modelTemperature,
      }),
      spoken: false,
    }
    let text = ''
    const { signal } = new AbortController()
    const end = await this.#requests.ask({
      model: null,
      nodeId,
      request,
      deadline: this.#deadline(),
      signal,
      onEvent: event => {
        if (event.type === 'text') text += event.delta
        return undefined
      },
    })
    if (end.type === 'finished') return text.trim()
    if (end.type === 'failed') onFact({ kind: 'error', code: end.code, message: end.message })
    return ''
  }

  /** Asks the model a question of the flow, which it answers without speaking. */
  ask(question: Question): void {
    const { modelRequests, memory, options, flow, enqueue, isTalking } = this.#context
    const { request_id } = question
    const messages = memory.messagesAhead()
    const globalPrompt = render(options.plan.flow.global_prompt, name => flow.variable(name, options.wallClock()))
    const promptContext = this.#promptContext(globalPrompt)
    const requests = this.#requests
    const deadline = this.#deadline()
    modelRequests.begin(
      request_id,
      signal => askQuestion({ requests, question, promptContext, messages, deadline, signal }),
      answer =>
        enqueue(() => {
          if (!isTalking()) return
          this.#recordFailure(question.type, answer)
          const { value, failure } = answer
          if (question.type !== 'decide') return feed(this.#context, { type: 'inferred', request_id, value })
          this.#chosen(question, typeof value === 'string' ? value : null, failure !== null)
        }),
    )
  }

  /** Gives the flow the model's choice. Apologises where the model failed and the flow does nothing, so that the caller is not left in silence. */
  #chosen({ request_id, node_id }: Decision, choice_id: string | null, hasFailed: boolean): void {
    const { handle, perform, options } = this.#context
    const input = { type: 'chosen', request_id, choice_id } as const
    const outputs = handle(input)
    perform(outputs, input)
    if (hasFailed && outputs.length === 0 && options.mode.hasCaller) this.#apologise(node_id)
  }

  /** Records the errors of a request; {@link MAX_CONSECUTIVE_FAILURES} failures in a row end the conversation. */
  #recordFailure(kind: RequestKind, { failure, recoveredErrors }: Pick<ReplyEnd, 'failure' | 'recoveredErrors'>): void {
    const { onFact, end } = this.#context
    for (const { code, message } of recoveredErrors) onFact({ kind: 'error', code, message })
    if (failure === null) {
      this.#consecutiveFailures = 0
      this.#failuresOf.delete(kind)
      this.#apologies = 0
      return
    }
    onFact({ kind: 'error', code: failure.code, message: failure.message })
    const ofKind = (this.#failuresOf.get(kind) ?? 0) + 1
    this.#failuresOf.set(kind, ofKind)
    if (Math.max(++this.#consecutiveFailures, ofKind) >= MAX_CONSECUTIVE_FAILURES)
      end('error', 'system', PROVIDER_FAILED)
  }

  #promptContext(globalPrompt: string): PromptContext {
    const { mode, wallClock } = this.#context.options
    // Rounded to the minute, so that the same question a moment later makes an equal request.
    const minute = Math.floor(wallClock() / MINUTE_MS) * MINUTE_MS
    const currentTime = this.#context.flow.variable('current_time', minute) ?? ''
    const { current: language, hasChanged: hasChangedLanguage } = this.#context.language
    return { channel: mode.channel, language, hasChangedLanguage, globalPrompt, currentTime }
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

function knowledgeOf({ options, onFact }: ConversationContext): TurnKnowledge | null {
  const { plan, knowledge, mode, time, budgets } = options
  if (knowledge === undefined || !usesKnowledge(plan)) return null
  const usual = mode.channel === 'cloud' ? KNOWLEDGE_WAIT_IN_TEXT_MS : KNOWLEDGE_WAIT_MS
  return new TurnKnowledge({ plan, searcher: knowledge, time, waitMs: budgets?.knowledgeMs ?? usual, onFact })
}
