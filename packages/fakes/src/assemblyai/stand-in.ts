import { type StandInVendor, speechService } from '../stand-in.ts'
import { FakeAssemblyAi } from './fake-assemblyai.ts'

export const assemblyAiStandIn: StandInVendor = {
  name: 'assemblyai',
  async open({ recogniser }) {
    const fake = await FakeAssemblyAi.open(recogniser)
    return {
      baseUrl: fake.url,
      services: { 'universal-streaming-english': speechService(fake) },
      close: () => fake.close(),
    }
  },
}
