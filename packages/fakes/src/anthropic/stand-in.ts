import type { StandInVendor } from '../stand-in.ts'
import { FakeAnthropic } from './fake-anthropic.ts'

export const anthropicStandIn: StandInVendor = {
  name: 'anthropic',
  async open({ model }) {
    // Each tool is streamed in its own block.
    const fake = await FakeAnthropic.open({ ...model, style: { interleaved: true } })
    return { baseUrl: fake.origin, services: { 'claude-haiku-4-5': fake }, close: () => fake.close() }
  },
}
