export { LocalEspeak, type LocalEspeakOptions } from './io/local-espeak.ts'
export { LocalFlite, type LocalFliteOptions } from './io/local-flite.ts'
export { cached } from './text-to-speech/cached.ts'
export type { SpeechChunk, SpeechRequest, TextToSpeech } from './text-to-speech/text-to-speech.ts'
