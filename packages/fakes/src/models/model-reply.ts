import type { FakeDelays, ServiceFault } from '../protocol.ts'
import type { FakeChatRequest } from './chat-request.ts'
import type { FakeChatDialect } from './model-dialect.ts'
import type { FakeModelStep } from './model-step.ts'

/** The model's text, or its tool call; with neither the model answers nothing. */
export interface FakeReply {
  readonly text: string
  readonly call: { readonly name: string; readonly argumentsText: string } | null
}

/** Produces the reply to a request. The fakes speak the vendors' protocols only; Parley's tests answer with `parley/rules-1`. */
export type Respond = (request: FakeChatRequest) => Promise<FakeReply>

/** What goes wrong with one request to a fake model: a fault that speech services have too, or `afterMs` of delay before the answer. */
export type ModelFault = ServiceFault | { readonly type: 'slow'; readonly afterMs: number }

const FRAGMENT_CHARACTERS = 5

/** A reply as a service streams it: word by word, tool arguments in fragments. */
export function stepsOf({ text, call }: FakeReply, { finish }: FakeChatDialect, delays: FakeDelays): FakeModelStep[] {
  const { firstMs = 0, tokenMs = 0 } = delays
  const content = contentOf(text, call?.argumentsText ?? null, call?.name ?? '')
  const paced = content.flatMap((step, i): FakeModelStep[] => [...wait(i === 0 ? firstMs : tokenMs), step])
  return [
    ...(content.length === 0 ? wait(firstMs) : []),
    ...paced,
    { do: 'finish', reason: call === null ? finish.stop : finish.tool },
    { do: 'report-usage', input: 10, output: content.length },
  ]
}

/** The steps of a reply with a fault. A reply that has begun fails `afterMs` after its first half was written. */
export function stepsWithFault(
  fault: ModelFault,
  steps: readonly FakeModelStep[],
  dialect: FakeChatDialect,
): readonly FakeModelStep[] {
  const firstHalf = () => {
    const content = steps.slice(
      0,
      steps.findIndex(step => step.do === 'finish'),
    )
    return content.slice(0, Math.ceil(content.length / 2))
  }
  switch (fault.type) {
    case 'refuse':
      return [refusal(fault)]
    case 'mute':
      return [{ do: 'stall' }]
    case 'slow':
      return [...wait(fault.afterMs), ...steps]
    case 'break-off':
      return [...firstHalf(), ...wait(fault.afterMs), { do: 'break-off' }]
    case 'error':
      return [...firstHalf(), ...wait(fault.afterMs), { do: 'fail', error: dialect.errorInStream }, { do: 'end' }]
    case 'stall':
      return [...firstHalf(), ...wait(fault.afterMs), { do: 'stall' }]
    case 'garble':
      return garbled(steps)
  }
}

function contentOf(text: string, argumentsText: string | null, name: string): FakeModelStep[] {
  const words = (text.match(/\s*\S+/g) ?? []).map((word): FakeModelStep => ({ do: 'say', text: word }))
  if (argumentsText === null) return words
  const fragments = argumentsText.match(new RegExp(`.{1,${FRAGMENT_CHARACTERS}}`, 'gsu')) ?? []
  return [
    ...words,
    { do: 'begin-tool', index: 0, id: 'call_0', name },
    ...fragments.map((fragment): FakeModelStep => ({ do: 'tool-arguments', index: 0, text: fragment })),
  ]
}

function refusal({ status, retryAfterS }: Extract<ServiceFault, { type: 'refuse' }>): FakeModelStep {
  if (status === 429) return { do: 'turn-away', ...(retryAfterS !== undefined && { retryAfter: String(retryAfterS) }) }
  return status === 401 ? { do: 'refuse' } : { do: 'go-down', status }
}

/** Tool arguments that are not JSON; in a reply without a tool call, a line of the stream that is not JSON. */
function garbled(steps: readonly FakeModelStep[]): readonly FakeModelStep[] {
  const last = steps.findLastIndex(step => step.do === 'tool-arguments')
  if (last === -1) return [{ do: 'write', text: 'data: {"no json\n\n' }, ...steps]
  return steps.with(last, { do: 'tool-arguments', index: 0, text: ' "no json' })
}

function wait(ms: number): FakeModelStep[] {
  return ms > 0 ? [{ do: 'wait', ms }] : []
}
