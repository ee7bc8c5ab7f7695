import { describe, expect, it } from 'vitest'
import { boolean, nullable, optional, text } from '../testing/field-cases.ts'
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

describe('an agent_swap node', () => {
  it('an agent_swap node accepts its fields within their bounds and names the field that it refuses', () => {
    const fields = {
      agent_id: optional(text(0, 256)),
      agent_version: jsonCases,
      keep_current_voice: optional(boolean),
      keep_current_language: optional(boolean),
      post_call_analysis_setting: jsonCases,
      webhook_setting: jsonCases,
      instruction: optional(nullable(instructionCases)),
      speak_during_execution: optional(boolean),
      edge: slotCases,
    }
    expect(nodeSchemaFaults(agentSwap, { agent_id: 'billing' }, fields)).toEqual([])
    expect(agentSwap.slots).toEqual(['edge'])
  })

  it('an agent_swap node takes its edge for a failed swap, with a warning', () => {
    const node = agentSwap.schema.parse({ id: 'n', type: 'agent_swap', agent_id: 'billing' })
    expect(agentSwap.enter?.(node, viewOn('phone'))).toEqual({ next: 'fail', slot: 'edge', actionOutcome: 'failed' })
    expect(agentSwap.check?.(node, draftWith({}))).toMatchObject([{ severity: 'warning', path: ['agent_id'] }])
  })
})

describe('the agent_swap tool', () => {
  it('an agent_swap action accepts its fields within their bounds and is stored unchanged', () => {
    const stored = { action_id: 'a', name: 'a', kind: 'agent_swap', agent_id: 'billing' }
    expect(actionSchemaFaults(agentSwap.action, {}, {})).toEqual([])
    expect(agentSwap.action.schema.parse(stored)).toMatchObject(stored)
    expect(agentSwap.action).toMatchObject({ isRunnable: false, exportType: 'agent_swap' })
  })
})
