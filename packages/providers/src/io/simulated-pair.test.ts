import { TonesRecogniser } from '../simulated/tones-recogniser.ts'
import { speechToTextConformance } from '../speech-to-text/conformance.ts'
import { textToSpeechConformance } from '../text-to-speech/conformance.ts'
import { TonesVoice } from './tones-voice.ts'

// The tones of a word take their time, however fast it is spoken.
await textToSpeechConformance(() => new TonesVoice(), { mostAtDoubleSpeed: 0.85 })

await speechToTextConformance(() => {
  const voice = new TonesVoice()
  return {
    recogniser: new TonesRecogniser(),
    async speak(text, language) {
      const chunks: number[] = []
      for await (const { samples } of voice.synthesize({ text, language }, new AbortController().signal)) {
        chunks.push(...samples)
      }
      return Int16Array.from(chunks)
    },
    close: () => voice.close(),
  }
})
