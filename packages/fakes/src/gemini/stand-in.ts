import type { StandInVendor } from '../stand-in.ts'
import { FakeGemini } from './fake-gemini.ts'

export const geminiStandIn: StandInVendor = {
  name: 'gemini',
  async open({ model }) {
    const fake = await FakeGemini.open({ ...model, style: {} })
    return { baseUrl: fake.baseUrl, services: { 'gemini-3.8-flash': fake }, close: () => fake.close() }
  },
}
