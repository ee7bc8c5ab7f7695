import type { CallFacts } from '@parley/conversation'
import { VirtualTime } from '@parley/kernel'
import type { OwnedRun } from '@parley/runs'
import { expect, it } from 'vitest'
import type { VoiceAgent } from '../voice/voice-agent.ts'
import { readContext, requestInboundContext } from './inbound-context.ts'

const contextFrom = (call_inbound: unknown) => readContext({ call_inbound }, ['name', 'tier'])

it('the answer about a caller sets the variables that the agent binds, and no others', () => {
  const dynamic_variables = { name: 'Ada', tier: 7, secret: 'x', __proto__: { tier: 'inherited' } }
  expect(contextFrom({ dynamic_variables })).toEqual({ kind: 'variables', variables: { name: 'Ada' } })
})

it('a caller is rejected only by reject: true', () => {
  expect(contextFrom({ reject: true, dynamic_variables: { name: 'Ada' } })).toEqual({ kind: 'rejected' })
  expect(contextFrom({ reject: 'true', dynamic_variables: {} })).toEqual({ kind: 'variables', variables: {} })
})

it.each([null, 'text', [], {}, { call_inbound: null }, { call_inbound: [] }, { call_inbound: {} }])(
  'an unreadable answer about a caller counts as no context: %j',
  body => expect(readContext(body, ['name'])).toEqual({ kind: 'none' }),
)

it('a value from the agent’s server is cut to 4096 characters and made well-formed', () => {
  const nameOf = (name: string) => {
    const context = contextFrom({ dynamic_variables: { name } })
    return (context as { readonly variables: Readonly<Record<string, string>> }).variables.name!
  }
  const cut = nameOf(`\ud800${'a'.repeat(20_000)}`)
  expect(cut).toHaveLength(4096)
  expect(cut.isWellFormed()).toBe(true)
  expect(nameOf('😀'.repeat(5000))).toBe('😀'.repeat(4096))
  expect(nameOf('a'.repeat(4096))).toHaveLength(4096)
})

it('the request for context about a caller is aborted when the call ends', async () => {
  const time = new VirtualTime()
  const action = { kind: 'http', action_id: 'who', timeout_ms: 10_000 }
  let signal: AbortSignal | null = null
  const agent = {
    plan: { inbound_context: { action_id: 'who', variables: ['name'] }, actions: [action] },
    actions: () => ({
      run: (_: unknown, until: AbortSignal) => {
        signal = until
        return new Promise(() => {})
      },
    }),
  } as unknown as VoiceAgent
  let isOver = false
  const call = { agent_id: 'a', agent_version: 1, from_number: null, to_number: '+12025550142' } as CallFacts
  const requested = requestInboundContext(agent, call, {} as OwnedRun, () => isOver, time)
  time.advance(2000)
  expect(signal).toMatchObject({ aborted: false })
  isOver = true
  time.advance(100)
  expect(signal).toMatchObject({ aborted: true })
  expect(await requested).toEqual({ kind: 'none' })
  expect(time.nextDeadline()).toBeUndefined()
})
