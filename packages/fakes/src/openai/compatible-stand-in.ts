import type { StandInVendor } from '../stand-in.ts'
import { FakeOpenAiChat } from './fake-openai-chat.ts'

export const openAiCompatibleStandIn: StandInVendor = {
  name: 'openai_compatible',
  async open({ model }) {
    const fake = await FakeOpenAiChat.open(model)
    return { baseUrl: fake.baseUrl, services: { 'fake-model': fake }, close: () => fake.close() }
  },
}
