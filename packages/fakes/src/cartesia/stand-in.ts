import { type StandInVendor, speechService } from '../stand-in.ts'
import { FakeCartesia } from './fake-cartesia.ts'

export const cartesiaStandIn: StandInVendor = {
  name: 'cartesia',
  async open({ voice }) {
    const fake = await FakeCartesia.open(voice)
    return { baseUrl: fake.url, services: { 'sonic-2': speechService(fake) }, close: () => fake.close() }
  },
}
