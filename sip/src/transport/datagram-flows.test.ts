import { describe, expect, it } from 'vitest'
import { DatagramFlows } from './datagram-flows.ts'

describe('UDP flows', () => {
  it('an address pair keeps its flow id, even after a flood of other addresses evicted it from the cache', () => {
    const flows = new DatagramFlows({ address: '192.0.2.9', port: 5060 }, 'x', 10)
    const first = flows.flow('192.0.2.1', 5060, 'dialled')
    expect(flows.flow('192.0.2.1', 5060, 'accepted')).toBe(first)
    for (let port = 1; port <= 1000; port++) flows.flow('198.51.100.1', port, 'accepted')
    expect(flows.flow('192.0.2.1', 5060, 'accepted')).toEqual({ ...first, origin: 'accepted' })
    expect(flows.flow('192.0.2.1', 5061, 'accepted').id).not.toBe(first.id)
  })
})
