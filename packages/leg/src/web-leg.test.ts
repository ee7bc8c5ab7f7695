import { SeededRandom, VirtualTime } from '@parley/kernel'
import { InlineMediaPlane, VirtualPacketNetwork } from '@parley/media'
import { describe, expect, it } from 'vitest'
import type { LegEvent } from './leg.ts'
import { openWebLeg } from './web-leg.ts'

/** A web leg in virtual time. */
async function opened() {
  const time = new VirtualTime()
  const random = new SeededRandom(1)
  const network = new VirtualPacketNetwork({ time, random })
  const media = new InlineMediaPlane({ time, random, network, address: '192.0.2.1' })
  const leg = await openWebLeg({ media, time }, { label: 'web-1' })
  const events: LegEvent[] = []
  leg.onEvent(event => events.push(event))
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 20) {
      time.advance(20)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
  return { leg, media, events, pass }
}

describe('a leg to a browser', () => {
  it('a leg without a peer connection ends after 20 s and gives its media session back', async () => {
    const { leg, media, events, pass } = await opened()
    await pass(19_000)
    expect(leg.state).toBe('offered')
    await pass(2000)
    expect(leg.state).toBe('ended')
    expect(events.at(-1)).toMatchObject({ type: 'ended', end: { cause: 'timeout', answered: false } })
    expect(media.describe()).toContain('0 leased')
  })
})
