import { SeededRandom } from '@parley/kernel'
import type { Body } from '@parley/sip'
import { describe, expect, it } from 'vitest'
import { Negotiation } from './negotiation.ts'

function negotiationAt(seed: number): Negotiation {
  const random = new SeededRandom(seed)
  return new Negotiation({ address: `192.0.2.${seed}`, port: 10_000, security: 'srtp-required', random })
}

const direction = (body: Body) =>
  /a=(sendrecv|sendonly|recvonly|inactive)/.exec(new TextDecoder().decode(body.bytes))?.[1]

describe('negotiation after a refused offer', () => {
  it('a hold that the far end refused leaves the session unchanged, and a later offer does not repeat it', () => {
    const [ours, theirs] = [negotiationAt(1), negotiationAt(2)]
    const first = theirs.answer(ours.offer({}))
    if (!first.ok) throw new Error(first.detail)
    expect(ours.acceptAnswer(first.body).ok).toBe(true)
    ours.settle()

    expect(direction(ours.offer({ direction: 'sendonly' }))).toBe('sendonly')
    ours.withdraw()

    const answer = ours.answer(theirs.offer({}))
    if (!answer.ok) throw new Error(answer.detail)
    expect(direction(answer.body)).toBe('sendrecv')
    expect(answer.parameters.direction).toBe('sendrecv')
    expect(direction(ours.offer({}))).toBe('sendrecv')
  })
})
