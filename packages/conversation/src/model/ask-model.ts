import type { Ms } from '@parley/kernel'
import type { ChatMessage, GenerationEvent, GenerationRequest, ToolCall } from '@parley/providers'
import type { AnswerEnd } from './answer.ts'
import type { ModelRequest, ModelRequests } from './model-requests.ts'

/** How long to wait for further calls of the same answer after a call that settles it. */
const LAST_CALLS_MS: Ms = 250

/** A piece of an answer that the model speaks itself. */
export type SpokenPiece = Extract<GenerationEvent, { type: 'speech' }>

/** The verdict on a tool call of the model; `result` is the result that the model reads. */
export type Verdict =
  | { readonly type: 'taken'; readonly result: string }
  /** The call decides the answer; the rest of it is not read. */
  | { readonly type: 'settled'; readonly result: string }
  /** The model gets the error as a result and is asked again, once. */
  | { readonly type: 'refused'; readonly code: string; readonly result: string }

interface AskModelOptions extends Omit<ModelRequest, 'onEvent'> {
  readonly requests: ModelRequests
  /** Returns false when no more text is accepted. */
  readonly onText: (delta: string) => boolean
  /** A piece of an answer that the model speaks itself. Returns as `onText`. Default: it is ignored. */
  readonly onSpeech?: (piece: SpokenPiece) => boolean
  readonly onCall: (call: ToolCall, args: Readonly<Record<string, unknown>> | null) => Verdict
}

interface AskModelResult {
  readonly end: AnswerEnd
  /** Codes of the calls that were refused in the last round. */
  readonly refused: readonly string[]
}

interface Round {
  readonly text: string
  readonly calls: readonly { readonly call: ToolCall; readonly verdict: Verdict }[]
  readonly end: AnswerEnd
}

/** Sends a request to a model. A call of an unknown tool, or with invalid arguments, is answered with the error, once. Never rejects. */
export async function askModel(options: AskModelOptions): Promise<AskModelResult> {
  const first = await askOnce(options, options.request)
  const refused = refusedIn(first)
  const isSettled = first.calls.some(({ verdict }) => verdict.type === 'settled')
  if (refused.length === 0 || isSettled || first.end.type !== 'finished') return { end: first.end, refused }
  if (first.text !== '' && !options.onText(' ')) return { end: first.end, refused }
  const messages = [...options.request.messages, ...corrections(first)]
  const second = await askOnce(onceOnly(options, first), { ...options.request, messages })
  return { end: second.end, refused: refusedIn(second) }
}

/** Options for the second round, in which a call that was taken in the first is not carried out again. */
function onceOnly(options: AskModelOptions, { calls }: Round): AskModelOptions {
  const onCall: AskModelOptions['onCall'] = (call, args) => {
    const same = calls.find(
      ({ call: { name, argumentsText }, verdict }) =>
        verdict.type === 'taken' && name === call.name && argumentsText === call.argumentsText,
    )
    return same?.verdict ?? options.onCall(call, args)
  }
  return { ...options, onCall }
}

async function askOnce(options: AskModelOptions, request: GenerationRequest): Promise<Round> {
  let text = ''
  const calls: Round['calls'][number][] = []
  const onEvent = (event: GenerationEvent): Ms | undefined => {
    if (event.type === 'text') {
      text += event.delta
      return options.onText(event.delta) ? undefined : 0
    }
    if (event.type === 'speech') {
      text += event.delta
      return options.onSpeech === undefined || options.onSpeech(event) ? undefined : 0
    }
    if (event.type !== 'tool-call') return undefined
    const verdict = options.onCall(event.call, event.arguments)
    calls.push({ call: event.call, verdict })
    return verdict.type === 'settled' ? LAST_CALLS_MS : undefined
  }
  const { requests, model, nodeId, deadline, signal } = options
  const end = await requests.ask({ model, nodeId, request, deadline, signal, onEvent })
  return { text, calls, end }
}

function refusedIn({ calls }: Round): string[] {
  return calls.flatMap(({ verdict }) => (verdict.type === 'refused' ? [verdict.code] : []))
}

function corrections({ text, calls }: Round): ChatMessage[] {
  return [
    // Some servers parse the arguments in the history and fail on invalid JSON.
    {
      role: 'assistant',
      content: text,
      toolCalls: calls.map(({ call, verdict }) =>
        verdict.type === 'refused' ? { ...call, argumentsText: '{}' } : call,
      ),
    },
    ...calls.map(({ call, verdict }): ChatMessage => {
      return { role: 'tool', toolCallId: call.id, content: verdict.result }
    }),
  ]
}
