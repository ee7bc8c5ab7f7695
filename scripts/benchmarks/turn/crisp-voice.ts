import { type SpeechChunk, type TextToSpeech, TonesVoice } from '@parley/providers'
import { crispStart } from './crisp-audio.ts'
import { type PlantedFault, withHole } from './faults.ts'

/** The built-in voice without leading silence; `texts` are rendered beforehand. */
export async function crispVoice(texts: readonly string[], faults: readonly PlantedFault[]): Promise<TextToSpeech> {
  const tones = new TonesVoice()
  const voice: TextToSpeech = {
    id: tones.id,
    languages: tones.languages,
    readiness: language => tones.readiness(language),
    async *synthesize(request, signal): AsyncGenerator<SpeechChunk> {
      for await (const { samples, words } of tones.synthesize(request, signal))
        yield { samples: faults.includes('hole') ? withHole(crispStart(samples)) : crispStart(samples), words }
    },
    close: () => tones.close(),
  }
  for (const text of texts)
    for await (const _ of voice.synthesize({ text, language: 'en' }, AbortSignal.timeout(30_000)));
  return voice
}
