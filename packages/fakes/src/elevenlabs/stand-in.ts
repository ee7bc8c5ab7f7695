import { type StandInVendor, speechService } from '../stand-in.ts'
import { FakeElevenLabs } from './fake-elevenlabs.ts'

export const elevenLabsStandIn: StandInVendor = {
  name: 'elevenlabs',
  async open({ voice }) {
    const fake = await FakeElevenLabs.open(voice)
    return { baseUrl: fake.url, services: { eleven_flash_v2_5: speechService(fake) }, close: () => fake.close() }
  },
}
