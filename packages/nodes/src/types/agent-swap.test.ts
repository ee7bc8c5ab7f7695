import { describe, expect, it } from 'vitest'
import { boolean, nullable, oneOf, optional, text } from '../testing/field-cases.ts'
import {
  actionSchemaFaults,
  draftWith,
  instructionCases,
  jsonCases,
  nodeSchemaFaults,
  slotCases,
  viewOn,
} from '../testing/schema-cases.ts'
import { agentSwap } from './agent-swap.ts'

const FAILED = { next: 'fail', slot: 'edge', actionOutcome: 'failed' }
const FAILURE = {
  id: 'failed',
  transition_condition: { type: 'prompt', prompt: 'Swap failed' },
  destination_node_id: 'end',
}

/** Fields that the node and the tool share. */
const SWAP_FIELDS = {
  agent_id: optional(text(0, 256)),
  agent_version: jsonCases,
  keep_current_voice: optional(boolean),
  keep_current_language: optional(boolean),
  post_call_analysis_setting: jsonCases,
  webhook_setting: jsonCases,
}

describe('an agent_swap node', () => {
  it('an agent_swap node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = {
      ...SWAP_FIELDS,
      instruction: optional(nullable(instructionCases)),
      speak_during_execution: optional(boolean),
      edge: slotCases,
    }
    expect(nodeSchemaFaults(agentSwap, { agent_id: 'billing' }, fields)).toEqual([])
    expect(agentSwap.slots).toEqual(['edge'])
  })

  const nodeOf = (fields: object) =>
    agentSwap.schema.parse({ id: 'n', type: 'agent_swap', agent_id: 'billing', edge: FAILURE, ...fields })
  const enter = (fields: object, channel: 'phone' | 'web' | 'cloud' = 'phone') =>
    agentSwap.enter?.(nodeOf(fields), viewOn(channel))

  it('an agent_swap node asks for the agent and the version that it names, after its words', () => {
    const request = {
      type: 'swap_agent',
      agent_id: 'billing',
      agent_version: null,
      keep_current_voice: false,
      keep_current_language: false,
    }
    expect(enter({})).toEqual({ next: 'request', request, words: null })
    const instruction = { type: 'static_text', text: 'One moment.' }
    expect(enter({ speak_during_execution: true, instruction })).toEqual({
      next: 'request',
      request,
      words: instruction,
    })
    for (const [agent_version, version] of [
      [3, 3],
      ['3', 3],
      ['latest', null],
      [1.5, null],
    ] as const)
      expect(enter({ agent_version, keep_current_voice: true })).toMatchObject({
        request: { agent_version: version, keep_current_voice: true },
      })
  })

  it('the conversation ends when another agent continues it, and takes the failure edge when none does', () => {
    const answer = (outcome: 'taken' | 'failed') =>
      agentSwap.answer?.(nodeOf({}), { type: 'transfer_result', outcome }, viewOn('phone'))
    expect(answer('taken')).toEqual({ next: 'end', outcome: 'transferred' })
    expect(answer('failed')).toEqual(FAILED)
    expect(enter({ agent_id: ' ' })).toEqual(FAILED)
    for (const channel of ['web', 'cloud'] as const)
      expect(enter({}, channel)).toMatchObject({ next: 'request', request: { agent_id: 'billing' } })
  })

  it('what an agent_swap node does not do is a warning', () => {
    const paths = (fields: object) =>
      agentSwap.check?.(nodeOf(fields), draftWith({})).map(({ severity, path }) => [severity, ...path])
    expect(paths({})).toEqual([])
    expect(paths({ agent_id: '' })).toEqual([['warning', 'agent_id']])
    expect(paths({ edge: null })).toEqual([['warning', 'edge']])
    expect(paths({ webhook_setting: 'both_agents', post_call_analysis_setting: 'both_agents' })).toEqual([
      ['warning', 'post_call_analysis_setting'],
      ['warning', 'webhook_setting'],
    ])
  })
})

describe('the agent_swap tool', () => {
  it('an agent_swap action accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = {
      ...SWAP_FIELDS,
      speak_during_execution: optional(boolean),
      execution_message_description: optional(text(0, 4096)),
      execution_message_type: optional(oneOf('prompt', 'static_text')),
    }
    expect(actionSchemaFaults(agentSwap.action, { agent_id: 'billing' }, fields)).toEqual([])
    expect(agentSwap.action).toMatchObject({ exportType: 'agent_swap' })
    expect(agentSwap.action).not.toHaveProperty('isPhoneOnly')
  })

  it('the model hands the conversation over, and speaks on when no agent takes it', () => {
    const action = agentSwap.action.schema.parse({ action_id: 'a', name: 'a', kind: 'agent_swap', agent_id: 'billing' })
    expect(agentSwap.action.use(action, {}, viewOn('phone'))).toMatchObject({
      next: 'request',
      request: { type: 'swap_agent', agent_id: 'billing' },
      result: null,
    })
    expect(agentSwap.action.use(action, {}, viewOn('web'))).toMatchObject({ next: 'request' })
    expect(agentSwap.action.use({ ...action, agent_id: ' ' }, {}, viewOn('web'))).toEqual({
      next: 'result',
      result: 'failed',
    })
    const answer = (outcome: 'taken' | 'failed') =>
      agentSwap.action.answer?.(action, { type: 'transfer_result', outcome })
    expect(answer('taken')).toEqual({ next: 'end', outcome: 'transferred' })
    expect(answer('failed')).toEqual({ next: 'speak', actionOutcome: 'failed' })
  })
})
