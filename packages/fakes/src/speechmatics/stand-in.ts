import { type StandInVendor, speechService } from '../stand-in.ts'
import { FakeSpeechmatics } from './fake-speechmatics.ts'

export const speechmaticsStandIn: StandInVendor = {
  name: 'speechmatics',
  async open({ recogniser }) {
    const fake = await FakeSpeechmatics.open(recogniser)
    return { baseUrl: fake.url, services: { enhanced: speechService(fake) }, close: () => fake.close() }
  },
}
