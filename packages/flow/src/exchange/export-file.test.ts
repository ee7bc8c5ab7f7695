import { describe, expect, it } from 'vitest'
import { readExportFile } from './export-file.ts'

const nodes = [{ id: 'a', type: 'conversation' }]
const flow = { nodes, start_node_id: 'a', version: 3 }
const agent = { agent_name: 'Desk', version: 4 }

const found = (value: unknown) => {
  const read = readExportFile(value)
  if (!read.ok) throw new Error(read.message)
  return read.file
}

describe('the file of an export', () => {
  it.each([
    ['an agent that holds its flow', { ...agent, conversationFlow: flow }],
    ['an agent that holds its flow under another name', { ...agent, conversation_flow: flow }],
    ['agent and flow side by side', { agent, conversation_flow: flow }],
    ['an agent in an envelope', { agent: { ...agent, conversationFlow: flow } }],
    ['the body of an import request', { agent, flow, agent_version: 4, config: {}, model_bindings: {} }],
  ])('%s is read', (_, value) => {
    const { agent: readAgent, flow: readFlow, agentVersion } = found(value)
    expect(readAgent).toEqual(agent)
    expect(readFlow).toEqual(flow)
    expect(agentVersion).toBe(4)
  })

  it('a flow alone is read as the flow of an agent without fields', () =>
    expect(found(flow)).toMatchObject({ agent: {}, flow, agentVersion: 0, reference: null }))

  it('an agent whose version stands in its response engine has that version', () =>
    expect(
      found({ agent_name: 'Desk', response_engine: { type: 'conversation-flow', version: 9 }, conversationFlow: flow }),
    ).toMatchObject({ agentVersion: 9 }))

  it('members of an import request are kept', () =>
    expect(found({ agent, flow, config: { a: 1 }, model_bindings: {}, reference: { id: 'desk' } })).toMatchObject({
      config: { a: 1 },
      modelBindings: {},
      reference: 'desk',
    }))

  it.each([
    [[flow], 'is not a JSON object'],
    [{ agent_name: 'Desk' }, 'holds no conversation flow'],
    [{ agent_name: 'Desk', response_engine: { type: 'retell-llm' } }, 'only conversation flows are imported'],
    [{ agent_name: 'Desk', retellLlmData: { general_prompt: 'x' } }, 'only conversation flows are imported'],
  ])('a file that is no conversation flow is refused with the reason', (value, message) => {
    const read = readExportFile(value)
    expect(read.ok ? '' : read.message).toContain(message)
  })
})
