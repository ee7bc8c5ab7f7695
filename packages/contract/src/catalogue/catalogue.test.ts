import { boolean, integer, oneOf, optional, text } from '@parley/nodes/testing'
import { describe, expect, it } from 'vitest'
import { isAccepted, requestCases, requestMismatches } from '../testing/requests.ts'

const page = { cursor: optional(text(0, 1024)), limit: optional(integer(1, 200)) }

const cases = [
  requestCases(
    'actions.list',
    'query',
    {},
    {
      channel: optional(oneOf('cloud', 'phone', 'web', 'control')),
      invocation: optional(oneOf('model_tool', 'flow_node', 'setting', 'lifecycle', 'command')),
    },
  ),
  requestCases(
    'models.list',
    'query',
    {},
    {
      ...page,
      kind: optional(oneOf('chat', 'embedding', 'realtime')),
      ready: optional(boolean),
    },
  ),
  requestCases(
    'voices.list',
    'query',
    {},
    {
      ...page,
      role: optional(oneOf('stt', 'tts')),
      language: optional(text(1, 64)),
      provider: optional(text(1, 256)),
    },
  ),
]

describe('requests to the catalogue', () => {
  it.each(cases)('in $id, each field of $part accepts the values within its bounds and no others', cases =>
    expect(requestMismatches(cases)).toEqual([]),
  )

  it('the list of actions has no pagination', () =>
    expect(isAccepted('actions.list', { query: { limit: 5 } })).toBe(false))
})
