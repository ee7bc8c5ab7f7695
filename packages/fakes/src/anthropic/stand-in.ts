import type { StandInVendor } from '../stand-in.ts'
import { FakeAnthropic } from './fake-anthropic.ts'

export const anthropicStandIn: StandInVendor = {
  name: 'anthropic',
  async open({ model }) {
    // Tools are streamed as they come, each in a block of its own.
    const fake = await FakeAnthropic.open({ ...model, style: { interleaved: true } })
    return { baseUrl: fake.origin, services: { 'claude-haiku-4-5': fake }, close: () => fake.close() }
  },
}
