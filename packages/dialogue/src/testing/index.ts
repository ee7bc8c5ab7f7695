export { normalisedSpeech, type PhrasePattern, phrasePatterns } from '../answer/phrase-patterns.ts'
export { isMachine } from '../answer/protocol.ts'
