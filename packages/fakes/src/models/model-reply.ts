import type { FakeDelays, Unkindness } from '../protocol.ts'
import type { FakeAsk } from './model-ask.ts'
import type { FakeChatDialect } from './model-dialect.ts'
import type { FakeModelStep } from './model-step.ts'

/** What the model says, or the tool that it calls; both empty: nothing. */
export interface FakeReply {
  readonly text: string
  readonly call: { readonly name: string; readonly argumentsText: string } | null
}

/**
 * Finds replies. The fakes speak the vendors' protocols and cannot think: whoever opens one brings the thoughts (in Parley's
 * own tests those of `parley/rules-1`).
 */
export type Think = (ask: FakeAsk) => Promise<FakeReply>

/** What a fake model does to one request: all that a fake of speech does, or nothing for `afterMs` before it answers. */
export type ModelUnkindness = Unkindness | { readonly type: 'slow'; readonly afterMs: number }

const FRAGMENT_CHARACTERS = 5

/** A reply in the order in which a service writes it: word by word, arguments in fragments. */
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

/** The same reply, as it fares. What begins goes wrong in its middle, `afterMs` after its first half was written. */
export function unkindSteps(
  unkindness: ModelUnkindness,
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
  switch (unkindness.type) {
    case 'refuse':
      return [refusal(unkindness)]
    case 'mute':
      return [{ do: 'stall' }]
    case 'slow':
      return [...wait(unkindness.afterMs), ...steps]
    case 'break-off':
      return [...firstHalf(), ...wait(unkindness.afterMs), { do: 'break-off' }]
    case 'error':
      return [...firstHalf(), ...wait(unkindness.afterMs), { do: 'fail', error: dialect.errorInStream }, { do: 'end' }]
    case 'stall':
      return [...firstHalf(), ...wait(unkindness.afterMs), { do: 'stall' }]
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

function refusal({ status, retryAfterS }: Extract<Unkindness, { type: 'refuse' }>): FakeModelStep {
  if (status === 429) return { do: 'turn-away', ...(retryAfterS !== undefined && { retryAfter: String(retryAfterS) }) }
  return status === 401 ? { do: 'refuse' } : { do: 'go-down', status }
}

/** Arguments that are no JSON; where there are none, a line of the stream that is none. */
function garbled(steps: readonly FakeModelStep[]): readonly FakeModelStep[] {
  const last = steps.findLastIndex(step => step.do === 'tool-arguments')
  if (last === -1) return [{ do: 'write', text: 'data: {"no json\n\n' }, ...steps]
  return steps.with(last, { do: 'tool-arguments', index: 0, text: ' "no json' })
}

function wait(ms: number): FakeModelStep[] {
  return ms > 0 ? [{ do: 'wait', ms }] : []
}
