import { SeededRandom, VirtualTime } from '@parley/kernel'
import { InlineMediaPlane, type MediaStatistics, VirtualPacketNetwork } from '@parley/media'
import { expect, it } from 'vitest'
import { explainAudio } from './explain-media.ts'

async function statistics(changes: Partial<MediaStatistics>): Promise<MediaStatistics> {
  const [time, random] = [new VirtualTime(), new SeededRandom(1)]
  const plane = new InlineMediaPlane({ time, random, network: new VirtualPacketNetwork({ time, random }) })
  const session = await plane.open({ label: 'test' })
  return { ...(await session.statistics()), packetsReceived: 100, ...changes }
}

it('audio from an address that gets none is a problem of the audio that is sent, unless the far end reports that it arrives', async () => {
  const problems = async (changes: Partial<MediaStatistics>) =>
    explainAudio(await statistics(changes), '192.0.2.1').map(({ problem }) => problem)
  expect(await problems({})).toEqual([null, null])
  expect(await problems({ sourcesRefused: 1 })).toEqual([null, 'media_from_elsewhere'])
  const farEnd = { loss: 0, jitterMs: 1 } as MediaStatistics['farEnd']
  expect(await problems({ sourcesRefused: 1, farEnd })).toEqual([null, null])
})
