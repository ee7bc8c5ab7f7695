import { expect, it } from 'vitest'
import { VirtualLine } from './virtual-line.ts'

it('a call ends after the time without packets that its leg was given, or never', async () => {
  const line = new VirtualLine({ answering: { silentRemoteAfterMs: 60_000 } })
  const leg = await line.dial({ silentRemoteAfterMs: 0 })
  await line.pass(2000)
  line.packets.setConditions({ loss: 1 })
  await line.pass(55_000, 1000)
  expect([leg.state, line.b.leg!.state]).toEqual(['active', 'active'])
  await line.pass(10_000, 1000)
  expect(line.b.end).toMatchObject({ cause: 'media-lost', detail: 'no RTP was received for 60 s' })
  expect(line.a.end).toMatchObject({ by: 'remote', cause: 'bye' })
})
