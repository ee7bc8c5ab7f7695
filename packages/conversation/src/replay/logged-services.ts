import type { AudioFormat } from '@parley/kernel'
import type { GenerationEvent, LanguageModel } from '@parley/providers'
import type { ConversationOptions } from '../conversation-options.ts'
import { ConversationError } from '../errors.ts'
import type { EffectLedger, EffectRecord } from '../ledger.ts'
import type { ActionOutcome, ActionPhase, ActionRequest, ActionRunner, KnowledgeSearcher } from '../ports.ts'
import { type AnswerCodec, type Inputs, MODEL_AHEAD } from './inputs.ts'
import { errorOf, failureOf, type StoredFailure } from './stored-failure.ts'

/** The services of a conversation. */
type ConversationServices = Pick<
  ConversationOptions,
  'models' | 'fallbackModels' | 'actions' | 'knowledge' | 'ledger' | 'transferPolicy'
>

type ChosenModel = { readonly identity: LanguageModel['identity'] } | { readonly failure: StoredFailure }

const NOT_ASKED: ChosenModel = { failure: failureOf(new ConversationError('model_failed')) }

interface StoredSpeech {
  readonly type: 'speech'
  readonly delta: string
  readonly samples: number
  readonly format: AudioFormat
}

const AS_IT_IS = { encode: (value: unknown) => value, decode: (value: unknown) => value as never }

/** Events of a model; what it speaks itself is logged without its audio. */
const MODEL_EVENTS: AnswerCodec<GenerationEvent> = {
  encode: event => {
    if (event.type !== 'speech') return event
    const { type, delta, samples, speech } = event
    return { type, delta, samples: samples.length, format: speech.format }
  },
  decode: stored => {
    const event = stored as GenerationEvent | StoredSpeech
    if (event.type !== 'speech') return event
    const { delta, samples, format } = event as StoredSpeech
    return { type: 'speech', delta, samples: new Int16Array(samples), speech: { format, heard: () => {} } }
  },
}

/** The services of a conversation, whose answers are inputs. */
export function loggedServices(services: ConversationServices, inputs: Inputs): ConversationServices {
  const { models, fallbackModels, actions, knowledge, ledger, transferPolicy } = services
  return {
    models: (ref, isAhead) => loggedModel(() => models(ref, isAhead), inputs, isAhead ? MODEL_AHEAD : 'model'),
    ...(fallbackModels && { fallbackModels: fallbackModels.map(model => loggedModel(() => model, inputs, 'model')) }),
    actions: loggedActions(actions, inputs),
    knowledge: knowledge && loggedKnowledge(knowledge, inputs),
    ledger: loggedLedger(ledger, inputs),
    transferPolicy: destination => inputs.read('policy', () => transferPolicy(destination)),
  }
}

/** A replay has no models: their names come from the log. Throws what `choose` throws. */
function loggedModel(choose: () => LanguageModel, inputs: Inputs, kind: string): LanguageModel {
  let model: LanguageModel | null = null
  const choice = (): ChosenModel => {
    try {
      model = choose()
      return { identity: model.identity }
    } catch (error) {
      return { failure: failureOf(error) }
    }
  }
  const chosen = inputs.read(kind, choice, kind === MODEL_AHEAD ? NOT_ASKED : undefined)
  if ('failure' in chosen) throw errorOf(chosen.failure)
  const { identity } = chosen
  return {
    identity,
    readiness: async () => null,
    generate: (request, signal) =>
      inputs.stream<GenerationEvent>({ kind, request: { identity, ...request }, codec: MODEL_EVENTS }, () =>
        (model ?? choose()).generate(request, signal),
      ),
    close: async () => {},
  }
}

function loggedActions(runner: ActionRunner, inputs: Inputs): ActionRunner {
  return {
    run: ({ onPhase, ...request }, signal) => {
      return inputs.call<ActionOutcome, ActionPhase>(
        { kind: 'action', request: sentBy(request), codec: AS_IT_IS },
        progress => runner.run({ ...request, onPhase: progress }, signal),
        onPhase,
      )
    },
  }
}

/** Members of an action that do not change what is sent: its arguments were made of `parameters`. */
const NOT_SENT: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'response_variables'])

/** What an action sends, with the values of its variables; code may read any variable. */
function sentBy(request: Omit<ActionRequest, 'onPhase'>): unknown {
  const { action, arguments: args, node_id, ordinal, variables, render } = request
  const sent = Object.entries(action).filter(([name]) => !NOT_SENT.has(name))
  const read = action.kind === 'code' ? variables : {}
  return { action: rendered(Object.fromEntries(sent), render), args, node_id, ordinal, read }
}

function rendered(value: unknown, render: ActionRequest['render']): unknown {
  if (typeof value === 'string') return render(value)
  if (Array.isArray(value)) return value.map(item => rendered(item, render))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rendered(member, render)]))
}

function loggedKnowledge(searcher: KnowledgeSearcher, inputs: Inputs): KnowledgeSearcher {
  return {
    search: (query, signal) =>
      inputs.call({ kind: 'knowledge', request: query, codec: AS_IT_IS }, () => searcher.search(query, signal)),
  }
}

/** Rows of model requests are not logged: nothing depends on them. */
function loggedLedger(ledger: EffectLedger, inputs: Inputs): EffectLedger {
  const inference = new Set<string>()
  const logged = (step: string, request: unknown, start: () => Promise<EffectRecord>) =>
    inputs.call<EffectRecord>({ kind: 'ledger', request: [step, request], codec: AS_IT_IS }, start)
  return {
    intend: async intent => {
      if (intent.kind !== 'gateway_inference') return logged('intend', intent, () => ledger.intend(intent))
      const record = await ledger.intend(intent)
      inference.add(record.effect_id)
      return record
    },
    decide: (id, decision) => logged('decide', [id, decision], () => ledger.decide(id, decision)),
    sending: id => (inference.has(id) ? ledger.sending(id) : logged('sending', id, () => ledger.sending(id))),
    settle: (id, outcome) =>
      inference.has(id)
        ? ledger.settle(id, outcome)
        : logged('settle', [id, outcome], () => ledger.settle(id, outcome)),
  }
}
