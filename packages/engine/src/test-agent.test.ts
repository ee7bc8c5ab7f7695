import { describe, expect, it } from 'vitest'
import { type AgentOutput, TestAgent } from './test-agent.ts'

function drain(agent: TestAgent): AgentOutput[] {
  const outputs: AgentOutput[] = []
  for (let output = agent.poll(); output !== undefined; output = agent.poll()) outputs.push(output)
  return outputs
}

/** Lets `ms` pass as a driver does, calling `advance` at each deadline; returns the time after it. */
function pass(agent: TestAgent, from: number, ms: number): number {
  for (let due = agent.deadline(); due !== undefined && due <= from + ms; due = agent.deadline()) agent.advance(due)
  return from + ms
}

describe('the test agent', () => {
  it('the test agent greets, reads back the digits, echoes two seconds, says goodbye and hangs up', () => {
    const agent = new TestAgent()
    agent.handle(0, { type: 'connected' })
    expect(drain(agent)).toMatchObject([{ type: 'say', node: 'greeting' }])
    agent.handle(4000, { type: 'quiet' })
    for (const digit of '12#') agent.handle(5000, { type: 'digit', digit })
    expect(drain(agent)).toMatchObject([
      { type: 'say', node: 'digits', text: expect.stringContaining('You entered 1, 2.') },
    ])
    agent.handle(9000, { type: 'quiet' })
    agent.handle(10_000, { type: 'speech-started' })
    pass(agent, 10_000, 1999)
    expect(drain(agent)).toEqual([])
    agent.advance(12_000)
    expect(drain(agent)).toEqual([{ type: 'echo', durationMs: 2000 }])
    agent.handle(14_000, { type: 'quiet' })
    expect(drain(agent)).toMatchObject([{ type: 'say', node: 'goodbye' }])
    agent.handle(16_000, { type: 'quiet' })
    expect(drain(agent)).toEqual([{ type: 'hang-up' }])
    expect(agent.done).toBe(true)
    expect(agent.digits).toBe('12#')
    expect(agent.deadline()).toBeUndefined()
  })

  it('the first digit stops the greeting of the test agent, which then waits 2.5 s for more digits', () => {
    const agent = new TestAgent()
    agent.handle(0, { type: 'connected' })
    drain(agent)
    agent.handle(1000, { type: 'digit', digit: '7' })
    expect(drain(agent)).toEqual([{ type: 'stop-speaking' }])
    agent.handle(1010, { type: 'quiet' })
    pass(agent, 1010, 2480)
    expect(drain(agent)).toEqual([])
    agent.advance(3500)
    expect(drain(agent)).toMatchObject([{ type: 'say', text: expect.stringContaining('You entered 7.') }])
  })

  it('the test agent goes on without digits after 6 s, and echoes after 5 s without speech', () => {
    const agent = new TestAgent()
    agent.handle(0, { type: 'connected' })
    agent.handle(4000, { type: 'quiet' })
    let now = pass(agent, 4000, 6000)
    expect(drain(agent)[1]).toMatchObject({ text: expect.stringContaining('I received no digits.') })
    agent.handle(now, { type: 'quiet' })
    now = pass(agent, now, 5000)
    expect(drain(agent)).toEqual([{ type: 'echo', durationMs: 2000 }])
  })

  it('the test agent accepts at most 32 digits, and none after the read-back', () => {
    const agent = new TestAgent()
    agent.handle(0, { type: 'connected' })
    for (let i = 0; i < 100; i++) agent.handle(10 + i, { type: 'digit', digit: '5' })
    expect(agent.digits).toBe('5'.repeat(32))
    expect(drain(agent).filter(output => output.type === 'say')).toHaveLength(2)
  })
})
