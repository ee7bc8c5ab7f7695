export type { SpeechChunk, SpeechRequest, TextToSpeech } from './text-to-speech/text-to-speech.ts'
