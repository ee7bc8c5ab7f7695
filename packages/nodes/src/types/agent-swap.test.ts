import { describe, expect, it } from 'vitest'
import { actionSchemaFaults, nodeSchemaFaults, slotCases } from '../testing/schema-cases.ts'
import { agentSwap } from './agent-swap.ts'

describe('an agent_swap node', () => {
  it('an agent_swap node accepts its fields within their bounds and names the field that it refuses', () => {
    expect(nodeSchemaFaults(agentSwap, { agent_id: 'billing' }, { edge: slotCases })).toEqual([])
    expect(agentSwap.slots).toEqual(['edge'])
  })

  it('an agent_swap node is stored with every field that an export gives it, and does not run', () => {
    const stored = { id: 'n', type: 'agent_swap', agent_id: 'billing', post_call_analysis_setting: { only: true } }
    expect(agentSwap.schema.parse(stored)).toMatchObject(stored)
    expect(agentSwap.isRunnable).toBe(false)
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
