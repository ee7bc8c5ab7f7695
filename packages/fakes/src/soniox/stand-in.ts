import { type StandInVendor, speechService } from '../stand-in.ts'
import { FakeSoniox } from './fake-soniox.ts'

export const sonioxStandIn: StandInVendor = {
  name: 'soniox',
  async open({ recogniser }) {
    const fake = await FakeSoniox.open(recogniser)
    return { baseUrl: fake.url, services: { 'stt-rt-v5': speechService(fake) }, close: () => fake.close() }
  },
}
