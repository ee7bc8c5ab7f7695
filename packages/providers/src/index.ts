export { LocalFlite, type LocalFliteOptions } from './io/local-flite.ts'
export type { SpeechChunk, SpeechRequest, TextToSpeech } from './text-to-speech/text-to-speech.ts'
